"""`auditor run`: carry out the audits of configurations, each with the violations of earlier runs and the baselines."""

import argparse
import contextlib
import gc
import importlib
import pkgutil
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from auditor.auditing.consistent import read_report
from auditor.auditing.earlier import as_text
from auditor.auditing.plan import journalled, remembering, with_violation
from auditor.blackbox.store import Store
from auditor.cli.common import load_all, make_folder, naming, selected, warn
from auditor.cli.report_runs import RUNS, audit_and_report
from auditor.config.load import Configuration
from auditor.config.recordings import record
from auditor.config.run_identity import identity, inputs
from auditor.errors import AuditorError, InvalidInputError
from auditor.report.compare import FALSE_RISE, shown
from auditor.results.reader import fitting, run_from_text
from auditor.results.result import AuditResult, RunResult
from auditor.verdict import Verdict

# What --resume says if there is nothing to resume.
SAME_AGAIN = "no run was interrupted, so this is the run from its start; the same seed draws the same outputs as before"


def run(options: argparse.Namespace) -> int:
    """Run the configurations."""
    return carried_out(options)[0]


def carried_out(options: argparse.Namespace) -> tuple[int, list[RunResult]]:
    """Run the configurations that the options of `auditor run` name, and write reports. Return exit status and results."""
    if options.record is not None and options.resume:
        raise InvalidInputError("--resume and --record do not go together: a recording has all outputs of one run")
    configurations = selected(load_all(options), options.only)
    # If a mechanism runs in this process, modules of this process are inputs of the run, so none are imported ahead.
    if all(plan.settings.execution.isolate for one in configurations for plan in one.plans):
        threading.Thread(target=_load_libraries, daemon=True).start()
    for configuration in configurations:
        for plan in configuration.plans:
            # Before any time is spent, raise errors of mechanisms that cannot be imported and folders that cannot be made.
            with naming(configuration, plan):
                plan.drawer()
                plan.settings.execution.reach(plan.source)
        for accountant in configuration.accountants:
            with naming(configuration, accountant):
                accountant.require_callables()
        make_folder(options.out / configuration.name)
    # Read now, since the run may overwrite a report that is a baseline.
    baselines = _baselines(options.baseline, [configuration.name for configuration in configurations])
    with contextlib.ExitStack() as opened:
        if options.record is not None:
            recordings = (record(configuration, options.record) for configuration in configurations)
            configurations = [opened.enter_context(contextlib.closing(recording)) for recording in recordings]
        journals = []
        for i, configuration in enumerate(configurations):
            folder = options.out / configuration.name
            journal = opened.enter_context(contextlib.closing(Store(folder / RUNS)))
            if not (options.resume and journal.interrupted):
                _enter(folder / "report.json", configuration.name, journal)
            goes_on = journal.begin(identity(configuration), options.resume, inputs(configuration))
            if options.resume and not goes_on:
                warn(f"note: {configuration.name}: {SAME_AGAIN}")
            journals.append(journal)
            keeping = [journalled(plan, journal) if options.record is None else plan for plan in configuration.plans]
            red = _violations(configuration, journal)
            plans = tuple(remembering(plan, red.get(plan.name, "")) for plan in keeping)
            for plan in plans:
                if plan.earlier or plan.least:
                    files = " and ".join(str(file) for file in (folder / "report.json", journal.path) if file.exists())
                    what = "an earlier report shows a violation, and no pass counts before it is settled"
                    warn(f"note: {plan.name}: {what}; to forget all earlier runs, remove {files}")
            configurations[i] = replace(configuration, plans=plans)
        gc.freeze()  # otherwise Python's collector goes through all imported objects again and again
        gc.set_threshold(50_000)  # a search makes and drops millions of objects, of which hardly any are in cycles
        return audit_and_report(configurations, options, journals, baselines)


