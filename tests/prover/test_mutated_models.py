"""Each entry of the lists, with a fault put into its model: its snippets notice every fault, but for those that change nothing."""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from modelled import blocks, outcomes
from test_models import MODELS, NAMES, disagreements

from dp_prover import attributes
from dp_prover.evaluator import STATEMENTS
from dp_prover.expressions import EXPRESSIONS
from dp_prover.form import Form
from dp_prover.generator import METHODS as DRAWS
from dp_prover.lazy import Lazy, NotProvedError, applied
from dp_prover.listed import Iterated, View, called, of_constants
from dp_prover.listed_numpy import NUMPY
from dp_prover.listed_python import BUILTINS, MATH
from dp_prover.outside import LISTED
from dp_prover.values import Array, Term, array_of

Call = Callable[[Sequence[Any], Mapping[str, Any]], Any]
Fault = Callable[[Call, Sequence[Any], Mapping[str, Any]], Any]


# Faults ----------------------------------------------------------------------------------------------------------------


def changed(value: Any) -> Any:  # noqa: PLR0911, PLR0912 - a case each
    """Return another value of the same type."""
    match value:
        case Term():
            return replace(value, form=value.form.plus(Form.symbol("x0")).plus(Form.symbol("x0"), -1).plus(_one()))
        case Array():
            items = value.flat()
            return (
                array_of([*map(changed, items[:1]), *items[1:]], value.shape, value.dtype) if items else _longer(value)
            )
        case Lazy():
            return applied(changed, value)
        case Iterated():
            return Iterated(iter(list(value.values)[1:]))
        case View():
            return [*value.now(), 1]
        case bool() | np.bool_():
            return type(value)(not value)
        case int() | float() | np.number():
            return type(value)(value + 1) if value == value else type(value)(0)  # noqa: PLR0124 - NaN
        case str():
            return value + "x"
        case bytes():
            return value + b"x"
        case list():
            return [*value, 1]
        case tuple():
            return (*value, 1)
        case range():
            return range(value.start, value.stop + 1, value.step)
        case dict():
            return value | {"more": 1}
        case set():
            return value | {-7}
        case None:
            return 1
    return None


def _one() -> Form:
    return Form({}, Form.symbol("x0").terms["x0"])


def _longer(value: Array) -> Array:
    return array_of([0], (1,), value.dtype)


def retyped(value: Any) -> Any:  # noqa: PLR0911 - a case each
    """Return the same number with another type."""
    match value:
        case Term() if isinstance(value.kind, np.dtype):
            return replace(value, kind=float if value.kind.kind == "f" else int)
        case Term():
            return replace(value, kind=np.dtype(value.kind))
        case Array():
            return array_of(value.flat(), value.shape, np.dtype(np.float32))
        case Lazy():
            return applied(retyped, value)
        case np.generic():
            return value.item()
        case bool() | int() | float():
            return np.asarray(value)[()]
        case list():
            return tuple(value)
        case tuple():
            return list(value)
    return changed(value)


