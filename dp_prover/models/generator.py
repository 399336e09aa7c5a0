"""The generator of a traced run: NumPy's methods, with their signatures and checks, draw symbols.

NumPy itself checks the arguments: the real method is called once, with an acceptable number in place of each term. That call also
gives the shape and the type of the draws.
"""

import functools
import inspect
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dp_prover.errors import NotProvedError
from dp_prover.interfaces import LARGEST_INTEGER, NoiseDraw
from dp_prover.models.arithmetic import (
    LARGEST_FLOAT,
    SMALLEST_DIVISOR,
    binary,
    is_true,
    lazily,
    made,
    multiplied,
    native,
    raised,
    require_noise_above_rounding,
    require_sure,
)
from dp_prover.models.arrays import as_array, real, require_few
from dp_prover.models.lazy import Lazy, Numbered, State
from dp_prover.models.run import TracedRun, label_of
from dp_prover.models.values import Array, Term, array_of, as_form, constant, is_safe, typed
from dp_prover.numbers.form import Form, Law, exact

MOST_OUTCOMES = 4096


class Generator:
    """Represents the mechanism's generator. It is stateless; the run keeps the state."""


RNG = Generator()


def scratch() -> np.random.Generator:
    """Return a NumPy generator, used only for its checks and types."""
    return np.random.Generator(np.random.PCG64(0))


def checked(method: str, *arguments: Any, **keywords: Any) -> Any:
    """Draw from NumPy with constants, for the type and shape of the result. NumPy's exceptions are the mechanism's."""
    return native(getattr(scratch(), method), *arguments, **keywords)


def finite(outcomes: Sequence[State]) -> Law:
    """Return the law of a discrete draw."""
    return ("finite", *((label_of(value), mass) for value, mass in outcomes))


def _size(size: Any) -> Any:
    lengths = real(size)
    if lengths is not None:
        require_few(int(np.prod(np.asarray(lengths, dtype=object))))
    return lengths


def _given(run: TracedRun, shown: Any, *parameters: Any) -> list[list[Any]]:
    """Broadcast the parameters to each number that is drawn."""
    shape = shown.shape if isinstance(shown, np.ndarray) else ()
    columns = []
    for value in parameters:
        array = as_array(run, value) if isinstance(value, list | tuple) else value
        if isinstance(array, Array):
            places = np.broadcast_to(array.index, shape)
            columns.append([typed(array.store[at], array.dtype) for at in places.ravel().tolist()])
        else:
            columns.append([array] * int(np.prod(shape)))
    return columns


def _placeholder(value: Any, number: Any) -> Any:
    """Return a parameter with an acceptable number in place of its terms."""
    if isinstance(value, Term):
        return number
    if isinstance(value, Array):
        items = [number if isinstance(item, Term) else constant(item) for item in value.flat()]
        return np.array(items, dtype=value.dtype).reshape(value.shape)
    if isinstance(value, list | tuple):
        return [_placeholder(item, number) for item in value]
    return constant(value)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _result(method: str, shown: Any, items: Sequence[Any]) -> Any:
    """Return the result of a call: a number, or an array of numbers."""
    if not isinstance(shown, np.ndarray):
        return (
            typed(items[0], shown.dtype)
            if isinstance(items[0], Numbered) and isinstance(shown, np.generic)
            else items[0]
        )
    if shown.dtype.kind not in "biufUS":
        raise NotProvedError(f"rng.{method} gives an array of {shown.dtype}, which is not modelled")
    plain = [
        Term(item.form, shown.dtype, item.plus_zero)
        if isinstance(item, Term)
        else item.item()
        if isinstance(item, np.generic)
        else lazily(_plain, item)
        if isinstance(item, Lazy) and not isinstance(item, Numbered)
        else item
        for item in items
    ]
    return array_of(plain, shown.shape, shown.dtype)


# Noise -------------------------------------------------------------------------------------------------------------------


