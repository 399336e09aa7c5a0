"""The result of an attempt: what is proved, for which data sets, or why not."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NoReturn

from auditor.bounds.digits import TOLERANCE, format_rounded_down, format_rounded_up
from auditor.claims import Claim
from auditor.neighbours.pair import Pair, pair_words
from auditor.prover import Scope, Status


@dataclass(frozen=True, slots=True)
class Refutation:
    """A refutation by calculation: an ``event`` tells the data sets of a ``pair`` too well apart.

    ``bound`` is a lower bound on the claim's quantity over the reals, None if it is infinite. ``chances`` are the event's
    probability on the left, at least, and on the right, at most; None if the bound is that of many cells, as for a divergence.
    """

    pair: Pair
    bound: Fraction | None
    event: str
    chances: tuple[float, float] | None = None

    @property
    def value(self) -> float:
        """The bound as a float, rounded down, or infinite."""
        return math.inf if self.bound is None else rounded_down(self.bound)


def status_of(scope: str, reason: str | None) -> Status:
    """Return the status of an attempt. Only a proof for the whole domain is ``proved``."""
    if reason is not None:
        return Status.NOT_PROVED
    return Status.PROVED if scope == Scope.DOMAIN else Status.PROVED_FOR_PAIRS


@dataclass(frozen=True, slots=True)
class Proof:
    """The result of an attempt at a proof.

    ``bound`` is an upper bound on the claim's quantity over the reals, for ``scope``; None without one. ``reason`` says why the
    claim is not proved. ``pair`` and ``event`` show where the proof failed; ``outputs`` are two outputs of that event, which differ
    in the noisy numbers. ``asked`` describes the scripts of a session. ``certificate`` can be checked without the mechanism.

    A claim that is not proved may be refuted. The certificate is then that of the ``refutation``.
    """

    mechanism: str
    claim: Claim
    bound: Fraction | None
    scope: Scope
    rule: str = ""
    reason: str | None = None
    pair: Pair | None = None
    event: str | None = None
    outputs: tuple[Any, Any] | None = field(default=None, repr=False, compare=False)
    pairs: int | None = None
    asked: str | None = None
    refutation: Refutation | None = None
    certificate: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)

    @property
    def status(self) -> Status:
        """The status: "proved", "proved_for_pairs", "not_proved" or "refuted"."""
        return status_of(self.scope, self.reason) if self.refutation is None else Status.REFUTED

    @property
    def proved(self) -> bool:
        """Whether the claim is proved, for all data sets of the domain."""
        return self.status is Status.PROVED

    @property
    def holds(self) -> bool:
        """Whether the claim is proved, for the domain or for listed pairs."""
        return self.reason is None

    def __bool__(self) -> NoReturn:
        """Raise TypeError, since otherwise ``assert prove(...)`` would pass without a proof."""
        raise TypeError(
            f'a proof is neither true nor false; this status is "{self.status}"; write `assert proof.proved`'
        )

    @property
    def value(self) -> float | None:
        """The bound as a float, rounded up."""
        return None if self.bound is None else rounded_up(self.bound)

    def __str__(self) -> str:
        if (refuted := self.refutation) is not None:
            bound = "is infinite" if refuted.bound is None else f"≥ {format_rounded_down(refuted.bound)}"
            return (
                f"refuted: {self.claim.symbol} {bound}, over the reals, on {pair_words(refuted.pair)}: {refuted.event}"
            )
        if self.holds:
            return f"{'proved' if self.proved else 'proved for pairs'}: {self.statement}"
        at = f"; look at {pair_words(self.pair)}" if self.pair is not None else ""
        whole = f"; {self.statement} holds" if self.bound is not None else ""
        return f"not proved: {self.reason}{whole}{at}"

    @property
    def statement(self) -> str:
        """What is proved, in words."""
        count = self.pairs if self.scope is Scope.PAIRS else None
        pairs = None if count is None else "1 pair" if count == 1 else f"{count:,} pairs"
        about = f"for {pairs}" if pairs else f"for {self.scope}"
        scripts = "" if self.asked is None else f", {self.asked}"
        return f"{self.claim.symbol} ≤ {format_rounded_up(self.bound)}, over the reals, {about}{scripts}"


def rounded_up(bound: Fraction) -> float:
    """Round up to the next float."""
    value = float(bound)
    return value if Fraction(value) >= bound else math.nextafter(value, math.inf)


def rounded_down(bound: Fraction) -> float:
    """Round down to the next float."""
    value = float(bound)
    return value if Fraction(value) <= bound else math.nextafter(value, -math.inf)


def within(bound: Fraction, claimed: float) -> bool:
    """Whether a bound is at most the claimed value, up to the rounding of parameters."""
    return bound <= Fraction(claimed) * (1 + TOLERANCE)
