"""Claims about deterministic queries, and about the probability of an event."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

from auditor.claims.claim import NOT_BELOW_0, SHARE, Claim
from auditor.errors import InvalidInputError, did_you_mean

# The stricter ones first.
Norm = Literal["l1", "l2", "linf"]


class QueryClaim(Claim):
    """A claim about a deterministic query, in which nothing is random."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Sensitivity(QueryClaim):
    """A query moves by at most ``sensitivity`` between neighbours; a vector in L1, or in the ``norm``: l1, l2 or linf.

    If it answers with a frame, or a list of dicts, that is the number of rows to add and to remove, in any order.

    Raises InvalidInputError unless sensitivity is a finite number of at least 0, and norm one of these.
    """

    quantity: ClassVar[str] = "sensitivity"
    symbol: ClassVar[str] = "sensitivity"
    sensitivity: float = field(metadata=NOT_BELOW_0)
    norm: Norm = "l1"

    def __post_init__(self) -> None:
        QueryClaim.__post_init__(self)
        if self.norm not in get_args(Norm):
            raise InvalidInputError(f'norm is "{self.norm}"; {did_you_mean(str(self.norm), get_args(Norm))}')

    def implies(self, other: Claim) -> bool:
        """See Claim; no vector is longer in L2 than in L1, or longer in L∞ than in L2."""
        if not isinstance(other, Sensitivity):
            return False
        norms = get_args(Norm)
        return norms.index(self.norm) <= norms.index(other.norm) and self.sensitivity <= other.sensitivity

    @classmethod
    def forms(cls) -> tuple[frozenset[str], ...]:
        return frozenset({"sensitivity"}), frozenset({"sensitivity", "norm"})

    def to_dict(self) -> dict[str, Any]:
        """Return the claim as it stands in a configuration; L1 is not named."""
        return {"sensitivity": self.sensitivity} | ({} if self.norm == "l1" else {"norm": self.norm})

    def __str__(self) -> str:
        return f"sensitivity {self.sensitivity:g}" + {"l1": "", "l2": " in L2", "linf": " in L∞"}[self.norm]


@dataclass(frozen=True, slots=True)
class Monotone(QueryClaim):
    """A query never falls when a record is added: f(x') ≤ f(x) for all x' ⊆ x."""

    quantity: ClassVar[str] = "decrease"
    symbol: ClassVar[str] = "fall"
    monotone: bool = True

    def __post_init__(self) -> None:
        if self.monotone is not True:
            raise InvalidInputError(f"monotone is {self.monotone!r}; it must be true")

    def __str__(self) -> str:
        return "monotone"


@dataclass(frozen=True, slots=True)
class Probability(Claim):
    """On every data set the event that the mechanism reports has probability at most, or at least, p.

    Raises InvalidInputError unless 0 ≤ probability ≤ 1 and one of at_most and at_least is true.
    """

    quantity: ClassVar[str] = "probability"
    symbol: ClassVar[str] = "probability"
    probability: float = field(metadata=SHARE)
    at_most: bool = False
    at_least: bool = False

    def __post_init__(self) -> None:
        Claim.__post_init__(self)
        if not (isinstance(self.at_most, bool) and isinstance(self.at_least, bool) and self.at_most != self.at_least):
            raise InvalidInputError("a probability claim needs either at_most: true or at_least: true")

    def excess(self, value: float) -> float:
        """Return by how much a probability is too large; or too small, if it is promised to be large."""
        return value - self.probability if self.at_most else self.probability - value

    def implies(self, other: Claim) -> bool:
        if not isinstance(other, Probability) or self.at_most != other.at_most:
            return False
        return other.excess(self.probability) <= 0

    @classmethod
    def forms(cls) -> tuple[frozenset[str], ...]:
        return frozenset({"probability", "at_most"}), frozenset({"probability", "at_least"})

    def to_dict(self) -> dict[str, Any]:
        return {"probability": self.probability, "at_most" if self.at_most else "at_least": True}

    def __str__(self) -> str:
        return f"probability {'≤' if self.at_most else '≥'} {self.probability:g}"
