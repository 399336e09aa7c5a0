"""The prover reasons about data sets as a mechanism receives them: with the same type, dtype and nesting."""

import json
from typing import Any, get_args

import numpy as np
import pytest

import auditor
import dp_prover
from auditor.neighbours.pair import Pair, Side
from dp_prover.domains import domains_as_data
from dp_prover.domains.data_sets import made_again, written_data
from dp_prover.errors import NotProvedError
from dp_prover.language.trace import bounds_of, symbols
from dp_prover.models.values import Array
from dp_prover.proving import _require_vectors

COLUMNS = [{"low": 0, "high": 1, "integer": True}, {"choices": [0, 2]}]
WORDS = [{"choices": ["a", "b"]}, {"choices": ["c", "d"]}]
# Domains whose data sets are all listed.
LISTED = {
    "floats in a list": auditor.Records(choices=[0.0, 1.0], size=(0, 3), container="list"),
    "floats in an array": auditor.Records(choices=[0.0, 1.0], size=(0, 3)),
    "integers in a list": auditor.Records((0, 2), integer=True, size=(0, 2), container="list"),
    "integers in an array": auditor.Records((0, 2), integer=True, size=(0, 2)),
    "integers, substituted": auditor.Records(
        (0, 2), integer=True, size=(2, 2), relation="substitute", container="list"
    ),
    "Booleans in a list": auditor.Records(choices=[False, True], size=(0, 2), container="list"),
    "Booleans in an array": auditor.Records(choices=[False, True], size=(0, 2)),
    "texts in a list": auditor.Records(choices=["a", "bb"], size=(0, 2), container="list"),
    "texts in an array": auditor.Records(choices=["a", "bb"], size=(0, 2)),
    "numbers of several types": auditor.Records(choices=[0, 0.5, True], size=(0, 2), container="list"),
    "rows in a list": auditor.Records(choices=[0, 1], columns=2, size=(0, 2), container="list"),
    "rows in an array": auditor.Records(choices=[0, 1], columns=2, size=(0, 2)),
    "columns in a list": auditor.Records(columns=COLUMNS, size=(0, 2), container="list"),
    "columns in an array": auditor.Records(columns=COLUMNS, size=(0, 2)),
    "columns of words in a list": auditor.Records(columns=WORDS, size=(0, 1), container="list"),
    "values": auditor.Value(values=[0, 1.0, True, "a", None]),
    "a range of values": auditor.Value(range=(0, 5)),
    "tuples": auditor.Value(values=[(0, 1), (1, 0)]),
    "lists": auditor.Value(values=[[0, 1], [1, 0], []]),
    "dicts": auditor.Value(values=[{"a": 0}, {"a": 1, "b": [2]}]),
    "dicts by numbers": auditor.Value(values=[{1: 0}, {2: 0}]),
    "numbers of NumPy": auditor.Value(values=[np.float64(0.5), np.int64(1), np.bool_(True)]),
    "arrays": auditor.Value(values=[np.array([0, 1]), np.array([0.5, 1.0])]),
    "lists of arrays": auditor.Value(values=[[np.array([0, 1])], [np.array([0.5])]]),
    "bytes": auditor.Value(values=[b"a", b"b"]),
    "totals": auditor.Totals(cells=2, values=(0, 3), contribution={"l1": 1}),
    "totals that all move": auditor.Totals(cells=2, values=(-1, 1), contribution={"linf": 1}),
}
VECTORS = {
    "integers": auditor.Totals(cells=2, values=(0, 100), contribution={"l1": 1}),
    "numbers": auditor.Totals(cells=2, values=(0, 100), contribution={"l1": 1}, integer=False),
    "people": auditor.Totals(contributions=[[1, 1], [0, 1]], people=(0, 10)),
    "people with fractions": auditor.Totals(contributions=[[0.5, 1], [0, 1]], people=(0, 10)),
    "substituted": auditor.Totals(contributions=[[1, 1], [0, 1]], people=(0, 10), relation="substitute"),
}
# Domains of which only pairs are listed.
OTHERS = {
    "many records": auditor.Records((0.0, 1.0), size=(0, 5), container="list"),
    "many rows": auditor.Records((0.0, 1.0), columns=2, size=(0, 5)),
    "totals by key": auditor.TotalsByKey(["a", "b"], (0, 5), contribution={"l0": 1, "linf": 1}),
    "one number": auditor.OneNumber((0, 9), 2),
    "one float": auditor.OneNumber((0.0, 9.0), 0.5),
    "a part of a domain": auditor.Valid(LISTED["integers in a list"], len),
    "pairs": auditor.Pairs([([0.0, 1], [0.0]), ([(1, 2)], [])]),
    "rows of a frame": auditor.Frame(
        {"a": {"type": "integer", "low": 0, "high": 1}, "b": {"type": "boolean"}}, size=(0, 2)
    ),
    "in L2": auditor.Totals(cells=2, values=(0, 5), contribution={"l2": 1}),
}
DRAWN = 150


def described(value: Any) -> Any:
    """Return the type, dtype, shape and nesting of a value, and its numbers."""
    if isinstance(value, np.ndarray):
        kind = value.dtype.kind if value.dtype.kind == "U" else str(value.dtype)  # the width of texts is not modelled
        return (type(value), kind, value.shape, repr(value.tolist()))
    if isinstance(value, dict):
        return (type(value), *((described(key), described(item)) for key, item in value.items()))
    if isinstance(value, list | tuple):
        return (type(value), *map(described, value))
    return (type(value), repr(value))


