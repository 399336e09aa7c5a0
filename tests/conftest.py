"""Fixtures and settings for all tests."""

import gc
import os
from collections.abc import Generator
from typing import Any

import pytest
from folders import rules_for
from hypothesis import settings

# Hypothesis tries the same examples every time, so that a failure is reproducible everywhere. HYPOTHESIS=explore tries others.
settings.register_profile("repeat", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS", "repeat"))


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return one worker more than there are cores, since many tests wait for processes of their own."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_finish() -> None:
    """Keep Python's garbage collector from traversing what was imported for thousands of tests."""
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Hold the rules of the folder while fixtures are set up as well, including those of the session."""
    with rules_for(item.path):
        return (yield)
