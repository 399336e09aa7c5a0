"""`auditor replay --check`: make a report again from recorded outputs, and compare the two reports."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from auditor import __version__
from auditor.auditing.flow import carry_out
from auditor.auditing.outcome import levels_of
from auditor.cli.common import say
from auditor.cli.options import AS_EXPECTED, NOT_ALL_CHECKED, UNEXPECTED
from auditor.config.load import Configuration
from auditor.config.recordings import find_recordings
from auditor.errors import InvalidInputError
from auditor.events.observed import CalculatedEvent
from auditor.results.reader import as_read, not_as_reported, parsed_report
from auditor.results.result import AuditResult, RunResult

BY_PROOF = "the proof, on which this verdict rests: `auditor prove` repeats it"


@dataclass(frozen=True, slots=True)
class Recount:
    """The result of one recount: the differences from the report, and what was not made again."""

    name: str
    differences: tuple[str, ...] = ()
    unchecked: str = ""


def check_report(file: Path, folder: Path, *, runs_code: bool) -> int:
    """Compare a report with the report that recorded outputs give. Print a result for each audit, and return the exit
    status.

    Raises InvalidInputError if there is no such report or recording, if another version wrote the report, or if code
    makes the data sets and ``runs_code`` is False.
    """
    report, written = parsed_report(file)
    if report.auditor != __version__:
        raise InvalidInputError(
            f"{file} was written by auditor {report.auditor}, and this is {__version__}; check it with that version"
        )
    with contextlib.ExitStack() as opened:
        recordings = find_recordings(folder, name=report.name, runs_code=runs_code)
        for recording in recordings:
            opened.enter_context(contextlib.closing(recording))
        if not recordings:
            raise InvalidInputError(f'{folder} holds no recording of "{report.name}"')
        recounts = list(_recounts(recordings[0], report, written))
    for recount in recounts:
        lines = [f"NOT as reported: {line}" for line in recount.differences]
        lines += [f"not checked: {recount.unchecked}"] if recount.unchecked else []
        for line in lines or ["as reported"]:
            say(f"{recount.name}: {line}")
    if any(recount.differences for recount in recounts):
        return UNEXPECTED
    return NOT_ALL_CHECKED if any(recount.unchecked for recount in recounts) else AS_EXPECTED


def _recounts(recording: Configuration, report: RunResult, written: Any) -> Iterator[Recount]:
    """Yield the recount of each audit, and of the run if it differs. ``written`` is the report as JSON."""
    reported = {audit.name: audit for audit in report.audits}
    entries = {entry["name"]: entry for entry in written["audits"]}
    plans = recording.plans
    ended = {plan.name: carry_out(plan, refuse=True) for plan in plans}
    p_values = [each.p_value for each in ended.values()]
    shares = levels_of(p_values, 1 - recording.confidence, recording.sharing_budget)
    levels = dict(zip(ended, shares, strict=True))
    remade = list[AuditResult]()
    for plan in plans:
        if plan.name not in reported:
            yield Recount(plan.name, ("the recording has this audit, but the report does not",))
            continue
        again = ended[plan.name].result(levels[plan.name])
        again = replace(again, strict=reported[plan.name].strict)  # how the run was ended, which no output says
        remade.append(again)
        differences = tuple(not_as_reported(entries[plan.name], as_read(again.to_dict())))
        rests_on_proof = plan.settings.prove == "only" or isinstance(again.event, CalculatedEvent)
        yield Recount(plan.name, differences, BY_PROOF if rests_on_proof else "")
    recorded = {plan.name for plan in plans}
    yield from (Recount(name, ("it was not recorded",)) for name in reported if name not in recorded)
    if len(reported) < len(report.audits):
        yield Recount("the run", ("two audits have one name",))
    made = replace(report, name=recording.name, confidence=recording.confidence, audits=remade)
    whole = as_read(made.to_dict())
    if lines := tuple(not_as_reported({**written, "audits": []}, {**whole, "audits": []})):
        yield Recount("the run", lines)
