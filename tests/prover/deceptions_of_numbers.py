# mypy: ignore-errors
"""Mechanisms that are not private, although they look so to whoever takes NumPy's numbers, arrays and generators for granted.

Each breaks its claim on its ``pair``, where the real function runs with a real generator. None may ever be proved. The twins are
written in the same style, and private. ``why`` says what a careless reader overlooks.

In the kinds of FLOATING the claim is kept over the real numbers; it is rounding, the sign of a zero or a lattice of floats that
breaks it.
"""

import copy
import math

import numpy as np
import pandas as pd
from collected_deceptions import Collected

from auditor import ApproximateDP, GaussianDP, PureDP, Records, Totals, Value, ZeroConcentratedDP

COLLECTED = Collected()
DECEPTIONS, TWINS = COLLECTED.deceptions, COLLECTED.twins
deceives, sound = COLLECTED.deceives, COLLECTED.sound


ONE = Totals(cells=3, values=(0, 100), contribution={"l1": 1})  # one person changes one number by 1
EACH = Totals(cells=3, values=(0, 100), contribution={"linf": 1})  # one person changes each number by up to 1
SIGNED = Totals(cells=3, values=(-10, 10), contribution={"l1": 1})
WIDE = Totals(cells=3, values=(0, 300), contribution={"l1": 1})
SMALL = Totals(cells=3, values=(0, 10), contribution={"l1": 1})
LARGE = Totals(cells=3, values=(0, 2000), contribution={"l1": 1})
HUGE = Totals(cells=3, values=(0, 2**62), contribution={"l1": 1})
REAL = Totals(cells=3, values=(0, 100), contribution={"l1": 1}, integer=False)  # fractions, in float64
REAL_SIGNED = Totals(cells=3, values=(-10, 10), contribution={"l1": 1}, integer=False)
PEOPLE = Records((0, 3), integer=True, size=(0, 3))  # one record is added or removed
CHOICE = Value(values=[0, 1, 2])
BIT = Value(values=[0, 1])
PURE = PureDP(1.0)

FLOATING = ("floats", "minus zero", "lattice")

# Overflow: NumPy's integers wrap round in silence ---------------------------------------------------------------------


@deceives(
    "overflow", HUGE, PURE, ((2**62, 2**62 - 1, 0), (2**62, 2**62, 0)), "the sum passes 2**63 and becomes negative"
)
def total_of_large_numbers(x, rng):
    return x.sum() + rng.laplace(0, 1)


@sound("overflow", ONE, PURE)
def total_of_small_numbers(x, rng):
    return x.sum() + rng.laplace(0, 1)


@deceives("overflow", ONE, PURE, ((31, 0, 0), (32, 0, 0)), "32 * 2**58 is -2**63")
def scaled_up_and_down(x, rng):
    return x * 2**58 // 2**58 + rng.laplace(0, 1, 3)


@deceives("overflow", ONE, PURE, ((31, 0, 0), (32, 0, 0)), "the highest bit is the sign")
def shifted_left_and_right(x, rng):
    return ((x << 58) >> 58) + rng.laplace(0, 1, 3)


@deceives("overflow", WIDE, PURE, ((127, 0, 0), (128, 0, 0)), "128 is -128 in eight bits")
def cast_to_int8(x, rng):
    return x.astype(np.int8) + rng.laplace(0, 1, 3)


@sound("overflow", WIDE, PURE)
def cast_to_int16(x, rng):
    return x.astype(np.int16) + rng.laplace(0, 1, 3)


@deceives("overflow", ONE, PURE, ((49, 0, 0), (50, 0, 0)), "49 - 50 is 255 where numbers have no sign")
def unsigned_difference(x, rng):
    return x.astype(np.uint8) - np.uint8(50) + rng.laplace(0, 1, 3)


@deceives("overflow", ONE, PURE, ((49, 0, 0), (50, 0, 0)), "in place, the dtype stays unsigned")
def unsigned_difference_in_place(x, rng):
    counts = x.astype(np.uint8)
    counts -= 50
    return counts + rng.laplace(0, 1, 3)


@deceives("overflow", ONE, PURE, ((20, 20, 69), (20, 20, 70)), "300 times the total passes 32,767")
def reduced_in_sixteen_bits(x, rng):
    return np.add.reduce(x * 300, dtype=np.int16) / 300 + rng.laplace(0, 1)


@deceives("overflow", ONE, PURE, ((40, 40, 47), (40, 40, 48)), "three numbers up to 100 do not fit into eight bits")
def summed_in_eight_bits(x, rng):
    return np.sum(x, dtype=np.int8) + rng.laplace(0, 1)


@deceives("overflow", ONE, PURE, ((100, 27, 0), (100, 28, 0)), "two scalars of eight bits")
def scalars_of_eight_bits(x, rng):
    return float(np.int8(x[0]) + np.int8(x[1])) + rng.laplace(0, 1)


@deceives("overflow", ONE, PURE, ((21, 0, 0), (22, 0, 0)), "2.2 billion does not fit into 32 bits")
def cents_in_32_bits(x, rng):
    return x.astype(np.int32) * np.int32(100_000_000) / 1e8 + rng.laplace(0, 1, 3)


@deceives("overflow", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "the absolute value of -128 in eight bits is -128")
def absolute_value_in_eight_bits(x, rng):
    return np.abs((x - 128).astype(np.int8)) + rng.laplace(0, 1, 3)


@deceives("overflow", ONE, PURE, ((78, 0, 0), (79, 0, 0)), "79**10 is negative, so that the least is not 1")
def power_then_minimum(x, rng):
    return np.minimum(x**10, 1) + rng.laplace(0, 1, 3)


@deceives("overflow", ONE, PURE, ((11, 2, 0), (11, 3, 0)), "the dot product of eight bits has eight bits")
def norm_in_eight_bits(x, rng):
    squares = np.clip(x, 0, 11).astype(np.int8)
    return math.sqrt(max(0, int(squares @ squares))) + rng.laplace(0, 1)


@deceives("overflow", ONE, PURE, ((49, 50, 0), (50, 50, 0)), "np.diff of unsigned numbers wraps round")
def differences_of_unsigned_numbers(x, rng):
    return np.diff(x[::-1].astype(np.uint16))[1] + rng.laplace(0, 1)


@deceives("overflow", ONE, PURE, ((60, 67, 0), (60, 68, 0)), "a running total of eight bits")
def running_total_in_eight_bits(x, rng):
    return np.cumsum(x, dtype=np.int8)[1] + rng.laplace(0, 1)


@deceives("overflow", ONE, PURE, ((92, 0, 0), (93, 0, 0)), "93e17 is no int64")
def scaled_float_to_integer(x, rng):
    return (x * 1e17).astype(np.int64) / 1e17 + rng.laplace(0, 1, 3)


@deceives("overflow", ONE, PURE, ((99, 0, 0), (100, 0, 0)), "65,600 is infinite in half precision")
def half_precision_overflows(x, rng):
    return (x * 656).astype(np.float16) / 656 + rng.laplace(0, 1, 3)


@deceives("overflow", WIDE, PURE, ((255, 0, 0), (256, 0, 0)), "a buffer of bytes keeps the last eight bits")
def stored_in_a_buffer_of_bytes(x, rng):
    buffer = np.zeros(3, dtype=np.uint8)
    buffer[:] = x
    return buffer + rng.laplace(0, 1, 3)


@deceives("overflow", WIDE, PURE, ((255, 0, 0), (256, 0, 0)), "the bytes of an integer are looked at as numbers")
def lowest_byte_by_a_view(x, rng):
    return x.view(np.uint8)[::8] + rng.laplace(0, 1, 3)


@deceives("overflow", ONE, PURE, ((63, 0, 0), (64, 0, 0)), "64 + 64 in eight bits, by an output argument")
def doubled_into_eight_bits(x, rng):
    out = np.empty(3, dtype=np.int8)
    np.add(x, x, out=out, casting="unsafe")
    return out / 2 + rng.laplace(0, 1, 3)


# Booleans: NumPy's True + True is True --------------------------------------------------------------------------------


@deceives("booleans", ONE, PURE, ((51, 50, 0), (51, 51, 0)), "True + True is True, so that this is no sum")
def sum_of_two_answers(x, rng):
    old, rich = x[0] > 50, x[1] > 50
    return 10 * (old + rich) - 9 * old - 9 * rich + rng.laplace(0, 1)


@deceives("booleans", ONE, PURE, ((51, 51, 50), (51, 51, 51)), "the dot product of Booleans is a Boolean")
def dot_of_two_masks(x, rng):
    over = x > 50
    return 5 * float(over @ over) - 4 * over.sum() + rng.laplace(0, 1)


@deceives("booleans", EACH, PURE, ((50, 50, 50), (51, 51, 51)), "three answers change at once")
def three_answers_at_once(x, rng):
    return (x > 50).sum() + rng.laplace(0, 1)


@sound("booleans", ONE, PURE)
def one_answer_at_once(x, rng):
    return (x > 50).sum() + rng.laplace(0, 1)


@deceives("booleans", ONE, PURE, ((50, 0, 0), (51, 0, 0)), "indexing by a Boolean keeps all or nothing, in a new axis")
def indexed_by_one_boolean(x, rng):
    return (x * 0)[x[0] > 50] + rng.laplace(0, 1, 3)


@deceives("booleans", ONE, PURE, ((50, 0, 0), (51, 0, 0)), "an answer and itself are not two answers")
def answer_counted_twice(x, rng):
    answer = x[0] > 50
    return 4 * (answer + answer) - 7 * answer + rng.laplace(0, 1)


@deceives("booleans", ONE, PURE, ((50, 0, 0), (51, 0, 0)), "minus between Booleans raises, for some data only")
def difference_of_answers(x, rng):
    known = x[0] > 50 and np.True_ - (x[0] > 50)
    return known * 1 + rng.laplace(0, 1)


