# mypy: ignore-errors
# ruff: noqa
"""Programs in which floats decide otherwise than exact numbers: none is proved.

Floats round 0.1 + 0.2 up, so that a sum of data passes the end of its range, and k * 0.1 * 3 and k * 3 * 0.1 are different floats
for some integers k. So a branch is taken that exact arithmetic rules out, two step functions differ, or a root is taken of a
negative number; that branch releases the data without noise. With integer noise the same happens with a probability far from 0.
"""

import functools
import math

import collected_deceptions
import numpy as np

from auditor import PureDP, Records, Totals, Value

DECEPTIONS = []
deceives = functools.partial(collected_deceptions.deceives, DECEPTIONS)

FRACTIONS = Totals(cells=3, values=(0.0, 1.0), contribution={"l1": 1.0}, integer=False)
COUNTS = Totals(cells=3, values=(0, 100), contribution={"l1": 1})
COUNT = Totals(cells=1, values=(0, 100), contribution={"l1": 1})
BIT = Value(values=[0, 1])
ONES = Records(choices=[0, 1], size=(0, 3), container="list")
PURE, TENTH = PureDP(1.0), PureDP(0.1)
P = 1 - math.exp(-0.1)  # of geometric noise at ε = 0.1
SUM = 0.30000000000000004  # 0.1 + 0.2 in floats, which is more than the sum of the two numbers


def in_two_orders(numbers):
    """Return (a, m, k, least): the products k·a·m and k·m·a differ, and ``least`` is the smaller one."""
    for a in (0.1, 0.3, 0.7, 1 / 3, 0.57, 0.011, 0.23):
        for m in (3, 7, 11, 13):
            for k in numbers:
                if k * a * m != k * m * a:
                    return a, m, k, min(k * a * m, k * m * a)


NEAR = float(np.nextafter(1 / (0.31 - SUM), 0))
D = next(d for d in range(3, 200) if 1 / d * d < 1)
A, M, K, LEAST = in_two_orders(range(13, 45))  # of data
B, N, L, LOW = in_two_orders(range(5, 9))  # of noise on a bit
C, O, Q, FAR = in_two_orders(range(110, 160))  # of noise on a count
V, TENTHS = next(
    (v, t * 0.1)
    for t in range(12, 60)
    for v in range(1, t - 2)
    if v * 0.1 + (t - v) * 0.1 < t * 0.1 <= (v + 1) * 0.1 + (t - v - 1) * 0.1
)
R, S = next((k, m) for k in range(13, 45) for m in (5, 7, 9) if round(k * 0.1 * m) != round(k * m * 0.1))

# Ends of ranges ---------------------------------------------------------------------------------------------------------

at_the_end = deceives("an end", FRACTIONS, PURE, ([1.0, 0.0, 1.0], [0.5, 0.0, 1.0]), "a sum of data passes its end")


def share(x):
    return x[0] * 0.1 + x[0] * 0.2 - x[1] + x[2] - 1


def ends(name, tell):
    """Collect a mechanism whose release is a function of the data, of their share and of a noisy number."""

    def mechanism(x, rng):
        return tell(x, share(x), x[0] + rng.laplace(0, 1))

    mechanism.__name__ = name
    at_the_end(mechanism)


@at_the_end
def end_in_an_if(x, rng):
    noisy = x[0] + rng.laplace(0, 1)
    if share(x) >= SUM:
        return x[0] + 1e6
    return noisy


@at_the_end
def end_in_a_loop(x, rng):
    noisy = x[0] + rng.laplace(0, 1)
    while share(x) >= SUM:
        return 1e6
    return noisy


@at_the_end
def end_in_an_assertion(x, rng):
    noisy = x[0] + rng.laplace(0, 1)
    assert share(x) < SUM
    return noisy


@at_the_end
def end_of_a_divisor(x, rng):
    noisy = x[0] + rng.laplace(0, 1)
    1.0 / float(SUM - share(x))
    return noisy


