"""Warnings of likely mistakes in how an audit was written, of noise that looks smaller than promised, and of weak passes.

No number depends on them, and they change no verdict.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from auditor.auditing.ledger import Ledger
from auditor.auditing.no_answer import ATTRIBUTES, commonest, how_data_arrive, some_pairs
from auditor.auditing.plan import Plan
from auditor.blackbox.batches import Phase, rng_at
from auditor.blackbox.outputs import OutputColumn
from auditor.blackbox.sample import TRIAL, Sample, apart
from auditor.bounds.conversions import implied_mu
from auditor.bounds.drift import FALSE_WARNING, drifts
from auditor.claims import ApproximateDP, GaussianDP
from auditor.errors import MechanismError, how_many
from auditor.events.features import varies
from auditor.events.observed import ObservedCanaries
from auditor.events.text import unread
from auditor.methods.guessing import GaussianGuesses
from auditor.neighbours.pair import Pair, pair_words
from auditor.results.result import Judgement, OutputsSpent, Tried
from auditor.verdict import WEAK, Verdict, may_miss, saw_nothing

# The two sides of some pairs are compared, with MOST outputs on either side of the first. If a mechanism uses its
# randomness alike on both sides, all MOST outputs agree with probability (1 − d)^MOST, where d is the total variation
# distance of the two distributions.
MOST = 10_000


Case = Literal["always", "if violated", "unless violated"]


@dataclass(frozen=True, slots=True)
class Caveat:
    """A warning about a result of any verdict, of a violation only, or of any other verdict unless the claim is proved."""

    text: str
    applies: Case = "always"


def select_caveats(
    caveats: Sequence[Caveat], weaknesses: Iterable[str], *, violated: bool, proved: bool
) -> tuple[str, ...]:
    """Return the warnings to show with a verdict; ``weaknesses`` are those of a pass, see below.

    If the claim is proved for the whole domain, it does not matter what outputs may have missed.
    """
    always, if_violated, unless_violated = (
        [caveat.text for caveat in caveats if caveat.applies == case]
        for case in ("always", "if violated", "unless violated")
    )
    if violated:
        return (*always, *if_violated, *([CONTRADICTION] if proved else []))
    return (*([] if proved else [*unless_violated, *weaknesses]), *always)


CONTRADICTION = (
    "the claim is proved over the reals, and outputs refute it. Either one of the two is wrong, or floating point "
    "makes the difference: check whether the event is about bits or about numbers that differ by rounding, repeat "
    "the audit with another seed, and check the certificate of `auditor prove --out DIR` with `auditor check-proof`"
)


# --- Of a violation, and of any verdict ---


def exceptions(plan: Plan, pair: Pair | None, sample: Sample | None) -> list[str]:
    """Give an example of the exceptions among outputs."""
    raised = [side.raised() for side in (sample.left, sample.right)] if sample is not None else []
    example = next((message for _, message in raised if message), "")
    if pair is None or not example:
        return []
    rates = " and ".join(f"{rate:.3g}" for rate, _ in raised)
    return [
        f"on {pair_words(pair)} the mechanism raises at rates {rates}, such as “{example}”; an exception counts as an output. If "
        f"it is unintended, fix it first{how_data_arrive(plan, pair)}"
    ]


def drift(tables: Sequence[Sequence[Sequence[int]]]) -> list[str]:
    """Return a warning if the first and the second half of the bound's batches differ; ``tables`` are counts, in their order.

    Drift is not an error and does not raise the false-alarm rate, since a coin picks the side of each output. If a call
    gives many outputs, a coin picks the side of the call. With one table there is nothing to compare.
    """
    if len(tables) < 2:
        return []
    halves = tables[: len(tables) // 2], tables[len(tables) // 2 :]
    early, late = (
        [[sum(cell) for cell in zip(*side, strict=True)] for side in zip(*half, strict=True)] for half in halves
    )
    if not drifts(early, late):
        return []
    return [
        "outputs drawn early and late in the bound differ: the mechanism changes while it is audited, by a state, a cache or a "
        "budget that is spent. The bound is on its average over the run. A violation found remains a violation. A violation not "
        f"found may show in another state (this warning is false with probability {FALSE_WARNING:g})"
    ]


def uneven(right_and_wrong: Sequence[tuple[int, int]]) -> list[str]:
    """Return a warning if runs' right guesses differ by more than chance allows for canaries that do not affect each other."""
    all_right, all_wrong = map(sum, zip(*right_and_wrong, strict=True))
    others = [(all_right - right, all_wrong - wrong) for right, wrong in right_and_wrong]
    if not drifts(right_and_wrong, others):
        return []
    return [
        "the number of right guesses differs between the runs by more than chance: canaries affect each other, "
        "or the mechanism changes. "
        f"If canaries affect each other, the bound is wrong; leave out `apart` (this warning is false with probability "
        f"{FALSE_WARNING:g})"
    ]


