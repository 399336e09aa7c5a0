# mypy: ignore-errors
"""Programs that look private but break their claim, by means of the Python language and of the world outside the program.

On the pair of each, the outputs of the function with a real NumPy generator differ more than the claim allows; ``why`` says
how. An exception is an output.
"""

import enum
import functools
import hashlib
import math
import numbers
import random
import sys
import types

import collected_deceptions
import numpy as np

from auditor import GaussianDP, PureDP, Totals, Value

DECEPTIONS = []
deceives = functools.partial(collected_deceptions.deceives, DECEPTIONS)


COUNTS = Totals(cells=3, values=(0, 100), contribution={"l1": 1})
AMOUNTS = Totals(cells=3, values=(0.0, 100.0), contribution={"l1": 1.0}, integer=False)
ANSWER = Value(values=[0, 1, 2])

PURE = PureDP(1.0)

# The pairs on which most programs break their claims.
TO_37 = ([36, 5, 5], [37, 5, 5])
FROM_0 = ([0, 5, 5], [1, 5, 5])
REAL = ([36.0, 5.0, 5.0], [37.0, 5.0, 5.0])


def deceives_at_37(kind, why):
    return deceives(kind, COUNTS, PURE, TO_37, why)


# ---------------------------------------------------------------------------------------------------------------------
TEXT = "a number as text or bytes"


@deceives_at_37(TEXT, "the text of one count is looked up, and found for 37 only")
def region_by_name(x, rng):
    noisy = x + rng.laplace(size=3)
    if f"region-{x[0]}" == "region-37":
        return x.astype(float)
    return noisy


@deceives(TEXT, COUNTS, PURE, ([99, 5, 5], [100, 5, 5]), "the text of 100 is longer than that of 99")
def width_of_a_column(x, rng):
    noisy = x[0] + rng.laplace()
    return str(round(float(noisy), 3)), len(str(x[0]))


deceives(TEXT, COUNTS, GaussianDP(1.0), TO_37, "the bytes of the array are those of the data")(
    lambda x, rng: ((x + rng.normal(size=3)).tolist(), hashlib.sha256(x.tobytes()).hexdigest()[:4])
)
deceives(TEXT, COUNTS, PURE, ([7, 5, 5], [8, 5, 5]), "the number of bits of a count is not noisy")(
    lambda x, rng: (x[0] + rng.laplace(), int(x[0]).bit_length())
)


# ---------------------------------------------------------------------------------------------------------------------
TYPE = "hash, type and dtype"


deceives_at_37(TYPE, "the dtype of the data is that of integers, for which the noise is left out")(
    lambda x, rng: x + rng.laplace(size=3) * (1.0 if x.dtype.kind not in "iu" else 0.01)
)
deceives_at_37(TYPE, "membership of a set compares hashes of the data")(
    lambda x, rng: x.astype(float) if 37 in set(x.tolist()) else x + rng.laplace(size=3)
)


# ---------------------------------------------------------------------------------------------------------------------
MATCH = "match, isinstance and abstract classes"


@deceives(MATCH, ANSWER, PURE, (0, 2), "a literal pattern compares the answer")
def literal_pattern(x, rng):
    noisy = x + rng.laplace(scale=2.0)
    match x:
        case 2:
            return -1000.0
        case _:
            return noisy


deceives(MATCH, ANSWER, PURE, (0, 2), "an int is registered as an Integral: the abstract class says yes")(
    lambda x, rng: int(x) * 10 + rng.laplace() if isinstance(x, numbers.Integral) else x + rng.laplace(scale=2.0)
)


class Grade(enum.IntEnum):
    BAD = 0
    FAIR = 1
    GOOD = 2


deceives(MATCH, ANSWER, PURE, (1, 2), "an enumeration of the answer prints its name")(
    lambda x, rng: (x + rng.laplace(scale=2.0), Grade(x).name)
)


# ---------------------------------------------------------------------------------------------------------------------
IDENTITY = "identity of objects"


@deceives_at_37(IDENTITY, "small integers are one object each")
def same_small_integer(x, rng):
    noisy = x + rng.laplace(size=3)
    wanted = 37
    return noisy.tolist(), x.tolist()[0] is wanted


