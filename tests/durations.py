"""Which tests are left out of `make test` for the time that they take: `slow.txt`, a list that is measured."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

SLOW = Path(__file__).with_name("slow.txt")
# The seconds above which a case is slow, and those above which the quickest case of a property is, too.
LONG, LONG_IF_QUICKEST = 0.4, 1.2


def listed() -> list[str]:
    """Return the tests in the list."""
    return SLOW.read_text(encoding="utf-8").splitlines()


def slow_tests(seconds: Mapping[str, float], before: Sequence[str]) -> list[str]:
    """Return the tests that take long, and those that were listed before and did not run.

    >>> slow_tests({"t[a]": 2.0, "t[b]": 1.0, "u": 9.0, "v": 0.1}, ["v", "w"])
    ['t[a]', 'u', 'w']
    """
    cases = defaultdict[str, list[float]](list)
    for test, took in seconds.items():
        cases[property_of(test)].append(took)

    def is_slow(test: str, took: float) -> bool:
        return took > (LONG_IF_QUICKEST if took == min(cases[property_of(test)]) else LONG)

    long = {test for test, took in seconds.items() if is_slow(test, took)}
    return sorted(long | {test for test in before if test not in seconds})


def property_of(test: str) -> str:
    """Return what all cases of a test share."""
    return test.partition("[")[0]


class Stopwatch:
    """Notes how long each test takes with what it sets up, and lists those that take long."""

    def __init__(self) -> None:
        self.seconds = dict[str, float]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.skipped:
            self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration

    def pytest_sessionfinish(self) -> None:
        SLOW.write_text("".join(f"{test}\n" for test in slow_tests(self.seconds, listed())), encoding="utf-8")