def nothing_differs(plan: Plan, pair: Pair | None, sample: Sample | None) -> list[str]:
    """Warn if, with the same randomness, no pair of data sets has different outputs. This is for audits that showed no
    loss.

    However strong the noise is, outputs with the same noise differ if the data do. They are used for nothing else.
    """
    if pair is None:
        return []
    pairs, most = [pair, *some_pairs(plan.domain.corners())], min(MOST, sample.size if sample else MOST)

    def ask() -> str:
        try:
            return alike(plan, pairs, most)
        except MechanismError:  # a warning must not cost the audit its verdict
            return ""

    same = plan.store.recall("alike", ask)
    return [f"{same}, for one {pair_words(pair)}: {NO_EFFECT}"] if same else []


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


def smaller_noise(ledger: Ledger, pair: Pair | None, sample: Sample | None) -> list[str]:
    """Warn if outputs look Gaussian, and their μ is proved to exceed that of Gaussian noise for the claim.

    At δ = 1e-6, Gaussian noise of half the scale promised hardly shows, since its tails are too thin for any number of
    outputs. Its μ shows in a few thousand outputs. A large μ does not prove a violation of the claim.

    Fresh outputs on the pair are drawn for the bound on μ if the earlier outputs forecast that μ is too large. The
    bound exceeds the truth with probability at most the plan's alpha. Raises what sampling raises.
    """
    plan, claim = ledger.plan, ledger.plan.claim
    if not isinstance(claim, ApproximateDP) or not claim.delta or not (pair and sample and looks_gaussian(sample)):
        return []
    allowed = implied_mu(claim.epsilon, claim.delta)
    outputs = 3 * min(sample.size, 150_000)  # the bound counts three times the outputs that the test is learned from
    method = GaussianGuesses(GaussianDP(allowed), plan.alpha, outputs)
    learned = method.learn(sample)
    if learned.forecast <= allowed:
        return []
    fresh = ledger.draw(ledger.batches(pair, outputs, Phase.CONFIRM, number=(2,), like=sample))
    mu = method.bound(learned.test, learned.test.count(fresh))
    if mu <= allowed:
        return []
    return [
        f"the noise looks Gaussian, and is smaller than Gaussian noise for {claim}: it has μ ≥ {mu:.3g}, and the claim allows "
        f"Gaussian noise with μ ≤ {allowed:.3g} (this warning is false with probability {plan.alpha:.2g} at most). This does not "
        "prove that the claim is violated. Check the scale of the noise; to test it, claim μ"
    ]


def looks_gaussian(sample: Sample) -> bool:
    """Return whether each varying column of the output looks normally distributed on each side."""
    sides = [[column for column in side.columns if varies(column)] for side in (sample.left, sample.right)]
    return all(sides) and all(_is_normal(column) for side in sides for column in side)


def _is_normal(column: OutputColumn) -> bool:
    x = column.numbers
    # With fewer outputs or values, nothing can be said about the shape.
    if column.codes is not None or len(x) < 500 or not np.all(np.isfinite(x)) or len(np.unique(x[:500])) < 20:
        return False
    x = x / np.abs(x).max()  # the mean of the largest floats would overflow
    z = (x - x.mean()) / x.std()
    skewness, kurtosis = float((z**3).mean()), float((z**4).mean()) - 3
    # A normal sample goes beyond 5.3 standard errors once in ten million times.
    return bool(abs(skewness) < 5.3 * np.sqrt(6 / len(x)) and abs(kurtosis) < 5.3 * np.sqrt(24 / len(x)))


