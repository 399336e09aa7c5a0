"""Turn a configuration file into plans. Every error names the file, the line, the key and what is allowed."""

import functools
import hashlib
import inspect
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, Unpack, get_args, get_origin

from pydantic import BaseModel, ValidationError

from auditor.accountants import Accountant, Range
from auditor.accountants.auditing import AccountantPlan
from auditor.adapters import CLAIM_RELATIONS, Adapted, adapt_object, claim_of, doubts_of, mechanism_of
from auditor.auditing.plan import Plan, Settings, as_audited
from auditor.blackbox.command import Command, Program
from auditor.blackbox.mechanism import PythonSource, find, load
from auditor.claims import Claim, QueryClaim, Tradeoff, Unclaimed, claim_from_dict
from auditor.config import schema
from auditor.config.yaml_text import Document, read_yaml_file
from auditor.defaults import RunKeywords, SettingsKeywords, settings
from auditor.errors import InvalidInputError, did_you_mean, require_known, visible
from auditor.foreign_code import ForeignCode
from auditor.interfaces import Domain, Source
from auditor.neighbours.canaries import Canaries
from auditor.neighbours.domains import Pairs, Valid
from auditor.neighbours.frame_forms import INSTEAD
from auditor.neighbours.totals import groups
from auditor.sessions.dialogues import Dialogues
from auditor.verdict import Verdict, expected_of, level_of


@dataclass(frozen=True, slots=True)
class Configuration:
    """The plans of a file, which share one error budget. ``overrides`` replace settings of the file."""

    name: str
    file: Path
    confidence: float
    overrides: RunKeywords
    plans: tuple[Plan, ...]
    sharing_budget: int
    """The number of audits of the file that can err, and share the budget. ``plans`` may hold fewer."""
    code: tuple[PythonSource, ...]
    """The functions and objects that make data sets or claims, which reading the file imports."""
    claims: Mapping[str, Mapping[str, Any]]
    """The claims that come from code, by the names of their audits in the file."""
    doubts: Mapping[str, tuple[str, ...]]
    """What is said about these claims, such as that an accountant states too little."""
    lines: Mapping[str, int]
    """The lines of the mechanisms, by the names of the plans, and of what accountants state."""
    accountants: tuple[AccountantPlan, ...] = ()
    """The audits of accountants, which draw no outputs, and have no part in the error budget."""

    @property
    def names(self) -> list[str]:
        """The names of all audits, those of mechanisms first."""
        return [plan.name for plan in self.plans] + [plan.name for plan in self.accountants]

    def close(self) -> None:
        """Close the stores of the plans."""
        for plan in self.plans:
            plan.store.close()


def load_configuration(
    file: Path,
    *,
    runs_code: bool = True,
    claims: Mapping[str, Mapping[str, Any]] | None = None,
    doubts: Mapping[str, Sequence[str]] | None = None,
    **overrides: Unpack[RunKeywords],
) -> Configuration:
    """Read a configuration and build its domains. No mechanism is imported, unless an object states its claim or neighbours.

    Without ``runs_code``, as for a third-party file, nothing that the file names is imported. ``claims``, by the names
    of audits, replace claims from code, and ``doubts`` what is said about these.

    Raises InvalidInputError for any error in the file: its syntax, its keys, its values. Without ``runs_code``, also
    raises it if code makes data sets or claims: the message names its files with their digests.
    """
    if file.suffix == ".py" or ".py:" in file.name:
        raise InvalidInputError(
            f"{file} is a mechanism, not a configuration; `auditor init file.py:function` writes a configuration for it"
        )
    document = read_yaml_file(file)
    config = _validate(document)
    places = [("audits", i) for i in range(len(config.audits))]
    places += [("accountants", i) for i in range(len(config.accountants))]
    names = [audit.name for audit in config.audits] + [audit.name for audit in config.accountants]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise InvalidInputError(
                f'{document.at(*places[i], "name")}: two audits are called "{name}"; names must differ'
            )
    by_audit = claims or {}
    said = doubts or {}
    parts = [
        _Part(audit, i, document, by_audit.get(audit.name), doubts=tuple(said.get(audit.name, ())))
        for i, audit in enumerate(config.audits)
    ]
    named = dict.fromkeys(name for part in parts for name in part.code())
    code = tuple(PythonSource(name, search_path=search_path(file)) for name in named)
    if code and not runs_code:
        raise InvalidInputError(
            f"{file} names code that makes its data sets or claims, and would run with your rights: "
            f"{_with_digests(code)}; if you trust this code, add --run-code"
        )
    parts = [_with_object(part) for part in parts]
    parts = [_with_claims(part) for part in parts]
    random = sum(not isinstance(claim, QueryClaim) for part in parts for claim in part.claims.values())
    confidence = overrides.get("confidence", config.confidence)
    with document.naming("confidence"):
        alpha = level_of(confidence, random)
    if runs_code:
        for part in parts:
            part.load_score()
    return Configuration(
        file.stem,
        file,
        confidence,
        overrides,
        plans=tuple(plan for part in parts for plan in _plans(part, alpha, config, overrides)),
        sharing_budget=random,
        code=code,
        accountants=_accountants(config, document, overrides) if runs_code else (),
        claims={name: part.claims[name].to_dict() for part in parts if part.claim_is_stated for name in part.claims},
        doubts={part.audit.name: part.doubts for part in parts if part.doubts},
        lines={name: document.line(("audits", part.number, "mechanism")) for part in parts for name in part.claims}
        | {one.name: document.line(("accountants", i, "stated")) for i, one in enumerate(config.accountants)},
    )


