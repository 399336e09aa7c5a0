"""Leaks that a search or an event once did not see, in the words of strangers, each with a sound twin.

Each leak is infinite. At four seeds each was found and each twin passed; by the build before, none was found at any of the four.
"""

import datetime
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import auditor

PRIME = 2**31 - 1
PEOPLE = auditor.Records((0, 1), size=(0, 8))
Rng = np.random.Generator


def shares(data: Any, rng: Rng, faulty: bool) -> Any:
    """Two shares of a count modulo a prime, each of them uniform."""
    first = int(rng.integers(PRIME))
    return [first, (len(data) - first) % PRIME if faulty else int(rng.integers(PRIME))]


def part_and_rest(data: Any, rng: Rng, faulty: bool) -> Any:
    """A mask a million wide, and the rest of the count."""
    mask = rng.uniform(0, 1e6)
    return {"mask": mask, "rest": len(data) + (0 if faulty else rng.laplace()) - mask}


def of_age(rows: Any, rng: Rng, faulty: bool) -> Any:
    """A count by birthdays in 2025, which has no 29 February."""
    count = 0
    for row in rows:
        born = datetime.date.fromisoformat(row["born"])
        day = 28 if not faulty and (born.month, born.day) == (2, 29) else born.day
        count += born.replace(year=2025, day=day) > datetime.date(2025, 7, 1)
    return count + rng.laplace()


def few_bits(data: Any, rng: Rng, faulty: bool) -> Any:
    """Noise from sixteen random bits: each count has values of its own."""
    uniform = (int(rng.integers(2**16)) + 0.5) / 2**16 if faulty else rng.random()
    return len(data) + 0.3 - np.sign(uniform - 0.5) * np.log(1 - 2 * abs(uniform - 0.5))


def winner(votes: Any, size: int, rng: Rng, faulty: bool) -> Any:
    """One of three names, by exponential weights that overflow from 1,420 votes on; before, the sum of two does."""
    scores = np.asarray(votes, float)
    with np.errstate(over="ignore", invalid="ignore"):
        weights = np.exp((scores - (0 if faulty else scores.max())) / 2)
        return np.array(["red", "green", "blue"])[rng.choice(3, size, p=weights / weights.sum())]


def refused(value: Any, rng: Rng, faulty: bool) -> Any:
    """Small values are refused, for a reason that tells which value it is."""
    if value < 2:
        raise ValueError("too small" if value or not faulty else "much too small")
    return rng.laplace()


REGIONS = ["north", "east", "south", "west", "mid", "isles"]


def bulletin(visits: Any, rng: Rng, faulty: bool) -> Any:
    """A total and six counts as CSV. There are six noises, so the last count has that of the total."""
    noise = rng.laplace(0, 2, 6 if faulty else 7)
    counts = [len(visits), *map(list(visits).count, REGIONS)]
    lines = [
        f"{name},{count + noise[i % len(noise)]:.2f}"
        for i, (name, count) in enumerate(zip(["total", *REGIONS], counts, strict=True))
    ]
    return "region,visits\n" + "\n".join(lines)


def bins(values: Any, size: int, rng: Rng, faulty: bool) -> Any:
    """A histogram of two hundred bins, whose buffer of noise begins anew after 64."""
    noise = rng.laplace(0, 1, (size, 200))
    if faulty:
        noise[:, 64::64] = noise[:, :1]
    return np.bincount(np.asarray(values, int), minlength=200) + noise


VOTES = auditor.Totals(cells=3, values=(0, 2_000), contribution={"linf": 1})
BORN = auditor.Frame({"born": {"type": "date", "low": "1950-01-01", "high": "2005-12-31"}}, size=(0, 8))
CASES: dict[str, tuple[Callable[..., Any], Any, int]] = {
    "shares": (shares, PEOPLE, 20_000),
    "part and rest": (part_and_rest, PEOPLE, 20_000),
    "leap day": (of_age, BORN, 20_000),
    "few bits": (few_bits, PEOPLE, 100_000),
    "votes that overflow": (winner, VOTES, 100_000),
    "noise twice in a text": (bulletin, auditor.Records(choices=[*REGIONS, "none"], size=(0, 5)), 6_000),
    "noise twice of 200": (bins, auditor.Pairs([([], [0])]), 20_000),
    "reasons of a refusal": (refused, auditor.Pairs([(2, 3), (0, 1), (3, 4)]), 20_000),
}


@pytest.mark.parametrize("faulty", [True, False], ids=["faulty", "sound"])
@pytest.mark.parametrize("name", CASES)
def test_a_leak_is_found_and_its_twin_passes(name: str, faulty: bool) -> None:
    mechanism, domain, samples = CASES[name]
    options: dict[str, Any] = {"workers": 1, "isolate": False, "planted": 0, "shrink": False}
    result = auditor.audit(
        mechanism, auditor.PureDP(1.0), domain, parameters={"faulty": faulty}, samples=samples, seed=0, **options
    )
    assert result.verdict == ("violation" if faulty else "no_violation_found")
