"""Clients of pure-ldp: each under its own ε, over all items that it takes.

They draw from their own randomness. A correct client raises a false alarm with probability below 1e-9; a client whose ε was raised
after its claim was read is missed with probability 1e-6.
"""

from collections.abc import Callable
from typing import Any

import pytest
from installed import QUICK, library

import auditor
from auditor.auditing import planned
from auditor.errors import InvalidInputError
from auditor.libraries.pure_ldp import from_pure_ldp

oracles = library("pure_ldp.frequency_oracles", "pure-ldp")
heavy = library("pure_ldp.heavy_hitters", "pure-ldp")
xxhash = library("xxhash", "pure-ldp")

# The library's own warning: it passes a float for an integer.
pytestmark = pytest.mark.filterwarnings("ignore:non-integer arguments:DeprecationWarning")


def hash_to(size: int, seed: int) -> Callable[[Any], int]:
    return lambda item: int(xxhash.xxh32(str(item).encode(), seed=seed).intdigest() % size)


SKETCH = [hash_to(16, seed) for seed in range(4)]
SIGNED = [(hash_to(16, seed), hash_to(2, seed + 99)) for seed in range(4)]
CLIENTS: dict[str, tuple[Callable[[float], Any], str]] = {
    "direct encoding": (lambda e: oracles.DEClient(e, 5), "one integer from 1 to 5"),
    "Hadamard mechanism": (lambda e: oracles.HadamardMechClient(e, 8, 2), "one integer from 1 to 8"),
    "Hadamard response": (lambda e: oracles.HadamardResponseClient(e, 5, None), "one integer from 1 to 5"),
    "histogram encoding": (lambda e: oracles.HEClient(e, 4), "one integer from 1 to 4"),
    "local hashing": (lambda e: oracles.LHClient(e, 5), "one integer from 1 to 5"),
    "optimised local hashing": (lambda e: oracles.LHClient(e, 5, use_olh=True), "one integer from 1 to 5"),
    "fast local hashing": (lambda e: oracles.FastLHClient(e, 5, k=10), "one integer from 1 to 5"),
    "unary encoding": (lambda e: oracles.UEClient(e, 4), "one integer from 1 to 4"),
    "optimised unary encoding": (lambda e: oracles.UEClient(e, 4, use_oue=True), "one integer from 1 to 4"),
    "items from 0": (lambda e: oracles.UEClient(e, 4, index_mapper=lambda item: item), "one integer from 0 to 3"),
    "count mean sketch": (lambda e: oracles.CMSClient(e, SKETCH, 16), "one value of 4"),
    "Hadamard count mean sketch": (lambda e: oracles.CMSClient(e, SKETCH, 16, is_hadamard=True), "one value of 4"),
    "private count sketch": (lambda e: oracles.PCSClient(e, 4, 16, SIGNED), "one value of 4"),
    "sketch of local hashing": (lambda e: oracles.SketchResponseClient(e, 16, SKETCH), "one integer from 1 to 16"),
    "prefix extending": (lambda e: heavy.PEMClient(e, 2, 6, 2), "one value of 4"),
    "tree histogram": (lambda e: heavy.TreeHistClient(e, 2, 6), "one value of 4"),
}


@pytest.mark.parametrize(("make", "neighbours"), CLIENTS.values(), ids=CLIENTS)
def test_a_client_keeps_its_epsilon_on_all_its_items(make: Callable[[float], Any], neighbours: str) -> None:
    plan = planned(make(1.0), None, None)
    assert plan.claim == auditor.PureDP(1.0)
    assert str(plan.neighbours).startswith(neighbours)
    result = auditor.audit(make(1.0), **QUICK)
    assert result.verdict == "no_violation_found", str(result)


FOUND = [
    *("direct encoding", "histogram encoding", "local hashing", "fast local hashing", "unary encoding"),
    *("sketch of local hashing", "prefix extending", "tree histogram"),
]


@pytest.mark.parametrize("name", FOUND)
def test_a_client_with_a_larger_epsilon_is_a_violation(name: str) -> None:
    make, _ = CLIENTS[name]
    assert auditor.audit(make(3.0), auditor.PureDP(1.0), **QUICK).verdict == "violation"


def test_rappor_keeps_each_bit_that_is_set_and_so_has_no_epsilon() -> None:
    """Its `_perturb` only sets bits: a bit of the item that is 1 stays 1, whatever f is (release 1.2.0)."""
    hashes = [[hash_to(8, 0)]]
    client = oracles.RAPPORClient(0.5, 8, hashes, 1)
    assert planned(client, None, None).claim == auditor.PureDP(client.convert_f_to_eps(0.5, 1))
    answers = [client.privatise(1) for _ in range(1000)]
    assert all(bits[hashes[cohort][0]("0")] == 1 for bits, cohort in answers)
    assert auditor.audit(client, **QUICK).verdict == "violation"


def test_what_the_client_does_not_say_is_named_or_asked_for() -> None:
    sketch = CLIENTS["count mean sketch"][0](1.0)
    [text] = planned(sketch, None, None).assumptions
    assert "items = (1, 2, 3, 4)" in text
    assert planned(sketch, None, None, parameters={"items": ["x", "y"]}).assumptions == ()
    words = oracles.DEClient(1.0, 2, index_mapper=["yes", "no"].index)
    with pytest.raises(
        InvalidInputError, match="DEClient needs neighbours; its index mapper takes other items; say `items`"
    ):
        auditor.audit(words, **QUICK)
    assert auditor.audit(words, parameters={"items": ["yes", "no"]}, **QUICK).verdict == "no_violation_found"
    with pytest.raises(InvalidInputError, match="does not privatise"):
        from_pure_ldp(oracles.DEServer(1.0, 2))


def test_workers_have_the_client() -> None:
    make, _ = CLIENTS["direct encoding"]
    result = auditor.audit(make(3.0), auditor.PureDP(1.0), **QUICK | {"workers": 2, "isolate": True})
    assert result.verdict == "violation"
