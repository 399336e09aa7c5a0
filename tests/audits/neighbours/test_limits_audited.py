"""A report keeps the facts that decide whether one domain contains all data sets of another."""

import json
from typing import Any

import numpy as np

import auditor
from auditor.bounds.digits import round_floats
from auditor.results.files import to_json


def laplace(data: Any, size: int, rng: np.random.Generator) -> Any:
    return rng.laplace(np.sum(data), 10, size)


def test_reports_hold_the_limits() -> None:
    domain = auditor.Records((0, 5), integer=True, size=(0, 9))
    result = auditor.audit(laplace, auditor.PureDP(1), domain, samples=200, planted=0, workers=1, isolate=False)
    limits = json.loads(to_json(round_floats(domain.limits())))
    assert result.to_dict()["tried"]["limits"] == limits == result.tried.limits
