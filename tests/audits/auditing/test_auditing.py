"""Single audits end to end in Python: options, phases, failures, and leaks through every kind of output."""

import copy
import functools
import itertools
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import auditor
from auditor.auditing.flow import run
from auditor.auditing.plan import Plan, Progress, Settings
from auditor.auditing.reach import reach_of
from auditor.blackbox.batches import Phase
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.sample import TRIAL
from auditor.blackbox.sampling import Execution
from auditor.bounds.digits import round_significant
from auditor.defaults import FEWEST
from auditor.neighbours.domains import Pairs
from auditor.report.phrases import rate_words
from auditor.verdict import Verdict

BITS = [(0, 1)]
HALF = auditor.PureDP(0.5)


def response(bit: int, size: int, rng: np.random.Generator, lie: float = 0.25) -> Any:
    """Answer honestly three times in four: ε = ln 3."""
    return bit ^ (rng.random(size) < lie)


def audit(mechanism: Any, claim: Any = HALF, neighbours: Any = BITS, **options: Any) -> Any:
    return auditor.audit(
        mechanism, claim, neighbours, **{"samples": 4000, "seed": 7, "workers": 1, "isolate": False, **options}
    )


def plan(mechanism: Callable[..., Any], **options: Any) -> Plan:
    made = {
        "name": "some",
        "source": PythonSource("m", function=mechanism),
        "claim": auditor.PureDP(0.5),
        "neighbours": Pairs([(0, 1), (0, 2)]),
        "alpha": 0.001,
    }
    settings = {name: options.pop(name) for name in set(options) & set(Settings.__slots__)}
    settings = {"samples": 2000, "execution": Execution(workers=1, isolate=False, batch=300), **settings}
    return Plan(**{**made, **options}, settings=Settings(**settings))


# --- Options ---


class Responder:
    def __call__(self, bit: int, size: int, rng: np.random.Generator) -> Any:
        return response(bit, size, rng)


@pytest.mark.parametrize(
    "mechanism",
    [
        response,
        functools.partial(response, lie=0.25),
        Responder(),
        lambda bit, rng: bit ^ (rng.random() < 0.25),
        lambda bit, size, rng: [bool(answer) for answer in response(bit, size, rng)],
    ],
    ids=["function", "partial", "object", "one output a call", "list"],
)
@pytest.mark.parametrize(
    "neighbours", [BITS, auditor.Value([0, 1]), auditor.Pairs([(1, 0)])], ids=["list", "value", "pairs"]
)
def test_any_callable_and_any_neighbours_can_be_audited(mechanism: Any, neighbours: Any) -> None:
    result = audit(mechanism, neighbours=neighbours)
    assert result.verdict == "violation"
    assert 0.5 < result.bound.value < math.log(3)
    assert {result.pair.left, result.pair.right} == {0, 1}
    assert result.to_dict()["bound"]["value"] == round_significant(result.bound.value)


def test_a_mechanism_may_be_given_by_name_and_parameters() -> None:
    result = audit(
        "mechanisms.local_model:kary_randomised_response",
        parameters={"k": 2, "epsilon": 2.0},
        neighbours=BITS,
    )
    assert result.verdict == "violation"
    assert result.mechanism == "mechanisms.local_model:kary_randomised_response"


def test_the_same_seed_gives_the_same_audit_and_a_name_or_seed_another() -> None:
    first, again, seed, name = (
        audit(response, **options).to_dict()["event"]["counts"] for options in ({}, {}, {"seed": 8}, {"name": "other"})
    )
    assert first == again
    assert len({str(first), str(seed), str(name)}) == 3


