"""The command line. Only this package prints, and only this package ends the program.

The module of a command is imported when the command is called, so that ``auditor --help`` answers at once.
"""

import argparse
import contextlib
import errno
import io
import os
import shlex
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator, Sequence
from pkgutil import resolve_name
from typing import NoReturn

from auditor.blackbox.forking import prepare
from auditor.blackbox.process import keep_memory
from auditor.cli.log_guard import guarded_log
from auditor.cli.options import BAD_INPUT, INTERRUPTED, NO_ANSWER, NOBODY_READS, TERMINATED, all_commands
from auditor.defaults import ONE_THREAD
from auditor.errors import AuditorError, InvalidInputError, MachineError, fitted, visible
from auditor.foreign_code import Stopped, describe_error, exits_refused, is_stopped, refused_by_machine, stoppable

# The commands of earlier versions, and what to write instead.
INSTEAD = {
    "probe": "`auditor run`, which plants faults after a pass",
    "measure": "`auditor run` on an audit without a `claim`",
    "recount": "`auditor replay DIR --check REPORT.json`",
    "sweep": "`python -m auditor.libraries`",
    "list": "`python -m mechanisms`",
    "self-check": "`python -m benchmarks self_check`",
}
# The options that `auditor` does not have, or no longer has, and what to do instead.
INSTEAD_OF_OPTION = {
    "--html": "`auditor run` writes report.html anyway; `auditor show REPORT.json --html FILE` writes another",
    "--markdown": "`auditor run` writes summary.md anyway; `auditor show REPORT.json --markdown FILE` writes another",
    "--stages": "report.html and report.json list the stages of a search, with the outputs that each took",
}


def command() -> NoReturn:
    """Run the command line as a program that foreign code cannot end, since its exit status would be taken for the command's."""
    # NumPy reads these variables when it is imported. Threads of libraries would take a fifth of the time of all audits.
    os.environ.update({**ONE_THREAD, **os.environ})
    if "run" in sys.argv[1:2]:
        prepare()  # while this process imports what the command needs, the template does
    keep_memory()
    vars(os).update(exits_refused())
    raise SystemExit(main())  # not sys.exit, which foreign code may have replaced


