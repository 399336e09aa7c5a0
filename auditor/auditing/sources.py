"""The sources of a race among pairs of neighbours: each proposes pairs where mechanisms are known to break."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from auditor.auditing.race import Game, Look, PairSource, Race, best_first, new_pairs
from auditor.bounds.digits import round_significant
from auditor.events.selection import FEW_OUTPUTS
from auditor.neighbours.pair import Pair, distinct
from auditor.neighbours.search import candidates, ends, find_edges, path, spread


class OutputGame(Game, Protocol):
    """A game whose outputs are those of a mechanism on the two sides of pairs."""

    same_noise: bool  # whether all randomness is the auditor's
    steps: int  # the moves between data sets at which a loss of the size that is looked for shows best

    def compare(self, pairs: Sequence[Pair], size: int) -> list[float]:
        """Return how far apart ``size`` outputs of the two sides of each pair are, with the same noise on all sides."""

    def compared(self, size: int) -> dict[str, float]:
        """Return all distances at a size so far, by the keys of their pairs."""

    def kinds(self, pairs: Sequence[Pair]) -> list[str]:
        """Return the kind of each pair's outputs, which a few outputs show."""

    def promise(self, drawn_on: Sequence[Pair], each: int) -> list[float]:
        """Return the utility of ``each`` outputs on pairs of data sets that need not be neighbours."""

    def enter(self, name: str, pairs: int, outputs: int) -> None:
        """Note for the report that a source drew outputs itself."""


# --- Outputs with the same noise on both sides of many pairs ---

# If all randomness is the auditor's, one or two calls on each side show how far a pair moves the outputs. This ranks
# many pairs at little cost, and the best are looked at. The ranking says little if the draws depend on the data.


