"""What the adapters of training share: exact claims, and sentences on relations."""

from typing import Any, Literal

from auditor.claims import Claim
from auditor.errors import InvalidInputError
from auditor.exact import Gaussian, Laplace, Process
from auditor.exact.process import Sampling
from auditor.libraries.stated import claim_of_process
from auditor.neighbours.pair import Relation, relation_named

ReleaseKind = Literal["sum", "mean"]
# Defaults for what no object says: coordinates of a vector, gradients in a batch, clients in a round.
CELLS, BATCH = 4, (0, 4)


def claim_of_noise(
    noise: Gaussian | Laplace, relation: Relation, what: str, sampling: Sampling | None = None, steps: int = 1
) -> Claim:
    """Return the exact claim of noise in units of the clipping norm. Under substitution the answers lie two norms apart."""
    return claim_of_process(Process(noise, 1.0, relation.value, sampling, steps), None, what)  # type: ignore[arg-type]


def relation_or(given: str | None, usual: Relation) -> Relation:
    """Return the relation that the user gives, or else the usual one."""
    return usual if given is None else relation_named(given)


def relation_note(name: str, relation: Relation, *, of: ReleaseKind, multiplier: str) -> tuple[str, ...]:
    """Return a sentence on the relation that a noise multiplier is for, if the code releases what has another one.

    A multiplier is a standard deviation in clipping norms: how far a record that comes or goes moves a sum. The mean over a fixed
    number of replies has no neighbours of that kind: one is replaced, which moves it twice as far.
    """
    if of == "sum":
        if relation is Relation.ADD_REMOVE:
            return ()
        return (
            f"{name} scales its noise by {multiplier} for a record that comes or goes; one that is replaced moves the sum twice as "
            "far, so twice the μ is claimed here",
        )
    if relation is Relation.SUBSTITUTE:
        return (
            f"{name} scales its noise by {multiplier}, as for a client that comes or goes, but releases the mean of a fixed number "
            "of replies, in which a client is replaced and moves it twice as far: twice the μ is claimed here. With `relation: "
            "add_remove` the claim that the multiplier suggests is audited",
        )
    return (
        f"{name} releases the mean of the replies that came; under add_remove their number differs between neighbours, while its "
        f"noise, {multiplier}, is scaled for one of the sum",
    )


def require_positive(name: str, value: Any, what: str) -> float:
    """Return a number above 0. Raises InvalidInputError that says that ``what`` promises nothing without it."""
    number = float(value)
    if not number > 0:
        raise InvalidInputError(
            f"{name} of {what} is {number:g}, so nothing is promised; without noise there is no claim"
        )
    return number


def vectors_changed(dataset: Any) -> bool:
    """Whether no vector is zero: no client replies with the model that it got."""
    return bool((dataset != 0).any(axis=1).all())


def clients_changed(dataset: Any) -> bool:
    """Whether no vector is zero, where the last column is a weight."""
    return vectors_changed(dataset[:, :-1])
