"""Faults that once escaped the defaults: each is found from its domain alone, and its sound twin passes.

False alarms are rarer than the confidence of .999 says, so that the sound runs of this file fail by chance at most once in 500
times if the bounds hold with no slack; seeds are fixed, and what is proved is checked by the enumerations of other files.
"""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from escapes import E1, ESCAPES, PEOPLE, Escape, Mechanism, Rng, count_released_raw
from more_escapes import MORE

import auditor
from auditor.blackbox.canonical import from_batch
from auditor.claims import ApproximateDP, PureDP
from auditor.events.features import Place
from auditor.events.rare import rare_choice
from auditor.events.sorted_column import SortedColumn
from auditor.methods.guessing import Guesses
from auditor.neighbours.domains import Domain, Pairs, Value
from auditor.neighbours.records import Records

# Faults that are audited in every run of the suite; all of them in `make slow`.
EVERY_TIME = (
    "one value of a hundred",
    "truthful a little too often",
    "the best of ten with noise for half the sensitivity",
)
GAUSSIAN = "Gaussian noise too small"
# One output a call: a million of them take a minute.
SLOW = (
    "threshold too low for δ",
    "keys in the order of the counts",
    "rows a person without a limit",
    "variance far from zero",
)
FAST = [name for name in ESCAPES if name not in (*SLOW, GAUSSIAN)]


# With it "raw answer once in 20,000" is found, as with 38 of the first 40 seeds.
SEED = 1


def found(case: Escape, seed: int, **settings: object) -> auditor.AuditResult:
    return case.audit(case.faulty, seed, **settings)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in EVERY_TIME else pytest.mark.statistical) for name in FAST]
)
def test_a_fault_is_found_at_the_defaults_and_its_sound_twin_passes(name: str) -> None:
    case = ESCAPES[name]
    assert found(case, SEED).verdict == "violation"
    assert case.audit(case.sound, SEED).verdict == "no_violation_found"


@pytest.mark.statistical
@pytest.mark.parametrize("name", SLOW)
def test_a_fault_of_a_slow_mechanism_is_found_at_the_defaults(name: str) -> None:
    case = ESCAPES[name]
    assert found(case, SEED).verdict == "violation"
    assert case.audit(case.sound, SEED).verdict == "no_violation_found"


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in EVERY_TIME else pytest.mark.statistical) for name in MORE]
)
def test_a_further_fault_is_found_at_the_defaults_and_its_sound_twin_passes(name: str) -> None:
    case = MORE[name]
    assert case.audit(case.faulty, SEED, shrink=False).verdict == "violation"
    assert case.audit(case.sound, SEED, shrink=False).verdict == "no_violation_found"


@pytest.mark.statistical
def test_gaussian_noise_that_is_too_small_is_a_warning_and_no_violation() -> None:
    case = ESCAPES[GAUSSIAN]
    result = found(case, 0, samples=200_000)
    assert result.verdict == "no_violation_found"
    assert any("the noise looks Gaussian, and is smaller" in warning for warning in result.warnings)
    assert not case.audit(case.sound, 0, samples=200_000).warnings


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=pytest.mark.statistical if seed > 3 else ()) for seed in range(20)]
)
def test_a_bare_bin_is_found_with_few_outputs(seed: int) -> None:
    assert found(ESCAPES["one of four bins is bare"], seed, samples=20_000, shrink=False).verdict == "violation"


def no_answer_for_one(share: float) -> Mechanism:
    """A value with noise; a share of the answers about 1 is None."""

    def release(value: float, size: int, rng: Rng) -> list[float | None]:
        noisy, is_left_out = value + rng.laplace(size=size), rng.random(size) < (share if value == 1 else 0.0)
        return [None if out else answer for out, answer in zip(is_left_out, noisy.tolist(), strict=True)]

    return release


@pytest.mark.parametrize("share", [0.1, 0.2, 0.4])
def test_an_answer_that_one_side_alone_gives_is_found_though_it_is_not_rare(share: float) -> None:
    """Ten thousand outputs leave some hundred for each look: too few for more than one threshold on the numbers."""
    for seed in range(4):
        case = Escape(no_answer_for_one(share), no_answer_for_one(0), PureDP(3.0), Value([0, 1, 2]))
        settings = {"samples": 10_000, "shrink": False, "prove": False, "planted": 0, "workers": 1}
        assert case.audit(case.faulty, seed, **settings).verdict == "violation"


ONE_MORE = Pairs([([0.0] * 3, [0.0] * 4)])


def releases_found(once_in: int, domain: Domain, samples: int, at_most: int) -> int:
    """Return with how many of 20 seeds a raw answer is found, with at most this number of outputs in all."""
    settings = {"samples": samples, "shrink": False}
    case = Escape(count_released_raw(once_in), count_released_raw(0), E1, domain, settings)
    results = [found(case, seed) for seed in range(20)]
    assert max(sum(result.outputs.to_dict().values()) for result in results) <= at_most
    return sum(result.verdict == "violation" for result in results)


