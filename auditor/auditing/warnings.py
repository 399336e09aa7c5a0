"""Warnings of likely mistakes in how an audit was written, of noise that looks smaller than promised, and of weak passes.

No number depends on them, and they change no verdict.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from auditor.auditing.ledger import Ledger
from auditor.auditing.no_answer import ATTRIBUTES, commonest, how_data_arrive, some_pairs
from auditor.auditing.plan import CHANCES, Plan
from auditor.auditing.sizes import OF_LAST
from auditor.blackbox.batches import Phase, rng_at
from auditor.blackbox.outputs import ABSENT, OutputColumn
from auditor.blackbox.sample import TRIAL, Sample, apart
from auditor.bounds.bisection import bracket_threshold
from auditor.bounds.conversions import implied_mu
from auditor.bounds.drift import FALSE_WARNING, drifts
from auditor.bounds.utility import Prospect
from auditor.claims import ApproximateDP, GaussianDP, PrivacyClaim
from auditor.defaults import MOST as MOST_OUTPUTS
from auditor.errors import MechanismError, duration, how_many
from auditor.events.event import Event
from auditor.events.features import looks_at_types, varies
from auditor.events.observed import ObservedCanaries
from auditor.events.text import unread
from auditor.methods.guessing import GaussianGuesses
from auditor.neighbours.pair import Pair, pair_words
from auditor.results.result import Judgement, OutputsSpent, Probed
from auditor.verdict import TIMES, Verdict, found_too_few

# The two sides of some pairs are compared, with MOST outputs on either side of the first. If a mechanism uses its
# randomness alike on both sides, all MOST outputs agree with probability (1 − d)^MOST, where d is the total variation
# distance of the two distributions.
MOST = 10_000
# Looks at sound data that loses nothing seem to show a loss with at most this probability.
DIFFERS = 0.01
# A loss of HARDLY anything, as a share of the claim, stands for none. A loss as large as the claim may show on OF_OUTPUTS only.
HARDLY, OF_OUTPUTS = 0.01, 0.1
# Python's types of numbers; those of NumPy have names of their own.
NUMBERS = {"float", "int", "bool", "complex"}


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
    if proved:
        return tuple(text.removeprefix("weak: ") for text in always)
    return (*unless_violated, *weaknesses, *always)


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


def types_of_numbers(test: Any) -> list[str]:
    """Say that a violation rests on the types of numbers alone, which may not be what the claim is about."""
    if not (isinstance(test, Event) and looks_at_types(test.feature)):
        return []
    seen = {name for name in test.rule.atoms if name != ABSENT}
    if not seen or not all(name in NUMBERS or name.startswith("numpy.") for name in seen):
        return []
    return [
        "the event looks at the types of numbers alone, which whoever gets the Python object sees. If only the values are "
        "released, let the mechanism return one type on every path, such as `float(total)`, and audit it again"
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


def no_loss(ledger: Ledger, pair: Pair | None, sample: Sample | None, prospects: Iterable[Prospect]) -> list[str]:
    """Say that a pass is weak, if it showed no loss and nothing differs on any pair.

    With the same noise, outputs differ if the data do, however strong the noise is. They are used for nothing else. If the
    noise is the mechanism's own, the ``prospects`` of the search must show that some pair differs, unless so few outputs
    cannot show a loss as large as the claim.
    """
    plan, claim = ledger.plan, ledger.plan.claim
    if pair is None or not isinstance(claim, PrivacyClaim):
        return []
    is_promised = claim.total_variation() <= 0
    if equal := _equal_with_the_same_noise(ledger, pair, sample):
        return [f"{'' if is_promised else 'weak: '}{equal}, for one {pair_words(pair)}: {NO_EFFECT}"]
    outputs = min(ledger.spent.bound, plan.settings.samples)
    if equal is not None or is_promised or _differ_beyond_chance(prospects) or not _would_show(plan, claim, outputs):
        return []
    where = f"the most promising of {len(ledger.pairs):,} pairs" if len(ledger.pairs) > 1 else "the pair"
    return [
        f"weak: no loss above noise was seen: {how_many(ledger.spent.bound, 'output')} for the bound, on {where}, prove none, and "
        "would show one as large as the claim. Draw all noise from `rng`, so that outputs with the same noise can be compared, "
        f"or {plan.with_more()}"
    ]


NO_EFFECT = f"check that the mechanism returns its result and that the data sets contain what it uses{ATTRIBUTES}"


def _equal_with_the_same_noise(ledger: Ledger, pair: Pair, sample: Sample | None) -> str | None:
    """Return a sentence if outputs with the same noise are equal on all pairs, and "" if some differ. Return None if it is
    not known: the noise is the mechanism's own, a time limit leaves no time, or the mechanism fails.
    """
    plan = ledger.plan
    if any(any(apart.values()) for apart in ledger.distances.values()):
        return ""
    if not ledger.reproducible or plan.settings.seconds is not None:
        return None
    pairs, most = [pair, *some_pairs(plan.domain.corners())], min(MOST, sample.size if sample else MOST)

    def ask() -> str | None:
        try:
            return alike(plan, pairs, most) if plan.drawer().takes_rng else None
        except MechanismError:  # a warning must not cost the audit its verdict
            return None

    return plan.store.recall("alike", ask)


def _differ_beyond_chance(prospects: Iterable[Prospect]) -> bool:
    """Whether some prospect shows that outputs differ. With probability DIFFERS at most, chance alone does."""
    from scipy.special import ndtri

    known = [each for each in prospects if math.isfinite(each.loss) and 0 < each.error < math.inf]
    beyond = -float(ndtri(DIFFERS / max(1, len(known))))
    return any(each.loss + each.free > beyond * each.error for each in known)


def _would_show(plan: Plan, claim: PrivacyClaim, outputs: int) -> bool:
    """Whether outputs show that something is lost, if as much is lost as claimed on OF_OUTPUTS of the outputs."""
    lost = claim.value - claim.without_loss
    nothing = claim.with_value(claim.without_loss + HARDLY * lost)
    shown = plan.method(outputs, nothing).foreseen(OF_OUTPUTS, CHANCES[-1][1]) - nothing.value
    return shown <= (1 - HARDLY) * lost


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
        takes = duration(settings.seconds * settings.samples / max(1, spent.bound))
        warnings.append(
            f"only {spent.bound:,} of {settings.samples:,} outputs fit into {settings.seconds:g} seconds; all take about {takes}"
        )
    if not spent.search and settings.search is None and len(plan.domain.corners()) > 1:
        warnings.append(
            "weak: there were too few outputs for a search, so only one pair was looked at: "
            f"{plan.with_more()}, or set `search`"
        )
    share = commonest(sample) if sample is not None else 0.0
    if share >= 0.995:
        warnings.append(
            f"{math.floor(1000 * share) / 10:g} % of the outputs are identical on both data sets. The result rests on the few "
            "others; choose data sets on which outputs vary, if there are any"
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


def weaknesses(plan: Plan, judgement: Judgement, planted: Probed | None) -> Iterator[str]:
    """Yield why a pass is weak: its outputs could show nothing at all, or its search found too few of the faults that they
    could show.

    Each reason says what leads out of it, by numbers that were computed.
    """
    power = judgement.power or {}
    if (
        judgement.verdict is Verdict.NO_VIOLATION_FOUND
        and power.get("95%") == math.inf
        and _cannot_show(plan, judgement)
    ):
        yield f"weak: so many outputs cannot show any violation, on any data; {_to_show_more(plan, judgement)}"
    if planted is not None and planted.too_few:
        faults = f"of {planted.all} planted faults that these outputs would show on the right pair"
        of_kinds = [
            f"{found} of {of_kind} on data with {kind}" for kind, (found, of_kind) in planted.kinds_missed.items()
        ]
        but = f", but {' and '.join(of_kinds)}" if of_kinds else ""
        yield f"weak: {faults}, the search finds {len(planted.found)}{but}; {_to_find_more(plan, planted)}"


def _cannot_show(plan: Plan, judgement: Judgement) -> bool:
    """Whether no rate of an outcome on one side is large enough to refute the claim. Canaries have no such outcome."""
    return isinstance(judgement.event, ObservedCanaries) or not _shows_certainty(plan, plan.settings.samples)


def _shows_certainty(plan: Plan, samples: int) -> bool:
    """Whether so many outputs refute the claim if all outputs of one side never occur on the other."""
    return plan.method(samples, share=OF_LAST).rarest(CHANCES[-1][1]) <= 1


def _to_show_more(plan: Plan, judgement: Judgement) -> str:
    claim, event, samples = plan.claim, judgement.event, plan.settings.samples
    if not isinstance(event, ObservedCanaries):
        needed = bracket_threshold(
            lambda outputs: _shows_certainty(plan, outputs),
            samples,
            2 * samples,
            lambda low, high: high - low <= low // 100,
            MOST_OUTPUTS,
        )[1]
        return plan.with_more(needed / samples) if needed < math.inf else "no number of outputs can"
    # The claim allows a run to reveal all canaries with probability δ. So no p-value is below δ.
    allowed = judgement.alpha or 0
    if not event.apart and isinstance(claim, ApproximateDP) and claim.delta * len(event.guesses) >= allowed:
        return "δ is at least the error allowed per look; without `apart`, no number of canaries can refute this claim"
    return "use more canaries, or more runs"


def _to_find_more(plan: Plan, planted: Probed) -> str:
    """Say with how many outputs the search finds enough, or what else leads out."""
    if planted.with_more is not None:
        times, found = planted.with_more
        enough = found if found_too_few(len(planted.found), planted.all) else "enough of them"
        return f"{plan.with_more(times)}, with which it finds {enough}"
    return (
        f"{max(TIMES)} times as many outputs on the pairs that it looked at would not be enough: name fewer data sets, such as "
        "the pairs that matter, or accept the pass by `weak`, with the reason"
    )
