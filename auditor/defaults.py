"""Every setting, declared once: its type, its default, its least value, and what it is for.

Keywords of calls are these types. The keys of configurations and the options of commands are made from them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict, get_args, get_type_hints

CONFIDENCE = 0.999
SAMPLES = 1_000_000
BATCH = 65_536
# −1 is one for each core.
WORKERS = -1
# Enough to tell a search that sees two thirds of the faults from one that sees nearly all.
PLANTED = 40
# Fewer outputs cannot support a useful bound.
FEWEST = 100
# There is a worker for each core, so libraries must not start threads of their own.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"), "1")
# More would take years, and 64 bits could not count them in all.
MOST = 10**15

MethodName = Literal["fixed", "two-intervals", "one-run"]
BackendName = Literal["loky", "threading", "dask"]
EventKind = Literal["values", "bits"]
VALUES: EventKind = "values"
BITS: EventKind = "bits"
ObserveKind = Literal["attributes", "stdout", "log", "warnings", "files"]
Prove = bool | Literal["only", "briefly"]


@dataclass(frozen=True, slots=True)
class About:
    """The purpose of a setting, in a sentence, and its default.

    ``of_file`` is the default of a configuration, if it is a different one.
    ``least`` is the least value. ``option`` is what the help of a command shows for the value, for a setting that is an option.
    ``key`` says where a configuration may set it: in the file and again in an audit; in an audit only; or nowhere.
    """

    text: str
    default: Any = None
    least: float | None = None
    option: str | None = None
    key: Literal["file", "audit", "nowhere"] = "file"
    of_file: Any = None


class ExecutionKeywords(TypedDict, total=False):
    """How outputs are drawn, as keywords of a call."""

    backend: Annotated[
        BackendName,
        About("How workers run: processes of this machine (loky), threads, a Dask cluster.", "loky", option="NAME"),
    ]
    address: Annotated[
        str | None, About("Where the scheduler of a Dask cluster is, such as tcp://scheduler:8786.", option="ADDRESS")
    ]
    workers: Annotated[
        int, About("How many workers there are; -1 is one for each core. Changes no result.", WORKERS, option="N")
    ]
    batch: Annotated[int, About("The largest number of outputs in a batch; each batch takes a few calls.", BATCH)]
    timeout: Annotated[
        float | None,
        About(
            "Time limit in seconds for a batch, or for an output that is drawn alone. "
            "A call that takes longer is an output too: a timeout."
        ),
    ]
    isolate: Annotated[
        bool,
        About(
            "Whether the mechanism runs outside the auditor's process, so that a crash is an output. Set false to use a debugger.",
            True,
        ),
    ]


class SettingsKeywords(ExecutionKeywords, total=False):
    """How an audit is carried out, as keywords of a call."""

    seed: Annotated[int, About("The root of all randomness: the same seed, the same result.", 0, least=0, option="S")]
    samples: Annotated[
        int,
        About(
            "Outputs for the bound of an audit's last round, both sides together. An audit that refutes its claim takes fewer.",
            SAMPLES,
            least=FEWEST,
            option="N",
        ),
    ]
    seconds: Annotated[
        float | None,
        About("The audit ends after S seconds, with the bound proved until then.", option="S", key="nowhere"),
    ]
    method: Annotated[
        MethodName,
        About("fixed: one interval for all guesses; two-intervals: textbook form; one-run: canaries.", "fixed"),
    ]
    search: Annotated[
        int | None, About("Outputs for the search, all pairs and all rounds together.", least=0, option="N")
    ]
    events: Annotated[
        Sequence[EventKind],
        About(
            "The parts that events look at: values, and bits, the floating-point representation.",
            ("values",),
            key="audit",
        ),
    ]
    observe: Annotated[
        Sequence[ObserveKind],
        About("What outputs hold in addition to the value: attributes, stdout, log, warnings, files.", (), key="audit"),
    ]
    planted: Annotated[
        int,
        About(
            "How many faults are planted in outputs after a pass. The report names the faults that the search finds. "
            "With 0 no fault is planted.",
            PLANTED,
            least=0,
            option="N",
        ),
    ]
    sharpen: Annotated[
        bool, About("Whether a refuted claim takes all `samples`, for a sharp bound on its loss.", False)
    ]
    shrink: Annotated[bool, About("Whether to look for the smallest pair that still breaks a refuted claim.", True)]
    prove: Annotated[
        Prove,
        About(
            "Whether to try a proof of a Python mechanism's claim. true: beside the audit; only: instead of the audit; "
            "briefly: for 3 seconds of the processor, reported if found.",
            False,
            # Calls in Python do not try one: their audits are often shorter than an attempt.
            of_file="briefly",
        ),
    ]


class RunKeywords(SettingsKeywords, total=False):
    """The settings that a command replaces."""

    confidence: Annotated[
        float,
        About(
            "The probability that no sound mechanism of the file raises an alarm.",
            CONFIDENCE,
            option="C",
            key="nowhere",
        ),
    ]


def settings(declared: type[Any]) -> Iterator[tuple[str, Any, About]]:
    """Yield the name, the type and the description of each setting that a class of keywords declares.

    >>> next(name for name, _, about in settings(SettingsKeywords) if about.least == FEWEST)
    'samples'
    """
    for name, hint in get_type_hints(declared, include_extras=True).items():
        kind, about = get_args(hint)
        yield name, kind, about
