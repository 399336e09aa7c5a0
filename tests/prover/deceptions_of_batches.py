# mypy: ignore-errors
"""Mechanisms that look private to a reader who follows a single row of a batch, or takes floats for real numbers.

With ``size`` 1 each returns the right row. With more rows, a row reveals others, or one failing row makes all rows fail. Each
breaks its claim on its ``pair`` with a ``size`` above 1. In the kind ``floats`` the claim is kept over the real numbers.
"""

import functools
import math

import collected_deceptions
import numpy as np

from auditor import GaussianDP, PureDP, Records, Totals, Value

DECEPTIONS = []
deceives = functools.partial(collected_deceptions.deceives, DECEPTIONS)

ONE = Totals(cells=1, values=(0, 100), contribution={"l1": 1})
TWO = Totals(cells=2, values=(0, 100), contribution={"l1": 1})
BIT = Value(values=[0, 1])
PEOPLE = Records(choices=[0, 1], size=(0, 2), container="list")
LARGE = Totals(cells=1, values=(2**39, 2**40), contribution={"l1": 1})
REALS = Totals(cells=1, values=(2.0**29, 2.0**30), contribution={"l1": 1.0}, integer=False)
FINE = Totals(cells=1, values=(2.0**28, 2.0**29), contribution={"l1": 1e-6}, integer=False)
PURE = PureDP(1.0)
TELLING = PureDP(1.1)  # a coin with probability 3/4 or 1/4 satisfies it
WEAK = PureDP(0.25)
PAIR, TWO_PAIR, BITS = ([50], [51]), ([50, 0], [51, 0]), (0, 1)
LARGE_PAIR, REALS_PAIR = ([2**39], [2**39 + 1]), ([2.0**29], [2.0**29 + 1.0])
FINE_PAIR = ([2.0**28 + 2.0**-9 - 5e-7], [2.0**28 + 2.0**-9 + 5e-7])


def coin(bit, rng):
    return rng.random() < (0.75 if bit else 0.25)


# Lists: another reference to the list that a loop fills shows the number of rows ---------------------------------------------


def of_list(domain, claim=PURE, pair=PAIR):
    return deceives("list of rows", domain, claim, pair, "something else holds the list of all rows")


def put(rows, size, rng):
    for _ in range(size):
        rows.append(rng.laplace())
    return rows


def put_given(rows, noise):
    for one in noise:
        rows.append(one)


@of_list(ONE)
def filled_by_a_helper(x, size, rng):
    rows = []
    put(rows, size, rng)
    return x[0] + rng.laplace(0, 1 / len(rows), size)


@of_list(ONE)
def collected_by_a_helper(x, size, rng):
    noise, rows = rng.laplace(0, 1, size), []
    put_given(rows, noise)
    return np.where(noise == rows[0], x[0] + noise, x[0])


@of_list(ONE)
def returned_by_a_helper(x, size, rng):
    rows = []
    same = put(rows, size, rng)
    return x[0] + np.array(same) / len(rows)


@of_list(ONE)
def held_by_a_dict(x, size, rng):
    book, scale = {"rows": []}, 1.0
    put(book["rows"], size, rng)
    for length in range(2, 5):
        scale = scale if len(book["rows"]) < length else 0.01
    return x[0] + rng.laplace(0, scale, size)


@of_list(ONE)
def added_up_as_well(x, size, rng):
    rows = []
    put(rows, size, rng)
    return x[0] + rng.laplace(0, 1, size) / len(rows) + 0 * sum(rows)


@of_list(ONE)
def filled_by_a_closure(x, size, rng):
    rows = []

    def fill():
        for _ in range(size):
            rows.append(rng.laplace())

    fill()
    return x[0] + rng.laplace(0, 1, size) / len(rows)


@of_list(ONE)
def two_targets(x, size, rng):
    rows = same = []
    for _ in range(size):
        rows.append(rng.laplace())
    return x[0] + rng.laplace(0, 1, size) / len(same)


@of_list(ONE)
def read_in_a_round_before(x, size, rng):
    rows, same = [], None
    for turn in range(2):
        if turn == 1:
            for _ in range(size):
                rows.append(rng.laplace())
        same = rows if turn == 0 else same
    return x[0] + rng.laplace(0, 1, size) / len(same)


@of_list(ONE)
def inside_of_another_list(x, size, rng):
    tables = [[]]
    for rows in tables:
        for _ in range(size):
            rows.append(rng.laplace())
    return x[0] + rng.laplace(0, 1, size) / len(tables[0])