def _noise(law: str, run: TracedRun, loc: Any, scale: Any, size: Any, located: bool = True) -> Any:
    size = _size(size)
    numbers = [_placeholder(value, 1.0) for value in ((loc, scale) if located else (scale,))]
    shown = checked(law, *numbers, size=size)
    places, widths = _given(run, shown, loc, scale)
    for width in widths:  # NumPy checks all of them before it draws
        _require_scale(run, width)
    items = [_draw_noise(run, law, law, place, width) for place, width in zip(places, widths, strict=True)]
    return _result(law, shown, items)


def _require_scale(run: TracedRun, width: Any) -> None:
    if not isinstance(width, Term):
        return
    if not is_safe(width, run.names):
        raise NotProvedError("a scale may be −0.0, for which NumPy raises ValueError; use abs")
    require_sure(run, width.form, width)
    if not is_true(run, run.is_above(width.form, strict=False)):
        raise raised(scratch().laplace, (0.0, -1.0), (0.0, -2.0))
    reach = run.names.reach(width.form)
    if reach is None or reach[1] > LARGEST_FLOAT:
        raise NotProvedError("a scale may be too large for a float; limit it")


def _draw_noise(run: TracedRun, method: str, law: str, place: Any, width: Any) -> Any:
    """Return place + width · noise."""
    run.check_time()
    centre = constant(place) if isinstance(place, Lazy) else place
    spread = constant(width) if isinstance(width, Lazy) else width
    form, number = as_form(centre), exact(spread) if not isinstance(spread, Term) else None
    if isinstance(spread, Term) and not spread.form.terms:
        number = spread.form.constant
    if form is None or (number is None and not isinstance(spread, Term)):
        raise NotProvedError(f"the location or the scale of {law} noise is infinite or NaN")
    plus = True if not isinstance(centre, Term) else centre.plus_zero
    if number is None:
        # The scale depends on data or noise: unit noise times a factor that shifts must preserve.
        _require_scale(run, spread)
        name = run.draw((law, Fraction(1)))
        width_term = Term(spread.form, float)
        run.drew(
            NoiseDraw(
                method,
                name,
                lambda drawn: (drawn - run.value(form)) / (run.value(spread.form) or 1.0),
                lambda: (run.value(form), run.value(spread.form)),
            )
        )
        moved = multiplied(run, width_term, Term(Form.symbol(name), float), float)
        return binary(run, "+", made(run, form, float, plus), moved)
    if number == 0:
        run.drew(NoiseDraw(method, None, _nothing, lambda: (run.value(form), 0.0)))
        return made(run, form, float, plus_zero=None)
    if not SMALLEST_DIVISOR < number < LARGEST_FLOAT:
        raise NotProvedError(f"noise of scale {float(number):g} is not modelled; use a scale between 1e-100 and 1e100")
    name = run.draw((law, number))
    scale = float(number)
    run.drew(NoiseDraw(method, name, lambda drawn: drawn - run.value(form), lambda: (run.value(form), scale)))
    whole = form.plus(Form.symbol(name))
    require_noise_above_rounding(run, whole, form)
    return made(run, whole, float, plus)


