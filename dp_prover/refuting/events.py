"""Proposes the event of a refutation: cells of outputs, their scores, and a threshold.

Cells are proposed in floating point. The checker's own law then says how likely each is, at least on the left and at most on the
right. The score of a cell is its log-ratio; for independent parts of an output, scores add up.
"""

import contextlib
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from auditor.claims import ApproximateDP, Claim, GaussianDP, RenyiDP, ZeroConcentratedDP
from dp_prover.certificates.checker.laws import Law
from dp_prover.clock import check_time
from dp_prover.refuting.grids import Json, Outputs, cuts_for, ends_of_cells, grid_of

ROUGHLY = 1 - Fraction(1, 10**9)  # of a bound in floating point, which the checker must confirm
SCORES, MOST_SCORE = 20_000, 2000  # steps of a score for each nat, and the largest score of one of several parts
MOST_CELLS, FEW_CELLS, MOST_ATOMS = 90, 14, 600
LIKELIEST = 2.0**-89
RAREST = (1e-6, 1e-12, LIKELIEST)  # the chance of an event, in order of preference
MOST_PIECES = 60_000  # of noise, for one proposal
NOT_COMPUTED = (ValueError, LookupError, TypeError, ArithmeticError)
ORDERS = (1.05, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0, 32.0, 64.0)
FINER = 12


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an output: its coordinates (weights of leaves), and cells (a set for each coordinate)."""

    of: list[dict[str, str]]
    cells: list[list[Json]]


@dataclass(slots=True)
class Partition:
    """A partition of outputs: the parts of each skeleton, and where to cut noise."""

    cases: dict[str, list[Part]]
    cuts: dict[str, list[str]] = field(default_factory=dict)

    def event(self, scores: Mapping[tuple[str, int], Sequence[int]] | None = None) -> dict[str, Json]:
        """Return the partition as the event of a certificate, without threshold or order."""
        cases = []
        for skeleton, parts in self.cases.items():
            written = []
            for at, part in enumerate(parts):
                given = [1] * len(part.cells) if scores is None else scores[skeleton, at]
                written.append([part.of, [[sets, score] for sets, score in zip(part.cells, given, strict=True)]])
            cases.append([skeleton, written])
        return {"cases": cases, "cuts": self.cuts}


@dataclass(frozen=True, slots=True)
class Proposal:
    """An event, and the bound on the claim's quantity that it should give; None for an infinite one.

    ``chances`` are its probability on the left, at least, and on the right, at most; None for a divergence.
    """

    event: dict[str, Json]
    bound: Fraction | None
    words: str
    chances: tuple[float, float] | None = None


# Partitions ----------------------------------------------------------------------------------------------------------------


def partitions(traces: Sequence[Json], noise: Mapping[str, Sequence[str]]) -> Iterator[Partition]:
    """Yield partitions of the outputs of both sides, simple ones first."""
    sides = [Outputs(trace, noise) for trace in traces]
    skeletons = list(dict.fromkeys(output[0] for side in sides for output in side.outputs))
    outer = _outer_cuts(sides)
    if len(skeletons) == 1 and all(side.is_single for side in sides):
        yield from _of_independent_parts(sides, skeletons[0], outer)
        return
    yield Partition({skeleton: [_atoms(sides, skeleton)] for skeleton in skeletons}, outer)
    for skeleton in skeletons:
        noisy = _noisy_leaves(sides, skeleton)
        for at in noisy[:4]:
            part, cuts = _gridded(sides, skeleton, at, MOST_CELLS if not outer else FEW_CELLS)
            if part is not None:
                rest = {other: [_atoms(sides, other)] for other in skeletons if other != skeleton}
                yield Partition({skeleton: [part]} | rest, outer | cuts)


def _outer_cuts(sides: Sequence[Outputs]) -> dict[str, list[str]]:
    """Return cuts of draws that meet other draws in a form; all draws if paths are decided by several."""
    shared: set[str] = set()
    for side in sides:
        forms = [leaf["form"] for _, leaves, _ in side.outputs for leaf in leaves if "form" in leaf]
        forms += [argument for _, arguments in side.trace["terms"].values() for argument in arguments]
        waiting = [side.trace["tree"]]
        while waiting:
            node = waiting.pop()
            if "if" in node:
                forms.append(node["if"])
                waiting += [child for key, child in node.items() if key != "if"]
            elif "ends" in node:
                waiting += [child for _, _, child in node["ends"]]
        for form in forms:
            names = side.symbols(form)
            if len(names) > 1:
                shared |= names
    cuts = {}
    for name in sorted(shared):
        law, parameter = sides[0].noise[name]
        cuts[name] = [_exact(at) for at in grid_of(law, Fraction(parameter))]
    return cuts


def _exact(value: float) -> str:
    return str(Fraction(value).limit_denominator(2**30)) if abs(value) < 2**20 else str(Fraction(value))


def _leaves(sides: Sequence[Outputs], skeleton: str) -> list[list[Json]]:
    return [leaves for side in sides for found, leaves, _ in side.outputs if found == skeleton]


def _noisy_leaves(sides: Sequence[Outputs], skeleton: str) -> list[int]:
    every = _leaves(sides, skeleton)
    return [at for at in range(len(every[0])) if any("form" in leaves[at] for leaves in every)]


def _atoms(sides: Sequence[Outputs], skeleton: str) -> Part:
    """Return a part of the constant leaves that vary, with a cell for each combination; a part of everything without such."""
    every = _leaves(sides, skeleton)
    fixed = [
        at
        for at in range(len(every[0]))
        if all("form" not in leaves[at] and "choice" not in leaves[at] for leaves in every)
    ]
    varied = [at for at in fixed if len({str(leaves[at]) for leaves in every}) > 1]
    cells: dict[str, list[Json]] = {}
    for leaves in every:
        sets = [_set_of(leaves[at]) for at in varied]
        cells.setdefault(str(sets), sets)
    if not varied or len(cells) > MOST_ATOMS:
        return Part([], [[]])
    return Part([{str(at): "1"} for at in varied], list(cells.values()))


def _set_of(leaf: Json) -> Json:
    if "text" in leaf:
        return {"text": leaf["text"]}
    value = Fraction(leaf["number"])
    room = abs(value) / 2**36
    return [str(value - room), str(value + room)]


def _gridded(sides: Sequence[Outputs], skeleton: str, at: int, most: int) -> tuple[Part | None, dict[str, list[str]]]:
    """Return a part of one leaf, cut into intervals, and the cuts of noise that belong to it."""
    found, forms = [], []
    for side in sides:
        own = []
        for name, leaves, _ in side.outputs:
            if name != skeleton or not ("form" in leaves[at] or "number" in leaves[at]):
                continue
            form = leaves[at].get("form", {"": leaves[at].get("number", "0")})
            values = side.values_of(form)
            if values is None:
                return None, {}
            own.append(values)
            forms.append((side, form))
        found.append(np.concatenate(own) if own else np.array([]))
    ends = ends_of_cells(found, most)
    return Part([{str(at): "1"}], _intervals(ends)), _cuts(forms, ends)


def _cuts(forms: Sequence[tuple[Outputs, Json]], ends: Sequence[float]) -> dict[str, list[str]]:
    cuts: dict[str, set[float]] = {}
    for side, form in forms:
        for name, numbers in cuts_for(side, form, ends).items():
            cuts.setdefault(name, set()).update(numbers)
    return {name: [str(Fraction(number)) for number in sorted(numbers)] for name, numbers in cuts.items()}


def _intervals(ends: Sequence[float]) -> list[list[Json]]:
    texts = [None, *(str(Fraction(end)) for end in ends), None]
    return [[[low, high]] for low, high in itertools.pairwise(texts)]


def _of_independent_parts(sides: Sequence[Outputs], skeleton: str, outer: dict[str, list[str]]) -> Iterator[Partition]:
    (_, ours, choices), (_, theirs, _) = (side.outputs[0] for side in sides)
    leaves = list(range(len(ours)))
    yield from _cancelling(sides, skeleton, ours, theirs)
    combined = _gaussian_direction(sides, ours, theirs)
    if combined is not None:
        yield _along(skeleton, *combined)
    parts, cuts = [], dict(outer)
    for group in _groups(sides, leaves, (ours, theirs)):
        if not any(side.of_leaf(some[at]) for side, some in zip(sides, (ours, theirs), strict=True) for at in group):
            if any(ours[at] != theirs[at] for at in group):
                parts.append(Part([{str(at): "1"} for at in group], [[_set_of(ours[at]) for at in group]]))
            continue
        if "choice" in ours[group[0]]:
            parts.append(_of_choice(group, ours, choices))
            continue
        differing = [at for at in group if ours[at] != theirs[at]] or group
        part, more = _gridded(sides, skeleton, differing[0], FEW_CELLS if outer else MOST_CELLS)
        if part is not None and (ours[differing[0]] != theirs[differing[0]] or sides[0].trace != sides[1].trace):
            parts.append(part)
            cuts |= more
    if parts:
        yield Partition({skeleton: parts}, cuts)


def _of_choice(group: Sequence[int], ours: Sequence[Json], choices: Sequence[Json]) -> Part:
    number = ours[group[0]]["choice"][0]
    mine = [at for at in group if ours[at].get("choice", [None])[0] == number]
    cells = [[_set_of(values[ours[at]["choice"][1]]) for at in mine] for values, _ in choices[number]]
    return Part([{str(at): "1"} for at in mine], cells)


def _groups(
    sides: Sequence[Outputs], leaves: Sequence[int], both: tuple[Sequence[Json], Sequence[Json]]
) -> list[list[int]]:
    """Return groups of leaves that share no noise with each other, on either side."""
    groups: list[tuple[set[str], list[int]]] = []
    for at in leaves:
        symbols = set[str]().union(*(side.of_leaf(some[at]) for side, some in zip(sides, both, strict=True)))
        touching = [group for group in groups if group[0] & symbols]
        groups = [group for group in groups if group not in touching]
        groups.append((symbols.union(*(g[0] for g in touching)), sorted([at, *(a for g in touching for a in g[1])])))
    return [some for _, some in sorted(groups, key=lambda group: group[1])]


def _cancelling(
    sides: Sequence[Outputs], skeleton: str, ours: Sequence[Json], theirs: Sequence[Json]
) -> Iterator[Partition]:
    """Yield combinations of two leaves in which all noise cancels, and which tell the sides apart."""
    affine = [at for at in range(len(ours)) if sides[0].is_affine(ours[at]) and sides[1].is_affine(theirs[at])]
    for i, j in itertools.combinations([at for at in affine if "form" in ours[at]][:30], 2):
        first, second = ({n: Fraction(v) for n, v in ours[at]["form"].items()} for at in (i, j))
        name = next(name for name in first if name)
        if not second.get(name):
            continue
        ratio = -first[name] / second[name]
        weights = {str(i): "1", str(j): str(ratio)}
        values = []
        for leaves in (ours, theirs):
            total: dict[str, Fraction] = {}
            for at, weight in ((i, Fraction(1)), (j, ratio)):
                for key, value in leaves[at].get("form", {"": leaves[at].get("number", "0")}).items():
                    total[key] = total.get(key, Fraction(0)) + weight * Fraction(value)
            if any(value for key, value in total.items() if key):
                break
            values.append(total.get("", Fraction(0)))
        if len(values) == 2 and abs(values[0] - values[1]) > Fraction(1, 10**9) * max(map(abs, values)):
            half = abs(values[0] - values[1]) / 2
            yield Partition({skeleton: [Part([weights], [[[str(values[0] - half), str(values[0] + half)]]])]})
            return


def _gaussian_direction(
    sides: Sequence[Outputs], ours: Sequence[Json], theirs: Sequence[Json]
) -> tuple[dict[str, str], list[float]] | None:
    """Return the weights of leaves with Gaussian noise that tell the sides apart best, and ends of cells along them."""
    noisy = [at for at in range(len(ours)) if "form" in ours[at]]
    if len(noisy) < 2:
        return None
    forms = [(ours[at].get("form"), theirs[at].get("form")) for at in noisy]
    names = sorted({name for pair in forms for form in pair if form for name in form if name})
    if any(name[:1] == "o" or sides[0].noise[name][0] != "normal" for name in names):
        return None
    if any(b is None or {n: v for n, v in a.items() if n} != {n: v for n, v in b.items() if n} for a, b in forms if a):
        return None
    scales = np.array([float(Fraction(sides[0].noise[name][1])) for name in names])
    matrix = np.array([[float(Fraction(form.get(name, "0"))) for name in names] for form, _ in forms])
    gap = np.array([float(Fraction(a.get("", "0")) - Fraction(b.get("", "0"))) for a, b in forms])
    if not gap.any():
        return None
    covariance = (matrix * scales**2) @ matrix.T
    weights = np.linalg.lstsq(covariance, gap, rcond=None)[0]
    largest = np.abs(weights).max()
    exact = [Fraction(float(weight / largest)).limit_denominator(10**6) for weight in weights]
    middle = [
        float(sum((w * Fraction(form[side].get("", "0")) for w, form in zip(exact, forms, strict=True)), Fraction(0)))
        for side in (0, 1)
    ]
    some = np.array(list(map(float, exact)))
    spread = math.sqrt(some @ covariance @ some)
    grid = grid_of("normal", Fraction(1)) * spread
    ends = ends_of_cells([middle[0] + grid, middle[1] + grid], MOST_CELLS)
    return {str(at): str(weight) for at, weight in zip(noisy, exact, strict=True) if weight}, ends


def _along(skeleton: str, weights: dict[str, str], ends: list[float]) -> Partition:
    return Partition({skeleton: [Part([weights], _intervals(ends))]})


# Scores --------------------------------------------------------------------------------------------------------------------


def proposed(claim: Claim, traces: Sequence[Json], noise: Mapping[str, Sequence[str]]) -> Iterator[Proposal]:
    """Yield events that should refute a claim. What takes too long, or cannot be computed, is passed over."""
    for partition in partitions(traces, noise):
        check_time()
        with contextlib.suppress(*NOT_COMPUTED):
            found = _measured(partition, traces, noise)
            proposal = _best(claim, partition, found)
            if proposal is None:
                continue
            finer = _refined(partition, proposal)
            if finer is not None:
                proposal = _best(claim, finer, _measured(finer, traces, noise)) or proposal
            yield proposal


def _best(claim: Claim, partition: "Partition", found: "Masses") -> Proposal | None:
    if isinstance(claim, RenyiDP | ZeroConcentratedDP):
        return _divergence(claim, partition, found)
    return _scored(claim, partition, found)


Masses = dict[tuple[str, int], tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]


def _measured(partition: Partition, traces: Sequence[Json], noise: Mapping[str, Sequence[str]]) -> Masses:
    """Return for each part the probabilities of its cells: at least on the left, at most on the right."""
    event = partition.event()
    left, right = (Law(trace, noise, event, check_time, MOST_PIECES) for trace in traces)
    found: Masses = {}
    for at in range(max(map(len, partition.cases.values()))):
        ours, theirs = left.masses(at, lower=True), right.masses(at, lower=False)
        for skeleton, parts in partition.cases.items():
            if at < len(parts):
                keys = [(skeleton, cell) for cell in range(len(parts[at].cells))]
                p = np.array([float(ours.get(key, 0)) for key in keys])
                q = np.array([float(theirs.get(key, right.least)) for key in keys])
                found[skeleton, at] = p, q
    return found


def _refined(partition: Partition, proposal: Proposal) -> Partition | None:
    """Return a partition with smaller cells next to where the event ends, for one part of one coordinate; else None."""
    if "threshold" not in proposal.event:
        return None
    if len(partition.cases) != 1:
        return None
    [(skeleton, parts)] = partition.cases.items()
    if len(parts) != 1 or len(parts[0].of) != 1 or type(parts[0].cells[0][0]) is not list or partition.cuts:
        return None
    inside = [sets[0] for _, [[_, cells]] in proposal.event["cases"] for sets, _ in cells]
    ends = {end for wanted in inside for end in wanted if end is not None}
    cells: list[list[Json]] = []
    for [low, high] in (sets[0] for sets in parts[0].cells):
        if low is None or high is None or not {low, high} & ends:
            cells.append([[low, high]])
            continue
        steps = [Fraction(low) + (Fraction(high) - Fraction(low)) * Fraction(step, FINER) for step in range(FINER + 1)]
        cells += [[[str(a), str(b)]] for a, b in itertools.pairwise(steps)]
    return Partition({skeleton: [Part(parts[0].of, cells)]}, partition.cuts)


def _scored(claim: Claim, partition: Partition, found: Masses) -> Proposal | None:
    """Return the event of the likeliest outputs, by the log-ratio of their cells."""
    several = max(map(len, partition.cases.values())) > 1
    ratios = {key: _log_ratios(*both) for key, both in found.items()}
    finite = [float(abs(r)) for some in ratios.values() for r in some if math.isfinite(r)]
    scale = (
        min(SCORES / 100 if several else SCORES, (MOST_SCORE if several else 10**9) / max(1.0, *finite))
        if finite
        else 1.0
    )
    impossible = (
        round(scale * max(1.0, *finite)) + 1 if finite else 1
    )  # more than any other, as it is on the other side
    scores: dict[tuple[str, int], list[int | None]] = {}
    for key, some in ratios.items():
        scores[key] = [
            None if r == -math.inf else impossible if r == math.inf else round(r * scale) for r in some.tolist()
        ]
    p, q = _spread(partition, found, scores, 0), _spread(partition, found, scores, 1)
    thresholds = sorted(p.keys() | q.keys(), reverse=True)
    likely = other = 0.0
    tried: list[tuple[float, int, float, float]] = []
    for threshold in thresholds:
        likely, other = likely + p.get(threshold, 0.0), other + q.get(threshold, 0.0)
        bound = _bound(claim, likely, other)
        if bound is not None:
            tried.append((bound, threshold, likely, other))
    # An event that one can see is better than a larger bound by one that nobody sees.
    for rarest in RAREST:
        likelier = [one for one in tried if one[2] >= rarest]
        largest = max((bound for bound, *_ in likelier), default=0.0)
        if largest > claim.value * (1 + 2e-6):
            break
    else:
        return None
    # The likeliest event among those with nearly the largest bound.
    least = max(largest * (1 - 1e-5), claim.value * (1 + 2e-6)) if math.isfinite(largest) else largest
    bound, threshold, likely, other = [one for one in likelier if one[0] >= least][-1]
    event = _written(partition, scores, threshold, several)
    places = len(found)
    ratio = f"the log-likelihood ratio of the output, added over its {places} parts, is at least about {threshold / scale:.3g}"
    words = ratio if several else words_of(event["cases"])
    if isinstance(claim, GaussianDP) and math.isfinite(bound):
        from scipy.stats import norm

        event["quantile"] = str(Fraction(float(norm.ppf(likely * (1 - 1e-10)))))
    chances = likely * (1 - 1e-9), min(other * (1 + 1e-9), 1.0)
    return Proposal(event, None if math.isinf(bound) else Fraction(bound) * ROUGHLY, words, chances)


def _log_ratios(p: np.ndarray[Any, Any], q: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p > 0, np.log(p) - np.log(q), -np.inf)


def _spread(
    partition: Partition, found: Masses, scores: Mapping[tuple[str, int], Sequence[int | None]], side: int
) -> dict[int, float]:
    total: dict[int, float] = {}
    for skeleton, parts in partition.cases.items():
        own = {0: 1.0}
        for at in range(len(parts)):
            masses = found[skeleton, at][side]
            more: dict[int, float] = {}
            for score, mass in zip(scores[skeleton, at], masses, strict=True):
                if score is not None:
                    more[score] = more.get(score, 0.0) + float(mass)
            sums: dict[int, float] = {}
            for (a, x), (b, y) in itertools.product(own.items(), more.items()):
                sums[a + b] = sums.get(a + b, 0.0) + x * y
            own = sums
        for score, mass in own.items():
            total[score] = total.get(score, 0.0) + mass
    return total


def _bound(claim: Claim, likely: float, other: float) -> float | None:
    """Return the bound on the claim's quantity that an event gives; None if it gives none."""
    if likely < LIKELIEST:
        return None
    if isinstance(claim, GaussianDP):
        from scipy.stats import norm

        if other <= 0:
            return math.inf
        if likely >= 1 - 1e-9 or other >= 1:
            return None
        return float(norm.ppf(likely * (1 - 1e-9)) - norm.ppf(other))
    delta = claim.delta * (1 + 2e-6) if isinstance(claim, ApproximateDP) else 0.0
    if likely * (1 - 1e-9) <= delta:
        return None
    if other <= 0:
        return math.inf
    return math.log(likely * (1 - 1e-9) - delta) - math.log(other)


