"""`auditor run` and `auditor replay`: carry out audits, print the results, write reports."""

import argparse
import contextlib
import gc
import importlib
import itertools
import os
import pkgutil
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from rich.console import Console

from auditor.accountants.auditing import AccountantPlan
from auditor.accountants.outcome import AccountantResult, settings_words
from auditor.auditing.consistent import read_report
from auditor.auditing.earlier import as_text
from auditor.auditing.outcome import settle
from auditor.auditing.parallel import run_all, stop_all
from auditor.auditing.plan import journalled, remembering, with_violation
from auditor.auditing.remeasure import remeasured
from auditor.blackbox.store import Store
from auditor.cli.common import (
    STATUS,
    all_to_stderr,
    load_all,
    make_folder,
    naming,
    open_console,
    say,
    selected,
    warn,
    write_to,
)
from auditor.cli.options import AS_EXPECTED, NO_ANSWER, STANDARD_OUTPUT, UNEXPECTED
from auditor.cli.progress import ProgressLines
from auditor.cli.replay_check import check_report
from auditor.cli.stored import add_to_summary, annotate, read_baselines, show_changes
from auditor.config.load import Configuration
from auditor.config.recordings import find_recordings, record
from auditor.config.run_identity import identity, inputs
from auditor.errors import AuditorError, InvalidInputError, visible
from auditor.foreign_code import ForeignCode
from auditor.report.accountant_words import few_words
from auditor.report.ci import annotations, to_junit
from auditor.report.compare import compare
from auditor.report.formats import FORMATS, write_reports
from auditor.report.markdown import to_markdown
from auditor.report.phrases import closing_line, closing_line_of_all, weak_words
from auditor.report.terminal import escaped, print_result
from auditor.results.files import to_json
from auditor.results.reader import fitting, run_from_text
from auditor.results.result import AuditResult, Comparison, RunResult
from auditor.verdict import Verdict

# The store next to the report: the finished work of a run, and the reports of runs that ended.
RUNS = "runs.sqlite"
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
    baselines = read_baselines(options.baseline, [configuration.name for configuration in configurations])
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
        return _audit(configurations, options, journals, baselines)


def _load_libraries() -> None:
    """Import what bounds and pages need, in the half second while workers start."""
    with contextlib.suppress(Exception):  # an error is raised again when the library is used
        importlib.import_module("scipy.special")
        pkgutil.resolve_name("auditor.report.plots:load_matplotlib")()


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
                    unfit[plan.name] = max(known, audit, key=lambda one: one.outputs.bound)
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


def replay(options: argparse.Namespace) -> int:
    """Run recorded configurations again."""
    if options.check is not None:
        return check_report(options.check, options.recording, runs_code=options.run_code)
    replays = find_recordings(options.recording, runs_code=options.run_code)
    with contextlib.ExitStack() as opened:
        for replay in replays:
            opened.enter_context(contextlib.closing(replay))
        for replay in replays:
            folder = options.out / replay.name
            if (folder / RUNS).exists():
                raise InvalidInputError(
                    f"{folder} holds the reports of runs, and a replay is no run; name another folder by --out"
                )
            make_folder(folder)
        return _audit(replays, options, [], {})[0]


