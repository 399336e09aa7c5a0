"""What holds for all tests."""

import os

import pytest
from hypothesis import settings

# Hypothesis: the same examples every time, so that a failure is one for everybody. HYPOTHESIS=explore looks further.
settings.register_profile("repeat", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS", "repeat"))


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return one worker more than there are cores, since many tests wait for processes of their own."""
    return (os.cpu_count() or 1) + 1