def _with_digests(code: Iterable[PythonSource]) -> str:
    """Write the files of code, each with its SHA-256; for code without a file, its name."""
    files = [
        [f"{file} (SHA-256 {hashlib.sha256(file.read_bytes()).hexdigest()})" for file in source.files()]
        or [source.name]
        for source in code
    ]
    return ", ".join(dict.fromkeys(itertools.chain.from_iterable(files)))


def search_path(file: Path) -> tuple[str, ...]:
    """Return the folders in which code of a configuration is looked for.

    These are the folder of the file, the folders above it up to the nearest with a pyproject.toml, and the working folder.
    """
    folder = file.resolve().parent
    above = [folder, *folder.parents]
    root = next((i for i, place in enumerate(above) if (place / "pyproject.toml").is_file()), 0)
    return tuple(dict.fromkeys(map(str, [*above[: root + 1], Path.cwd()])))


@dataclass(frozen=True, slots=True)
class _Part:
    """One audit of a file. ``known`` is its recorded claim, ``adapted`` what its object states, and ``claims`` are by plan.

    ``doubts`` are sentences on a claim that an object states.
    """

    audit: schema.Audit
    number: int
    document: Document
    known: Mapping[str, Any] | None = None
    adapted: Adapted | None = None
    claims: Mapping[str, Claim] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()

    def naming(self, *keys: str) -> AbstractContextManager[None]:
        """A context in which errors name a place of the audit."""
        return self.document.naming("audits", self.number, *keys)

    @property
    def folders(self) -> tuple[str, ...]:
        return search_path(Path(self.document.file))

    @property
    def claim_is_stated(self) -> bool:
        """Whether an object, a function or a file states the claim."""
        claim = self.audit.claim
        if claim is None:
            return isinstance(self.audit.mechanism, schema.ObjectKeys)
        return isinstance(claim, dict) and ("from" in claim or isinstance(claim.get("tradeoff"), str))

    def code(self) -> list[str]:
        """Return the names of the functions and objects for the domain, for ``valid``, and for a claim that is not known."""
        audit = self.audit
        named = audit.neighbours.code() if audit.neighbours is not None else []
        if isinstance(audit.mechanism, schema.ObjectKeys) and _missing(audit):
            named.append(audit.mechanism.object)
        if isinstance(audit.claim, dict) and self.known is None:
            curve = audit.claim.get("tradeoff")
            named += [curve] if isinstance(curve, str) and not _is_curve_file(curve) else []
            named += [str(audit.claim["from"])] if "from" in audit.claim else []
        return named + ([audit.valid] if audit.valid else [])

    def load_score(self) -> None:
        """Import the score of canaries, if there is one, so that an error is raised before any audit, and names its place."""
        if isinstance(self.audit.neighbours, schema.CanariesByCoins) and self.audit.neighbours.score is not None:
            with self.naming("neighbours"):
                load(self.audit.neighbours.score, self.folders)

    def domain(self, distance: int | None = None) -> Domain | Canaries:
        """Return the neighbours of the audit. A ``distance`` replaces the key of this name."""
        neighbours: Any = self.audit.neighbours
        if neighbours is None:
            if self.adapted is None:
                return Pairs([(0, 1)])
            assert self.adapted.neighbours is not None
            return self.adapted.neighbours
        if distance is not None:
            neighbours = neighbours.model_copy(update={"distance": distance})
        made: Domain | Canaries = neighbours.make(self.folders)
        return made