def main(arguments: Sequence[str] | None = None, parser: argparse.ArgumentParser | None = None) -> int:
    """Run one command and return the exit status. The command is one of ``parser``, by default of `auditor`.

    0: every audit ended as expected. 1: an unexpected violation, or an expected one not found. 2: the configuration or the
    command line is wrong. 3: no answer, and nothing worse. 4: `prove` proved the claim for the listed pairs only. 5: `replay
    --check` found no difference, but could not check all. 130 and 143: ended by SIGINT or SIGTERM. 141: the reader of the
    output closed it early.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a result must not be lost if the terminal cannot show ε
    # joblib warns if shared memory is missing. What the auditor uses of joblib then raises an error that says why.
    warnings.filterwarnings("ignore", message=".*joblib will operate in serial mode")
    with guarded_log():
        return _ended(arguments, parser)


def _ended(arguments: Sequence[str] | None, parser: argparse.ArgumentParser | None) -> int:
    try:
        try:
            return _run(_parsed(arguments, parser))
        finally:
            with contextlib.suppress(AttributeError, ValueError):  # stdout is None, or foreign code closed it
                sys.stdout.flush()
    except OSError as error:
        # Otherwise Python would write the rest of the buffer at exit, and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOBODY_READS if isinstance(error, BrokenPipeError) else _ended_by(error, with_traceback=False)


def _parsed(arguments: Sequence[str] | None, parser: argparse.ArgumentParser | None) -> argparse.Namespace:
    given = sys.argv[1:] if arguments is None else arguments
    if parser is None:
        parser = all_commands()
        command = next((word for word in given if not word.startswith("-")), "")
        if command in INSTEAD:
            parser.error(f'there is no command "{command}"; write {INSTEAD[command]}')
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        hint = ""
        if words := getattr(options, "mechanism", None):
            program = [word for word in given[given.index("init") + 1 :] if word in {*words, *unknown}]
            hint = f'; options of a command go behind "--": auditor init -- {shlex.join(program)}'
        options_given = [word.partition("=")[0] for word in unknown]
        hint = next((f"; {INSTEAD_OF_OPTION[name]}" for name in options_given if name in INSTEAD_OF_OPTION), hint)
        parser.error(f"unrecognized arguments: {shlex.join(unknown)}{hint}")
    return options


def _run(options: argparse.Namespace) -> int:
    lost = list[BaseException]()
    try:
        with stoppable(signal.SIGINT, signal.SIGTERM), _awake(lost):
            run = options.command
            status: int = (resolve_name(run) if isinstance(run, str) else run)(options)
    except BrokenPipeError:
        raise
    except Exception as error:  # Python's exit status would be 1, which says that a violation was found
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            error = InvalidInputError(f"{visible(error.filename, 80)}: {error.strerror}; give a shorter name")
        return _ended_by(error, options.traceback)
    except SystemExit as error:  # its status would be taken for that of the command
        left = InvalidInputError(f"{describe_error(error)}; no verdict. Code that is audited must return or raise")
        return _ended_by(left, options.traceback)
    except KeyboardInterrupt as stopped:
        if lost:
            return _ended_by(MemoryError(), options.traceback)
        print(
            "auditor: interrupted; finished work is kept, and the same command with --resume continues from there",
            file=sys.stderr,
        )
        return TERMINATED if isinstance(stopped, Stopped) and stopped.number == signal.SIGTERM else INTERRUPTED
    return status


def _ended_by(error: Exception, with_traceback: bool) -> int:
    """Print why there is no answer, and for a defect of the auditor also the traceback. Return the exit status."""
    refused = refused_by_machine(error)
    if with_traceback or not (refused or isinstance(error, AuditorError)):
        traceback.print_exc()
    go_on = "no verdict. Make room, or name another folder; --resume goes on with a run"
    lines: Sequence[object] = ("internal error (above); no verdict. Please report it",)
    if isinstance(error, MachineError):
        lines = (f"{error}; {go_on}",)
    elif isinstance(error, AuditorError):
        lines = error.args
    elif isinstance(refused, OSError):
        where = f"{refused.filename}: " if refused.filename else ""
        lines = (f"{where}{refused.strerror}; {go_on}",)
    elif refused:
        lines = ("there is not enough memory; no verdict. Lower `samples` or --workers; --resume goes on with a run",)
    for number, line in enumerate(lines):
        name = "" if number else "auditor: "
        print(fitted(name + visible(line, 5_000), sys.stderr), file=sys.stderr)
    return BAD_INPUT if isinstance(error, AuditorError) and not isinstance(error, MachineError) else NO_ANSWER


@contextlib.contextmanager
def _awake(lost: list[BaseException]) -> Iterator[None]:
    """End the command if a thread of a library ends for lack of memory, since other threads would wait for it forever.

    The error of the thread is added to ``lost``, and SIGTERM interrupts the main thread, which ends in good order.
    """

    def end(thread: threading.ExceptHookArgs) -> None:
        if not (isinstance(thread.exc_value, SystemError) or refused_by_machine(thread.exc_value)):
            before(thread)
            return
        assert thread.exc_value is not None
        lost.append(thread.exc_value)
        # A signal that comes just before the main thread begins to wait does not wake it. So the signal is repeated.
        while len(lost) == 1 and main_thread is not None and not (ended.is_set() or is_stopped()):
            signal.pthread_kill(main_thread, signal.SIGTERM)
            ended.wait(0.2)

    main_thread, before, ended = threading.main_thread().ident, threading.excepthook, threading.Event()
    if threading.current_thread() is not threading.main_thread():  # only the main thread can handle signals
        yield
        return
    vars(threading).update(excepthook=end)  # Python has no other way
    try:
        yield
    finally:
        ended.set()
        vars(threading).update(excepthook=before)
