"""The options of all commands. A command is loaded when it is called, so that ``auditor --help`` answers at once."""

import argparse
import contextlib
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args, get_origin

import shtab

from auditor import __version__
from auditor.defaults import CONFIDENCE, RunKeywords, settings
from auditor.report.formats import FORMATS

AS_EXPECTED, UNEXPECTED, BAD_INPUT, NO_ANSWER, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143
PROVED_FOR_PAIRS = 4  # `auditor prove` proved the claim for the listed pairs, but not for the whole domain
NOT_ALL_CHECKED = (
    5  # `auditor replay --check` found no difference, but a verdict rests on a proof that was not made again
)
NOBODY_READS = 141  # the status of a command that SIGPIPE ends
STANDARD_OUTPUT = "-"
# Adds a command: its name, its function "module:function" in auditor.cli, and its help.
_Add: TypeAlias = Callable[..., argparse.ArgumentParser]


def all_commands() -> argparse.ArgumentParser:
    """Return the parser of `auditor`."""
    parser = _Parser(
        prog="auditor",
        description="Audit differential-privacy claims of black-box mechanisms. Bounds are proved, with stated confidence.",
        epilog="exit status: 0 as expected, 1 not as expected, 2 wrong configuration or command line, 3 no answer, "
        "4 proved for pairs only, 5 checked in part only",
    )
    parser.add_argument("--version", action="version", version=f"auditor {__version__}")
    parser.add_argument("--traceback", action="store_true", help="show the full traceback of an error")
    completion = 'print completion for a shell; in ~/.bashrc: eval "$(auditor --print-completion bash)"'
    shtab.add_argument_to(parser, help=completion)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def add(name: str, function: str, words: str, **more: Any) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=words, **more)
        added.set_defaults(command=f"auditor.cli.{function}")
        return added

    for several in (_runs, _checks, _compare, _writing, _scores, _exact):
        several(add)
    for command in commands.choices.values():  # allowed after the command too; SUPPRESS keeps one before the command
        command.add_argument("--traceback", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    return parser


class _Parser(argparse.ArgumentParser):
    """A parser that lets the shell complete paths by names of files. So do the parsers of its commands."""

    def add_argument(self, *names: str, **options: Any) -> argparse.Action:
        action = super().add_argument(*names, **options)
        if action.type is Path:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        return action


def _configs(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Add the argument for configuration files to a command."""
    parser.add_argument("configs", nargs="+", type=Path, metavar="CONFIG")
    return parser


# The settings that are options, with their types. An option replaces the setting of a file.
OPTIONS = {name: (kind, about) for name, kind, about in settings(RunKeywords) if about.option}


def add_settings(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add options for the named settings to a command, by default for all settings in OPTIONS."""
    for name in names or OPTIONS:
        kind, about = OPTIONS[name]
        said = about.text[0].lower() + about.text[1:].rstrip(".")
        if get_origin(kind) is Literal:
            parser.add_argument(f"--{name}", choices=get_args(kind), help=said)
        else:
            read = next(number for number in (int, float, str) if number in (get_args(kind) or (kind,)))
            parser.add_argument(f"--{name}", type=_integer if read is int else read, metavar=about.option, help=said)


def _integer(text: str) -> int:
    """Read an integer, which may be written as 1e4."""
    with contextlib.suppress(ValueError):
        return int(text)
    with contextlib.suppress(ValueError):
        if (number := float(text)).is_integer():
            return int(number)
    raise argparse.ArgumentTypeError(f"invalid int value: {text!r}")


def add_ending(parser: argparse.ArgumentParser, folder: str = "reports") -> None:
    """Add the options for what a run writes and prints, and for its exit status."""
    out = f"reports go to DIR/<config name>/; by default {folder}"
    parser.add_argument("--out", type=Path, default=Path(folder), metavar="DIR", help=out)
    elsewhere = f"{STANDARD_OUTPUT} is standard output, and all else then goes to standard error"
    parser.add_argument(
        "--junit", type=Path, metavar="FILE", help=f"also write the results as JUnit's XML to FILE; {elsewhere}"
    )
    strict = "end with exit status 1 if a pass is weak, unless its audit accepts that by `weak`, or with --baseline if something "
    strict += "could not be compared"
    parser.add_argument("--strict", action="store_true", help=strict)
    parser.add_argument("--quiet", action="store_true", help="print the closing lines only")
    parser.add_argument("--json", metavar="FILE", help=f"also write report.json to FILE; {elsewhere}")


def _may_rise(parser: argparse.ArgumentParser) -> None:
    """Add the option that says how far a loss may rise."""
    what = "let the loss on the earlier event rise by this share of the claim; by default 0, so any rise beyond chance fails. "
    what += "inf lets any rise pass, and reports it"
    parser.add_argument("--may-rise", type=_share, default=0.0, metavar="SHARE", help=what)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not share >= 0:
        raise argparse.ArgumentTypeError(f"it is {text!r}; it must be a number of at least 0, or inf")
    return share


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"it is {text!r}; it must be a number of seconds above 0, such as 0.002")
    return seconds


def _runs(add: _Add) -> None:
    run = _configs(add("run", "run_command:run", "run the audits of configuration files"))
    only = "run only the audit NAME, or all audits with NAME in their names (may be repeated)"
    run.add_argument("--only", action="append", metavar="NAME", help=only)
    add_settings(run)
    run.add_argument(
        "--resume",
        action="store_true",
        help="continue a run that was interrupted; if none was, run from the start, on the same outputs",
    )
    earlier = "an earlier report.json of the same configuration; fail if something got worse since"
    run.add_argument("--baseline", action="append", default=[], type=Path, metavar="FILE", help=earlier)
    _may_rise(run)
    run.add_argument("--record", type=Path, metavar="DIR", help="keep all outputs in DIR, for `auditor replay`")
    add_ending(run)

    what = "run the audits of `auditor run --record DIR` again, on the outputs kept in DIR"
    replay = add("replay", "replay_command:replay", what)
    replay.add_argument("recording", type=Path, metavar="DIR")
    checked = "make this report again from the recording, and compare the two"
    replay.add_argument("--check", type=Path, metavar="REPORT.json", help=checked)
    with_code = "run the functions and objects that make data sets or claims, if the recording names any"
    replay.add_argument("--run-code", action="store_true", help=with_code)
    add_ending(replay, "replays")

    words = "show a stored report again, as a table, a page, Markdown or JUnit's XML"
    show = add("show", "show_command:show", words)
    show.add_argument("report", type=Path, metavar="REPORT.json")
    for form in FORMATS:
        what = f"write {form.noun} to FILE instead ({STANDARD_OUTPUT} for standard output)"
        show.add_argument(f"--{form.option}", metavar="FILE", help=what)


def _checks(add: _Add) -> None:
    words = "validate configurations: import, build pairs, draw one output from each side"
    _configs(add("check", "check_command:check", words))
    words = "before any sampling: the violations that the audit can detect, and the outputs needed"
    plan = _configs(add("plan", "plan_command:plan", words))
    add_settings(plan, "samples")
    pace = "the seconds of an output, as `auditor check` measures them: also say how long each audit takes, and what "
    pace += "five minutes are enough for"
    plan.add_argument("--pace", type=_seconds, metavar="S", help=pace)

    words = "try to prove the claims of a configuration's Python mechanisms"
    prove = _configs(add("prove", "prove_command:prove", words))
    prove.add_argument("--seconds", type=float, default=30.0, metavar="S", help="time limit for each audit")
    prove.add_argument("--out", type=Path, metavar="DIR", help="write certificates to DIR/<config name>/")
    words = "check certificates, without the mechanism and without the prover"
    check = add("check-proof", "check_proof_command:check_proof", words)
    check.add_argument("certificates", nargs="+", type=Path, metavar="FILE")
    retrace = "read the function again, which imports its module, and compare the paths"
    check.add_argument("--retrace", action="store_true", help=retrace)


def _compare(add: _Add) -> None:
    words = "compare two reports: changes for the worse and for the better; fails if something got worse"
    compare = add("compare", "compare_command:compare_reports", words)
    compare.add_argument("old", type=Path, metavar="OLD.json")
    compare.add_argument("new", type=Path, metavar="NEW.json")
    _may_rise(compare)
    compare.add_argument("--strict", action="store_true", help="fail as well if something could not be compared")


def _writing(add: _Add) -> None:
    init = add("init", "init_command:init", "write a first configuration for a mechanism, by looking at it")
    of = "file.py:function or module:object, one or more; or a command, after `--` if its arguments begin with a dash"
    init.add_argument("mechanism", nargs="*", metavar="MECHANISM", help=of)
    of = "MECHANISM is a function that states ε, δ or another number of a process from its parameters, or a calibration"
    init.add_argument("--accountant", action="store_true", help=of)
    step = "instead of a mechanism: write a module with a step of training, and a configuration that audits it"
    init.add_argument("--step", choices=("opacus", "jax-privacy"), help=step)
    of_round = "instead of a mechanism: write a module with a round of federated learning, and a configuration"
    init.add_argument("--round", choices=("flwr", "nvflare", "pfl"), help=of_round)
    init.add_argument("-o", "--out", type=Path, default=Path("audit.yaml"), metavar="FILE", help="default: audit.yaml")
    init.add_argument("--force", action="store_true", help="overwrite an existing file")
    words = "print the JSON Schema of configurations, for completion in editors"
    more = "Print the JSON Schema of configurations, for editors with a YAML language server. Name its file in the first line of a "
    more += "configuration:  # yaml-language-server: $schema=schema.json"
    add("schema", "schema_command:schema", words, description=more)


def _scores(add: _Add) -> None:
    words = "bound ε, μ and δ from scores of canaries inside and outside the data"
    scores = add("scores", "scores_command:scores", words)
    inside = "scores of canaries in the data: .npy, .csv, .json or .parquet"
    scores.add_argument("inside", metavar="INSIDE", help=inside)
    outside = "scores of canaries not in the data; FILE:COLUMN if there are several columns"
    scores.add_argument("outside", metavar="OUTSIDE", help=outside)
    origin = "how the scores arose: each in a run of its own; all in one run, with a fair coin for each canary; "
    origin += "or all in one run in which no canary affects another"
    origins = ("independent-runs", "one-run", "one-run-apart")
    scores.add_argument("--from", dest="origin", required=True, choices=origins, help=origin)
    at = "the δ at which ε is bounded; 1e-5 by default"
    scores.add_argument("--delta", type=float, default=1e-5, metavar="D", help=at)
    scores.add_argument("--confidence", type=float, default=CONFIDENCE, metavar="C", help=f"{CONFIDENCE} by default")
    scores.add_argument("--guesses", type=int, nargs="+", metavar="K", help="the number of surest guesses that count")
    curve = (
        "hold the scores of independent runs against a trade-off curve: a file of points (alpha, beta), .csv or .json"
    )
    scores.add_argument("--tradeoff", metavar="FILE", help=curve)
    scores.add_argument("--json", action="store_true", help="print JSON")


def _exact(add: _Add) -> None:
    words = "the exact δ, ε, Rényi divergence or μ of a process that is known, as an interval, without any output"
    exact = add("exact", "exact_command:exact", words)
    file = "a YAML file with the keys of a process, named as the options, or a list of such mappings under `processes`"
    exact.add_argument("process", nargs="?", type=Path, metavar="FILE", help=file)
    asked = exact.add_mutually_exclusive_group(required=True)
    asked.add_argument("--delta", type=float, metavar="D", help="ask for ε at this δ")
    asked.add_argument("--epsilon", type=float, metavar="E", help="ask for δ at this ε (nats)")
    asked.add_argument("--order", type=float, metavar="A", help="ask for the Rényi divergence of this order (nats)")
    asked.add_argument("--mu", action="store_true", help="ask for the μ of Gaussian privacy")
    noises = "gaussian, laplace, discrete-gaussian, discrete-laplace, randomized-response, exponential"
    exact.add_argument("--noise", choices=noises.split(", "), help="the noise of a step")
    scale = "the standard deviation of (discrete) Gaussian noise, or the scale of (discrete) Laplace noise"
    exact.add_argument("--scale", type=float, metavar="S", help=scale)
    exact.add_argument(
        "--truth", type=float, metavar="P", help="the probability of the true value, of randomized response"
    )
    exact.add_argument(
        "--values", type=int, metavar="K", help="the number of values of randomized response; 2 by default"
    )
    weight = "the exponential mechanism chooses with probability proportional to e^(W × utility)"
    exact.add_argument("--weight", type=float, metavar="W", help=weight)
    monotone = "a record changes all utilities of the exponential mechanism in one direction"
    exact.add_argument("--monotone", action="store_true", default=None, help=monotone)
    moves = "how far a record's contribution moves the answer, in the norm of the noise; 1 by default"
    exact.add_argument("--sensitivity", type=float, metavar="X", help=moves)
    relations = ("add", "remove", "add_remove", "substitute", "zero_out")
    related = "what neighbours differ by; add_remove, the larger of both, by default. "
    related += "Under substitute, the answers lie up to twice the sensitivity apart"
    exact.add_argument("--relation", choices=relations, help=related)
    exact.add_argument("--sampling", choices=("poisson", "fixed-size", "allocation"), help="how records come to a step")
    rate = "the probability of a record to be in a step, or the share of the records that a batch has"
    exact.add_argument("--rate", type=float, metavar="Q", help=rate)
    exact.add_argument("--batches", type=int, metavar="B", help="the number of batches of a pass, of an allocation")
    times = "in how many batches of a pass each record is; 1 by default, which is shuffling"
    exact.add_argument("--times", type=int, metavar="K", help=times)
    exact.add_argument("--steps", type=int, metavar="T", help="the number of steps, or of passes; 1 by default")
    narrow = "the relative width of an interval that is narrow enough; 0.01 by default"
    exact.add_argument("--precision", type=float, default=0.01, metavar="W", help=narrow)
    exact.add_argument("--json", action="store_true", help="print JSON")
