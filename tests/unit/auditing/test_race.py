"""The race among pairs: its budget, what it keeps, and its power on utilities that are known up to noise."""

import ast
import dataclasses
import importlib
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.auditing.race import HALVING, Look, PairSource, Race, Utilities, best_first, new_pairs
from auditor.auditing.sources import OF_NEIGHBOURS, OF_POINTS
from auditor.auditing.tuning import TUNING, SearchTuning
from auditor.interfaces import Domain
from auditor.neighbours.domains import Pairs, Value
from auditor.neighbours.pair import Pair
from auditor.neighbours.totals import Totals

Rng = np.random.Generator
NOTHING = PairSource("nothing", 0.3, lambda race, outputs: [])


@dataclass
class Toy:
    """A game without outputs: the utility of a pair is known, up to noise that shrinks with the number of outputs."""

    value: Callable[[Pair], float]
    noise: float = 0.0
    exact: bool = False
    rng: Rng = field(default_factory=lambda: np.random.default_rng(0))
    drawn: list[tuple[str, list[str], int]] = field(default_factory=list)
    refocused: int = 0

    def draw(self, name: str, looks: Sequence[Look], each: int) -> list[Look]:
        self.drawn.append((name, [look.key for look in looks], each))
        return [self._seen(look, each) for look in looks]

    def _seen(self, look: Look, each: int) -> Look:
        total = each * self.value(look.pair) + self.noise * math.sqrt(each) * self.rng.standard_normal()
        before = look.evidence[0][0] if look.evidence else 0.0
        return replace(look, evidence=((before + total,),), outputs=look.outputs + each)

    def utilities(self, looks: Sequence[Look]) -> Utilities:
        rates = [look.evidence[0][0] / look.outputs for look in looks]
        return Utilities(rates, rates)

    def refocus(self, looks: Sequence[Look]) -> list[Look]:
        self.refocused += 1
        return list(looks)

    @property
    def spent(self) -> int:
        return sum(len(keys) * each for _, keys, each in self.drawn)

    def outputs_on(self, key: str) -> int:
        return sum(each for _, keys, each in self.drawn if key in keys)


def race(game: Toy, domain: Domain, seed: int = 0, pool: dict[str, Look] | None = None) -> Race[Toy]:
    return Race(game, domain, np.random.default_rng(seed), {} if pool is None else pool)


def left(pair: Pair) -> float:
    return float(np.sum(pair.left))


def nearness(peak: float) -> Callable[[Pair], float]:
    return lambda pair: -abs(left(pair) - peak)


def arms(number: int) -> Pairs:
    return Pairs([(i, i + 0.5) for i in range(number)])


TOTALS = Totals([[1]], (0, 100_000))
DOMAINS = [TOTALS, Totals([[1, 1], [0, 1]], (0, 2000)), Value(range=(0, 10)), arms(3)]
NAMES = ["totals", "two kinds", "range", "pairs"]


# --- The budget ---


@given(outputs=st.integers(1, 200_000), seed=st.integers(0, 100))
def test_a_race_spends_no_more_than_its_outputs(outputs: int, seed: int) -> None:
    for domain in DOMAINS:
        game = Toy(left, noise=1.0)
        contest = race(game, domain, seed)
        contest.run(OF_POINTS, outputs)
        assert game.spent == contest.spent <= outputs
        assert all(keys and each >= 1 for _, keys, each in game.drawn)


@pytest.mark.parametrize("outputs", [2_000, 20_000, 200_000])
@pytest.mark.parametrize("domain", DOMAINS, ids=NAMES)
def test_outputs_that_sources_leave_go_to_the_halving(domain: Domain, outputs: int) -> None:
    game = Toy(left)
    race(game, domain).run((NOTHING, *OF_POINTS), outputs)
    assert game.spent > 0.95 * outputs


def test_a_race_whose_sources_propose_nothing_looks_at_corners_and_pairs_near_them() -> None:
    game = Toy(nearness(61_803))
    best = race(game, TOTALS).run((NOTHING,), 10_000)
    assert {name for name, _, _ in game.drawn} == {HALVING}
    assert TOTALS.corners()[0].key() in game.drawn[0][1]
    assert best.outputs == game.outputs_on(best.key) > 0
    assert race(Toy(left), TOTALS).run((), 10_000).outputs > 0