@deceives(
    IDENTITY,
    AMOUNTS,
    PURE,
    REAL,
    "a cast that changes nothing is the array itself, and noise of scale 0.01 is taken",
)
def cast_without_a_copy(x, rng):
    data = x.astype(float, copy=False)
    scale = 0.01 if data is x else 1.0
    return data + rng.laplace(scale=scale, size=3)


def none_is_none(x, rng):
    scale = None
    scale = 1.0 if scale is None else scale
    return x + rng.laplace(scale=scale, size=3)


# ---------------------------------------------------------------------------------------------------------------------
TRY = "try and except around data"


@deceives_at_37(TRY, "a number of the data can be hashed, a symbol perhaps not")
def hashable(x, rng):
    try:
        known = 37 in set(x)
    except TypeError:
        known = False
    return -x[0] - 1000.0 if known else x[0] + rng.laplace()


@deceives_at_37(TRY, "an exception group picks the handler by what the data raised")
def group_of_errors(x, rng):
    noisy = x[0] + rng.laplace()
    try:
        raise ExceptionGroup("checks", [ValueError() if x[0] < 37 else KeyError()])
    except* ValueError:
        noisy = noisy + 1000
    except* KeyError:
        noisy = noisy - 1000
    return noisy


# ---------------------------------------------------------------------------------------------------------------------
STATE = "state that outlives a call"

SPENT = {"calls": 0}
FLAGS = np.zeros(2000, dtype=bool)
CURSOR = np.zeros(1, dtype=int)


def _spend():
    SPENT["calls"] += 1
    return SPENT["calls"]


deceives_at_37(STATE, "a helper counts in a dict of the module")(
    lambda x, rng: x + rng.laplace(scale=1.0 if _spend() % 4 else 0.001, size=3)
)


@deceives_at_37(STATE, "an attribute of the function counts the calls")
def attribute_of_the_function(x, rng):
    attribute_of_the_function.calls += 1
    return (
        x + rng.laplace(size=3) if attribute_of_the_function.calls % 4 else [*x.tolist(), attribute_of_the_function.end]
    )


attribute_of_the_function.calls = 0
attribute_of_the_function.end = "end"


@deceives_at_37(STATE, "a large array of the module remembers which calls were made")
def flags_in_an_array(x, rng):
    place = int(CURSOR[0])
    CURSOR[0] = (place + 1) % len(FLAGS)
    FLAGS[place] = not FLAGS[place]
    return x + rng.laplace(size=3) if place % 4 else x.astype(float)


def _counting():
    calls = 0

    def scale():
        nonlocal calls
        calls += 1
        return 1.0 if calls % 4 else 0.001

    return scale


counted_scale = _counting()


deceives_at_37(STATE, "a closure counts with nonlocal")(lambda x, rng: x + rng.laplace(scale=counted_scale(), size=3))


@deceives_at_37(STATE, "the code counts in its own defaults")
def replaced_defaults(x, rng, turn=1):
    replaced_defaults.__defaults__ = ((turn + 1) % 4,)
    return x + rng.laplace(size=3) if turn else x.astype(float)


# ---------------------------------------------------------------------------------------------------------------------
KEPT = "caches and kept generators"


@deceives_at_37(KEPT, "an iterator is used up by the first look at it, so that no noise is left to add")
def used_up_iterator(x, rng):
    noise = (rng.laplace() for _ in x)
    if 1000.0 in noise:
        return None
    return [v + sum(noise) for v in x]


@deceives_at_37(KEPT, "map is lazy: the noise is never added")
def lazy_map(x, rng):
    shown = x.astype(float)

    def add(i):
        shown[i] += rng.laplace()

    map(add, range(3))
    return shown


# ---------------------------------------------------------------------------------------------------------------------
WORLD = "the world outside"


deceives_at_37(WORLD, "the version of Python chooses the scale")(
    lambda x, rng: x + rng.laplace(scale=0.001 if sys.version_info >= (3, 8) else 1.0, size=3)
)


# ---------------------------------------------------------------------------------------------------------------------
OTHER = "randomness from elsewhere"

MODULE_RANDOM = random.Random(5)


