"""Clients of pure-ldp: the local model, so any two items are neighbours, and the claim is the client's ε."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from auditor.adapters.adapted import Adapted, what_was_chosen
from auditor.claims import PureDP
from auditor.errors import InvalidInputError
from auditor.neighbours.domains import Domain, Value

# Items of a client that hashes whatever it is given.
SOME_ITEMS = (1, 2, 3, 4)
MOST_HASHED = 16


def from_pure_ldp(client: Any, *, items: Sequence[Any] | None = None) -> Adapted:
    """Adapt a client of a frequency oracle or of heavy hitters.

    Args:
        client: the client.
        items: the items that are tried; by default all that the client's size and its index mapper allow.

    Raises InvalidInputError for what is not a client.
    """
    if not hasattr(client, "privatise"):
        raise InvalidInputError(f"{type(client).__name__} of pure-ldp does not privatise; give a client")
    chosen = dict[str, Any]()
    neighbours: Domain | None
    if items is not None:
        neighbours = Value(items)
    elif hasattr(client, "alphabet"):
        neighbours = Value(_words(client))
    elif (d := getattr(client, "d", None)) is None:
        chosen["items"] = SOME_ITEMS
        neighbours = Value(SOME_ITEMS)
    else:
        neighbours = _all_items(client, d)
    epsilon = _epsilon(client)
    return Adapted(
        Privatised(client, _hashed(client, neighbours)),
        None if epsilon is None else PureDP(epsilon),
        neighbours,
        what_was_chosen("pure-ldp", chosen),
        "the client has no epsilon; give a claim" if neighbours else "its index mapper takes other items; say `items`",
    )


@dataclass(frozen=True, slots=True)
class Privatised:
    """What a client answers on an item.

    Local hashing answers with a seed and a hash. Anybody can compute which of ``hashed`` have that hash, so this is added.
    """

    client: Any
    hashed: tuple[Any, ...] = ()

    def __call__(self, item: Any) -> Any:
        answer = self.client.privatise(item)
        if self.hashed:
            value, seed = answer
            return value, seed, [self._hash(other, seed) == value for other in self.hashed]
        # An iterator, which some clients return, shows nothing of what it holds.
        return list(answer) if isinstance(answer, zip) else answer

    def _hash(self, item: Any, seed: int) -> int:
        """Return the hash of an item, as LHClient and its server compute it."""
        text = str(self.client.index_mapper(item))
        return int(import_module("xxhash").xxh32(text, seed=seed).intdigest() % self.client.g)


def _hashed(client: Any, neighbours: Domain | None) -> tuple[Any, ...]:
    """Return the items to look for in an answer of local hashing; none of other clients."""
    if not any(base.__name__ == "LHClient" for base in type(client).__mro__) or neighbours is None:
        return ()
    values = (value for pair in neighbours.corners() for value in (pair.left, pair.right))
    return tuple(dict.fromkeys(values))[:MOST_HASHED]


def _epsilon(client: Any) -> float | None:
    """Return ε; that of RAPPOR, which has a probability instead, as RAPPOR itself converts it."""
    if hasattr(client, "convert_f_to_eps"):
        return float(client.convert_f_to_eps(client.f, len(client.hash_family[0])))
    return getattr(client, "epsilon", None)


def _all_items(client: Any, d: int) -> Domain | None:
    """Return the d integers that the client's mapper takes to 0 … d − 1, from 1 or from 0 on; None if it takes neither."""
    for first in (1, 0):
        last = first + d - 1
        try:
            if (client.index_mapper(first), client.index_mapper(last)) == (0, d - 1):
                return Value(range=(first, last))
        except Exception:  # a mapper of the user's, for other items
            return None
    return None


def _words(client: Any) -> list[str]:
    """Return words of the whole length: of one letter, and of one letter but for the first or the last."""
    letters, n = list(client.alphabet), int(client.max_string_length)
    one, other = letters[0], letters[-1]
    return list(dict.fromkeys([one * n, other * n, other + one * (n - 1), one * (n - 1) + other]))