def _load_libraries() -> None:
    """Import what bounds and pages need, in the half second while workers start."""
    with contextlib.suppress(Exception):  # an error is raised again when the library is used
        importlib.import_module("scipy.special")
        pkgutil.resolve_name("auditor.report.plots:load_matplotlib")()


def _baselines(files: Sequence[Path], names: Sequence[str]) -> dict[str, tuple[Path, RunResult]]:
    """Return the baselines of a run, each with its file, by the names of the configurations.

    If there are any, each configuration needs exactly one. Raises InvalidInputError otherwise, and if events are not comparable.
    """
    baselines: dict[str, tuple[Path, RunResult]] = {}
    for file in files:
        report = read_report(file)
        for audit in report.audits:
            shown(audit, FALSE_RISE)  # an error is raised now, and not after hours
        if report.name not in names:
            raise InvalidInputError(f'baseline {file} is a report of "{report.name}"; the run is of {", ".join(names)}')
        if report.name in baselines:
            raise InvalidInputError(f'baselines {baselines[report.name][0]} and {file} are both of "{report.name}"')
        baselines[report.name] = file, report
    missing = [name for name in names if name not in baselines]
    if files and missing:
        raise InvalidInputError(f'"{missing[0]}" has no baseline; give its report.json by --baseline as well')
    return baselines


def _enter(report: Path, name: str, journal: Store) -> None:
    """Record the report in a configuration's folder as that of a run that ended, if it shows a violation.

    Usually it is the last run's report. Otherwise it was copied here, or its run was killed at the end. A report
    without a violation settles nothing, and is not entered.
    """
    try:
        run = read_report(report) if report.exists() else None
    except AuditorError as error:
        warn(f"note: the earlier report is not looked at: {error}; the reports in {journal.path} are looked at")
        return
    if run is None:
        return
    if run.name != name:
        warn(
            f'note: {report} is not looked at, since it is a report of "{run.name}"; the reports in {journal.path} are'
        )
    elif any(audit.verdict is Verdict.VIOLATION for audit in run.audits):
        journal.enter(report.read_text(encoding="utf-8"))


def _violations(configuration: Configuration, journal: Store) -> dict[str, str]:
    """Return the unexpected violations of earlier runs, each as text, by the name of the audit.

    For each audit, the last run that answered its claim counts. So no violation is forgotten because of a run without
    an answer, of other audits (--only), or of another claim. If a violation cannot be counted again, earlier ones are
    considered.
    """
    open_plans = {plan.name: plan for plan in configuration.plans}
    red, unfit, notes = dict[str, AuditResult](), dict[str, AuditResult](), dict[str, None]()
    for run in _earlier_runs(journal):
        for audit in run.audits:
            plan = open_plans.get(audit.name)
            if plan is None or audit.verdict is Verdict.INCONCLUSIVE:
                continue
            is_violation = audit.verdict is Verdict.VIOLATION
            if is_violation and not audit.expected is plan.expect is Verdict.VIOLATION:
                with_it, why = with_violation(plan, audit)
                if why:
                    notes[f"note: {plan.name}: the violation of the earlier report is not looked at first: {why}"] = (
                        None
                    )
                if with_it.least:
                    known = unfit.get(plan.name, audit)
                    unfit[plan.name] = max(known, audit, key=lambda each: each.outputs.bound)
                if with_it.earlier is None and why:
                    continue
                red[plan.name] = audit
                del open_plans[plan.name]
            elif audit.claim == plan.claim:
                del open_plans[plan.name]
        if not open_plans:
            break
    for note in notes:
        warn(note)
    return {name: as_text(audit) for name, audit in {**unfit, **red}.items()}


def _earlier_runs(journal: Store) -> Iterator[RunResult]:
    """Yield the reports of earlier runs, the last first. A note names each that cannot be read."""
    for text in journal.reports():
        try:
            with fitting("it is spoilt"):
                run = run_from_text(text)
        except AuditorError as error:
            warn(f"note: a report in {journal.path} is not looked at: {error}")
            continue
        yield run
