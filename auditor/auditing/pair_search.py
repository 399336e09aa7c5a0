"""The search for the pair with the best forecast: a list of stages, written as data.

A large loss shows on neighbours with few outputs. A small loss ε takes some 1/ε² outputs on each pair, too many for all
pairs. So the search for a small loss spends most outputs on data sets k moves apart, where losses add up by group
privacy, or on few pairs if the domain has no such paths. The claim says how large a loss to look for. If the claim is
small, or so large that it says nothing, a first search on neighbours shows how much the mechanism loses.

A stage looks at pairs: it draws outputs on each, from which a method computes the pair's utility: the probability that
the bound will refute the claim, plus a little for the expected bound (:mod:`auditor.bounds.utility`).
"""

import functools
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from auditor.auditing.ledger import Ledger
from auditor.auditing.plan import Plan
from auditor.auditing.sizes import Round
from auditor.blackbox.batches import Batch, Phase, rng_at
from auditor.blackbox.outputs import OutputColumn
from auditor.blackbox.sample import Sample
from auditor.bounds.digits import round_significant
from auditor.bounds.utility import (
    UNLIKE_IF_SIMPLE,
    WORTH_OF_BOUND,
    WORTH_TO_EXPLORE,
    Outlook,
    Prior,
    Prospect,
    fit_prior_to_pilots,
    judge_prospects,
)
from auditor.claims import PrivacyClaim, PureDP
from auditor.events.selection import FEW_OUTPUTS
from auditor.interfaces import CLOSELY, AnyMethod, Domain, ManyNumbers
from auditor.neighbours.domains import Pairs
from auditor.neighbours.pair import Pair, distinct
from auditor.neighbours.search import (
    FIRST_LOOK,
    LEAST_LOOK,
    LEAST_ROUNDS,
    MOST_EDGES,
    MOST_HALVINGS,
    SURVIVORS,
    Budget,
    Found,
    best_first,
    candidates,
    find_edges,
    has_one_pair,
    path,
    search_pairs,
    spread,
)
from auditor.results.result import Stage

T = TypeVar("T")

# --- Looks: fresh outputs on each pair of a stage, and what a method forecasts from them ---

# In the addresses of outputs drawn for edges, EDGES stands for the number of the look.
EDGES = 99
# A stage notes the smallest violation that its looks detect with this probability.
CHANCE = 0.95


@dataclass
class Looks:
    """Draws the outputs of one search: the search of the round ``now``. The round's number is part of each address."""

    plan: Plan
    now: Round
    ledger: Ledger
    rounds: int = 0
    known_kinds: dict[str, str] = field(default_factory=dict)
    one_by_one: bool = False

    def __post_init__(self) -> None:
        self.rng = rng_at(self.plan.settings.seed, Phase.SEARCH, self.now.number)
        self.before = self.ledger.spent.search
        self.simple = {pair.key() for pair in self.plan.domain.simplest()[:CLOSELY]}

    @property
    def spent(self) -> int:
        """How many outputs this search has drawn."""
        return self.ledger.spent.search - self.before

    def method(self, claim: PrivacyClaim, steps: int = 1) -> AnyMethod:
        """Return the method that tests ``claim`` on data sets ``steps`` moves apart, for the bound of the round."""
        return self.plan.method(outputs_at_distance(self.now.bound, steps), claim, self.now.share)

    def on_pairs(
        self, name: str, pairs: Sequence[Pair], outputs_each: int, claim: PrivacyClaim, known: "Mapping[str, Look]"
    ) -> "tuple[Look, ...]":
        """Look at pairs and return the looks, joined with earlier looks in ``known``; ``name`` is the stage's."""
        method = self.method(claim)
        self.ledger.pairs.update(pair.key() for pair in pairs)
        seen = self.on(pairs, outputs_each, functools.partial(_pair_look, method))
        self.known_kinds.update((pair.key(), kind) for pair, (_, kind, _) in zip(pairs, seen, strict=True))
        # A batch that raises hides its other outputs. So the next looks call the mechanism for each output.
        self.one_by_one = self.one_by_one or any(raised for _, _, raised in seen)
        self.enter(name, len(pairs), outputs_each, claim)
        return tuple(
            known.get(pair.key(), Look(pair, simple=pair.key() in self.simple)).joined(
                evidence, kind, method, outputs_each
            )
            for pair, (evidence, kind, _) in zip(pairs, seen, strict=True)
        )

    def promised(self, drawn_on: Sequence[Pair], outputs_each: int, method: AnyMethod) -> list[float]:
        """Return the utility of each pair of data sets. The pairs need not be neighbours: they may be ends of a path."""
        seen = self.on(drawn_on, outputs_each, functools.partial(shown_by, method))
        return Outlook.of([method.prospects(one) for one in seen], method.claim.value).utilities()

    def enter(self, name: str, pairs: int, outputs_each: int, claim: PrivacyClaim) -> None:
        """Record for the report how many pairs a stage looked at, and with how many outputs."""
        caught = self.plan.method(outputs_each, claim).foreseen(1.0, CHANCE)
        self.ledger.stages.append(Stage(name, pairs, pairs * outputs_each, caught))

    def kinds(self, pairs: Sequence[Pair]) -> list[str]:
        """Return the kind of each pair's outputs. An unknown kind is found with FIRST_LOOK outputs."""
        new = [pair for pair in pairs if pair.key() not in self.known_kinds]
        if new:
            kinds = self.on(new, FIRST_LOOK, kind_of_outputs, (EDGES, len(self.known_kinds)))
            self.known_kinds.update(zip((pair.key() for pair in new), kinds, strict=True))
        return [self.known_kinds[pair.key()] for pair in pairs]

    def on(
        self, pairs: Sequence[Pair], each: int, observe: Callable[[Sample], T], address: tuple[int, int] | None = None
    ) -> list[T]:
        """Return what ``observe`` sees in outputs on each pair. The address is by default that of a new look."""
        if address is None:
            address, self.rounds = (self.rounds, 0), self.rounds + 1
        number, since = address
        batches = [
            Batch(pair, each, Phase.SEARCH, (self.now.number, number, since + i), one_by_one=self.one_by_one)
            for i, pair in enumerate(pairs)
        ]
        return self.ledger.draw_each(batches, observe, self.before + self.now.search)


