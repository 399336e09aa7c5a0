"""Names for your own claims, methods, domains, report formats and adapters.

CONTRIBUTING.md has an example of each, except for the adapter, which is in docs/how-to/object.md. These names and those
of ``auditor`` are the public interface. All else in the package may change in any version.
"""

from auditor.adapters import Adapted, adapt_object
from auditor.blackbox.sample import Sample
from auditor.bounds.evidence import GuessCounts
from auditor.bounds.intervals import clopper_pearson_lower
from auditor.bounds.power import rate_that_refutes
from auditor.claims import PrivacyClaim, register_claim
from auditor.events.event import Event
from auditor.interfaces import Domain, Learned, Method
from auditor.methods import METHODS, Methods
from auditor.methods.guessing import GaussianGuesses
from auditor.neighbours.pair import Pair, Relation
from auditor.report.formats import FORMATS, Format

__all__ = [
    "FORMATS",
    "METHODS",
    "Adapted",
    "Domain",
    "Event",
    "Format",
    "GaussianGuesses",
    "GuessCounts",
    "Learned",
    "Method",
    "Methods",
    "Pair",
    "PrivacyClaim",
    "Relation",
    "Sample",
    "adapt_object",
    "clopper_pearson_lower",
    "rate_that_refutes",
    "register_claim",
]