def received(domain: Any) -> list[Pair]:
    """Return the pairs that an audit tries: corners, the simplest pairs, and those that are drawn and mutated."""
    rng = np.random.default_rng(3)
    pairs = [*domain.corners(), *domain.simplest()]
    for _ in range(DRAWN):
        pairs.append(domain.random(rng))
        pairs.append(domain.mutate(pairs[-1], rng))
    return pairs


def sides(pairs: Any) -> list[Any]:
    return [pair.dataset(side) for pair in pairs for side in get_args(Side)]


@pytest.mark.parametrize("name", LISTED)
def test_listed_data_sets_are_those_of_the_audit(name: str) -> None:
    domain = LISTED[name]
    listing = domains_as_data.listing_of(domain)
    assert listing.is_whole
    ours = {described(dataset) for dataset in sides(pair for _, _, pair in listing.pairs)}
    theirs = {described(dataset) for dataset in sides(received(domain))}
    assert theirs <= ours
    if name not in ("numbers of several types",):  # too many for all of them to be drawn
        assert len(theirs) > len(ours) / 2


@pytest.mark.parametrize("name", LISTED | OTHERS)
def test_a_certificate_makes_the_same_data_sets_again(name: str) -> None:
    listing = domains_as_data.listing_of((LISTED | OTHERS)[name])
    for dataset in sides(pair for _, _, pair in listing.pairs):
        assert described(made_again(json.loads(json.dumps(written_data(dataset))))) == described(dataset)


@pytest.mark.parametrize("name", OTHERS)
def test_other_domains_are_listed_as_pairs_of_their_own(name: str) -> None:
    listing = domains_as_data.listing_of(OTHERS[name])
    assert not listing.is_whole
    corners = {described(dataset) for dataset in sides(OTHERS[name].corners())}
    assert {described(dataset) for dataset in sides(pair for _, _, pair in listing.pairs)} == corners


@pytest.mark.parametrize("name", VECTORS)
def test_vectors_of_symbols_arrive_as_those_of_the_audit(name: str) -> None:
    domain = VECTORS[name]
    vectors = domains_as_data.vectors_of(domain)
    assert vectors is not None
    ours = symbols(bounds_of(vectors.low, vectors.high), vectors.integer)()
    assert isinstance(ours, Array)
    for dataset in sides(received(domain)):
        assert type(dataset) is np.ndarray and (dataset.dtype, dataset.shape) == (ours.dtype, ours.shape)


def test_a_data_set_of_another_type_ends_the_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    """A domain whose list has another container than the data sets that it hands out is not listed at all."""
    domain = auditor.Records(choices=[0.0, 1.0], size=(0, 2), container="list")
    monkeypatch.setattr(auditor.Records, "as_received", lambda self, left, right: Pair(left, right))
    with pytest.raises(NotProvedError, match="other types"):
        domains_as_data.listing_of(domain)


class Tuples(auditor.Records):
    """Records that arrive as tuples."""

    def _shown(self, left: Any, right: Any, container: str | None = None) -> Pair:
        return Pair(tuple(left), tuple(right))


class Lists(auditor.Value):
    """Values that arrive in a list."""

    def corners(self) -> list[Pair]:
        return [Pair([pair.left], [pair.right]) for pair in super().corners()]


def test_a_domain_that_derives_from_one_is_no_such_domain() -> None:
    for domain in (Tuples(choices=[0, 1], size=(0, 1)), Lists(values=[0, 1])):
        listing = domains_as_data.listing_of(domain)
        assert not listing.is_whole
        assert {described(dataset) for dataset in sides(pair for _, _, pair in listing.pairs)} == {
            described(dataset) for dataset in sides(domain.corners())
        }


@pytest.mark.parametrize("end", [2**53 + 1, 2**60, 2**62])
def test_integers_that_floats_do_not_hold_end_the_attempt(end: int) -> None:
    domain = auditor.Totals(cells=1, values=(0, end), contribution={"l1": 1})
    proof = dp_prover.prove(lambda x, rng: x[0] + rng.laplace(0, 1), auditor.PureDP(1.0), domain)
    assert not proof.holds
    assert "more than 53 bits" in str(proof.reason) or "round the noise away" in str(proof.reason)


def test_minus_zero_among_the_data_ends_the_attempt() -> None:
    vectors = domains_as_data.vectors_of(VECTORS["numbers"])
    assert vectors is not None
    _require_vectors(vectors, [np.array([0.0, 5.0])])
    with pytest.raises(NotProvedError, match=r"−0\.0"):
        _require_vectors(vectors, [np.array([-0.0, 5.0])])
    with pytest.raises(NotProvedError, match="ranges"):
        _require_vectors(vectors, [np.array([0.0, 101.0])])
    with pytest.raises(NotProvedError, match="do not arrive as an array"):
        _require_vectors(vectors, [np.array([0, 5])])


def test_lists_of_records_are_proved_as_lists() -> None:
    """A mechanism that is private for lists is proved, and one that is private for tuples alone is not."""
    domain = auditor.Records(choices=[0.0, 1.0], size=(0, 3), container="list")

    def total(d: Any, rng: Any) -> Any:
        return 0.0 + rng.laplace() if d == () else sum(d) + rng.laplace()

    proof: Any = dp_prover.prove(total, auditor.PureDP(1.0), domain)
    assert proof.proved
    assert proof.certificate["domain"]["forms"] == ["value"]
    assert all(type(made_again(dataset)) is list for dataset in proof.certificate["data"])


@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_frames_are_not_modelled(form: str) -> None:
    pytest.importorskip(form)
    domain = auditor.Frame({"a": {"type": "integer", "low": 0, "high": 1}}, size=(0, 2), form=form)
    proof = dp_prover.prove(lambda d, rng: rng.laplace(), auditor.PureDP(1.0), domain)
    assert not proof.holds
    assert "which is not modelled" in str(proof.reason)