def _laplace(run: TracedRun, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    """Draw Laplace noise around ``loc``."""
    return _noise("laplace", run, loc, scale, size)


def logistic(run: TracedRun, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    """Draw logistic noise around ``loc``."""
    return _noise("logistic", run, loc, scale, size)


def gumbel(run: TracedRun, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    """Draw Gumbel noise around ``loc``."""
    return _noise("gumbel", run, loc, scale, size)


def normal(run: TracedRun, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    """Draw Gaussian noise around ``loc``; ``scale`` is its standard deviation."""
    return _noise("normal", run, loc, scale, size)


def exponential(run: TracedRun, scale: Any = 1.0, size: Any = None) -> Any:
    """Draw exponential noise."""
    return _noise("exponential", run, 0.0, scale, size, located=False)


def _require_double(dtype: Any, out: Any) -> None:
    if out is not None or native(np.dtype, dtype) != np.float64:
        raise NotProvedError("a draw has out= or another dtype than float64; leave both out")


def _standard(law: str, method: str, size: Any, run: TracedRun) -> Any:
    shown = checked(method, size=_size(size))
    count = shown.size if isinstance(shown, np.ndarray) else 1
    return _result(method, shown, [_draw_noise(run, method, law, 0.0, 1.0) for _ in range(count)])


def standard_normal(run: TracedRun, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
    """Draw standard Gaussian noise."""
    _require_double(dtype, out)
    return _standard("normal", "standard_normal", size, run)


def standard_exponential(
    run: TracedRun, size: Any = None, dtype: Any = np.float64, method: Any = "zig", out: Any = None
) -> Any:
    """Draw exponential noise of scale 1."""
    _require_double(dtype, out)
    return _standard("exponential", "standard_exponential", size, run)


def geometric(run: TracedRun, p: Any, size: Any = None) -> Any:
    """Draw the number of trials until the first success of probability p."""
    probabilities = real(p)
    shown = checked("geometric", probabilities, size=_size(size))
    (chances,) = _given(run, shown, p)
    items: list[Any] = []
    for chance in chances:
        number = exact(constant(chance))
        assert number is not None
        if number == 1:
            run.drew(NoiseDraw("geometric", None, _nothing, lambda: (1.0,)))
            items.append(1)
            continue
        name = run.draw(("geometric", number))
        run.drew(NoiseDraw("geometric", name, lambda drawn: drawn, functools.partial(tuple, (float(number),))))
        items.append(Term(Form.symbol(name), int))
    return _result("geometric", shown, items)


# Uniform numbers -----------------------------------------------------------------------------------------------------------


def random(run: TracedRun, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
    """Draw uniformly from [0, 1)."""
    _require_double(dtype, out)
    return _uniforms(run, "random", checked("random", size=_size(size)), 0.0, 1.0)


def uniform(run: TracedRun, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    """Draw uniformly from [low, high)."""
    if any(isinstance(item, Term) for end in (low, high) for item in (end.flat() if isinstance(end, Array) else [end])):
        raise NotProvedError("the ends of a uniform draw depend on the data or on noise")
    return _uniforms(run, "uniform", checked("uniform", real(low), real(high), size=_size(size)), low, high)


def _uniforms(run: TracedRun, method: str, shown: Any, low: Any, high: Any) -> Any:
    items = []
    for first, last in zip(*_given(run, shown, low, high), strict=True):
        a, b = exact(constant(first)), exact(constant(last))
        assert a is not None and b is not None
        name = run.draw(("uniform",))
        ends = (float(a), float(b)) if method == "uniform" else ()
        run.drew(NoiseDraw(method, name, functools.partial(_unit, a, b), functools.partial(tuple, ends)))
        items.append(made(run, Form({name: b - a} if b > a else {}, a), float, plus_zero=True))
    return _result(method, shown, items)


def _unit(low: Fraction, high: Fraction, drawn: Any) -> float:
    return (drawn - float(low)) / float(high - low) if high > low else 0.0


# Discrete draws ------------------------------------------------------------------------------------------------------------


def _draw_of(
    run: TracedRun,
    method: str,
    outcomes: Sequence[Any],
    masses: Sequence[Fraction],
    parameters: Sequence[float] = (),
    codes: tuple[Callable[[Any], int], Callable[[int], Any]] | None = None,
) -> Any:
    """Draw one of the outcomes, each with its probability.

    ``codes`` decode NumPy's draw to an outcome, and encode an outcome as NumPy's draw.
    """
    possible = [(value, mass) for value, mass in zip(outcomes, masses, strict=True) if mass]
    name = run.draw(finite(possible))
    run.outcomes[name] = possible
    labels = [label_of(value) for value, _ in possible]
    decode, encode = codes or (lambda drawn: possible[labels.index(label_of(drawn))][0], None)
    run.drew(NoiseDraw(method, name, decode, functools.partial(tuple, parameters), encode))
    return Lazy.source(name) if len(possible) > 1 else possible[0][0]


def _few(count: int) -> int:
    if count > MOST_OUTCOMES:
        raise NotProvedError(f"a draw has {count:,} outcomes; at most {MOST_OUTCOMES:,} are enumerated")
    return count


def integers(
    run: TracedRun, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: Any = False
) -> Any:
    """Draw integers from ``low`` to ``high``, which is included only with ``endpoint``."""
    first, last, up_to = real(low), real(high), bool(real(endpoint))
    shown = checked("integers", first, last, size=_size(size), dtype=dtype, endpoint=up_to)
    first, last = (0, first) if last is None else (first, last)
    make = shown.dtype.type if isinstance(shown, np.ndarray) else type(shown)
    items: list[Any] = []
    for least, most in zip(*_given(run, shown, _ours(first), _ours(last)), strict=True):
        a, b = operator.index(least), operator.index(most) + up_to
        if max(abs(a), abs(b)) > LARGEST_INTEGER:
            raise NotProvedError("integers of more than 53 bits are drawn, which floats do not represent exactly")
        if b - a > MOST_OUTCOMES:
            name = run.draw(("uniform",))
            run.drew(
                NoiseDraw("integers", name, functools.partial(_middle, a, b - a), functools.partial(tuple, (a, b)))
            )
            items.append(Numbered(name, a, b - a))
            continue
        possible = [make(a + i) for i in range(b - a)]
        items.append(_draw_of(run, "integers", possible, [Fraction(1, b - a)] * (b - a), (a, b)))
    return _result("integers", shown, items)


def _middle(low: int, count: int, drawn: Any) -> float:
    return float(Fraction(2 * (int(drawn) - low) + 1, 2 * count))


def _ours(value: Any) -> Any:
    return array_of(value.ravel().tolist(), value.shape, value.dtype) if isinstance(value, np.ndarray) else value


def binomial(run: TracedRun, n: Any, p: Any, size: Any = None) -> Any:
    """Draw the number of successes in n trials of probability p."""
    shown = checked("binomial", real(n), real(p), size=_size(size))
    make = shown.dtype.type if isinstance(shown, np.ndarray) else type(shown)
    items = []
    for trials, chance in zip(*_given(run, shown, n, p), strict=True):
        number, count = exact(constant(chance)), _few(int(constant(trials)))
        assert number is not None
        masses = [Fraction(1)]
        for _ in range(count):
            longer = [Fraction(0), *masses]
            masses = [a * number + b * (1 - number) for a, b in zip(longer, [*masses, Fraction(0)], strict=True)]
        items.append(_draw_of(run, "binomial", [make(k) for k in range(count + 1)], masses, (count, float(number))))
    return _result("binomial", shown, items)


def choice(
    run: TracedRun, a: Any, size: Any = None, replace: Any = True, p: Any = None, axis: Any = 0, shuffle: Any = True
) -> Any:
    """Choose among options, with the probabilities ``p``."""
    options = _options(run, a)
    chances, again, size = real(p), bool(real(replace)), _size(size)
    places = np.arange(len(options)) if not isinstance(a, int) else a
    shown = checked("choice", places, size=size, replace=again, p=chances, axis=real(axis), shuffle=real(shuffle))
    weights = [Fraction(1)] * len(options) if p is None else [exact(weight) for weight in np.asarray(chances).tolist()]
    masses = [weight for weight in weights if weight is not None]
    _few(len(options))
    count = shown.size if isinstance(shown, np.ndarray) else 1
    if not again and count > 1 and (p is not None or not shuffle):
        raise NotProvedError("rng.choice without replacement is not modelled with `p=` or `shuffle=False`")
    left, items = list(range(len(options))), []
    given = (float(again), len(options), *([] if p is None else map(float, masses)))
    of_constants = not any(isinstance(option, Term | Lazy) for option in options)
    for _ in range(count):
        total = sum((masses[at] for at in left), Fraction(0))
        shares = [masses[at] / total for at in left]
        if of_constants and again:
            items.append(_draw_of(run, "choice", options, shares, given))
            continue
        # The choice is settled here, so that the chosen data value itself becomes the result.
        place = functools.partial(_place_of, run, [(at, options[at]) for at in left])
        number = functools.partial(_number_at, run, options)
        chosen = int(constant(_draw_of(run, "choice", left, shares, given, (place, number))))
        items.append(options[chosen])
        if not again:
            left = [at for at in left if at != chosen]
    if isinstance(shown, np.ndarray) and isinstance(a, Array | list | tuple):
        shown = np.zeros(shown.shape, as_array(run, a).dtype)
    return _result("choice", shown, items)


def _options(run: TracedRun, a: Any) -> list[Any]:
    """Return the options, as NumPy sees them: a list becomes an array first."""
    if isinstance(a, Array | list | tuple):
        array = as_array(run, a)
        if len(array.shape) != 1:
            raise NotProvedError("rng.choice chooses rows of an array; choose a row index instead")
        return list(array.typed())
    count = _few(operator.index(real(a)))
    return list(range(count))


def _number_at(run: Any, options: Sequence[Any], at: int) -> Any:
    return run.number(options[at])


def _nothing(drawn: Any) -> None:
    """Decode a degenerate draw, which has no symbol."""


def _place_of(run: Any, options: Sequence[tuple[int, Any]], drawn: Any) -> int:
    values = [(at, run.number(option)) for at, option in options]
    return min(values, key=lambda pair: abs(float(pair[1]) - float(drawn)))[0]


# Orders --------------------------------------------------------------------------------------------------------------------


def permutation(run: TracedRun, x: Any, axis: Any = 0) -> Any:
    """Return the items of ``x``, or the integers below it, in random order."""
    if real(axis) != 0:
        raise NotProvedError("rng.permutation has an axis; permute a list of one axis")
    if isinstance(x, Array | list | tuple):
        array = x if isinstance(x, Array) else as_array(run, x)
        if len(array.shape) != 1:
            raise NotProvedError("rng.permutation has an array with several axes")
        items, dtype = array.flat(), array.dtype
    else:
        items, dtype = list(range(_few(operator.index(real(x))))), np.dtype(np.int64)
    order = _order(run, len(items))
    return array_of([items[at] for at in order], (len(items),), dtype)


def shuffle(run: TracedRun, x: Any, axis: Any = 0) -> None:
    """Shuffle a list or an array in place."""
    if real(axis) != 0 or (isinstance(x, Array) and len(x.shape) != 1) or not isinstance(x, Array | list):
        raise NotProvedError("rng.shuffle has an axis, or something other than a list; shuffle a list of one axis")
    if isinstance(x, list):
        x[:] = [x[at] for at in _order(run, len(x))]
        return
    if x.store.unsure:
        raise NotProvedError("an array is shuffled, and may share its numbers with another array; shuffle a copy()")
    items, order = x.flat(), _order(run, x.shape[0])
    for place, at in zip(x.index.tolist(), order, strict=True):
        x.store[place] = items[at]


def _order(run: TracedRun, count: int) -> list[int]:
    """Return a random order of indices, settled by forks."""
    left, order = list(range(count)), []
    while left:
        masses = [Fraction(1, len(left))] * len(left)
        place = _draw_of(run, "permutation", range(len(left)), masses, (), (left.index, left.__getitem__))
        order.append(left.pop(int(constant(place))))
    return order


METHODS: dict[str, Callable[..., Any]] = {
    "laplace": _laplace,
    "logistic": logistic,
    "gumbel": gumbel,
    "normal": normal,
    "exponential": exponential,
    "standard_normal": standard_normal,
    "standard_exponential": standard_exponential,
    "geometric": geometric,
    "random": random,
    "uniform": uniform,
    "integers": integers,
    "binomial": binomial,
    "choice": choice,
    "permutation": permutation,
    "shuffle": shuffle,
}


def parameters_of(name: str) -> list[str]:
    """Return the names of a method's parameters, in order."""
    return list(inspect.signature(METHODS[name]).parameters)[1:]