@deceives_at_37(OTHER, "the kept state of Python's generator is put back, so that its noise is always one number")
def state_put_back(x, rng):
    state = MODULE_RANDOM.getstate()
    noise = MODULE_RANDOM.expovariate(1.0) - MODULE_RANDOM.expovariate(1.0)
    MODULE_RANDOM.setstate(state)
    return float(x[0] + noise)


# ---------------------------------------------------------------------------------------------------------------------
INSIDE = "the inside of the generator"


@deceives_at_37(INSIDE, "the state of the generator, read as a number, chooses to release the data")
def parity_of_the_state(x, rng):
    rng.random()
    odd = rng.bit_generator.state["state"]["state"] % 2
    return x.astype(float) if odd else x + rng.laplace(size=3)


@deceives_at_37(INSIDE, "two generators over one seed sequence are the same generator twice")
def one_seed_for_two(x, rng):
    seed = int(rng.integers(2**32))
    one, other = np.random.default_rng(seed), np.random.default_rng(seed)
    return [x[0] + one.laplace(), x[1] + other.laplace()]


@deceives_at_37(INSIDE, "the generator writes into the array that it is given")
def written_by_the_generator(x, rng):
    out = rng.standard_normal(3)
    noise = rng.standard_exponential(3, out=out) - out
    return x + noise


# ---------------------------------------------------------------------------------------------------------------------
SOURCE = "source that is not what runs"


def _raw(x, rng):
    return x + 0.001 * rng.laplace(size=3)


def replaced_code(x, rng):
    return x + rng.laplace(size=3)


# The new code claims to stand where the old code stood, so that inspect shows the lines above.
replaced_code.__code__ = _raw.__code__.replace(co_firstlineno=replaced_code.__code__.co_firstlineno)
deceives_at_37(SOURCE, "the code object is another one than the lines of the file say")(replaced_code)


def _quietly_raw(function):
    @functools.wraps(function)
    def call(x, rng):
        return _raw(x, rng)

    return call


@deceives_at_37(SOURCE, "a decorator with functools.wraps shows one function and runs another")
@_quietly_raw
def wrapped_function(x, rng):
    return x + rng.laplace(size=3)


# Two lambdas on one line: inspect shows that line for both.
fair_one, one_of_two_lambdas = lambda x, rng: x + rng.laplace(size=3), lambda x, rng: x + 0.001 * rng.laplace(size=3)
one_of_two_lambdas.__name__ = one_of_two_lambdas.__qualname__ = "one_of_two_lambdas"
deceives_at_37(SOURCE, "of two lambdas on one line the second runs")(one_of_two_lambdas)


def replaced_default(x, rng, scale=1.0):
    return x + rng.laplace(scale=scale, size=3)


replaced_default.__defaults__ = (0.001,)
deceives_at_37(SOURCE, "the default is another than the signature in the file")(replaced_default)


def _with_scale(scale):
    def mechanism(x, rng):
        return x + rng.laplace(scale=scale, size=3)

    return mechanism


replaced_cell = _with_scale(1.0)
replaced_cell.__closure__[0].cell_contents = 0.001
replaced_cell.__name__ = replaced_cell.__qualname__ = "replaced_cell"
deceives_at_37(SOURCE, "the cell of the closure holds another scale than was given")(replaced_cell)


def _noise_with_new_code(rng):
    return rng.laplace(size=3)


_noise_with_new_code.__code__ = (lambda rng: rng.laplace(scale=0.001, size=3)).__code__


deceives_at_37(SOURCE, "the code of a helper is replaced")(lambda x, rng: x + _noise_with_new_code(rng))


# ---------------------------------------------------------------------------------------------------------------------
SHADOW = "names that are not what they are called"


def _in_globals(**names):
    """Return a decorator that gives a function its own globals, in which some names differ."""

    def change(function):
        own = {**globals(), **names}
        return types.FunctionType(function.__code__, own, function.__name__, function.__defaults__)

    return change


# Shadows of builtins that nothing else in this file uses.
def max(*values):  # the shadow that the program uses
    return values[0]


deceives_at_37(SHADOW, "max of the module returns its first argument, which is the smaller")(
    lambda x, rng: x + rng.laplace(scale=max(0.001, 1.0), size=3)
)


@deceives_at_37(SHADOW, "len in the globals of this function counts the data")
@_in_globals(len=lambda data: int(data[0]))
def shadowed_len(x, rng):
    return [x[0] + rng.laplace(), len(x)]


