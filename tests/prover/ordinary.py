# mypy: ignore-errors
"""Ordinary private mechanisms, written as practitioners and textbooks write them, with no prover in mind.

The comment above each says why it keeps its claim. Those marked as hard need an argument beyond noise and post-processing.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from auditor import ApproximateDP, GaussianDP, PureDP, Records, RenyiDP, Totals, Value, ZeroConcentratedDP


@dataclass(frozen=True)
class Ordinary:
    name: str
    mechanism: Callable[..., Any]
    domain: Any
    claim: Any
    parameters: dict = field(default_factory=dict)
    hard: bool = False


NAMES = ("north", "centre", "south")
QUESTIONS = ("smokes", "drives", "rents", "votes", "swims")
COLOURS = ("red", "green", "blue")
GROUP_EDGES = [20, 40, 65]
MINIMUM = 60
TOTAL_AND_CELLS = np.array([[1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
PREFIXES = np.tril(np.ones((3, 3)))
RATE = 0.5

# Noisy counts.


# One person changes one count by 1, and every count has Laplace noise of scale 1/ε.
def laplace_in_a_loop(counts, rng, *, epsilon):
    out = np.zeros(len(counts))
    for i, count in enumerate(counts):
        out[i] = count + rng.laplace(0.0, 1 / epsilon)
    return out


# Laplace counts at ε; shares are computed from noisy counts only.
def shares(counts, rng, *, epsilon):
    noisy = np.maximum(counts + rng.laplace(scale=1 / epsilon, size=len(counts)), 0)
    total = noisy.sum()
    if total == 0:
        return np.full(len(counts), 1 / len(counts))
    return noisy / total


# Laplace counts at ε under fixed names.
def counts_by_name(counts, rng, *, epsilon):
    def noisy(count):
        return round(count + rng.laplace(0, 1 / epsilon))

    return {name: noisy(count) for name, count in zip(NAMES, counts, strict=True)}


# One person is in one leaf, in one pair and in the root, so that the seven nodes move by 3 in all: scale 3/ε.
def tree_counts(counts, size, rng, *, epsilon):
    pairs = np.stack([counts[0] + counts[1], counts[2] + counts[3]])
    root = np.array([np.sum(counts)])
    nodes = np.concatenate([counts, pairs, root])
    return nodes + rng.laplace(0.0, 3 / epsilon, (size, len(nodes)))


# The columns of the strategy sum to 2, so that scale 2/ε is enough; the answers follow from the noisy strategy.
def matrix_mechanism(counts, rng, *, epsilon):
    sensitivity = np.abs(TOTAL_AND_CELLS).sum(axis=0).max()
    answers = TOTAL_AND_CELLS @ counts + rng.laplace(0, sensitivity / epsilon, len(TOTAL_AND_CELLS))
    return PREFIXES @ (np.linalg.pinv(TOTAL_AND_CELLS) @ answers)


# A person moves the sum by at most 1 and the number by 1; each gets half of ε.
def noisy_average(totals, rng, *, epsilon):
    total, number = totals
    noisy_total = total + rng.laplace(0, 2 / epsilon)
    noisy_number = number + rng.laplace(0, 2 / epsilon)
    return noisy_total / max(noisy_number, 1)


# Laplace counts at ε; the search for the middle reads noisy counts only.
def middle_group(counts, rng, *, epsilon):
    noisy = [max(0.0, count + rng.laplace(scale=1 / epsilon)) for count in counts]
    half = sum(noisy) / 2
    place, seen = 0, noisy[0]
    while seen < half and place < len(noisy) - 1:
        place += 1
        seen += noisy[place]
    return GROUP_EDGES[place]


# Half of ε for the total, half for the counts, which are released only if the noisy total is large.
def details_of_large(counts, rng, *, epsilon):
    total = np.sum(counts) + rng.laplace(scale=2 / epsilon)
    if total < MINIMUM:
        return total, None
    return total, tuple(count + rng.laplace(scale=2 / epsilon) for count in counts)


# Other ways to draw Laplace noise.


def two_sided_geometric(rng, epsilon):
    p = 1 - math.exp(-epsilon)
    return rng.geometric(p) - rng.geometric(p)


# The difference of two geometric numbers is discrete Laplace noise at ε.
def geometric_counts(counts, rng, *, epsilon):
    noisy = []
    for count in counts:
        noisy.append(int(count + two_sided_geometric(rng, epsilon)))
    return tuple(noisy)


# The order of the bits is random and does not matter for their sum, which has discrete Laplace noise at ε.
def shuffled_bit_count(bits, rng, *, epsilon):
    ones = 0
    for i in rng.permutation(len(bits)):
        ones += bits[i]
    return ones + two_sided_geometric(rng, epsilon)


# An exponential number with a random sign is Laplace noise.
def signed_exponential(counts, rng, *, epsilon):
    return [count + rng.exponential(1 / epsilon) * rng.choice([-1, 1]) for count in counts]


# The quantile function of the Laplace distribution, at a uniform number.
def inverse_cdf(counts, rng, *, epsilon):
    u = rng.random() - 0.5
    noise = -np.sign(u) * np.log(1 - 2 * np.abs(u)) / epsilon
    return counts[0] + noise


# −log of a uniform number is exponential, and the difference of two such is Laplace noise.
def log_of_quotient(counts, rng, *, epsilon):
    first, second = 1.0 - rng.random(), 1.0 - rng.random()
    return counts[0] + math.log(first / second) / epsilon


# Selection.


# The lead of the largest noisy count costs nothing beyond its index (Ding et al. 2019).
def noisy_max_and_gap(counts, rng, *, epsilon):
    noisy = counts + rng.laplace(scale=2 / epsilon, size=len(counts))
    second, first = np.sort(noisy)[-2:]
    return np.argmax(noisy), first - second


# The gap to the noisy threshold is free in the sparse vector technique.
def above_threshold_and_gap(counts, rng, *, epsilon, limit):
    noisy_limit = limit + rng.laplace(0, 2 / epsilon)
    for question, count in zip(QUESTIONS, counts, strict=True):
        gap = count + rng.laplace(0, 4 / epsilon) - noisy_limit
        if gap >= 0:
            return question, gap
    return "none", 0.0


# The sparse vector technique for two answers: counts have scale 4 · 2/ε.
def first_two_above(counts, rng, *, epsilon, limit):
    noisy_limit = limit + rng.laplace(scale=2 / epsilon)
    found = []
    i = 0
    while i < len(counts) and len(found) < 2:
        if counts[i] + rng.laplace(scale=8 / epsilon) >= noisy_limit:
            found.append(i)
        i += 1
    return tuple(found)


# Permute and flip (McKenna & Sheldon 2020): scores move by at most 1, so the coins have probability exp(ε · difference / 2).
def permute_and_flip(scores, rng, *, epsilon):
    best = max(scores)
    for i in rng.permutation(len(scores)):
        if rng.random() <= math.exp(epsilon * (scores[i] - best) / 2):
            return int(i)
    return int(np.argmax(scores))


# Only differences of noisy counts matter, and one person moves them as much as a vector of length √(2/3) does.
def gaussian_noisy_max(counts, rng, *, sigma):
    return int(np.argmax(counts + rng.normal(0, sigma, len(counts))))


# The logit minus ε/3 times the distance: the distances of any two values differ by at most 3, and the ends weigh least.
def nearby_value(value, rng, *, epsilon):
    weights = np.array([math.exp(-epsilon * abs(value - candidate) / 3) for candidate in range(4)])
    return int(rng.choice(4, p=weights / weights.sum()))


# One person raises one weight by the factor e^ε; among up to 3 people that changes no probability by more than e^0.85.
def most_common(records, rng, *, epsilon):
    scores = np.array([np.sum(records == candidate) for candidate in range(4)])
    weights = np.exp(epsilon * scores)
    return int(rng.choice(4, p=weights / np.sum(weights)))


# Local answers.


# The truth is e^ε times as likely as each other colour.
def kary_response(colour, rng, *, epsilon):
    p = math.exp(epsilon) / (math.exp(epsilon) + len(COLOURS) - 1)
    if rng.random() < p:
        return colour
    others = [other for other in COLOURS if other != colour]
    return others[rng.integers(len(others))]


# The bit of the value is fair, the others are 1 with probability 1/(1 + e^ε): together a 1 and a 0 make e^ε (Wang et al. 2017).
def optimised_unary_encoding(value, rng, *, epsilon):
    chances = np.full(3, 1 / (1 + math.exp(epsilon)))
    chances[value] = 0.5
    return (rng.random(3) < chances).astype(int)


# One of three people is asked, who lies one time in four: a probability of 1/4 becomes at most 5/12.
def one_of_three(bits, rng):
    bit = bits[rng.integers(len(bits))]
    return int(bit != (rng.random() < 0.25))


# Gaussian noise.


# One person moves the total by at most 1, and σ = 1/μ.
def gaussian_total(totals, size, rng, *, mu):
    return totals[0] + rng.normal(0.0, 1 / mu, size)


# One person moves one count by 1: ρ = 1/(2σ²).
def gaussian_histogram(counts, rng, *, rho):
    sigma = 1 / math.sqrt(2 * rho)
    return {i: max(0.0, count + sigma * rng.normal()) for i, count in enumerate(counts)}


# One person moves the prefix sums by at most √3 in length: an ε of α · 3/(2σ²) at order α.
def gaussian_prefix_sums(counts, rng, *, order, epsilon):
    sigma = math.sqrt(3 * order / (2 * epsilon))
    sums = np.cumsum(counts)
    return sums + rng.normal(scale=sigma, size=len(sums))


def normal_cdf(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


def gaussian_sigma(epsilon, delta):
    low, high = 0.01, 1000.0
    while high - low > 1e-6:
        sigma = (low + high) / 2
        left, right = 0.5 / sigma - epsilon * sigma, -0.5 / sigma - epsilon * sigma
        if normal_cdf(left) - math.exp(epsilon) * normal_cdf(right) > delta:
            low = sigma
        else:
            high = sigma
    return high


# The smallest σ for which one count keeps (ε, δ) (Balle & Wang 2018).
def analytic_gaussian(counts, rng, *, epsilon, delta):
    sigma = gaussian_sigma(epsilon, delta)
    return [count + rng.normal(0, sigma) for count in counts]


# Samples and thresholds.


# Each record is kept with probability 1/2, and the sum of the kept ones has Laplace noise at ε: ln(1 + (e^ε − 1)/2).
def sampled_count(bits, rng, *, epsilon):
    kept = rng.random(len(bits)) < RATE
    return np.sum(bits[kept]) + rng.laplace(0, 1 / epsilon)


# Laplace counts at ε; a word that only one person has is released with probability δ (stability histogram).
def stability_histogram(words, rng, *, epsilon, delta):
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    threshold = 1 + math.log(1 / (2 * delta)) / epsilon
    told = {}
    for word in sorted(counts):
        noisy = counts[word] + rng.laplace(scale=1 / epsilon)
        if noisy > threshold:
            told[word] = noisy
    return told


def counts_of(cells, **contribution):
    return Totals(cells=cells, values=(0, 100), contribution=contribution)


ONE_COUNT = counts_of(1, l1=1)
TWO_COUNTS = counts_of(2, l1=1)
COUNTS = counts_of(3, l1=1)
FOUR_COUNTS = counts_of(4, l1=1)
SCORES = counts_of(3, linf=1)
FIVE_SCORES = counts_of(5, linf=1)
EIGHT_SCORES = counts_of(8, linf=1)
FLOAT_TOTAL = Totals(cells=1, values=(0, 100), contribution={"l1": 1}, integer=False)
SUM_AND_NUMBER = Totals(contributions=[[1, 1], [0, 1]], people=(0, 2000))
BIT = Value(values=[0, 1])
BITS = Records((0, 1), integer=True, size=(0, 3))
THREE_BITS = Records((0, 1), integer=True, size=(3, 3), relation="substitute")
ONE = {"epsilon": 1.0}
ONE_AND_LIMIT = {"epsilon": 1.0, "limit": 5}

ORDINARY = [
    Ordinary("Laplace in a loop", laplace_in_a_loop, COUNTS, PureDP(1.0), ONE),
    Ordinary("shares", shares, COUNTS, PureDP(1.0), ONE),
    Ordinary("counts by name", counts_by_name, COUNTS, PureDP(1.0), ONE),
    Ordinary("tree counts", tree_counts, FOUR_COUNTS, PureDP(1.0), ONE),
    Ordinary("matrix mechanism", matrix_mechanism, COUNTS, PureDP(1.0), ONE),
    Ordinary("noisy average", noisy_average, SUM_AND_NUMBER, PureDP(1.0), ONE),
    Ordinary("middle group", middle_group, COUNTS, PureDP(1.0), ONE),
    Ordinary("details of large", details_of_large, COUNTS, PureDP(1.0), ONE),
    Ordinary("geometric counts", geometric_counts, COUNTS, PureDP(1.0), ONE),
    Ordinary("shuffled bit count", shuffled_bit_count, BITS, PureDP(1.0), ONE),
    Ordinary("signed exponential", signed_exponential, COUNTS, PureDP(1.0), ONE),
    Ordinary("noisy max and gap", noisy_max_and_gap, SCORES, PureDP(1.0), ONE),
    Ordinary("above threshold and gap", above_threshold_and_gap, FIVE_SCORES, PureDP(1.0), ONE_AND_LIMIT),
    Ordinary("first two above", first_two_above, EIGHT_SCORES, PureDP(1.0), ONE_AND_LIMIT),
    Ordinary("k-ary response", kary_response, Value(values=COLOURS), PureDP(1.0), ONE),
    Ordinary("optimised unary encoding", optimised_unary_encoding, Value(values=[0, 1, 2]), PureDP(1.0), ONE),
    Ordinary("Gaussian total", gaussian_total, FLOAT_TOTAL, GaussianDP(0.5), {"mu": 0.5}),
    Ordinary("Gaussian histogram", gaussian_histogram, COUNTS, ZeroConcentratedDP(0.5), {"rho": 0.5}),
    Ordinary("Gaussian prefix sums", gaussian_prefix_sums, COUNTS, RenyiDP(8, 1.0), {"order": 8, "epsilon": 1.0}),
    Ordinary("analytic Gaussian", analytic_gaussian, COUNTS, ApproximateDP(1.0, 1e-5), {"epsilon": 1.0, "delta": 1e-5}),
    Ordinary("inverse CDF", inverse_cdf, ONE_COUNT, PureDP(1.0), ONE, hard=True),
    Ordinary("log of quotient", log_of_quotient, ONE_COUNT, PureDP(1.0), ONE, hard=True),
    Ordinary("permute and flip", permute_and_flip, SCORES, PureDP(1.0), ONE, hard=True),
    Ordinary("Gaussian noisy max", gaussian_noisy_max, COUNTS, GaussianDP(math.sqrt(2 / 3)), {"sigma": 1.0}, hard=True),
    Ordinary("nearby value", nearby_value, Value(values=[0, 1, 2, 3]), PureDP(1.0), ONE, hard=True),
    Ordinary("most common", most_common, Records((0, 3), integer=True, size=(0, 3)), PureDP(0.85), ONE, hard=True),
    Ordinary("one of three", one_of_three, THREE_BITS, PureDP(math.log(5 / 3)), hard=True),
    Ordinary("sampled count", sampled_count, BITS, PureDP(math.log((1 + math.e) / 2)), ONE, hard=True),
    Ordinary(
        "stability histogram",
        stability_histogram,
        Records(choices=["apple", "pear", "plum"], size=(0, 3)),
        ApproximateDP(1.0, 0.01),
        {"epsilon": 1.0, "delta": 0.01},
        hard=True,
    ),
]
