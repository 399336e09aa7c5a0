"""What belongs to a claim under a cost model: a control with the same data set on both sides, and what the cost alone shows.

A measurement may differ between sides for reasons that have nothing to do with data. So the test that was learned is counted once
more, on outputs of one data set on both sides. It must show nothing, and if it shows something, there is no answer. By chance this
happens with probability at most the plan's alpha. It costs an answer, and never makes an alarm.
"""

from dataclasses import replace

from auditor.auditing.draw import Draw
from auditor.auditing.outcome import Seen
from auditor.auditing.pairwise_flow import CountEvidence
from auditor.auditing.plan import Plan
from auditor.blackbox.batches import Phase
from auditor.blackbox.outputs import Outputs
from auditor.blackbox.sample import Sample
from auditor.defaults import COSTS
from auditor.results.result import CostControl, Judgement
from auditor.verdict import Verdict

# What the part of an output may forecast, as a share of the claim, and still be said to show nothing.
HARDLY = 0.1


def controlled(plan: Plan, seen: Seen, draw: Draw) -> tuple[Seen, CostControl | None]:
    """Return what was seen with its control, if the claim is under a cost model. Raises what sampling raises.

    As many outputs as those of the bound are drawn on the left data set of the pair, up to those of the selection.
    """
    costs = [kind for kind in plan.settings.observe if kind in COSTS]
    found, pair, sample = seen.found, seen.pair, seen.sample
    if not costs or pair is None or sample is None or not isinstance(found, CountEvidence):
        return seen, None
    outputs = min(seen.sizes.bound, seen.sizes.selection)
    same = replace(pair, right=pair.left, origin=None)
    fresh = draw.draw(draw.batches(same, outputs, Phase.CONFIRM, number=(4,), like=sample))
    bound = replace(found.method, alpha=plan.alpha).bound(found.test, found.test.count(fresh))
    control = CostControl(
        tuple(costs), outputs, bound, _forecast(plan, seen, sample, costs=True), _forecast(plan, seen, sample)
    )
    if bound <= 0:
        return seen, control
    why = (
        f"the control, with one data set on both sides, shows {plan.claim.symbol} ≥ {bound:.3g}: what is measured differs between "
        "sides for another reason than the data"
    )
    return replace(seen, found=Judgement(Verdict.INCONCLUSIVE, why), shrink=None), control


def _forecast(plan: Plan, seen: Seen, sample: Sample, costs: bool = False) -> float:
    """Return the bound that is forecast from the costs alone, or from all else alone."""
    places = tuple(f"output['{kind}']" for kind in COSTS)

    def part(outputs: Outputs) -> Outputs:
        kept = (column for column in outputs.columns if any(place in column.name for place in places) == costs)
        return Outputs(outputs.size, tuple(kept))

    method = plan.method(seen.sizes.bound)
    forecast = method.learn(replace(sample, left=part(sample.left), right=part(sample.right))).forecast
    return max(0.0, float(forecast))


def what_costs_tell(plan: Plan, control: CostControl | None) -> tuple[str, ...]:
    """Return where a violation under a cost model comes from, as a warning; none without a control."""
    if control is None:
        return ()
    listed, claimed = " and ".join(control.costs), plan.claim.value
    about = f"this is about the cost model ({listed}), and no violation of {plan.claim} by the output alone"
    if control.value_alone > claimed:
        return (f"the output without {listed} seems to break the claim as well: audit it without `observe`",)
    if control.costs_alone <= HARDLY * claimed:
        return (
            f"{about}. It is a leak of the noise: {listed} alone do not depend on the data. They tell the noise, and an output "
            "together with its noise tells the data",
        )
    return (f"{about}: {listed} alone depend on the data",)
