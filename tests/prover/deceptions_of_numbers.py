# mypy: ignore-errors
"""Mechanisms that are not private, but look so to a reader who takes NumPy's numbers, arrays and generators for granted.

Each breaks its claim on its ``pair``, where the real function runs with a real generator. None may ever be proved.
``why`` says what a careless reader overlooks.

In the kinds of FLOATING the claim holds over the real numbers, and is broken by rounding, the sign of a zero or a lattice of
floats.
"""

import functools
import math

import collected_deceptions
import numpy as np
import pandas as pd

from auditor import ApproximateDP, GaussianDP, PureDP, Records, Totals, Value, ZeroConcentratedDP

DECEPTIONS = []
deceives = functools.partial(collected_deceptions.deceives, DECEPTIONS)

ONE = Totals(cells=3, values=(0, 100), contribution={"l1": 1})  # one person changes one number by 1
EACH = Totals(cells=3, values=(0, 100), contribution={"linf": 1})  # one person changes each number by up to 1
SIGNED = Totals(cells=3, values=(-10, 10), contribution={"l1": 1})
WIDE = Totals(cells=3, values=(0, 300), contribution={"l1": 1})
SMALL = Totals(cells=3, values=(0, 10), contribution={"l1": 1})
LARGE = Totals(cells=3, values=(0, 2000), contribution={"l1": 1})
HUGE = Totals(cells=3, values=(0, 2**62), contribution={"l1": 1})
REAL = Totals(cells=3, values=(0, 100), contribution={"l1": 1}, integer=False)  # fractions, in float64
PEOPLE = Records((0, 3), integer=True, size=(0, 3))  # one record is added or removed
CHOICE = Value(values=[0, 1, 2])
BIT = Value(values=[0, 1])
PURE = PureDP(1.0)

FLOATING = ("floats", "minus zero", "lattice")

# Overflow: NumPy's integers wrap round in silence ---------------------------------------------------------------------

deceives(
    "overflow", HUGE, PURE, ((2**62, 2**62 - 1, 0), (2**62, 2**62, 0)), "the sum passes 2**63 and becomes negative"
)(lambda x, rng: x.sum() + rng.laplace(0, 1))
deceives("overflow", ONE, PURE, ((31, 0, 0), (32, 0, 0)), "32 * 2**58 is -2**63")(
    lambda x, rng: x * 2**58 // 2**58 + rng.laplace(0, 1, 3)
)
deceives("overflow", WIDE, PURE, ((127, 0, 0), (128, 0, 0)), "128 is -128 in eight bits")(
    lambda x, rng: x.astype(np.int8) + rng.laplace(0, 1, 3)
)
deceives("overflow", ONE, PURE, ((40, 40, 47), (40, 40, 48)), "three numbers up to 100 do not fit into eight bits")(
    lambda x, rng: np.sum(x, dtype=np.int8) + rng.laplace(0, 1)
)


# Booleans: NumPy's True + True is True --------------------------------------------------------------------------------

deceives("booleans", EACH, PURE, ((50, 50, 50), (51, 51, 51)), "three answers change at once")(
    lambda x, rng: (x > 50).sum() + rng.laplace(0, 1)
)
deceives("booleans", BIT, PURE, (0, 1), "a Python bool is an int, and 1 * 1 adds to 2")(
    lambda bit, rng: bit + (rng.random() < 0.25)
)


@deceives("booleans", ONE, PURE, ((51, 50, 0), (51, 51, 0)), "True + True is True, so that this is no sum")
def sum_of_two_answers(x, rng):
    old, rich = x[0] > 50, x[1] > 50
    return 10 * (old + rich) - 9 * old - 9 * rich + rng.laplace(0, 1)


# The sign of a zero ---------------------------------------------------------------------------------------------------

deceives("minus zero", SIGNED, PURE, ((0, 0, 0), (-1, 0, 0)), "0.0 and -0.0 differ in their text")(
    lambda x, rng: [x[1] + rng.laplace(0, 1), x[0] * 0.0]
)
deceives("minus zero", SIGNED, PURE, ((0, 0, 0), (-1, 0, 0)), "1 / -0.0 is minus infinity")(
    lambda x, rng: [x[0] + rng.laplace(0, 1), 1 / (x[0] * 0.0)]
)


# NaN and infinity -----------------------------------------------------------------------------------------------------

deceives("nan and infinity", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "0 * log(0) is NaN")(
    lambda x, rng: x + 0 * np.log(x) + rng.laplace(0, 1, 3)
)
deceives("nan and infinity", ONE, PURE, ((49, 50, 50), (50, 50, 50)), "integers have no negative powers: it raises")(
    lambda x, rng: np.minimum(2 ** (x - 50), 1) * 0 + x + rng.laplace(0, 1, 3)
)


