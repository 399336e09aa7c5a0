# mypy: ignore-errors
# ruff: noqa
"""Programs that a prover mistook for others: it read their source, and Python or NumPy do something else.

Each claim is false, for the reason in the comment above its function. An output is a value or an exception with its message. "Above
300" is an event of small probability, in which the output identifies the data set.
"""

import dataclasses
import math
import sys
import types
from typing import Any

import numpy as np

import auditor

__scale = 1.0
_Mangled__scale = 0.001


@dataclasses.dataclass(frozen=True)
class Deception:
    mechanism: Any
    claim: Any
    domain: Any
    parameters: dict[str, Any]
    pair: tuple[Any, Any]


# -- The language: names, defaults and attributes. The noise has scale .001 (ε = 1000), but seems to have scale 1.


class Mangled:
    # A private name inside a class body is mangled: _Mangled__scale.
    @staticmethod
    def private_name_in_a_class(totals, rng):
        return totals + rng.laplace(0.0, __scale, len(totals))


# __kwdefaults__ apply to keyword-only parameters; the default of this positional one stays .001.
def keyword_default_of_a_positional(totals, rng, scale=0.001):
    return totals + rng.laplace(0.0, scale, len(totals))


keyword_default_of_a_positional.__kwdefaults__ = {"scale": 1.0}


class TupleThatLies(tuple):
    def __iter__(self):
        return iter((1.0,))


# Python reads the slots of the tuple of defaults, not what its class iterates over.
def defaults_in_a_subclass_of_tuple(totals, rng, scale=0.001):
    return totals + rng.laplace(0.0, scale, len(totals))


defaults_in_a_subclass_of_tuple.__defaults__ = TupleThatLies((0.001,))


class DictOfItemsThatLie(dict):
    def items(self):
        return {"scale": 1.0}.items()


# Python reads the dictionary of defaults itself, not the items that its class returns.
def defaults_in_a_subclass_of_dict(totals, rng, *, scale=0.001):
    return totals + rng.laplace(0.0, scale, len(totals))


defaults_in_a_subclass_of_dict.__kwdefaults__ = DictOfItemsThatLie(scale=0.001)


class HidesItsDict:
    __dict__ = {}
    scale = 1.0


HIDES_ITS_DICT = HidesItsDict()
HIDES_ITS_DICT.scale = 0.001


# The class has an attribute called __dict__, which does not hold the object's attributes.
def dict_hidden_by_the_class(totals, rng):
    return totals + rng.laplace(0.0, HIDES_ITS_DICT.scale, len(totals))


class TellsOtherBases(type):
    @property
    def __mro__(cls):
        return (OtherBase, object)


class OtherBase:
    scale = 1.0


class WithoutOtherBase(metaclass=TellsOtherBases):
    scale = 0.001


WITHOUT_OTHER_BASE = WithoutOtherBase()


# The metaclass reports other base classes than those that Python searches.
def bases_told_by_the_metaclass(totals, rng):
    return totals + rng.laplace(0.0, WITHOUT_OTHER_BASE.scale, len(totals))


# -- The language: which object is changed, and when. Above 300 the exact count is returned.


# An in-place product of a list with True is the same list and no copy.
def list_times_true_in_place(totals, y):
    out = [y]
    a = out
    a *= True
    a[0] = totals[0] + 0.0
    return out[0]


# An in-place product of a list with a NumPy integer is the same list and no copy.
def list_times_numpy_integer_in_place(totals, y):
    out = [y]
    a = out
    a *= np.int64(1)
    a[0] = totals[0] + 0.0
    return out[0]


# max calls its key on an item before the generator makes the next one.
def max_of_a_generator_with_a_key(totals, y):
    looked = []
    return max(
        (y if len(looked) == 0 else totals[0] + 0.0 for i in range(2)),
        key=lambda v: looked.append(0) or len(looked),
    )


# max reads the list as its key has changed it meanwhile.
def max_of_a_list_changed_by_its_key(totals, y):
    items = [y, y]

    def judged(v):
        if len(items) == 2:
            items[1] = totals[0] + 0.0
            items.append(y)
            return 0
        return 1

    return max(items, key=judged)


# A range as an index makes a copy in NumPy, and no view.
def range_as_an_index(totals, y):
    a = totals + 0.0
    b = a[range(1)]
    b[0] = y
    return a[0]


