"""Every setting, declared once: its type, default, least value and description.

The classes declare the keywords of calls. Keys of configurations and options of commands are made from the classes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict, get_args, get_type_hints

CONFIDENCE = 0.999
SAMPLES = 1_000_000
BATCH = 262_144
# −1 stands for one worker on each core.
WORKERS = -1
# Enough faults to tell a search that finds two thirds of the faults from one that finds nearly all.
PLANTED = 40
# The least number of samples. Fewer outputs cannot support a useful bound.
FEWEST = 100
# There is a worker for each core, so libraries must not start threads of their own.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"), "1")
# The least confidence of a run. With a level above one half, chance alone would refute a claim that is kept.
LEAST_CONFIDENCE = 0.5
# The largest number of planted faults. More take long, and hardly narrow the share that is found.
MOST_PLANTED = 10_000
# The largest number of samples, and of outputs for the search. More would take years and might overflow 64 bits.
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
    """The description of a setting, and its default.

    ``of_file`` is the default in a configuration, if it differs from that in a call. ``least`` is the least value.
    ``option`` is the placeholder of the value in a command's help, for a setting that is an option of commands.
    ``key`` says which part of a configuration may have the setting: the file and each audit, only an audit, or none.
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
        About("The kind of workers. loky: processes; threading: threads; dask: a Dask cluster.", "loky", option="NAME"),
    ]
    address: Annotated[
        str | None, About("The address of a Dask scheduler, such as tcp://scheduler:8786.", option="ADDRESS")
    ]
    workers: Annotated[
        int, About("The number of workers; -1 is one for each core. Changes no result.", WORKERS, option="N")
    ]
    batch: Annotated[int, About("The most outputs of a batch. It takes a few calls, or one for each output.", BATCH)]
    timeout: Annotated[
        float | None,
        About(
            "The time limit in seconds for a batch, or for an output that is drawn alone. "
            "A call that exceeds the limit counts as the output `timeout`."
        ),
    ]
    isolate: Annotated[
        bool,
        About(
            "Whether the mechanism runs outside the auditor's process, so that a crash is an output. False allows a debugger.",
            True,
        ),
    ]


class SettingsKeywords(ExecutionKeywords, total=False):
    """How an audit is carried out, as keywords of a call."""

    seed: Annotated[int, About("The seed of all randomness. Equal seeds give equal results.", 0, least=0, option="S")]
    samples: Annotated[
        int,
        About(
            "The number of outputs, of both sides together, for the bound of the last round. A refuted claim takes fewer.",
            SAMPLES,
            least=FEWEST,
            option="N",
        ),
    ]
    seconds: Annotated[
        float | None,
        About("The audit ends after S seconds, with the bound proved by then.", option="S", key="nowhere"),
    ]
    method: Annotated[
        MethodName,
        About("fixed: one interval for all guesses; two-intervals: textbook form; one-run: canaries.", "fixed"),
    ]
    search: Annotated[
        int | None, About("The most outputs for the search, over all pairs and rounds.", least=0, option="N")
    ]
    events: Annotated[
        Sequence[EventKind],
        About(
            "What events look at. values: the values of outputs; bits: the representation of floating-point numbers.",
            ("values",),
            key="audit",
        ),
    ]
    observe: Annotated[
        Sequence[ObserveKind],
        About("What an output holds besides the value: attributes, stdout, log, warnings, files.", (), key="audit"),
    ]
    planted: Annotated[
        int,
        About(
            "The number of faults that are planted in outputs after a pass. The report says which of them the search finds. "
            "With 0 no fault is planted.",
            PLANTED,
            least=0,
            option="N",
        ),
    ]
    weak: Annotated[
        str | None,
        About(
            "Why a weak pass of the audit is accepted, in a few words. It then does not fail under `--strict`, and every report "
            "shows the reason.",
            key="audit",
        ),
    ]
    sharpen: Annotated[
        bool, About("Whether a refuted claim takes all `samples`, for a sharper bound on the loss.", False)
    ]
    shrink: Annotated[
        bool,
        About(
            "Whether to look for the smallest pair that still breaks a refuted claim, and for what hides behind the violation.",
            True,
        ),
    ]
    prove: Annotated[
        Prove,
        About(
            "Whether to try to prove the claim of a Python mechanism, or to refute it by calculation. true: beside the "
            "audit; only: instead of the audit; briefly: beside the audit, for 3 s of processor time, and reported only if "
            "proved or refuted.",
            False,
            # Calls in Python try no proof by default, since their audits are often shorter than an attempt.
            of_file="briefly",
        ),
    ]


class RunKeywords(SettingsKeywords, total=False):
    """The settings that may replace those of a configuration."""

    confidence: Annotated[
        float,
        About(
            "The least probability that no mechanism of the file is wrongly said to violate its claim.",
            CONFIDENCE,
            option="C",
            key="nowhere",
        ),
    ]


def settings(declared: type[Any]) -> Iterator[tuple[str, Any, About]]:
    """Yield the name, the type and the description of each setting that a class declares.

    >>> next(name for name, _, about in settings(SettingsKeywords) if about.least == FEWEST)
    'samples'
    """
    for name, hint in get_type_hints(declared, include_extras=True).items():
        kind, about = get_args(hint)
        yield name, kind, about
