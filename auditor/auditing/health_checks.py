"""Health checks: likely mistakes in how an audit was written, and noise that looks smaller than promised.

No number depends on them. The warnings change no verdict. Two checks say why there is no answer: that every call failed
(``always_fails``), and that all outputs are equal, of which ``commonest`` decides.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from auditor.auditing.draw import Draw
from auditor.auditing.outcome import Evidence, Outcome
from auditor.auditing.plan import Plan
from auditor.blackbox.batches import Phase, rng_at
from auditor.blackbox.outputs import OutputColumn
from auditor.blackbox.repeats import shown_keys
from auditor.blackbox.sample import SIDES, TRIAL, Sample, apart
from auditor.bounds.conversions import implied_mu
from auditor.bounds.drift import FALSE_WARNING, drifts
from auditor.claims import ApproximateDP, GaussianDP
from auditor.errors import MechanismError
from auditor.events.features import varies
from auditor.events.text import unread
from auditor.foreign_code import message_of
from auditor.methods.guessing import GaussianGuesses
from auditor.neighbours.frames import Frame
from auditor.neighbours.pair import Pair, pair_words
from auditor.neighbours.records import Records

# The advice for objects that show nothing in their text, such as a fitted model of scikit-learn.
ATTRIBUTES = "; if it returns an object that holds the result, look into it with `observe: [attributes]`"
# The two sides of PAIRS pairs are compared, with MOST outputs on either side of the first. If a mechanism uses its
# randomness alike on both sides, all MOST outputs agree with probability (1 − d)^MOST, where d is the total variation
# distance of the two distributions.
PAIRS, MOST = 10, 10_000


def data_arrive(plan: Plan, pair: Pair) -> str:
    """Return a clause on how data sets are passed to a Python mechanism; "" for a program.

    A mechanism that raises may expect another form.
    """
    if plan.source.is_program:
        return ""
    arrays, arrive = pair.form is not None, f"; data sets arrive as {pair.form or type(pair.left).__name__}"
    try:
        failures = _failures(plan, pair)
        works_else = isinstance(plan.domain, Records) and not _failures(plan, plan.domain.contained_otherwise(pair))
    except MechanismError:  # a hint must not cost the audit its verdict
        failures, works_else = [], False
    if any(isinstance(failure, OSError | ImportError) for failure in failures):  # of a file or import
        return ""
    if not isinstance(plan.domain, Records):
        is_rows = isinstance(plan.domain, Frame) and plan.domain.form == "rows"
        return arrive + (' (as data frames by `as: pandas`, in Python `form="pandas"`)' if is_rows else "")
    if arrays and any(map(_looks_for_columns, failures)):
        return f"{arrive}, and it looks for columns; for data frames write `domain: frame` with `as: pandas`"
    if works_else and failures:
        instead = "lists it works: write `container: list`" if arrays else "arrays it works: leave `container` out"
        return f"{arrive}, on which it fails; on {instead}"
    return f"{arrive}{' (as lists by `container: list`)' if arrays else ''}"


# Attributes of data frames that arrays lack.
_OF_FRAMES = (
    "groupby",
    "columns",
    "iloc",
    "loc",
    "merge",
    "query",
    "apply",
    "value_counts",
    "fillna",
    "dropna",
    "assign",
)


def _looks_for_columns(failure: BaseException) -> bool:
    """Whether an exception is that of code for data frames which was given an array."""
    text = message_of(failure)
    if isinstance(failure, AttributeError):
        return any(f"no attribute '{name}'" in text for name in _OF_FRAMES)
    return isinstance(failure, IndexError) and "only integers, slices" in text  # data["column"]


def _failures(plan: Plan, pair: Pair) -> list[BaseException]:
    """Return the exceptions among an output of each side."""
    drawer, rng = plan.drawer(), rng_at(plan.settings.seed, Phase.CHECK, 3)
    outputs = [drawer.call_once(pair, side, rng) for side in SIDES]
    return [output for output in outputs if isinstance(output, BaseException)]


def always_fails(plan: Plan, pair: Pair, failure: str, pairs: int = 1) -> str:
    """Return why there is no answer if every output was an exception, on so many ``pairs``."""
    where = f", on both data sets of {pairs} pairs" if pairs > 1 else ""
    return f"the mechanism failed on every call{where}: {failure}{_arrive(plan, pair)}"


def exceptions(end: Outcome, _: Draw) -> Outcome:
    """Give an example of the exceptions among outputs, for the case of a violation."""
    pair, sample = end.seen.pair, end.seen.sample
    raised = [side.raised() for side in (sample.left, sample.right)] if sample else []
    example = next((message for _, message in raised if message), "")
    if pair is None or not example:
        return end
    rates = " and ".join(f"{rate:.3g}" for rate, _ in raised)
    warning = (
        f"on {pair_words(pair)} the mechanism raises at rates {rates}, such as “{example}”; an exception counts as an output. If "
        f"it is unintended, fix it first{_arrive(end.plan, pair)}"
    )
    return replace(end, if_violated=(warning,))


def commonest(sample: Sample) -> float:
    """Return the share of the most frequent output if it is above one half, else some share below one half.

    The share is 0 if all outputs of a side are one exception.
    """
    keys = [shown_keys(side, side.size) for side in (sample.left, sample.right)]
    if not all(side.size for side in keys):
        return 0.0
    both = np.concatenate(keys)
    # A value that makes up more than half of all outputs is their median.
    median = np.partition(both, len(both) // 2)[len(both) // 2]
    return float(np.mean(both == median))


def all_alike(sample: Sample) -> str:
    """Return why there is no answer if all outputs are identical: an event is learned from differences."""
    if sample.left.column("type").atoms == ("NoneType",):
        return (
            f"all {sample.size:,} outputs that were drawn to learn an event are None on both data sets: check that the mechanism "
            "ends with `return`; if it prints its result, look into that with `observe: [stdout]`"
        )
    return (
        f"all {sample.size:,} outputs that were drawn to learn an event are identical on both data sets: check that the "
        f"mechanism returns its result, and that the neighbours contain data on which it varies{ATTRIBUTES}"
    )


def few_outputs(end: Outcome, draw: Draw) -> Outcome:
    """Warn of few outputs, or few that differ, for the case of no violation."""
    plan, settings, spent, warnings = end.plan, end.plan.settings, draw.spent, list[str]()
    if settings.seconds is not None and spent.bound < settings.samples / 10:
        warnings.append(
            f"weak: only {spent.bound:,} of {settings.samples:,} outputs fit into {settings.seconds:g} seconds"
        )
    if not spent.search and settings.search is None and len(plan.domain.corners()) > 1:
        warnings.append(
            "weak: there were too few outputs for a search, so only one pair was looked at: "
            f"{plan.with_more()}, or set `search`"
        )
    share = commonest(end.seen.sample) if end.seen.sample is not None else 0.0
    if share >= 0.995:
        warnings.append(
            f"weak: {math.floor(1000 * share) / 10:g} % of the outputs are identical on both data sets. The result rests on the "
            f"few others: choose data sets on which outputs vary, or {plan.with_more()}"
        )
    warnings += map(_unread, unread_in(end.seen.sample))
    return replace(end, if_passed=tuple(warnings))


def unread_in(sample: Sample | None) -> list[str]:
    """Say which parts of the outputs were not read as a whole (see ``unread``), on either side."""
    sides = (sample.left, sample.right) if sample is not None else ()
    return list(dict.fromkeys(part for side in sides for part in unread(side)))


def _unread(clause: str) -> str:
    return (
        f"weak: {clause}, so a leak in what was not read would not be seen. Leave it out of the output if it is no result, or "
        "return what it stands for as numbers or a few words (docs/reference/outputs.md says what is read)"
    )


def _arrive(plan: Plan, pair: Pair) -> str:
    # A replay does not know whether the mechanism is a program.
    return plan.store.recall("arrive", lambda: data_arrive(plan, pair))


def drift(tables: Sequence[Sequence[Sequence[int]]]) -> tuple[str, ...]:
    """Return a warning if the first and the second half of the bound's batches differ; ``tables`` are counts, in their order.

    Drift is not an error and does not raise the false-alarm rate, since a coin picks the side of each output. If a call
    gives many outputs, a coin picks the side of the call. With one table there is nothing to compare.
    """
    if len(tables) < 2:
        return ()
    halves = tables[: len(tables) // 2], tables[len(tables) // 2 :]
    early, late = (
        [[sum(cell) for cell in zip(*side, strict=True)] for side in zip(*half, strict=True)] for half in halves
    )
    if not drifts(early, late):
        return ()
    return (
        "outputs drawn early and late in the bound differ: the mechanism changes while it is audited, by a state, a cache or a "
        "budget that is spent. The bound is on its average over the run. A violation found remains a violation. A violation not "
        f"found may show in another state (this warning is false with probability {FALSE_WARNING:g})",
    )


def some_pairs(pairs: Sequence[Pair]) -> Sequence[Pair]:
    """Return at most PAIRS pairs, spread evenly over the list. The first pair stays the first."""
    return pairs[:: -(-len(pairs) // PAIRS)]


def nothing_differs(end: Outcome, _: Draw) -> Outcome:
    """Warn if no loss showed and, with the same randomness, no pair of data sets has different outputs.

    However strong the noise is, outputs with the same noise differ if the data do. They are used for nothing else.
    """
    plan, pair, sample, found = end.plan, end.seen.pair, end.seen.sample, end.seen.found
    if pair is None or not isinstance(found, Evidence) or found.bound(plan.alpha) > 0:
        return end
    pairs, most = [pair, *some_pairs(plan.domain.corners())], min(MOST, sample.size if sample else MOST)

    def ask() -> str:
        try:
            return alike(plan, pairs, most)
        except MechanismError:  # a warning must not cost the audit its verdict
            return ""

    same = plan.store.recall("alike", ask)
    return end.warned(f"{same}, for one {pair_words(pair)}: {NO_EFFECT}") if same else end


NO_EFFECT = f"check that the mechanism returns its result and that the data sets contain what it uses{ATTRIBUTES}"


def alike(plan: Plan, pairs: Sequence[Pair], most: int = TRIAL) -> str:
    """Return a sentence if the same seed gives the same outputs on both sides of all pairs; nothing if they differ or raise.

    ``most`` outputs are drawn on either side of the first pair, and TRIAL on the others.
    """
    drawer = plan.drawer()
    for number, pair in enumerate(pairs):
        size, drawn = TRIAL, 0
        while drawn < (most if number == 0 else TRIAL):
            sides = drawer.coupled(pair, rng_at(plan.settings.seed, Phase.CHECK, 2, number, drawn), size)
            if any(side.raised()[0] for side in sides) or apart(*sides):
                return ""
            drawn, size = drawn + size, min(4 * size, plan.settings.execution.batch, max(TRIAL, most - drawn - size))
    asked = len({pair.key() for pair in pairs})
    many = f"all {asked} pairs that were tried" if asked > 1 else "the pair"
    return f"with the same seed, outputs were identical on both data sets of {many}"


def smaller_noise(end: Outcome, draw: Draw) -> Outcome:
    """Warn if outputs look Gaussian, and their μ is proved to exceed that of Gaussian noise for the claim.

    At δ = 1e-6, Gaussian noise of half the scale promised hardly shows, since its tails are too thin for any number of
    outputs. Its μ shows in a few thousand outputs. A large μ does not prove a violation of the claim.

    Fresh outputs on the pair are drawn for the bound on μ if the earlier outputs forecast that μ is too large. The
    bound exceeds the truth with probability at most the plan's alpha. Raises what sampling raises.
    """
    plan, claim, pair, sample = end.plan, end.plan.claim, end.seen.pair, end.seen.sample
    if not isinstance(claim, ApproximateDP) or not claim.delta or not (pair and sample and looks_gaussian(sample)):
        return end
    allowed = implied_mu(claim.epsilon, claim.delta)
    outputs = 3 * min(sample.size, 150_000)  # the bound counts three times the outputs that the test is learned from
    method = GaussianGuesses(GaussianDP(allowed), plan.alpha, outputs)
    learned = method.learn(sample)
    if learned.forecast <= allowed:
        return end
    fresh = draw.draw(draw.batches(pair, outputs, Phase.CONFIRM, number=(2,), like=sample))
    mu = method.bound(learned.test, learned.test.count(fresh))
    if mu <= allowed:
        return end
    return end.warned(
        f"the noise looks Gaussian, and is smaller than Gaussian noise for {claim}: it has μ ≥ {mu:.3g}, and the claim allows "
        f"Gaussian noise with μ ≤ {allowed:.3g} (this warning is false with probability {plan.alpha:.2g} at most). This does not "
        "prove that the claim is violated. Check the scale of the noise; to test it, claim μ"
    )


def looks_gaussian(sample: Sample) -> bool:
    """Return whether each varying column of the output looks normally distributed on each side."""
    sides = [[column for column in side.columns if varies(column)] for side in (sample.left, sample.right)]
    return all(sides) and all(_is_normal(column) for side in sides for column in side)


def _is_normal(column: OutputColumn) -> bool:
    x = column.numbers
    # With fewer outputs or values, nothing can be said of a shape.
    if column.codes is not None or len(x) < 500 or not np.all(np.isfinite(x)) or len(np.unique(x[:500])) < 20:
        return False
    x = x / np.abs(x).max()  # the mean of the largest floats would overflow
    z = (x - x.mean()) / x.std()
    skewness, kurtosis = float((z**3).mean()), float((z**4).mean()) - 3
    # A normal sample goes beyond 5.3 standard errors once in ten million times.
    return bool(abs(skewness) < 5.3 * np.sqrt(6 / len(x)) and abs(kurtosis) < 5.3 * np.sqrt(24 / len(x)))
