"""Make plans of a configuration file; every error names the file, the line, the key and what is allowed."""

import os
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from auditor.auditing import Plan
from auditor.auditing.settings import Settings
from auditor.blackbox.command import Command
from auditor.blackbox.mechanism import Source
from auditor.claims import ApproximateDP, Claim, GaussianDP, QueryClaim, claim_from_dict
from auditor.config import schema
from auditor.config.domains import make_domain
from auditor.config.yaml_text import Document, read_yaml
from auditor.errors import AuditorError, InvalidInputError, did_you_mean
from auditor.exact.conversions import implied_mu
from auditor.neighbours.domains import Domain
from auditor.neighbours.totals import groups
from auditor.verdict import Verdict, alpha_for_each

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the command line sets instead of the file; None leaves the file's word."""

    samples: int | None = None
    seed: int | None = None
    workers: int | None = None
    backend: str | None = None
    seconds: float | None = None
    address: str | None = None
    search: int | None = None


@dataclass(frozen=True, slots=True)
class Configuration:
    """A file's plans, under one error budget."""

    name: str
    file: Path
    confidence: float
    plans: tuple[Plan, ...]

    @property
    def sharing_budget(self) -> int:
        """How many of the audits can err, and share the budget."""
        return sum(not isinstance(plan.claim, QueryClaim) for plan in self.plans)


def load_configuration(file: Path, overrides: Overrides = Overrides()) -> Configuration:
    """Read a configuration and build its domains; mechanisms are not imported yet.

    Raises InvalidInputError for anything in the file that cannot be meant.
    """
    if file.suffix == ".py" or ".py:" in file.name:
        raise InvalidInputError(
            f"{file} is a mechanism, not a configuration; `auditor init file.py:function` writes a configuration for it"
        )
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InvalidInputError(f"there is no file {file}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{file} cannot be read: {error}") from None
    document = read_yaml(text, str(file))
    config = _validate(document, str(file))
    place = _Place(str(file), document)
    names = [audit.name for audit in config.audits]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise InvalidInputError(
                f'{place.at("audits", i, "name")}: two audits are called "{name}"; names must differ'
            )
    folders = search_path(file)
    questions = [q for i, audit in enumerate(config.audits) for q in _questions(audit, ("audits", i), place, folders)]
    random = sum(not isinstance(question.claim, QueryClaim) for question in questions)
    alpha = place.checked(("confidence",), lambda: alpha_for_each(config.confidence, random))
    plans = tuple(_plan(config, question, alpha, place, folders, overrides) for question in questions)
    return Configuration(file.stem, file, config.confidence, plans)


def search_path(file: Path) -> tuple[str, ...]:
    """List where a configuration's mechanisms are looked for.

    Its own folder, the folders above it up to the nearest that holds a pyproject.toml, and the working folder.
    """
    folder = file.resolve().parent
    above = [folder, *folder.parents]
    root = next((i for i, place in enumerate(above) if (place / "pyproject.toml").is_file()), 0)
    return tuple(dict.fromkeys([*map(str, above[: root + 1]), os.getcwd()]))  # noqa: PTH109


@dataclass(frozen=True, slots=True)
class _Place:
    file: str
    document: Document

    def at(self, *path: str | int) -> str:
        return f"{self.file}, line {self.document.line(path)}"

    def checked(self, path: tuple[str | int, ...], make: Callable[[], T]) -> T:
        """Run ``make``; what it finds wrong is told with the place."""
        try:
            return make()
        except AuditorError as error:
            raise InvalidInputError(f"{self.at(*path)}: {error}") from None


@dataclass(frozen=True, slots=True)
class _Question:
    """One claim on one domain. An audit asks one, or one for each group."""

    name: str
    audit: schema.Audit
    here: tuple[str | int, ...]
    claim: Claim
    domain: Domain


def _questions(
    audit: schema.Audit, here: tuple[str | int, ...], place: _Place, folders: tuple[str, ...]
) -> list[_Question]:
    def claim_of(numbers: dict[str, Any]) -> Claim:
        return place.checked((*here, "claim"), lambda: claim_from_dict(numbers))

    domain = place.checked((*here, "neighbours"), lambda: make_domain(audit.neighbours, folders))
    if isinstance(audit.claim, dict):
        asked = _Question(audit.name, audit, here, claim_of(audit.claim), domain)
        return [asked, place.checked((*here, "implied_mu"), lambda: _implied(asked))] if audit.implied_mu else [asked]
    if audit.implied_mu:
        raise InvalidInputError(
            f"{place.at(*here, 'implied_mu')}: implied_mu goes with a single claim {{epsilon, delta}}"
        )
    claims = [claim_of(numbers) for numbers in audit.claim]
    domains = place.checked((*here, "claim"), lambda: groups(domain, len(claims)))
    return [
        _Question(f"{audit.name}, contribution {i}", audit, here, claim, group)
        for i, (claim, group) in enumerate(zip(claims, domains, strict=True), start=1)
    ]


def _implied(asked: _Question) -> _Question:
    """Ask the second question: is μ what (ε, δ) implies where the noise is Gaussian? It is not the claim itself."""
    claim = asked.claim
    if not isinstance(claim, ApproximateDP) or not 0 < claim.delta < 1:
        raise InvalidInputError(f"implied_mu goes with a claim {{epsilon, delta}}, 0 < delta < 1; the claim is {claim}")
    name = f"{asked.name}: μ of Gaussian noise that just meets the claim"
    return replace(asked, name=name, claim=GaussianDP(implied_mu(claim.epsilon, claim.delta)))