# The two rows are the same list, passed twice inside one parameter.
def one_list_twice_in_a_parameter(totals, rng, rows):
    y = totals[0] + rng.laplace(0.0, 1.0)
    if y > 300:
        rows[0][0] = y
        rows[1][0] = totals[0] + 0.0
        return rows[0][0]
    return y


# The two parameters are one list.
def one_list_in_two_parameters(totals, rng, a, b):
    y = totals[0] + rng.laplace(0.0, 1.0)
    if y > 300:
        a[0] = y
        b[0] = totals[0] + 0.0
        return a[0]
    return y


# A key that is removed and added again moves to the end, and the loop meets it once more.
def key_put_back_in_a_loop(totals, y):
    d = {"a": 0.0, "b": totals[0] + 0.0, "c": y}
    for k in d:
        if k == "a":
            v = d.pop("b")
            d["b"] = v
    return d[k]


# tolist makes a new NaN each time, and lists of different NaN are not equal.
def nan_of_two_lists(totals, y):
    a = np.array([np.nan])
    return y if a.tolist() == a.tolist() else totals[0] + 0.0


# item makes a new NaN each time, which is not found in a dictionary.
def nan_as_a_key(totals, y):
    n = np.array([math.nan])
    d = {(n.item(),): 0.0}
    return y if (n.item(),) in d else totals[0] + 0.0


# The ends of a slice are evaluated before the generator is read, which extends the list.
def slice_assigned_from_a_generator(totals, y):
    items = [y]
    items[-1:] = (items.append(totals[0] + 0.0) or y for i in range(1))
    return items[1]


# A starred list is unpacked after the keyword argument is evaluated, which extends it.
def starred_list_changed_by_a_keyword(totals, y):
    def last(*given, k):
        return given[-1]

    items = [y]
    return last(*items, k=items.append(totals[0] + 0.0))


# The := of the lambda binds a name of the lambda, so nonlocal writes to the z of the outermost function.
def assignment_in_a_lambda_in_a_comprehension(totals, rng):
    z = totals[0] + rng.laplace(0.0, 1.0)

    def change():
        [(lambda: (z := 0)) for i in ()]

        def inner():
            nonlocal z
            z = totals[0] + 0.0

        inner()

    if z > 300:
        change()
    return z


class TimesIsOther(np.float64):
    def __mul__(self, other):
        return other


ZERO = TimesIsOther(0.0)


# -- The language: exceptions, and their messages.


# sum raises the TypeError of the first item before it reads the second, which raises a ValueError that reveals the count.
def sum_of_a_generator_that_raises(totals, y):
    def item(i):
        if i == 1:
            raise ValueError("second")
        return "a" if totals[0] > 50 else 1

    return sum(item(i) for i in range(2))


# math.fsum raises the TypeError of the first item before it reads the second, which raises a ValueError that reveals the count.
def fsum_of_a_generator_that_raises(totals, y):
    def item(i):
        if i == 1:
            raise ValueError("second")
        return "a" if totals[0] > 50 else 1

    return math.fsum(item(i) for i in range(2))


# The message contains the shapes.
def message_of_shapes(totals, y):
    if totals[0] > 50:
        a = np.zeros(2)
    else:
        a = np.zeros(3)
    b = np.zeros(1)
    b += a


# The message is that of a division or of a remainder whenever the noise is small.
def message_of_zero_division(totals, rng):
    n = int(rng.laplace(0.0, 1.0))
    if totals[0] > 50:
        1 / n
    else:
        1 % n
    return totals[0] + rng.laplace(0.0, 1.0)


# The annotation of the inner function is evaluated, and raises on an empty list.
def annotation_that_raises(totals, y):
    items = [0] if totals[0] > 50 else []

    def g(a: items[0]):
        return a


# The annotation of the inner function is a name that has no value on one of the sides.
def annotation_without_a_value(totals, y):
    if totals[0] > 50:
        kind = 0

    def g(a) -> kind:
        return a


class TellsItsCaller(Exception):
    __module__ = "builtins"

    def __init__(self):
        data = sys._getframe(1).f_locals.get("totals")
        super().__init__("" if data is None else str(data[0]))


# The exception claims to be one of Python's, and its message is the exact count, from the frame that raises it.
def exception_said_to_be_of_python(totals, y):
    raise TellsItsCaller()


# -- Numbers: the sign of zero.


# -0.0 is released with probability .197 if the second count is -1, and never if it is 0.
def sign_of_an_added_zero(x, rng):
    return np.round(x[0] + rng.laplace(0, 1)) + x[1] * 0.0