@deceives_at_37(SHADOW, "the builtins of this function are others")
@_in_globals(__builtins__={"float": lambda noise: 0.0})
def replaced_builtins(x, rng):
    return x[0] + float(rng.laplace())


# ---------------------------------------------------------------------------------------------------------------------
CLASSES = "own classes"


class Noisy:
    """A property that draws noise, but returns an attribute that was set before."""

    def __init__(self, value, rng):
        self._value, self._rng = value, rng

    @property
    def value(self):
        return self._value + self._rng.laplace()

    @value.setter
    def value(self, new):
        self._rng = types.SimpleNamespace(laplace=lambda: 0.0)


@deceives_at_37(CLASSES, "a property draws anew each time, and a setter takes the noise away")
def own_property(x, rng):
    count = Noisy(x[0], rng)
    count.value = count.value
    return float(count.value)


# ---------------------------------------------------------------------------------------------------------------------
SCOPE = "scopes and bindings"


@deceives_at_37(SCOPE, "functions made in a loop see its last value: the scale of the last, 0.001")
def late_binding(x, rng):
    draws = [lambda: rng.laplace(scale=scale) for scale in (1.0, 1.0, 0.001)]  # noqa: B023 - the late binding that is meant
    return [v + draw() for v, draw in zip(x, draws, strict=True)]


@deceives_at_37(SCOPE, "the variable of a comprehension does not change the one outside")
def scope_of_a_comprehension(x, rng):
    shown = float(x[0])
    noisy = [shown for shown in x + rng.laplace(size=3)]  # noqa: C416 - has a scope of its own
    return noisy[1:], shown


deceives_at_37(SCOPE, "a later keyword of a merged dict wins")(
    lambda x, rng: x + rng.laplace(**{**({"scale": 1.0} | {"scale": 0.001}), "size": 3})
)


# ---------------------------------------------------------------------------------------------------------------------
OPERANDS = "operators that give operands"


deceives(OPERANDS, COUNTS, PURE, FROM_0, "`or` gives the second operand for a count of 0 only")(
    lambda x, rng: (x[0] and -1000.0) or x[1] + rng.laplace()
)
deceives_at_37(OPERANDS, "`not in` binds before `and`, so that the draw is not made for 37")(
    lambda x, rng: float(x[0] + (x[0] != 37 and rng.laplace()))
)
deceives_at_37(OPERANDS, "multiplication of a list by a count repeats it as often")(
    lambda x, rng: (x[0] + rng.laplace(), len([0] * int(x[0])))
)
deceives_at_37(OPERANDS, "power binds before the minus, so that the scale is tiny")(
    lambda x, rng: x + rng.laplace(scale=2**-10 if -(2**2) < 0 else 1.0, size=3)
)


# ---------------------------------------------------------------------------------------------------------------------
LOOPS = "loops, finally and del"


@deceives_at_37(LOOPS, "else of a loop runs where no break came, that is, where no count is 37")
def else_of_a_for(x, rng):
    noisy = x[0] + rng.laplace()
    for v in x:
        if v == 37:
            break
    else:
        noisy = -1000.0
    return noisy


@deceives_at_37(LOOPS, "else of a while runs at its end, and puts the count there")
def else_of_a_while(x, rng):
    i, shown = 0, []
    while i < 3:
        shown.append(x[i] + rng.laplace())
        i += 1
    else:  # noqa: PLW0120 - as meant
        shown[0] = x[0]
    return shown


@deceives_at_37(LOOPS, "del moves the list on, so that the raw count is now where the noisy one was")
def deleted_element(x, rng):
    shown = [x[0] + rng.laplace(), float(x[0]), x[2] + rng.laplace()]
    del shown[0]
    return shown[0]


@deceives_at_37(LOOPS, "the loop runs as often as the count says")
def as_often_as_counted(x, rng):
    turns_made = 0
    noisy = x[0] + rng.laplace()
    while turns_made < x[0]:
        turns_made += 1
    return noisy, turns_made


# ---------------------------------------------------------------------------------------------------------------------
ALIAS = "two names for one list or array"


@deceives_at_37(ALIAS, "augmented assignment adds to the array that another name holds")
def array_added_in_place(x, rng):
    shown = np.zeros(3)
    sums = shown
    sums += x
    return [*shown, *(x + rng.laplace(size=3))]