@of_list(ONE)
def beside_a_star(x, size, rng):
    tables = [[], []]
    *_, _same = *tables, []
    for rows in tables:
        for _ in range(size):
            rows.append(rng.laplace())
    return x[0] + rng.laplace(0, 1, size) / len(tables[1])


@of_list(ONE)
def made_and_held(x, size, rng):
    tables = [(rows := [])]
    for _ in range(size):
        rows.append(rng.laplace())
    return x[0] + rng.laplace(0, 1, size) / len(tables[0])


@of_list(PEOPLE, pair=([0], [0, 1]))
def one_draw_for_all_rows(data, size, rng):
    book = {"rows": []}
    put(book["rows"], size, rng)
    return [len(data) + book["rows"][0] + 0 * noise for noise in rng.laplace(0, 1, size)]


@of_list(PEOPLE, pair=([0], [0, 1]))
def noise_for_each_row_there_is(data, size, rng):
    rows = []
    put(rows, size, rng)
    return len(data) + rng.laplace(0, 1, size) / len(rows)


class Shelf:
    def __init__(self):
        self.rows = []


@of_list(PEOPLE, pair=([0], [0, 1]))
def held_by_an_object(data, size, rng):
    shelf = Shelf()
    put(shelf.rows, size, rng)
    return len(data) + rng.laplace(0, 1, size) * (0.0 if shelf.rows[1:] else 1.0)


# Places: an index can make a table of all rows, or move them to another axis ------------------------------------------------


def of_index(domain, pair=PAIR, claim=PURE):
    return deceives("index of rows", domain, claim, pair, "the index makes another table than one row for each")


@of_index(TWO, TWO_PAIR)
def places_with_an_axis_too_many(x, size, rng):
    noisy = x + rng.laplace(0, 1, (size, 2))
    best = np.argmax(noisy, axis=1, keepdims=True)
    return noisy[np.arange(size), best].mean(axis=1)


@of_index(ONE)
def places_with_an_axis_of_one(x, size, rng):
    noisy = x + rng.laplace(0, 1, (size, 1))
    return noisy[np.arange(size), noisy.argmax(axis=1, keepdims=True)].mean(axis=1)


@of_index(ONE)
def listed_places(x, size, rng):
    noisy = x + rng.laplace(0, 1, (size, 1))
    return np.zeros(size) + noisy[np.arange(size), [[0]]].mean(axis=1)


@of_index(TWO, TWO_PAIR)
def places_of_zeros(x, size, rng):
    noisy = x + rng.laplace(0, 1, (size, 2))
    return noisy[np.arange(size), np.zeros((size, 2), int)]


@of_index(TWO, TWO_PAIR)
def places_of_the_largest_answer(x, size, rng):
    noisy = x + rng.laplace(0, 1, (size, 2))
    high = noisy > 50
    return np.where(high, noisy, 0.0)[np.arange(size), high.argmax(axis=1, keepdims=True)].mean(axis=1)


@of_index(TWO, TWO_PAIR)
def places_that_are_searched(x, size, rng):
    noisy = x + rng.laplace(0, 1, (size, 2))
    return noisy[np.arange(len(noisy)), np.searchsorted([0.0], noisy)[:, :1] * 0].max(axis=1)


@of_index(TWO, TWO_PAIR)
def answers_for_places(x, size, rng):
    noisy = x + rng.laplace(0, 1, (size, 2))
    return noisy[np.arange(size), noisy[:, 0] > noisy[:, 1]]


@of_index(TWO, TWO_PAIR)
def true_moves_axes(x, size, rng):
    noisy = x + rng.laplace(0, 1, (size, 2))
    return np.zeros((size, 2)) + noisy[:, True, :, True].mean(axis=1)


@of_index(TWO, TWO_PAIR)
def true_moves_axes_of_a_target(x, size, rng):
    noisy, out = x + rng.laplace(0, 1, (size, 2)), np.zeros((size, 2))
    out[:, True, :, True] = noisy[:, True, :, True].mean(axis=1)[:, None]
    return out


@of_index(ONE)
def true_moves_noise(x, size, rng):
    noise = rng.laplace(0, 1, (size, 2))[:, True, :, True]
    return x[0] + noise[..., 0].mean(axis=1) + np.zeros(size)


@of_index(TWO, TWO_PAIR)
def true_of_numpy(x, size, rng):
    yes = np.all(np.ones(1) > 0)
    noisy = x + rng.laplace(0, 1, (size, 2))
    return noisy[:, yes, :, yes].mean(axis=1)[:, 0] + np.zeros(size)