def test_a_source_gets_its_share_and_less_if_all_ask_for_too_much() -> None:
    given_to: dict[str, float] = {}

    def source(name: str, share: float, when: Any = None) -> PairSource:
        def propose(race: Race[Any], outputs: float) -> list[Pair]:
            given_to[name] = outputs
            return []

        return PairSource(name, share, propose, when)

    race(Toy(left), TOTALS).run([source("a", 0.1), source("b", 0.2), source("c", 5.0, lambda _, outputs: False)], 1_000)
    assert given_to == {"a": pytest.approx(100), "b": pytest.approx(200)}
    race(Toy(left), TOTALS).run([source("a", 1.0), source("b", 3.0)], 1_000)
    assert given_to == {"a": pytest.approx(250 * TUNING.of_sources), "b": pytest.approx(750 * TUNING.of_sources)}


def test_what_a_source_spends_itself_is_not_spent_on_its_pairs() -> None:
    def propose(race: Race[Any], outputs: float) -> list[Pair]:
        race.spent += outputs / 2
        return race.domain.corners()

    game = Toy(left)
    contest = race(game, arms(8))
    contest.run([PairSource("half", 0.5, propose)], 2_000)
    assert sum(len(keys) * each for name, keys, each in game.drawn if name == "half") <= 500
    assert game.spent + 500 == contest.spent <= 2_000


# --- What a race keeps ---


def test_the_evidence_of_a_pair_is_kept_over_rungs_and_rounds() -> None:
    game, pool = Toy(left, noise=3.0), dict[str, Look]()
    for round_number in range(3):
        contest = race(game, arms(30), round_number, pool)
        contest.run(OF_POINTS, 5_000)
        pool = contest.pool
        assert game.refocused == round_number + 1
    assert len(pool) == 30
    for key, look in pool.items():
        assert look.outputs == game.outputs_on(key)
    rounds_of_best = max(sum(key in keys for _, keys, _ in game.drawn) for key in pool)
    assert rounds_of_best > 6


@pytest.mark.parametrize("domain", [arms(60), TOTALS], ids=["pairs", "totals"])
def test_first_pairs_stay_to_the_end(domain: Domain) -> None:
    kept = domain.corners()[:2]
    game = Toy(lambda pair: -1e9 if pair.key() in {first.key() for first in kept} else left(pair))
    best = race(game, domain).run(OF_POINTS, 20_000, kept)
    rungs = [keys for name, keys, _ in game.drawn if name == HALVING]
    assert len(rungs) > 2
    assert all({pair.key() for pair in kept} <= set(keys) for keys in rungs)
    assert best.pair not in kept


def test_each_rung_looks_at_fewer_pairs_on_more_outputs_each() -> None:
    game = Toy(nearness(500))
    race(game, TOTALS).run(OF_POINTS, 100_000)
    rungs = [(len(keys), each) for name, keys, each in game.drawn if name == HALVING]
    assert len(rungs) == TUNING.most_rungs
    sizes, each = zip(*rungs[1:], strict=True)  # the first rung has no more pairs than the sources proposed
    assert list(sizes) == sorted(sizes, reverse=True) and list(each) == sorted(each)
    assert TUNING.finalists <= sizes[-1] < sizes[0] / 8


def test_a_simple_pair_is_the_challenger_of_any_favourite() -> None:
    game = Toy(lambda pair: left(pair) if left(pair) >= 6 else -left(pair))
    contest = race(game, arms(60))
    contest.run(OF_POINTS, 20_000)
    [last] = [keys for name, keys, _ in game.drawn if name == HALVING][-1:]
    assert arms(60).corners()[0].key() in last


# --- Exact games ---


@given(outputs=st.integers(1, 500), seed=st.integers(0, 20))
def test_an_exact_game_looks_at_each_pair_once(outputs: int, seed: int) -> None:
    for domain in DOMAINS:
        game = Toy(left, exact=True)
        contest = race(game, domain, seed)
        best = contest.run(OF_POINTS, outputs)
        times = Counter(key for _, keys, _ in game.drawn for key in keys)
        assert set(times.values()) == {1} and {each for _, _, each in game.drawn} == {1}
        assert sum(times.values()) == contest.spent <= outputs
        assert left(best.pair) == max(left(look.pair) for look in contest.pool.values())


# --- Power ---


def test_the_best_arm_wins_with_few_outputs() -> None:
    """With 133 outputs on each of 60 arms, the best one, by 2.9 standard errors of an arm, wins more seldom."""
    wins, even, each = 0, 0, 8_000 // 60
    for seed in range(40):
        best = seed % 60
        game = Toy(lambda pair, best=best: float(left(pair) == best), noise=4.0, rng=np.random.default_rng(seed))
        wins += left(race(game, arms(60), seed).run(OF_POINTS, 8_000).pair) == best
        means = np.random.default_rng(seed).standard_normal(60) * 4 / math.sqrt(each) + (np.arange(60) == best)
        even += int(means.argmax()) == best
    assert wins >= 36 > even