@at_the_end
def end_of_a_root(x, rng):
    noisy = x[0] + rng.laplace(0, 1)
    float(SUM - share(x)) ** -0.5
    return noisy


@at_the_end
def end_of_a_logarithm(x, rng):
    noisy = x[0] + rng.laplace(0, 1)
    math.log(SUM - share(x))
    return noisy


@at_the_end
def end_of_a_quotient(x, rng):
    """The quotient is off by more than one rounding."""
    noisy = x[0] + rng.laplace(0, 1)
    math.log(NEAR - 1 / (0.31 - share(x)))
    return noisy


@at_the_end
def end_of_a_power(x, rng):
    noisy = x[0] + rng.laplace(0, 1)
    math.pow(SUM - share(x), -1)
    return noisy


ends("end_that_is_counted", lambda x, v, y: y + 1000 * np.count_nonzero(np.array([v]) >= SUM))
ends("end_of_any", lambda x, v, y: y + 1000 * np.any(np.array([v]) >= SUM))
ends("end_in_a_table", lambda x, v, y: y + 1000 * np.searchsorted([SUM], v, side="right"))
ends("end_times_0_is_nan", lambda x, v, y: y + 0.0 * (1 / (SUM - v)))
ends("logarithm_of_an_end_times_0", lambda x, v, y: y + 0.0 * np.log(SUM - v))
ends("logarithm_beside_a_quotient", lambda x, v, y: y + 0.0 * np.log(NEAR - 1 / (0.31 - v)))
ends("end_that_is_true", lambda x, v, y: y if SUM - v else 1e6)
ends("not_an_end", lambda x, v, y: 1e6 if not SUM - v else y)
ends("end_as_boolean", lambda x, v, y: y + 1000 * (~np.array([SUM - v]).astype(bool))[0])
ends("end_after_a_clip", lambda x, v, y: y + (1000 if np.clip(v, 0, 0.35) >= SUM else 0))
ends("end_after_sorting", lambda x, v, y: y + (1000 if sorted([v, -5.0])[1] >= SUM else 0))
ends("end_first_in_an_order", lambda x, v, y: y + 1000 * np.argsort([SUM, v], kind="stable")[0])
ends("end_last_in_an_order", lambda x, v, y: y + 1000 * np.argsort([SUM, 5.0, v], kind="stable")[-2])
ends("end_of_a_sum", lambda x, v, y: y + (1000 if sum([x[0] * 0.1, x[0] * 0.2, -x[1], x[2]], -1.0) >= SUM else 0))
ends(
    "end_of_a_running_sum",
    lambda x, v, y: y + (1000 if np.cumsum([x[0] * 0.1, x[0] * 0.2, x[2], -x[1]])[3] >= 1.3 else 0),
)
ends(
    "end_of_a_product",
    lambda x, v, y: y + (1000 if np.array([0.1, 0.2, 1.0]) @ np.array([x[0], x[0], x[2]]) - x[1] - 1 >= SUM else 0),
)


@deceives("an end", COUNTS, PURE, ([100, 0, 100], [99, 0, 100]), "parts of a hundred pass their end as well")
def end_of_hundredths(x, rng):
    noisy = x[0] + rng.laplace(0, 1)
    if x[0] / 100 * 0.1 + x[0] / 100 * 0.2 - x[1] / 100 + x[2] / 100 - 1 >= SUM:
        return 1e6
    return noisy


# The same number, twice -------------------------------------------------------------------------------------------------

twice = deceives("twice", COUNTS, PURE, ([K, 3, 3], [K + 1, 3, 3]), "rounded up, two floats of one number differ")


@deceives("twice", COUNTS, PURE, ([17, 20, 23], [17, 20, 24]), "a sum in two orders is on two sides")
def sum_in_two_orders(x, rng):
    v, noisy = x * 0.1, x[0] + rng.laplace(0, 1)
    if v[0] + v[1] + v[2] > 6.0:
        return noisy if v[2] + v[1] + v[0] > 6.0 else 1e6
    return 1e6 if v[2] + v[1] + v[0] > 6.0 else noisy