def _missing(audit: schema.Audit) -> list[str]:
    """Return the keys that the file lacks, which an object states instead."""
    return [key for key in ("claim", "neighbours") if getattr(audit, key) is None]


def _with_object(part: _Part) -> _Part:
    """Return the part with what its object states, if the file lacks claim or neighbours. This imports the object."""
    audit = part.audit
    missing = _missing(audit)
    if not isinstance(audit.mechanism, schema.ObjectKeys):
        if "neighbours" in missing:
            with part.naming("neighbours"):
                raise InvalidInputError(f'audits needs the key "neighbours"; {_EXAMPLES["neighbours"]}')
        if missing and "expect" in audit.model_fields_set:
            with part.naming("expect"):
                raise InvalidInputError(
                    f"expect is {audit.expect}, but the audit has no claim and ends as measured; leave out expect, or add a claim"
                )
        return part
    if not missing:
        return part
    with part.naming("mechanism"):
        name = audit.mechanism.object
        adapted = adapt_object(find(name, part.folders), audit.parameters)
        if adapted is None:
            raise InvalidInputError(
                f"{name} is of no library that has an adapter; write {' and '.join(missing)} into the file"
            )
        if any(getattr(adapted, key) is None for key in missing):
            raise InvalidInputError(f"{name}: {adapted.wanting}")
        return replace(part, adapted=adapted)


def _with_claims(part: _Part) -> _Part:
    """Return the part with its claims. If code states the claim, this runs it."""
    if part.known is None and part.audit.claim is not None and part.claim_is_stated:
        with part.naming("claim"):
            claim, doubts = _stated(part)
        return replace(part, claims={part.audit.name: claim}, doubts=doubts)
    return replace(part, claims=_claims(part))


def _claims(part: _Part) -> dict[str, Claim]:
    """Return the claims of an audit by the names of its plans."""
    audit, name = part.audit, part.audit.name
    with part.naming("claim"):
        if part.known is not None:
            return {name: claim_from_dict(part.known)}
        if audit.claim is None:
            claim = part.adapted.claim if part.adapted else Unclaimed()
            assert claim is not None
            return {name: claim}
        if isinstance(audit.claim, list):
            each = enumerate(audit.claim, start=1)
            return {f"{name}, contribution {i}": claim_from_dict(numbers) for i, numbers in each}
        if most := _by_distance(audit):
            return {f"{name}, distance {i}": claim_from_dict(audit.claim | {"sensitivity": s}) for i, s in most.items()}
        return {name: claim_from_dict(audit.claim)}


def _stated(part: _Part) -> tuple[Claim, tuple[str, ...]]:
    """Return the claim that the function or object in {from: file.py:name} states, or that of a named trade-off curve; and
    sentences on whether it can be true.
    """
    audit, keys = part.audit, part.audit.claim
    assert isinstance(keys, dict)
    if "tradeoff" in keys:
        return _tradeoff(part, keys), ()
    require_known("a claim from code has the key", keys, ("from", "relation", "delta"))
    name, relation = keys["from"], keys.get("relation", getattr(audit.neighbours, "relation", None))
    if not isinstance(name, str):
        raise InvalidInputError(f"from is {name!r}; it must be the name of a function, such as claims.py:my_claim")
    stated = find(name, part.folders)
    if inspect.isroutine(stated):
        with ForeignCode(name):
            taken = inspect.signature(stated).parameters
            stated = stated(**{key: value for key, value in audit.parameters.items() if key in taken})
    with ForeignCode(f"what {name} states"):
        known = relation if relation in CLAIM_RELATIONS or "relation" in keys else None
        claim = claim_of(stated, known, keys.get("delta"))
        return claim, doubts_of(stated, claim)