def _value(call: Call, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    return changed(call(arguments, keywords))


def _type(call: Call, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    return retyped(call(arguments, keywords))


def _nothing(call: Call, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    return arguments[0] if arguments else 0


def _swapped(call: Call, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    return call(_touched([*arguments[1::-1], *arguments[2:]]) if len(arguments) > 1 else arguments, keywords)


def _without_keywords(call: Call, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    return call(arguments, _touched({}) if keywords else {})


def _without_the_last(call: Call, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    return call(_touched(arguments[:-1]) if len(arguments) > 1 else arguments, keywords)


TOUCHED: list[bool] = []  # calls whose arguments a fault changed


def _touched(arguments: Any) -> Any:
    TOUCHED.append(True)
    return arguments


FAULTS: dict[str, Fault] = {
    "another value": _value,
    "another type": _type,
    "the first argument": _nothing,
    "arguments swapped": _swapped,
    "keywords dropped": _without_keywords,
    "last argument dropped": _without_the_last,
}
SYMMETRIC = ("math.gcd", "math.lcm", "math.hypot", "math.isclose", "math.dist", "np.maximum", "np.minimum")
# Faults that change nothing that a mechanism could see. (The law of noise is another test.)
SAME: dict[str, set[str]] = {name: {"arguments swapped"} for name in SYMMETRIC} | {
    "rng.standard_normal": {"keywords dropped"},
    "rng.standard_exponential": {"keywords dropped"},
    # `strict` makes a difference only where it raises, which ends an attempt.
    "zip": {"keywords dropped"},
}


# Entries ---------------------------------------------------------------------------------------------------------------


def places() -> Iterator[tuple[str, Any, Any, Callable[[Fault], Any]]]:
    """Yield each entry: its name, the dict that it is in, the key, and what makes the faulty entry for that place."""
    for entry in (*BUILTINS, *MATH, *NUMPY):
        yield (
            entry.name,
            LISTED,
            id(entry.real),
            lambda fault, entry=entry: replace(entry, model=_listed(entry, fault), pure=False),
        )
    for prefix, table in (("array", attributes.ARRAY_METHODS), ("scalar", attributes.SCALAR_METHODS)):
        for name, model in table.items():
            yield f"{prefix}.{name}", table, name, lambda fault, model=model: _method(model, fault)
    for name, model in DRAWS.items():
        yield f"rng.{name}", DRAWS, name, lambda fault, model=model: _draw(model, fault)
    for kind, methods in attributes.METHODS.items():
        for name, model in methods.items():
            made = lambda fault, model=model, name=name: _method(model or _real(name), fault)  # noqa: E731
            yield f"{NAMES.get(kind, kind.__name__)}.{name}", methods, name, made


def _listed(entry: Any, fault: Fault) -> Callable[..., Any]:
    def model(caller: Any, *arguments: Any, **keywords: Any) -> Any:
        return fault(lambda given, named: called(entry, caller, given, named), arguments, keywords)

    return model


def _method(model: Callable[..., Any], fault: Fault) -> Callable[..., Any]:
    def faulty(caller: Any, owner: Any, *arguments: Any, **keywords: Any) -> Any:
        return fault(lambda given, named: model(caller, owner, *given, **named), arguments, keywords)

    return faulty


def _draw(model: Callable[..., Any], fault: Fault) -> Callable[..., Any]:
    def faulty(run: Any, *arguments: Any, **keywords: Any) -> Any:
        return fault(lambda given, named: model(run, *given, **named), arguments, keywords)

    return faulty


def _real(name: str) -> Callable[..., Any]:
    def model(caller: Any, owner: Any, *arguments: Any, **keywords: Any) -> Any:
        return of_constants(name, getattr(owner, name), arguments, keywords)

    return model


NOTICED = (ArithmeticError, AssertionError, AttributeError, LookupError, NotProvedError, TypeError, ValueError)


def survives(entry: str) -> bool:
    """Whether the snippets of an entry notice nothing."""
    for snippet in MODELS[entry]:
        try:
            if disagreements([snippet], contexts=2, seeds=2):
                return False
        except NOTICED:
            return False  # the fault shows where the run is compared
    return True


@pytest.mark.proofs
@pytest.mark.parametrize("place", list(places()), ids=lambda place: place[0])
def test_faults_in_models_are_noticed(place: Any, monkeypatch: pytest.MonkeyPatch):
    name, table, key, made = place
    left = set()
    for words, fault in FAULTS.items():
        monkeypatch.setitem(table, key, made(fault))
        TOUCHED.clear()
        if survives(name) and (TOUCHED or fault in (_value, _type, _nothing)):
            left.add(words)
    assert left == SAME.get(name, set())


# Statements and expressions ----------------------------------------------------------------------------------------------


@pytest.mark.proofs
@pytest.mark.parametrize("kind", list(STATEMENTS), ids=lambda kind: kind.__name__)
def test_statements_that_do_nothing_are_noticed(kind: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(STATEMENTS, kind, lambda evaluator, node, frame: None)
    assert kind.__name__ in ("Pass", "Expr", "Nonlocal") or _is_noticed(kind)


@pytest.mark.proofs
@pytest.mark.parametrize("kind", list(EXPRESSIONS), ids=lambda kind: kind.__name__)
def test_expressions_of_another_value_are_noticed(kind: Any, monkeypatch: pytest.MonkeyPatch):
    own = EXPRESSIONS[kind]
    monkeypatch.setitem(EXPRESSIONS, kind, lambda evaluator, node, frame: changed(own(evaluator, node, frame)))
    assert _is_noticed(kind)


def _is_noticed(kind: type[ast.AST]) -> bool:
    for block in blocks():
        body = "def f():\n " + block.code.replace("\n", "\n ")
        if not any(type(node) is kind for one in ast.parse(body).body[0].body for node in ast.walk(one)):
            continue
        expected = "taken" if block.contexts else "refused"
        for context in block.contexts[:3] or "f":
            try:
                [(found, _)] = outcomes([(block.code, context)], seeds=2)
            except NOTICED:
                return True
            if found != expected:
                return True
    return False
