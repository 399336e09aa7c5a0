"""Empirical auditing of differential privacy.

>>> import auditor
>>> def randomised_response(bit, size, rng):
...     lies = rng.random(size) < 0.25  # an honest answer three times in four: ε = ln 3
...     return bit ^ lies
>>> result = auditor.audit(randomised_response, auditor.PureDP(0.9), [(0, 1)], samples=100_000, seed=7, workers=1)
>>> str(result.verdict), 0.9 < result.bound.value < 1.0987
('violation', True)
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from auditor.auditing import audit
    from auditor.blackbox.command import Command
    from auditor.claims import (
        ApproximateDP,
        GaussianDP,
        Monotone,
        PrivacyProfile,
        Probability,
        PureDP,
        RenyiDP,
        Sensitivity,
        ZeroConcentratedDP,
    )
    from auditor.errors import AuditorError, InvalidInputError, MechanismError
    from auditor.neighbours.domains import Pairs, Value
    from auditor.neighbours.records import Records
    from auditor.neighbours.totals import Totals
    from auditor.results.reader import read_report
    from auditor.results.result import AuditResult, RunResult
    from auditor.specimens import specimen
    from auditor.verdict import Verdict

# Names and the modules they are loaded from when first used, which keeps `import auditor` fast.
_HOMES = {
    "audit": "auditor.auditing",
    "AuditResult": "auditor.results.result",
    "RunResult": "auditor.results.result",
    "read_report": "auditor.results.reader",
    "Command": "auditor.blackbox.command",
    "ApproximateDP": "auditor.claims",
    "GaussianDP": "auditor.claims",
    "Monotone": "auditor.claims",
    "PrivacyProfile": "auditor.claims",
    "Probability": "auditor.claims",
    "PureDP": "auditor.claims",
    "RenyiDP": "auditor.claims",
    "Sensitivity": "auditor.claims",
    "ZeroConcentratedDP": "auditor.claims",
    "AuditorError": "auditor.errors",
    "InvalidInputError": "auditor.errors",
    "MechanismError": "auditor.errors",
    "Pairs": "auditor.neighbours.domains",
    "Records": "auditor.neighbours.records",
    "Totals": "auditor.neighbours.totals",
    "Value": "auditor.neighbours.domains",
    "specimen": "auditor.specimens",
    "Verdict": "auditor.verdict",
}
__all__ = [
    "ApproximateDP",
    "AuditResult",
    "AuditorError",
    "Command",
    "GaussianDP",
    "InvalidInputError",
    "MechanismError",
    "Monotone",
    "Pairs",
    "PrivacyProfile",
    "Probability",
    "PureDP",
    "Records",
    "RenyiDP",
    "RunResult",
    "Sensitivity",
    "Totals",
    "Value",
    "Verdict",
    "ZeroConcentratedDP",
    "__version__",
    "audit",
    "read_report",
    "specimen",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
