"""The command line. Only here is anything printed, and only here does the program end.

Libraries are imported inside the commands, so that ``auditor --help`` answers at once.
"""

import argparse
import contextlib
import io
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from auditor import __version__
from auditor.errors import AuditorError, InvalidInputError, MechanismError, did_you_mean

if TYPE_CHECKING:
    from rich.console import Console

    from auditor.auditing import Plan, Progress
    from auditor.config import Configuration
    from auditor.config.load import Overrides
    from auditor.report.result import RunResult

AS_EXPECTED, UNEXPECTED, BAD_INPUT, NO_ANSWER, INTERRUPTED = 0, 1, 2, 3, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status.

    0: every audit ended as expected. 1: an unexpected violation, or an expected one not found. 2: the configuration
    or the command line is wrong. 3: no answer, and nothing worse.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that has no ε must not cost a result
    options = _parser().parse_args(arguments)
    try:
        status: int = options.command(options)
    except AuditorError as error:
        if options.traceback:
            traceback.print_exc()
        print(f"auditor: {error}", file=sys.stderr)
        return BAD_INPUT
    except Exception:  # whose own exit status, 1, would say that a violation was found
        traceback.print_exc()
        print("auditor: no answer, because of the error above, which is a defect of the auditor", file=sys.stderr)
        return NO_ANSWER
    except KeyboardInterrupt:
        print("auditor: interrupted; reports of finished configurations are written", file=sys.stderr)
        return INTERRUPTED
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="auditor",
        description="Audit differential-privacy claims of black-box mechanisms. Bounds are proved, with stated confidence.",
        epilog="exit status: 0 as expected, 1 not as expected, 2 wrong configuration or command line, 3 no answer",
    )
    parser.add_argument("--version", action="version", version=f"auditor {__version__}")
    parser.add_argument("--traceback", action="store_true", help="show the full traceback of an error")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    run = commands.add_parser("run", help="run the audits of configuration files")
    run.add_argument("configs", nargs="+", type=Path, metavar="CONFIG")
    run.add_argument("--only", action="append", metavar="NAME", help="run this audit only (may be repeated)")
    run.add_argument("--samples", type=int, metavar="N", help="outputs for the bound of each audit")
    run.add_argument("--seconds", type=float, metavar="S", help="end each sequential audit after S seconds")
    run.add_argument("--seed", type=int, metavar="S")
    run.add_argument("--workers", type=int, metavar="N", help="-1 for one for each core")
    run.add_argument("--backend", choices=["loky", "threading"])
    run.add_argument("--record", type=Path, metavar="DIR", help="keep all outputs in DIR, for `auditor replay`")
    run.set_defaults(command=_run)

    replay = commands.add_parser(
        "replay", help="run the audits of `auditor run --record DIR` again, on the outputs kept in DIR"
    )
    replay.add_argument("recording", type=Path, metavar="DIR")
    replay.set_defaults(command=_replay)

    for command in (run, replay):
        command.add_argument(
            "--out", type=Path, default=Path("reports"), metavar="DIR", help="reports go to DIR/<config name>/"
        )
        command.add_argument("--quiet", action="store_true", help="print the closing lines only")

    check = commands.add_parser(
        "check", help="validate configurations: import, build pairs, draw one output from each side"
    )
    check.add_argument("configs", nargs="+", type=Path, metavar="CONFIG")
    check.set_defaults(command=_check)

    plan = commands.add_parser(
        "plan", help="before any sampling: the violations that would be caught, and the outputs needed"
    )
    plan.add_argument("configs", nargs="+", type=Path, metavar="CONFIG")
    plan.add_argument("--samples", type=int, metavar="N", help="outputs for the bound of each audit")
    plan.set_defaults(command=_plan)

    self_check = commands.add_parser("self-check", help="measure this installation's false alarms and power")
    self_check.set_defaults(command=_self_check)

    listing = commands.add_parser("list", help="list the specimens, with document, claim, and whether it holds")
    listing.add_argument(
        "package", nargs="?", default="mechanisms", help="the package of specimens (default: mechanisms)"
    )
    listing.add_argument(
        "--reports", type=Path, metavar="DIR", help="with what the reports in DIR found, written to DIR/README.md"
    )
    listing.set_defaults(command=_list)
    return parser