def test_global_random_state_is_neither_used_nor_touched() -> None:
    np.random.seed(0)  # noqa: NPY002 - the state that must stay as it is
    before = repr(np.random.get_state())  # noqa: NPY002
    first = audit(response)
    assert repr(np.random.get_state()) == before  # noqa: NPY002
    np.random.seed(1)  # noqa: NPY002
    assert audit(response).event == first.event


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"samples": 99}, "samples is 99; it must be an integer of at least 100"),
    ({"samples": 1e5}, "samples is 100000.0; it must be an integer"),
    ({"samples": True}, "samples is True"),
    ({"seed": -1}, "seed is -1"),
    ({"seed": 1.5}, "seed is 1.5"),
    ({"search": -1}, "search is -1"),
    ({"confidence": 1.0}, "confidence is 1.0"),
    ({"method": "fixd"}, 'method is "fixd"; did you mean "fixed"'),
    ({"events": []}, "events are []; they must be values, bits, or both"),
    ({"events": ["answers"]}, "events are ['answers']"),
    ({"neighbours": []}, "the list of pairs is empty"),
    ({"neighbours": (0, 1)}, "0 is not a pair; the list must be of pairs: [(left, right), ...]"),
    ({"neighbours": ["ab"]}, "'ab' is not a pair"),
    ({"claim": 1.0}, "claim is 1.0; it must be a claim, such as PureDP(1.0)"),
    ({"claim": auditor.GaussianDP(1.0), "method": "two-intervals"}, "two-intervals"),
]


@pytest.mark.parametrize(("options", "message"), WRONG, ids=[message for _, message in WRONG])
def test_options_out_of_range_are_told_before_anything_is_drawn(options: dict[str, Any], message: str) -> None:
    def untouched(bit: int, size: int, rng: Any) -> Any:
        raise AssertionError("drawn")

    with pytest.raises(auditor.InvalidInputError) as caught:
        audit(untouched, **options)
    assert message in str(caught.value)


# --- Phases ---

IN_THIS_PROCESS = Execution(workers=1, batch=300, isolate=False)


def test_no_output_serves_two_phases() -> None:
    """The first random number of every call is different, so no stream is drawn twice."""
    recorded: list[float] = []

    def recording(bit: int, size: int, rng: np.random.Generator) -> Any:
        draws = rng.random(size)
        recorded.append(float(draws[0]))
        return bit ^ (draws < 0.25)

    result = run(plan(recording, execution=IN_THIS_PROCESS, sharpen=True))
    assert result.outputs.search > 0
    assert result.outputs.selection > 0
    assert len(recorded) > 20
    # The first calls measure the time; the next two draw from one stream on both sides, to see whether the outputs repeat.
    assert recorded[2:4] == recorded[4:6]
    assert len(set(recorded)) == len(recorded) - 3