def _audit(
    configurations: list[Configuration],
    options: argparse.Namespace,
    journals: Sequence[Store],
    baselines: dict[str, tuple[Path, RunResult]],
) -> tuple[int, list[RunResult]]:
    if options.json is not None and len(configurations) != 1:
        raise InvalidInputError(f"--json takes the report of one configuration; this run has {len(configurations)}")
    to_stdout = [option for option in ("json", "junit") if str(getattr(options, option)) == STANDARD_OUTPUT]
    if len(to_stdout) == 2:
        raise InvalidInputError("--json and --junit both go to standard output; name a file for one of them")
    _look_at_targets(options, configurations)
    here = Path.cwd()
    results = list[RunResult]()
    with contextlib.ExitStack() as opened:
        if to_stdout:
            opened.enter_context(all_to_stderr())
        console = open_console(options.quiet)
        found = opened.enter_context(contextlib.closing(_run_files(configurations, console, strict=options.strict)))
        for configuration, ended in zip(configurations, found, strict=True):
            os.chdir(here)  # a mechanism that runs in this process may have changed the folder
            result, folder = ended, options.out / configuration.name
            result = _with_reports(result, folder)
            if (
                baselines
            ):  # the report is written already, since the comparison draws outputs, which may take long or fail
                compared = _compared(result, configuration, *baselines[configuration.name], options)
                result = _with_reports(replace(result, compared=compared, missing=()), folder)
            if lacks := add_to_summary(partial(to_markdown, result)):
                result = _with_reports(replace(result, missing=(*result.missing, *lacks)), folder)
            print_result(result, console)
            page = folder / "report.html"
            report = page if page.is_file() else folder / "report.json"
            console.print(visible(f"report: {report}"), markup=False, soft_wrap=True)
            if options.quiet:
                _say_in_short(result)
            _warn_of_missing(result.missing)
            if result.compared is not None:
                show_changes(result.compared)
            annotate(partial(annotations, result, str(configuration.file)))
            results.append(result)
    if unwritten := _written_to_targets(options, results):
        _warn_of_missing(unwritten)
        for i, result in enumerate(results):
            known = replace(result, missing=(*result.missing, *unwritten))
            results[i] = _with_reports(known, options.out / result.name)
        _written_to_targets(options, results, again=True)
    if len(results) > 1:
        with all_to_stderr() if to_stdout else contextlib.nullcontext():
            print()
            say(f"{closing_line_of_all(results)}; reports: {options.out}")
    # The journals end last, so that after an interruption --resume finds the finished work of every file.
    for journal, result in zip(journals, results if journals else (), strict=True):  # a replay has no journals
        journal.end(to_json(result.to_dict()))
    statuses = [STATUS[result.end] for result in results]
    return max(statuses, key=[AS_EXPECTED, NO_ANSWER, UNEXPECTED].index), results


def _with_reports(result: RunResult, folder: Path) -> RunResult:
    """Write the reports of a run. Return it with the files that could not be written, which the others name and its end counts."""
    for _ in FORMATS:
        missing = tuple(dict.fromkeys([*result.missing, *write_reports(result, folder)[1]]))
        if missing == result.missing:
            break
        result = replace(result, missing=missing)
    return result


def _warn_of_missing(files: Sequence[str]) -> None:
    for why in files:
        warn(f"{why}; no verdict changes, but the exit status is not {AS_EXPECTED}")


def _look_at_targets(options: argparse.Namespace, configurations: list[Configuration]) -> None:
    """Make the folders for --json and --junit. Raises InvalidInputError if a target is a folder or another file of the run."""
    own = [RUNS, "report.json", *(form.file for form in FORMATS if form.file)]
    taken = {one.file.resolve() for one in configurations}
    taken |= {(options.out / one.name / name).resolve() for one in configurations for name in own}
    for option in ("json", "junit"):
        target = getattr(options, option)
        if target is None or str(target) == STANDARD_OUTPUT:
            continue
        make_folder(Path(target).parent)
        file = Path(target).resolve()
        if file in taken or file.is_dir():
            what = "is a folder" if file.is_dir() else "is another file of this run"
            raise InvalidInputError(f"--{option} {target} {what}; give another name")
        if file.is_file() or not file.exists():  # both options may name the same device
            taken.add(file)