def _console(quiet: bool = False) -> "Console":
    from rich.console import Console

    console = Console(quiet=quiet)
    # A log has no width of its own to wrap to.
    return console if console.is_terminal else Console(quiet=quiet, width=160)


def _overrides(options: argparse.Namespace) -> "Overrides":
    from auditor.config.load import Overrides

    return Overrides(*(getattr(options, name, None) for name in ("samples", "seed", "workers", "backend", "seconds")))


def _load(options: argparse.Namespace) -> "list[Configuration]":
    from auditor.config.load import load_configuration

    configurations = [load_configuration(file, _overrides(options)) for file in options.configs]
    names = [configuration.name for configuration in configurations]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInputError(
                f'two of the configurations are called "{name}"; their reports would overwrite each other'
            )
    return configurations


def _selected(configuration: "Configuration", only: list[str] | None) -> "list[Plan]":
    return [plan for plan in configuration.plans if not only or plan.name in only]


def _run(options: argparse.Namespace) -> int:
    from auditor.config.recordings import record

    configurations = _load(options)
    known = [plan.name for configuration in configurations for plan in configuration.plans]
    for name in options.only or ():
        if name not in known:
            raise InvalidInputError(f'no audit is called "{name}"; {did_you_mean(name, known)}')
    for configuration in configurations:
        for plan in _selected(configuration, options.only):
            # A mechanism that cannot be imported, and a folder that cannot be made, are told before any time is spent.
            with _naming(configuration, plan):
                plan.source.check()
            _make_folder(options.out / configuration.name)
    chosen = [(configuration, _selected(configuration, options.only)) for configuration in configurations]
    chosen = [(configuration, plans) for configuration, plans in chosen if plans]
    if options.record is not None:
        overrides = _overrides(options)
        chosen = [(c, record(c, plans, overrides, options.record)) for c, plans in chosen]
    return _audit(chosen, options)


def _replay(options: argparse.Namespace) -> int:
    from auditor.config.recordings import find_recordings

    replays = find_recordings(options.recording)
    for replay in replays:
        _make_folder(options.out / replay.configuration.name)
    return _audit([(replay.configuration, list(replay.plans)) for replay in replays], options)


def _audit(chosen: "list[tuple[Configuration, list[Plan]]]", options: argparse.Namespace) -> int:
    from rich.markup import escape

    from auditor.report.files import write_reports
    from auditor.report.terminal import print_result

    console = _console(options.quiet)
    statuses = []
    for configuration, plans in chosen:
        console.print(f"\n[bold]{escape(configuration.name)}[/] ({escape(str(configuration.file))})", highlight=False)
        result = _run_plans(configuration, plans, console)
        report = write_reports(result, options.out / configuration.name)
        print_result(result, console)
        console.print(f"report: {report}", highlight=False, markup=False, soft_wrap=True)
        if options.quiet:
            from auditor.report.words import closing_line

            print(closing_line(result))
        statuses.append(_status(result))
    return max(statuses, key=[AS_EXPECTED, NO_ANSWER, UNEXPECTED].index)


@contextlib.contextmanager
def _naming(configuration: "Configuration", plan: "Plan") -> Iterator[None]:
    """Say of which audit a mechanism is wrong."""
    try:
        yield
    except MechanismError as error:
        raise InvalidInputError(f'{configuration.file}, audit "{plan.name}": {error}') from None


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"reports cannot go to {folder}: {error}") from None


def _run_plans(configuration: "Configuration", plans: "list[Plan]", console: "Console") -> "RunResult":
    from rich.text import Text

    from auditor.auditing import run, settle
    from auditor.report.result import RunResult
    from auditor.report.words import bound_words

    started = time.monotonic()
    audits = []
    for plan in plans:
        with console.status(Text(f"{plan.name} …")) as status:

            def show(progress: "Progress") -> None:
                done = f"{progress.done:,} of {progress.planned:,}"
                status.update(Text(f"{progress.audit}: {progress.phase.name.lower()}, {done}"))

            audit = run(plan, show, refuse=True)
        if not console.is_terminal:
            console.print(f"  {audit.name}: {bound_words(audit)}, {audit.seconds:.1f} s", highlight=False, markup=False)
        audits.append(audit)
    settled = settle(audits, 1 - configuration.confidence, configuration.sharing_budget)
    return RunResult(configuration.name, configuration.confidence, settled, time.monotonic() - started)