def _with_same_noise(race: Race[OutputGame], outputs: float) -> list[Pair]:
    """Propose the pairs on which outputs with the same noise are farthest apart."""
    tuning, domain, game = race.tuning, race.domain, race.game
    before = game.compared(tuning.size)
    most = min(tuning.most_compared, int(tuning.of_many * outputs / (2 * tuning.size)))
    untried = (pair for pair in _in_turns(race) if pair.key() not in before)
    tried = [*race.once(f"{most} to compare", lambda: list(itertools.islice(new_pairs(race, untried), most)))]
    if len(tried) < 8:  # too few to be worth it
        return []
    known = {size: len(game.compared(size)) for size in (tuning.size, tuning.again)}
    distances = _distances(race, tried, tuning.size)
    climbers = int(tuning.of_near * most / tuning.of_many / (max(1, tuning.climbs) * tuning.near_each))
    for _ in range(tuning.climbs if climbers else 0):
        best = best_first(distances)[:climbers]
        near = [domain.mutate(tried[i], race.rng) for i in best for _ in range(tuning.near_each)]
        tried += near
        distances += _distances(race, near, tuning.size)
    again = [tried[i] for i in best_first(distances)[: max(1, int(tuning.of_again * outputs / (2 * tuning.again)))]]
    proposed = [*_order_that_moves(race, most // 5), *_farthest(race, again, _distances(race, again, tuning.again))]
    # What was compared before is not drawn again.
    drawn = sum(2 * size * (len(game.compared(size)) - number) for size, number in known.items())
    game.enter(SAME_NOISE, len(distances), drawn)
    return proposed[: max(1, int(outputs / (8 * tuning.first_look)))]


def _distances(race: Race[OutputGame], pairs: Sequence[Pair], size: int) -> list[float]:
    """Return how far apart outputs with the same noise are, and enter these outputs as spent."""
    race.spent += 2 * size * len(pairs)
    return race.game.compare(pairs, size)


def _in_turns(race: Race[Any]) -> Iterator[Pair]:
    """Yield pairs of all kinds, which take turns."""
    listed = race.listed
    randoms = (listed.domain.random(race.rng) for _ in range(race.tuning.most_compared))
    kinds = listed.simplest, listed.each_value, listed.crowds, listed.corners, randoms
    yield from filter(None, itertools.chain.from_iterable(itertools.zip_longest(*kinds)))


def _farthest(race: Race[Any], pairs: Sequence[Pair], distances: Sequence[float]) -> list[Pair]:
    """Return the pairs with the largest distances, at most ``alike`` for each distance."""
    chosen, number = list[Pair](), Counter[float]()
    for i in best_first(distances):
        equal = round_significant(distances[i], 2)
        number[equal] += 1
        if number[equal] <= race.tuning.alike and distances[i] > race.tuning.rounding:
            chosen.append(pairs[i])
    return chosen[: race.tuning.most_proposed]


def ranks_pairs(race: Race[OutputGame]) -> bool:
    """Return whether outputs with the same noise rank pairs: on most compared pairs the two sides differ."""
    apart = race.game.compared(race.tuning.size).values()
    return sum(distance > race.tuning.rounding for distance in apart) > len(apart) / 2


# --- The same records in another order ---


def _order_that_moves(race: Race[OutputGame], most: int) -> list[Pair]:
    """Return the step between two orders of the same records that moves outputs most; an empty list if none does."""
    size, paths = race.tuning.size, _orders(race, most)
    apart = _distances(race, [*map(ends, paths)], size)
    if not any(distance > race.tuning.rounding for distance in apart):
        return []
    along = paths[best_first(apart)[0]]
    return [likeliest_step(along, lambda halves: _distances(race, [*map(ends, halves)], size))]


def _reactions(race: Race[OutputGame], outputs: float) -> list[Pair]:
    """Propose the step between two orders of the same records to which outputs react most."""
    look = 2 * race.tuning.first_look
    paths, half = _orders(race, min(24, int(outputs / (2 * look)))), int(outputs / 2)
    if not paths:
        return []
    promised = race.game.promise([*map(ends, paths)], half // len(paths))
    likely = paths[best_first(promised)[0]]
    each = half // (2 * len(likely).bit_length())
    step = likeliest_step(likely, lambda halves: race.game.promise([*map(ends, halves)], each))
    race.game.enter(ORDERS, len(paths), int(outputs))
    race.spent += outputs
    return [step]


def _orders(race: Race[Any], most: int) -> list[Sequence[Pair]]:
    """Return paths from data sets to the same records in another order."""
    paths = (race.domain.rearranged(race.rng) for _ in range(min(race.tuning.orders, most)))
    return [path for path in paths if len(path) > 0]


def likeliest_step(along: Sequence[Pair], score: Callable[[Sequence[Sequence[Pair]]], Sequence[float]]) -> Pair:
    """Find the step that contributes most to the difference between the ends of a path, bisecting towards the higher score."""
    while len(along) > 1:
        halves = along[: len(along) // 2], along[len(along) // 2 :]
        one, other = score(halves)
        along = halves[0] if one >= other else halves[1]
    return along[0]


# --- Neighbours ---


def _simplest(race: Race[Any], outputs: float) -> list[Pair]:
    return race.listed.simplest


def _others(race: Race[Any], outputs: float) -> list[Pair]:
    """Propose corners, crowds and random pairs: most of the small corners and of the likeliest crowds, and a few spread over
    the others.
    """
    tuning = race.tuning
    corners = race.once("corners", lambda: candidates(race.listed, race.rng))
    room = max(1, race.room(outputs))
    # Outputs with the same noise rank many more pairs than these.
    if getattr(race.game, "same_noise", False) and ranks_pairs(race):
        room = min(room, max(tuning.most_others, int(outputs) // tuning.each_of_others))
    # A crowd takes long to make, and the likeliest come first.
    most = tuning.crowds_made * (room // 3)
    crowds = race.once(f"{most} crowds", lambda: distinct(race.listed.crowds, most))
    room = min(room, len(corners) + len(crowds))
    seen = {key for key, look in race.pool.items() if look.outputs >= int(outputs) / room / 4}
    corners, crowds = ([pair for pair in pairs if pair.key() not in seen] for pairs in (corners, crowds))
    likeliest = 2 * (room // 3) // 3
    of_crowds = [*crowds[:likeliest], *spread(crowds[likeliest:], room // 3 - likeliest)]
    room -= len(of_crowds)
    # Corners come sorted by size.
    small = min(len(corners), 2 * room // 3)
    return distinct([*corners[:small], *of_crowds, *spread(corners[small:], room - small)])


def _closely(race: Race[Any], outputs: float) -> list[Pair]:
    """Propose simple pairs, to be looked at with more outputs than others: rare faults show on one or two records as well."""
    # A quarter of a look's outputs is then enough to learn more than one threshold.
    best = [look.pair for look in race.ranked().exploring]
    return race.domain.closely(best, int(outputs) // (4 * FEW_OUTPUTS))


def _edges(race: Race[OutputGame], outputs: float) -> list[Pair]:
    """Propose the pairs on both sides of each edge where the kind of output changes.

    A mechanism that refuses small data sets leaks most at the smallest size that it accepts. Bisection finds this size.
    """
    looks = [look for look in race.pool.values() if not look.along]
    tried, asked = [look.pair for look in looks], 0

    def kinds(pairs: Sequence[Pair]) -> list[str]:
        nonlocal asked
        asked += len(pairs)
        return race.game.kinds(pairs)

    known = [look.kind for look in looks]
    edges = find_edges(race.domain, kinds, tried, known, race.tuning.most_edges) if tried else []
    race.spent += race.tuning.first_look * asked
    return edges


# --- Data sets at a distance ---


def _paths(race: Race[OutputGame], outputs: float) -> list[Look]:
    """Propose data sets some moves apart: a small loss adds up along a path, so that its ends show it with fewer outputs."""
    most = min(race.tuning.most_paths, int(outputs) // (2 * race.tuning.look))
    steps = race.game.steps

    def paths() -> list[Look]:
        pairs = candidates(race.listed, race.rng, most)
        along = [(pair, tuple(path(race.domain, pair, steps))) for pair in pairs]
        return [Look(pair, along=way, ends=ends(way)) for pair, way in along if len(way) > 1]

    return race.once(f"{most} paths of {steps}", paths)  # type: ignore[no-any-return]


def _step_of_the_best(race: Race[OutputGame], outputs: float) -> list[Pair]:
    """Propose the step of the best path on which outputs differ most, since all of the loss may be on one step."""
    best = next((look for look in race.ranked().deciding if look.along), None)
    if best is None:
        return []
    each = int(outputs / 2) // (2 * len(best.along).bit_length())
    step = likeliest_step(best.along, lambda halves: race.game.promise([*map(ends, halves)], each))
    race.spent += outputs / 2
    return [step]


SAME_NOISE = "many pairs, by outputs with the same noise"
ORDERS = "the same records in another order"


def _has_many_outputs(race: Race[Any], outputs: float) -> bool:
    return outputs > 16 * race.tuning.first_look


# The sources of a race among pairs of neighbours, in their order. To tune the search, change this list, or SearchTuning.
SIMPLEST = PairSource("the simplest pairs", 0.08, _simplest)
OTHERS = PairSource("corners, crowds and random pairs", 0.12, _others)
OF_NEIGHBOURS: tuple[PairSource, ...] = (
    # Two calls with the same noise tell how far a pair moves the outputs.
    PairSource(SAME_NOISE, 0.2, _with_same_noise, when=lambda race, _: race.game.same_noise),
    # Most faults show on one or two records.
    SIMPLEST,
    # Others show at the ends of ranges, in crowds, or anywhere.
    OTHERS,
    # A small loss takes too many outputs to show on each pair of neighbours.
    PairSource("data sets at a distance, for a small loss", 0.6, _paths, when=lambda race, _: race.game.steps > 1),
    PairSource(
        "the step of a path with the largest loss", 0.1, _step_of_the_best, when=lambda race, _: race.game.steps > 1
    ),
    # Rare faults show on one or two records as well.
    PairSource("the simplest pairs, with more outputs", 0.16, _closely),
    # A mechanism may depend on the order of records.
    PairSource(ORDERS, 0.06, _reactions, when=lambda race, _: not race.game.same_noise),
    # With far fewer outputs than the share.
    PairSource("where the kind of output changes", 0.06, _edges, when=_has_many_outputs),
)
# Of a race among data sets, or among answers of a query.
OF_POINTS = (SIMPLEST, OTHERS)