@deceives("nan and infinity", ONE, PURE, ((70, 0, 0), (71, 0, 0)), "inf - inf is NaN, not 0")
def exponentials_cancel(x, rng):
    weights = np.exp(x * 10.0)
    return x + (weights - weights) + rng.laplace(0, 1, 3)


# Rounding of data before noise ----------------------------------------------------------------------------------------

deceives("rounding", ONE, PURE, ((1, 0, 0), (2, 0, 0)), "half of a count, rounded down, still moves by 1")(
    lambda x, rng: x // 2 + rng.laplace(0, 0.5, 3)
)
deceives("rounding", ONE, PURE, ((5, 0, 0), (6, 0, 0)), "rounded to tens, a count moves by 10")(
    lambda x, rng: np.round(x, -1) + rng.laplace(0, 1, 3)
)
deceives("rounding", REAL, PURE, ((0.75, 0.75, 0.0), (1.0, 1.0, 0.0)), "a quarter each moves two numbers by 1 each")(
    lambda x, rng: np.floor(x) + rng.laplace(0, 1, 3)
)
deceives("floats", ONE, PURE, ((29, 0, 0), (30, 0, 0)), "29 * 0.01 * 100 is 28.999999999999996, which is cut to 28")(
    lambda x, rng: [int(v * 0.01 * 100) + rng.laplace(0, 1) for v in (x[0], x[1], x[2])]
)
deceives("floats", ONE, PURE, ((2, 0, 0), (3, 0, 0)), "near 1e16 only even numbers are floats")(
    lambda x, rng: (x + 1e16) - 1e16 + rng.laplace(0, 1, 3)
)
deceives("floats", ONE, PURE, ((5, 0, 0), (6, 0, 0)), "0.5 // 0.1 is 4, and 0.6000000000000001 // 0.1 is 6")(
    lambda x, rng: x * 0.1 // 0.1 + rng.laplace(0, 1, 3)
)


# The shape, the length or the type of what is released ----------------------------------------------------------------

deceives("shape", ONE, PURE, ((5, 0, 0), (6, 0, 0)), "the number of draws is the count itself")(
    lambda x, rng: rng.laplace(0, 1, x[0])
)
deceives("length of records", PEOPLE, PURE, ((1, 1), (1, 1, 1)), "how many people there are is released")(
    lambda x, rng: [x.sum() + rng.laplace(0, 3), x.size]
)
deceives("length of records", PEOPLE, PURE, ((1, 1), (1, 1, 1)), "one noisy number for each person")(
    lambda x, rng: x + rng.laplace(0, 3, x.shape)
)
deceives("length of records", PEOPLE, PURE, ((), (1,)), "the largest of nobody raises")(
    lambda x, rng: x.max() + rng.laplace(0, 3)
)


@deceives("shape", ONE, PURE, ((0, 5, 5), (1, 5, 5)), "how many numbers are released depends on the data")
def only_what_is_there(x, rng):
    present = x[x > 0]
    return present + rng.laplace(0, 1, len(present))


# Views of the same numbers --------------------------------------------------------------------------------------------


@deceives("views", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "a slice is a view: the data are changed through it")
def assigned_through_a_slice(x, rng):
    rest = x[1:]
    rest[0] = x[0]
    return x + rng.laplace(0, 1, 3)


@deceives("views", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "a running total is written over the data")
def running_total_in_place(x, rng):
    np.cumsum(x, out=x)
    return x + rng.laplace(0, 1, 3)


@deceives("views", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "the noise of one place is written over the others by a view")
def noise_overwritten_through_a_view(x, rng):
    noise = rng.laplace(0, 1, 3)
    noise[1:] = noise[:1]
    return x + noise


# Places that data choose ----------------------------------------------------------------------------------------------

deceives("indexing", ONE, PURE, ((1, 9, 9), (2, 9, 9)), "one person more takes a whole count into the sum")(
    lambda x, rng: x[: x[0]].sum() + rng.laplace(0, 1)
)
deceives("indexing", ONE, PURE, ((0, 0, 80), (1, 0, 80)), "place -1 is the last one")(
    lambda x, rng: x[min(x[0], 3) - 1] + rng.laplace(0, 1)
)
deceives("indexing", ONE, PURE, ((2, 0, 0), (3, 0, 0)), "place 3 of three raises")(
    lambda x, rng: [0, 0, 0][x[0]] + rng.laplace(0, 1)
)


@deceives("indexing", ONE, PURE, ((10, 0, 0), (11, 0, 0)), "neighbouring places of a table hold distant numbers")
def looked_up_in_a_table(x, rng):
    table = np.arange(101) ** 2 % 97
    return table[x[0]] + rng.laplace(0, 1)