@deceives("booleans", ONE, PURE, ((51, 50, 0), (51, 51, 0)), "np.add.reduce with dtype=bool says whether there is any")
def reduced_to_a_boolean(x, rng):
    over = x[:2] > 50
    return 4 * int(np.add.reduce(over, dtype=bool)) - 3 * int(over.sum()) + rng.laplace(0, 1)


@deceives("booleans", BIT, PURE, (0, 1), "a Python bool is an int, and 1 * 1 adds to 2")
def answer_added_to_a_coin(bit, rng):
    return bit + (rng.random() < 0.25)


@sound("booleans", BIT, PureDP(1.1))
def answer_crossed_with_a_coin(bit, rng):
    return bool(bit) ^ bool(rng.random() < 0.25)


# The sign of a zero ---------------------------------------------------------------------------------------------------


@deceives("minus zero", SIGNED, PURE, ((0, 0, 0), (-1, 0, 0)), "-1 * 0.0 is -0.0, whose sign is released")
def sign_of_nothing(x, rng):
    return [x[0] + rng.laplace(0, 1), np.copysign(1.0, x[0] * 0.0)]


@sound("minus zero", SIGNED, PURE)
def sign_of_noisy_nothing(x, rng):
    noisy = x[0] + rng.laplace(0, 1)
    return [noisy, np.copysign(1.0, noisy * 0.0)]


@deceives("minus zero", SIGNED, PURE, ((0, 0, 0), (-1, 0, 0)), "0.0 and -0.0 differ in their text")
def column_weighted_by_zero(x, rng):
    return [x[1] + rng.laplace(0, 1), x[0] * 0.0]


@deceives("minus zero", SIGNED, PURE, ((0, 0, 0), (-1, 0, 0)), "np.signbit tells -0.0 from 0.0")
def signbit_of_nothing(x, rng):
    return [x[0] + rng.laplace(0, 1), int(np.signbit(0.0 * x).any())]


@deceives("minus zero", SIGNED, PURE, ((0, 0, 0), (-1, 0, 0)), "1 / -0.0 is minus infinity")
def reciprocal_of_nothing(x, rng):
    return [x[0] + rng.laplace(0, 1), 1 / (x[0] * 0.0)]


@deceives("minus zero", SIGNED, PURE, ((0, 0, 0), (-1, 0, 0)), "the angle of (-0.0, 0.0) is π")
def angle_of_nothing(x, rng):
    return [x[0] + rng.laplace(0, 1), math.atan2(0.0, x[0] * 0.0)]


@deceives("minus zero", REAL_SIGNED, PURE, ((0.25, 0.0, 0.0), (-0.25, 0.0, 0.0)), "-0.25 is rounded to -0.0")
def sign_of_what_is_rounded_away(x, rng):
    small = np.clip(x[0], -0.25, 0.25)
    return [x[0] + rng.laplace(0, 1), f"{np.rint(small)}"]


@deceives("minus zero", SIGNED, PURE, ((0, 0, 0), (-1, 0, 0)), "the bits of -0.0 are no zero")
def bits_of_nothing(x, rng):
    return [x[0] + rng.laplace(0, 1), int((x * 0.0).view(np.int64)[0] == 0)]


@deceives("minus zero", SIGNED, PURE, ((0, 0, 0), (-1, 0, 0)), "-0.01 is cut to -0.0")
def small_share_cut_to_nothing(x, rng):
    return [x[1] + rng.laplace(0, 1), str(np.trunc(x[0] / 100))]


@deceives("minus zero", SIGNED, PURE, ((0, 0, 0), (1, 0, 0)), "(-x) * 0.0 is -0.0 for a positive x")
def negated_and_weighted_by_zero(x, rng):
    return {"noisy": x[1] + rng.laplace(0, 1), "rest": repr(float(-x[0] * 0.0))}


# NaN and infinity -----------------------------------------------------------------------------------------------------


@deceives("nan and infinity", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "0 * log(0) is NaN")
def logarithm_weighted_by_zero(x, rng):
    return x + 0 * np.log(x) + rng.laplace(0, 1, 3)


@sound("nan and infinity", ONE, PURE)
def logarithm_of_what_is_noisy(x, rng):
    noisy = x + rng.laplace(0, 1, 3)
    return noisy + 0 * np.log(np.maximum(noisy, 0))


@deceives("nan and infinity", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "0 / 0 is NaN, not 1")
def divided_by_itself(x, rng):
    return x / x + x + rng.laplace(0, 1, 3)


@deceives("nan and infinity", ONE, PURE, ((0, 5, 5), (1, 5, 5)), "np.isnan tells which number is 0")
def missing_where_nothing(x, rng):
    return [x[0] + rng.laplace(0, 1), bool(np.isnan(x / x).any())]


@deceives("nan and infinity", ONE, PURE, ((70, 0, 0), (71, 0, 0)), "inf - inf is NaN, not 0")
def exponentials_cancel(x, rng):
    weights = np.exp(x * 10.0)
    return x + (weights - weights) + rng.laplace(0, 1, 3)


@deceives(
    "nan and infinity", ONE, PURE, ((49, 60, 60), (50, 60, 60)), "np.nanmean leaves out roots of negative numbers"
)
def mean_of_roots(x, rng):
    return np.nanmean(np.sqrt(x - 50.0) * 0 + [0, 9, 9]) + rng.laplace(0, 1)


@deceives(
    "nan and infinity", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "0 times infinity is NaN, which is not equal to itself"
)
def not_equal_to_itself(x, rng):
    scaled = x[0] * math.inf
    return [x[0] + rng.laplace(0, 1), bool(scaled == scaled)]  # noqa: PLR0124 - that is the trick


@deceives("nan and infinity", ONE, PURE, ((100, 0, 0), (99, 0, 0)), "np.fmax skips NaN, of numbers above 99 %")
def angles_at_least_zero(x, rng):
    angles = np.arcsin(x / 99.0) * 0
    return np.fmax(angles, [-9, -9, -9]) + rng.laplace(0, 1, 3)


@deceives("nan and infinity", ONE, PURE, ((0, 5, 5), (1, 5, 5)), "NaN is sorted to the end")
def sorted_after_a_logarithm(x, rng):
    order = np.argsort(np.log(x) - np.log(x))
    return [x.sum() + rng.laplace(0, 1), int(order[0])]


@deceives("nan and infinity", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "math.log raises for 0")
def logarithm_raises(x, rng):
    return x[0] + 0 * math.log(x[0]) + rng.laplace(0, 1)


@deceives("nan and infinity", ONE, PURE, ((70, 0, 0), (71, 0, 0)), "math.exp raises above 709")
def exponential_raises(x, rng):
    return min(math.exp(10 * x[0]), 1) + rng.laplace(0, 1)