def _written(
    partition: Partition, scores: Mapping[tuple[str, int], Sequence[int | None]], threshold: int, several: bool
) -> dict[str, Json]:
    """Return the event of a certificate."""
    cases = []
    for skeleton, parts in partition.cases.items():
        written = []
        for at, part in enumerate(parts):
            given = scores[skeleton, at]
            if not several:
                kept = [
                    sets
                    for sets, score in zip(part.cells, given, strict=True)
                    if score is not None and score >= threshold
                ]
                if not kept:
                    break
                written.append([part.of, [[sets, 1] for sets in _joined([(sets, 1) for sets in kept])]])
            else:
                some = [(sets, score) for sets, score in zip(part.cells, given, strict=True) if score is not None]
                if not some:
                    break
                written.append([part.of, [[sets, score] for sets, score in _merged(some)]])
        else:
            if written:
                cases.append([skeleton, written])
    return {"cases": cases, "cuts": partition.cuts, "threshold": threshold if several else 1}


def _joined(cells: Sequence[tuple[list[Json], int]]) -> list[list[Json]]:
    return [sets for sets, _ in _merged(cells)]


def _merged(cells: Sequence[tuple[list[Json], int]]) -> list[tuple[list[Json], int]]:
    """Return cells with neighbouring intervals of one score joined."""
    merged: list[tuple[list[Json], int]] = []
    for sets, score in cells:
        if merged and len(sets) == 1 and type(sets[0]) is list:
            before, same = merged[-1]
            if same == score and type(before[0]) is list and before[0][1] is not None and before[0][1] == sets[0][0]:
                merged[-1] = [[before[0][0], sets[0][1]]], score
                continue
        merged.append((sets, score))
    return merged


