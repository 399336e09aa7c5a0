"""Accountants and calibrations as targets: what they state beside the exact number, over ranges of their parameters.

>>> from auditor.accountants import Accountant, Range, audit_accountant
>>> halved = Accountant(
...     "half of the truth", "epsilon", stated=lambda scale: 0.5 / scale,
...     process={"noise": "laplace", "scale": "scale"}, parameters={"scale": Range(0.1, 10.0), "delta": 0.0},
... )
>>> result = audit_accountant(halved, points=40, isolate=False)
>>> str(result.verdict), result.simplest.parameters, round(result.simplest.ratio, 6)
('violation', {'scale': 1.0, 'delta': 0.0}, 2.0)
"""

from auditor.accountants.auditing import audit_accountant
from auditor.accountants.outcome import AccountantResult, Coverage, Fact, Statement
from auditor.accountants.target import Accountant, Range

__all__ = ["Accountant", "AccountantResult", "Coverage", "Fact", "Range", "Statement", "audit_accountant"]
