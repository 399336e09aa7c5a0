"""Cells: sets of noise that one shift can move as a whole.

Let the mechanism run on noise n, a point of the product of all draws that any path makes. Each n follows one path. For a cell C
of
left runs and a cell C' of right runs with the same output, let a vector k move n ∈ C to n + k ∈ C' such that the output stays
what it
was. Moving keeps volume, cells on one side are disjoint, and different left cells go to different right cells. So if the
density falls
by at most e^ε on every cell, then P[M(x) ∈ S] ≤ e^ε P[M(x') ∈ S] for every S. (This is the argument of Zhang & Kifer 2017, with
the
path itself as what the alignment may depend on.)

A path is a cell: its conditions are rows a·n + b·x + c ≥ 0. Paths of equal outputs may be joined. Let H be some rows that every
path of
the left group implies, and H' the same rows on the right, where H' together with the conditions of any path outside of the
right group
cannot be met. Then the left group is inside H, and H' is inside the right group, but for noise of probability 0.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dp_prover.interfaces import Condition, Names, Path, Trace
from dp_prover.numbers.form import Form, Key
from dp_prover.numbers.linear import combination

Multipliers = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class KeptRow:
    """A row that a shift must keep: left ``relation`` 0 must imply right ``relation`` 0. Both sides are equal except for data and
    constants.

    Rows for their arguments keep opaque terms unchanged, so these are not looked at here.
    """

    left: Form
    right: Form
    relation: str
    place: str


@dataclass(frozen=True, slots=True)
class Cell:
    """Left paths, right paths, and the rows that take left paths into right paths. ``kept`` are forms that must not change.

    ``implied`` has multipliers for each left path and row, ``excluded`` for each right path outside and (its conditions, rows).
    Both are empty unless it is ``joint``: paths of one output taken together. ``weight`` is the probability that goes from one
    path to a path with other outcomes of finite draws.
    """

    left: tuple[int, ...]
    right: tuple[int, ...]
    rows: tuple[KeptRow, ...]
    kept: tuple[KeptRow, ...]
    joint: bool = False
    implied: tuple[tuple[Multipliers, ...], ...] = ()
    excluded: tuple[tuple[int, Multipliers], ...] = ()
    weight: Fraction | None = None


def is_strict(form: Form, relation: str, names: Names) -> bool:
    """Whether a condition holds strictly with probability 1."""
    return relation == ">" or (relation == ">=" and names.is_dense(form))


def bound_conditions(names: Names) -> list[Condition]:
    """Return the conditions that the numbers of the data lie in their ranges, in the order of the checker."""
    low = [Condition(Form({name: Fraction(1)}, -ends[0]), ">=", "") for name, ends in names.bounds.items()]
    high = [Condition(Form({name: Fraction(-1)}, ends[1]), ">=", "") for name, ends in names.bounds.items()]
    return [*low, *high]


def output_key(path: Path, names: Names) -> Key:
    """Return a key that paths of one output share on two data sets, whatever their constants."""
    leaves = tuple(names.spelled(leaf)[0] if isinstance(leaf, Form) else leaf for leaf in path.leaves)
    return (path.structure, leaves, path.law())


def _same_output(path: Path) -> Key:
    """Return what paths have in common whose outputs are equal on one data set."""
    leaves = tuple(leaf.key() if isinstance(leaf, Form) else leaf for leaf in path.leaves)
    return (path.structure, leaves, path.law())


def cells(left: Trace, right: Trace) -> Iterator[tuple[list[int], list[list[Cell]]]]:
    """Yield, for each output of the left trace, its paths and the ways to cut these into cells, the coarsest first."""
    groups, others = _grouped(left), _grouped(right)
    by_decisions = {path.taken: at for at, path in enumerate(right.paths)}
    taken: set[int] = set()
    for group in groups.values():
        ways = []
        counterparts = [other for other in others.values() if _match(left, group, right, other)]
        if counterparts and (left is not right or len(group) > 1):
            # Two groups on the left may never share one on the right, which the checker would refuse.
            free = [other for other in counterparts if id(other) not in taken]
            joint = _joined(left, group, right, free[0]) if free else None
            if joint is not None:
                taken.add(id(free[0]))
                ways.append([joint])
        singles = [_single(left, at, right, by_decisions.get(left.paths[at].taken)) for at in group]
        if all(single is not None for single in singles):
            ways.append([single for single in singles if single is not None])
        yield group, ways


def crossed(left: Trace, right: Trace) -> Iterator[tuple[int, int, Cell]]:
    """Yield cells of one path each with equal outputs and conditions, for any outcomes of finite draws."""
    for (i, one), (j, two) in itertools.product(enumerate(left.paths), enumerate(right.paths)):
        pairs = list(zip(one.conditions, two.conditions, strict=False))
        if len(one.conditions) != len(two.conditions) or not all(_alike(a, b, left.names) for a, b in pairs):
            continue
        # Given how it ends, a draw has another law. So one that ends otherwise may be in nothing else.
        ends = {name for name in one.labels.keys() | two.labels.keys() if one.labels.get(name) != two.labels.get(name)}
        if not ends.isdisjoint(_symbols(one, left.names) | _symbols(two, right.names)):
            continue
        if output_key(one, left.names) == output_key(two, right.names):
            rows = _rows_of(one.conditions, two.conditions)
            yield i, j, Cell((i,), (j,), rows, _kept(one, two, pairs, left.names))


def _symbols(path: Path, names: Names) -> set[str]:
    """Return the symbols in the conditions and in the output of a path."""
    forms = [condition.form for condition in path.conditions]
    forms += [leaf for leaf in path.leaves if isinstance(leaf, Form)]
    return {name for form in forms for name in names.symbols(form)}


def _grouped(trace: Trace) -> dict[Key, list[int]]:
    groups: dict[Key, list[int]] = {}
    for at, path in enumerate(trace.paths):
        groups.setdefault(_same_output(path), []).append(at)
    return groups


def _match(left: Trace, group: Sequence[int], right: Trace, other: Sequence[int]) -> bool:
    one, two = left.paths[group[0]], right.paths[other[0]]
    return output_key(one, left.names) == output_key(two, right.names)


def _rows_of(left: Sequence[Condition], right: Sequence[Condition]) -> tuple[KeptRow, ...]:
    """Pair conditions in their order."""
    pairs = zip(left, right, strict=True)
    return tuple(KeptRow(one.form, other.form, one.relation, one.place) for one, other in pairs)


def _kept(
    left: Path, right: Path, conditions: Iterable[tuple[Condition, Condition]], names: Names
) -> tuple[KeptRow, ...]:
    """Return what must stay as it is for equal outputs: the numbers of the output, and the arguments of all terms."""
    found: dict[Key, KeptRow] = {}
    forms = [(one, other, "the output") for one, other in zip(left.leaves, right.leaves, strict=True)]
    forms += [(one.form, other.form, one.place) for one, other in conditions]
    for one, other, place in forms:
        if isinstance(one, Form):
            (_, ours), (_, theirs) = names.spelled(one), names.spelled(other)
            start = 0 if place == "the output" else 1  # a condition itself need not stay equal
            for a, b in zip(ours[start:], theirs[start:], strict=True):
                found.setdefault((a.key(), b.key()), KeptRow(a, b, "=", place))
    return tuple(found.values())


def _single(left: Trace, at: int, right: Trace, other: int | None) -> Cell | None:
    """Return a left path and the right path of the same decisions as a cell."""
    if other is None:
        return None
    one, two = left.paths[at], right.paths[other]
    if one.labels != two.labels or output_key(one, left.names) != output_key(two, right.names):
        return None
    pairs = list(zip(one.conditions, two.conditions, strict=False))
    if len(one.conditions) != len(two.conditions) or not all(_alike(a, b, left.names) for a, b in pairs):
        return None
    rows = _rows_of(one.conditions, two.conditions)
    return Cell((at,), (other,), rows, _kept(one, two, pairs, left.names))


def _joined(left: Trace, group: Sequence[int], right: Trace, other: Sequence[int]) -> Cell | None:
    """Return a cell of all paths of a group, if some rows that all of them imply exclude all paths of other outputs.

    Rows that all paths have are tried before rows that some have and the others imply.
    """
    names = left.names
    for shared in (True, False):
        common = _implied_by_all([left.paths[at] for at in group], names, shared)
        twins = common if left is right else _implied_by_all([right.paths[at] for at in other], names, shared)
        chosen = []
        for condition, multipliers in common:
            same = [condition] if left is right else [twin for twin, _ in twins if _alike(condition, twin, names)]
            if same:
                chosen.append((condition, same[0], multipliers))
        excluded = _excluded([two for _, two, _ in chosen], right, other)
        if excluded is None:
            continue
        pairs = [(one, two) for one, two, _ in chosen]
        rows = _rows_of([one for one, _ in pairs], [two for _, two in pairs])
        kept = _kept(left.paths[group[0]], right.paths[other[0]], pairs, names)
        implied = tuple(tuple(multipliers[at] for _, _, multipliers in chosen) for at in range(len(group)))
        return Cell(tuple(group), tuple(other), rows, kept, True, implied, excluded)
    return None


def _excluded(
    rows: Sequence[Condition], right: Trace, other: Sequence[int]
) -> tuple[tuple[int, Multipliers], ...] | None:
    """Return what shows that rows exclude every path outside of a group; None if they do not."""
    found = []
    for at in sorted(set(range(len(right.paths))) - set(other)):
        multipliers = contradiction([*right.paths[at].conditions, *rows], right.names)
        if multipliers is None:
            return None
        found.append((at, multipliers))
    return tuple(found)


def _alike(one: Condition, other: Condition, names: Names) -> bool:
    """Whether two conditions ask for the same, but for constants."""
    return (one.relation, names.spelled(one.form)[0]) == (other.relation, names.spelled(other.form)[0])


def _implied_by_all(paths: Sequence[Path], names: Names, shared: bool) -> list[tuple[Condition, list[Multipliers]]]:
    """Return the conditions of some path that all paths have, or imply, with the multipliers that show it for each path."""
    candidates = {
        condition.key(): condition for path in paths for condition in path.conditions if condition.relation != "="
    }
    if shared:
        common = set(candidates).intersection(*({condition.key() for condition in path.conditions} for path in paths))
        candidates = {key: condition for key, condition in candidates.items() if key in common}
    found = []
    for candidate in candidates.values():
        each: list[Multipliers] = []
        for path in paths:
            multipliers = implication(path.conditions, candidate, names)
            if multipliers is None:
                break
            each.append(multipliers)
        else:
            found.append((candidate, each))
    return found


def implication(given: Sequence[Condition], wanted: Condition, names: Names) -> Multipliers | None:
    """Return multipliers λ ≥ 0 with wanted = Σ λ·given + r, r ≥ 0, and r > 0 or a strict one among them where wanted is strict."""
    for at, condition in enumerate(given):
        if condition.key() == wanted.key():
            return tuple(Fraction(int(i == at)) for i in range(len(given)))
    found = combination([condition.form for condition in given], wanted.form)
    if found is None:
        return None
    rest = wanted.form.constant - sum(m * c.form.constant for m, c in zip(found, given, strict=True))
    strict = rest > 0 or any(m > 0 and is_strict(c.form, c.relation, names) for m, c in zip(found, given, strict=True))
    return found if rest >= 0 and (strict or not is_strict(wanted.form, wanted.relation, names)) else None


def contradiction(given: Sequence[Condition], names: Names) -> Multipliers | None:
    """Return multipliers λ ≥ 0, not all 0, with Σ λ·given = r < 0, or r = 0 and a strict one among them."""
    forms: dict[Key, int] = {}
    for at, condition in enumerate(given):
        forms[condition.form.key()] = at
        opposite = forms.get(condition.form.negated().key())
        if opposite is not None and any(is_strict(given[i].form, given[i].relation, names) for i in (at, opposite)):
            return tuple(Fraction(int(i in (at, opposite))) for i in range(len(given)))
    found = combination([condition.form for condition in given], None)
    if found is None:
        return None
    total = sum((m * c.form.constant for m, c in zip(found, given, strict=True)), Fraction(0))
    strict = any(m > 0 and is_strict(c.form, c.relation, names) for m, c in zip(found, given, strict=True))
    return found if total < 0 or (total == 0 and strict) else None
