"""pure-ldp's clients. In the local model any two items are neighbours, and the claim is the client's ε."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from auditor.adapters import Adapted
from auditor.claims import PureDP
from auditor.errors import InvalidInputError
from auditor.interfaces import Domain
from auditor.libraries.adapting import note_chosen_values
from auditor.neighbours.domains import Value

# The items tried with a client that accepts any item.
SOME_ITEMS = (1, 2, 3, 4)
MOST_HASHED = 16  # items that are looked for in an answer


def from_pure_ldp(client: Any, *, items: Sequence[Any] | None = None) -> Adapted:
    """Adapt a client of a frequency oracle or of heavy hitters.

    Args:
        client: the client.
        items: the items that are tried; by default all that the client's size and its index mapper allow.

    Raises InvalidInputError for an object that is not a client.
    """
    if not hasattr(client, "privatise"):
        raise InvalidInputError(f"{type(client).__name__} of pure-ldp does not privatise; give a client")
    chosen = dict[str, Any]()
    neighbours: Domain | None
    if items is not None:
        neighbours = Value(items)
    elif hasattr(client, "alphabet"):
        # Words of full length, whose letters are all equal, or all but the first or the last.
        letters, n = list(client.alphabet), int(client.max_string_length)
        first, last = letters[0], letters[-1]
        words = [first * n, last * n, last + first * (n - 1), first * (n - 1) + last]
        neighbours = Value(list(dict.fromkeys(words)))
    elif (d := getattr(client, "d", None)) is None:
        neighbours = Value(chosen.setdefault("items", SOME_ITEMS))
    else:
        neighbours = _integer_items(client, d)
    epsilon = getattr(client, "epsilon", None)
    if hasattr(client, "convert_f_to_eps"):  # a client of RAPPOR has a probability instead
        epsilon = float(client.convert_f_to_eps(client.f, len(client.hash_family[0])))
    values = (value for pair in (neighbours.corners() if neighbours else ()) for value in (pair.left, pair.right))
    return Adapted(
        Privatiser(client, tuple(dict.fromkeys(values))[:MOST_HASHED]),
        None if epsilon is None else PureDP(epsilon),
        neighbours,
        note_chosen_values("pure-ldp", chosen),
        "the client has no epsilon; give a claim" if neighbours else "its index mapper takes other items; say `items`",
    )


@dataclass(frozen=True, slots=True)
class Privatiser:
    """A client as a function of an item.

    Local hashing answers with a hash and a seed. The output adds which ``items`` have this hash: all can compute it.
    """

    client: Any
    items: tuple[Any, ...] = ()

    def __call__(self, item: Any) -> Any:
        answer = self.client.privatise(item)
        # Some clients return an iterator, whose text does not show its items.
        answer = list(answer) if isinstance(answer, zip) else answer
        fits = [
            [hash_item(inner, key, seed) == value for key in hashed]
            for inner, (value, seed), hashed in _hashings(self.client, self.items, answer)
        ]
        return (answer, fits) if fits else answer


Hashing = tuple[Any, tuple[int, int], list[Any]]


def _hashings(client: Any, items: Sequence[Any], answer: Any) -> Iterator[Hashing]:
    """Yield each local hashing in an answer: the client, its hash and seed, and what it hashes of each item."""
    if _is_local_hashing(client):
        yield client, answer, list(items)
    elif hasattr(client, "fragment_estimator"):  # the tree histogram hashes a prefix of the word, and the word
        words = [client._pad_string(item) for item in items]
        lengths = range(client.fragment_length, client.max_string_length + 1, client.fragment_length)
        starts = [word[:n] + client.padding_char * (client.max_string_length - n) for word in words for n in lengths]
        for inner, given, hashed in zip(
            (client.fragment_estimator, client.word_estimator), answer, (starts, words), strict=True
        ):
            if _is_local_hashing(inner):
                yield inner, given, hashed
    elif _is_local_hashing(getattr(client, "client", None)) and hasattr(client, "start_length"):  # prefix extending
        given, group = answer
        length = client.start_length + (group + 1) * client.fragment_length
        yield client.client, given, [client._pad_string(item)[:length] for item in items]
    elif _is_local_hashing(getattr(client, "client", None)) and not client.count_sketch:  # a sketch
        given, place = answer
        yield client.client, given, [client.hash_funcs[place](client.index_mapper(item)) for item in items]


def _is_local_hashing(client: Any) -> bool:
    return any(base.__name__ == "LHClient" for base in type(client).__mro__)


def hash_item(client: Any, item: Any, seed: int) -> int:
    """Return the hash of an item, as LHClient and its server compute it."""
    text = str(client.index_mapper(item)).encode()  # xxhash 4 takes no str, and hashes these bytes as xxhash 3 the str
    return int(import_module("xxhash").xxh32(text, seed=seed).intdigest() % client.g)


def _integer_items(client: Any, d: int) -> Domain | None:
    """Return the d integers, from 1 or from 0, that the client maps to 0 … d − 1. Return None if it maps neither."""
    for first in (1, 0):
        last = first + d - 1
        try:
            if (client.index_mapper(first), client.index_mapper(last)) == (0, d - 1):
                return Value(range=(first, last))
        except Exception:  # the user's mapper takes other items
            return None
    return None