@deceives("twice", COUNTS, PURE, ([R, 3, 3], [R + 1, 3, 3]), "rounded to integers, two floats of one number differ")
def rounded_in_two_orders(x, rng):
    return x[0] + rng.laplace(0, 1) + 1000 * (round(x[0] * 0.1 * S) - round(x[0] * S * 0.1))


@twice
def ceilings_in_two_orders(x, rng):
    one, other = math.ceil(x[0] * A * M - LEAST), math.ceil(x[0] * M * A - LEAST)
    return x[0] + rng.laplace(0, 1) + 1000 * (one - other)


# Integers as noise ------------------------------------------------------------------------------------------------------

of_a_bit = deceives("integers as noise", BIT, PURE, (0, 1), "two floats of one noisy integer are on two sides")
of_a_count = deceives("integers as noise", COUNT, TENTH, ([V], [V + 1]), "the sum of tenths is a rounding less")


@deceives("integers as noise", COUNTS, PURE, ([50, 3, 3], [51, 3, 3]), "two floats of one noisy count are on two sides")
def count_compared_twice(x, rng):
    noisy = x[0] + rng.geometric(P) - rng.geometric(P)
    if noisy * C * O > FAR:
        return noisy if noisy * O * C > FAR else x[0] * 1000
    return x[0] * 1000 if noisy * O * C > FAR else noisy


@deceives("integers as noise", ONES, PURE, ([1], [1, 1]), "two floats of one noisy sum are on two sides")
def sum_compared_twice(d, rng):
    noisy = sum(d) + rng.geometric(P) - rng.geometric(P)
    if (noisy * B * N > LOW) != (noisy * N * B > LOW):
        return sum(d) * 1000
    return noisy


@deceives("integers as noise", ONES, PURE, ([1], [1, 1]), "floors of two floats of one noisy sum differ")
def floors_of_a_sum(d, rng):
    noisy = sum(d) + rng.geometric(P) - rng.geometric(P)
    return noisy + (math.floor(noisy * B * N / LOW) - math.floor(noisy * N * B / LOW)) * 1000 * sum(d)


@of_a_bit
def rounded_noise_compared_twice(b, rng):
    noisy = b + rng.laplace(0, 1)
    whole = round(noisy)
    if whole * B * N > LOW:
        return noisy if whole * N * B > LOW else 1000 * b
    return 1000 * b if whole * N * B > LOW else noisy


@of_a_bit
def floors_of_whole_noise(b, rng):
    noisy = b + rng.laplace(0, 1)
    whole = int(noisy)
    return noisy + 1000 * b * (math.floor(whole * B * N / LOW) - math.floor(whole * N * B / LOW))


of_a_count(lambda x, rng: bool(x[0] * 0.1 + (rng.geometric(P) - rng.geometric(P)) * 0.1 >= TENTHS))
of_a_count(lambda x, rng: math.floor((x[0] * 0.1 + (rng.geometric(P) - rng.geometric(P)) * 0.1) / TENTHS))
of_a_count(lambda x, rng: int(np.argmin([TENTHS, x[0] * 0.1 + (rng.geometric(P) - rng.geometric(P)) * 0.1])))


@of_a_bit
def root_of_less_than_0(b, rng):
    zero = 0.0 * np.sqrt(rng.geometric(0.1) / D * D - 1)
    return b + rng.laplace() if zero == 0 else 1000 * b


@of_a_bit
def logarithm_of_0(b, rng):
    zero = 0.0 * np.log(rng.geometric(0.1) / D * D - 0.9999999999999999)
    return b + rng.laplace() if zero == 0 else 1000 * b


@of_a_bit
def root_of_a_maximum(b, rng):
    zero = 0.0 * np.sqrt(np.maximum(rng.geometric(0.1) / D * D - 1, -5.0))
    return b + rng.laplace() if zero == 0 else 1000 * b


@of_a_bit
def root_that_is_no_number(b, rng):
    missing = math.isnan(np.sqrt(rng.geometric(0.1) / D * D - 1))
    return 1000 * b if missing else b + rng.laplace()
