"""What holds for all tests."""

import os

import pytest
from durations import Stopwatch, listed
from hypothesis import settings

# Hypothesis: the same examples every time, so that a failure is one for everybody. HYPOTHESIS=explore looks further.
settings.register_profile("repeat", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS", "repeat"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-slow", action="store_true", help="write tests/slow.txt by how long the tests of this run take"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--write-slow") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Stopwatch())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark slow tests before marks select."""
    slow = set(listed())
    for item in items:
        if item.nodeid in slow:
            item.add_marker(pytest.mark.slow)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return one worker more than there are cores, since many tests wait for processes of their own."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture
def without_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw no lines in plots, which takes two thirds of the time of a short run. `report/test_html.py` draws them."""
    from auditor.report import plots

    def empty(name: str, title: str, description: str, height: float, draw: object) -> object:
        return plots._embedded('<svg viewBox="0 0 1 1"></svg>', name, title, description)

    monkeypatch.setattr(plots, "svg", empty)