@pytest.mark.parametrize("peak", [0, 1, 500, 5_000, 50_000, 99_999])
def test_a_maximum_at_a_corner_is_found(peak: int) -> None:
    assert left(race(Toy(nearness(peak)), TOTALS, 1).run(OF_POINTS, 100_000).pair) == peak


@given(peak=st.integers(0, 100_000), seed=st.integers(0, 100))
def test_the_winner_is_the_best_of_all_that_was_looked_at(peak: int, seed: int) -> None:
    contest = race(Toy(nearness(peak)), TOTALS, seed)
    best = contest.run(OF_POINTS, 20_000)
    assert abs(left(best.pair) - peak) == min(abs(left(look.pair) - peak) for look in contest.pool.values())


def test_pairs_near_the_best_come_nearer_than_corners_and_random_pairs() -> None:
    """The peak lies between two corners. Sources propose a pair within 0.5 % of it in 1 of 30 races, and 18 races find one."""
    peak, by_luck, by_race = 61_803, 0, 0
    for seed in range(30):
        game = Toy(nearness(peak))
        contest = race(game, TOTALS, seed)
        best = contest.run(OF_POINTS, 100_000)
        proposed = {key for name, keys, _ in game.drawn if name != HALVING for key in keys}
        by_luck += any(abs(left(look.pair) - peak) <= 500 for key, look in contest.pool.items() if key in proposed)
        by_race += abs(left(best.pair) - peak) <= 500
    assert by_race > 10 * max(1, by_luck)


@pytest.mark.parametrize("nowhere", [math.nan, -math.inf])
def test_a_pair_without_a_utility_never_wins(nowhere: float) -> None:
    game = Toy(lambda pair: 1.0 if pair.left == 3 else nowhere)
    assert race(game, arms(8)).run(OF_POINTS, 5_000).pair.left == 3


@pytest.mark.parametrize("exact", [False, True])
def test_without_outputs_the_first_pair_wins(exact: bool) -> None:
    for domain in DOMAINS:
        game = Toy(left, exact=exact)
        assert race(game, domain).run(OF_POINTS, 0).pair == domain.corners()[0]
        assert not game.drawn


def test_of_equal_pairs_the_first_wins() -> None:
    for domain in DOMAINS:
        assert race(Toy(lambda pair: 0.0), domain).run(OF_POINTS, 20_000).pair == domain.corners()[0]


def test_scores_that_differ_in_late_digits_only_keep_their_order() -> None:
    assert best_first([0.1, 1.0, 1.0 + 1e-9, math.nan, -math.inf, 2.0]) == [5, 1, 2, 0, 3, 4]


# --- Domains ---


class Stuck(Pairs):
    """A domain in which no pair is near another one."""

    def mutate(self, pair: Pair, rng: Rng) -> Pair:
        return pair

    def simpler(self, pair: Pair) -> Iterator[Pair]:
        yield from ()


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("number", [1, 2, 40])
def test_a_race_ends_where_no_pair_is_near_another_one(number: int, exact: bool) -> None:
    game = Toy(left, exact=exact)
    best = race(game, Stuck([(i, i + 0.5) for i in range(number)])).run(OF_POINTS, 10_000)
    assert left(best.pair) == number - 1
    assert game.spent <= 10_000


def test_a_pair_and_its_mirror_image_are_looked_at_once() -> None:
    game = Toy(lambda pair: 0.0)
    contest = race(game, Value(["a", "b", "c"]))
    contest.run(OF_POINTS, 10_000)
    pairs = [frozenset((look.pair.left, look.pair.right)) for look in contest.pool.values()]
    assert len(set(pairs)) == len(pairs) <= 3


@pytest.mark.parametrize("domain", DOMAINS, ids=NAMES)
def test_the_same_generator_races_the_same_way(domain: Domain) -> None:
    games = [Toy(left, noise=1.0, rng=np.random.default_rng(3)) for _ in range(2)]
    best = [race(game, domain, 5).run(OF_POINTS, 20_000) for game in games]
    assert best[0] == best[1] and games[0].drawn == games[1].drawn
    other = Toy(left, noise=1.0, rng=np.random.default_rng(3))
    race(other, domain, 6).run(OF_POINTS, 20_000)
    assert other.drawn != games[0].drawn or domain is DOMAINS[-1]


