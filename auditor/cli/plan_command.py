"""`auditor plan`: the violations that each audit can detect, and the outputs needed, before any sampling."""

import argparse
from collections.abc import Sequence

from auditor.auditing.foresight import EXCESS, MINUTES, Foresight, afforded, canaries_needed, foresee
from auditor.auditing.plan import CHANCES, Plan
from auditor.blackbox.batches import Trial
from auditor.claims import QueryClaim
from auditor.cli.common import load_all, open_console
from auditor.cli.options import AS_EXPECTED
from auditor.errors import duration
from auditor.neighbours.canaries import Canaries
from auditor.report.phrases import number, rate_words
from auditor.report.terminal import escaped, table_for


def plan(options: argparse.Namespace) -> int:
    """Print what violations each audit would catch, and what it takes at a pace, if one is given."""
    console = open_console()
    for configuration in load_all(options):
        headings = ("audit", "claim", "outputs", "event on", "chance", "smallest violation caught")
        more = f"needed to catch {EXCESS:.0%} above the claim", "of one side only"
        table = table_for((*headings, *more), configuration.name)
        notes = list[str]()
        for plan in configuration.plans:
            audit = escaped(plan.name), str(plan.claim)
            rows = foresee(plan)
            if words := _too_few_canaries(plan, rows):
                notes.append(f"{escaped(plan.name)}: {words}")
            if not rows:
                said = "nothing is claimed: the loss is measured"
                if isinstance(plan.claim, QueryClaim):
                    said = "one counterexample refutes the claim"
                table.add_row(*audit, "–", "–", "–", said, "–", "–")
            for row in rows:
                needed = f"{row.needed:,.0f}" if row.needed < float("inf") else "out of reach"
                drawn, share, chance = f"{plan.settings.samples:,}", f"{row.share:.0%} of outputs", f"{row.chance:.0%}"
                if isinstance(plan.neighbours, Canaries):
                    drawn, share = f"{plan.neighbours.runs:,}", "canaries"
                    needed += " canaries" * (row.needed < float("inf"))
                rare = rate_words(row.rarest) if 0 < row.rarest <= 1 else "–"
                table.add_row(*audit, drawn, share, chance, number(row.caught), needed, rare)
            if options.pace is not None and plan.kind in ("pairwise", "probability"):
                notes.append(f"{escaped(plan.name)}: {_takes(plan, options.pace)}")
        if configuration.plans:
            console.print(table)
        for note in notes:
            console.print(note)
        if configuration.accountants:  # of these, no output is drawn, so no violation has a chance of being caught
            title = f"{configuration.name}: accountants, whose numbers are compared with exact ones; nothing is drawn"
            table = table_for(("accountant", "states", "settings at most", "seconds", "over"), title)
            for accountant in configuration.accountants:
                states, over = accountant.accountant.states, "; ".join(map(": ".join, accountant.varied().items()))
                at_most = f"{accountant.most_settings():,}", f"{accountant.seconds:g}"
                table.add_row(escaped(accountant.name), states, *at_most, escaped(over or "one setting"))
            console.print(table)
    return AS_EXPECTED


def _takes(plan: Plan, pace: float) -> str:
    """Say what an audit takes if an output takes ``pace`` seconds."""
    trial = Trial(same=True, seconds=pace, numbers=1)
    takes = (
        f"at {pace:g} s an output, the audit takes about {duration(plan.may_take(trial))} unless it refutes the claim"
    )
    shown = afforded(plan, trial, 60 * MINUTES)
    return takes if shown is None else f"{takes}; {MINUTES} minutes are enough for `samples: {shown.samples:_}`"


def _too_few_canaries(plan: Plan, rows: Sequence[Foresight]) -> str:
    """Say how many canaries are needed, if those of the plan can refute nothing. Return an empty text otherwise."""
    canaries = plan.neighbours
    if not isinstance(canaries, Canaries) or any(row.caught < float("inf") for row in rows):
        return ""
    chance = CHANCES[-1][1]
    least, least_apart = (canaries_needed(plan, canaries, chance, apart=apart) for apart in (canaries.apart, True))
    words = f"too few canaries to refute {plan.claim}, however large the violation; "
    words += f"{least:,.0f} or more, of all runs together, can" if least < float("inf") else "no number of them can"
    if least_apart < least:
        words += f"; {least_apart:,.0f} with `apart: true`, if you can prove that no canary affects another one's score"
    return words