def _written_to_targets(options: argparse.Namespace, results: list[RunResult], *, again: bool = False) -> list[str]:
    """Write --json and --junit, ``again`` only where they are files. Return a message for each that cannot be written."""
    forms: dict[str, Callable[[], str]] = {
        "json": lambda: to_json(results[0].to_dict()),
        "junit": lambda: to_junit(*results),
    }
    missing = []
    targets = {option: target for option in forms if (target := getattr(options, option)) is not None}
    for option, target in targets.items():
        if again and not Path(target).is_file():
            continue
        try:
            with ForeignCode(f"what makes --{option}", passes=(OSError,)):
                write_to(str(target), forms[option]())
        except BrokenPipeError:
            raise
        except (OSError, InvalidInputError) as error:
            why = f"it cannot be written: {error.strerror}" if isinstance(error, OSError) else str(error)
            missing.append(f"{target} is missing: {why}")
    return missing


def _compared(
    result: RunResult, configuration: Configuration, file: Path, baseline: RunResult, options: argparse.Namespace
) -> Comparison:
    """Return the changes since the baseline, read from a file, in the audits that were run."""
    plans = {plan.name: plan for plan in configuration.plans}
    names = set(configuration.names)
    asked = [audit for audit in baseline.audits if not options.only or audit.name in names]
    accountants = [one for one in baseline.accountants if not options.only or one.name in names]
    with contextlib.chdir("."):
        changes = compare(
            replace(baseline, audits=asked, accountants=accountants),
            result,
            lambda earlier, outputs: remeasured(plans[earlier.name], earlier, outputs),
            options.may_rise,
        )
    return Comparison(str(file), changes, options.strict)


def _run_files(
    configurations: Sequence[Configuration], console: Console, *, strict: bool
) -> Generator[RunResult, None, None]:
    """Yield the result of each file. Workers go on with the next files while the caller writes the report of one."""
    plans = [plan for configuration in configurations for plan in configuration.plans]
    try:
        with ProgressLines(console, plans) as lines:
            found, begun = run_all(plans, lines.show), time.monotonic()
            for configuration in configurations:
                audits = []
                console.print(f"\n[bold]{escaped(configuration.name)}[/] ({escaped(str(configuration.file))})")
                for audit in itertools.islice(found, len(configuration.plans)):
                    lines.end(audit.plan.name)
                    if not console.is_terminal:
                        result = audit.result()
                        line = f"  {visible(result.name)}: {result.stop_reason}, {result.seconds:.1f} s"
                        console.print(line, markup=False)
                    audits.append(audit)
                judged = settle(audits, 1 - configuration.confidence, configuration.sharing_budget)
                settled = [replace(result, strict=strict) for result in judged]
                accountants = [
                    replace(_of_accountant(plan, console, lines), strict=strict) for plan in configuration.accountants
                ]
                now = time.monotonic()
                seconds = now - begun
                yield RunResult(configuration.name, configuration.confidence, settled, seconds, accountants=accountants)
                begun = now
    except BaseException:
        for configuration in configurations:
            configuration.close()  # before stop_all, so that stopped processes are not kept as failures of a mechanism
        stop_all()
        raise


def _of_accountant(plan: AccountantPlan, console: Console, lines: ProgressLines) -> AccountantResult:
    """Carry out the audit of an accountant, and print a line where no terminal shows progress."""
    lines.begin(plan.name, "comparing with exact numbers")
    result = plan.carry_out()
    lines.end(plan.name)
    if not console.is_terminal:
        tried = settings_words(result.coverage.tried)
        console.print(f"  {visible(result.name)}: {tried} of its parameters, {result.seconds:.1f} s", markup=False)
    return result


def _say_in_short(result: RunResult) -> None:
    say(closing_line(result, timed=True))
    for accountant in result.accountants:
        if accountant.verdict == "inconclusive":
            say(f"{accountant.name}: no answer: {accountant.reason}")
        if accountant.weak:
            warn(f"{accountant.name}: weak: {few_words(accountant)}")
    for audit in result.audits:
        if audit.verdict == "inconclusive":
            say(f"{audit.name}: no answer: {audit.stop_reason}")
        if audit.weak:
            warn(f"{audit.name}: weak: {weak_words(audit)}")
