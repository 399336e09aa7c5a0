"""Cells: sets of noise that one shift can move as a whole.

Let the mechanism run on noise n, a point of the product of all draws that any path makes. Each n follows one path. For a cell C of
left runs and a cell C' of right runs with the same output, let a vector k map n ∈ C to n + k ∈ C' without changing the output.
Translations preserve volume, cells on one side are disjoint, and different left cells map into different right cells. So if the
density falls by at most e^ε on every cell, then P[M(x) ∈ S] ≤ e^ε P[M(x') ∈ S] for every S. (This is the alignment argument of
Zhang & Kifer 2017, where the alignment may depend on the path.)

A path is a cell: its conditions are rows a·n + b·x + c ≥ 0. Paths with equal outputs may be joined into a group. Let H be a set
of rows that every path of the left group implies, and H' the corresponding rows of the right side. Suppose that H' contradicts
the conditions of every path outside the right group. Then H contains the left group, and the right group contains H', up to
noise of probability 0.
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
    """A row that a shift must preserve: left ``relation`` 0 must imply right ``relation`` 0.

    Both sides agree up to data and constants. Opaque terms need no attention here: rows for their arguments preserve them.
    """

    left: Form
    right: Form
    relation: str
    place: str


@dataclass(frozen=True, slots=True)
class Cell:
    """Left paths, right paths, and the rows that map left into right. ``kept`` are forms that must not change.

    A ``joint`` cell joins several paths of one output: ``implied`` then has multipliers for each left path and row, and
    ``excluded`` for each right path outside the cell (its conditions, then the rows). ``weight`` is the probability that moves
    between two paths with different discrete outcomes.
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
    """Return the conditions that data values lie in their ranges, in the checker's order."""
    low = [Condition(Form({name: Fraction(1)}, -ends[0]), ">=", "") for name, ends in names.bounds.items()]
    high = [Condition(Form({name: Fraction(-1)}, ends[1]), ">=", "") for name, ends in names.bounds.items()]
    return [*low, *high]


def output_key(path: Path, names: Names) -> Key:
    """Return a key of a path's output, up to constants: counterparts on two data sets share it."""
    leaves = tuple(names.spelled(leaf)[0] if isinstance(leaf, Form) else leaf for leaf in path.leaves)
    return (path.structure, leaves, path.law())


def _same_output(path: Path) -> Key:
    """Return a key of a path's output: paths on one data set share it if their outputs are equal."""
    leaves = tuple(leaf.key() if isinstance(leaf, Form) else leaf for leaf in path.leaves)
    return (path.structure, leaves, path.law())


def cells(left: Trace, right: Trace) -> Iterator[tuple[list[int], list[list[Cell]]]]:
    """Yield each output of the left trace: its paths, and ways to partition them into cells, coarsest first."""
    groups = _grouped(left)
    others = [(output_key(right.paths[other[0]], right.names), other) for other in _grouped(right).values()]
    by_decisions = {path.taken: at for at, path in enumerate(right.paths)}
    taken: set[int] = set()
    for group in groups.values():
        ways = []
        output = output_key(left.paths[group[0]], left.names)
        counterparts = [other for key, other in others if key == output]
        if counterparts and (left is not right or len(group) > 1):
            # Two left groups must not share a right one; the checker would refuse that.
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
    """Yield single-path cells with equal outputs and conditions, whatever their discrete outcomes."""
    for (i, left_path), (j, right_path) in itertools.product(enumerate(left.paths), enumerate(right.paths)):
        pairs = list(zip(left_path.conditions, right_path.conditions, strict=False))
        if len(left_path.conditions) != len(right_path.conditions) or not all(
            _alike(a, b, left.names) for a, b in pairs
        ):
            continue
        # Conditioning on its outcome changes a draw's distribution, so a draw with different outcomes may not occur elsewhere.
        ends = {
            name
            for name in left_path.labels.keys() | right_path.labels.keys()
            if left_path.labels.get(name) != right_path.labels.get(name)
        }
        if not ends.isdisjoint(_symbols(left_path, left.names) | _symbols(right_path, right.names)):
            continue
        if output_key(left_path, left.names) == output_key(right_path, right.names):
            rows = _rows_of(left_path.conditions, right_path.conditions)
            yield i, j, Cell((i,), (j,), rows, _kept(left_path, right_path, pairs, left.names))


def _symbols(path: Path, names: Names) -> set[str]:
    """Return the symbols of a path's conditions and output."""
    forms = [condition.form for condition in path.conditions]
    forms += [leaf for leaf in path.leaves if isinstance(leaf, Form)]
    return {name for form in forms for name in names.symbols(form)}


def _grouped(trace: Trace) -> dict[Key, list[int]]:
    groups: dict[Key, list[int]] = {}
    for at, path in enumerate(trace.paths):
        groups.setdefault(_same_output(path), []).append(at)
    return groups


def _rows_of(left: Sequence[Condition], right: Sequence[Condition]) -> tuple[KeptRow, ...]:
    """Pair conditions in order."""
    pairs = zip(left, right, strict=True)
    return tuple(KeptRow(condition.form, twin.form, condition.relation, condition.place) for condition, twin in pairs)


