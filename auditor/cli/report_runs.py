"""What `auditor run` and `auditor replay` share: carry out audits, print the results, and write the reports."""

import argparse
import contextlib
import itertools
import os
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from rich.console import Console

from auditor.accountants.auditing import AccountantPlan
from auditor.accountants.outcome import AccountantResult, settings_words
from auditor.auditing.outcome import settle
from auditor.auditing.parallel import run_all, stop_all
from auditor.auditing.remeasure import remeasured
from auditor.blackbox.store import Store
from auditor.cli.common import (
    STATUS,
    add_to_summary,
    all_to_stderr,
    annotate,
    make_folder,
    open_console,
    say,
    show_changes,
    warn,
    write_to,
)
from auditor.cli.options import AS_EXPECTED, NO_ANSWER, STANDARD_OUTPUT, UNEXPECTED
from auditor.cli.progress import ProgressLines
from auditor.config.load import Configuration
from auditor.errors import InvalidInputError, visible
from auditor.foreign_code import ForeignCode
from auditor.report.accountant_words import few_words
from auditor.report.ci import annotations, to_junit
from auditor.report.compare import compare
from auditor.report.formats import FORMATS, write_reports
from auditor.report.markdown import to_markdown
from auditor.report.phrases import closing_line, closing_line_of_all, weak_words
from auditor.report.terminal import escaped, print_result
from auditor.results.files import to_json
from auditor.results.result import Comparison, RunResult

# The store next to the report: the finished work of a run, and the reports of runs that ended.
RUNS = "runs.sqlite"


def audit_and_report(
    configurations: list[Configuration],
    options: argparse.Namespace,
    journals: Sequence[Store],
    baselines: dict[str, tuple[Path, RunResult]],
) -> tuple[int, list[RunResult]]:
    """Carry out all audits, print and write the reports, and end the journals. Return the exit status and the results.

    Raises InvalidInputError if --json or --junit cannot go where the options say.
    """
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
        ended_files = opened.enter_context(
            contextlib.closing(_run_files(configurations, console, strict=options.strict))
        )
        for configuration, ended in zip(configurations, ended_files, strict=True):
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
            complete = replace(result, missing=(*result.missing, *unwritten))
            results[i] = _with_reports(complete, options.out / result.name)
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
    taken = {configuration.file.resolve() for configuration in configurations}
    taken |= {(options.out / configuration.name / name).resolve() for configuration in configurations for name in own}
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
    accountants = [earlier for earlier in baseline.accountants if not options.only or earlier.name in names]
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
            audits_in_order, begun = run_all(plans, lines.show), time.monotonic()
            for configuration in configurations:
                audits = []
                console.print(f"\n[bold]{escaped(configuration.name)}[/] ({escaped(str(configuration.file))})")
                for audit in itertools.islice(audits_in_order, len(configuration.plans)):
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
            accepted = f"weak, accepted ({audit.accepted})" if audit.accepted else "weak"
            warn(f"{audit.name}: {accepted}: {weak_words(audit)}")