@deceives_at_37(ALIAS, "fromkeys puts one list under all keys")
def one_list_for_all_keys(x, rng):
    cells = dict.fromkeys("ab", [])  # noqa: RUF024 - the slip that is meant
    cells["a"].append(x[0] + rng.laplace())
    cells["b"].append(float(x[0]))
    return cells["a"]


# ---------------------------------------------------------------------------------------------------------------------
RAISES = "exceptions as outputs"


deceives(RAISES, COUNTS, PURE, FROM_0, "a division by zero for a count of 0")(
    lambda x, rng: x[0] + rng.laplace() + 0 * (1 // int(x[0]))
)


@deceives_at_37(RAISES, "an assert about the data fails for 37")
def assertion_error(x, rng):
    assert x[0] != 37
    return x + rng.laplace(size=3)


deceives(RAISES, COUNTS, PURE, FROM_0, "the logarithm of a count of 0 raises")(
    lambda x, rng: 0 * math.log(x[0]) + x[1] + rng.laplace()
)
deceives(RAISES, AMOUNTS, PURE, ([0.0, 5.0, 5.0], [1.0, 5.0, 5.0]), "the whole part of infinity raises")(
    lambda x, rng: 0 * int(0.0 if x[0] else math.inf) + x[0] + rng.laplace()
)


# ---------------------------------------------------------------------------------------------------------------------
NAN = "comparisons with NaN"


@deceives(NAN, COUNTS, PURE, FROM_0, "the logarithm of a negative noisy count is NaN, which is neither above 0 nor not")
def third_branch(x, rng):
    noisy = x[0] + rng.laplace()
    v = np.log(noisy)
    if v > 0:
        return "above"
    if v <= 0:
        return "below"
    return x.tolist()


def _difference_of_infinities(noisy):
    far = float(noisy) * math.inf
    return far - far


@deceives_at_37(NAN, "the difference of two infinities is NaN, so that neither comparison holds")
def neither_comparison(x, rng):
    gap = _difference_of_infinities(x[0] + rng.laplace())
    if gap > 0:
        return 1
    if gap <= 0:
        return -1
    return int(x[0])


deceives_at_37(NAN, "min of Python keeps its first argument where the second is NaN")(
    lambda x, rng: x + rng.laplace(scale=min(0.001, math.nan * rng.random()), size=3)
)


@deceives_at_37(NAN, "a loop that compares NaN is never entered, so that nothing is drawn")
def loop_that_ends_early(x, rng):
    noise = math.nan
    while noise < 1000:
        noise = rng.laplace()
    return [float(x[0]), float(x[1] + rng.laplace()), noise]


deceives(NAN, COUNTS, PURE, FROM_0, "the sign of zero is kept by a product, and shown by copysign")(
    lambda x, rng: (math.copysign(1.0, -0.0 * (float(x[0]) - 0.5)), x[0] + rng.laplace())
)


# ---------------------------------------------------------------------------------------------------------------------
ORDER = "order of keys and sets, and text as a container"


@deceives_at_37(ORDER, "keys stay in the order in which they were first written, by the raw count")
def order_of_keys(x, rng):
    cells = {}
    for name in ("odd", "even") if x[0] % 2 else ("even", "odd"):
        cells[name] = x[0] + rng.laplace(scale=2.0)
    return list(cells)


deceives_at_37(ORDER, "a set of small integers is in the order of their hashes, the counts")(
    lambda x, rng: ((x + rng.laplace(size=3)).tolist(), list({int(x[0]) % 37, 40}))
)


@deceives(ORDER, COUNTS, PURE, ([6, 5, 9], [5, 5, 9]), "sorted is stable: equal counts keep their order, others do not")
def order_of_raw_counts(x, rng):
    noisy = x + rng.laplace(size=3)
    order = sorted(range(3), key=lambda i: x[i])
    return order[0], noisy[order[0]]


@deceives_at_37(ORDER, "lists are compared element by element, by raw counts")
def compared_lists(x, rng):
    noisy = (x + rng.laplace(size=3)).tolist()
    return noisy if x.tolist() < [37, 0, 0] else [*noisy[::-1], 0.0]
