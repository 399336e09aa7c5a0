"""The whole flow of one audit. Nothing here prints; progress is reported through a callback."""

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from auditor.adapters import CLAIM_RELATIONS, adapt_object, claim_of, doubts_of
from auditor.auditing.flow import run
from auditor.auditing.plan import Plan, Settings, as_audited
from auditor.blackbox.command import Command, Program
from auditor.blackbox.mechanism import PythonSource
from auditor.claims import Unclaimed
from auditor.defaults import CONFIDENCE, SettingsKeywords
from auditor.errors import InvalidInputError
from auditor.interfaces import Domain, Source
from auditor.neighbours.canaries import Canaries
from auditor.neighbours.domains import Pairs
from auditor.results.result import AuditResult
from auditor.verdict import expected_of, level_of


def audit(
    mechanism: object,
    claim: Any = None,
    neighbours: Domain | Canaries | Sequence[tuple[Any, Any]] | None = None,
    *,
    parameters: Mapping[str, Any] | None = None,
    name: str | None = None,
    confidence: float = CONFIDENCE,
    **settings: Unpack[SettingsKeywords],
) -> AuditResult:
    """Audit one mechanism against one claim.

    Args:
        mechanism: ``f(dataset, rng)``, which returns one output, or ``f(dataset, size, rng)``, which returns a batch; or its
            name, "module:function"; or ``Command(["node", "mechanism.js"])``; or an object of a library that has an
            adapter. For Dialogues, ``f(dataset, rng)`` returns a session, which is called with a question.
        claim: such as ``PureDP(1.0)``, or an event or accountant of dp-accounting; by default the claim of the
            library's object. Without a claim, the result is a lower bound on ε.
        neighbours: a domain, or a list of (left, right) pairs; by default the neighbours of the library's object.
        parameters: passed on to the mechanism as keywords; for an object, values that it does not state, such as
            ``{"size": (0, 9)}``.
        name: the audit's name; part of the seed of every output.
        confidence: the chance that a sound mechanism raises no alarm.

    Keyword Args:
        samples (int): outputs for the bound of the last round, both sides together, 1,000,000 by default; smaller
            rounds, searches and outputs to learn from are drawn in addition. A refuted claim takes fewer.
        method (str): "fixed", the default, "two-intervals", or "one-run" for Canaries.
        search (int | None): outputs for the searches over pairs; by default a share of the samples.
        sharpen (bool): whether a refuted claim takes all samples, for a sharp bound on its loss.
        seconds (float | None): a time limit. The audit then ends with the bound it has, from fewer outputs.
        events (Sequence[str]): what events may look at: "values", and "bits", the floating-point representation.
        observe (Sequence[str]): what outputs hold in addition to the value: "attributes", "stdout", "log", "warnings", "files".
        shrink (bool): whether to look for the smallest pair and a simple event that still break a refuted claim, on up to
            samples more outputs, and for what hides behind the violation, on up to as many again; not under seconds.
        planted (int): how many faults are planted in the outputs of a pass, to see which faults the same search finds.
        weak (str | None): why a weak pass is accepted, in a few words, which the report shows.
        prove (bool | str): whether to try a proof beside the sampling, for 10 seconds of the processor; or "only" a proof, for 60
            and without any outputs; or "briefly", for 3 and without a message if it fails.
        seed (int): the root of all randomness.
        workers (int): how many workers; -1, the default, is one for each core. Changes no result.
        backend (str): "loky", processes of this machine; "threading"; "dask".
        address (str | None): where the scheduler of a Dask cluster is.
        batch (int): the largest number of outputs in a batch; each batch takes a few calls; 262,144 by default.
        timeout (float | None): seconds for a batch; a timeout is an output of its own kind.
        isolate (bool): whether a crash is an output. It may share workers; after a crash it gets processes of its own.

    Raises InvalidInputError for settings out of range or unknown, MechanismError if the mechanism cannot be called.

    >>> import auditor
    >>> def leaky(dataset, size, rng):
    ...     return rng.laplace(dataset, 0.5, size)  # ε = 2
    >>> auditor.audit(leaky, auditor.PureDP(1.0), [(0, 1)], samples=20_000, seed=7, workers=1).verdict
    <Verdict.VIOLATION: 'violation'>
    """
    plan = planned(mechanism, claim, neighbours, parameters=parameters, name=name, confidence=confidence, **settings)
    return run(plan)


def planned(
    mechanism: object,
    claim: Any,
    neighbours: Domain | Canaries | Sequence[tuple[Any, Any]] | None,
    *,
    parameters: Mapping[str, Any] | None = None,
    name: str | None = None,
    confidence: float = CONFIDENCE,
    **given: Unpack[SettingsKeywords],
) -> Plan:
    """Return the plan of the audit that ``audit`` carries out with these arguments."""
    parameters = parameters or {}
    source: Source
    assumptions: tuple[str, ...] = ()
    adapted = None if isinstance(mechanism, Command | str) else adapt_object(mechanism, parameters)
    if isinstance(mechanism, Command):
        source = Program(mechanism, parameters)
    elif isinstance(mechanism, str):
        source = PythonSource(mechanism, parameters)
    elif adapted is not None:
        source = PythonSource(_name_of(mechanism), function=adapted.mechanism)
        assumptions = () if claim and neighbours else adapted.assumptions
        claim = adapted.claim if claim is None else claim
        neighbours = adapted.neighbours if neighbours is None else neighbours
    elif callable(mechanism):
        source = PythonSource(_name_of(mechanism), parameters, function=mechanism)
    else:
        raise InvalidInputError(
            f"the mechanism is a {type(mechanism).__name__} of {type(mechanism).__module__}, which cannot be called and has no "
            "adapter; give a function that calls it"
        )
    if adapted is not None and (claim is None or neighbours is None):
        missing = "a claim" if claim is None else "neighbours"
        raise InvalidInputError(f"{source.name} needs {missing}; {adapted.wanting}")
    if neighbours is None or not (isinstance(neighbours, Sequence | Canaries) or hasattr(neighbours, "corners")):
        raise InvalidInputError(
            f"neighbours is {neighbours!r}; it must be a list of pairs (left, right), or a domain such as "
            "auditor.Records((0, 10), size=(0, 20))"
        )
    settings = Settings.of(given)
    relation = str(getattr(neighbours, "relation", ""))
    stated, claim = (
        claim,
        Unclaimed() if claim is None else claim_of(claim, relation if relation in CLAIM_RELATIONS else None),
    )
    assumptions += doubts_of(stated, claim)
    return Plan(
        name=name or source.name,
        source=as_audited(source, neighbours, settings),
        claim=claim,
        neighbours=Pairs(list(neighbours)) if isinstance(neighbours, Sequence) else neighbours,
        alpha=level_of(confidence, 1),
        settings=settings,
        expect=expected_of(claim),
        assumptions=assumptions,
    )


def _name_of(function: object) -> str:
    inner = getattr(function, "func", function)  # functools.partial
    name: str = getattr(inner, "__qualname__", type(inner).__qualname__)
    return name
