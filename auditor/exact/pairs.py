"""Dominating pairs of a process: pairs of output distributions that are attained, and one that no pair exceeds.

An attained pair gives a lower end. One whose curve lies above those of all pairs gives an upper end, even if each step
is chosen adaptively, by the earlier outputs (Zhu, Dong & Wang 2022, Theorem 10). If both are the same, the number is
exact.

Why the pairs on a line are the worst: let outputs without the record have centre 0, and those with it centres x (P) and x'
(Q). For γ ≥ 1, a test of P against a mixture γ(q N_x' + (1 − q) N₀) is one of N_x against a mixture of N_x' and N₀, since a part
of N₀ cancels. By Neyman & Pearson, a test that N_x passes with probability p is passed under a centre at distance r with
probability at least f_r(p), and f_r falls with r. A half-line attains this for all centres on the other side at once, for any
noise whose likelihood ratio is monotone. So the worst centres lie on one line, as far from x as they may be.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from auditor.exact.compose import RepeatedStep
from auditor.exact.laws import (
    AtomsLaw,
    GaussianLaw,
    LaplaceLaw,
    Law,
    OppositeLaw,
    RangeLaw,
    SampledLaw,
    SwappedLaw,
    SymmetrizedLaw,
    integer_law,
)
from auditor.exact.process import (
    Allocation,
    Composition,
    DiscreteGaussian,
    DiscreteLaplace,
    ExponentialMechanism,
    FixedSize,
    Gaussian,
    Laplace,
    Poisson,
    Process,
    ProcessRelation,
    RandomizedResponse,
    Table,
)

Scenario = tuple[RepeatedStep, ...]


class WorstPairs(NamedTuple):
    """Compositions whose largest δ is attained, compositions whose largest δ is never exceeded, and why the two differ."""

    attained: tuple[Scenario, ...]
    above: tuple[Scenario, ...]
    reason: str


class _StepLaws(NamedTuple):
    """The repeated steps of a process in each direction: those that are attained, and those that none exceeds."""

    attained: Sequence[Sequence[RepeatedStep]]
    above: Sequence[Sequence[RepeatedStep]]
    reason: str = ""


def worst_pairs(composition: Composition) -> WorstPairs:
    """Return the worst pairs of a composition, in one direction or in both."""
    alone = len(composition.processes) == 1 and composition.processes[0].steps == 1
    laws = [_step_laws(process, alone) for process in composition.processes]
    reasons = dict.fromkeys(law.reason for law in laws if law.reason)

    def compose(sides: Sequence[Sequence[Sequence[RepeatedStep]]]) -> tuple[Scenario, ...]:
        # The i-th entry of each process is that of one direction, or one way to attack; a single one stands for all.
        count = max(map(len, sides))
        return tuple(
            dict.fromkeys(
                _merge_equal_laws([part for side in sides for part in side[min(i, len(side) - 1)]])
                for i in range(count)
            )
        )

    attained, above = compose([law.attained for law in laws]), compose([law.above for law in laws])
    additive = Gaussian | Laplace | DiscreteGaussian | DiscreteLaplace
    if len(above) == 2 and alone and isinstance(composition.processes[0].noise, additive):
        # By the argument of the module, a removed record is the worst one of a single step at γ ≥ 1.
        attained, above = attained[:1], above[:1]
    return WorstPairs(attained, above, "; ".join(reasons))


def _merge_equal_laws(parts: Sequence[RepeatedStep]) -> Scenario:
    """Merge parts with equal laws, and all Gaussian parts into one step: squares of distances add up."""
    steps: dict[Law, int] = {}
    square = 0.0
    for law, count in parts:
        if isinstance(law, GaussianLaw):
            square += count * law.mu**2
        else:
            steps[law] = steps.get(law, 0) + count
    gaussian = [RepeatedStep(GaussianLaw(math.sqrt(square)), 1)] if square else []
    return (*gaussian, *(RepeatedStep(law, count) for law, count in steps.items()))


def _in_directions(law: Law, relation: ProcessRelation, steps: int) -> list[list[RepeatedStep]]:
    """Return a law of P with the record against Q without it, in each direction of a relation."""
    removed, added = [RepeatedStep(law, steps)], [RepeatedStep(SwappedLaw(law), steps)]
    return {"remove": [removed], "add": [added]}.get(relation, [removed, added])


def _step_laws(process: Process, alone: bool) -> _StepLaws:
    """Return the laws of a process; ``alone`` says that the composition is this single step."""
    noise, relation, sampling, steps = process.noise, process.relation, process.sampling, process.steps
    if isinstance(sampling, Allocation):
        return _allocation_laws(process, sampling)
    if isinstance(sampling, FixedSize):
        return _fixed_size_laws(process, sampling.rate, alone)
    rate = sampling.rate if isinstance(sampling, Poisson) else 1.0
    if isinstance(noise, ExponentialMechanism):
        return _exponential_laws(process, noise, rate, alone)
    if isinstance(noise, Table):
        rows = np.array([noise.present, noise.absent])
        table: Law = AtomsLaw(*rows[:, rows.any(axis=0)])
        return _exact_laws(_in_directions(SampledLaw(table, rate) if rate < 1 else table, relation, steps))
    if rate < 1 and relation != "substitute":
        return _exact_laws(_in_directions(SampledLaw(additive_law(process, 1), rate), relation, steps))
    if isinstance(noise, RandomizedResponse):
        law: Law = _response_law(noise)
    elif relation == "substitute":
        law = _opposite_law(process, rate)
    else:
        law = additive_law(process, 1)
    return _exact_laws([[RepeatedStep(law, steps)]])


def _exact_laws(scenarios: list[list[RepeatedStep]]) -> _StepLaws:
    return _StepLaws(scenarios, scenarios)


def additive_law(process: Process, times: int) -> Law:
    """Return the law of additive noise at ``times`` the sensitivity; it is the same in both directions."""
    noise, distance = process.noise, times * process.sensitivity
    if isinstance(noise, Gaussian):
        return GaussianLaw(distance / noise.scale)
    if isinstance(noise, Laplace):
        return LaplaceLaw(distance / noise.scale)
    assert isinstance(noise, DiscreteGaussian | DiscreteLaplace)
    return integer_law("gaussian" if isinstance(noise, DiscreteGaussian) else "laplace", noise.scale, int(distance))


def _opposite_law(process: Process, rate: float) -> Law:
    """Return the law of a record that is replaced by one with the opposite contribution, each sampled at ``rate``."""
    noise = process.noise
    if rate == 1:
        return additive_law(process, 2)
    if isinstance(noise, Gaussian):
        return OppositeLaw("gaussian", process.sensitivity / noise.scale, rate)
    if isinstance(noise, Laplace):
        return OppositeLaw("laplace", process.sensitivity / noise.scale, rate)
    assert isinstance(noise, DiscreteGaussian | DiscreteLaplace)
    kind = "gaussian" if isinstance(noise, DiscreteGaussian) else "laplace"
    return integer_law(kind, noise.scale, int(process.sensitivity), opposite=rate)


def _response_law(noise: RandomizedResponse) -> AtomsLaw:
    others = noise.values - 2
    wrong = (1 - noise.truth) / (noise.values - 1)
    p, q = [noise.truth, wrong], [wrong, noise.truth]
    if noise.truth in (1, wrong):
        return AtomsLaw(np.array(p), np.array(q))
    epsilon = math.log(noise.truth / wrong)
    rest = [others * wrong] if others else []
    return AtomsLaw(np.array(p + rest), np.array(q + rest), epsilon if others else 2 * epsilon, -epsilon)


def _exponential_laws(process: Process, noise: ExponentialMechanism, rate: float, alone: bool) -> _StepLaws:
    reach = noise.weight * process.sensitivity
    reach *= (1 if noise.monotone else 2) * (2 if process.relation == "substitute" else 1)

    def in_directions(law: Law) -> list[list[RepeatedStep]]:
        if rate == 1:
            return [[RepeatedStep(law, process.steps)]]
        return _in_directions(SampledLaw(law, rate), process.relation, process.steps)

    above = in_directions(RangeLaw(reach))
    if alone:
        return _StepLaws(above, above)  # each point of the curve is attained by some pair
    attained = []
    # If steps are sampled, entries are directions, and those of all processes go together.
    for share in np.linspace(0.1, 0.9, 9) if rate == 1 else (0.5,):
        t = share * reach
        p = math.expm1(t - reach) / math.expm1(-reach)
        two_outputs = AtomsLaw(
            np.array([1 - p, p]), np.array([(1 - p) * math.exp(reach - t), p * math.exp(-t)]), reach, origin=t - reach
        )
        attained += in_directions(two_outputs)
    reason = "of several choices by the exponential mechanism, only bounds are known: "
    return _StepLaws(attained, above, reason + "the same pair in all steps, and the curve above all pairs")


def _fixed_size_laws(process: Process, rate: float, alone: bool) -> _StepLaws:
    """Return the laws of batches of a fixed size, in which a record is replaced.

    The worst case has another record's contribution opposite to the one that is replaced: (1 − q)N₀ + qN₂ against N₀. For
    γ ≥ 1, no pair of any data exceeds it, in either direction (see the module; Balle, Barthe & Gaboardi 2018, Theorem 11).
    """
    law = additive_law(process, 2)
    if rate == 1:
        return _exact_laws([[RepeatedStep(law, process.steps)]])
    sampled = SampledLaw(law, rate)
    attained = _in_directions(sampled, process.relation, process.steps)
    if alone:
        return _StepLaws(attained[:1], attained[:1])
    reason = "which pairs are the worst of several batches of a fixed size is not known: "
    reason += "the low end has one pair in all steps, the high end the larger curve of both directions"
    return _StepLaws(attained, [[RepeatedStep(SymmetrizedLaw(sampled), process.steps)]], reason)


def _allocation_laws(process: Process, allocation: Allocation) -> _StepLaws:
    """Return bounds for passes over the data in which each record is in some of the batches.

    Above: an observer who knows the batches of the record sees that many steps without sampling, and a mixture is no worse
    (joint convexity). Attained: an observer of one batch alone, and with Gaussian noise of the sum of all batches.
    """
    noise, replaced = process.noise, process.relation == "substitute"
    full = [[RepeatedStep(additive_law(process, 2 if replaced else 1), process.steps * allocation.times)]]
    if allocation.times == allocation.batches:
        return _exact_laws(full)
    rate = allocation.times / allocation.batches
    if replaced:
        attained = [[RepeatedStep(_opposite_law(process, rate), process.steps)]]
    else:
        attained = _in_directions(SampledLaw(additive_law(process, 1), rate), process.relation, process.steps)
    if isinstance(noise, Gaussian):
        total = allocation.times * process.sensitivity * (2 if replaced else 1)
        summed = RepeatedStep(GaussianLaw(total / (noise.scale * math.sqrt(allocation.batches))), process.steps)
        attained.append([summed])
    reason = "of batches that are dealt out, only bounds are known: the low end is that of an observer of one batch, or of the sum "
    return _StepLaws(
        attained, full, reason + "of all; the high end that of one who knows in which batches the record is"
    )