# Choices made by raw data ---------------------------------------------------------------------------------------------

deceives("selection", ONE, PURE, ((50, 0, 0), (51, 0, 0)), "np.where jumps by 100")(
    lambda x, rng: np.where(x > 50, 100, 0) + rng.laplace(0, 1, 3)
)
deceives("selection", SMALL, PURE, ((5, 0, 0), (6, 0, 0)), "one number leaves one bin and comes to another")(
    lambda x, rng: np.bincount(x, minlength=11) + rng.laplace(0, 1, 11)
)
deceives("selection", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "three running maxima move with the first count")(
    lambda x, rng: np.maximum.accumulate(x) + rng.laplace(0, 1, 3)
)


# Noise whose size depends on data -------------------------------------------------------------------------------------

deceives("scale", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "the larger the count, the more noise")(
    lambda x, rng: x + rng.laplace(0, 1 + x, 3)
)
deceives("scale", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "a scale of 0 is no noise")(
    lambda x, rng: x[0] + rng.laplace(0, min(x[0], 1))
)
deceives("scale", ONE, PURE, ((1, 0, 0), (2, 0, 0)), "a noisy count divided by a raw one")(
    lambda x, rng: x[1] + rng.laplace(0, 1) / max(1, x[0]) ** 3
)
# Noise that is used twice, released or cut off ------------------------------------------------------------------------

deceives("reused noise", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "one noise for all: differences are exact")(
    lambda x, rng: x + rng.laplace(0, 1)
)
deceives("reused noise", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "no draws have the sum 0")(
    lambda x, rng: x[0] + rng.laplace(0, 1, 0).sum() + rng.integers(0, 2)
)


@deceives("reused noise", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "whether the noise is large is given away")
def reliable_or_not(x, rng):
    noise = rng.laplace(0, 1)
    return {"count": x[0] + noise, "reliable": bool(abs(noise) < 2)}


# Noise of the wrong kind ----------------------------------------------------------------------------------------------

deceives("wrong noise", ONE, PURE, ((7, 0, 0), (8, 0, 0)), "the normal density falls faster than any exponential")(
    lambda x, rng: rng.normal(x)
)
deceives("wrong noise", ONE, PURE, ((7, 0, 0), (8, 0, 0)), "the absolute value of noise is never negative")(
    lambda x, rng: x + abs(rng.laplace(0, 1, 3))
)
deceives("wrong noise", ONE, PURE, ((7, 0, 0), (8, 0, 0)), "the mean of two noises is smaller noise")(
    lambda x, rng: x + (rng.laplace(0, 1, 3) + rng.laplace(0, 1, 3)) / 2
)


@deceives("wrong noise", ONE, PURE, ((7, 0, 0), (8, 0, 0)), "large noise is drawn again, so that it ends at 3")
def noise_drawn_again(x, rng):
    noise = rng.laplace(0, 1)
    while abs(noise) > 3:
        noise = rng.laplace(0, 1)
    return x[0] + noise


@deceives("wrong noise", REAL, PURE, ((0.25, 0.0, 0.0), (0.5, 0.0, 0.0)), "discrete noise leaves the fraction as it is")
def geometric_noise_on_fractions(x, rng):
    p = 1 - math.exp(-1)
    return x + rng.geometric(p, 3) - rng.geometric(p, 3)


# Shuffles along the wrong axis ----------------------------------------------------------------------------------------

deceives("axis", CHOICE, PURE, (0, 1), "a single row is shuffled among the rows: nothing moves")(
    lambda choice, rng: rng.permutation(np.eye(3)[[choice]]) + rng.laplace(0, 0.25, 3)
)
deceives("axis", CHOICE, PURE, (0, 1), "axis=1 moves whole columns, and the second row tells which")(
    lambda choice, rng: rng.permutation(np.array([np.eye(3)[choice], [1, 2, 3]]), axis=1)
)


# What the generator does with numbers of the data ---------------------------------------------------------------------

deceives("choice", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "one of the counts itself")(
    lambda x, rng: rng.choice(x) + rng.choice([0.0, 0.5])
)
deceives("generator", Value(values=[0, 1, 255]), PURE, (0, 1), "without its endpoint, 255 is never drawn")(
    lambda byte, rng: (byte + int(rng.integers(0, 255))) % 256 // 255
)
deceives("generator", ONE, PURE, ((1, 0, 0), (2, 0, 0)), "uniform(count) is between the count and 1")(
    lambda x, rng: rng.uniform(x[0])
)
deceives("generator", ONE, PURE, ((7, 0, 0), (8, 0, 0)), "a product with a uniform number ends at the count")(
    lambda x, rng: x[0] * rng.random()
)
deceives("lattice", BIT, PURE, (0, 1), "random numbers are multiples of 2**-53: the lie is never told")(
    lambda bit, rng: bit ^ int(rng.random() * 2**53 % 1 > 0.75)
)


