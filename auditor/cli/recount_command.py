"""`auditor recount`: counts and bounds of a report again, from its own rules and recorded outputs."""

import argparse
import contextlib
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auditor.bounds.digits import with_significant_digits
from auditor.bounds.evidence import Bound
from auditor.cli.common import AS_EXPECTED, UNEXPECTED, Commands
from auditor.errors import InvalidInputError

if TYPE_CHECKING:
    from auditor.auditing import Plan
    from auditor.results.result import AuditResult


def add_commands(commands: Commands) -> None:
    """Add it to the command line."""
    parser = commands.add_parser(
        "recount",
        help="apply the rules in a report to the outputs kept by `auditor run --record DIR`, and compare counts and bounds",
    )
    parser.add_argument("report", type=Path, metavar="REPORT.json")
    parser.add_argument("recording", type=Path, metavar="DIR")
    parser.set_defaults(command=_recount)


def _recount(options: argparse.Namespace) -> int:
    from auditor.config.recordings import find_recordings
    from auditor.results.reader import read_report

    report = read_report(options.report)
    recordings = find_recordings(options.recording, runs_code=False)
    with contextlib.ExitStack() as opened:
        for recording in recordings:
            opened.enter_context(contextlib.closing(recording))
        plans = {
            plan.name: plan for recording in recordings if recording.name == report.name for plan in recording.plans
        }
        if missing := [audit.name for audit in report.audits if audit.name not in plans]:
            raise InvalidInputError(f'{options.recording} holds no outputs of "{missing[0]}" of {report.name}')
        differ = False
        for audit in report.audits:
            for what, same in _compared(audit, plans[audit.name]):
                print(f"{audit.name}: {what}: {'as reported' if same else 'NOT as reported'}")
                differ = differ or not same
    return UNEXPECTED if differ else AS_EXPECTED


def _compared(audit: "AuditResult", plan: "Plan") -> "Iterator[tuple[str, bool]]":
    """Yield what was counted again, and whether it is as the report says."""
    from auditor.auditing.pairwise_flow import CountEvidence
    from auditor.blackbox.batches import Phase
    from auditor.blackbox.sample import join_samples
    from auditor.results.recount import counted, frozen_test, recounted

    if audit.event is not None:
        test, sequential = frozen_test(audit.event), plan.settings.method == "sequential"
        if test is not None and audit.alpha is not None and not sequential:
            counts = counted(test, plan.store.samples(Phase.BOUND))
            method = plan.method(plan.settings.samples, audit.claim)
            evidence = CountEvidence(audit.claim, method, test, [(audit.outputs.bound, counts)], (), "")
            judged = evidence.judge(audit.alpha)
            yield "counts", judged.event == audit.event
            for what in ("bound", "power", "p_value"):
                yield what, _written(getattr(judged, what)) == _written(getattr(audit, what))
        elif (again := recounted(audit.event, plan.store.samples(Phase.BOUND))) is not None:
            yield "counts", again == audit.event
        if test is not None:
            learned_from = join_samples(list(plan.store.samples(Phase.SELECTION)))
            drawn = map(asdict, test.histograms(learned_from))
            yield (
                "histograms",
                _written(list(drawn)) == _written([asdict(one) for one in audit.illustration.histograms]),
            )
    if audit.smallest is not None:
        again = recounted(audit.smallest.event, plan.store.samples(Phase.CONFIRM))
        if again is not None:
            yield "counts on the smallest pair", again == audit.smallest.event


def _written(computed: Any) -> Any:
    """Return what was computed, as a report holds it."""
    return with_significant_digits(asdict(computed) if isinstance(computed, Bound) else computed)