# Minus infinity is released with probability .197 if the second count is -1, and never if it is 0.
def infinity_of_an_added_zero(x, rng):
    return 1 / (np.round(x[0] + rng.laplace(0, 1)) + x[1] * 0.0)


# -0.0 is released if the second count is above 50 and otherwise never, since adding 0.0 takes away its sign.
def sign_that_one_branch_keeps(x, rng):
    r = np.round(x[0] + rng.laplace(0, 1))
    if x[1] > 50:
        return r
    return r + 0.0


# Rounded Gaussian noise gives -0.0 if the second count is -1, and never if it is 0.
def sign_of_rounded_gaussian_noise(x, rng):
    return np.rint(x[0] + rng.normal(0, 1)) + x[1] * 0.0


# NumPy raises a ValueError for the scale -0.0, and not for 0.0.
def scale_of_minus_zero(x, rng):
    y = x[0] + rng.laplace(0, 1)
    if y > 300:
        rng.laplace(0.0, x[1] * 0.0)
    return y


# -- Numbers: messages of exceptions that are raised above 20.


# The message is that of a division of floats or of integers, whenever the noisy count is below 1.
def message_of_dividing_by_a_noisy_count(x, rng):
    z = int(x[0] + rng.laplace(0, 1))
    if x[1] > 50:
        1.0 / z
    else:
        1 // z
    return 0


# -- Mechanisms under other conditions than those of a plain call, which the tests describe.


# If NumPy is set to raise, count 50 raises a FloatingPointError and 51 does not.
def divides_by_zero(totals, rng):
    1.0 / (totals[0] - 50)
    return totals[0] + rng.laplace(0.0, 1.0)


# Where import is replaced, math may be another module, whose e is .001.
def imports_math(totals, rng):
    import math

    return totals + rng.laplace(0.0, math.e, len(totals))


# An integer with sixteen million digits.
def large_factorial(totals, rng):
    math.factorial(3 * 10**6)
    return totals + rng.laplace(0.0, 1.0, len(totals))


# The list grows by an element for each element that is read, so the loop never ends.
def insert_while_reading(totals, rng):
    x = [0]
    any(map(lambda v: x.insert(0, 0), x))
    return totals + rng.laplace(0.0, 1.0, len(totals))


# Private, and called with a list that contains itself.
def takes_a_list(totals, rng, a):
    return totals + rng.laplace(0.0, 1.0, len(totals))


# Noise of scale 1e17 has delta 4e-18 at epsilon 0, a difference of two numbers near 1/2.
def hardly_any_delta(x, rng):
    return x[0] + rng.normal(0, 1e17)


# A coin for integers, and 2 for floats.
def coin_of_an_integer(v, rng):
    return 2 if isinstance(v, float) else int(rng.random() < 0.5)


ONE_LIST = [0]


def _counts(low, high):
    return auditor.Totals(cells=3, values=(low, high), contribution={"l1": 1})


def tells_above(limit, told, name=None):
    """Return a mechanism that releases a noisy count, and above a limit the value of ``told`` instead."""

    def mechanism(x, rng):
        y = x[0] + rng.laplace(0.0, 1.0)
        if y > limit:
            return told(x, y)
        return y

    mechanism.__name__ = name or told.__name__
    return mechanism


def raises_above(limit, told, name=None):
    """Return a mechanism that releases a noisy count, unless ``told`` raises an exception since the count is above a limit."""

    def mechanism(x, rng):
        y = x[0] + rng.laplace(0.0, 1.0)
        if y > limit:
            told(x, y)
        return y

    mechanism.__name__ = name or told.__name__
    return mechanism


def with_difference(made):
    """Return a function that adds to y the difference of a number and itself, which is NaN if the number is infinite."""

    def told(x, y):
        z = made(x)
        return y + (z - z)

    return told


def _language(mechanism, **parameters):
    pair = np.array([50, 1, 1]), np.array([51, 1, 1])
    return Deception(mechanism, auditor.PureDP(1.0), _counts(0, 100), parameters, pair)


def _numbers(mechanism, left, right, low=0, high=100):
    return Deception(mechanism, auditor.PureDP(1.0), _counts(low, high), {}, (np.array(left), np.array(right)))


SECOND_TO_51 = (50, 50, 0), (50, 51, 0)
FIRST_TO_51 = (50, 0, 0), (51, 0, 0)
TO_MINUS_1 = (0, 0, 0), (0, -1, 0)
TO_1 = (0, 0, 0), (0, 1, 0)
SECOND_TO_128 = (0, 127, 0), (0, 128, 0)
SECOND_TO_16 = (0, 15, 0), (0, 16, 0)