# --- Of a pass ---


def few_outputs(plan: Plan, spent: OutputsSpent, sample: Sample | None) -> list[str]:
    """Warn of few outputs, of few that differ, and of those that were not read as a whole."""
    settings, warnings = plan.settings, list[str]()
    if settings.seconds is not None and spent.bound < settings.samples / 10:
        warnings.append(
            f"weak: only {spent.bound:,} of {settings.samples:,} outputs fit into {settings.seconds:g} seconds"
        )
    if not spent.search and settings.search is None and len(plan.domain.corners()) > 1:
        warnings.append(
            "weak: there were too few outputs for a search, so only one pair was looked at: "
            f"{plan.with_more()}, or set `search`"
        )
    share = commonest(sample) if sample is not None else 0.0
    if share >= 0.995:
        warnings.append(
            f"weak: {math.floor(1000 * share) / 10:g} % of the outputs are identical on both data sets. The result rests on the "
            f"few others: choose data sets on which outputs vary, or {plan.with_more()}"
        )
    warnings += map(_unread, unread_in(sample))
    return warnings


def unread_in(sample: Sample | None) -> list[str]:
    """Say which parts of the outputs were not read as a whole (see ``unread``), on either side."""
    sides = (sample.left, sample.right) if sample is not None else ()
    return list(dict.fromkeys(part for side in sides for part in unread(side)))


def _unread(clause: str) -> str:
    return (
        f"weak: {clause}, so a leak in what was not read would not be seen. Leave it out of the output if it is no result, or "
        "return what it stands for as numbers or a few words (docs/reference/outputs.md says what is read)"
    )


def weaknesses(plan: Plan, judgement: Judgement, tried: Tried, outputs: int) -> Iterator[str]:
    """Yield why a pass is weak: it may miss WEAK times the claim, saw no loss in the bound's ``outputs``, or missed planted
    faults.
    """
    claim, planted, power = plan.claim, tried.planted, judgement.power
    is_pass = judgement.verdict is Verdict.NO_VIOLATION_FOUND
    if is_pass and power is not None and may_miss(claim, power):
        more = _to_catch_more(plan, judgement)
        if power["95%"] == math.inf:
            yield f"weak: on this event the audit cannot detect any violation; {more}"
        else:
            yield (
                f"weak: the audit may miss {claim.symbol} of {WEAK:g} times the claim: the smallest violation it detects with 95 % "
                f"probability is {power['95%']:.3g}; {more}"
            )
    elif is_pass and saw_nothing(claim, judgement.bound):
        where = f"the most promising of {tried.pairs:,} pairs" if tried.pairs > 1 else "the pair"
        yield (
            f"weak: no loss above noise was seen: {how_many(outputs, 'output')} for the bound, on {where}, prove none. "
            f"A small or rare loss needs more: {plan.with_more()}, or write a smaller domain"
        )
    if planted is not None and planted.too_few:
        times, refuted = planted.with_more or (1, 0)
        helps = refuted > len(planted.found)
        more = f"{plan.with_more(times)}, which finds {refuted} of them; or" if helps else "more outputs find no more;"
        yield (
            f"weak: the search found {len(planted.found)} of {planted.all} faults that were planted in its outputs; "
            f"{more} write a smaller domain"
        )


def _to_catch_more(plan: Plan, judgement: Judgement) -> str:
    claim, event = plan.claim, judgement.event
    if not isinstance(event, ObservedCanaries):
        # The excess of the smallest violation caught over the claim is about proportional to 1/√outputs.
        excess = (judgement.power or {}).get("95%", math.inf) / claim.value - 1
        return plan.with_more((excess / (WEAK - 1)) ** 2) if excess < math.inf else plan.with_more()
    # The claim allows a run to reveal all canaries with probability δ. So no p-value is below δ.
    allowed = judgement.alpha or 0
    if not event.apart and isinstance(claim, ApproximateDP) and claim.delta * len(event.guesses) >= allowed:
        return "δ is at least the error allowed per look; without `apart`, no number of canaries can refute this claim"
    return "use more canaries, or more runs"