def _kept(
    left: Path, right: Path, conditions: Iterable[tuple[Condition, Condition]], names: Names
) -> tuple[KeptRow, ...]:
    """Return the forms that must not change: the output's numbers, and the arguments of all opaque terms."""
    rows: dict[Key, KeptRow] = {}
    forms = [(leaf, twin, "the output") for leaf, twin in zip(left.leaves, right.leaves, strict=True)]
    forms += [(condition.form, twin.form, condition.place) for condition, twin in conditions]
    for form, twin, place in forms:
        if isinstance(form, Form):
            (_, ours), (_, theirs) = names.spelled(form), names.spelled(twin)
            start = 0 if place == "the output" else 1  # a condition itself need not stay equal
            for a, b in zip(ours[start:], theirs[start:], strict=True):
                rows.setdefault((a.key(), b.key()), KeptRow(a, b, "=", place))
    return tuple(rows.values())


def _single(left: Trace, at: int, right: Trace, other: int | None) -> Cell | None:
    """Return the cell of a left path and the right path with the same decisions, if they match."""
    if other is None:
        return None
    left_path, right_path = left.paths[at], right.paths[other]
    if left_path.labels != right_path.labels or output_key(left_path, left.names) != output_key(
        right_path, right.names
    ):
        return None
    pairs = list(zip(left_path.conditions, right_path.conditions, strict=False))
    if len(left_path.conditions) != len(right_path.conditions) or not all(_alike(a, b, left.names) for a, b in pairs):
        return None
    rows = _rows_of(left_path.conditions, right_path.conditions)
    return Cell((at,), (other,), rows, _kept(left_path, right_path, pairs, left.names))


def _joined(left: Trace, group: Sequence[int], right: Trace, other: Sequence[int]) -> Cell | None:
    """Return a cell of all paths of a group, if rows that all of them imply exclude every path of another output.

    Rows that all paths share are tried before rows that some paths only imply.
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
        excluded = _excluded([twin for _, twin, _ in chosen], right, other)
        if excluded is None:
            continue
        pairs = [(condition, twin) for condition, twin, _ in chosen]
        rows = _rows_of([condition for condition, _ in pairs], [twin for _, twin in pairs])
        kept = _kept(left.paths[group[0]], right.paths[other[0]], pairs, names)
        implied = tuple(tuple(multipliers[at] for _, _, multipliers in chosen) for at in range(len(group)))
        return Cell(tuple(group), tuple(other), rows, kept, True, implied, excluded)
    return None


def _excluded(
    rows: Sequence[Condition], right: Trace, other: Sequence[int]
) -> tuple[tuple[int, Multipliers], ...] | None:
    """Return multipliers which show that rows exclude every path outside a group; None if they do not."""
    excluded = []
    for at in sorted(set(range(len(right.paths))) - set(other)):
        multipliers = contradiction([*right.paths[at].conditions, *rows], right.names)
        if multipliers is None:
            return None
        excluded.append((at, multipliers))
    return tuple(excluded)


def _alike(condition: Condition, twin: Condition, names: Names) -> bool:
    """Whether two conditions agree up to constants."""
    return (condition.relation, names.spelled(condition.form)[0]) == (twin.relation, names.spelled(twin.form)[0])


def _implied_by_all(paths: Sequence[Path], names: Names, shared: bool) -> list[tuple[Condition, list[Multipliers]]]:
    """Return the conditions that all paths imply (or share), with the multipliers that show it for each path."""
    candidates = {
        condition.key(): condition for path in paths for condition in path.conditions if condition.relation != "="
    }
    if shared:
        common = set(candidates).intersection(*({condition.key() for condition in path.conditions} for path in paths))
        candidates = {key: condition for key, condition in candidates.items() if key in common}
    implied = []
    for candidate in candidates.values():
        each: list[Multipliers] = []
        for path in paths:
            multipliers = implication(path.conditions, candidate, names)
            if multipliers is None:
                break
            each.append(multipliers)
        else:
            implied.append((candidate, each))
    return implied


def implication(given: Sequence[Condition], wanted: Condition, names: Names) -> Multipliers | None:
    """Return λ ≥ 0 with wanted = Σ λ·given + r and r ≥ 0; for a strict ``wanted``, r > 0 or some used condition is strict."""
    for at, condition in enumerate(given):
        if condition.key() == wanted.key():
            return tuple(Fraction(int(i == at)) for i in range(len(given)))
    multipliers = combination([condition.form for condition in given], wanted.form)
    if multipliers is None:
        return None
    rest = wanted.form.constant - sum(m * c.form.constant for m, c in zip(multipliers, given, strict=True))
    strict = rest > 0 or any(
        m > 0 and is_strict(c.form, c.relation, names) for m, c in zip(multipliers, given, strict=True)
    )
    return multipliers if rest >= 0 and (strict or not is_strict(wanted.form, wanted.relation, names)) else None


def contradiction(given: Sequence[Condition], names: Names) -> Multipliers | None:
    """Return λ ≥ 0, not all 0, with Σ λ·given = r < 0, or r = 0 and some used condition strict."""
    forms: dict[Key, int] = {}
    for at, condition in enumerate(given):
        forms[condition.form.key()] = at
        opposite = forms.get(condition.form.negated().key())
        if opposite is not None and any(is_strict(given[i].form, given[i].relation, names) for i in (at, opposite)):
            return tuple(Fraction(int(i in (at, opposite))) for i in range(len(given)))
    multipliers = combination([condition.form for condition in given], None)
    if multipliers is None:
        return None
    total = sum((m * c.form.constant for m, c in zip(multipliers, given, strict=True)), Fraction(0))
    strict = any(m > 0 and is_strict(c.form, c.relation, names) for m, c in zip(multipliers, given, strict=True))
    return multipliers if total < 0 or (total == 0 and strict) else None
