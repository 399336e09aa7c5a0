"""The programs of CheckDP's Table 1 (Wang et al., CCS 2020) in plain Python, after the paper's pseudo-code and its examples.

Each claims ε-DP, the smart sum 2ε. ``queries`` is the sequence of query answers, T the threshold, and N the maximum number of
answers above it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from auditor.interfaces import Domain
from auditor.neighbours.pair import Arrays, Pair, Relation
from dp_prover.domains.domains_as_data import Vectors, moved, vectors_of

Queries = Sequence[Any]
LOW, HIGH = -20, 20


@dataclass(frozen=True)
class AllMove(Domain):
    """``count`` integers, each of which moves by up to 1: in its own direction with ``both``, else all in the same direction."""

    count: int
    both: bool = True

    def __str__(self) -> str:
        ways = "either way" if self.both else "all the same way"
        return f"{self.count} queries, each moved by at most 1, {ways}"

    def corners(self) -> list[Pair]:
        patterns = [(1,) * self.count, (1,) + (0,) * (self.count - 1)]
        if self.both:
            patterns.append((1,) * (self.count - 1) + (-1,))
        return [Pair((0,) * self.count, pattern, Relation.AS_GIVEN, Arrays()) for pattern in patterns]

    def random(self, rng: np.random.Generator) -> Pair:
        vector = rng.integers(LOW + 1, HIGH, self.count)
        move = rng.integers(-1 if self.both else 0, 2, self.count)
        return Pair(tuple(vector.tolist()), tuple((vector + move).tolist()), Relation.AS_GIVEN, Arrays())

    def mutate(self, pair: Pair, rng: np.random.Generator) -> Pair:
        return self.random(rng)

    def simpler(self, pair: Pair) -> Iterator[Pair]:
        yield from self.corners()


@dataclass(frozen=True)
class OneMoves(AllMove):
    """``count`` integers, one of which moves by at most 1."""

    def __str__(self) -> str:
        return f"{self.count} queries, one of them moved by at most 1"

    def corners(self) -> list[Pair]:
        unit = (1,) + (0,) * (self.count - 1)
        return [Pair((0,) * self.count, unit, Relation.AS_GIVEN, Arrays())]

    def random(self, rng: np.random.Generator) -> Pair:
        vector = rng.integers(LOW + 1, HIGH, self.count)
        move = np.zeros(self.count, np.int64)
        move[rng.integers(self.count)] = 1
        return Pair(tuple(vector.tolist()), tuple((vector + move).tolist()), Relation.AS_GIVEN, Arrays())


@vectors_of.register
def _(domain: AllMove) -> Vectors:
    low, high = ((Fraction(end),) * domain.count for end in (LOW, HIGH))
    return Vectors(low, high, True, {"linf": "1"} if domain.both else {"each": ["0", "1"]})


@moved.register
def _(domain: AllMove, data: Sequence[Any], by: Sequence[Any]) -> Pair | None:
    return Pair(tuple(data), tuple(x + d for x, d in zip(data, by, strict=True)), Relation.AS_GIVEN, Arrays())


@vectors_of.register
def _(domain: OneMoves) -> Vectors:
    low, high = ((Fraction(end),) * domain.count for end in (LOW, HIGH))
    return Vectors(low, high, True, {"l1": "1"})


# Sparse vector -------------------------------------------------------------------------------------------------------


def sparse_vector(queries: Queries, rng: Any, *, epsilon: float, T: float = 0, N: int = 1) -> list[int]:
    limit = T + rng.laplace(0.0, 2 / epsilon)
    out: list[int] = []
    count = 0
    for query in queries:
        if count == N:
            break
        above = query + rng.laplace(0.0, 4 * N / epsilon) >= limit
        out.append(1 if above else 0)
        count += out[-1]
    return out


def sparse_vector_monotone(queries: Queries, rng: Any, *, epsilon: float, T: float = 0, N: int = 1) -> list[int]:
    limit = T + rng.laplace(0.0, 2 / epsilon)
    out: list[int] = []
    count = 0
    for query in queries:
        if count == N:
            break
        above = query + rng.laplace(0.0, 2 * N / epsilon) >= limit
        out.append(1 if above else 0)
        count += out[-1]
    return out


def gap_sparse_vector(queries: Queries, rng: Any, *, epsilon: float, T: float = 0, N: int = 1) -> list[Any]:
    limit = T + rng.laplace(0.0, 2 / epsilon)
    out: list[Any] = []
    count = 0
    for query in queries:
        if count == N:
            break
        noisy = query + rng.laplace(0.0, 4 * N / epsilon)
        if noisy >= limit:
            out.append(noisy - limit)
            count += 1
        else:
            out.append(None)
    return out


def numerical_sparse_vector(queries: Queries, rng: Any, *, epsilon: float, T: float = 0, N: int = 1) -> list[Any]:
    limit = T + rng.laplace(0.0, 3 / epsilon)
    out: list[Any] = []
    count = 0
    for query in queries:
        if count == N:
            break
        if query + rng.laplace(0.0, 6 * N / epsilon) >= limit:
            out.append(query + rng.laplace(0.0, 3 * N / epsilon))
            count += 1
        else:
            out.append(None)
    return out


def _adaptive(queries: Queries, rng: Any, epsilon: float, T: float, N: int, show_noisy: bool) -> list[Any]:
    """Charge one unit, ε/(4N), for a query far above the threshold and two units for a query just above it; the
    threshold costs 2N units."""
    limit = T + rng.laplace(0.0, 2 / epsilon)
    out: list[Any] = []
    units = 2 * N
    for query in queries:
        far = query + rng.laplace(0.0, 8 * N / epsilon)
        if far - limit >= 16:
            out.append(("far", far if show_noisy else far - limit))
            units += 1
        else:
            near = query + rng.laplace(0.0, 4 * N / epsilon)
            if near - limit >= 0:
                out.append(("near", near - limit))
                units += 2
            else:
                out.append(None)
        if units > 4 * N - 2:
            break
    return out


def adaptive_sparse_vector(queries: Queries, rng: Any, *, epsilon: float, T: float = 0, N: int = 1) -> list[Any]:
    return _adaptive(queries, rng, epsilon, T, N, show_noisy=False)


def bad_adaptive_sparse_vector(queries: Queries, rng: Any, *, epsilon: float, T: float = 0, N: int = 1) -> list[Any]:
    """Release the noisy query itself instead of its gap to the noisy threshold, if it is far above."""
    return _adaptive(queries, rng, epsilon, T, N, show_noisy=True)


def bad_gap_sparse_vector(queries: Queries, rng: Any, *, epsilon: float, T: float = 0, N: int = 1) -> list[Any]:
    """Release the noisy query itself instead of its gap to the noisy threshold."""
    limit = T + rng.laplace(0.0, 2 / epsilon)
    out: list[Any] = []
    count = 0
    for query in queries:
        if count == N:
            break
        noisy = query + rng.laplace(0.0, 4 * N / epsilon)
        if noisy >= limit:
            out.append(noisy)
            count += 1
        else:
            out.append(None)
    return out


def bad_sparse_vector_1(queries: Queries, rng: Any, *, epsilon: float, T: float = 0) -> list[int]:
    """Add no noise to the queries, and do not limit the number of answers above the threshold."""
    limit = T + rng.laplace(0.0, 2 / epsilon)
    return [1 if query >= limit else 0 for query in queries]


def bad_sparse_vector_2(queries: Queries, rng: Any, *, epsilon: float, T: float = 0) -> list[int]:
    """Add noise whose scale ignores the number of answers above the threshold, which is unlimited."""
    limit = T + rng.laplace(0.0, 2 / epsilon)
    return [1 if query + rng.laplace(0.0, 2 / epsilon) >= limit else 0 for query in queries]


def bad_sparse_vector_3(queries: Queries, rng: Any, *, epsilon: float, T: float = 0, N: int = 1) -> list[int]:
    """Add to the queries noise of a scale that does not grow with N, and is smaller than the threshold's."""
    limit = T + rng.laplace(0.0, 4 / epsilon)
    out: list[int] = []
    count = 0
    for query in queries:
        if count == N:
            break
        out.append(1 if query + rng.laplace(0.0, 4 / (3 * epsilon)) >= limit else 0)
        count += out[-1]
    return out


