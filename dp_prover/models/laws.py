"""Recognises noise that is computed from other draws.

−ln U is exponential. Exponential noise with a random sign is Laplace noise, and so is sign(u) ln(1 − 2|u|) for u uniform on
(−1/2, 1/2). Such a number becomes a symbol of its own law. The draws that it consumes must not be used for anything else, which is
checked at the end of the run.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dp_prover.errors import NotProvedError
from dp_prover.interfaces import Path
from dp_prover.models.lazy import Lazy, states
from dp_prover.models.run import TracedRun
from dp_prover.models.values import Term
from dp_prover.numbers.form import OPAQUE, Form, Key, Law

HALF = Fraction(1, 2)


def _made(run: TracedRun, how: Key, source: str, law: Law, draws: frozenset[str], value: Callable[[], float]) -> Form:
    """Return computed noise as a symbol. ``how`` identifies the computation, ``value`` gives its number in a run on numbers."""
    name = run.names.noise(int(source[1:].partition(".")[0]), law)
    for draw in draws:
        if run.consumed.setdefault(draw, how) != how:
            raise NotProvedError("a draw is used for two kinds of noise; draw twice")
    run.computed(name, value)
    return Form.symbol(name)


def _fine(run: TracedRun, form: Form) -> tuple[str, Fraction, Fraction] | None:
    """Return a uniform draw as ``uniform_of`` does; None if its floats are coarse near 0."""
    uniform = run.uniform_of(form)
    return None if uniform is None or run.is_coarse(uniform[0]) else uniform


def _centred(run: TracedRun, form: Form) -> tuple[str, Fraction] | None:
    """Return the uniform draw and its sign, if a form is that draw centred to (−1/2, 1/2)."""
    uniform = _fine(run, form)
    if uniform is None or abs(uniform[1]) != 1 or uniform[2] != -uniform[1] / 2:
        return None
    return uniform[0], uniform[1]


def logarithm(run: TracedRun, name: str, form: Form) -> Form | None:
    """Return ln of a uniform draw, or of a quotient of two, as exponential noise; None for other forms."""
    inner = form.plus(Form.number(Fraction(1))) if name == "log1p" else form
    uniform = _fine(run, inner)
    if uniform is not None and [*uniform[1:]] in ([1, 0], [-1, 1]) and name in ("log", "log1p"):
        source = uniform[0]
        shown = inner

        def value() -> float:
            return -math.log(run.value(shown))

        return _made(run, inner.key(), source, ("exponential", Fraction(1)), frozenset([source]), value).negated()
    quotient = _operation(run, form, "divide")
    if name == "log" and quotient is not None:
        parts = [logarithm(run, "log", part) for part in quotient if run.uniform_of(part) is not None]
        if len(parts) == 2 and parts[0] is not None and parts[1] is not None:
            return parts[0].plus(parts[1], -1)
    return None


def product(run: TracedRun, a: Any, b: Any) -> Form | None:
    """Return a product of two scalars as Laplace noise, if it is; None otherwise."""
    (a, times), (b, more) = _unit(a), _unit(b)
    for factor, other in ((a, b), (b, a)):
        if isinstance(factor, Term):
            noise = _with_sign(run, factor, other) or _inverse(run, factor, other)
            if noise is not None:
                return noise.times(times * more)
    return None


def _unit(value: Any) -> tuple[Any, Fraction]:
    """Split a multiple of one symbol into symbol and factor; return other values unchanged."""
    if not isinstance(value, Term) or len(value.form.terms) != 1 or value.form.constant:
        return value, Fraction(1)
    [(name, factor)] = value.form.terms.items()
    return Term(Form.symbol(name), value.kind), factor


def _with_sign(run: TracedRun, noise: Term, sign: Any) -> Form | None:
    """Return exponential noise times a fair sign as Laplace noise; None for other products."""
    if len(noise.form.terms) != 1 or noise.form.constant:
        return None
    [name] = noise.form.terms
    law = run.names.laws.get(name, ("",))
    if law[0] != "exponential":
        return None
    sources = _sources_of_sign(run, sign)
    if sources is None or name in sources:
        return None

    def value() -> float:
        return float(run.number(sign)) * run.value(Form.symbol(name))

    how = ("sign", name, *sorted(sources), _table(sign))
    return _made(run, how, name, ("laplace", law[1]), sources | {name}, value)


def _table(sign: Any) -> Key:
    """Return a key that distinguishes a sign from other functions of the same draws."""
    if isinstance(sign, Lazy):
        return tuple(int(sign.function(outcomes)) for outcomes, _ in states(sign.sources, sign.cuts))
    key: Key = sign.form.key()
    return key


def _sources_of_sign(run: TracedRun, sign: Any) -> frozenset[str] | None:
    """Return the draws behind a fair sign: of a discrete value ±1, or of a centred uniform draw; None for other values."""
    if isinstance(sign, Lazy):
        shares: dict[Any, Fraction] = {}
        for outcomes, mass in states(sign.sources, sign.cuts):
            value = sign.function(outcomes)
            shares[value] = shares.get(value, Fraction(0)) + mass
        return sign.sources if shares == {-1: HALF, 1: HALF} else None
    argument = _operation(run, sign.form, "np.sign") if isinstance(sign, Term) else None
    centred = None if argument is None else _centred(run, argument[0])
    return None if centred is None else frozenset([centred[0]])


def _inverse(run: TracedRun, sign: Term, logarithm_of: Any) -> Form | None:
    """Return sign(u) ln(1 − 2|u|), for u uniform on (−1/2, 1/2), as minus unit Laplace noise; None for other products."""
    signed = _operation(run, sign.form, "np.sign")
    if signed is None or not isinstance(logarithm_of, Term):
        return None
    for name, start in (("np.log", 1), ("math.log", 1), ("np.log1p", 0), ("math.log1p", 0)):
        inner = _operation(run, logarithm_of.form, name)
        if inner is None or inner[0].constant != start or list(inner[0].terms.values()) != [-2]:
            continue
        absolute = _operation(run, Form.symbol(next(iter(inner[0].terms))), "abs")
        centred = _centred(run, signed[0])
        if absolute is not None and centred is not None and absolute[0].key() == signed[0].key():
            source = centred[0]

            def value() -> float:
                return -run.value(sign.form) * run.value(logarithm_of.form)

            return _made(
                run, ("inverse", signed[0].key()), source, ("laplace", Fraction(1)), frozenset([source]), value
            ).negated()
    return None


def _operation(run: TracedRun, form: Form, name: str) -> tuple[Form, ...] | None:
    """Return an operation's arguments, if a form is exactly that operation."""
    if len(form.terms) != 1 or form.constant:
        return None
    [(symbol, factor)] = form.terms.items()
    if symbol[0] != OPAQUE or factor != 1 or run.is_coarse(symbol):
        return None
    operation, arguments = run.names.terms[symbol]
    return arguments if operation.partition("[")[0] == name else None


def require_unused(run: TracedRun, path: Path) -> None:
    """Raise NotProvedError if a draw consumed by computed noise is also used for something else."""
    if not run.consumed:
        return
    forms = [condition.form for condition in path.conditions]
    forms += [leaf for leaf in path.leaves if isinstance(leaf, Form)]
    used = {name for form in forms for name in run.names.symbols(form)} | path.labels.keys()
    if path.groups or not used.isdisjoint(run.consumed):
        raise NotProvedError("a draw that computed noise consumes is also used for something else; draw twice")
