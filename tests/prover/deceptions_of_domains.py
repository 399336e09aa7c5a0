# mypy: ignore-errors
# ruff: noqa
"""Mechanisms that are not private, but look so to a reader who mistakes the data, the batch or the numbers for something
else.

Four kinds of 25: the data set is not of the type that a reader expects; an output depends on the size of its batch or on its
place in it; floats lose the noise that should hide the data; Python's objects are shared, changed or compared. Each breaks
its claim on some pair of its domain, if the real function runs on the domain's data with a real generator. None may ever be
proved.
"""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from auditor import GaussianDP, OneNumber, PureDP, Records, Totals, TotalsByKey, Value


@dataclass(frozen=True)
class Leak:
    """A mechanism that breaks its claim on some pair of its domain."""

    kind: str
    why: str
    mechanism: Any
    domain: Any
    claim: Any


LEAKS = []


def leaks(kind, domain, claim, why):
    def add(mechanism):
        LEAKS.append(Leak(kind, why, mechanism, domain, claim))
        return mechanism

    return add


PURE, HALF = PureDP(1.0), PureDP(0.5)

# Data of the domain ---------------------------------------------------------------------------------------------------

LISTS = Records(choices=[0.0, 1.0], size=(0, 3), container="list")
INTEGERS = Records((0, 2), integer=True, size=(1, 2), container="list")
ROWS = Records(choices=[0, 1], columns=2, size=(0, 2), container="list")
TWO_LISTED = Records(choices=[False, True], size=(2, 2), relation="substitute", container="list")
TWO = Records(choices=[False, True], size=(2, 2), relation="substitute")
ARRAYS = Records((0, 2), integer=True, size=(0, 2))
TEXTS = Records(choices=["a", "b"], size=(0, 2), container="list")
BY_KEY = TotalsByKey(["a", "b"], (0, 2), contribution={"l0": 1, "linf": 1})

data = functools.partial(leaks, "data")


def half(d, rng):
    return sum(d) / 2 + rng.laplace()


@data(LISTS, HALF, "the empty data set is a list")
def empty_list(d, rng):
    return 0.0 if d == [] else half(d, rng)


data(LISTS, HALF, "list() makes the empty data set")(lambda d, rng: 0.0 if d == list() else half(d, rng))
data(LISTS, HALF, "two ones in a list")(lambda d, rng: 9.0 if d == [1.0, 1.0] else half(d, rng))
data(LISTS, HALF, "a list in a tuple of lists")(lambda d, rng: 0.0 if d in ([], [0.0, 0.0]) else half(d, rng))
data(LISTS, HALF, "not a tuple")(lambda d, rng: 0.0 if isinstance(d, list) and len(d) == 0 else half(d, rng))
data(LISTS, HALF, "sorted() gives a list")(lambda d, rng: half(d, rng) if sorted(d) == d else 0.0)
data(LISTS, HALF, "list() gives an equal list")(lambda d, rng: 0.0 if list(d) == d and len(d) == 1 else half(d, rng))
data(LISTS, HALF, "a list around the data set")(lambda d, rng: 0.0 if [d] == [[]] else half(d, rng))
data(LISTS, HALF, "a slice of a list is one")(lambda d, rng: 0.0 if d[:1] == [1.0] else half(d, rng))
data(LISTS, HALF, "it differs from a list")(lambda d, rng: half(d, rng) if d != [1.0] else 0.0)
data(LISTS, HALF, "lists are ordered by their items")(lambda d, rng: 0.0 if [0.5] > d else half(d, rng))
data(LISTS, HALF, "it is unlike any tuple")(lambda d, rng: half(d, rng) if d == tuple(d) or len(d) else 0.0)


@data(LISTS, HALF, "the data set can be appended to")
def appended(d, rng):
    d.append(0.0)
    return 0.0 if d == [0.0] else half(d, rng)


@data(LISTS, HALF, "a list that is added up holds lists")
def added_lists(d, rng):
    return 0.0 if d + [1.0] == [1.0] else half(d, rng)