@deceives(
    "choice", ONE, PURE, ((50, 0, 0), (51, 0, 0)), "choice raises where p does not sum to 1, and does not scale it"
)
def probabilities_that_do_not_sum_to_one(x, rng):
    weight = (x[0] + 50) / 100
    return int(rng.choice(2, p=[0.5 * weight, 0.5 * weight]))


@deceives("choice", LARGE, PURE, ((1419, 0, 0), (1420, 0, 0)), "inf / inf is NaN, which is no probability")
def weights_overflow(x, rng):
    weights = np.exp(x / 2)
    return int(rng.choice(3, p=weights / weights.sum()))


@deceives("choice", ONE, PURE, ((0, 5, 5), (1, 5, 5)), "not enough entries that are not zero")
def two_of_the_used_ones(x, rng):
    used = (x > 0) / max(1, np.count_nonzero(x))
    return sorted(rng.choice(3, size=2, replace=False, p=used).tolist())


# Two groups of outputs that coincide on one side only -----------------------------------------------------------------

deceives("coincidence", CHOICE, PURE, (0, 2), "|choice - 1| joins 0 and 2 in some draws, and what is left differs")(
    lambda choice, rng: abs(choice - int(rng.integers(2)))
)


@deceives(
    "coincidence",
    ONE,
    PureDP(0.5),
    ((51, 50, 0), (51, 51, 0)),
    "both coins show the same word where both counts are large",
)
def word_of_one_of_two(x, rng):
    large = x[0] > 50 if rng.random() < 0.5 else x[1] > 50
    return bool(large) ^ bool(rng.random() < 0.25)


@deceives("coincidence", SIGNED, PURE, ((0, 0, 0), (1, 0, 0)), "0 and -0 are one number, 1 and -1 are two")
def random_sign(x, rng):
    sign = 1 if rng.random() < 0.5 else -1
    return sign * x[0] + rng.laplace(0, 0.25)


# Thresholds on raw data -----------------------------------------------------------------------------------------------

deceives("raw threshold", ONE, PURE, ((0, 5, 5), (1, 5, 5)), "a count of 0 is not released with noise")(
    lambda x, rng: [v + rng.laplace(0, 1) if v else 0.0 for v in x]
)


# The wrong sensitivity ------------------------------------------------------------------------------------------------

deceives("sensitivity", EACH, PURE, ((5, 5, 5), (6, 6, 6)), "each count moves, and so the sum by 3")(
    lambda x, rng: x.sum() + rng.laplace(0, 1)
)


# Gaussian noise -------------------------------------------------------------------------------------------------------

deceives("gaussian", EACH, ZeroConcentratedDP(0.5), ((5, 5, 5), (6, 6, 6)), "three counts move: ρ is 3/2")(
    lambda x, rng: x + rng.normal(0, 1, 3)
)
deceives(
    "gaussian", ONE, GaussianDP(0.25), ((5, 5, 5), (6, 5, 5)), "the scale is a deviation, and not a variance: 2, not 4"
)(lambda x, rng: rng.normal(x, math.sqrt(4)))
deceives("gaussian", ONE, ApproximateDP(1.0, 1e-5), ((5, 5, 5), (6, 5, 5)), "at ε = 1, σ = 1 leaves δ = 0.13")(
    lambda x, rng: x + rng.standard_normal(3)
)
deceives(
    "gaussian",
    ONE,
    ApproximateDP(1.0, 0.01),
    ((0, 0, 0), (1, 0, 0)),
    "a key is there where somebody is, with no threshold",
)(lambda x, rng: {f"key {i}": float(v + rng.laplace(0, 1)) for i, v in enumerate(x) if v > 0})


# Pairs that look alike ------------------------------------------------------------------------------------------------


def frame_with(value):
    ages = np.zeros(100, dtype=np.int64)
    ages[50] = value
    return pd.DataFrame({"age": ages, "place": ["north"] * 100})


FRAMES = [(frame_with(0), frame_with(40))]
LONG = [(np.zeros(2000, dtype=np.int64), np.where(np.arange(2000) == 1000, 9, 0))]
deceives(
    "alike in print", FRAMES, PURE, FRAMES[0], "pandas leaves out the rows in the middle, where the frames differ"
)(lambda frame, rng: frame["age"].sum() + rng.laplace(0, 1))
deceives("alike in print", LONG, PURE, LONG[0], "NumPy prints three numbers at each end of 2,000")(
    lambda x, rng: x.sum() + rng.laplace(0, 1)
)