def _tradeoff(part: _Part, keys: Mapping[str, Any]) -> Tradeoff:
    """Return the claim of the curve in {tradeoff: file.csv}, or {tradeoff: file.py:function} of α and of the audit's parameters."""
    require_known("a claim of a trade-off curve has the key", keys, ("tradeoff", "symmetric"))
    name, symmetric = keys["tradeoff"], keys.get("symmetric", True)
    if _is_curve_file(name):
        return Tradeoff.from_file(Path(part.document.file).parent / name, symmetric)
    function = find(name, part.folders)
    if not callable(function):
        raise InvalidInputError(f"tradeoff is {name!r}, which is no function; it must return beta for an alpha")
    with ForeignCode(name):
        taken = inspect.signature(function).parameters
    shared = {key: value for key, value in part.audit.parameters.items() if key in [*taken][1:]}
    return Tradeoff.from_function(functools.partial(function, **shared), name, symmetric)


def _is_curve_file(name: str) -> bool:
    return Path(name).suffix in (".csv", ".json")


def _by_distance(audit: schema.Audit) -> dict[int, Any]:
    """Return the sensitivity by distance, if the claim has it for several distances. Return an empty dict otherwise."""
    given = audit.claim.get("sensitivity") if isinstance(audit.claim, dict) else None
    if not isinstance(given, dict):
        return {}
    if not given or not all(str(distance).isdecimal() and int(distance) >= 1 for distance in given):
        raise InvalidInputError(
            f"sensitivity is {given!r}; it must be a number, or numbers by distance, such as {{1: 1, 2: 2}}"
        )
    if not isinstance(audit.neighbours, schema.Apart) or audit.neighbours.distance is not None:
        raise InvalidInputError(
            "a sensitivity by distance needs neighbours of the domain records or frame, without a `distance`"
        )
    return {int(distance): most for distance, most in given.items()}


def _plans(part: _Part, alpha: float, config: schema.File, overrides: RunKeywords) -> list[Plan]:
    """Return the plans of an audit, one for each claim."""
    audit = part.audit
    with part.naming("neighbours"):
        domains: Sequence[Domain | Canaries] = [part.domain(distance) for distance in _by_distance(audit) or (None,)]
    if isinstance(audit.claim, list):
        with part.naming("claim"):
            domains = groups(domains[0], len(part.claims))
    domains = [_asked(part, _valid(part, domain)) for domain in domains]
    with part.naming():
        settings = _settings(config, audit, {**overrides})
        # Together with the name, these arguments of `auditor run` give the same outputs again.
        seeded = ["--seed", str(settings.seed)]
        seeded += ["--confidence", repr(overrides["confidence"])] if "confidence" in overrides else []
        seeded += ["--samples", str(settings.samples)] if "samples" in overrides else []
        return [
            Plan(
                name=name,
                source=as_audited(_source(part), domain, settings),
                claim=claim,
                neighbours=domain,
                alpha=alpha,
                settings=settings,
                expect=expected_of(claim, Verdict(audit.expect)),
                rerun=(part.document.file, "--only", name, *seeded),
                assumptions=(*(part.adapted.assumptions if part.adapted else ()), *part.doubts),
            )
            for domain, (name, claim) in zip(domains, part.claims.items(), strict=True)
        ]


def _valid(part: _Part, neighbours: Domain | Canaries) -> Domain | Canaries:
    """Return the neighbours. If the audit has the key ``valid``, keep only pairs of valid data sets."""
    named = part.audit.valid
    if named is None:
        return neighbours
    with part.naming("valid"):
        if isinstance(neighbours, Canaries):
            raise InvalidInputError("leave out valid, which is about pairs: canaries have no pairs")
        with ForeignCode(f"the first pairs of the domain, for {named},"):
            return Valid(neighbours, load(named, part.folders))


