"""Hypothesis: the same examples every time, so that a failure is one for everybody. HYPOTHESIS=explore looks further."""

import os

from hypothesis import settings

settings.register_profile("repeat", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS", "repeat"))
