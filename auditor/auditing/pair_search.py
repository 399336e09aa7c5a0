"""The search for a pair, by the bound that a method forecasts for it.

A large loss shows on neighbours with few outputs. A small one takes some 1/ε² outputs on each pair, and there are too many
pairs. So where a small loss is looked for, most outputs go to data sets k moves apart, where by group privacy losses add up; or to
few pairs, where the domain has no such paths.

How large a loss to look for is what the claim says, if that is near the truth. Where the claim is small, or so large that it says
nothing, a first search on neighbours shows how much the mechanism loses there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from auditor.auditing.draw import Draw
from auditor.auditing.looks import Look, Looks, Shown, ends
from auditor.auditing.neighbour_stages import ON_NEIGHBOURS, on_neighbours
from auditor.auditing.plan import Plan
from auditor.auditing.same_noise import likeliest_step
from auditor.auditing.sizes import Round
from auditor.auditing.stages import Given, Known, SearchStage, in_stages
from auditor.bounds.prospect import WORTH_OF_BOUND, Promised, outlooks
from auditor.claims import PrivacyClaim, PureDP
from auditor.interfaces import Domain
from auditor.neighbours.domains import Pairs
from auditor.neighbours.pair import Pair
from auditor.neighbours.search import LEAST_LOOK, LEAST_ROUNDS, SURVIVORS, Budget, path, search_pairs

# The most pairs in the first round of the search for a small loss. Outputs for fewer than survive it are not enough for a search.
MOST_PAIRS = 96
# A claim that allows more does not say where to look; the least ε, or like μ, that is looked for then.
FAR, LEAST_LOSS = PureDP(3.0).total_variation(), 0.1
MOST_STEPS = 101
# Neighbours that promise less lose to a loss seen at a distance, where evidence is much stronger.
LIKELY = 0.5
# The worth of a bound once the claim is refuted; the certainty to refute is worth 1.
WORTH_IF_REFUTED = 10.0


@dataclass(frozen=True, slots=True)
class FoundPair:
    """The pair that a search ends with; if it was found at a distance, ``path`` holds the pairs on the way between the ends.

    ``claim`` is the claim of the size that was searched for. ``rival`` is another pair to learn on. ``looks`` are those of this
    search and of those before, by pair.
    """

    pair: Pair
    claim: PrivacyClaim
    path: Sequence[Pair] = ()
    rival: Pair | None = None
    looks: Mapping[str, Look] = field(default_factory=dict)


def find_pair(plan: Plan, now: Round, draw: Draw, seen: Mapping[str, Look], *, refuted: bool = False) -> FoundPair:
    """Search the domain for the pair with the best forecast, for the bound of a round; ``seen`` has earlier looks by pair.

    Of a claim that is ``refuted``, the largest bound is looked for.
    """
    kinds, claim = {key: look.kind for key, look in seen.items() if look.kind}, plan.claim
    assert isinstance(claim, PrivacyClaim)
    looks = Looks(plan, now, draw, known_kinds=kinds)
    method = looks.method(claim)
    before = {key: look.judged_by(method) for key, look in seen.items()}
    worth = WORTH_IF_REFUTED if refuted else WORTH_OF_BOUND
    known = in_stages(SEARCH, looks, Known(claim, seen=before, worth=worth), now.search)
    assert known.found is not None
    all_looks = {**seen, **known.seen}
    if not known.along or known.found.score > max(known.by_step, LIKELY):
        rival = known.farthest if steps_apart(claim) == 1 else None
        return FoundPair(known.found.pair, known.claim, rival=rival, looks=all_looks)
    along = known.along
    # The path's total says most about its middle step.
    middle, far = along[len(along) // 2], along if len(along) > 1 else ()
    return FoundPair(middle, known.claim, far, looks=all_looks)


def _says_not_where_to_look(looks: Looks, known: Known, given: Given) -> bool:
    return _is_far(known.claim) or _small_is_searched(looks.plan.domain, known.claim, given.whole)


def _what_is_lost(looks: Looks, known: Known, given: Given) -> Known:
    """Look for what the mechanism loses, which says how large a loss is to be looked for."""
    seen = on_neighbours(looks, known, given)
    # A domain with one pair is not searched.
    if not looks.spent or seen.found is None:
        return known
    pair = seen.found.pair
    _, bounds = outlooks(seen.seen[pair.key()].prospects, seen.prior, known.claim.value)
    method = looks.method(_shown(known.claim, bounds.max(initial=0.0)))
    return replace(known.judged_by(method), first=(*known.first, pair))


def _of_the_size(looks: Looks, known: Known, given: Given) -> Known:
    return in_stages(given.parts, looks, known, round(given.outputs))


def _small_is_searched(domain: Domain, claim: PrivacyClaim, outputs: int) -> bool:
    """Return whether the claim is small, and the domain has paths, or the outputs suffice for pairs."""
    # Where pairs are written down, each of them is to be tried.
    if steps_apart(claim) == 1 or isinstance(domain, Pairs):
        return False
    return _has_paths(domain) or affordable_pairs(claim, outputs) > 0


def _has_paths(domain: Domain) -> bool:
    return any(len(path(domain, pair, 2)) > 1 for pair in domain.corners())


def _is_far(claim: PrivacyClaim) -> bool:
    """Return whether the claim allows too much to say where to look."""
    return claim.group_exponent is not None and claim.total_variation() > FAR


def _shown(claim: PrivacyClaim, score: float) -> PrivacyClaim:
    """Return the claim of the size to look for: what was seen, but no less than the claim, or LEAST_LOSS where that is far."""
    exponent = claim.group_exponent or 1
    least = LEAST_LOSS**exponent / exponent if _is_far(claim) else claim.value
    return claim.with_value(max(least, score))


def steps_apart(claim: PrivacyClaim) -> int:
    """Return the number of moves between the data sets searched. Together these moves lose about as much as ε = 1.

    A loss of ε takes some 1/ε² outputs to show. If all moves on a path lose the same, the ends differ by their sum, which takes
    fewer outputs by the square of the number of moves. If only one move loses anything, the ends show that too. The number is odd,
    since two moves may undo each other; 1 for a claim that says nothing about larger groups.

    >>> from auditor.claims import PureDP
    >>> steps_apart(PureDP(1.0)), steps_apart(PureDP(0.3)), steps_apart(PureDP(0.1))
    (1, 3, 9)
    """
    if claim.group_exponent is None:
        return 1
    return 1 + 2 * round((1 / max(claim.relative_size, 1 / MOST_STEPS) - 1) / 2)


def affordable_pairs(claim: PrivacyClaim, outputs: int) -> int:
    """Return the number of pairs on which a search with these outputs can show a loss as small as the claim.

    0 for a large claim, or too few outputs. A difference needs outputs in proportion to the inverse square of its size. The cube
    is a rule of thumb and not derived: it asks for about 25,000 outputs a pair at ε = 0.1.

    >>> from auditor.claims import PureDP
    >>> affordable_pairs(PureDP(0.1), 150_000), affordable_pairs(PureDP(0.1), 6_000_000), affordable_pairs(PureDP(1.0), 6_000_000)
    (0, 59, 0)
    """
    if steps_apart(claim) == 1:
        return 0
    needed = LEAST_LOOK / max(claim.relative_size, 1e-3) ** 3
    pairs = int(outputs / LEAST_ROUNDS / needed)
    return pairs if pairs >= MOST_PAIRS * SURVIVORS else 0


def _small_loss(looks: Looks, known: Known, given: Given) -> Known:
    """Look for a small violation of a small claim: at a distance, or on few pairs with many outputs each."""
    claim, domain, outputs = known.claim, looks.plan.domain, round(given.outputs)
    if _has_paths(domain):
        steps, budget = steps_apart(claim), Budget(outputs, most_pairs=MOST_PAIRS)
        best = search_pairs(domain, lambda pairs, each: _at_distance(looks, claim, pairs, each), budget, looks.rng)
        return replace(known, along=tuple(path(domain, best.pair, steps)), by_step=best.score)
    few = affordable_pairs(claim, outputs)

    def evaluate(pairs: Sequence[Pair], each: int) -> list[float]:
        seen = looks.on_pairs("few pairs, for a small violation", pairs, each, claim, {})
        return Promised.of([look.prospects for look in seen], claim.value).utilities()

    best = search_pairs(domain, evaluate, Budget(outputs, most_pairs=few), looks.rng)
    return replace(known, along=(best.pair,), by_step=best.score)


def _at_distance(looks: Looks, claim: PrivacyClaim, pairs: Sequence[Pair], outputs_each: int) -> list[float]:
    """Return what the ends of a path through each pair promise, by step."""
    steps, exponent = steps_apart(claim), claim.group_exponent or 1
    method, paths = looks.method(claim, steps), [path(looks.plan.domain, pair, steps) for pair in pairs]
    seen = looks.on(pairs, [*map(ends, paths)], outputs_each, Shown(method))
    looks.enter("data sets at a distance, for a small violation", len(pairs), outputs_each, claim)
    by_step = [
        [one.of_steps(len(along) ** exponent) for one in method.prospects(evidence)]
        for evidence, along in zip(seen, paths, strict=True)
    ]
    return Promised.of(by_step, claim.value).utilities()


def _most_lossy_step(looks: Looks, known: Known, given: Given) -> Known:
    """Find the step of the path on which most is lost, by bisection: all may be lost on a single one."""
    each = round(given.outputs) // (2 * len(known.along).bit_length())
    method = looks.method(known.claim)
    step = likeliest_step(known.along, lambda halves: looks.promised([*map(ends, halves)], each, method))
    return replace(known, first=(*known.first, step))


OF_THE_SIZE = (
    SearchStage(
        "a small violation, on data sets far apart or on few pairs",
        0.70,
        _small_loss,
        "a small loss takes too many outputs to show on each pair of neighbours",
        only="if the claim or the observed loss is small",
        when=lambda looks, known, given: _small_is_searched(looks.plan.domain, known.claim, round(given.outputs)),
    ),
    SearchStage(
        "the step of a path with the largest loss",
        0.10,
        _most_lossy_step,
        "a loss seen at a distance may come from a single step",
        only="if data sets far apart were searched",
        when=lambda looks, known, given: len(known.along) > 1,
    ),
    SearchStage("neighbours", None, on_neighbours, "a large loss shows there with few outputs", parts=ON_NEIGHBOURS),
)
# The stages of a search, by shares of its outputs. This is the place to tune it.
SEARCH = (
    SearchStage(
        "the loss of the mechanism on neighbours",
        0.15,
        _what_is_lost,
        "the claim does not say how large a loss to look for",
        only="if the claim is small, or so large that it says nothing",
        when=_says_not_where_to_look,
        parts=ON_NEIGHBOURS,
    ),
    SearchStage("a violation of that size", None, _of_the_size, "the search itself", parts=OF_THE_SIZE),
)