def _asked(part: _Part, neighbours: Domain | Canaries) -> Domain | Canaries:
    """Return the neighbours, with scripts of questions if the mechanism is a session."""
    keys = ("ask", "rounds", "sessions", "meter")
    given = {key: value for key in keys if (value := getattr(part.audit, key)) is not None}
    if not given:
        return neighbours
    with part.naming(next(iter(given))):
        if "ask" not in given or isinstance(neighbours, Canaries):
            raise InvalidInputError(
                f"{' and '.join(given)}: a session needs the key `ask`, and neighbours that are no canaries"
            )
        return Dialogues(neighbours, **given)


def _accountants(config: schema.File, document: Document, overrides: RunKeywords) -> tuple[AccountantPlan, ...]:
    """Return the audits of accountants. The command line overrides the audit, which overrides the file."""
    execution = (config.execution.given() if config.execution else {}) | overrides
    shared = {
        key: value
        for key, value in (("isolate", execution.get("isolate")), ("call_seconds", execution.get("timeout")))
        if value is not None
    }
    plans = []
    for i, keys in enumerate(config.accountants):
        with document.naming("accountants", i):
            spaces = {
                name: Range(**space.given()) if isinstance(space, schema.ParameterRange) else space
                for name, space in keys.parameters.items()
            }
            folders = search_path(Path(document.file))
            folder = str(Path(document.file).resolve().parent)
            stated = keys.stated if isinstance(keys.stated, str) else Command(keys.stated.command, folder)
            target = Accountant(
                keys.name, keys.states, stated, keys.process, spaces, keys.source or "", folders, keys.bound
            )
            own = {
                key: value
                for key in ("seed", "points", "seconds", "tolerance")
                if (value := getattr(keys, key)) is not None
            }
            given = {key: value for key in ("seed", "seconds") if (value := overrides.get(key)) is not None}
            of_file = {"seed": config.settings()["seed"]} if "seed" in config.settings() else {}
            plan = AccountantPlan(target, {**of_file, **shared, **own, **given, "expect": keys.expect})
            plan.require_settings()
        plans.append(plan)
    return tuple(plans)


def _settings(file: schema.File, audit: schema.Audit, overrides: Mapping[str, Any]) -> Settings:
    """Return the settings. The command line overrides the audit, which overrides the file."""
    given = {name: about.of_file for name, _, about in settings(SettingsKeywords) if about.of_file is not None}
    given |= file.settings() | audit.settings()
    if execution := audit.execution or file.execution:
        given |= execution.given()
    return Settings.of(given | {key: v for key, v in overrides.items() if key in SettingsKeywords.__annotations__})


def _source(part: _Part) -> Source:
    mechanism, parameters = part.audit.mechanism, part.audit.parameters
    if isinstance(mechanism, str):
        return PythonSource(mechanism, parameters, part.folders)
    if isinstance(mechanism, schema.ObjectKeys):
        made = partial(mechanism_of, parameters=parameters)
        return PythonSource(mechanism.object, parameters, part.folders, adapt=made)
    return Program(Command(mechanism.command, str(Path(part.document.file).resolve().parent)), parameters)


def _validate(document: Document) -> schema.File:
    if not isinstance(document.data, dict):
        raise InvalidInputError(f"{document.file}: a configuration is a mapping with the keys version and audits")
    try:
        file = schema.File.model_validate(document.data)
        if not (file.audits or file.accountants):
            raise InvalidInputError(f'{document.at("audits")}: the file needs the key "audits", or "accountants"')
        return file
    except ValidationError as error:
        raise InvalidInputError(*dict.fromkeys(_problem(problem, document) for problem in error.errors())) from None


def _problem(problem: Any, document: Document) -> str:
    """Return a sentence, with its place, for a problem that pydantic found."""
    loc, kind, given, model = problem["loc"], problem["type"], problem["input"], problem["ctx"]["model"]
    path = _path(loc, document.data)
    if kind == "missing":
        path = (*path, loc[-1])
    if kind == "union_tag_invalid":
        path, given = (*path, problem["ctx"]["discriminator"].strip("'")), problem["ctx"]["tag"]
    where = document.at(*path)
    if kind == "extra_forbidden":
        # Name the alternative that was chosen last, if the key belongs to it directly.
        form = f" ({loc[-2]})" if path[-2:] != loc[-2:] and len(loc) > 1 else ""
        advice = _INSTEAD.get(path[-1]) or did_you_mean(str(path[-1]), model.model_fields)
        return f'{where}: unknown key "{path[-1]}" in {_parent(path)}{form}; {advice}'
    if kind == "missing":
        return f'{where}: {_parent(path)} needs the key "{path[-1]}"{_needed(model, str(path[-1]))}'
    name = ".".join(str(step) for step in path)
    return f"{where}: {name} is {visible(repr(given), 500)}; {_what_it_must_be(problem, path, given)}"


