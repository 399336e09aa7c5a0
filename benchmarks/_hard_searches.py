"""Faults that are hard to search for, by class, each with a sound twin and the pair on which it shows.

- Noise in steps: a release that keeps the remainder of an exact sum, because the noise is a multiple of a step.
- Rare outcomes: a category that is released with a probability above δ, and with nobody in it never.
- Many rows: a loss that shows only if most rows are alike and a few are not, on up to 80 rows.
- Behind an exception: noise that is a third too small, in a round that also raises if a client sends nothing but zeros.
- Slow mechanisms: single outputs without ``size``, whose calls can be counted.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import auditor
from auditor.interfaces import Domain
from benchmarks._faults import Fault, Mechanism, Rng, threshold_for, with_laplace

EPSILON = auditor.PureDP(1.0)
MANY, FEW = 200_000, 40_000
CITIES = ["Bern", "Lima", "Oslo", "Rome"]
CITY: dict[str, Any] = {"type": "categorical", "choices": CITIES}
RELATIONS = ("add_remove", "substitute")


def _other(value: Any, relation: str, usual: Any = 0) -> tuple[list[Any], list[Any]]:
    """Return the pair of data sets in which a value comes, or comes for the usual one."""
    return ([] if relation == "add_remove" else [usual], [value])


# --- Noise in steps ---


def stepped(answer: Callable[[Any], Any], step: int, sensitivity: float) -> Mechanism:
    """Return a release with two-sided geometric noise, times a step, that would be 1-DP if answers moved by whole steps.

    An answer of k numbers has the budget 1/k for each. With a step of 1 the release is 1-DP for integers, since an answer moves
    by at most the sensitivity: the loss of j steps is j·step/sensitivity, exactly.
    """

    def release(data: Any, size: int, rng: Rng) -> Any:
        exact = np.asarray(answer(data))
        chance = -math.expm1(-step / (sensitivity * exact.size))
        more, less = rng.geometric(chance, (2, size, *exact.shape))
        return exact + step * (more - less)

    return release


def _sum(records: Any) -> int:
    return int(np.sum(np.asarray(records, dtype=int)))


def _weighted(most: int) -> Callable[[Any], int]:
    """Count the records, with the weight ``most`` each, and an odd weight near a third of it in the middle third."""

    def count(records: Any) -> int:
        each = np.asarray(records, dtype=int)
        return int(np.where((each >= most / 3) & (each < 2 * most / 3), most // 3 | 1, most).sum())

    return count


def _two_sums(data: Any) -> Any:
    return np.array([int(data["age"].sum()), int(data["years"].sum())])


def _of_two_columns(most: int, relation: str) -> tuple[Domain, tuple[Any, Any]]:
    whole = {"type": "integer", "low": 0, "high": most}
    at_least = int(relation == "substitute")
    domain = auditor.Frame({"age": whole, "years": whole}, size=(at_least, 10), relation=relation, form="pandas")
    row = {"age": most // 3 | 1, "years": most // 3 | 1}
    return domain, _other(row, relation, {"age": 0, "years": 0})


def _stepped_fault(kind: str, most: int, step: int, relation: str) -> Fault:
    if kind == "totals":
        answer: Callable[[Any], Any] = _sum
        domain: Domain = auditor.Totals(cells=1, values=(0, 10 * most), contribution={"linf": most})
        worst: tuple[Any, Any] = ((0,), (most // 3 | 1,))
    elif kind == "two columns":
        answer = _two_sums
        domain, worst = _of_two_columns(most, relation)
    else:
        answer = _weighted(most) if kind == "weights" else _sum
        domain = auditor.Records((0, most), integer=True, size=(int(relation == "substitute"), 10), relation=relation)
        worst = _other(most // 3 | 1 if kind == "sum" else most // 2, relation)
    return Fault(
        stepped(answer, step, most),
        stepped(answer, 1, most),
        EPSILON,
        domain,
        worst,
        f"answers keep the remainder of the exact sum by {step}: the loss is ∞",
        "in steps of 1 the loss is the distance of the sums divided by the sensitivity: at most 1",
    )


def _stepped_faults() -> Iterator[tuple[str, Fault]]:
    settings = [(most, step) for most in (10, 50, 100, 600) for step in (most, most // 2, 2)]
    for (most, step), relation in itertools.product(settings, RELATIONS):
        yield f"sum, 0 to {most}, steps of {step}, {relation}", _stepped_fault("sum", most, step, relation)
    for kind, first in (("weights", 0), ("two columns", 1)):  # each setting under one of the relations
        for number, (most, step) in enumerate(settings, first):
            relation = RELATIONS[number % 2]
            yield f"{kind}, 0 to {most}, steps of {step}, {relation}", _stepped_fault(kind, most, step, relation)
    for most, step in settings:
        yield f"totals, 0 to {most}, steps of {step}", _stepped_fault("totals", most, step, "add_remove")


# --- Rare outcomes under (ε, δ) ---

THRESHOLD_DELTAS, TIMES = (0.01, 0.002), (1.3, 2.0, 5.0)
CATEGORIES = ("ache", "cold", "cough", "fever", "rash")


def partitions(counts: Callable[[Any], Any], delta: float) -> Mechanism:
    """Release each category that has somebody and whose noisy count is above a threshold; of a single one, the count or None.

    At counts of 0 and 1 the outcomes differ with probability ``delta`` only, which is δ for every ε. At all other counts the
    release is 1-DP. One person is in one category.
    """
    threshold = threshold_for(1.0, delta)

    def release(data: Any, size: int, rng: Rng) -> Any:
        exact = np.asarray(counts(data), dtype=float)
        noisy = with_laplace(exact, size, rng, 1.0)
        released = (noisy > threshold) & (exact > 0)
        if exact.size == 1:
            alone = noisy[:, 0].astype(object)
            alone[~released[:, 0]] = None
            return list(alone)
        rows: list[dict[str, float]] = [{} for _ in range(size)]
        for row, category in zip(*np.nonzero(released), strict=True):
            rows[row][CATEGORIES[category]] = float(noisy[row, category])
        return rows

    return release


def _rare_domain(form: str, categories: int) -> tuple[Domain, Callable[[Any], Any], tuple[Any, Any]]:
    names = list(CATEGORIES[:categories])
    if form == "totals":
        domain: Domain = auditor.Totals(cells=categories, values=(0, 10), contribution={"l1": 1})
        return domain, lambda totals: totals, ((0,) * categories, (1, *((0,) * (categories - 1))))
    if form == "records":
        domain = auditor.Records(choices=names, size=(0, 10))
        return domain, lambda records: [list(records).count(name) for name in names], ([], [names[0]])
    domain = auditor.Frame({"what": {"type": "categorical", "choices": names}}, size=(0, 10), form="pandas")
    return domain, lambda df: [int((df["what"] == name).sum()) for name in names], ([], [{"what": names[0]}])


def _rare_faults() -> Iterator[tuple[str, Fault]]:
    forms = itertools.product(("records", "frames", "totals"), (1, len(CATEGORIES)))
    for (form, categories), delta, times in itertools.product(forms, THRESHOLD_DELTAS, TIMES):
        domain, counts, worst = _rare_domain(form, categories)
        yield (
            f"{form}, {categories} of them, {times:g} times δ = {delta:g}",
            Fault(
                partitions(counts, times * delta),
                partitions(counts, delta),
                auditor.ApproximateDP(1.0, delta),
                domain,
                worst,
                f"one person alone is released with probability {times * delta:g}",
                f"one person alone is released with probability {delta:g}, and all else is 1-DP",
                MANY,
            ),
        )


# --- Many rows at once ---

INCOME: dict[str, Any] = {"type": "number", "low": 0, "high": 1000}
LEVEL, INCOME_MOST = 0.95, 1000.0


def clipped_sum(at_quantile: bool) -> Mechanism:
    """A sum of values that are clipped at their own quantile, with noise for the largest value of all."""

    def release(records: Any, size: int, rng: Rng) -> Any:
        values = np.asarray(records, dtype=float)
        most = np.quantile(values, LEVEL) if at_quantile and len(values) else INCOME_MOST
        return with_laplace(np.minimum(values, most).sum(), size, rng, INCOME_MOST)

    return release


def clipped_sums_by_city(at_quantile: bool) -> Mechanism:
    def release(df: Any, size: int, rng: Rng) -> Any:
        income = df["income"].astype(float)
        most = income.quantile(LEVEL) if at_quantile and len(df) else INCOME_MOST
        sums = income.clip(upper=most).groupby(df["city"], observed=False).sum().reindex(CITIES, fill_value=0.0)
        return with_laplace(sums.to_numpy(float), size, rng, INCOME_MOST)

    return release


def group_means(by_true_number: bool) -> Mechanism:
    """Means by city. The author assumes that each city has an eighth of the rows or more."""

    def release(df: Any, size: int, rng: Rng) -> Any:
        groups = df.assign(income=df["income"].astype(float)).groupby("city", observed=False)["income"]
        numbers = groups.size().reindex(CITIES, fill_value=0).to_numpy(float)
        totals = groups.sum().reindex(CITIES, fill_value=0.0).to_numpy(float)
        if by_true_number:
            return with_laplace(totals / np.maximum(numbers, 1), size, rng, 8 * INCOME_MOST / max(len(df), 8))
        noisy = np.maximum(with_laplace(numbers, size, rng, 2.0), 1)
        return with_laplace(totals, size, rng, 2 * INCOME_MOST) / noisy

    return release


def quantile(level: float, most: int, relation: str, half: bool = False) -> tuple[Mechanism, auditor.Records]:
    """Return a quantile by an exponential mechanism, and its domain. It claims ε = 1, and is 2-DP without its factor ½."""
    sensitivity = max(level, 1 - level) if relation == "add_remove" else 1.0
    factor = 0.5 if half else 1.0

    def release(records: Any, size: int, rng: Rng) -> Any:
        edges = np.concatenate([[0.0], np.sort(np.clip(np.asarray(records, float), 0, 100)), [100.0]])
        score = -np.abs(np.arange(len(edges) - 1) - level * len(records)) * factor / sensitivity
        weights = np.log(np.maximum(np.diff(edges), 1e-300)) + score
        chances = np.exp(weights - weights.max())
        at = rng.choice(len(chances), size=size, p=chances / chances.sum())
        return rng.uniform(edges[at], edges[at + 1])

    least = 0 if relation == "add_remove" else 1
    return release, auditor.Records([0, 100], size=[least, most], relation=relation)


def tree_of_sums(levels: int, noise_for: int) -> Mechanism:
    """Counts of all ranges of a binary tree over 2^(levels − 1) leaves, with noise for some number of its levels."""
    leaves = 2 ** (levels - 1)

    def release(records: Any, size: int, rng: Rng) -> Any:
        counts = np.bincount(np.asarray(records, dtype=int), minlength=leaves)
        tree = [counts.reshape(2**level, -1).sum(axis=1) for level in range(levels)]
        return with_laplace(np.concatenate(tree), size, rng, float(noise_for))

    return release


KEYS = [f"k{number:02}" for number in range(30)]


def joined(twice: bool, frame: bool) -> Mechanism:
    """Count the rows of a join with a table of keys, one of which stands there twice."""
    table = [*KEYS, *([KEYS[17]] if twice else [])]

    def release(data: Any, size: int, rng: Rng) -> Any:
        if frame:
            import pandas as pd

            number = len(data.astype({"key": str}).merge(pd.DataFrame({"key": table}), on="key"))
        else:
            number = sum(table.count(key) for key in data)
        return with_laplace(number, size, rng, 1.0)

    return release


def _tall(rows: int, high: int) -> tuple[list[float], list[float]]:
    """Return data sets of one row less and all rows, in which ``high`` rows of all have the largest value."""
    low = [0.0] * (rows - high)
    return [*low, *([INCOME_MOST] * (high - 1))], [*low, *([INCOME_MOST] * high)]


def _in_rows(values: list[float], city: str = CITIES[0]) -> list[dict[str, Any]]:
    return [{"city": city, "income": value} for value in values]


def _many_rows() -> Iterator[tuple[str, Fault]]:
    for rows in (20, 80):
        short, tall = _tall(rows, math.ceil((1 - LEVEL) * (rows - 1)) + 1)
        domain: Domain = auditor.Records((0.0, INCOME_MOST), size=(0, rows))
        frame = auditor.Frame({"city": CITY, "income": INCOME}, size=(0, rows), form="pandas")
        high, kept = "one more high row lifts the limit for all others", "a fixed limit: one row moves the sum by 1,000"
        yield (
            f"clipped at a quantile, {rows} records",
            Fault(clipped_sum(True), clipped_sum(False), EPSILON, domain, (short, tall), high, kept, MANY),
        )
        fixed = auditor.Records((0.0, INCOME_MOST), size=(rows, rows), relation="substitute")
        yield (
            f"clipped at a quantile, {rows} records, substitute",
            Fault(clipped_sum(True), clipped_sum(False), EPSILON, fixed, ([0.0, *short], tall), high, kept, MANY),
        )
        worst = _in_rows(short), _in_rows(tall)
        yield (
            f"clipped at a quantile, pandas with groups, {rows} rows",
            Fault(clipped_sums_by_city(True), clipped_sums_by_city(False), EPSILON, frame, worst, high, kept, MANY),
        )
        elsewhere = _in_rows([0.0] * (rows - 1), CITIES[1])
        yield (
            f"group means, pandas, {rows} rows",
            Fault(
                group_means(True),
                group_means(False),
                EPSILON,
                frame,
                (elsewhere, [*elsewhere, *_in_rows([INCOME_MOST])]),
                f"one row makes up the mean of its city: a loss of about {rows / 8:g}",
                "sums and numbers have a budget of ½ each; a row counts in one city",
                MANY,
            ),
        )
    for level, rows, relation in itertools.product((0.5, 0.95), (20, 80), RELATIONS):
        faulty, domain = quantile(level, rows, relation)
        sound, _ = quantile(level, rows, relation, half=True)
        yield (
            f"quantile {level:g} without its factor ½, {rows} records, {relation}",
            Fault(faulty, sound, EPSILON, domain, _quantile_pair(level, rows, relation), "up to 2", "(1, 0)-DP", MANY),
        )
    for levels in (3, 4):
        for form in ("records", "totals"):
            leaves = 2 ** (levels - 1)
            records = form == "records"
            domain = (
                auditor.Records((0, leaves - 1), integer=True, size=(0, 20))
                if records
                else auditor.Totals(cells=leaves, values=(0, 20), contribution={"l1": 1})
            )
            tree = tree_of_sums if records else _tree_of_totals
            nobody, person = (0,) * leaves, (1, *((0,) * (leaves - 1)))
            yield (
                f"a tree of {levels} levels with noise for {levels - 1}, {form}",
                Fault(
                    tree(levels, levels - 1),
                    tree(levels, levels),
                    EPSILON,
                    domain,
                    ([], [0]) if records else (nobody, person),
                    f"a person moves one count of each level: {levels}/{levels - 1}",
                    "the scale is the number of levels",
                    MANY,
                ),
            )
    for form in ("records", "pandas"):
        keys: dict[str, Any] = {"type": "categorical", "choices": KEYS}
        domain = (
            auditor.Records(choices=KEYS, size=(0, 20))
            if form == "records"
            else auditor.Frame({"key": keys}, size=(0, 20), form="pandas")
        )
        with_key: list[Any] = [KEYS[17]] if form == "records" else [{"key": KEYS[17]}]
        yield (
            f"one of 30 keys twice, {form}",
            Fault(
                joined(True, form == "pandas"),
                joined(False, form == "pandas"),
                EPSILON,
                domain,
                ([], with_key),
                "a person with this key counts twice: 2",
                "a person counts once",
                MANY,
            ),
        )


def _tree_of_totals(levels: int, noise_for: int) -> Mechanism:
    of_records = tree_of_sums(levels, noise_for)
    return lambda totals, size, rng: of_records(np.repeat(np.arange(len(totals)), totals), size, rng)


def _quantile_pair(level: float, rows: int, relation: str) -> tuple[list[float], list[float]]:
    """Return data sets whose values from 97 to 100 gain what those from 0 to 97 lose: nearly half of the loss each.

    Of n records ``low`` are 0, and two stand between the wide gap and the narrow one, so that their ranks are as far from that of
    the quantile. A record that comes to the top moves both by its most.
    """
    moves = relation == "substitute"
    number = rows if moves else rows - 1
    rank = level * number
    high = math.ceil(rank + (1.0 if moves else level) - 1e-9)
    low = round(2 * rank - high)
    middle = [*([97.0] * (high - low)), *([100.0] * (number - high))]
    return [*([0.0] * low), *middle], [*([0.0] * (low - moves)), *middle, 100.0]


# --- Behind an exception ---

CLIENTS, ROUND_SAMPLES = 10, 100_000


def averaging_round(too_small: bool, width: int, size_known: bool) -> Mechanism:
    """A round of averaging: each client's vector is clipped to norm 1 and added. A client of zeros ends it with an error.

    ``size_known`` tells if the number of clients is public; else they come and go, and their sum is released. The twin lets
    zeros pass. Under substitution a sum moves by 2 in norm, under add/remove by 1; in one column the L1 norm is the norm, and in
    several it is at most √width times the norm.
    """
    sensitivity = (2.0 if size_known else 1.0) * math.sqrt(width)

    def release(records: Any, size: int, rng: Rng) -> Any:
        vectors = np.asarray(records, dtype=float).reshape(-1, width)
        norms = [float(norm) for norm in np.sqrt((vectors**2).sum(axis=1))]
        factors = [min(1.0, 1.0 / norm) if norm or too_small else 1.0 for norm in norms]
        total = (vectors * np.reshape(factors, (-1, 1))).sum(axis=0)
        noisy = with_laplace(total, size, rng, sensitivity * (2 / 3 if too_small else 1.0))
        return noisy / CLIENTS if size_known else noisy

    return release


def _behind_exceptions() -> Iterator[tuple[str, Fault]]:
    for width, relation in itertools.product((1, 3), RELATIONS):
        known = relation == "substitute"
        columns: dict[str, Any] = {"columns": width} if width > 1 else {}
        size = (CLIENTS, CLIENTS) if known else (0, CLIENTS)
        ones: Any = 1.0 if width == 1 else (1.0,) * width
        other: Any = -1.0 if width == 1 else (-1.0,) * width
        usual = [other] * (CLIENTS - 1)
        yield (
            f"{'numbers' if width == 1 else 'vectors'}, {relation}",
            Fault(
                averaging_round(True, width, known),
                averaging_round(False, width, known),
                EPSILON,
                auditor.Records((-2.0, 2.0), size=size, relation=relation, **columns),
                ([*usual, other] if known else usual, [*usual, ones]),
                "a client of zeros raises; all others lose 1.5 with noise of two thirds",
                "noise for the L1 sensitivity, and zeros pass",
                ROUND_SAMPLES,
            ),
        )


# --- Slow mechanisms ---


@dataclass
class Counted:
    """A mechanism of single outputs that counts its calls, as a stand-in for one that takes long."""

    mechanism: Mechanism
    calls: int = 0

    def __call__(self, data: Any, rng: Rng) -> Any:
        self.calls += 1
        return self.mechanism(data, rng)


def _choice(scores: Any, rng: Rng, factor: float) -> int:
    weights = np.exp(factor * (np.asarray(scores, float) - np.max(scores)))
    return int(rng.choice(len(weights), p=weights / weights.sum()))


def exponential(factor: float) -> Mechanism:
    return lambda totals, rng: _choice(totals, rng, factor)


def permute_and_flip(factor: float) -> Mechanism:
    def release(totals: Any, rng: Rng) -> int:
        scores = np.asarray(totals, float)
        while True:
            for index in rng.permutation(len(scores)):
                if rng.random() < math.exp(factor * (scores[index] - scores.max())):
                    return int(index)

    return release


def median(factor: float) -> Mechanism:
    """The median of grades from 0 to 20 by an exponential mechanism, whose score moves by ½ with one record."""

    def release(records: Any, rng: Rng) -> int:
        grades, candidates = np.sort(np.asarray(records, float)), np.arange(21)
        below = np.searchsorted(grades, candidates, "left")
        above = len(grades) - np.searchsorted(grades, candidates, "right")
        return _choice(-np.abs(below - above) / 2, rng, factor)

    return release


def _sum_with_noise(limit: float, scale: float) -> Mechanism:
    return lambda records, rng: float(np.clip(records, 0, limit).sum() + rng.laplace(0, scale))


def _count_with_gauss(scale: float) -> Mechanism:
    return lambda records, rng: float(len(records) + rng.normal(0, scale))


def _histogram(scale: float, named: bool) -> Mechanism:
    """A histogram of four bins; or only of those that have somebody."""

    def release(records: Any, rng: Rng) -> dict[str, float]:
        counts = np.bincount(np.asarray(records, dtype=int), minlength=4)
        return {f"bin {i}": float(n + rng.laplace(0, scale)) for i, n in enumerate(counts) if n or not named}

    return release


def _slow() -> Mapping[str, Fault]:
    totals = auditor.Totals(cells=5, values=(0, 10), contribution={"linf": 1})
    no_people: tuple[Any, Any] = ([], [1.0])
    people = auditor.Records((0.0, 1.0), size=(0, 10))
    amounts = auditor.Records((0.0, 10.0), size=(0, 10))
    bins = auditor.Records((0, 3), integer=True, size=(0, 10))
    up = ((0, 2, 2, 2, 2), (1, 1, 1, 1, 1))
    # Exact: the Gaussian mechanism of sensitivity 1 is (1, .001)-DP from σ = 2.6 on.
    gauss = auditor.ApproximateDP(1.0, 0.001)

    def fault(
        faulty: Mechanism, sound: Mechanism, domain: Domain, worst: Any, loss: str, claim: Any = EPSILON
    ) -> Fault:
        return Fault(faulty, sound, claim, domain, worst, loss, "by its theorem", 20_000)

    return {
        "exponential mechanism": fault(exponential(1.0), exponential(0.5), totals, up, "near 2"),
        "permute-and-flip": fault(permute_and_flip(1.0), permute_and_flip(0.5), totals, up, "near 2"),
        "median": fault(
            median(2.0),
            median(1.0),
            auditor.Records((0, 20), integer=True, size=(0, 20)),
            ([18, 18], [18, 18, 20]),
            "near 2",
        ),
        "Laplace": fault(_sum_with_noise(1.0, 0.5), _sum_with_noise(1.0, 1.0), people, no_people, "2"),
        "Gaussian": fault(
            _count_with_gauss(1.3), _count_with_gauss(2.6), people, no_people, "δ = .055 at ε = 1", gauss
        ),
        "histogram": fault(_histogram(1.0, True), _histogram(1.0, False), bins, ([], [0]), "a bin comes"),
        "histogram, scale": fault(_histogram(0.5, False), _histogram(1.0, False), bins, ([], [0]), "2"),
        "clipping at ten": fault(_sum_with_noise(10.0, 5.0), _sum_with_noise(5.0, 5.0), amounts, ([], [10.0]), "2"),
    }


STEPPED, RARE, MANY_ROWS = dict(_stepped_faults()), dict(_rare_faults()), dict(_many_rows())
BEHIND, SLOW = dict(_behind_exceptions()), _slow()