@of_index(TWO, TWO_PAIR)
def true_and_a_list(x, size, rng):
    yes = np.all(np.ones(1) > 0)
    noisy = x + rng.laplace(0, 1, (size, 2, 1))
    return noisy[:, yes, :, [0]].mean(axis=1)[:, 0] + np.zeros(size)


@of_index(ONE)
def repeated_along_the_only_axis(x, size, rng):
    return np.tile(x.reshape(1, 1), (size,)).sum(axis=1) + rng.laplace(0, 1, size)


# Loops: a target that is no name ------------------------------------------------------------------------------------------------


def of_target(domain=ONE, pair=PAIR):
    return deceives("target of rows", domain, PURE, pair, "each turn of the loop writes into all rows")


@of_target()
def target_is_a_slice(x, size, rng):
    noise, last = rng.laplace(0, 1, size), np.zeros(size)
    for last[:] in noise:
        pass
    return np.where(noise == last, x[0] + noise, x[0])


@of_target()
def target_is_all(x, size, rng):
    noise, last = rng.laplace(0, 1, size), np.zeros(size)
    for _, last[...] in enumerate(noise):
        pass
    return np.where(noise == last, x[0] + noise, x[0])


@of_target()
def target_in_a_tuple(x, size, rng):
    noise, last, out = rng.laplace(0, 1, size), np.ones(size), np.zeros(size)
    for i, (_, last[:]) in enumerate(zip(noise, noise, strict=True)):
        out[i] = 0.0
    return x[0] + np.where(noise == last, noise, 0.0)


@of_target()
def target_in_a_comprehension(x, size, rng):
    noise, last = rng.laplace(0, 1, size), np.zeros(size)
    [0 for last[:] in noise]
    return x[0] + np.where(noise == last, noise, 0.0)


@of_target(TWO, TWO_PAIR)
def target_is_a_column(x, size, rng):
    out = np.zeros((size, 2))
    for i, out[:, 0] in zip(range(size), rng.laplace(0, 1, size), strict=True):
        out[i, 1] = x[0] * 1.0 if out[i, 0] > 50 else 0.0
    return out


# Exceptions: if one row raises, all rows are lost-------------------------------------------------------------------------------


def of_raising(domain=BIT, claim=TELLING, pair=BITS):
    return deceives(
        "row that raises", domain, claim, pair, "the batch fails if any row does, and most batches have such a row"
    )


@of_raising(ONE, PURE, ([60], [61]))
def raises(x, size, rng):
    out = []
    for _ in range(size):
        noisy = x[0] + rng.laplace()
        if noisy > 60:
            raise ValueError("too large")
        out.append(noisy)
    return out


@of_raising(ONE, PURE, ([60], [61]))
def asserts(x, size, rng):
    out = np.zeros(size)
    for i in range(size):
        out[i] = x[0] + rng.laplace()
        assert out[i] < 60, "too large"
    return out


@of_raising(ONE, PURE, ([60], [61]))
def takes_from_an_empty_list(x, size, rng):
    out = []
    for _ in range(size):
        left = [1.0] if x[0] + rng.laplace() < 60 else []
        out.append(left.pop())
    return out


@of_raising()
def misses_a_key(bit, size, rng):
    out = np.zeros(size)
    for i in range(size):
        book = {"k": 1.0} if coin(bit, rng) else {}
        out[i] = book["k"]
    return out


@of_raising()
def reads_beside_a_dict(bit, size, rng):
    out = []
    for _ in range(size):
        {0: 1}[0 if coin(bit, rng) else 1]
        out.append(1)
    return out


@of_raising()
def reads_beside_a_list(bit, size, rng):
    out = np.zeros(size, int)
    for i in range(size):
        out[i] = [0, 1][0 if coin(bit, rng) else 5]
    return out


@of_raising()
def draws_from_nothing(bit, size, rng):
    out = np.zeros(size, int)
    for i in range(size):
        out[i] = rng.integers(0, 0 if coin(bit, rng) else 2)
    return out


def one_or_none(bit, rng):
    if coin(bit, rng):
        raise ValueError("none")
    return 1


