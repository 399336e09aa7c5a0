"""The interface of a prover. An entry point of the group ``auditor.provers`` names one.

A prover reads a mechanism and proves an upper bound on its loss; the auditor samples and proves a lower one. Neither needs the
other.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Protocol, cast

from auditor.blackbox.mechanism import Mechanism
from auditor.claims import Claim
from auditor.door import found
from auditor.interfaces import Domain

GROUP = "auditor.provers"


class Scope(StrEnum):
    """The scope of a proof."""

    DOMAIN = "all data sets of the domain"
    PAIRS = "these pairs"


class Status(StrEnum):
    """How an attempt ended."""

    PROVED = "proved"
    PROVED_FOR_PAIRS = "proved_for_pairs"
    NOT_PROVED = "not_proved"


class Attempted(Protocol):
    """The end of an attempt at a proof. Its text says it in a sentence.

    ``value`` is an upper bound on the claim's quantity over the reals, for the ``scope``; None if there is none. ``asked`` says for
    which scripts of a session, ``pairs`` how many pairs were listed, ``rule`` the argument by its name, and ``reason`` why the
    claim is not proved. ``certificate`` is the proof, in a form that can be checked without the mechanism.
    """

    status: Status
    value: float | None
    scope: Scope
    asked: str | None
    pairs: int | None
    rule: str
    reason: str | None
    certificate: Mapping[str, Any] | None


class Prover(Protocol):
    """The names that a prover has: the kinds of claims that it tries, and two functions."""

    @property
    def CLAIMS(self) -> tuple[type[Claim], ...]:  # noqa: N802 - a constant of a module
        """The kinds of claims."""

    def attempt(self, mechanism: Mechanism, claim: Claim, domain: Domain, seconds: float) -> Attempted:
        """Try to prove a claim for some seconds of the processor's time."""

    def checked(self, certificate: Any, retrace: bool) -> str:
        """Check a certificate, with ``retrace`` also against the function that it names, and return what it proves.

        Raises ValueError if it does not hold.
        """


def prover() -> Prover | None:
    """Return the first prover that is installed; None without one. Raises InvalidInputError if it cannot be loaded."""
    return cast("Prover | None", next(iter(found(GROUP).values()), None))