def _divergence(claim: Claim, partition: Partition, found: Masses) -> Proposal | None:
    """Return the partition at the order at which its divergence exceeds the claim most."""
    if len(partition.cases) > 1 and max(map(len, partition.cases.values())) > 1:
        return None
    best: tuple[float, float] | None = None
    parts = {at for _, at in found}
    for order in (claim.order,) if isinstance(claim, RenyiDP) else ORDERS:
        total = 0.0
        for part in parts:
            p = np.concatenate([some[0] for (_, at), some in found.items() if at == part])
            q = np.concatenate([some[1] for (_, at), some in found.items() if at == part])
            kept = p > LIKELIEST
            if not kept.any():
                return None
            with np.errstate(divide="ignore", over="ignore"):
                terms = order * np.log(p[kept]) + (1 - order) * np.log(q[kept])
            top = terms.max()
            total += math.inf if math.isinf(top) else (top + math.log(np.exp(terms - top).sum())) / (order - 1)
        value = total / (order if isinstance(claim, ZeroConcentratedDP) else 1.0)
        if best is None or value > best[0]:
            best = value, order
    if best is None or best[0] <= claim.value * (1 + 2e-6):
        return None
    bound, order = best
    event = partition.event() | {"order": str(Fraction(order))}
    words = (
        f"its outputs, in {sum(len(p.cells) for ps in partition.cases.values() for p in ps)} cells, at order {order:g}"
    )
    return Proposal(event, None if math.isinf(bound) else Fraction(bound) * ROUGHLY, words)