# The advice for keys of earlier versions.
_INSTEAD: dict[str | int, str] = {
    "outputs": "write `samples`, the outputs of the last bound: about half as many",
    "strategy": "write `generator`, a function that yields pairs",
    "further": "fix the violation that is found, and run again",
    "matrix": "write each audit, and take over the keys of another: `- &first` before its keys, `<<: *first` in the others",
}
# The advice for a value of the wrong kind, by key.
_EXAMPLES = {
    "claim": "it must state the promise, such as {epsilon: 1.0}",
    "columns": "it must be a mapping of columns by name, such as {age: {type: integer, low: 0, high: 99}}",
    "command": "it must be a list of the program and its arguments, such as [node, mechanism.js]",
    "neighbours": "it must say which data sets are neighbours, such as {domain: records, record: {low: 0, high: 10}, "
    "size: {low: 0, high: 5}} or {pairs: [{left: [1, 2], right: [1]}]}",
    "parameters": "it must be a mapping, such as {epsilon: 1.0}",
    "pairs": "it must be a list, such as [{left: [1, 2], right: [1]}]",
    "range": "it must be the two ends, such as [0, 10]",
    "values": "it must be a list, such as [0, 10]",
    "version": "it must be 1",
}


def _needed(model: type[BaseModel], key: str) -> str:
    """Say what a missing key may be, if few words suffice."""
    if key in _EXAMPLES:
        return f"; {_EXAMPLES[key]}"
    kind = model.model_fields[key].annotation
    return f"; allowed: {', '.join(map(str, get_args(kind)))}" if get_origin(kind) is Literal else ""


def _what_it_must_be(problem: Any, path: tuple[str | int, ...], given: Any) -> str:
    kind, context = problem["type"], problem["ctx"]
    if kind in ("dict_type", "list_type", "literal_error") and path and path[-1] in _EXAMPLES:
        return _EXAMPLES[str(path[-1])]
    if allowed := re.findall(r"'([^']*)'", str(context.get("expected", context.get("expected_tags", "")))):
        gone = INSTEAD.get(str(given)) if path[-1:] == ("as",) else None
        return f"it is gone: {gone}" if gone else did_you_mean(str(given), allowed)
    if kind == "model_type":
        keys = context["model"].model_fields
        needed_first = sorted(keys, key=lambda key: not keys[key].is_required())
        is_range = {"low", "high"} <= keys.keys() and isinstance(given, list) and len(given) == 2
        instead = f"; write {{low: {given[0]}, high: {given[1]}}}" if is_range else ""
        some = "the" if all(key.is_required() for key in keys.values()) else "some of the"
        return f"it must be a mapping with {some} keys {', '.join(needed_first)}{instead}"
    if kind == "too_short":
        return f"it needs {context['min_length']} or more"
    if kind == "int_type" and isinstance(given, float) and given.is_integer():
        return f"it must be an integer: write {given:_.0f}"
    return schema.plain_message(problem)


def _path(loc: tuple[str | int, ...], data: Any) -> tuple[str | int, ...]:
    """Return the keys and indices of a location, without the names of alternatives that pydantic mixes into it."""
    path: list[str | int] = []
    for before, step in zip(("", *loc), loc, strict=False):
        if before == "by domain":  # then the step is the domain's name, which may also be one of its keys
            continue
        if step in data if isinstance(data, dict) else isinstance(data, list) and isinstance(step, int):
            data = data[step]
            path.append(step)
    return tuple(path)


def _parent(path: tuple[str | int, ...]) -> str:
    names = [str(step) for step in path[:-1] if isinstance(step, str)]
    return names[-1] if names else "the file"