data(LISTS, HALF, "a comprehension gives an equal list")(
    lambda d, rng: 0.0 if [v for v in d if v] == d and d else half(d, rng)
)
data(ROWS, PURE, "a record of a list is a list")(
    lambda d, rng: 0.0 if len(d) > 0 and d[0] == [0, 0] else len(d) + rng.laplace()
)
data(ROWS, PURE, "a list is in the list")(lambda d, rng: 0.0 if [1, 1] in d else len(d) + rng.laplace())
data(ROWS, PURE, "records are unlike tuples")(
    lambda d, rng: 0.0 if len(d) == 1 and d[0] != (d[0][0], d[0][1]) else len(d) + rng.laplace()
)
data(INTEGERS, PURE, "integers of Python raise where NumPy's give 0")(
    lambda d, rng: 0 * (1 // d[0]) + len(d) + rng.laplace()
)
data(TWO_LISTED, PURE, "True + True is 2 in a list")(
    lambda d, rng: 5 * (d[0] + d[1]) - 5 * max(d[0], d[1]) + rng.laplace()
)
data(TWO, PURE, "True + True is True in an array")(
    lambda d, rng: 10 * (d[0] + d[1]) - 10 * d[0] - 10 * d[1] + rng.laplace()
)
data(ARRAYS, PURE, "an array has a shape")(lambda d, rng: 0.0 if d.shape == (0,) else len(d) + rng.laplace())
data(TEXTS, PURE, "a list of letters is equal to list() of a word")(
    lambda d, rng: 0.0 if d == list("ab") else len(d) + rng.laplace()
)
data(Value(values=[(0, 1), (1, 0)]), PURE, "the value is a tuple, and no list")(
    lambda v, rng: 0.0 if v == (0, 1) else rng.laplace()
)
data(BY_KEY, PURE, "a key without a total is absent")(lambda d, rng: 0.0 if d == {} else rng.laplace())

# Batches --------------------------------------------------------------------------------------------------------------

ONE = Totals(cells=1, values=(0, 100), contribution={"l1": 1})
SCALES = (1.0, 1.0, 1.0, 1.0, 1.0, 1e-3, 1e-3, 1e-3, 1e-3)

batch = functools.partial(leaks, "batches", ONE, PURE)

batch("the scale falls with the size")(lambda x, size, rng: x[0] + rng.laplace(0, 1 / size, size))
batch("the size decides")(lambda x, size, rng: x[0] + rng.laplace(0, 1.0 if size == 1 else 0.01, size))
batch("the scale falls with the place")(lambda x, size, rng: [x[0] + rng.laplace(0, 1 / (1 + i)) for i in range(size)])
batch("the length of the noise")(lambda x, size, rng: x[0] + (n := rng.laplace(0, 1, size)) / len(n))
batch("the shape of the noise")(lambda x, size, rng: x[0] + (n := rng.laplace(0, 1, size)) / n.shape[0])
batch("the number of numbers")(lambda x, size, rng: x[0] + (n := rng.laplace(0, 1, size)) / n.size)
batch("np.size of the noise")(lambda x, size, rng: x[0] + (n := rng.laplace(0, 1, (size, 1))) / np.size(n))
batch("the mean over a batch has hardly any noise")(
    lambda x, size, rng: np.full(size, np.mean(x[0] + rng.laplace(0, 1, size)))
)
batch("enumerate counts")(
    lambda x, size, rng: [x[0] + n * (1.0 if i < 4 else 1e-3) for i, n in enumerate(rng.laplace(0, 1, size))]
)
batch("arange counts")(lambda x, size, rng: x[0] + rng.laplace(0, 1, size) * np.where(np.arange(size) < 4, 1, 1e-3))
batch("cumsum of ones counts")(
    lambda x, size, rng: x[0] + rng.laplace(0, 1, size) * np.where(np.cumsum(np.ones(size)) < 5, 1, 1e-3)
)
batch("the sum of ones is the size")(lambda x, size, rng: x[0] + rng.laplace(0, 1, size) / np.ones(size).sum())
batch("the noise is sorted over the batch")(lambda x, size, rng: x[0] + np.sort(rng.laplace(0, 1, size)))
batch("a running product of scales")(
    lambda x, size, rng: x[0] + rng.laplace(0, 1, size) * np.cumprod(np.full(size, 0.5)) * 2
)
batch("a table of scales by place")(lambda x, size, rng: [x[0] + rng.laplace(0, SCALES[i]) for i in range(size)])
batch("zip with a table of scales")(
    lambda x, size, rng: [x[0] + n * s for n, s in zip(rng.laplace(0, 1, size), SCALES * 1000)]
)
batch("the last of the range")(lambda x, size, rng: x[0] + rng.laplace(0, 1, size) / (1 + range(size)[-1]))
batch("the range is counted")(lambda x, size, rng: x[0] + rng.laplace(0, 1, size) / sum(1 for _ in range(size)))


@batch("a counter of the loop")
def counter(x, size, rng):
    out, count = [], 0
    for _ in range(size):
        count += 1
        out.append(x[0] + rng.laplace(0, 1.0 if count < 4 else 1e-3))
    return out


@batch("the list that is filled is measured")
def measured_list(x, size, rng):
    out = []
    while len(out) < size:
        out.append(x[0] + rng.laplace(0, 1.0 if len(out) < 4 else 1e-3))
    return out


@batch("a function of the call keeps count")
def counting_function(x, size, rng):
    state = {"rows": 0}

    def row():
        state["rows"] += 1
        return x[0] + rng.laplace(0, 1.0 if state["rows"] < 4 else 1e-3)

    return [row() for _ in range(size)]


@batch("a list of scales is used up")
def used_up(x, size, rng):
    scales = [1e-3, 1.0, 1.0, 1.0]
    return [x[0] + rng.laplace(0, scales.pop() if len(scales) > 1 else scales[0]) for _ in range(size)]


@batch("a row builds on the one before")
def one_after_the_other(x, size, rng):
    out = np.zeros(size)
    for i in range(size):
        out[i] = x[0] + rng.laplace(0, 1) if i == 0 else (out[i - 1] > 1e9) + x[0]
    return out


@batch("the whole batch is scaled in each round")
def scaled_again(x, size, rng):
    scale = np.ones(size)
    for _ in range(size):
        scale *= 0.5
    return x[0] + rng.laplace(0, 2 * scale)


@batch("a name keeps the last row")
def last_row(x, size, rng):
    seen, out = 1.0, []
    for _ in range(size):
        out.append(x[0] + rng.laplace(0, seen))
        seen = 1e-3
    return out


# Floats ---------------------------------------------------------------------------------------------------------------

HUGE = Totals(cells=2, values=(0, 2**60), contribution={"l1": 1})
THOUSAND = Totals(cells=2, values=(0, 1000), contribution={"l1": 1})
FAR = 2.0**60

floats = functools.partial(leaks, "floats")

floats(HUGE, PURE, "the total has more bits than a float")(lambda x, rng: x[0] + rng.laplace(0, 1))
floats(HUGE, PURE, "the totals one by one")(lambda x, rng: [v + rng.laplace(0, 1) for v in x])
floats(HUGE, PURE, "the location has more bits than a float")(lambda x, rng: rng.laplace(x[0], 1))
floats(HUGE, PURE, "a cast drops bits")(lambda x, rng: x.astype(np.float64) + rng.laplace(0, 1, 2))
floats(HUGE, PURE, "float() drops bits")(lambda x, rng: float(x[0]) + rng.laplace(0, 1))
floats(HUGE, GaussianDP(1.0), "Gaussian noise is lost as well")(lambda x, rng: x[0] + rng.normal(0, 1))
floats(HUGE, PURE, "a comparison with noise")(lambda x, rng: x[0] > 2**59 + rng.laplace(0, 1))
floats(HUGE, PURE, "a division rounds first")(lambda x, rng: x[0] / 2 + rng.laplace(0, 0.5))
floats(THOUSAND, PURE, "a large constant")(lambda x, rng: x[0] + FAR + rng.laplace(0, 1))
floats(THOUSAND, PURE, "a large constant that goes again")(lambda x, rng: x[0] + FAR - FAR + rng.laplace(0, 1))
floats(THOUSAND, PURE, "a large constant in the location")(lambda x, rng: rng.laplace(x[0] + FAR, 1))
floats(THOUSAND, GaussianDP(1.0), "a large constant and Gaussian noise")(lambda x, rng: x[0] + FAR + rng.normal(0, 1))
floats(THOUSAND, PURE, "a large constant in a list")(lambda x, rng: sum([FAR, x[0]]) + rng.laplace(0, 1))
floats(THOUSAND, PURE, "a large item of an array")(lambda x, rng: np.sum(x + np.array([FAR, 0])) + rng.laplace(0, 1))
floats(THOUSAND, PURE, "the cumulated sum")(lambda x, rng: np.cumsum([FAR, x[0] + 0.0])[1] + rng.laplace(0, 1))
floats(THOUSAND, PURE, "a large weighted sum")(
    lambda x, rng: np.dot(x + 0.0, np.array([1.0, 0.0])) + FAR + rng.laplace(0, 1)
)
floats(THOUSAND, PURE, "the larger of two")(lambda x, rng: max(x[0] + FAR, 0.0) + rng.laplace(0, 1))
floats(THOUSAND, PURE, "a comparison far out")(lambda x, rng: bool(x[0] + FAR >= FAR + 128 + rng.laplace(0, 1)))
floats(THOUSAND, PURE, "noise far below the last bit")(lambda x, rng: x[0] * 1e-10 + 1e7 + rng.laplace(0, 1e-10))
floats(THOUSAND, PURE, "a quotient below the last bit")(lambda x, rng: x[0] / 1e10 + 1e7 + rng.laplace(0, 1e-10))
floats(THOUSAND, PURE, "an integer of 2**53 and the total")(lambda x, rng: x[0] + 2**53 + rng.laplace(0, 1))
floats(THOUSAND, PURE, "a sum of products of 2**50")(
    lambda x, rng: (x[0] * 2**50 + x[1] * 2**50) // 2**50 + x[0] * 2.0**53 - x[0] * 2.0**53 + FAR + rng.laplace(0, 1)
)
floats(Totals(contributions=[[1], [2**50]], people=(0, 2**12)), PURE, "people who add much, and those who add 1")(
    lambda x, rng: x[0] + rng.laplace(0, 1) if x[0] >= 0 else 0.0
)
floats(Value(values=[2**60 + 128, 2**60 + 129]), PURE, "two integers far apart as floats")(
    lambda v, rng: v + rng.laplace(0, 1)
)
floats(OneNumber((0, 2**60), 1), PURE, "one number of a large range")(lambda v, rng: v + rng.laplace(0, 1))

# Objects of Python ----------------------------------------------------------------------------------------------------

THREE = Totals(cells=3, values=(0, 100), contribution={"l1": 1})

objects = functools.partial(leaks, "objects", THREE, PURE)

objects("two names of one list")(
    lambda x, rng: [(a := [0.0]), (b := a), b.append(x[0] + 0.0), a[-1]][-1] * 100 + rng.laplace(0, 1)
)
objects("a lambda sees the last value")(
    lambda x, rng: sum([f() for f in [lambda: x[i] for i in range(3)]]) + rng.laplace(0, 1)
)


@objects("rows of a repeated list are one list")
def repeated_rows(x, rng):
    rows = [[0.0]] * 3
    for i in range(3):
        rows[i][0] += x[i]
    return [row[0] + rng.laplace(0, 1) for row in rows]


@objects("a default is made once")
def default_list(x, rng):
    def add(v, seen=[]):
        seen.append(v)
        return sum(seen)

    return [add(v) + rng.laplace(0, 1) for v in x]


@objects("a slice of an array is a view")
def view(x, rng):
    first = x[:2]
    first[1] = x[0]
    return [v + rng.laplace(0, 1) for v in x]


@objects("a copy of a list of lists is shallow")
def shallow(x, rng):
    rows = [[v] for v in x]
    copy = rows.copy()
    copy[1][0] = x[0]
    copy[2][0] = x[0]
    return [row[0] + rng.laplace(0, 1) for row in rows]


@objects("an in-place sum changes the caller's array")
def in_place(x, rng):
    def total(values):
        values += values[0]
        return 0

    y = x + 0
    return total(y) + y + rng.laplace(0, 1, 3)


@objects("an in-place sum changes the caller's list")
def in_place_list(x, rng):
    def longer(values):
        values += [values[0]] * 3

    y = [v for v in x]
    longer(y)
    return sum(y) + rng.laplace(0, 1)


@objects("a closure writes the outer name")
def outer_name(x, rng):
    scale = 1.0

    def reduce():
        nonlocal scale
        scale = 0.01
        return 0.0

    return reduce() + x[0] + rng.laplace(0, scale)


@objects("a dict keeps the last of equal keys")
def last_key(x, rng):
    found = {key: v for key, v in zip([1, 1.0, True], [0 * x[0], 0 * x[0], 50 * x[0]])}
    return found[1] + rng.laplace(0, 1)


@objects("any() stops early, and what it skips is not counted")
def stops_early(x, rng):
    seen = []
    any(seen.append(v) or v > 50 for v in x)
    return len(seen) * 10 + rng.laplace(0, 1)


@objects("`and` gives its last value")
def last_value(x, rng):
    return (x[0] > 50 and 20 * x[1]) + x[0] + rng.laplace(0, 1)


@objects("`or` gives its first true value")
def first_true(x, rng):
    return (x[0] or 50) + rng.laplace(0, 1)


@objects("a chained comparison stops early")
def chained(x, rng):
    return 10 * (x[0] < x[1] < x[2]) + rng.laplace(0, 1)


@objects("sort moves the list under an index")
def moved_list(x, rng):
    values = [3 * v for v in x]
    values.sort()
    return values[0] + rng.laplace(0, 1)


@objects("an item is removed while the list is read")
def removed(x, rng):
    values = list(x)
    total = 0
    for v in values:
        total += v
        if v > 50:
            values.pop()
    return total + rng.laplace(0, 1)


@objects("a starred name takes the rest")
def starred(x, rng):
    first, *rest = x
    return first + sum(rest) * len(rest) + rng.laplace(0, 1)


@objects("an index from the end")
def from_the_end(x, rng):
    return x[-1] + x[2] + rng.laplace(0, 1)


@objects("a loop leaves its variable")
def left_over(x, rng):
    for v in x:
        pass
    return v + x[2] + rng.laplace(0, 1)


@objects("else of a loop that was not left")
def no_break(x, rng):
    for v in x:
        if v > 50:
            break
    else:
        return rng.laplace(0, 1)
    return 50 + rng.laplace(0, 1)


@objects("a tuple of an array and its sum is looked at twice")
def twice(x, rng):
    noise = rng.laplace(0, 1)
    return x[0] + noise, x[0] - noise


@objects("one draw in two places cancels")
def cancels(x, rng):
    noise = rng.laplace(0, 1, 3)
    noisy = x + noise
    return noisy, noisy[0] - noise[1]


@objects("the generator is drawn from where it is passed on")
def passed_on(x, rng):
    def noisy(v, r, scale=1.0):
        return v + r.laplace(0, scale)

    return noisy(x[0], rng, *[0.1])


@objects("a number of rounds of the data")
def rounds_of_data(x, rng):
    out = 0.0
    for _ in range(3):
        out += x[0]
    return out + rng.laplace(0, 1)


@objects("a keyword comes twice, by dict")
def by_dict(x, rng):
    given = {"loc": 0.0, "scale": 1.0} | {"scale": 0.1}
    return x[0] + rng.laplace(**given)