def _plan(
    config: schema.File,
    question: _Question,
    alpha: float,
    place: _Place,
    folders: tuple[str, ...],
    overrides: Overrides,
) -> Plan:
    audit = question.audit

    def setting(name: str) -> Any:
        own = getattr(audit, name)
        return getattr(config, name) if own is None else own

    search = setting("search")
    settings = {name: setting(name) for name in ("samples", "method", "shrink", "seed")}
    settings |= {"search": search and search.model_dump(exclude_unset=True), "events": audit.events}
    settings |= setting("execution").model_dump()
    settings |= {name: value for name, value in asdict(overrides).items() if value is not None}
    return place.checked(
        question.here,
        lambda: Plan(
            name=question.name,
            source=_source(audit, folders, Path(place.file)),
            claim=question.claim,
            domain=question.domain,
            alpha=alpha,
            settings=Settings.of(settings),
            expect=Verdict(audit.expect),
            rerun=_rerun(Path(place.file), question.name, settings["seed"], overrides.samples),
        ),
    )


def _rerun(file: Path, name: str, seed: int, samples: int | None) -> tuple[str, ...]:
    """Return the arguments of `auditor run` that give the same outputs again."""
    own = () if samples is None else ("--samples", str(samples))
    return (str(file), "--only", name, "--seed", str(seed), *own)


def _source(audit: schema.Audit, folders: tuple[str, ...], file: Path) -> Source:
    if isinstance(audit.mechanism, str):
        return Source(audit.mechanism, audit.parameters, folders)
    command = Command(audit.mechanism.command, str(file.resolve().parent))
    return Source(command.name, audit.parameters, command=command)


def _validate(document: Document, file: str) -> schema.File:
    if not isinstance(document.data, dict):
        raise InvalidInputError(f"{file}: a configuration is a mapping with the keys version and audits")
    try:
        return schema.File.model_validate(document.data)
    except ValidationError as error:
        problems = [_problem(problem, document, file) for problem in error.errors()]
        raise InvalidInputError("\n".join(dict.fromkeys(problems))) from None


def _problem(problem: Any, document: Document, file: str) -> str:
    """Put one finding of pydantic into a sentence with its place."""
    path = tuple(step for step in problem["loc"] if _is_step(step, document.data, problem["loc"]))
    where = f"{file}, line {document.line(path)}"
    name = ".".join(str(step) for step in path)
    if problem["type"] == "extra_forbidden":
        return (
            f'{where}: unknown key "{path[-1]}" in {_parent(path)}; {did_you_mean(str(path[-1]), _allowed_keys(path))}'
        )
    if problem["type"] == "missing":
        return f'{where}: {_parent(path)} needs the key "{path[-1]}"'
    return f"{where}: {name} is {problem['input']!r}; {_what_it_must_be(problem, path)}"


# For what is of another kind, by key: what to write.
_EXAMPLES = {
    "claim": "it must say what is promised, such as {epsilon: 1.0}",
    "command": "it must be a list of the program and its arguments, such as [node, mechanism.js]",
    "parameters": "it must be a mapping, such as {epsilon: 1.0}",
    "version": "it must be 1",
}


def _what_it_must_be(problem: Any, path: tuple[str | int, ...]) -> str:
    kind, given = problem["type"], problem["input"]
    if kind in ("dict_type", "list_type", "literal_error") and path and path[-1] in _EXAMPLES:
        return _EXAMPLES[str(path[-1])]
    if kind == "literal_error" and (allowed := re.findall(r"'([^']*)'", problem["ctx"]["expected"])):
        return did_you_mean(str(given), allowed)
    if kind == "model_type":
        return f"it must be a mapping with keys out of {', '.join(_allowed_keys((*path, '')))}"
    if kind == "too_short":
        return f"it needs {problem['ctx']['min_length']} or more"
    if kind == "int_type" and isinstance(given, float) and given.is_integer():
        return f"it must be an integer: write {given:_.0f}"
    return str(problem["msg"][0].lower() + problem["msg"][1:])


def _is_step(step: str | int, data: Any, loc: tuple[str | int, ...]) -> bool:
    """Tell keys and indices from the names of alternatives that pydantic mixes into a location."""
    known = {name for model in _models() for name in model.model_fields}
    return (
        isinstance(step, int)
        or step in known
        or (
            step == loc[-1]
            and step not in {"LowHigh", "int", "float", "a function", "a program"}
            and (not step.startswith(("list[", "dict[", "constrained-")))
        )
    )


def _models() -> list[type[BaseModel]]:
    models = [value for value in vars(schema).values() if isinstance(value, type) and issubclass(value, BaseModel)]
    return [model for model in models if model.__module__ == schema.__name__]


def _parent(path: tuple[str | int, ...]) -> str:
    names = [str(step) for step in path[:-1] if isinstance(step, str)]
    return names[-1] if names else "the file"


def _allowed_keys(path: tuple[str | int, ...]) -> list[str]:
    """Return the keys of the model in which the last step of a path stands."""
    model: type[BaseModel] = schema.File
    for step in path[:-1]:
        if isinstance(step, str) and step in model.model_fields:
            model = _model_in(model.model_fields[step].annotation) or model
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for part in get_args(annotation) if (model := _model_in(part)) is not None), None)