def words_of(cases: Sequence[Json]) -> str:
    """Describe an event of outputs."""
    shown = []
    for skeleton, parts in cases[:3]:
        what = [_set_words(of, cells) for of, cells in parts]
        shown.append(" and ".join(filter(None, what)) or _skeleton_words(skeleton))
    return " or ".join(dict.fromkeys(shown)) + (" or others" if len(cases) > 3 else "")


def _skeleton_words(skeleton: str) -> str:
    if skeleton == repr("leaf"):
        return "the output is a single value"
    if skeleton.startswith("('raises', "):
        return f"it raises {skeleton[11:91].rstrip(')')}"
    shown = skeleton.replace(repr("leaf"), "·")
    return f"the output has the form {shown[:80]}"


def _set_words(of: Sequence[Mapping[str, str]], cells: Sequence[Json]) -> str:
    names = [_coordinate_words(weights) for weights in of]
    each = []
    for sets, _ in cells[:3]:
        each.append(" and ".join(_one_set(name, wanted) for name, wanted in zip(names, sets, strict=True)))
    return " or ".join(each) + (" or others" if len(cells) > 3 else "")


def _coordinate_words(weights: Mapping[str, str]) -> str:
    if len(weights) == 1:
        [(at, _)] = weights.items()
        return "output" if at == "0" else f"output[{at}]"
    terms = [f"{float(Fraction(weight)):.4g}·output[{at}]" for at, weight in list(weights.items())[:4]]
    return " + ".join(terms) + (" + …" if len(weights) > 4 else "")


def _one_set(name: str, wanted: Json) -> str:
    if isinstance(wanted, Mapping):
        return f"{name} is {wanted['text'].partition(' ')[2] or wanted['text']}"
    low, high = (None if end is None else float(Fraction(end)) for end in wanted)
    if low is not None and high is not None and high - low <= 1e-9 * max(1.0, abs(low)):
        return f"{name} = {(low + high) / 2:.6g}"
    left = "" if low is None else f"{low:.6g} ≤ "
    right = "" if high is None else f" ≤ {high:.6g}"
    return f"{left}{name}{right}"