def _status(result: "RunResult") -> int:
    if result.passed:
        return AS_EXPECTED
    wrong = [audit for audit in result.audits if not audit.passed]
    return NO_ANSWER if all(audit.verdict == "inconclusive" for audit in wrong) else UNEXPECTED


def _check(options: argparse.Namespace) -> int:
    from auditor.auditing import draw_once

    for configuration in _load(options):
        for plan in configuration.plans:
            with _naming(configuration, plan):
                pair, left, right = draw_once(plan)
            print(f"{configuration.file}: {plan.name}: {pair.left} {_outcome(left)}, {pair.right} {_outcome(right)}")
    return AS_EXPECTED


def _outcome(output: object) -> str:
    from auditor.blackbox.process import ProcessFailure

    told = output.told() if isinstance(output, ProcessFailure) else output
    return f"raises {type(output).__name__}: {told}" if isinstance(output, BaseException) else f"gives {told}"


def _plan(options: argparse.Namespace) -> int:
    from rich.markup import escape
    from rich.table import Table

    from auditor.auditing.planning import EXCESS, foresee
    from auditor.report.words import number

    console = _console()
    for configuration in _load(options):
        table = Table(
            title=escape(configuration.name), box=None, pad_edge=False, header_style="bold", title_justify="left"
        )
        headings = (
            "audit",
            "claim",
            "outputs",
            "event on",
            "chance",
            "smallest violation caught",
            f"outputs to catch {EXCESS:.0%} more",
        )
        for heading in headings:
            table.add_column(heading, overflow="fold")
        for plan in configuration.plans:
            rows = foresee(plan)
            if not rows:
                table.add_row(
                    escape(plan.name), str(plan.claim), "–", "–", "–", "any counterexample found settles it", "–"
                )
            for row in rows:
                needed = f"{row.needed:,.0f}" if row.needed < float("inf") else "out of reach"
                share, chance = f"{row.share:.0%} of outputs", f"{row.chance:.0%}"
                table.add_row(
                    escape(plan.name), str(plan.claim), f"{plan.samples:,}", share, chance, number(row.caught), needed
                )
        console.print(table)
    return AS_EXPECTED


def _self_check(options: argparse.Namespace) -> int:
    from auditor.selfcheck import CONFIDENCE, OUTPUTS, self_check

    print(f"audits of {OUTPUTS:,} outputs; a false alarm is allowed in {1 - CONFIDENCE:.0%} of them")
    sound = True
    for row in self_check():
        low, high = row.interval
        kind = "false alarms" if row.allowed is not None else "violations caught"
        verdict = "" if row.allowed is None else ("  as allowed" if row.sound else "  TOO MANY")
        print(
            f"{row.mechanism} with {row.truth}, claim {row.claim}, {row.method}: {row.violations} of {row.runs} {kind}"
            f" ({low:.1%} to {high:.1%}){verdict}",
            flush=True,
        )
        sound = sound and row.sound
    print(
        "this installation keeps its error rates"
        if sound
        else "this installation raises too many false alarms: do not use it"
    )
    return AS_EXPECTED if sound else UNEXPECTED


def _list(options: argparse.Namespace) -> int:
    from rich.markup import escape
    from rich.table import Table

    from auditor.specimens import list_specimens

    specimens = list_specimens(options.package)
    if options.reports is not None:
        from auditor.report.files import write_whole
        from auditor.report.rows import rows_table

        write_whole(options.reports / "README.md", rows_table(specimens, options.reports))
        print(f"written: {options.reports / 'README.md'}")
        return AS_EXPECTED
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("row", "document", "mechanism", "where", "claim", "holds"):
        # A name that is broken over two lines cannot be copied.
        table.add_column(heading, overflow="fold", no_wrap=heading == "mechanism")
    for name, statement in specimens:
        holds = "[green]yes[/]" if statement.holds else "[red]no[/]"
        cells = (str(statement.row), statement.document, name, statement.where, statement.claim)
        table.add_row(*map(escape, cells), holds)
    _console().print(table)
    return AS_EXPECTED