def outputs_at_distance(outputs: int, steps: int) -> int:
    """Return how many outputs on data sets ``steps`` moves apart show as much as ``outputs`` show on neighbours.

    At that distance a loss is ``steps`` times larger, and needs ``steps``² times fewer outputs.
    """
    return max(1, outputs // steps**2)


def ends(along: Sequence[Pair]) -> Pair:
    """Return the two data sets at the ends of a path. The two are neighbours only if the path has one step."""
    return replace(along[0], right=along[-1].right)


@dataclass(frozen=True, slots=True)
class Look:
    """All looks at one pair, joined. ``prospects`` holds a forecast for each event, the most frequent event first.

    ``learned`` is what rules won on outputs drawn to learn from. ``kind`` is set by ``kind_of_outputs``.
    """

    pair: Pair
    evidence: ManyNumbers = ()
    learned: ManyNumbers = ()
    prospects: tuple[Prospect, ...] = ()
    simple: bool = False
    kind: str = ""
    outputs: int = 0

    def joined(self, evidence: ManyNumbers, kind: str, method: AnyMethod, outputs: int) -> "Look":
        """Return the look joined with one more, which has this number of outputs."""
        both = method.joined(self.evidence, evidence)
        return replace(self, evidence=both, kind=kind, outputs=self.outputs + outputs).judged_by(method)

    def judged_by(self, method: AnyMethod) -> "Look":
        """Return this look with new prospects, which ``method`` computes from the look's evidence."""
        least = UNLIKE_IF_SIMPLE if self.simple else 0.0
        shown = method.prospects(method.joined(self.evidence, self.learned))
        promised = (one._replace(unlike=max(one.unlike, least)) for one in shown)
        return replace(self, prospects=tuple(promised))


def shown_by(method: AnyMethod, sample: Sample) -> ManyNumbers:
    """Return the evidence of outputs on the loss."""
    return () if too_few(sample) else method.evidence(sample)


def _pair_look(method: AnyMethod, sample: Sample) -> tuple[ManyNumbers, str, bool]:
    """Return the evidence of outputs on the loss, their kind, and whether any of them raised."""
    return shown_by(method, sample), kind_of_outputs(sample), sample.redrawn or sample.raised()


def too_few(sample: Sample) -> bool:
    """Whether a side has too few outputs to learn a rule and to judge it."""
    return min(sample.left.size, sample.right.size) < 4


def kind_of_outputs(sample: Sample) -> str:
    """Return the most frequent content of each column on each side: numbers, or one value that is no number."""
    return " | ".join(", ".join(_commonest(column) for column in side.columns) for side in (sample.left, sample.right))


def _commonest(column: OutputColumn) -> str:
    if column.codes is None or np.count_nonzero(column.codes < 0) * 2 >= len(column.codes):
        return f"{column.name}: number"
    return f"{column.name}: {column.atoms[np.bincount(column.codes[column.codes >= 0]).argmax()]}"


# --- Stages, and what one stage hands to the next ---


@dataclass(frozen=True)
class Known:
    """The knowledge of a search between two of its stages.

    ``claim`` has the size that is looked for. The pairs in ``first`` are looked at in any case. After a search for a
    small loss, ``along`` is its path or its one pair, and ``by_step`` the score of one step. ``seen`` holds the joined
    looks by pair key. The pairs in ``proposed`` are looked at next. ``farthest`` is the pair on which outputs with the
    same noise are farthest apart. ``found`` is the result of the search. If the claim is ``refuted``, a large bound is
    worth most.
    """

    claim: PrivacyClaim
    first: tuple[Pair, ...] = ()
    along: tuple[Pair, ...] = ()
    by_step: float = -np.inf
    seen: Mapping[str, Look] = field(default_factory=dict)
    proposed: tuple[Pair, ...] = ()
    farthest: Pair | None = None
    found: Found | None = None
    refuted: bool = False

    def judged_by(self, method: AnyMethod) -> "Known":
        """Return the same knowledge with all looks judged by a method, for its claim."""
        seen = {key: look.judged_by(method) for key, look in self.seen.items()}
        return replace(self, claim=method.claim, seen=seen)

    @functools.cached_property
    def prior(self) -> Prior:
        """The prior of losses, fitted to all pairs that were looked at."""
        return fit_prior_to_pilots([look.prospects for look in self.seen.values()])

    @functools.cached_property
    def _promised(self) -> Outlook:
        return Outlook.of([look.prospects for look in self.seen.values()], self.claim.value, self.prior)

    def best(self, worth: float | None = None) -> list[tuple[Look, float]]:
        """Return all looks with what they promise, the best first; ``worth`` replaces the usual worth of a bound."""
        usual = WORTH_IF_REFUTED if self.refuted else WORTH_OF_BOUND
        looks, promised = list(self.seen.values()), self._promised.utilities(usual if worth is None else worth)
        return [(looks[i], promised[i]) for i in best_first(promised)]


@dataclass(frozen=True, slots=True)
class SearchStage:
    """A stage of the search.

    ``share`` is the stage's part of the outputs of its list of stages. Exactly one stage of a list has None: it gets
    what the others leave. ``look`` and ``when`` get the number of outputs, and ``look`` may draw fewer. ``parts`` are
    inner stages. Names are unique, since a report adds up the stages of one name. ``look`` draws by ``look_at``, or
    notes what it drew by ``Looks.enter``. The last stage of ON_NEIGHBOURS sets ``Known.found``. FROM_THE_BEST takes the
    last two stages of ON_NEIGHBOURS.
    """

    name: str
    share: float | None
    look: "Callable[[Looks, Known, SearchStage, float], Known]"
    when: Callable[[Looks, Known, float], bool] | None = None
    parts: "tuple[SearchStage, ...]" = ()


def in_stages(stages: Sequence[SearchStage], looks: Looks, known: Known, outputs: int) -> Known:
    """Carry out stages in their order, and return the knowledge after the last."""
    before = looks.spent
    for number, stage in enumerate(stages):
        later = sum(one.share or 0.0 for one in stages[number + 1 :])
        left = max(0, round((1 - later) * outputs) - (looks.spent - before))
        share = left if stage.share is None else stage.share * outputs
        if stage.when is None or stage.when(looks, known, share):
            known = stage.look(looks, known, stage, share)
    return known


def look_at(looks: Looks, known: Known, stage: SearchStage, outputs: float, pairs: Sequence[Pair]) -> Known:
    """Look at the first pairs, as many as a stage has outputs for; return the knowledge with these looks."""
    pairs = pairs[: max(1, int(outputs) // FIRST_LOOK)]
    if not pairs:
        return known
    found = looks.on_pairs(stage.name, pairs, int(outputs) // len(pairs), known.claim, known.seen)
    return replace(known, seen={**known.seen, **{look.pair.key(): look for look in found}})


# --- Outputs with the same noise on both sides of many pairs ---

# If all randomness is the auditor's, one or two calls on each side show how far a pair moves the outputs. This ranks
# many pairs at little cost, and the best are looked at. The ranking says little if the draws depend on the data.

# SIZE outputs on each side of many pairs are compared, then AGAIN outputs on each side of the best of these pairs.
SIZE, AGAIN = 2, 16
# Shares of the stage's outputs: OF_MANY for many pairs, OF_NEAR for pairs near the best, OF_AGAIN to compare the best
# again. The rest is for looks.
OF_MANY, OF_NEAR, OF_AGAIN = 0.4, 0.15, 0.15
# The most pairs of the domain that are compared.
MOST_COMPARED = 1_500
# CLIMBS times, NEAR pairs near each of the best are tried.
CLIMBS, NEAR = 3, 4
# At most MOST_PROPOSED pairs are looked at, with at most OUTPUTS_OF_LOOK outputs each. Only the first ALIKE pairs with
# the same distance are looked at, since the simplest come first.
MOST_PROPOSED, OUTPUTS_OF_LOOK, ALIKE = 24, 600, 4
# At most ORDERS other orders of the same records are tried. Distances up to ROUNDING come from rounding.
ORDERS, ROUNDING = 24, 1e-6


def has_same_noise(looks: Looks) -> bool:
    """Return whether all randomness is the auditor's."""
    return looks.ledger.reproducible and looks.plan.drawer().takes_rng


def ranks_pairs(looks: Looks) -> bool:
    """Return whether outputs with the same noise rank pairs: on most compared pairs the two sides differ."""
    apart = [distance for (_, size), distance in looks.ledger.distances.items() if size == SIZE]
    return sum(distance > ROUNDING for distance in apart) > len(apart) / 2


def with_same_noise(looks: Looks, known: Known, stage: SearchStage, outputs: float) -> Known:
    """Look at the pairs on which outputs with the same noise are farthest apart; keep the farthest of all rounds."""
    domain = looks.plan.domain
    most = min(MOST_COMPARED, int(OF_MANY * outputs / (2 * SIZE)))
    tried = list(itertools.islice(_distinct(looks), most))
    if len(tried) < 8:  # too few to be worth it
        return replace(known, farthest=_farthest_of_all(looks, known))
    distances = looks.ledger.compare(tried, SIZE)
    climbers = int(OF_NEAR * most / OF_MANY / (CLIMBS * NEAR))
    for _ in range(CLIMBS):
        near = [domain.mutate(tried[i], looks.rng) for i in best_first(distances)[:climbers] for _ in range(NEAR)]
        tried += near
        distances += looks.ledger.compare(near, SIZE)
    looks.enter(stage.name, len(distances), 2 * SIZE, known.claim)
    again = [tried[i] for i in best_first(distances)[: max(1, int(OF_AGAIN * outputs / (2 * AGAIN)))]]
    proposed = [*_of_orders(looks, most), *_farthest(again, looks.ledger.compare(again, AGAIN))]
    rest = (1 - OF_MANY - OF_NEAR - OF_AGAIN) * outputs
    proposed = proposed[: max(1, int(rest) // (2 * FIRST_LOOK))]
    known = look_at(looks, known, stage, min(rest, OUTPUTS_OF_LOOK * len(proposed)), proposed)
    return replace(known, farthest=_farthest_of_all(looks, known))


def _farthest_of_all(looks: Looks, known: Known) -> Pair | None:
    """Return the farthest of all pairs that were looked at and compared with AGAIN outputs; None if there is none."""
    apart = {key: looks.ledger.distances.get((key, AGAIN), 0.0) for key in known.seen}
    farthest = max(apart, key=apart.__getitem__, default="")
    return known.seen[farthest].pair if farthest and apart[farthest] > ROUNDING else None


def _distinct(looks: Looks) -> Iterator[Pair]:
    """Yield pairs to compare, each once, without those compared before. The kinds of pairs take turns."""
    seen = {key for key, _ in looks.ledger.distances}
    domain = looks.plan.domain
    randoms = (domain.random(looks.rng) for _ in range(MOST_COMPARED))
    kinds = domain.simplest(), domain.each_value(), domain.crowds(), domain.corners(), randoms
    for pair in filter(None, itertools.chain.from_iterable(itertools.zip_longest(*kinds))):
        if (key := pair.key()) not in seen:
            seen.add(key)
            yield pair


def _farthest(pairs: Sequence[Pair], distances: Sequence[float]) -> list[Pair]:
    """Return the pairs with the largest distances, at most ALIKE for each distance."""
    chosen, number = list[Pair](), Counter[float]()
    for i in best_first(distances):
        equal = round_significant(distances[i], 2)
        number[equal] += 1
        if number[equal] <= ALIKE and distances[i] > ROUNDING:
            chosen.append(pairs[i])
    return chosen[:MOST_PROPOSED]


def _of_orders(looks: Looks, most: int) -> list[Pair]:
    """Return the step between two orders of the same records that moves outputs most; an empty list if none does."""
    paths = orders(looks, most // 16)
    apart = looks.ledger.compare([*map(ends, paths)], SIZE)
    if not any(distance > ROUNDING for distance in apart):
        return []
    along = paths[best_first(apart)[0]]
    return [likeliest_step(along, lambda halves: looks.ledger.compare([*map(ends, halves)], SIZE))]


def orders(looks: Looks, most: int) -> list[Sequence[Pair]]:
    """Return paths from data sets to the same records in another order."""
    paths = (looks.plan.domain.rearranged(looks.rng) for _ in range(min(ORDERS, most)))
    return [path for path in paths if len(path) > 0]


def likeliest_step(along: Sequence[Pair], score: Callable[[Sequence[Sequence[Pair]]], Sequence[float]]) -> Pair:
    """Find the step that contributes most to the difference between the ends of a path, bisecting towards the higher score."""
    while len(along) > 1:
        halves = along[: len(along) // 2], along[len(along) // 2 :]
        one, other = score(halves)
        along = halves[0] if one >= other else halves[1]
    return along[0]


# --- Neighbours: simple pairs, corners, orders of records, edges, and a climb from the best ---

# The simplest pairs come first, since most faults show on one or two records. So do rare faults: a few of these pairs
# get outputs enough to show a rare event. All looks compete by what they promise.

# If outputs with the same noise rank pairs, the stage of corners looks at up to MOST_OTHERS pairs, or at one for each
# EACH_OF_OTHERS outputs if that is more. It leaves out pairs whose looks have the share OF_NEW of a new look's outputs.
MOST_OTHERS, EACH_OF_OTHERS, OF_NEW = 72, 128, 0.25
# A climb has ROUNDS equal rounds; the last comparison, COMPARISONS rounds. Each round of a climb but the last tries up
# to AROUND pairs near the best, but at least one near each.
ROUNDS, COMPARISONS, AROUND = 4, 3, 12
# A climb goes on from a quarter of the pairs of the round before, and from FINALISTS at least, since a single one may
# be there by luck; from CLIMBERS if the claim is refuted. The last comparison has the share OF_BEST of all outputs, and
# spends OF_FINALISTS of these on FINALISTS pairs first.
FINALISTS, CLIMBERS, OF_FINALISTS, OF_BEST = 8, 4, 0.4, 0.24


def on_neighbours(looks: Looks, known: Known, stage: SearchStage, outputs: float) -> Known:
    """Search the domain for the most promising neighbours. Draw nothing if it has one pair or outputs are few."""
    domain = looks.plan.domain
    if has_one_pair(domain, looks.rng) or round(outputs) < 8 * LEAST_LOOK:  # too few for a search
        return replace(known, found=Found((*known.first, *domain.corners())[0], -np.inf))
    return in_stages(stage.parts, looks, known, round(outputs))


def _simplest(looks: Looks, known: Known, stage: SearchStage, outputs: float) -> Known:
    return look_at(looks, known, stage, outputs, [*known.first, *known.along, *looks.plan.domain.simplest()])


def _corners(looks: Looks, known: Known, stage: SearchStage, outputs: float) -> Known:
    domain = looks.plan.domain
    corners, crowds = candidates(domain, looks.rng), distinct(domain.crowds())
    # Outputs with the same noise rank many more pairs than these.
    most = max(MOST_OTHERS, int(outputs) // EACH_OF_OTHERS) if ranks_pairs(looks) else len(corners) + len(crowds)
    room = min(most, max(1, int(outputs) // FIRST_LOOK))
    seen = {key for key, look in known.seen.items() if look.outputs >= OF_NEW * int(outputs) / room}
    corners, crowds = ([pair for pair in pairs if pair.key() not in seen] for pairs in (corners, crowds))
    # Corners come sorted by size. Take most of the small corners, and a few spread over the large ones.
    of_crowds = spread(crowds, room // 3)
    room -= len(of_crowds)
    small = min(len(corners), 2 * room // 3)
    others = distinct([*corners[:small], *of_crowds, *spread(corners[small:], room - small)])
    return look_at(looks, known, stage, outputs, others)


def _closely(looks: Looks, known: Known, stage: SearchStage, outputs: float) -> Known:
    best = [look.pair for look, _ in known.best(WORTH_TO_EXPLORE)]
    # A quarter of a look's outputs is then enough to learn more than one threshold.
    chosen = looks.plan.domain.closely(best, int(outputs) // (4 * FEW_OUTPUTS))
    return look_at(looks, known, stage, outputs, chosen)


def _reactions(looks: Looks, known: Known, stage: SearchStage, outputs: float) -> Known:
    """Propose the step between two orders of the same records to which outputs react most."""
    paths, half, method = orders(looks, int(outputs / (2 * LEAST_LOOK))), int(outputs / 2), looks.method(known.claim)
    if not paths:
        return known
    promised = looks.promised([*map(ends, paths)], half // len(paths), method)
    likely = paths[best_first(promised)[0]]
    each = half // (2 * len(likely).bit_length())
    step = likeliest_step(likely, lambda halves: looks.promised([*map(ends, halves)], each, method))
    looks.enter(stage.name, len(paths), half // len(paths), known.claim)
    return replace(known, proposed=(*known.proposed, step))


def _edges(looks: Looks, known: Known, stage: SearchStage, outputs: float) -> Known:
    tried = [look.pair for look in known.seen.values()]
    edges = find_edges(looks.plan.domain, looks.kinds, tried, looks.kinds(tried)) if tried else []
    return replace(known, proposed=(*known.proposed, *edges))


def _climb(looks: Looks, known: Known, stage: SearchStage, outputs: float) -> Known:
    """Look in each round at the most promising pairs and at pairs near them. Each round keeps fewer pairs."""
    per_round, domain = outputs / ROUNDS, looks.plan.domain
    if known.refuted:
        worth, pairs, least = None, CLIMBERS, CLIMBERS
    else:
        worth, least = WORTH_TO_EXPLORE, FINALISTS
        pairs = min(math.ceil(len(known.seen) * SURVIVORS), max(FINALISTS, int(per_round) // LEAST_LOOK))
    for number in range(ROUNDS):
        best = [look.pair for look, _ in known.best(worth)[:pairs]]
        each = max(1, AROUND // len(best)) if number < ROUNDS - 1 else 0
        near = [domain.mutate(pair, looks.rng) for pair in best for _ in range(each)]
        tried = distinct([*known.proposed, *best, *near])
        known = look_at(looks, replace(known, proposed=()), stage, per_round, tried)
        pairs = max(least, math.ceil(pairs * SURVIVORS))
    return known


def _last(looks: Looks, known: Known, stage: SearchStage, outputs: float) -> Known:
    """Look again at the pair likeliest to refute the claim, the likeliest simple pair, and the pair that promises most.

    Each round chooses these pairs anew. The search ends with the pair that promises most.
    """
    # Many pairs promise about the same. A short look at some of them leaves out those that were lucky.
    several = [look.pair for look, _ in known.best(WORTH_TO_EXPLORE)[:FINALISTS]]
    known = look_at(looks, known, stage, OF_FINALISTS * outputs, several)
    again = (1 - OF_FINALISTS) / COMPARISONS * outputs
    # If the likeliest pair was lucky, another pair is likeliest after the look, and the next round looks at that pair.
    for _ in range(COMPARISONS):
        likeliest = [look for look, _ in known.best(WORTH_TO_EXPLORE)]
        simple = [look for look in likeliest if look.simple]
        surest, _ = known.best()[0]
        finalists = distinct([*(look.pair for look in (*likeliest[:1], *simple[:1], surest)), *known.first])
        known = look_at(looks, known, stage, again, finalists)
    look, promised = known.best()[0]
    return replace(known, found=Found(look.pair, promised))


ON_NEIGHBOURS = (
    # Two calls with the same noise tell how far a pair moves the outputs.
    SearchStage(
        "many pairs, by outputs with the same noise",
        0.18,
        with_same_noise,
        when=lambda looks, known, outputs: has_same_noise(looks),
    ),
    # Most faults show on one or two records.
    SearchStage("the simplest pairs", 0.08, _simplest),
    # Others show at the ends of ranges, in crowds, or anywhere.
    SearchStage("corners, crowds and random pairs", 0.12, _corners),
    # Rare faults show on one or two records as well.
    SearchStage("the simplest pairs, with more outputs", 0.18, _closely),
    # A mechanism may depend on the order of records.
    SearchStage(
        "the same records in another order",
        0.08,
        _reactions,
        when=lambda looks, known, outputs: not has_same_noise(looks),
    ),
    # A mechanism that refuses small data sets leaks most at the smallest size that it accepts. Bisection finds this size,
    # with far fewer outputs than the stage's share.
    SearchStage(
        "where the kind of output changes",
        0.10,
        _edges,
        when=lambda looks, known, outputs: outputs > FIRST_LOOK * MOST_EDGES * MOST_HALVINGS,
    ),
    # Most outputs go to the pairs with the best chance to refute the claim.
    SearchStage("the most promising of these, and pairs near them", None, _climb),
    # The best of many looks was lucky, so it is looked at again.
    SearchStage("the best of all", OF_BEST, _last),
)
# After a claim is refuted on neighbours, the search is a climb from the best known pairs, and the last comparison.
FROM_THE_BEST = ON_NEIGHBOURS[-2:]


# --- A large loss, or a small one ---

# The most pairs in the first round of a search for a small loss. Without paths, outputs must suffice for a quarter.
MOST_PAIRS = 96
# A claim whose total variation exceeds FAR does not say how large a loss to look for. The search then looks for
# LEAST_LOSS (ε or μ) or more. MOST_STEPS is the most moves between the ends of a path.
FAR, LEAST_LOSS = PureDP(3.0).total_variation(), 0.1
MOST_STEPS = 101
# A path is preferred to neighbours that promise less than LIKELY, since evidence at a distance is much stronger.
LIKELY = 0.5
# The worth of a bound once the claim is refuted, where a certain refutation is worth 1.
WORTH_IF_REFUTED = 10.0


@dataclass(frozen=True, slots=True)
class FoundPair:
    """The pair that a search ends with. If it was found at a distance, ``path`` holds the pairs between the ends.

    ``claim`` has the size that was searched for. ``rival`` is another pair to learn on. ``looks`` holds the looks of
    this search and of earlier ones, by pair key.
    """

    pair: Pair
    claim: PrivacyClaim
    path: Sequence[Pair] = ()
    rival: Pair | None = None
    looks: Mapping[str, Look] = field(default_factory=dict)


def find_pair(plan: Plan, now: Round, ledger: Ledger, seen: Mapping[str, Look], *, refuted: bool = False) -> FoundPair:
    """Search the domain for the pair with the best forecast for a round's bound; ``seen`` holds earlier looks by pair
    key.

    If the claim is ``refuted``, the search looks for the largest bound.
    """
    kinds, claim = {key: look.kind for key, look in seen.items() if look.kind}, plan.claim
    assert isinstance(claim, PrivacyClaim)
    looks = Looks(plan, now, ledger, known_kinds=kinds)
    stages = FROM_THE_BEST if refuted and seen and steps_apart(claim) == 1 else SEARCH
    before = Known(claim, seen=seen, refuted=refuted).judged_by(looks.method(claim))
    known = in_stages(stages, looks, before, now.search)
    assert known.found is not None
    all_looks = {**seen, **known.seen}
    if not known.along or known.found.score > max(known.by_step, LIKELY):
        rival = known.farthest if steps_apart(claim) == 1 else None
        return FoundPair(known.found.pair, known.claim, rival=rival, looks=all_looks)
    along = known.along
    # The loss between the ends of the path says most about its middle step.
    middle, far = along[len(along) // 2], along if len(along) > 1 else ()
    return FoundPair(middle, known.claim, far, looks=all_looks)


def _what_is_lost(looks: Looks, known: Known, stage: SearchStage, outputs: float) -> Known:
    """Search neighbours for the mechanism's loss, which sets the size to look for afterwards."""
    seen = on_neighbours(looks, known, stage, outputs)
    # Nothing was drawn if the domain has one pair or outputs are too few.
    if not looks.spent or seen.found is None:
        return known
    pair = seen.found.pair
    _, bounds = judge_prospects(seen.seen[pair.key()].prospects, seen.prior, known.claim.value)
    method = looks.method(_shown(known.claim, bounds.max(initial=0.0)))
    return replace(known.judged_by(method), first=(*known.first, pair))


def _of_the_size(looks: Looks, known: Known, stage: SearchStage, outputs: float) -> Known:
    return in_stages(stage.parts, looks, known, round(outputs))


def _small_is_searched(domain: Domain, claim: PrivacyClaim, outputs: int) -> bool:
    """Return whether to search for a small loss. This needs a small claim, and either paths or enough outputs."""
    # If the user lists the pairs, each listed pair is tried instead.
    if steps_apart(claim) == 1 or isinstance(domain, Pairs):
        return False
    return _has_paths(domain) or affordable_pairs(claim, outputs) > 0


def _has_paths(domain: Domain) -> bool:
    return any(len(path(domain, pair, 2)) > 1 for pair in domain.corners())


def _is_far(claim: PrivacyClaim) -> bool:
    """Return whether the claim allows too much to say where to look."""
    return claim.group_exponent is not None and claim.total_variation() > FAR


def _shown(claim: PrivacyClaim, score: float) -> PrivacyClaim:
    """Return the claim to search for: as large as the loss seen, but at least the claim, or LEAST_LOSS for a far claim."""
    exponent = claim.group_exponent or 1
    least = LEAST_LOSS**exponent / exponent if _is_far(claim) else claim.value
    return claim.with_value(max(least, score))


def steps_apart(claim: PrivacyClaim) -> int:
    """Return the number of moves between the ends of a path: if each loses the claimed ε, all lose about ε = 1.

    A loss of ε shows in some 1/ε² outputs. If each of n moves loses the same, the ends of the path lose n times as
    much, and show it in n² times fewer outputs. If only one move loses anything, the ends show that too. The number is
    odd, since two moves may undo each other. It is 1 if the claim says nothing about larger groups.

    >>> from auditor.claims import PureDP
    >>> steps_apart(PureDP(1.0)), steps_apart(PureDP(0.3)), steps_apart(PureDP(0.1))
    (1, 3, 9)
    """
    if claim.group_exponent is None:
        return 1
    return 1 + 2 * round((1 / max(claim.relative_size, 1 / MOST_STEPS) - 1) / 2)


def affordable_pairs(claim: PrivacyClaim, outputs: int) -> int:
    """Return the number of pairs on which a search with these outputs can show a loss as small as the claim.

    Return 0 for a large claim or too few outputs. A loss of size s needs some 1/s² outputs. The code asks for 1/s³, a
    rule of thumb that is not derived: it gives about 25,000 outputs a pair at ε = 0.1.

    >>> from auditor.claims import PureDP
    >>> affordable_pairs(PureDP(0.1), 150_000), affordable_pairs(PureDP(0.1), 6_000_000), affordable_pairs(PureDP(1.0), 6_000_000)
    (0, 59, 0)
    """
    if steps_apart(claim) == 1:
        return 0
    needed = LEAST_LOOK / max(claim.relative_size, 1e-3) ** 3
    pairs = int(outputs / LEAST_ROUNDS / needed)
    return pairs if pairs >= MOST_PAIRS * SURVIVORS else 0


def _small_loss(looks: Looks, known: Known, stage: SearchStage, outputs: float) -> Known:
    """Look for a small violation of a small claim: at a distance, or on few pairs with many outputs each."""
    claim, domain = known.claim, looks.plan.domain
    if _has_paths(domain):
        steps, budget = steps_apart(claim), Budget(round(outputs), most_pairs=MOST_PAIRS)
        best = search_pairs(domain, lambda pairs, each: _at_distance(looks, claim, pairs, each), budget, looks.rng)
        return replace(known, along=tuple(path(domain, best.pair, steps)), by_step=best.score)

    def evaluate(pairs: Sequence[Pair], each: int) -> list[float]:
        seen = looks.on_pairs("few pairs, for a small violation", pairs, each, claim, {})
        return Outlook.of([look.prospects for look in seen], claim.value).utilities()

    budget = Budget(round(outputs), most_pairs=affordable_pairs(claim, round(outputs)))
    best = search_pairs(domain, evaluate, budget, looks.rng)
    return replace(known, along=(best.pair,), by_step=best.score)


def _at_distance(looks: Looks, claim: PrivacyClaim, pairs: Sequence[Pair], outputs_each: int) -> list[float]:
    """Return for each pair the utility of a step of a path through it, estimated from outputs on the ends of the path."""
    steps, exponent = steps_apart(claim), claim.group_exponent or 1
    method, paths = looks.method(claim, steps), [path(looks.plan.domain, pair, steps) for pair in pairs]
    looks.ledger.pairs.update(pair.key() for pair in pairs)
    seen = looks.on([*map(ends, paths)], outputs_each, functools.partial(shown_by, method))
    looks.enter("data sets at a distance, for a small violation", len(pairs), outputs_each, claim)
    by_step = [
        [one.per_step(len(along) ** exponent) for one in method.prospects(evidence)]
        for evidence, along in zip(seen, paths, strict=True)
    ]
    return Outlook.of(by_step, claim.value).utilities()


def _most_lossy_step(looks: Looks, known: Known, stage: SearchStage, outputs: float) -> Known:
    """Find the step of the path with the largest loss by bisection, since all of the loss may be on one step."""
    each = round(outputs) // (2 * len(known.along).bit_length())
    method = looks.method(known.claim)
    step = likeliest_step(known.along, lambda halves: looks.promised([*map(ends, halves)], each, method))
    return replace(known, first=(*known.first, step))


OF_THE_SIZE = (
    # A small loss takes too many outputs to show on each pair of neighbours.
    SearchStage(
        "a small violation, on data sets far apart or on few pairs",
        0.70,
        _small_loss,
        when=lambda looks, known, outputs: _small_is_searched(looks.plan.domain, known.claim, round(outputs)),
    ),
    # A loss seen at a distance may come from a single step.
    SearchStage(
        "the step of a path with the largest loss",
        0.10,
        _most_lossy_step,
        when=lambda looks, known, outputs: len(known.along) > 1,
    ),
    # A large loss shows there with few outputs.
    SearchStage("neighbours", None, on_neighbours, parts=ON_NEIGHBOURS),
)
# The stages of a search. To tune the search, change this list, OF_THE_SIZE or ON_NEIGHBOURS.
SEARCH = (
    # A claim that is small, or so large that it says nothing, does not say how large a loss to look for.
    SearchStage(
        "the loss of the mechanism on neighbours",
        0.15,
        _what_is_lost,
        when=lambda looks, known, outputs: (
            _is_far(known.claim) or _small_is_searched(looks.plan.domain, known.claim, looks.now.search)
        ),
        parts=ON_NEIGHBOURS,
    ),
    SearchStage("a violation of that size", None, _of_the_size, parts=OF_THE_SIZE),
)