@deceives("nan and infinity", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "0 // 0 is 0 for NumPy's integers")
def whole_share_of_itself(x, rng):
    return 5 * (x // x) + rng.laplace(0, 1, 3)


@deceives("nan and infinity", ONE, PURE, ((49, 50, 50), (50, 50, 50)), "integers have no negative powers: it raises")
def negative_power_raises(x, rng):
    return np.minimum(2 ** (x - 50), 1) * 0 + x + rng.laplace(0, 1, 3)


@deceives("nan and infinity", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "a NaN compares as False, whichever way it is asked")
def neither_above_nor_below(x, rng):
    share = x[0] / x[0]
    return [x[1] + rng.laplace(0, 1), bool(share > 0.5) + bool(share <= 0.5)]


@deceives("nan and infinity", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "np.nan_to_num makes a finite number of log(0)")
def infinity_made_finite(x, rng):
    return np.nan_to_num(np.log(x) - np.log(x), nan=7.0) + rng.laplace(0, 1, 3)


# Rounding of data before noise ----------------------------------------------------------------------------------------


@deceives("rounding", ONE, PURE, ((1, 0, 0), (2, 0, 0)), "half of a count, rounded down, still moves by 1")
def half_rounded_down(x, rng):
    return x // 2 + rng.laplace(0, 0.5, 3)


@sound("rounding", ONE, PURE)
def rounded_down_after_noise(x, rng):
    return (x + rng.laplace(0, 1, 3)) // 2


@sound("rounding", ONE, PURE)
def halves_of_counts(x, rng):
    return x / 2 + rng.laplace(0, 0.5, 3)


@deceives("rounding", ONE, PURE, ((9, 0, 0), (10, 0, 0)), "the last digit goes from 9 to 0")
def last_digit(x, rng):
    return x % 10 + rng.laplace(0, 1, 3)


@deceives("rounding", ONE, PURE, ((5, 0, 0), (6, 0, 0)), "rounded to tens, a count moves by 10")
def rounded_to_tens(x, rng):
    return np.round(x, -1) + rng.laplace(0, 1, 3)


@deceives("rounding", REAL, PURE, ((0.75, 0.75, 0.0), (1.0, 1.0, 0.0)), "a quarter each moves two numbers by 1 each")
def fractions_cut_off(x, rng):
    return np.floor(x) + rng.laplace(0, 1, 3)


@deceives("rounding", REAL, PURE, ((0.75, 0.75, 0.75), (1.0, 1.0, 1.0)), "a quarter each moves three numbers by 1 each")
def fractions_cut_by_a_cast(x, rng):
    return x.astype(int) + rng.laplace(0, 1, 3)


@deceives("rounding", REAL, PURE, ((0.25, 0.25, 0.0), (0.75, 0.75, 0.0)), "halves round to the even number")
def fractions_rounded(x, rng):
    return np.rint(x) + rng.laplace(0, 1, 3)


@deceives("rounding", REAL, PURE, ((1.0, 1.0, 1.0), (1.25, 1.25, 1.25)), "rounded up, each moves by 1")
def fractions_rounded_up(x, rng):
    return [math.ceil(v) + rng.laplace(0, 1) for v in x]


@deceives("rounding", ONE, PURE, ((9, 0, 0), (10, 0, 0)), "a tenth as an integer moves by 1, not by a tenth")
def tenth_as_an_integer(x, rng):
    return int(x[0] / 10) + rng.laplace(0, 0.1)


@deceives("rounding", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "1.5 is rounded to 2: halves go to the even number")
def one_and_a_half_rounded(x, rng):
    return [round(1.5 * v) + rng.laplace(0, 1.5) for v in x]


@deceives("rounding", ONE, PURE, ((7, 0, 0), (8, 0, 0)), "the lower three bits go from 7 to 0")
def bits_masked(x, rng):
    return (x & ~7) + rng.laplace(0, 1, 3)


@deceives("rounding", ONE, PURE, ((7, 0, 0), (8, 0, 0)), "a shift to the right moves by 1, not by an eighth")
def bits_shifted(x, rng):
    return (x >> 3) + rng.laplace(0, 0.125, 3)


@deceives("rounding", ONE, PURE, ((7, 0, 0), (8, 0, 0)), "7 ^ 8 is 15, and 8 ^ 8 is 0")
def bits_crossed(x, rng):
    return (x ^ 8) + rng.laplace(0, 1, 3)


@deceives("rounding", ONE, PURE, ((9, 0, 0), (10, 0, 0)), "divmod: the rest falls by 9 where the tens rise by 1")
def tens_and_ones(x, rng):
    tens, ones = divmod(x[0], 10)
    return [tens + rng.laplace(0, 1), ones + rng.laplace(0, 1)]


@deceives("rounding", REAL, PURE, ((0.75, 0.0, 0.0), (1.0, 0.0, 0.0)), "the fraction of a number jumps")
def fraction_with_little_noise(x, rng):
    fraction, _ = np.modf(x)
    return fraction + rng.laplace(0, 0.25, 3)


@deceives("rounding", SIGNED, PURE, ((0, 0, 0), (-1, 0, 0)), "% of a negative number is not negative")
def remainder_of_a_negative_number(x, rng):
    return x % 100 + rng.laplace(0, 1, 3)


@deceives("rounding", ONE, PURE, ((49, 0, 0), (50, 0, 0)), "the quotient by a number of the data jumps")
def counts_per_group(x, rng):
    return 100 // (51 - np.minimum(x[0], 50)) + rng.laplace(0, 1)


@deceives("floats", ONE, PURE, ((29, 0, 0), (30, 0, 0)), "29 * 0.01 * 100 is 28.999999999999996, which is cut to 28")
def percent_and_back(x, rng):
    return [int(v * 0.01 * 100) + rng.laplace(0, 1) for v in (x[0], x[1], x[2])]


@deceives("floats", ONE, PURE, ((2, 0, 0), (3, 0, 0)), "near 1e16 only even numbers are floats")
def added_and_taken_away(x, rng):
    return (x + 1e16) - 1e16 + rng.laplace(0, 1, 3)


@sound("floats", ONE, PURE)
def added_and_taken_away_where_exact(x, rng):
    return (x + 1024.0) - 1024.0 + rng.laplace(0, 1, 3)


@deceives("floats", ONE, PURE, ((2, 0, 0), (3, 0, 0)), "above 2**24 only even numbers are floats of 32 bits")
def large_floats_of_32_bits(x, rng):
    return (x + 2**24).astype(np.float32) - 2**24 + rng.laplace(0, 1, 3)


@deceives("floats", ONE, PURE, ((5, 0, 0), (6, 0, 0)), "0.5 // 0.1 is 4, and 0.6000000000000001 // 0.1 is 6")
def tenths_counted(x, rng):
    return x * 0.1 // 0.1 + rng.laplace(0, 1, 3)


@deceives("floats", ONE, PURE, ((2, 0, 0), (3, 0, 0)), "above 2,048 only even numbers have half precision")
def half_precision_rounds(x, rng):
    return np.float16(x[0] + 2048) - 2048.0 + rng.laplace(0, 1)


# The shape, the length or the type of what is released ----------------------------------------------------------------


@deceives("shape", ONE, PURE, ((0, 5, 5), (1, 5, 5)), "how many numbers are released depends on the data")
def only_what_is_there(x, rng):
    present = x[x > 0]
    return present + rng.laplace(0, 1, len(present))


@sound("shape", ONE, PURE)
def only_what_is_there_after_noise(x, rng):
    noisy = x + rng.laplace(0, 1, len(x))
    return noisy[noisy > 0]


@deceives("shape", ONE, PURE, ((0, 5, 5), (1, 5, 5)), "zeros at the ends are cut off")
def trimmed_of_zeros(x, rng):
    trimmed = np.trim_zeros(x)
    return trimmed + rng.laplace(0, 1, trimmed.shape)


@deceives("shape", ONE, PURE, ((5, 6, 7), (6, 6, 7)), "equal numbers are released once")
def distinct_numbers(x, rng):
    distinct = np.unique(x)
    return distinct + rng.laplace(0, 1, distinct.size)


@deceives("shape", ONE, PURE, ((5, 0, 0), (6, 0, 0)), "the number of draws is the count itself")
def as_many_draws_as_people(x, rng):
    return rng.laplace(0, 1, x[0])


@deceives("shape", ONE, PURE, ((5, 0, 0), (6, 0, 0)), "a list of pure noise, one for each person")
def noise_in_a_list(x, rng):
    return [rng.laplace(0, 1) for _ in range(x[0])]


@deceives("shape", ONE, PURE, ((5, 1, 1), (6, 1, 1)), "np.repeat repeats as often as the data say")
def noise_repeated(x, rng):
    return np.repeat(rng.laplace(0, 1, 3), x)


@deceives("shape", WIDE, PURE, ((255, 0, 0), (256, 0, 0)), "the smallest type that holds the data is released")
def name_of_the_smallest_type(x, rng):
    return [x[0] + rng.laplace(0, 1), np.min_scalar_type(x.max()).name]


@deceives("shape", ONE, PURE, ((9, 0, 0), (10, 0, 0)), "padded to the width of the largest number")
def padded_to_the_widest(x, rng):
    width = len(str(x.max()))
    return [f"{round(v + rng.laplace(0, 1))}".rjust(width + 4) for v in x]


@deceives("shape", ONE, PURE, ((0, 5, 5), (1, 5, 5)), "np.flatnonzero lists the places of what is not 0")
def places_that_are_used(x, rng):
    used = np.flatnonzero(x)
    return {int(i): float(x[i] + rng.laplace(0, 1)) for i in used}


@deceives("shape", ONE, PURE, ((99, 0, 0), (100, 0, 0)), "a reshape to rows of the data's length raises or not")
def rows_as_long_as_a_count(x, rng):
    return rng.laplace(0, 1, 100).reshape(-1, max(x[0], 50)).mean()


@deceives(
    "shape", ONE, PURE, ((1, 0, 0), (2, 0, 0)), "broadcast to one row for each person, the noise grows with the count"
)
def rows_for_each_person(x, rng):
    return np.broadcast_to(rng.laplace(0, 1, 3), (x[0], 3)).sum(axis=0)


@deceives("length of records", PEOPLE, PURE, ((1, 1), (1, 1, 1)), "how many people there are is released")
def size_beside_a_noisy_sum(x, rng):
    return [x.sum() + rng.laplace(0, 3), x.size]


@sound("length of records", PEOPLE, PURE)
def noisy_size_beside_a_noisy_sum(x, rng):
    return [x.sum() + rng.laplace(0, 6), x.size + rng.laplace(0, 2)]


@deceives("length of records", PEOPLE, PURE, ((1, 1), (1, 1, 1)), "one noisy number for each person")
def each_record_with_noise(x, rng):
    return x + rng.laplace(0, 3, x.shape)


@deceives("length of records", PEOPLE, PURE, ((), (1,)), "the largest of nobody raises")
def largest_of_nobody(x, rng):
    return x.max() + rng.laplace(0, 3)


@deceives("length of records", PEOPLE, PURE, ((), (0,)), "the mean of nobody is NaN")
def mean_of_nobody(x, rng):
    return x.mean() + rng.laplace(0, 3)


@deceives("length of records", PEOPLE, PURE, ((1,), (1, 1)), "an odd number of records cannot be taken in pairs")
def records_in_pairs(x, rng):
    return x.reshape(-1, 2).sum() + rng.laplace(0, 3)


@deceives("length of records", PEOPLE, PURE, ((), (2,)), "the first record of nobody raises")
def first_record(x, rng):
    return x[0] + rng.laplace(0, 3)


@deceives("length of records", PEOPLE, PURE, ((), (3,)), "with few people, one record moves the mean by 3")
def mean_with_noise_for_three(x, rng):
    return x.sum() / max(1, len(x)) + rng.laplace(0, 1)


@deceives("length of records", PEOPLE, PURE, ((1, 1), (1, 1, 3)), "a record of 3 moves the sum by 3")
def sum_with_noise_for_one(x, rng):
    return x.sum() + rng.laplace(0, 1)


@deceives("length of records", PEOPLE, PURE, ((0,), (0, 0)), "the noise is less, the more people there are")
def noise_shared_by_people(x, rng):
    return x.sum() + rng.laplace(0, 1, (len(x) + 1) ** 3).mean() * 10


@deceives("length of records", PEOPLE, PURE, ((3, 3), (0, 3, 3)), "one record in front moves all that follow")
def weighted_by_place(x, rng):
    return (x * np.arange(1, len(x) + 1)).sum() + rng.laplace(0, 3)


@deceives("length of records", PEOPLE, PURE, ((), (0,)), "nobody cannot be unpacked into a first and the others")
def unpacked_records(x, rng):
    first, *others = x
    return first + sum(others) + rng.laplace(0, 3)


# Views of the same numbers --------------------------------------------------------------------------------------------


@deceives("views", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "a slice is a view: the data are changed through it")
def assigned_through_a_slice(x, rng):
    rest = x[1:]
    rest[0] = x[0]
    return x + rng.laplace(0, 1, 3)


@sound("views", ONE, PURE)
def assigned_to_a_copy(x, rng):
    rest = x[1:].copy()
    rest[0] = x[0]
    return x + rng.laplace(0, 1, 3)


@deceives("views", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "+= changes the array in place, through a view")
def added_through_a_slice(x, rng):
    rest = x[1:]
    rest += x[0]
    return x + rng.laplace(0, 1, 3)


@deceives("views", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "x.ravel() is a view where it can be")
def assigned_through_ravel(x, rng):
    x.ravel()[1] = x[0]
    return x + rng.laplace(0, 1, 3)


@deceives("views", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "a reshaped array shares its numbers")
def assigned_through_reshape(x, rng):
    column = x.reshape(3, 1)
    column[1:] = x[0]
    return x + rng.laplace(0, 1, 3)


@deceives("views", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "np.asarray of an array is that array")
def assigned_through_asarray(x, rng):
    counts = np.asarray(x)
    counts[2] = counts[0]
    return x + rng.laplace(0, 1, 3)


@deceives("views", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "a running total is written over the data")
def running_total_in_place(x, rng):
    np.cumsum(x, out=x)
    return x + rng.laplace(0, 1, 3)


@deceives("views", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "the sum is written to the data by an output argument")
def added_with_out(x, rng):
    np.add(x, x[0], out=x)
    return x + rng.laplace(0, 1, 3)


@deceives("views", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "a flipped array shares its numbers")
def assigned_through_a_flipped_view(x, rng):
    backwards = x[::-1]
    backwards[0] = x[0]
    return x + rng.laplace(0, 1, 3)


@deceives("views", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "np.copyto writes into a view of the data")
def copied_onto_the_rest(x, rng):
    np.copyto(x[1:], x[:1])
    return x + rng.laplace(0, 1, 3)


@deceives("views", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "x.T shares its numbers")
def assigned_through_a_transposed_view(x, rng):
    x.reshape(1, 3).T[2] = x[0]
    return x + rng.laplace(0, 1, 3)


@deceives("views", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "the parts of np.split are views")
def assigned_through_split(x, rng):
    first, second, third = np.split(x, 3)
    second[:], third[:] = first, first
    return x + rng.laplace(0, 1, 3)


@deceives("views", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "each row of a loop is a view")
def rows_changed_in_a_loop(x, rng):
    for row in x.reshape(3, 1)[1:]:
        row += x[0]  # noqa: PLW2901 - that is the trick
    return x + rng.laplace(0, 1, 3)


@deceives("views", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "np.atleast_2d and np.squeeze return views")
def assigned_through_more_axes(x, rng):
    np.atleast_2d(x)[0, 1] = x[0]
    np.squeeze(x[None])[2] = x[0]
    return x + rng.laplace(0, 1, 3)


@deceives("views", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "np.real of real numbers is a view")
def assigned_through_the_real_part(x, rng):
    np.real(x)[1] = x[0]
    return x + rng.laplace(0, 1, 3)


@deceives("views", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "x.flat writes to the data")
def assigned_through_flat(x, rng):
    x.flat[1:] = x[0]
    return x + rng.laplace(0, 1, 3)


@deceives("views", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "x.fill changes the data")
def filled_with_the_first(x, rng):
    kept = x
    x.fill(x[0])
    return kept + rng.laplace(0, 1, 3)


@deceives("views", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "np.put writes to the data")
def put_in_place(x, rng):
    np.put(x, [1, 2], x[0])
    return x + rng.laplace(0, 1, 3)


@deceives("views", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "a memoryview writes to the data")
def assigned_through_a_memoryview(x, rng):
    memory = memoryview(x)
    memory[1] = memory[0]
    return x + rng.laplace(0, 1, 3)


@deceives("views", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "as_strided lays the first number over all places")
def strides_of_zero(x, rng):
    return np.lib.stride_tricks.as_strided(x, (3,), (0,)) + rng.laplace(0, 1, 3)


@deceives("views", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "the noise of one place is written over the others by a view")
def noise_overwritten_through_a_view(x, rng):
    noise = rng.laplace(0, 1, 3)
    noise[1:] = noise[:1]
    return x + noise


@deceives(
    "views",
    REAL,
    PURE,
    ((7.0, 5.0, 5.0), (8.0, 5.0, 5.0)),
    "what was kept has its noise too, and the noise is taken off",
)
def noise_added_in_place(x, rng):
    kept, noise = x, rng.laplace(0, 1, 3)
    x += noise
    return kept - noise


@deceives("views", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "x = x + noise makes a new array, so that the old one is raw")
def noise_added_to_a_new_array(x, rng):
    kept = x
    x = x + rng.laplace(0, 1, 3)
    return [float(x[0]), float(kept[1] + kept[0])]


@deceives("views", ONE, PURE, ((5, 9, 9), (6, 9, 9)), "sorted in place, through a view of the first two")
def sorted_through_a_view(x, rng):
    x[:2].sort()
    x[1] += x[0]
    return x + rng.laplace(0, 1, 3)


@deceives("views", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "a list of the same array three times is one array")
def three_names_of_one_array(x, rng):
    tables = [x] * 3
    for table in tables:
        table[1] += table[0]
    return tables[0] + rng.laplace(0, 1, 3)


@deceives("views", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "a helper changes the array that it is given")
def changed_by_a_helper(x, rng):
    def largest_so_far(numbers):
        for i in range(1, len(numbers)):
            numbers[i] = max(numbers[i], numbers[i - 1])
        return numbers[-1]

    largest_so_far(x)
    return x + rng.laplace(0, 1, 3)


@deceives(
    "views", ONE, PURE, ((9, 5, 9), (9, 6, 9)), "a swap of views copies nothing: the second reads what the first wrote"
)
def swapped_views(x, rng):
    x[:1], x[1:2] = x[1:2], x[:1]
    return x + rng.laplace(0, 1, 3)


# Places that data choose ----------------------------------------------------------------------------------------------


@deceives("indexing", ONE, PURE, ((10, 0, 0), (11, 0, 0)), "neighbouring places of a table hold distant numbers")
def looked_up_in_a_table(x, rng):
    table = np.arange(101) ** 2 % 97
    return table[x[0]] + rng.laplace(0, 1)


@sound("indexing", ONE, PURE)
def looked_up_after_noise(x, rng):
    table = np.arange(101) ** 2 % 97
    return table[int(np.clip(round(x[0] + rng.laplace(0, 1)), 0, 100))]


@deceives("indexing", ONE, PURE, ((1, 9, 9), (2, 9, 9)), "one person more takes a whole count into the sum")
def sum_of_the_first(x, rng):
    return x[: x[0]].sum() + rng.laplace(0, 1)


@deceives(
    "indexing", ONE, PURE, ((1, 0, 0), (2, 0, 0)), "which of three noises is used tells the rest of the count by 3"
)
def one_of_three_noises(x, rng):
    noise = rng.laplace(0, 1, 3)
    return [noise[x[0] % 3], *noise]


@deceives("indexing", ONE, PURE, ((2, 5, 90), (3, 5, 90)), "a place out of reach is taken from the end")
def taken_with_wrapping(x, rng):
    return np.take(x, x[0], mode="wrap") + rng.laplace(0, 1)


@deceives("indexing", ONE, PURE, ((0, 0, 80), (1, 0, 80)), "place -1 is the last one")
def place_before_the_first(x, rng):
    return x[min(x[0], 3) - 1] + rng.laplace(0, 1)


@deceives("indexing", ONE, PURE, ((2, 0, 0), (3, 0, 0)), "place 3 of three raises")
def place_after_the_last(x, rng):
    return [0, 0, 0][x[0]] + rng.laplace(0, 1)


@deceives("indexing", ONE, PURE, ((50, 0, 0), (51, 0, 0)), "who passes 50 brings 51 into the sum")
def sum_of_the_large(x, rng):
    return x[x > 50].sum() + rng.laplace(0, 1)


@deceives("indexing", SMALL, PURE, ((5, 0, 0), (6, 0, 0)), "one person leaves one place and comes to another")
def marked_in_a_row(x, rng):
    row = np.zeros(11)
    row[x[0]] = 1
    return row + rng.laplace(0, 1, 11)


@sound("indexing", SMALL, PURE)
def marked_in_a_row_with_enough_noise(x, rng):
    row = np.zeros(11)
    row[x[0]] = 1
    return row + rng.laplace(0, 2, 11)


@deceives("indexing", ONE, PURE, ((9, 9, 0), (9, 10, 0)), "the noisy counts come in the order of the raw ones")
def noisy_counts_in_raw_order(x, rng):
    noisy = x * 0 + rng.laplace(0, 1, 3)
    order = np.argsort(-x, kind="stable")
    return [*noisy[order], *noisy]


@deceives("indexing", ONE, PURE, ((50, 0, 0), (51, 0, 0)), "two words, chosen by a raw count")
def word_beside_noise(x, rng):
    return [x[0] + rng.laplace(0, 1), ("low", "high")[int(x[0] > 50)]]


@deceives("indexing", ONE, PURE, ((3, 40, 80), (4, 40, 80)), "np.roll turns the counts as far as the data say")
def rolled_by_a_count(x, rng):
    return np.roll(x, x[0]) + rng.laplace(0, 1, 3)


@deceives("indexing", ONE, PURE, ((10, 0, 0), (11, 0, 0)), "a mask of the noise by the data")
def noise_where_data_say(x, rng):
    noise = rng.laplace(0, 1, 3)
    noise[x == 10] = 0
    return noise


@deceives("indexing", ONE, PURE, ((1, 2, 7), (1, 3, 7)), "a step of a slice that comes from data")
def every_second_or_third(x, rng):
    return x[:: x[1]].sum() + rng.laplace(0, 1)


# Choices made by raw data ---------------------------------------------------------------------------------------------


@deceives("selection", ONE, PURE, ((50, 0, 0), (51, 0, 0)), "np.where jumps by 100")
def hundred_where_large(x, rng):
    return np.where(x > 50, 100, 0) + rng.laplace(0, 1, 3)


@sound("selection", ONE, PURE)
def hundred_where_large_after_noise(x, rng):
    return np.where(x + rng.laplace(0, 1, 3) > 50, 100, 0)


@deceives("selection", ONE, PURE, ((20, 0, 0), (21, 0, 0)), "np.select jumps by 5")
def grade_by_select(x, rng):
    return np.select([x <= 20, x <= 60], [0, 5], default=10) + rng.laplace(0, 1, 3)


@deceives("selection", ONE, PURE, ((50, 0, 0), (51, 0, 0)), "np.choose takes the second array")
def chosen_by_choose(x, rng):
    return np.choose((x > 50).astype(int), [x, x + 20]) + rng.laplace(0, 1, 3)


@deceives("selection", ONE, PURE, ((50, 0, 0), (51, 0, 0)), "np.piecewise has two pieces that do not meet")
def piecewise_line(x, rng):
    return np.piecewise(x * 1.0, [x > 50], [lambda v: 2 * v, lambda v: v]) + rng.laplace(0, 1, 3)


@deceives("selection", ONE, PURE, ((19, 0, 0), (20, 0, 0)), "the group of a count, times ten years")
def group_by_searchsorted(x, rng):
    return np.searchsorted([20, 40, 65], x, side="right") * 10 + rng.laplace(0, 1, 3)


@deceives("selection", ONE, PURE, ((39, 0, 0), (40, 0, 0)), "np.digitize gives another group")
def group_by_digitize(x, rng):
    return np.digitize(x, [20, 40, 65]) * 4 + rng.laplace(0, 1, 3)


@deceives("selection", SMALL, PURE, ((5, 0, 0), (6, 0, 0)), "one number leaves one bin and comes to another")
def counted_numbers(x, rng):
    return np.bincount(x, minlength=11) + rng.laplace(0, 1, 11)


@deceives("selection", ONE, PURE, ((9, 90, 90), (10, 90, 90)), "one number moves two bins of the histogram")
def histogram_of_numbers(x, rng):
    return np.histogram(x, bins=10, range=(0, 100))[0] + rng.laplace(0, 1, 10)


@deceives("selection", ONE, PURE, ((0, 50, 100), (0, 50, 99)), "the edges of the histogram come from the data")
def edges_of_a_histogram(x, rng):
    counts, edges = np.histogram(x, bins=2)
    return [*(counts + rng.laplace(0, 2, 2)), float(edges[1])]


@deceives("selection", ONE, PURE, ((10, 0, 11), (11, 0, 11)), "the index of the largest jumps from 2 to 0")
def index_of_the_largest(x, rng):
    return np.argmax(x) + rng.laplace(0, 1)


@sound("selection", EACH, PURE)
def index_of_the_largest_noisy_count(x, rng):
    return int(np.argmax(x + rng.exponential(2, 3)))


@deceives("selection", EACH, PURE, ((5, 6, 7), (4, 6, 8)), "the largest rises and the smallest falls")
def range_of_the_counts(x, rng):
    return np.ptp(x) + rng.laplace(0, 1)


@deceives("selection", ONE, PURE, ((5, 7, 9), (5, 8, 9)), "noise of half a person on a median")
def median_with_half_the_noise(x, rng):
    return np.median(x) + rng.laplace(0, 0.5)


@sound("selection", EACH, PURE)
def median_with_its_noise(x, rng):
    return np.median(x) + rng.laplace(0, 1)


@deceives("selection", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "three running maxima move with the first count")
def running_maxima(x, rng):
    return np.maximum.accumulate(x) + rng.laplace(0, 1, 3)


@deceives("selection", EACH, PURE, ((0, 0, 0), (1, 1, 1)), "three counts stop being zero at once")
def how_many_are_used(x, rng):
    return np.count_nonzero(x) + rng.laplace(0, 1)


@deceives("selection", ONE, PURE, ((36, 0, 0), (37, 0, 0)), "np.isin looks for one number")
def whether_37_occurs(x, rng):
    return 3 * np.isin(37, x) + rng.laplace(0, 1)


@deceives("selection", ONE, PURE, ((49, 0, 0), (50, 0, 0)), "the sign goes from -1 to 0, and from there to 1")
def sign_of_a_difference(x, rng):
    return np.sign(x - 50) * 2 + rng.laplace(0, 1, 3)


@deceives("selection", ONE, PURE, ((40, 80, 0), (41, 80, 0)), "np.interp stretches what it reads")
def interpolated(x, rng):
    return np.interp(x, [0, 40, 50, 100], [0, 40, 90, 100]) + rng.laplace(0, 1, 3)


@deceives("selection", ONE, PURE, ((10, 20, 40), (11, 20, 40)), "clipped to ends that are data")
def clipped_to_the_data(x, rng):
    return np.clip(np.array([0, 5, 9]), x[0], x[1]) + rng.laplace(0, 1, 3)


@deceives("selection", EACH, PURE, ((5, 5, 5), (6, 6, 5)), "the range moves by 1 and the first count by 1")
def range_and_first_count(x, rng):
    return np.percentile(x, 100) - np.percentile(x, 0) + x[0] + rng.laplace(0, 1)


@deceives("selection", ONE, PURE, ((5, 5, 6), (5, 6, 6)), "how many are equal to the most frequent number")
def times_of_the_mode(x, rng):
    return 3 * np.unique(x, return_counts=True)[1][0] + rng.laplace(0, 1)


# Noise whose size depends on data -------------------------------------------------------------------------------------


@deceives("scale", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "the larger the count, the more noise")
def noise_in_proportion(x, rng):
    return x + rng.laplace(0, 1 + x, 3)


@sound("scale", ONE, PURE)
def noise_in_proportion_to_a_noisy_count(x, rng):
    level = abs(x[0] + rng.laplace(0, 2))
    return [level, *(x + rng.laplace(0, 2 + level, 3))]


@deceives("scale", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "no noise at all where the count is 0")
def noise_times_a_count(x, rng):
    return x + x * rng.laplace(0, 1, 3)


@deceives("scale", ONE, PURE, ((50, 0, 0), (51, 0, 0)), "noise for those above 50 only")
def noise_for_the_large(x, rng):
    return x + np.where(x > 50, 1, 2) * rng.laplace(0, 2, 3)


@deceives("scale", ONE, PURE, ((50, 0, 0), (51, 0, 0)), "a negative scale raises")
def scale_that_turns_negative(x, rng):
    return x[0] + rng.laplace(0, 50 - x[0] + 0.5)


@deceives("scale", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "a scale of 0 is no noise")
def scale_that_is_zero(x, rng):
    return x[0] + rng.laplace(0, min(x[0], 1))


@deceives("scale", ONE, PURE, ((0, 1, 9), (1, 1, 9)), "local sensitivity is not private")
def local_sensitivity_of_the_median(x, rng):
    low, middle, high = np.sort(x)
    return middle + rng.laplace(0, min(middle - low, high - middle))


@deceives("scale", ONE, PURE, ((0, 0, 0), (0, 0, 1)), "the standard deviation of the data is the scale")
def normal_with_the_deviation_of_the_data(x, rng):
    return rng.normal(x.mean(), x.std())


@deceives("scale", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "location and scale are the wrong way round")
def swapped_location_and_scale(x, rng):
    return rng.laplace(1, x)


@deceives("scale", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "the first argument of exponential is its scale")
def exponential_of_the_count(x, rng):
    return rng.exponential(x)


@deceives("scale", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "the first argument of gamma is its shape")
def gamma_of_the_count(x, rng):
    return rng.gamma(x[0] + 0.5) + 0 * x[1]


@deceives("scale", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "how heavy the tails are depends on the count")
def degrees_of_freedom(x, rng):
    return rng.chisquare(x[0] + 1)


@deceives("scale", ONE, PURE, ((1, 0, 0), (2, 0, 0)), "a noisy count divided by a raw one")
def noise_divided_by_a_count(x, rng):
    return x[1] + rng.laplace(0, 1) / max(1, x[0]) ** 3


@deceives("scale", ONE, PURE, ((0, 9, 9), (1, 9, 9)), "noise as large as the smallest count, but for 0")
def scale_of_the_smallest(x, rng):
    return x.sum() + rng.laplace(0, 1 / (1 + 3 * x.min()))


@deceives("scale", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "a power of noise by data")
def noise_to_a_power(x, rng):
    return np.abs(rng.laplace(0, 1, 3)) ** (x + 1)


# Noise that is used twice, given away or cut --------------------------------------------------------------------------


@deceives("reused noise", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "one noise for all: differences are exact")
def one_noise_for_all(x, rng):
    return x + rng.laplace(0, 1)


@sound("reused noise", ONE, PURE)
def one_noise_for_one_sum(x, rng):
    noise = rng.laplace(0, 1)
    noisy = x.sum() + noise
    return [noisy, 2 * noisy, round(noisy)]


@deceives("reused noise", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "an array of one noise is broadcast over three counts")
def noise_of_size_one(x, rng):
    return x + rng.laplace(0, 1, size=1)


@deceives("reused noise", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "the second argument is the scale, not the size")
def scale_for_size(x, rng):
    return x + rng.laplace(0, 3)


@deceives("reused noise", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "a column and a row: every noise is used three times")
def noise_broadcast_over_rows(x, rng):
    return (x.reshape(3, 1) + rng.laplace(0, 3, (1, 3))).ravel()


@deceives("reused noise", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "noise that sums to zero leaves the sum exact")
def centred_noise(x, rng):
    noise = rng.laplace(0, 1, 3)
    return x + (noise - noise.mean())


@deceives("reused noise", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "the sum of the noise is given away")
def sum_of_the_noise(x, rng):
    noise = rng.laplace(0, 1, 3)
    return [*(x + noise), noise.sum()]


@deceives("reused noise", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "the sign of the noise is given away")
def sign_of_the_noise(x, rng):
    noise = rng.laplace(0, 1)
    return [x[0] + noise, int(np.sign(noise))]


@deceives("reused noise", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "the rounded noise is given away")
def rounded_noise_beside(x, rng):
    noise = rng.laplace(0, 1)
    return [x[0] + noise, round(noise)]


@deceives("reused noise", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "whether the noise is large is given away")
def reliable_or_not(x, rng):
    noise = rng.laplace(0, 1)
    return {"count": x[0] + noise, "reliable": bool(abs(noise) < 2)}


@deceives("reused noise", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "the order of the noise is given away")
def order_of_the_noise(x, rng):
    noise = rng.laplace(0, 1, 3)
    return [*(x + noise), *np.argsort(noise)]


@deceives("reused noise", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "the sorted noise is given away")
def sorted_noise_beside(x, rng):
    noise = rng.laplace(0, 1, 3)
    noisy = x + noise
    noise.sort()
    return [noisy[0] - noise[0], noisy[1] - noise[1]]


@deceives("reused noise", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "no draws have the sum 0")
def sum_of_no_noise(x, rng):
    return x[0] + rng.laplace(0, 1, 0).sum() + rng.integers(0, 2)


@deceives("reused noise", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "a - b of one buffer is 0: both draws are the same array")
def two_draws_into_one_buffer(x, rng):
    buffer = np.empty(3)
    up = rng.standard_exponential(out=buffer)
    down = rng.standard_exponential(out=buffer)
    return x + (up - down)


@sound("reused noise", ONE, PURE)
def two_draws_into_two_buffers(x, rng):
    up, down = np.empty(3), np.empty(3)
    rng.standard_exponential(out=up)
    rng.standard_exponential(out=down)
    return x + (up - down)


@deceives("reused noise", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "the generator is set back, and draws the same again")
def generator_set_back(x, rng):
    state = rng.bit_generator.state
    first = x[0] + rng.laplace(0, 1)
    rng.bit_generator.state = state
    return [first, x[1] + rng.laplace(0, 1)]


@deceives("reused noise", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "a copy of the generator draws the same")
def copied_generator(x, rng):
    twin = copy.deepcopy(rng)
    return [x[0] + rng.laplace(0, 1), x[1] + twin.laplace(0, 1)]


@deceives("reused noise", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "a seed from the data: it is no noise")
def seeded_by_data(x, rng):
    return x[0] + np.random.default_rng(int(x[0])).laplace(0, 1) + rng.integers(0, 2)


# Noise of the wrong kind ----------------------------------------------------------------------------------------------


@deceives("wrong noise", ONE, PURE, ((7, 0, 0), (8, 0, 0)), "the normal density falls faster than any exponential")
def normal_without_scale(x, rng):
    return rng.normal(x)


@sound("wrong noise", ONE, PURE)
def logistic_noise(x, rng):
    return rng.logistic(x)


@sound("wrong noise", ONE, PURE)
def cauchy_noise(x, rng):
    return x + rng.standard_cauchy(3)


@deceives("wrong noise", ONE, PURE, ((7, 0, 0), (8, 0, 0)), "half the scale that Cauchy noise needs")
def cauchy_noise_halved(x, rng):
    return x + rng.standard_cauchy(3) / 2


@deceives("wrong noise", ONE, PURE, ((7, 0, 0), (8, 0, 0)), "exponential noise is never negative")
def exponential_noise(x, rng):
    return x + rng.exponential(1, 3)


@deceives("wrong noise", ONE, PURE, ((7, 0, 0), (8, 0, 0)), "the absolute value of noise is never negative")
def absolute_noise(x, rng):
    return x + abs(rng.laplace(0, 1, 3))


@deceives("wrong noise", ONE, PURE, ((7, 0, 0), (8, 0, 0)), "uniform noise ends at 10")
def uniform_noise(x, rng):
    return x + rng.uniform(-10, 10, 3)


@deceives("wrong noise", ONE, PURE, ((7, 0, 0), (8, 0, 0)), "the left tail of Gumbel noise falls twice exponentially")
def gumbel_noise(x, rng):
    return x + rng.gumbel(0, 1, 3)


@deceives("wrong noise", ONE, PURE, ((7, 0, 0), (8, 0, 0)), "binomial noise ends at 3")
def binomial_noise(x, rng):
    return x + rng.binomial(6, 0.5, 3) - 3


@deceives("wrong noise", ONE, PURE, ((7, 0, 0), (8, 0, 0)), "noise cut off at 3 has an atom there")
def clipped_noise(x, rng):
    return x + np.clip(rng.laplace(0, 1, 3), -3, 3)


@deceives("wrong noise", ONE, PURE, ((7, 0, 0), (8, 0, 0)), "large noise is drawn again, so that it ends at 3")
def noise_drawn_again(x, rng):
    noise = rng.laplace(0, 1)
    while abs(noise) > 3:
        noise = rng.laplace(0, 1)
    return x[0] + noise


@deceives("wrong noise", ONE, PURE, ((7, 0, 0), (8, 0, 0)), "the mean of two noises is smaller noise")
def mean_of_two_noises(x, rng):
    return x + (rng.laplace(0, 1, 3) + rng.laplace(0, 1, 3)) / 2


@deceives("wrong noise", ONE, PURE, ((7, 0, 0), (8, 0, 0)), "the larger of two noises falls twice as fast on its left")
def larger_of_two_noises(x, rng):
    return x + np.maximum(*rng.laplace(0, 1, (2, 3)))


@deceives("wrong noise", ONE, PURE, ((7, 0, 0), (8, 0, 0)), "the product of two noises is near 0 too often")
def product_of_two_noises(x, rng):
    return x + np.prod(rng.laplace(0, 1, (2, 3)), axis=0) / 2


@deceives("wrong noise", REAL, PURE, ((0.25, 0.0, 0.0), (0.5, 0.0, 0.0)), "whole noise leaves the fraction as it is")
def whole_noise(x, rng):
    return x + np.floor(rng.laplace(0, 1, 3))


@sound("wrong noise", ONE, PURE)
def whole_noise_on_whole_numbers(x, rng):
    return x + np.floor(rng.laplace(0, 1, 3))


@deceives("wrong noise", REAL, PURE, ((0.25, 0.0, 0.0), (0.5, 0.0, 0.0)), "discrete noise leaves the fraction as it is")
def geometric_noise_on_fractions(x, rng):
    p = 1 - math.exp(-1)
    return x + rng.geometric(p, 3) - rng.geometric(p, 3)


@sound("wrong noise", ONE, PURE)
def geometric_noise_on_whole_numbers(x, rng):
    p = 1 - 1 / math.e
    return x + rng.geometric(p, 3) - rng.geometric(p, 3)


@deceives("wrong noise", ONE, PURE, ((7, 0, 0), (8, 0, 0)), "one geometric draw is one-sided")
def one_sided_geometric_noise(x, rng):
    return x + rng.geometric(1 - math.exp(-1), 3) - 1


@deceives("wrong noise", ONE, PURE, ((7, 0, 0), (8, 0, 0)), "the remainder of noise by 1 is uniform on [0, 1)")
def remainder_of_noise(x, rng):
    return x + rng.laplace(0, 1, 3) % 1


@deceives("wrong noise", ONE, PURE, ((7, 0, 0), (8, 0, 0)), "Poisson noise is never negative")
def poisson_noise(x, rng):
    return x + rng.poisson(2, 3) - 2


# Shuffles along the wrong axis ----------------------------------------------------------------------------------------


@deceives("axis", CHOICE, PURE, (0, 1), "a single row is shuffled among the rows: nothing moves")
def permutation_of_one_row(choice, rng):
    return rng.permutation(np.eye(3)[[choice]]) + rng.laplace(0, 0.25, 3)


@sound("axis", CHOICE, PURE)
def permutation_of_the_columns(choice, rng):
    return rng.permutation(np.eye(3)[[choice]], axis=1) + rng.laplace(0, 0.25, 3)


@deceives("axis", CHOICE, PURE, (0, 1), "axis=1 moves whole columns, and the second row tells which")
def permutation_of_columns_together(choice, rng):
    return rng.permutation(np.array([np.eye(3)[choice], [1, 2, 3]]), axis=1)


@deceives("axis", CHOICE, PURE, (0, 1), "a shuffle along axis 0 of one row")
def shuffle_of_one_row(choice, rng):
    table = np.eye(3)[[choice]]
    rng.shuffle(table)
    return table[0] + rng.laplace(0, 0.25, 3)


@deceives("axis", CHOICE, PURE, (0, 1), "axis=1 of a column holds one number each")
def shuffle_of_a_column(choice, rng):
    table = np.eye(3)[choice].reshape(3, 1)
    rng.shuffle(table, axis=1)
    return table[:, 0] + rng.laplace(0, 0.25, 3)


@deceives("axis", CHOICE, PURE, (0, 1), "permuted along axis 0 leaves one row as it is")
def permuted_row(choice, rng):
    return rng.permuted(np.eye(3)[[choice]], axis=0)[0] + rng.laplace(0, 0.25, 3)


@sound("axis", CHOICE, PURE)
def permuted_everywhere(choice, rng):
    return rng.permuted(np.eye(3)[[choice]])[0] + rng.laplace(0, 0.25, 3)


@deceives("axis", CHOICE, PURE, (0, 1), "permutation returns a copy, which is thrown away")
def permutation_thrown_away(choice, rng):
    marks = np.eye(3)[choice]
    rng.permutation(marks)
    return marks + rng.laplace(0, 0.25, 3)


@deceives("axis", CHOICE, PURE, (0, 1), "flatten returns a copy: that is what is shuffled")
def shuffle_of_a_copy(choice, rng):
    marks = np.eye(3)[choice]
    rng.shuffle(marks.flatten())
    return marks + rng.laplace(0, 0.25, 3)


@deceives("axis", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "the mean over the wrong axis leaves the counts as they are")
def mean_over_the_wrong_axis(x, rng):
    table = np.vstack([x, x]) + rng.laplace(0, 1, (2, 3))
    return table.mean(axis=0) * 2


@deceives("axis", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "each count is released three times")
def counts_three_times(x, rng):
    return rng.laplace(x, 1, size=(3, 3))


@deceives("axis", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "a tiled vector holds each count twice")
def counts_twice(x, rng):
    return np.tile(x, 2) + rng.laplace(0, 1, 6)


# What the generator does with numbers of the data ---------------------------------------------------------------------


@deceives(
    "choice", ONE, PURE, ((50, 0, 0), (51, 0, 0)), "choice raises where p does not sum to 1, and does not scale it"
)
def probabilities_that_do_not_sum_to_one(x, rng):
    weight = (x[0] + 50) / 100
    return int(rng.choice(2, p=[0.5 * weight, 0.5 * weight]))


@sound("choice", SMALL, PURE)
def probabilities_that_are_scaled(x, rng):
    weights = np.exp(x / 2 - np.max(x) / 2)
    return int(rng.choice(3, p=weights / weights.sum()))


@deceives("choice", ONE, PURE, ((0, 1, 0), (1, 1, 0)), "a count of 0 is never chosen")
def chosen_in_proportion(x, rng):
    return int(rng.choice(3, p=x / x.sum()))


@deceives("choice", EACH, PURE, ((50, 52, 52), (51, 51, 51)), "weights of exp(x): one rises where the others fall")
def exponential_mechanism_without_the_half(x, rng):
    weights = np.exp(x - x.max())
    return int(rng.choice(3, p=weights / weights.sum()))


@deceives("choice", LARGE, PURE, ((1419, 0, 0), (1420, 0, 0)), "inf / inf is NaN, which is no probability")
def weights_overflow(x, rng):
    weights = np.exp(x / 2)
    return int(rng.choice(3, p=weights / weights.sum()))


@deceives("choice", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "one of the counts itself")
def one_of_the_counts(x, rng):
    return rng.choice(x) + rng.choice([0.0, 0.5])


@deceives("choice", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "a sample without replacement is a permutation of the counts")
def sampled_without_replacement(x, rng):
    return rng.choice(x, 3, replace=False).sum() + rng.laplace(0, 1) * 0.5


@deceives("choice", ONE, PURE, ((3, 0, 0), (4, 0, 0)), "four of three cannot be drawn")
def as_many_as_people_without_replacement(x, rng):
    return rng.choice(3, size=x[0], replace=False).sum() * 0 + rng.laplace(0, 1)


@deceives("choice", ONE, PURE, ((0, 5, 5), (1, 5, 5)), "not enough entries that are not zero")
def two_of_the_used_ones(x, rng):
    used = (x > 0) / max(1, np.count_nonzero(x))
    return sorted(rng.choice(3, size=2, replace=False, p=used).tolist())


@deceives("choice", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "a negative probability raises")
def probability_below_zero(x, rng):
    lies = 0.25 - 0.26 * min(x[0], 1)
    return str(rng.choice(["yes", "no"], p=[lies, 1 - lies]))


@deceives("generator", ONE, PURE, ((49, 0, 0), (50, 0, 0)), "integers raises where low is not below high")
def integers_from_a_count(x, rng):
    return rng.integers(x[0], 50) * 0 + rng.laplace(0, 1)


@deceives("generator", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "integers(0, count) has as many values as people")
def integers_below_a_count(x, rng):
    return int(rng.integers(0, x[0] + 1))


@deceives("generator", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "with its endpoint, 1 is possible where the count is 1")
def integers_with_the_endpoint(x, rng):
    return int(rng.integers(0, x[0], endpoint=True))


@deceives("generator", Value(values=[0, 1, 255]), PURE, (0, 1), "without its endpoint, 255 is never drawn")
def pad_of_bytes_without_the_endpoint(byte, rng):
    return (byte + int(rng.integers(0, 255))) % 256 // 255


@sound("generator", Value(values=[0, 1, 255]), PURE)
def pad_of_bytes(byte, rng):
    return (byte + int(rng.integers(0, 255, endpoint=True))) % 256


@deceives("generator", CHOICE, PURE, (0, 1), "0 times anything is 0: multiplication is no pad")
def pad_by_multiplication(choice, rng):
    return choice * int(rng.integers(3)) % 3


@sound("generator", CHOICE, PURE)
def pad_by_addition(choice, rng):
    return (choice + int(rng.integers(3))) % 3


@deceives("generator", CHOICE, PURE, (0, 1), "integers(2) is 0 or 1, and never 2")
def pad_that_is_too_short(choice, rng):
    return (choice + int(rng.integers(2))) % 3


@deceives("generator", CHOICE, PURE, (0, 2), "the exclusive or of 2 bits with 1 bit")
def pad_of_one_bit(choice, rng):
    return choice ^ int(rng.integers(2))


@deceives("generator", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "nobody out of nobody")
def binomial_of_a_count(x, rng):
    return int(rng.binomial(x[0], 0.5))


@deceives("generator", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "a Poisson number of mean 0 is 0")
def poisson_of_a_count(x, rng):
    return rng.poisson(x)


@deceives("generator", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "a geometric probability of 0 raises")
def geometric_of_a_share(x, rng):
    return int(rng.geometric(x[0] / 100))


@deceives("generator", WIDE, PURE, ((100, 0, 0), (101, 0, 0)), "a probability above 1 raises")
def binomial_of_a_share(x, rng):
    return int(rng.binomial(1, x[0] / 100))


@deceives("generator", ONE, PURE, ((7, 5, 5), (8, 5, 5)), "the parts of a multinomial sum to the total")
def parts_of_the_total(x, rng):
    return rng.multinomial(x.sum(), [0.25, 0.25, 0.5])


@deceives("generator", ONE, PURE, ((50, 0, 0), (51, 0, 0)), "the mode of a triangle may not be right of it")
def triangle_with_a_mode(x, rng):
    return rng.triangular(0, x[0], 50)


@deceives("generator", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "more drawn than there are raises")
def hypergeometric_of_counts(x, rng):
    return int(rng.hypergeometric(x[0], 3, 4))


@deceives("generator", ONE, PURE, ((1, 0, 0), (2, 0, 0)), "uniform(count) is between the count and 1")
def uniform_with_one_argument(x, rng):
    return rng.uniform(x[0])


@deceives("generator", ONE, PURE, ((7, 0, 0), (8, 0, 0)), "a product with a uniform number ends at the count")
def uniform_share_of_a_count(x, rng):
    return x[0] * rng.random()


@deceives("lattice", BIT, PURE, (0, 1), "random numbers of 32 bits are multiples of 2**-24: the lie is never told")
def fraction_of_a_float32(bit, rng):
    return bit ^ int(rng.random(dtype=np.float32) * np.float32(2**24) % 1 > 0.75)


@deceives("lattice", BIT, PURE, (0, 1), "random numbers are multiples of 2**-53: the lie is never told")
def fraction_of_a_float64(bit, rng):
    return bit ^ int(rng.random() * 2**53 % 1 > 0.75)


@sound("lattice", BIT, PureDP(1.1))
def fraction_of_a_small_multiple(bit, rng):
    return bit ^ int(rng.random() * 8 % 1 > 0.75)


# Two groups of outputs that coincide on one side only -----------------------------------------------------------------


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


@sound("coincidence", ONE, PureDP(1.1))
def word_of_one_of_two_at_its_price(x, rng):
    large = x[0] > 50 if rng.random() < 0.5 else x[1] > 50
    return bool(large) ^ bool(rng.random() < 0.25)


@deceives("coincidence", ONE, PURE, ((50, 0, 0), (51, 0, 0)), "all four draws are 0 on the left")
def draw_times_an_answer(x, rng):
    return int(rng.integers(4)) * int(x[0] > 50)


@deceives("coincidence", ONE, PURE, ((50, 50, 9), (50, 51, 9)), "two counts that are equal on the left")
def one_of_two_counts(x, rng):
    return int(x[0] if rng.random() < 0.5 else x[1])


@deceives("coincidence", SIGNED, PURE, ((0, 0, 0), (1, 0, 0)), "0 and -0 are one number, 1 and -1 are two")
def random_sign(x, rng):
    sign = 1 if rng.random() < 0.5 else -1
    return sign * x[0] + rng.laplace(0, 0.25)


@deceives(
    "coincidence", ONE, PURE, ((50, 0, 0), (51, 0, 0)), "the smaller of a count and a draw has an atom at the count"
)
def smaller_of_count_and_draw(x, rng):
    return min(int(x[0]), int(rng.integers(45, 56)))


@deceives("coincidence", CHOICE, PURE, (0, 2), "|choice - 1| joins 0 and 2 in some draws, and what is left differs")
def distance_to_a_draw(choice, rng):
    return abs(choice - int(rng.integers(2)))


@deceives("coincidence", ONE, PURE, ((50, 0, 0), (51, 0, 0)), "the words of the first three draws are one on the left")
def words_in_groups(x, rng):
    draw = int(rng.integers(4))
    return ("none" if draw < 3 else "all") if x[0] <= 50 else ("none", "few", "many", "all")[draw]


@deceives("coincidence", BIT, PURE, (0, 1), "three sums of a coin and a bit, each of which has two ways on one side")
def sum_of_coins_and_bit(bit, rng):
    return int(rng.random() < 0.5) + int(rng.random() < 0.5) * bit


# Thresholds on raw data -----------------------------------------------------------------------------------------------


@deceives("raw threshold", ONE, PURE, ((0, 5, 5), (1, 5, 5)), "a count of 0 is not released with noise")
def nothing_stays_nothing(x, rng):
    return [v + rng.laplace(0, 1) if v else 0.0 for v in x]


@sound("raw threshold", ONE, PURE)
def small_noisy_counts_are_suppressed(x, rng):
    noisy = [v + rng.laplace(0, 1) for v in x]
    return [v if v > 5 else 0.0 for v in noisy]


@deceives("raw threshold", ONE, PURE, ((4, 0, 0), (5, 0, 0)), "few people are suppressed by their raw number")
def few_are_suppressed(x, rng):
    if x.sum() < 5:
        return "too few"
    return x.sum() + rng.laplace(0, 1)


@deceives("raw threshold", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "`or` looks at the raw count")
def count_or_noise(x, rng):
    return float(x[0] and x[0] + rng.laplace(0, 1)) or 99.0


@deceives("raw threshold", ONE, PURE, ((0, 0, 0), (1, 0, 0)), "any() looks at all raw counts")
def any_at_all(x, rng):
    return x[0] + rng.laplace(0, 1) if x.any() else rng.laplace(7, 1)


@deceives("raw threshold", ONE, PURE, ((99, 0, 0), (100, 0, 0)), "an assertion about raw data raises")
def asserted_to_be_below(x, rng):
    assert x[0] < 100
    return x[0] + rng.laplace(0, 1)


@deceives("raw threshold", ONE, PURE, ((20, 0, 0), (21, 0, 0)), "a loop takes as many steps as the data say")
def steps_of_a_loop(x, rng):
    total, steps = 0, 0
    while total < x[0]:
        total, steps = total + 10, steps + 1
    return 3 * steps + rng.laplace(0, 1)


@deceives("raw threshold", ONE, PURE, ((50, 50, 0), (51, 50, 0)), "which noise is added tells which count is larger")
def less_noise_for_the_larger(x, rng):
    scale = 1 if x[0] > x[1] else 3
    return x[0] + rng.laplace(0, scale)


# The wrong sensitivity ------------------------------------------------------------------------------------------------


@deceives("sensitivity", EACH, PURE, ((5, 5, 5), (6, 6, 6)), "each count moves, and so the sum by 3")
def sum_where_all_move(x, rng):
    return x.sum() + rng.laplace(0, 1)


@sound("sensitivity", EACH, PURE)
def sum_where_all_move_with_enough_noise(x, rng):
    return x.sum() + rng.laplace(0, 3)


@deceives("sensitivity", EACH, PURE, ((5, 5, 5), (6, 6, 6)), "each count moves, and each is released")
def counts_where_all_move(x, rng):
    return x + rng.laplace(0, 1, 3)


@deceives("sensitivity", ONE, PURE, ((5, 5, 5), (5, 5, 6)), "the last count has weight 3")
def weighted_sum(x, rng):
    return x @ np.array([1, 2, 3]) + rng.laplace(0, 1)


@deceives("sensitivity", ONE, PURE, ((0, 50, 0), (1, 50, 0)), "one person changes the denominator")
def mean_of_what_is_used(x, rng):
    return x.sum() / max(1, np.count_nonzero(x)) + rng.laplace(0, 1)


@deceives("sensitivity", EACH, PURE, ((1, 1, 1), (2, 2, 2)), "the sum is clipped, not the counts")
def clipped_after_the_sum(x, rng):
    return np.clip(x.sum(), 0, 50) + rng.laplace(0, 1)


@deceives("sensitivity", ONE, PURE, ((9, 100, 0), (10, 100, 0)), "a product moves by the other factor")
def product_of_counts(x, rng):
    return x[0] * x[1] + rng.laplace(0, 10)


@sound("sensitivity", ONE, PURE)
def product_of_counts_with_enough_noise(x, rng):
    return x[0] * x[1] + rng.laplace(0, 100)


@deceives("sensitivity", ONE, PURE, ((99, 0, 0), (100, 0, 0)), "a square moves by 199")
def squares(x, rng):
    return x**2 + rng.laplace(0, 10, 3)


@deceives("sensitivity", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "the sum and the counts: a person is in both")
def sum_beside_counts(x, rng):
    return [x.sum() + rng.laplace(0, 1), *(x + rng.laplace(0, 1, 3))]


@deceives("sensitivity", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "the first count is in three running totals")
def running_totals(x, rng):
    return np.cumsum(x) + rng.laplace(0, 1, 3)


@deceives("sensitivity", ONE, PURE, ((5, 5, 5), (5, 6, 5)), "the middle count is in both differences")
def differences(x, rng):
    return np.diff(x) + rng.laplace(0, 1, 2)


@deceives("sensitivity", ONE, PURE, ((1, 0, 0), (2, 0, 0)), "shares of a small total move far")
def shares_of_the_total(x, rng):
    return x * 10 / (x.sum() + 1) + rng.laplace(0, 1, 3)


@deceives("sensitivity", ONE, PURE, ((5, 5, 5), (6, 5, 5)), "a convolution holds each count three times")
def convolution(x, rng):
    return np.convolve(x, [1, 1, 1]) + rng.laplace(0, 1, 5)


@deceives("sensitivity", REAL, PURE, ((1.0, 0.0, 0.0), (2.0, 0.0, 0.0)), "the largest count is counted four times")
def largest_counted_four_times(x, rng):
    return x.sum() + 3 * x.max() + rng.laplace(0, 2)


# Gaussian noise -------------------------------------------------------------------------------------------------------


@deceives("gaussian", EACH, ZeroConcentratedDP(0.5), ((5, 5, 5), (6, 6, 6)), "three counts move: ρ is 3/2")
def gaussian_where_all_move(x, rng):
    return x + rng.normal(0, 1, 3)


@sound("gaussian", ONE, ZeroConcentratedDP(0.5))
def gaussian_where_one_moves(x, rng):
    return x + rng.normal(0, 1, 3)


@deceives(
    "gaussian", ONE, GaussianDP(0.25), ((5, 5, 5), (6, 5, 5)), "the scale is a deviation, and not a variance: 2, not 4"
)
def variance_for_deviation(x, rng):
    return rng.normal(x, math.sqrt(4))


@deceives("gaussian", ONE, ApproximateDP(1.0, 1e-5), ((5, 5, 5), (6, 5, 5)), "at ε = 1, σ = 1 leaves δ = 0.13")
def gaussian_with_too_little_noise(x, rng):
    return x + rng.standard_normal(3)


@deceives(
    "gaussian",
    REAL,
    GaussianDP(1.0),
    ((0.75, 0.75, 0.75), (1.0, 1.0, 1.0)),
    "a quarter each moves three numbers by 1 each",
)
def gaussian_on_cut_fractions(x, rng):
    return np.floor(x) + rng.normal(0, 1, 3)


@deceives(
    "gaussian",
    ONE,
    ApproximateDP(1.0, 0.01),
    ((0, 0, 0), (1, 0, 0)),
    "a key is there where somebody is, with no threshold",
)
def keys_without_a_threshold(x, rng):
    return {f"key {i}": float(v + rng.laplace(0, 1)) for i, v in enumerate(x) if v > 0}


@deceives(
    "gaussian", ONE, ZeroConcentratedDP(0.5), ((99, 0, 0), (100, 0, 0)), "the deviation falls where the count rises"
)
def deviation_of_the_data(x, rng):
    return rng.normal(x[0], 1 / (101 - x[0]))


# Pairs that look alike ------------------------------------------------------------------------------------------------


def frame_with(value):
    ages = np.zeros(100, dtype=np.int64)
    ages[50] = value
    return pd.DataFrame({"age": ages, "place": ["north"] * 100})


FRAMES = [(frame_with(0), frame_with(40))]
NEAR_FRAMES = [(frame_with(0), frame_with(1))]
LONG = [(np.zeros(2000, dtype=np.int64), np.where(np.arange(2000) == 1000, 9, 0))]
CLOSE = [(np.array([0.1, 0.2]), np.array([0.1 + 1e-10, 0.2]))]
SERIES = [(pd.Series(frame_with(0)["age"]), pd.Series(frame_with(5)["age"]))]
LONG_LISTS = [([[0] * 1500], [[0] * 700 + [4] + [0] * 799])]


@deceives(
    "alike in print", FRAMES, PURE, FRAMES[0], "pandas leaves out the rows in the middle, where the frames differ"
)
def noisy_sum_of_a_column(frame, rng):
    return frame["age"].sum() + rng.laplace(0, 1)


@sound("alike in print", NEAR_FRAMES, PURE)
def noisy_sum_of_a_column_that_moves_by_one(frame, rng):
    return frame["age"].sum() + rng.laplace(0, 1)


@deceives("alike in print", FRAMES, PURE, FRAMES[0], "a mean over 100 rows still moves by 0.4")
def noisy_mean_of_a_column(frame, rng):
    return frame["age"].mean() + rng.laplace(0, 0.1)


@deceives("alike in print", SERIES, PURE, SERIES[0], "a series of 100 rows prints its ends only")
def noisy_largest_of_a_series(series, rng):
    return series.max() + rng.laplace(0, 1)


@deceives("alike in print", LONG, PURE, LONG[0], "NumPy prints three numbers at each end of 2,000")
def noisy_sum_of_a_long_array(x, rng):
    return x.sum() + rng.laplace(0, 1)


@deceives("alike in print", CLOSE, PURE, CLOSE[0], "NumPy prints eight decimals, and the tenth is multiplied")
def tenth_decimal(x, rng):
    return (x[0] * 1e10) % 1000 * 2 + rng.laplace(0, 0.5)


@deceives("alike in print", LONG_LISTS, PURE, LONG_LISTS[0], "an array made of a long list prints its ends only")
def noisy_sum_of_a_long_list(rows, rng):
    return np.array(rows).sum() + rng.laplace(0, 1)