def test_new_pairs_are_those_that_are_not_in_the_pool_each_once() -> None:
    contest = race(Toy(left), arms(4))
    [first, *others] = arms(4).corners()
    contest.look("", [first], 100)
    assert list(new_pairs(contest, iter([first, *others, *others]))) == others


@dataclass
class Crowded(Domain):
    """A domain with a corner and many crowds, which counts the crowds that it makes."""

    number: int
    made: int = 0

    def corners(self) -> list[Pair]:
        return [Pair(0, 0.5)]

    def crowds(self) -> Iterator[Pair]:
        for i in range(self.number):
            self.made += 1
            yield Pair(i + 1, i + 1.5)

    def random(self, rng: Rng) -> Pair:
        return self.corners()[0]

    def mutate(self, pair: Pair, rng: Rng) -> Pair:
        return pair

    def simpler(self, pair: Pair) -> Iterator[Pair]:
        yield from ()


@pytest.mark.parametrize(("room", "crowds"), [(9, 3), (60, 20), (600, 200), (6_000, 200)])
def test_the_likeliest_crowds_are_looked_at_and_no_more_made_than_needed(room: int, crowds: int) -> None:
    domain = Crowded(600)
    contest = race(Toy(left), domain)
    others = OF_POINTS[-1]
    proposed = [int(pair.left) for pair in others.propose(contest, room * TUNING.first_look) if pair.left]  # type: ignore[union-attr]
    assert len(proposed) == min(crowds, len(proposed))
    assert proposed[: 2 * crowds // 3] == [*range(1, 2 * crowds // 3 + 1)]
    if crowds > 3:  # a single other crowd is the next one
        assert max(proposed) == min(600, TUNING.crowds_made * (room // 3))
    assert domain.made <= TUNING.crowds_made * (room // 3) + 1
    others.propose(contest, room * TUNING.first_look)
    assert domain.made <= TUNING.crowds_made * (room // 3) + 1  # made once


# --- The numbers of the search ---


def test_all_numbers_of_a_search_stand_in_one_frozen_place() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        TUNING.look = 1  # type: ignore[misc]
    assert SearchTuning() == TUNING
    assert all(getattr(TUNING, one.name) > 0 for one in dataclasses.fields(SearchTuning))
    shares = ("of_sources", "of_many", "of_near", "of_again", "near_share", "near_share_if_refuted")
    assert all(getattr(TUNING, share) < 1 for share in shares)
    read = {
        node.attr
        for file in Path(str(importlib.import_module("auditor.auditing").__file__)).parent.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and ast.unparse(node.value).lower().endswith("tuning")
    }
    assert {one.name for one in dataclasses.fields(SearchTuning)} == read
    assert TUNING.of_many + TUNING.of_near + TUNING.of_again < 1
    for name, others in (("race", {"DIGITS"}), ("sources", set()), ("pair_search", {"EDGES", "CHANCE"})):
        module = importlib.import_module(f"auditor.auditing.{name}")
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        numbers = {
            target.id
            for line in tree.body
            if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant | ast.Tuple | ast.BinOp)
            for target in line.targets
            if isinstance(target, ast.Name) and isinstance(getattr(module, target.id), int | float)
        }
        assert numbers <= others, numbers  # others are no matter of what a search spends


def test_each_source_has_a_positive_share_and_a_name_of_its_own() -> None:
    assert all(0 < source.share < 1 for source in OF_NEIGHBOURS)
    assert len({source.name for source in OF_NEIGHBOURS}) == len(OF_NEIGHBOURS)
    assert set(OF_POINTS) <= set(OF_NEIGHBOURS)
    assert 0 < sum(source.share for source in OF_POINTS) <= TUNING.of_sources


class Moves(Value):
    """Pairs remember how they were made, and are made simpler by that."""

    asked = 0

    def simpler(self, pair: Pair) -> Iterator[Pair]:
        self.asked += 1
        yield Pair(pair.origin, 0)


def test_a_pair_is_made_simpler_once_and_by_the_moves_that_made_it() -> None:
    domain = Moves(range=[0, 9])
    race = Race(Toy(lambda pair: 0.0), domain, np.random.default_rng(0))
    first, same_data = (Pair(1, 2, origin=made) for made in (5, 7))
    assert first.key() == same_data.key()
    assert [[pair.left for pair in race._simpler(each)] for each in (first, same_data, first)] == [[5], [7], [5]]
    assert domain.asked == 2
