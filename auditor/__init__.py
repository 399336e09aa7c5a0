"""Empirical auditing of differential privacy.

>>> import auditor
>>> def randomised_response(bit, size, rng):
...     lies = rng.random(size) < 0.25  # an honest answer three times in four: ε = ln 3
...     return bit ^ lies
>>> result = auditor.audit(randomised_response, auditor.PureDP(0.9), [(0, 1)], samples=100_000, seed=7, workers=1)
>>> str(result.verdict), 0.9 < result.bound.value < 1.0987
('violation', True)
"""

import difflib
import importlib
import sys
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from auditor.accountants import Accountant as Accountant
    from auditor.accountants import AccountantResult as AccountantResult
    from auditor.accountants import Range as Range
    from auditor.accountants import audit_accountant as audit_accountant
    from auditor.adapters import claim_of as claim_of
    from auditor.auditing import audit as audit
    from auditor.auditing.consistent import read_report as read_report
    from auditor.blackbox.command import Command as Command
    from auditor.claims import ApproximateDP as ApproximateDP
    from auditor.claims import GaussianDP as GaussianDP
    from auditor.claims import Monotone as Monotone
    from auditor.claims import PrivacyProfile as PrivacyProfile
    from auditor.claims import Probability as Probability
    from auditor.claims import PureDP as PureDP
    from auditor.claims import RenyiDP as RenyiDP
    from auditor.claims import Sensitivity as Sensitivity
    from auditor.claims import Tradeoff as Tradeoff
    from auditor.claims import ZeroConcentratedDP as ZeroConcentratedDP
    from auditor.errors import AuditorError as AuditorError
    from auditor.errors import InvalidInputError as InvalidInputError
    from auditor.errors import MechanismError as MechanismError
    from auditor.neighbours.canaries import Canaries as Canaries
    from auditor.neighbours.domains import Pairs as Pairs
    from auditor.neighbours.domains import Valid as Valid
    from auditor.neighbours.domains import Value as Value
    from auditor.neighbours.epochs import Epoch as Epoch
    from auditor.neighbours.frames import Frame as Frame
    from auditor.neighbours.records import Records as Records
    from auditor.neighbours.totals import OneNumber as OneNumber
    from auditor.neighbours.totals import Totals as Totals
    from auditor.neighbours.totals import TotalsByKey as TotalsByKey
    from auditor.neighbours.vectors import Vectors as Vectors
    from auditor.results.result import AuditResult as AuditResult
    from auditor.results.result import RunResult as RunResult
    from auditor.scores import ScoreBounds as ScoreBounds
    from auditor.scores import audit_scores as audit_scores
    from auditor.seeding import seeded as seeded
    from auditor.sessions.dialogues import Dialogues as Dialogues
    from auditor.verdict import Verdict as Verdict

# Modules and their public names. A module is loaded when a name of it is first used, so that `import auditor` is fast.
_NAMES = {
    "auditor.accountants": ("Accountant", "AccountantResult", "Range", "audit_accountant"),
    "auditor.adapters": ("claim_of",),
    "auditor.auditing": ("audit",),
    "auditor.auditing.consistent": ("read_report",),
    "auditor.blackbox.command": ("Command",),
    "auditor.claims": (
        *("ApproximateDP", "GaussianDP", "PrivacyProfile", "PureDP", "RenyiDP", "Tradeoff", "ZeroConcentratedDP"),
        *("Monotone", "Probability", "Sensitivity"),
    ),
    "auditor.errors": ("AuditorError", "InvalidInputError", "MechanismError"),
    "auditor.neighbours.canaries": ("Canaries",),
    "auditor.sessions.dialogues": ("Dialogues",),
    "auditor.neighbours.domains": ("Pairs", "Valid", "Value"),
    "auditor.neighbours.epochs": ("Epoch",),
    "auditor.neighbours.frames": ("Frame",),
    "auditor.neighbours.records": ("Records",),
    "auditor.neighbours.totals": ("OneNumber", "Totals", "TotalsByKey"),
    "auditor.neighbours.vectors": ("Vectors",),
    "auditor.results.result": ("AuditResult", "RunResult"),
    "auditor.scores": ("ScoreBounds", "audit_scores"),
    "auditor.seeding": ("seeded",),
    "auditor.verdict": ("Verdict",),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}
__all__ = [*sorted(_HOMES), "__version__"]  # noqa: PLE0604 - they are strings

# The functions of a room above the results by which Python and notebooks show them. They are loaded when first used.
SHOWN_BY = {
    "text": "auditor.report.phrases:in_short",
    "cards": "auditor.report.html:to_cards",
    "accountant": "auditor.report.accountant_words:accountant_text",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        unknown = f"module {__name__!r} has no attribute {name!r}"
        if near := difflib.get_close_matches(name, _HOMES, n=1):
            raise AttributeError(f'{unknown}; did you mean "{near[0]}"?')  # with `name`, Python would suggest it again
        raise AttributeError(unknown, name=name, obj=sys.modules[__name__])
    module = importlib.import_module(_HOMES[name])
    # All names of the module are set, even those not asked for, since a proof looks them up in this namespace.
    globals().update({other: getattr(module, other) for other in _NAMES[_HOMES[name]]})
    return globals()[name]


def __dir__() -> list[str]:
    return __all__