of_raising()(lambda bit, size, rng: [1 // (0 if coin(bit, rng) else 1) for _ in range(size)])
of_raising()(lambda bit, size, rng: [math.sqrt(-1.0 if coin(bit, rng) else 1.0) for _ in range(size)])
of_raising()(lambda bit, size, rng: [one_or_none(bit, rng) for _ in range(size)])
of_raising()(lambda bit, size, rng: [int("1" if coin(bit, rng) else "one") for _ in range(size)])


def coins(bit, size, rng):
    return rng.random(size) < (0.75 if bit else 0.25)


of_raising()(lambda bit, size, rng: np.array([1.0])[np.where(coins(bit, size, rng), 5, 0)])
of_raising()(lambda bit, size, rng: rng.laplace(0.0, np.where(coins(bit, size, rng), -1.0, 1.0)))
of_raising()(lambda bit, size, rng: rng.integers(0, np.where(coins(bit, size, rng), 0, 2)))
of_raising()(lambda bit, size, rng: rng.binomial(np.where(coins(bit, size, rng), -1, 2), 0.5))
of_raising(ONE, PURE, ([0], [1]))(lambda x, size, rng: rng.laplace(0.0, x[0] + rng.laplace(0, 1, size)))


# Arrays of rows: all rows decide the type, the width and the shape -------------------------------------------------------------


def of_type():
    return deceives("type of all rows", BIT, TELLING, BITS, "one row decides what all rows look like")


of_type()(lambda bit, size, rng: np.array([0 if coin(bit, rng) else 1.0 for _ in range(size)]))
of_type()(lambda bit, size, rng: np.array([[1.0] if coin(bit, rng) else [1.0, 2.0] for _ in range(size)]))
of_type()(lambda bit, size, rng: np.asarray([0 if coin(bit, rng) else 0.5 for _ in range(size)]))
of_type()(lambda bit, size, rng: np.array(["a" if coin(bit, rng) else "abc" for _ in range(size)]))
of_type()(lambda bit, size, rng: np.array([True if coin(bit, rng) else 2 for _ in range(size)]))
of_type()(lambda bit, size, rng: np.array(["no" if coin(bit, rng) else 1 for _ in range(size)]))
of_type()(lambda bit, size, rng: np.array([1 if coin(bit, rng) else 2**63 for _ in range(size)]))
of_type()(lambda bit, size, rng: np.array([np.ones(1) if coin(bit, rng) else np.ones(1, int) for _ in range(size)]))


@of_type()
def texts_of_two_lengths(bit, size, rng):
    rows = []
    for _ in range(size):
        row = ["a"] if coin(bit, rng) else ["a", "b"]
        rows.append(row)
    return np.array(rows)


# Floats: noise that is too small for them --------------------------------------------------------------------------------------


def of_floats(domain, pair, why, claim=PURE):
    return deceives("floats", domain, claim, pair, why)


TINY = "the noise is below the smallest float, or a few times that"
of_floats(LARGE, LARGE_PAIR, TINY)(lambda x, rng: x[0] + rng.laplace(0, 1.02) * 1e-323 * 1e300 * 1e23)
of_floats(LARGE, LARGE_PAIR, TINY)(lambda x, rng: x[0] + rng.laplace(0, 1.02) / 1e200 / 1e123 * 1e300 * 1e23)
of_floats(LARGE, LARGE_PAIR, TINY, GaussianDP(1.0))(lambda x, rng: x[0] + rng.normal(0, 1) * 1e-323 * 1e300 * 1.02e23)
of_floats(REALS, REALS_PAIR, TINY)(
    lambda x, rng: x[0] + rng.laplace(0, 1) * 2.0**-1000 * 2.0**-67 * 2.0**1000 * 2.0**67
)
of_floats(REALS, REALS_PAIR, TINY, GaussianDP(1.0))(
    lambda x, rng: x[0] + rng.normal(0, 1) * 2.0**-1000 * 2.0**-67 * 2.0**1000 * 2.0**67
)
of_floats(LARGE, LARGE_PAIR, TINY)(
    lambda x, rng: x[0] + rng.exponential(1.02) * 1e-323 * rng.choice([-1.0, 1.0]) * 1e300 * 1e23
)


@of_floats(LARGE, LARGE_PAIR, TINY)
def factors_of_a_list(x, rng):
    noise = rng.laplace()
    for factor in (1e-200, 1.02e-123, 1e300, 1e23):
        noise = noise * factor
    return int(x[0]) + noise


@of_floats(LARGE, LARGE_PAIR, TINY)
def factors_of_an_array(x, rng):
    noise = rng.laplace(0, 1.02, 3) * 1e-323
    return x[0] + (noise * 1e300 * 1e23)[0]


COARSE = "floats beside a large number are too coarse for the uniform number"
of_floats(BIT, BITS, COARSE, WEAK)(lambda bit, rng: rng.random() + 2.0**45 - 2.0**45 < (1.1 if bit else 0.9) / 128)
of_floats(BIT, BITS, COARSE, WEAK)(lambda bit, rng: rng.random() + 2.0**45 < 2.0**45 + (1.1 if bit else 0.9) / 128)
of_floats(BIT, BITS, COARSE, WEAK)(
    lambda bit, rng: rng.uniform(2.0**46, 2.0**46 + 1) - 2.0**46 < (1.1 if bit else 0.9) / 64
)
of_floats(BIT, BITS, COARSE, WEAK)(
    lambda bit, rng: 1.0 - (2.0**47 - (2.0**47 - rng.random() + 1.0)) < (1.1 if bit else 0.9) / 32
)
of_floats(BIT, BITS, COARSE, WEAK)(
    lambda bit, size, rng: rng.random(size) + 2.0**45 - 2.0**45 < (1.1 if bit else 0.9) / 128
)
of_floats(BIT, BITS, COARSE, WEAK)(lambda bit, rng: rng.random() * 1e-322 / 1e-322 < (1.1 if bit else 0.9) / 40)
of_floats(BIT, BITS, COARSE, WEAK)(
    lambda bit, rng: rng.random() * 5e-324 * 2.0**1000 < (1.1 if bit else 0.9) * 2.0**-76
)
of_floats(BIT, BITS, COARSE, WEAK)(lambda bit, rng: rng.random() + 2.0**12 - 2.0**12 < (1.1 if bit else 0.9) * 2.0**-40)
of_floats(BIT, BITS, "a uniform number has 53 bits", WEAK)(
    lambda bit, rng: rng.random() < (1.1 if bit else 0.9) / 2**53
)


# NumPy adds up eight numbers at a time ------------------------------------------------------------------------------------------

LOST = "NumPy adds the number to a large one, which hides its last digits"


def beside(first, noise):
    """Return numbers whose sum adds a large number and the noise to the first before the large number is subtracted."""
    return np.array([2.0**45, -(2.0**45), first, 0.0, 0.0, 0.0, 0.0, 0.0, noise, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])


of_floats(REALS, REALS_PAIR, LOST)(lambda x, rng: beside(x[0], rng.laplace(0, 1)).sum())
of_floats(REALS, REALS_PAIR, LOST, GaussianDP(1.0))(lambda x, rng: np.mean(beside(x[0], rng.normal(0, 1))) * 16)
of_floats(REALS, REALS_PAIR, LOST, GaussianDP(1.0))(
    lambda x, rng: beside(x[0], rng.normal(0, 1)).reshape(1, 16).sum(axis=1)
)
of_floats(REALS, REALS_PAIR, LOST)(lambda x, rng: beside(x[0], rng.laplace(0, 1)) @ np.ones(16))
of_floats(REALS, REALS_PAIR, LOST)(lambda x, rng: beside(x[0], rng.laplace(0, 1)).reshape(16, 1).sum(axis=0))
of_floats(REALS, REALS_PAIR, LOST)(lambda x, rng: x[0] + beside(0.0, rng.laplace(0, 1)).sum() > 2.0**29 + 5)
of_floats(FINE, FINE_PAIR, LOST, PureDP(1e-5))(lambda x, rng: beside(0.0, x[0]).sum() + rng.laplace(0, 1))
of_floats(FINE, FINE_PAIR, LOST, PureDP(1e-5))(lambda x, rng: rng.laplace(np.mean(beside(0.0, x[0])) * 16, 1))
of_floats(FINE, FINE_PAIR, LOST, PureDP(1e-5))(lambda x, rng: beside(0.0, x[0]) @ np.ones(16) + rng.laplace(0, 1))


# Cancellation leaves a residue -------------------------------------------------------------------------------------------------

RESTS = Totals(cells=2, values=(0.0, 100.0), contribution={"l1": 1e-3}, integer=False)
RESTS_PAIR = ([50.0, 1.0], [50.001, 1.0])
REST = "what cancels leaves a rest of the data, which is multiplied"
of_floats(RESTS, RESTS_PAIR, REST)(lambda x, rng: (x[0] * 3 - x[0] - x[0] - x[0]) * 2.0**50 + rng.laplace(0, 1e-3))
of_floats(RESTS, RESTS_PAIR, REST)(lambda x, rng: (x[0] * 2.0**-40 + 1.0 - 1.0) * 2.0**40 + rng.laplace(0, 1e-3))
of_floats(RESTS, RESTS_PAIR, REST)(lambda x, rng: x[0] * 1e-323 * 1e300 * 1e23 + rng.laplace(0, 1e-3))


@of_floats(RESTS, RESTS_PAIR, "noise that cancels leaves the data with the steps of its own floats")
def large_noise_cancels(x, rng):
    large = rng.laplace(0, 2.0**40)
    return (x[0] + large) - large + rng.laplace(0, 1e-3)
