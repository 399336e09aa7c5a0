"""The interface of a prover. An entry point of the group ``auditor.provers`` names a prover.

A prover reads the code of a mechanism and proves an upper bound on its loss, or calculates a lower bound on one pair. The
auditor draws outputs and proves a lower bound. Neither needs the other.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Protocol, cast

from auditor.blackbox.mechanism import Mechanism
from auditor.claims import Claim
from auditor.foreign_code import entry_points_of
from auditor.interfaces import Domain
from auditor.neighbours.pair import Pair

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
    REFUTED = "refuted"


class Refuted(Protocol):
    """A refutation by calculation: ``value`` is a lower bound on the claim's quantity on a ``pair``, over the reals.

    ``event`` describes outputs that tell its data sets apart, and ``chances`` are their probability on the left, at least, and
    on the right, at most; None if the bound is not that of one event.
    """

    @property
    def pair(self) -> Pair:
        """The pair."""

    @property
    def value(self) -> float:
        """The bound; it may be infinite."""

    @property
    def event(self) -> str:
        """The event in words."""

    @property
    def chances(self) -> tuple[float, float] | None:
        """The event's probabilities."""


class Attempted(Protocol):
    """The result of an attempt at a proof, which ``str`` puts into a sentence.

    ``value`` is an upper bound on the claim's quantity in the ``scope``, for arithmetic in the reals, or None.
    ``asked`` says for which scripts of a session, ``pairs`` how many pairs were listed, ``rule`` names the argument,
    ``reason`` says why the claim is not proved. If the claim is refuted, ``refutation`` is there. ``certificate`` is a proof
    or a refutation that can be checked without the mechanism.
    """

    status: Status
    value: float | None
    scope: Scope
    asked: str | None
    pairs: int | None
    rule: str
    reason: str | None
    refutation: Refuted | None
    certificate: Mapping[str, Any] | None


class Prover(Protocol):
    """The interface of a prover, such as a module with these names."""

    @property
    def CLAIMS(self) -> tuple[type[Claim], ...]:  # noqa: N802 - a constant of a module
        """The types of claims that the prover tries to prove."""

    def attempt(self, mechanism: Mechanism, claim: Claim, domain: Domain, seconds: float) -> Attempted:
        """Try to prove a claim, for so many seconds of processor time."""

    def checked(self, certificate: Any, retrace: bool) -> str:
        """Check a certificate, with ``retrace`` also against the function that it names. Return what it proves.

        Raises ValueError if the certificate does not hold.
        """


def prover() -> Prover | None:
    """Return the first prover that is installed, or None. Raises InvalidInputError if it cannot be loaded."""
    return cast("Prover | None", next(iter(entry_points_of(GROUP).values()), None))
