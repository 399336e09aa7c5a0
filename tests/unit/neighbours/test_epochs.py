"""Batches as loaders draw them: which records take part, by the definition of each sampling."""

import math

import numpy as np
import pytest

import auditor
from auditor import Epoch, Records, Valid, Vectors
from auditor.auditing import planned
from auditor.blackbox.epochs import InBatches
from auditor.blackbox.mechanism import signature_of
from auditor.errors import InvalidInputError, MechanismError
from auditor.neighbours.epochs import Loader
from auditor.neighbours.pair import check_neighbours, relation_named


def places(loader: Loader, n: int, seed: int = 0) -> list[list[int]]:
    return [batch.tolist() for batch in loader.places(n, np.random.default_rng(seed))]


def test_shuffled_batches_hold_each_record_once_in_each_epoch() -> None:
    drawn = places(Loader("shuffled", batch_size=3, epochs=2), 8)
    assert [len(batch) for batch in drawn] == [3, 3, 2, 3, 3, 2]
    for epoch in (drawn[:3], drawn[3:]):
        assert sorted(place for batch in epoch for place in batch) == [*range(8)]
    assert drawn[:3] != drawn[3:]


def test_a_last_batch_that_is_not_full_is_dropped() -> None:
    loader = Loader("ordered", batch_size=3, drop_last=True)
    assert places(loader, 8) == [[0, 1, 2], [3, 4, 5]]
    assert places(loader, 9)[-1] == [6, 7, 8]
    assert places(loader, 2) == []


def test_poisson_batches_have_their_own_coins() -> None:
    """Of 4,000 × 40 coins of 1/4, a share further than 6 standard errors from it has a probability below 1e-8."""
    drawn = places(Loader("poisson", batches=4, epochs=10), 4_000)
    assert len(drawn) == 40
    shares = [len(batch) / 4_000 for batch in drawn]
    assert abs(np.mean(shares) - 0.25) < 6 * math.sqrt(0.25 * 0.75 / 160_000)
    both = len({*drawn[0]} & {*drawn[1]}) / 4_000
    assert abs(both - 1 / 16) < 6 * math.sqrt(1 / 16 / 4_000)


def test_batches_of_a_fixed_size_have_no_record_twice() -> None:
    drawn = places(Loader("fixed", batches=50, batch_size=3), 7)
    assert all(len(batch) == len({*batch}) == 3 for batch in drawn)
    assert {place for batch in drawn for place in batch} == {*range(7)}
    assert places(Loader("fixed", batches=2, batch_size=9), 4) != [[0, 1, 2, 3]] * 2  # all that there are


def test_batches_have_the_container_of_the_data() -> None:
    rng = np.random.default_rng(0)
    loader = Loader("ordered", batch_size=2)
    assert loader.draw([1, 2, 3], rng) == [[1, 2], [3]]
    assert [batch.tolist() for batch in loader.draw(np.arange(3), rng)] == [[0, 1], [2]]
    assert loader.draw([], rng) == []


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"sampling": "random"}, "sampling is"),
        ({"sampling": "poisson"}, "batches is missing"),
        ({"sampling": "shuffled"}, "batch_size is missing"),
        ({"sampling": "poisson", "batches": 4, "batch_size": 2}, "has none; leave it out"),
        ({"sampling": "shuffled", "batch_size": 0}, "from 1 to"),
        ({"sampling": "shuffled", "batch_size": 2, "epochs": True}, "from 1 to"),
        ({"sampling": "poisson", "batches": 4, "drop_last": True}, "drop_last is True"),
    ],
)
def test_impossible_loaders_are_refused(arguments: dict, text: str) -> None:
    with pytest.raises(InvalidInputError, match=text):
        Loader(**arguments)


BASES = [Vectors(2, 1.0, size=(0, 4)), Records((0, 1), size=(3, 3), relation="substitute", container="list")]


@pytest.mark.parametrize("base", BASES, ids=str)
def test_pairs_are_those_of_the_domain_inside(base: Records) -> None:
    domain, rng = Epoch(base, batch_size=2), np.random.default_rng(0)
    drawn = [domain.random(rng) for _ in range(10)]
    for pair in [*domain.corners(), *domain.simplest(), *drawn, *(domain.mutate(pair, rng) for pair in drawn)]:
        check_neighbours(pair.left, pair.right, relation_named(base.relation))
        simpler = next(domain.simpler(pair), None)
        assert simpler is None or "auditor.Epoch(" in simpler.call()
    assert [pair.key() for pair in domain.corners()] == [pair.key() for pair in base.corners()]
    pair = domain.corners()[0]
    again = eval(pair.call(), {"auditor": auditor, "numpy": np})
    assert again.loader == domain.loader
    assert again.corners()[0].key() == pair.key()
    written = pair.to_dict()
    assert domain.own(written["left"], written["right"]) is not None


def test_a_run_gets_batches_and_a_generator_if_it_takes_one() -> None:
    wrapped = InBatches(Loader("shuffled", batch_size=2))(lambda batches: [len(batch) for batch in batches], "run")
    assert [*signature_of(wrapped, "run").parameters] == ["batches", "rng"]
    assert wrapped([1, 2, 3], rng=np.random.default_rng(0)) == [2, 1]
    with_rng = InBatches(Loader("shuffled", batch_size=2))(lambda batches, rng, scale: rng.normal() * scale, "run")
    assert [*signature_of(with_rng, "run").parameters] == ["batches", "rng", "scale"]
    assert with_rng([1], rng=np.random.default_rng(0), scale=0.0) == 0.0


def test_a_run_of_many_outputs_is_refused() -> None:
    wrapped = InBatches(Loader("shuffled", batch_size=2))(lambda batches, size, rng: batches, "run")
    with pytest.raises(MechanismError, match="each output has its own batches"):
        signature_of(wrapped, "run")


def test_a_program_gets_no_batches() -> None:
    domain = Epoch([([1, 2], [1])], batch_size=1)
    with pytest.raises(InvalidInputError, match="is a program"):
        auditor.audit(auditor.Command(["node"]), auditor.PureDP(1.0), domain)


def test_batches_are_drawn_of_valid_data_sets_too() -> None:
    domain = Valid(Epoch(BASES[0], batch_size=2), lambda records: len(records) > 0)
    plan = planned(lambda batches, rng: len(batches), auditor.PureDP(1.0), domain)
    sample = plan.source.drawer().function  # type: ignore[attr-defined]
    assert sample(np.ones((3, 2)), rng=np.random.default_rng(0)) == 2


def test_batches_of_batches_and_of_dialogues_are_refused() -> None:
    epoch = Epoch(BASES[1], batch_size=2)
    for base in (epoch, Valid(epoch, lambda records: True), auditor.Dialogues(BASES[1], ["count"])):
        with pytest.raises(InvalidInputError, match="must be a domain of records"):
            Epoch(base, batch_size=2)
    with pytest.raises(InvalidInputError, match="a session takes data sets"):
        planned(lambda dataset, rng: dataset, auditor.PureDP(1.0), auditor.Dialogues(epoch, ["count"]))