@pytest.mark.statistical
@pytest.mark.parametrize(("once_in", "samples"), [(100, 5_700), (1_000, 66_600), (10_000, 689_000)])
def test_a_rare_release_is_found_with_a_hundred_times_its_rate_on_a_pair(once_in: int, samples: int) -> None:
    assert releases_found(once_in, ONE_MORE, samples, 100 * once_in) >= 18


@pytest.mark.parametrize(
    ("once_in", "samples"),
    [
        pytest.param(100, 16_000, marks=pytest.mark.statistical),
        pytest.param(1_000, 185_000, marks=pytest.mark.statistical),
        pytest.param(10_000, 1_750_000, marks=pytest.mark.statistical),
    ],
)
def test_a_rare_release_is_found_from_a_domain(once_in: int, samples: int) -> None:
    assert releases_found(once_in, PEOPLE, samples, 300 * once_in) >= 18


def sides(left: Sequence[np.ndarray], right: Sequence[np.ndarray]) -> tuple[SortedColumn, SortedColumn]:
    joined = map(np.concatenate, (left, right))
    columns = [SortedColumn.of(from_batch(side, len(side)).column("output")) for side in joined]
    return columns[0], columns[1]


METHOD = Guesses(PureDP(1.0), 0.001, 100_000)


def test_values_that_repeat_on_one_side_among_others_that_do_not_are_a_rare_event() -> None:
    rng = np.random.default_rng(1)
    noise = [rng.laplace(size=2_000) for _ in range(4)]
    noise[0][:4], noise[2][:3], noise[1][:1], noise[3][:2] = 7.25, 7.25, 3.0, 3.0
    choice = rare_choice(Place("output"), *sides(noise[::2], noise[1::2]), METHOD)
    assert choice is not None
    assert choice.forecast > 1.0
    assert choice.test.describe(1.0) == "output is 7.25"
    assert choice.test.describe(-1.0) == "output is 3"


@pytest.mark.parametrize(("times", "most"), [(2, math.log(3)), (5, math.log(9)), (30, math.log(59))])
def test_a_value_that_repeats_on_one_side_may_do_so_by_luck(times: int, most: float) -> None:
    """Where noise is cut off, its ends are such values: often seen twice on one side of a look, and never on the other."""
    rng = np.random.default_rng(1)
    noise = [rng.laplace(size=300) for _ in range(4)]
    noise[0][:times] = 3.4
    choice = rare_choice(Place("output"), *sides(noise[::2], noise[1::2]), METHOD)
    assert choice is not None
    assert choice.forecast == pytest.approx(most)


@pytest.mark.parametrize("seed", range(10))
def test_values_that_repeat_on_both_sides_show_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    noise = [rng.laplace(size=2_000) for _ in range(4)]
    for half in noise:
        half[rng.random(2_000) < 0.004] = 5.5
    choice = rare_choice(Place("output"), *sides(noise[::2], noise[1::2]), METHOD)
    assert choice is None or choice.forecast < 1.0


@pytest.mark.parametrize("seed", range(10))
def test_the_ends_of_sound_noise_are_no_rare_event(seed: int) -> None:
    rng = np.random.default_rng(seed)
    halves = [rng.laplace(shift, size=5_000) for shift in (0, 1, 0, 1)]
    choice = rare_choice(Place("output"), *sides(halves[::2], halves[1::2]), METHOD)
    assert choice is None or choice.forecast < 1.1


def test_what_delta_allows_to_be_rare_is_no_evidence() -> None:
    """A value seen as often as δ allows is not forecast to refute, however often it was not seen on the other side."""
    method = Guesses(ApproximateDP(1.0, 0.01), 0.001, 100_000)
    assert method.forecast_unbeaten(100, 20_000, 1) == -np.inf
    assert method.forecast_unbeaten(200, 20_000, 1) > 1.0


def test_each_of_a_few_values_is_tried_alone() -> None:
    pairs = Records((0, 99), integer=True, size=(0, 10)).simplest()
    assert {pair.right[0] for pair in pairs if not len(pair.left)} == set(range(100))


def test_a_report_says_where_the_outputs_of_the_search_went() -> None:
    result = ESCAPES["one of four bins is bare"].audit(ESCAPES["one of four bins is bare"].sound, 0, samples=20_000)
    stages = result.tried.stages
    assert [stage.name for stage in stages][:2] == ["the simplest pairs", "corners and random pairs"]
    assert sum(stage.outputs for stage in stages) <= result.outputs.search
    assert all(stage.caught > 0 for stage in stages)