# Above the limit one side raises an exception, or raises one with another message.
RAISED = tuple(
    (limit, pair, most, (one, why))
    for limit, pair, most, why, one in (
        (20, SECOND_TO_51, 100, "max is reached before min", lambda x, y: max([]) if x[1] > 50 else min([])),
        # Limits of types
        (800, SECOND_TO_128, 300, "128 has 8 bits", lambda x, y: np.maximum(int(x[1]), np.full(1, 5, np.int8)[0])),
        (800, SECOND_TO_16, 300, "16 times 2 to the 60 has no root", lambda x, y: np.sqrt(int(x[1]) * 2**60)),
        (800, SECOND_TO_51, 300, "2 to the 70 has no minimum", lambda x, y: x[1] > 50 and np.minimum(x[1], 2**70)),
        (800, SECOND_TO_51, 300, "divided by 2 to the 70", lambda x, y: x[1] > 50 and x[1] // 2**70),
        (800, SECOND_TO_51, 300, "power of 2 to the 70", lambda x, y: x[1] > 50 and x[1] ** 2**70),
        (800, SECOND_TO_51, 300, "too many digits", lambda x, y: x[1] > 50 and np.round(x[1], 10**20)),
        (800, TO_1, 100, "root of 10 to the 400", lambda x, y: math.sqrt(int(x[1]) * 10**200 * 10**200)),
        (800, TO_1, 100, "isnan of 10 to the 400", lambda x, y: math.isnan(int(x[1]) * 10**200 * 10**200)),
        (800, TO_1, 100, "power beyond floats", lambda x, y: (float(x[1]) * 1e-100 + 1e-200) ** -2),
        (800, TO_1, 100, "math.pow beyond floats", lambda x, y: math.pow(float(x[1]) * 1e-100 + 1e-200, -2)),
        # Calls that NumPy and Python refuse
        (300, FIRST_TO_51, 100, "cumsum has no keepdims", lambda x, y: x[0] > 50 and np.cumsum(x, keepdims=True)),
        (300, FIRST_TO_51, 100, "a number has no item 3", lambda x, y: x[0] > 50 and x[0].item(3)),
        (300, FIRST_TO_51, 100, "sort takes no axis None", lambda x, y: x[0] > 50 and x.copy().sort(axis=None)),
        (300, FIRST_TO_51, 100, "np.round takes no None", lambda x, y: x[0] > 50 and np.round(x[0], None)),
        (300, FIRST_TO_51, 100, "nor does the method round", lambda x, y: x[0] > 50 and x[0].round(None)),
        (300, SECOND_TO_51, 100, "a text is no keepdims", lambda x, y: x[1] > 50 and np.sum(x, keepdims="no")),
        (300, SECOND_TO_51, 100, "None is no reverse", lambda x, y: x[1] > 50 and sorted([x[0]], reverse=None)),
        (300, SECOND_TO_51, 100, "0 is no dtype", lambda x, y: x[1] > 50 and np.full(3, x[0], dtype=0)),
    )
)
# If the noisy count is above 800, one side is infinite or NaN.
QUOTIENT_OF_32_BITS = lambda x, y: 1.0 if math.isinf(np.divide(float(x[1]) * 1e37, np.full(1, 1, np.float32)[0])) else y
TOLD = (
    (((0, 34, 0), (0, 35, 0)), 300, (QUOTIENT_OF_32_BITS, "35e37 has 32 bits")),
    # Rounding 2 to 308 digits overflows inside, and rounding 1 does not.
    (((0, 2, 0), (0, 4, 0)), 100, (with_difference(lambda x: np.round(x[1] / 2, 308)), "rounded to 308 digits")),
    *(
        (TO_1, 100, (with_difference(one), why))
        for why, one in (
            ("squares of the variance", lambda x: np.var(x * 1e200)),
            ("squares of the norm", lambda x: np.linalg.norm(x * 1e200)),
            ("quotient by 1e-300", lambda x: (x[2] * 1e10 + 1e10) / (x[1] * 1e-290 + 1e-300)),
        )
    ),
)

READERS = (
    *(
        _language(one)
        for one in (
            *(Mangled.private_name_in_a_class, keyword_default_of_a_positional),
            *(defaults_in_a_subclass_of_tuple, defaults_in_a_subclass_of_dict, dict_hidden_by_the_class),
            *(bases_told_by_the_metaclass, assignment_in_a_lambda_in_a_comprehension),
            message_of_zero_division,
        )
    ),
    *(
        _language(tells_above(300, one))
        for one in (
            *(max_of_a_generator_with_a_key, starred_list_changed_by_a_keyword),
            *(sum_of_a_generator_that_raises, fsum_of_a_generator_that_raises),
            *(list_times_true_in_place, list_times_numpy_integer_in_place, max_of_a_list_changed_by_its_key),
            *(range_as_an_index, key_put_back_in_a_loop, nan_of_two_lists, nan_as_a_key),
            slice_assigned_from_a_generator,
        )
    ),
    _language(one_list_twice_in_a_parameter, rows=[[0]] * 2),
    _language(one_list_in_two_parameters, a=ONE_LIST, b=ONE_LIST),
    *(
        _language(raises_above(300, one))
        for one in (*(message_of_shapes, annotation_that_raises, annotation_without_a_value),)
    ),
    _language(raises_above(30, exception_said_to_be_of_python)),
    _language(tells_above(300, lambda x, y: y + ZERO * x[0], "a subclass of a NumPy number adds the count again")),
    *(
        _language(raises_above(300, one, why))
        for why, one in (
            ("the message has the exact count", lambda x, y: [-5].index(x[0])),
            ("that of a float, or of a NumPy one", lambda x, y: float(y) > "a" if x[0] > 50 else y > "a"),
        )
    ),
    *(
        _numbers(one, *TO_MINUS_1, -10, 10)
        for one in (sign_of_an_added_zero, infinity_of_an_added_zero, scale_of_minus_zero)
    ),
    *(
        _numbers(one, (0, 50, 0), (0, 51, 0))
        for one in (sign_that_one_branch_keeps, message_of_dividing_by_a_noisy_count)
    ),
    *(_numbers(raises_above(limit, *one), *pair, 0, most) for limit, pair, most, one in RAISED),
    *(_numbers(tells_above(800, *one), *pair, 0, most) for pair, most, one in TOLD),
    Deception(
        sign_of_rounded_gaussian_noise,
        auditor.ZeroConcentratedDP(0.5),
        auditor.Totals(cells=2, values=(-10, 10), contribution={"l1": 1}),
        {},
        (np.array([0, 0]), np.array([0, -1])),
    ),
)


# Between the numbers that are tried: overflow in the middle of a range --------------------------------------------------


def _large(x, most, times=1.0):
    return np.exp(most * (x[0] % 1.0)) * times


def noise_beside(made, name):
    """Return noise plus the difference of a number and itself, which is NaN if x % 1 is near 1."""

    def mechanism(x, rng):
        return with_difference(made)(x, rng.laplace(0, 1))

    mechanism.__name__ = name
    return mechanism


def integer_squared(x):
    i = int(_large(x, 355.0))
    return float(i * i)


def variance_of_two(x):
    g = _large(x, 355.5)
    return np.var(np.array([g, -g]))


# exp overflows above 709, and its square above 355.
OVERFLOWS = tuple(
    noise_beside(one, why)
    for why, one in (
        ("square", lambda x: _large(x, 355.0) * _large(x, 355.0)),
        ("multiple", lambda x: _large(x, 709.0, 10)),
        ("quotient", lambda x: np.exp(709.0 * (x[0] % 1.0)) / (2.0 - x[0] % 1.0 - 0.95) * 4),
        ("variance", variance_of_two),
        ("rounding", lambda x: np.round(_large(x, 675.3), 15)),
        ("integer", integer_squared),
        ("sum", lambda x: np.sum(np.array([_large(x, 709.0)] * 3))),
        ("an integer for which NumPy has no room", lambda x: np.arcsinh(math.floor(_large(x, 44.5)))),
    )
)


def infinity_that_is_compared(x, rng):
    """Return the second number without noise if the first overflows."""
    return rng.laplace(0, 1) if _large(x, 709.0, 10) < np.inf else x[1]


def zero_times_infinity(x, rng):
    return _large(x, 709.0, 10) * 0.0 + rng.laplace(0, 1)


def two_ways_to_an_integer(x, rng):
    """int() has no limit, and int64 has one."""
    g = _large(x, 43.7)
    return int(g) - np.array([g]).astype(np.int64)[0] + rng.laplace(0, 1)


# Draws that depend on one another ---------------------------------------------------------------------------------------


def signs_of_the_same_coins(x, rng):
    """Both signs are fair. With probability 1/1500 they are opposite, and the noise cancels."""
    e = rng.exponential(1.0)
    c = 2 * rng.integers(0, 2) - 1
    s = 1 - 2 * (rng.integers(0, 1500) == 0)
    return x[0] + e * (c * s) / 2 + e * (c * abs(s)) / 2


def noise_that_equals_what_it_is_made_of(x, rng):
    """With probability 2⁻¹² the number is released without noise."""
    e = [rng.exponential(1.0) for _ in range(12)]
    c = [2 * rng.integers(0, 2) - 1 for _ in range(12)]
    if all([a * b == a for a, b in zip(e, c)]):
        return x[0] + 0.0
    return x[0] + rng.laplace(0, 1.0)


def large_integers_compared_as_floats(x, rng):
    """NumPy compares these as floats, so the share of lies is half of what it seems."""
    if rng.integers(2**62, 2**62 + 10**6) < float(2**62 + 1024):
        return 1 - int(x[0])
    return int(x[0])


REALS = auditor.Totals(cells=2, values=(-10, 10), contribution={"l1": 1}, integer=False)
BITS = auditor.Totals(cells=1, values=(0, 1), contribution={"l1": 1})
BETWEEN = tuple(
    (mechanism, auditor.PureDP(0.001), REALS)
    for mechanism in (
        *OVERFLOWS,
        *(infinity_that_is_compared, zero_times_infinity, two_ways_to_an_integer),
    )
) + (
    (signs_of_the_same_coins, auditor.PureDP(1.0), REALS),
    (noise_that_equals_what_it_is_made_of, auditor.PureDP(1.0), REALS),
    (large_integers_compared_as_floats, auditor.PureDP(6.9), BITS),
)


def word_and_noise(dataset, rng):
    """The same draws for both words, of which only the last is released."""
    a, b, c = rng.laplace(0, 1), rng.laplace(0, 1), rng.laplace(0, 1)
    return ("n0" if dataset == 0 else "n1", c)


def count_and_geometric_noise(x, rng):
    return float(x[0]) + rng.geometric(0.5) - rng.geometric(0.5)


# Draws that decide and are released as well -----------------------------------------------------------------------------


def coin_that_is_shown(v, rng):
    """The number that decides the answer is released: between 1/4 and 3/4 it comes with another answer for the bit 1 than for 0."""
    u = rng.random()
    return (1, u) if u < (0.75 if v == 1 else 0.25) else (0, u)


def coin_that_jitters(v, rng):
    """One uniform number decides the answer and its jitter."""
    u = rng.random()
    answer = 1.0 if u < (0.75 if v == 1 else 0.25) else 0.0
    return answer + 0.5 * u


def coin_in_a_condition(v, rng):
    u = rng.random()
    keep = u < (0.75 if v == 1 else 0.25)
    return (bool(keep), bool(u + rng.laplace(0.0, 0.001) > 0.5))


def sample_that_is_shown(x, rng):
    """ε is 0.5 if the sample is known, instead of 0.29 if it is secret."""
    u = rng.random()
    out = 0.0
    for v in x:
        if u < 0.5:
            out = out + float(v)
    return (float(out + rng.laplace(0.0, 2.0)), u)


def everybody_came(x, rng):
    """The sum of three floats exceeds the exact sum, which is the value of some data set."""
    return 1e6 if x[0] >= 0.1 + 0.2 + 0.3 else x[0] + rng.laplace(0.0, 1.0)


BIT = auditor.Value(values=[0, 1])
COUNT = auditor.Totals(cells=1, values=(0, 100), contribution={"l1": 1})
SHOWN = (
    *((one, auditor.PureDP(1.1), BIT) for one in (coin_that_is_shown, coin_that_jitters, coin_in_a_condition)),
    (sample_that_is_shown, auditor.PureDP(0.29), auditor.Records(choices=[0, 1], size=(0, 1))),
    (everybody_came, auditor.PureDP(0.5), auditor.Totals(contributions=[(0.1,), (0.2,), (0.3,)], people=(0, 1))),
)


# Views of arrays whose columns lie one after the other -------------------------------------------------------------------


def table_that_is_reshaped(x, rng):
    shares = np.array([x, x]) * 1e-8
    flat = np.reshape(shares.T, 4, order="F")
    flat *= 2
    return shares.sum() + rng.laplace(0, 2e-8)


TWO_CELLS = auditor.Totals(cells=2, values=(0, 10), contribution={"l1": 1})
COLUMNS = ((table_that_is_reshaped, auditor.PureDP(1.0), TWO_CELLS),)