def test_the_bound_counts_only_what_was_drawn_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mechanism that leaks only while the first round learns is not refuted."""
    monkeypatch.setattr("auditor.auditing.follow_ups.FOLLOW_UPS", ())  # which would draw outputs as well
    drawn, trial = 0, 2 + 2 * TRIAL  # before the audit: how long a call takes, and whether outputs repeat

    def honest_at_last(bit: int, size: int, rng: np.random.Generator) -> Any:
        nonlocal drawn
        drawn += size
        before_the_bound = drawn <= trial + FEWEST  # the outputs from which the first round learns
        return np.full(size, bit) if before_the_bound else rng.integers(2, size=size)

    result = run(plan(honest_at_last, execution=IN_THIS_PROCESS, planted=0))
    assert result.verdict is Verdict.NO_VIOLATION_FOUND
    assert drawn - trial == result.outputs.search + result.outputs.selection + result.outputs.bound


def test_progress_is_told_by_phase_and_reaches_what_was_planned() -> None:
    shown: list[Progress] = []
    result = run(plan(response, shrink=False, sharpen=True), shown.append)
    assert {progress.phase for progress in shown} == {Phase.SEARCH, Phase.SELECTION, Phase.BOUND}
    assert all(0 < progress.done <= progress.planned for progress in shown)
    assert {progress.audit for progress in shown} == {"some"}
    last = {progress.phase: progress for progress in shown}
    for phase in (Phase.SELECTION, Phase.BOUND):
        assert last[phase].done == last[phase].planned
    assert last[Phase.SEARCH].done == result.outputs.search
    rounds = [
        progress.done for progress in shown if progress.phase is Phase.BOUND and progress.done == progress.planned
    ]
    assert sum(rounds) == result.outputs.bound


# --- Failures ---


def fails(bit: int, rng: Any) -> Any:
    raise ValueError("always")


def test_a_mechanism_that_only_ever_fails_is_inconclusive_with_its_own_words() -> None:
    result = audit(fails)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert (
        result.stop_reason == "the mechanism failed on every call: raises ValueError: 'always'; data sets arrive as int"
    )
    assert (result.bound, result.event) == (None, None)
    assert not result.passed


# --- Everything that distinguishes the sides is found, and nothing else ---


def count_of_a_list(records: Any, rng: np.random.Generator) -> float:
    """Keep ε = 1 on lists; the truth value of an empty array, or of one with several entries, raises."""
    return (len(records) if records else 0) + rng.laplace()


@pytest.mark.parametrize(
    ("container", "verdict", "message"),
    [("list", "no_violation_found", []), ("array", "violation", ["raises ValueError: 'The truth value of an"])],
)
def test_a_violation_by_exceptions_says_so_and_what_data_sets_arrive_as(
    container: str, verdict: str, message: list[str]
) -> None:
    few = auditor.Records((0, 10), size=(0, 3), container=container)
    result = audit(count_of_a_list, auditor.PureDP(1.0), few, samples=2000, planted=0)
    assert result.verdict == verdict
    assert len(result.warnings) == len(message)
    for part in (
        [*message, "arrive as NumPy arrays, on which it fails; on lists it works: write `container: list`"]
        if message
        else []
    ):
        assert part in result.warnings[0]
    assert result.to_dict()["warnings"] == list(result.warnings)


def sum_of_what_is_there(records: Any, rng: np.random.Generator) -> Any:
    return sum(records) + rng.laplace()  # a float if there are no records, and a numpy.float64 otherwise


@pytest.mark.parametrize(
    ("released", "verdict", "advised"),
    [
        (lambda total: total, Verdict.VIOLATION, True),
        (lambda total: [total, 1], Verdict.VIOLATION, True),
        (float, Verdict.NO_VIOLATION_FOUND, False),
        (lambda total: None if isinstance(total, np.float64) else float(total), Verdict.VIOLATION, False),
        (lambda total: float(total) + 100 * isinstance(total, np.float64), Verdict.VIOLATION, False),
    ],
)
def test_a_violation_by_the_types_of_numbers_says_how_to_audit_the_values(
    released: Callable[[Any], Any], verdict: Verdict, advised: bool
) -> None:
    def mechanism(records: Any, rng: np.random.Generator) -> Any:
        return released(sum_of_what_is_there(records, rng))

    options: Any = {"samples": 4000, "seed": 1, "workers": 1, "isolate": False, "shrink": False}
    result = auditor.audit(mechanism, auditor.PureDP(1.0), auditor.Records((0, 1), size=(0, 3)), **options)
    assert result.verdict is verdict
    assert any("types of numbers" in warning for warning in result.warnings) == advised


@pytest.mark.parametrize(
    "side",
    [[1, 2], [], np.array([0.5, math.nan]), {"a": (1, None)}, "text"],
    ids=["list", "empty", "array", "dict", "text"],
)
def test_one_data_set_on_both_sides_is_no_pair(side: Any) -> None:
    with pytest.raises(auditor.InvalidInputError, match=r"both sides of a pair are .* a neighbour of the left side"):
        audit(response, neighbours=[(0, 1), (side, copy.deepcopy(side))])
    with pytest.raises(auditor.InvalidInputError, match="both sides"):
        audit(len, auditor.Sensitivity(1.0), [(side, side)])


class Opaque:
    def __init__(self, bit: int) -> None:
        self.bit = bit

    def __repr__(self) -> str:
        return "a table of 9,000 rows"

    def __xor__(self, lies: Any) -> Any:
        return self.bit ^ lies


def test_data_sets_that_are_only_spelled_alike_are_two() -> None:
    assert audit(response, neighbours=[(Opaque(0), Opaque(1))]).verdict == "violation"


def test_a_claim_about_single_data_sets_needs_no_second_one() -> None:
    def never(data: Any, size: int, rng: np.random.Generator) -> Any:
        return np.zeros(size, bool)

    assert audit(never, auditor.Probability(0.5, at_most=True), [(0, 0)]).verdict == "no_violation_found"


def blind(records: Any, size: int, rng: np.random.Generator) -> Any:
    return rng.laplace(size=size)


def weak(bit: int, size: int, rng: np.random.Generator) -> Any:
    """Answer by one of two thresholds: given the same stream, the answers of the two sides differ with probability 1/2,000."""
    return rng.random(size) < 0.5 + 0.0005 * bit


def strong_noise(records: Any, size: int, rng: np.random.Generator) -> Any:
    return len(records) + np.rint(rng.laplace(scale=1000, size=size))


NUMBERS = auditor.Records((0, 10), size=(0, 4))


@pytest.mark.parametrize("share", [0.004, 0.02])
def test_outputs_that_are_nearly_all_the_same_are_a_warning(share: float) -> None:
    result = audit(lambda bit, size, rng: rng.random(size) < share, samples=100_000)
    assert result.verdict == "no_violation_found"
    few = [warning for warning in result.warnings if "of the outputs are identical" in warning]
    assert len(few) == (share < 0.005)
    assert result.warnings[: len(few)] == tuple(few)


def test_without_a_search_there_is_a_warning_unless_none_was_wanted() -> None:
    missed = [audit(blind, neighbours=NUMBERS, samples=500, **search) for search in ({}, {"search": 0})]
    assert ["too few outputs for a search" in str(result) for result in missed] == [True, False]


def test_a_claim_that_no_violation_could_refute_with_so_few_outputs_has_no_answer() -> None:
    result = audit(blind, auditor.PureDP(11.0), samples=200)
    assert result.verdict == "inconclusive"
    assert result.bound is not None
    assert str(result).splitlines()[1].startswith("No answer: ")


@pytest.mark.parametrize(
    ("mechanism", "neighbours"),
    [(weak, BITS), (strong_noise, NUMBERS), (lambda bit, size, rng: np.random.default_rng().laplace(size=size), BITS)],
    ids=["answers that seldom differ", "strong noise", "randomness of its own"],
)
@pytest.mark.parametrize("claim", [auditor.PureDP(0.01), auditor.GaussianDP(0.01)])
def test_a_sound_mechanism_that_tells_hardly_anything_has_no_warning(
    mechanism: Any, neighbours: Any, claim: Any
) -> None:
    """With probability below 0.01 none of 10,000 answers of ``weak`` differs between the sides; with this seed some do.

    So many outputs cannot show so small a loss.
    """
    result = audit(mechanism, claim, neighbours, samples=100_000, search=0)
    assert result.verdict == "no_violation_found"
    assert (result.warnings, result.weak) == ((), False)


def with_own_noise(read: Any) -> Any:
    """Return a mechanism that adds noise of a generator of its own, whose state goes on."""
    own = np.random.default_rng(5)
    return lambda data, size, rng: read(data) + own.laplace(size=size)


@pytest.mark.parametrize(
    ("mechanism", "neighbours", "samples", "weak"),
    [
        (lambda: blind, NUMBERS, 4_000, "with the same seed, outputs were identical"),
        (lambda: with_own_noise(lambda data: 0.0), NUMBERS, 20_000, "no loss above noise was seen"),
        (lambda: with_own_noise(lambda bit: bit / 2), [(0, 1), (1, 0)], 20_000, ""),
    ],
    ids=["reads nothing", "reads nothing, and has noise of its own", "noise of its own"],
)
@pytest.mark.parametrize(
    "claim", [auditor.PureDP(1.0), auditor.GaussianDP(1.0), auditor.PrivacyProfile([(1.0, 0.01), (1.2, 1e-5)])]
)
def test_a_pass_is_weak_if_nothing_differs_anywhere(
    mechanism: Any, neighbours: Any, samples: int, weak: str, claim: Any
) -> None:
    given: Any = {"samples": samples, "planted": 0, "seed": 3, "workers": 1, "isolate": False}
    result = audit(mechanism(), claim, neighbours, **given)
    assert result.verdict == "no_violation_found"
    assert result.weak == bool(weak)
    assert [warning.startswith(f"weak: {weak}") for warning in result.warnings] == [True] * bool(weak)


@pytest.mark.parametrize("samples", [400, 4_000, 40_000])
def test_how_many_outputs_there_are_makes_no_pass_weak(samples: int) -> None:
    result = audit(response, auditor.PureDP(1.2), [(0, 1)], samples=samples, search=0, planted=0, seed=7)
    assert (result.warnings, result.weak) == ((), False)


def test_a_pass_says_what_its_outputs_could_show_and_what_the_next_step_takes() -> None:
    """The next step is right: with so many outputs, the audit detects what it is said to."""
    given: Any = {"search": 0, "planted": 0, "seed": 7, "neighbours": [(0, 1)]}
    result = audit(response, auditor.PureDP(1.2), samples=1_000, **given)
    reach = reach_of(result)
    assert reach is not None and reach.step is not None and result.power is not None
    assert reach.scale == pytest.approx(result.power["95%"] / 1.2)
    assert f"at a rate of {rate_words(reach.rate)} or more" in str(result)
    assert f"takes `samples: {reach.step.outputs:_}`" in str(result)
    more = reach_of(audit(response, auditor.PureDP(1.2), samples=reach.step.outputs, **given))
    assert more is not None and more.scale <= 1.03 * reach.step.scale
    assert reach.step.scale < reach.scale and reach.step.seconds is not None and "takes about" not in str(result)


@pytest.mark.parametrize("given", ["", " ", "allowed", "yes", 3, True])
def test_a_weak_pass_is_accepted_for_a_reason_only(given: Any) -> None:
    with pytest.raises(auditor.InvalidInputError, match=r"weak is .* it must say in a few words why"):
        audit(response, weak=given)


@pytest.mark.parametrize("neighbours", [{"domain": "records"}, 5])
def test_neighbours_that_are_none_are_told_what_they_may_be(neighbours: Any) -> None:
    with pytest.raises(auditor.InvalidInputError, match=r"neighbours is .* a list of pairs .* auditor.Records"):
        audit(response, neighbours=neighbours)


def test_no_verdict_is_taken_by_what_goes_wrong_after_it() -> None:
    drawn, most = 0, math.inf

    def breaks_at_last(bit: int, size: int, rng: np.random.Generator) -> Any:
        nonlocal drawn
        drawn += size
        return rng.random(size - (drawn > most)) < 0.5

    def once() -> Any:
        return audit(breaks_at_last, samples=10_000, search=0, planted=0, isolate=False, workers=1)

    most, drawn = 2 + 2 * TRIAL + sum(once().outputs.to_dict().values()), 0
    result = once()
    assert drawn > most
    [warning] = result.warnings
    assert result.verdict == "no_violation_found"
    assert warning.startswith(
        "weak: no loss above noise was seen: 12,400 outputs for the bound, on the pair, prove none"
    )


def needs_three(records: Any, rng: np.random.Generator) -> float:
    if len(records) < 3:
        raise ValueError("too few records: 3 are needed")
    return float(np.sum(records) + rng.laplace())


@pytest.mark.parametrize("samples", [2_000, 20_000])
def test_other_pairs_are_tried_where_every_output_raises(samples: int) -> None:
    """Two records raise and three do not, so both sides of the first pairs raise. A false violation has probability
    1e-3, and the seed has none."""
    domain = auditor.Records((0, 1), size=(0, 5))
    result = audit(needs_three, auditor.PureDP(1.0), domain, samples=samples, isolate=False, workers=1)
    assert result.verdict == "violation", result.stop_reason
    assert {len(result.pair.left), len(result.pair.right)} == {2, 3}


def test_what_failed_is_told_with_the_number_of_pairs() -> None:
    def never(records: Any, rng: np.random.Generator) -> float:
        raise ValueError(f"no number of {len(records)} records")

    result = audit(
        never, auditor.PureDP(1.0), auditor.Records((0, 1), size=(0, 5)), samples=2_000, isolate=False, workers=1
    )
    assert result.verdict == "inconclusive"
    assert re.search(r"failed on every call, on both data sets of \d+ pairs: raises ValueError", result.stop_reason)


def needs_a_list(records: Any, rng: np.random.Generator) -> float:
    return records.count(0) + float(rng.laplace())


def needs_an_array(records: Any, rng: np.random.Generator) -> float:
    return float(records.sum() + rng.laplace())


@pytest.mark.parametrize(
    ("mechanism", "container", "message"),
    [
        (
            needs_a_list,
            "array",
            "data sets arrive as NumPy arrays, on which it fails; on lists it works: write `container: list`",
        ),
        (
            needs_an_array,
            "list",
            "data sets arrive as list, on which it fails; on arrays it works: leave `container` out",
        ),
    ],
)
def test_what_fails_on_arrays_or_lists_only_is_told_which_works(mechanism: Any, container: str, message: str) -> None:
    domain = auditor.Records((0, 1), size=(1, 3), container=container)
    result = audit(mechanism, neighbours=domain, samples=1000)
    assert result.verdict == "inconclusive"
    assert result.stop_reason.endswith(message)


def test_what_fails_on_rows_is_told_how_to_get_data_frames() -> None:
    def total(frame: Any, rng: np.random.Generator) -> float:
        return float(frame["pay"].sum() + rng.laplace())

    result = audit(
        total,
        neighbours=auditor.Frame({"pay": {"type": "number", "low": 0, "high": 1}}),
        samples=400,
    )
    assert result.stop_reason.endswith('as lists of dicts (as data frames by `as: pandas`, in Python `form="pandas"`)')


def test_a_default_of_size_that_no_number_of_outputs_has_is_doubted() -> None:
    def histogram(records: Any, rng: np.random.Generator, size: int = 4) -> Any:
        return np.histogram(records, size)[0] + rng.laplace(size=size)

    with pytest.raises(auditor.MechanismError, match="has the parameter size=4: `size` is reserved for the number"):
        audit(histogram, neighbours=NUMBERS)


# --- Words ---


def test_a_result_is_printed_in_a_few_sentences_with_or_without_an_answer() -> None:
    lines = str(audit(response)).splitlines()
    assert lines[0] == "response: violation (expected: no violation found); the claim is ε = 0.5"
    assert lines[1].startswith("On the neighbours 0 and 1, the event")
    silent = str(audit(fails))
    assert silent.splitlines()[1].startswith("No answer: the mechanism failed on every call: raises ValueError")
    assert len(silent) < 400
    nothing = str(audit(lambda bit, rng: None)).splitlines()[1]
    assert nothing.startswith("No answer: all ")
    assert "outputs that were drawn to learn an event are None on both data sets: check that" in nothing
    constant = str(audit(lambda bit, rng: 3)).splitlines()[1]
    assert "outputs that were drawn to learn an event are identical on both data sets" in constant
    assert "\nwarning: weak: with the same seed" in str(audit(blind, neighbours=NUMBERS))


def test_a_state_that_changes_from_call_to_call_is_no_violation() -> None:
    """Each call is sound by itself, and every second call adds 10; all outputs of a call come from the same side. Seeded."""
    calls, verdicts = itertools.count(), []

    def answer(bits: list[int], size: int, rng: np.random.Generator) -> Any:
        return (bits[0] ^ (rng.random(size) < 0.3)) + 10.0 * (next(calls) % 2)

    for seed in range(6):
        try:
            claim, pairs = auditor.PureDP(1.0), [([0], [1])]
            result = audit(answer, claim, pairs, samples=4_000, seed=seed, isolate=False, workers=1)
            verdicts.append(str(result.verdict))
        except auditor.MechanismError as error:
            assert "depend on the call" in str(error)
            verdicts.append("refused")
    assert verdicts == 6 * ["refused"]


def test_a_mechanism_that_fails_on_objects_is_told_their_type() -> None:
    def score(records: Any, rng: np.random.Generator) -> float:
        return float(np.exp(records[:, 1]).sum()) + rng.laplace()

    for choices, told in (
        ([0, 1], ()),
        (["a", "b"], ("which has no callable exp method", "arrive as NumPy arrays of dtype object")),
    ):
        mixed = auditor.Records(columns=[{"choices": choices}, {"low": 0.0, "high": 1.0}], size=(1, 3))
        result = audit(score, auditor.PureDP(3.0), mixed, samples=1000, planted=0)
        assert [part for part in told if part not in (result.stop_reason or "")] == []
        assert (result.verdict == "inconclusive") == bool(told)


def test_no_violation_has_no_warning_of_exceptions() -> None:
    def sometimes(bit: int, rng: np.random.Generator) -> float:
        if rng.random() < 0.1:
            raise LookupError("on either side alike")
        return rng.laplace(bit, 2.0)

    assert audit(sometimes).warnings == ()


def test_a_violation_has_no_warning_that_a_pass_would_be_weak() -> None:
    result = audit(
        lambda bit, size, rng: rng.random(size) < 0.004 * bit,
        auditor.PureDP(0.5),
        samples=100_000,
    )
    assert result.verdict == "violation"
    assert not any(warning.startswith("weak") for warning in result.warnings)


def test_an_exception_is_not_said_to_be_about_bits() -> None:
    def raises(bit: int, rng: np.random.Generator) -> float:
        if bit and rng.random() < 0.3:
            raise ValueError("no")
        return rng.laplace()

    assert "floating-point representation" not in str(audit(raises, events=["bits"]))
    assert "floating-point representation" in str(audit(lambda bit, rng: rng.random() * (1 + bit), events=["bits"]))