# Maxima and sums -----------------------------------------------------------------------------------------------------


def noisy_max(queries: Queries, rng: Any, *, epsilon: float) -> int:
    best, largest = 0, queries[0] + rng.laplace(0.0, 2 / epsilon)
    for place, query in enumerate(queries[1:], 1):
        noisy = query + rng.laplace(0.0, 2 / epsilon)
        if noisy > largest:
            best, largest = place, noisy
    return best


def bad_noisy_max(queries: Queries, rng: Any, *, epsilon: float) -> Any:
    """Return the noisy maximum instead of its index."""
    largest = queries[0] + rng.laplace(0.0, 2 / epsilon)
    for query in queries[1:]:
        noisy = query + rng.laplace(0.0, 2 / epsilon)
        largest = max(largest, noisy)
    return largest


def partial_sum(queries: Queries, rng: Any, *, epsilon: float) -> Any:
    return sum(queries) + rng.laplace(0.0, 1 / epsilon)


def bad_partial_sum(queries: Queries, rng: Any, *, epsilon: float) -> Any:
    """Add noise of half the required scale."""
    return sum(queries) + rng.laplace(0.0, 1 / (2 * epsilon))


def _smart_sum(queries: Queries, rng: Any, epsilon: float, T: int, M: int, block_noise: bool) -> list[Any]:
    out: list[Any] = []
    following: Any = 0
    total: Any = 0
    for place, query in enumerate(queries):
        if place > T:
            break
        if (place + 1) % M == 0:
            following = total + query + (rng.laplace(0.0, 1 / epsilon) if block_noise else 0)
            total = 0
        else:
            following = following + query + rng.laplace(0.0, 1 / epsilon)
            total = total + query
        out.append(following)
    return out


def smart_sum(queries: Queries, rng: Any, *, epsilon: float, T: int = 3, M: int = 2) -> list[Any]:
    return _smart_sum(queries, rng, epsilon, T, M, block_noise=True)


def bad_smart_sum(queries: Queries, rng: Any, *, epsilon: float, T: int = 3, M: int = 2) -> list[Any]:
    """Add no noise to the sums of whole blocks."""
    return _smart_sum(queries, rng, epsilon, T, M, block_noise=False)
