"""The search of an audit: weak effects are found at a distance, and effects that no distance shows are still found."""

import math
from typing import Any

import numpy as np
import pytest

import auditor
from auditor.auditing.ledger import Ledger
from auditor.auditing.pair_search import FoundPair, find_pair, steps_apart
from auditor.auditing.plan import Plan, Settings
from auditor.auditing.sizes import Round
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.sampling import Execution
from auditor.claims import PrivacyClaim
from auditor.interfaces import Domain
from auditor.neighbours.domains import Pairs, Value
from auditor.neighbours.search import ends, path
from auditor.neighbours.totals import Totals

Rng = np.random.Generator
EPSILON = 0.1
SIX = Totals(cells=6, values=(-20, 20), contribution={"linf": 1})


def ledger_of(mechanism: Any, claim: PrivacyClaim, domain: Domain, seed: int) -> Ledger:
    settings = Settings(seed=seed, execution=Execution(workers=1, isolate=False))
    plan = Plan("search", PythonSource("m", function=mechanism), claim, domain, 0.001, settings)
    return Ledger(plan, lambda progress: None)


def found(mechanism: Any, claim: PrivacyClaim, domain: Domain, outputs: int, seed: int) -> tuple[FoundPair, Ledger]:
    drawing = ledger_of(mechanism, claim, domain, seed)
    return find_pair(drawing.plan, Round(0, outputs, 0, drawing.plan.settings.samples, 1.0), drawing, {}), drawing


def compares(totals: Any, size: int, rng: Rng) -> Any:
    """Compare the first total with the last: the loss is EPSILON if they move against each other, and otherwise less or 0."""
    return (rng.random(size) < 1 / (1 + math.exp(-EPSILON / 2 * (totals[0] - totals[-1])))).astype(int)


# It holds with 11 of the first 12 seeds.
@pytest.mark.parametrize("seed", [1])
def test_a_weak_loss_is_found_at_a_distance(seed: int) -> None:
    """With 600 outputs on a pair the standard error of a loss is .08, and .009 for the loss of one step of nine."""
    result, _ = found(compares, auditor.PureDP(EPSILON), SIX, 150_000, seed)
    assert 5 < len(result.path) <= steps_apart(auditor.PureDP(EPSILON)) == 9  # fewer where the range ends
    assert result.pair in result.path
    move = np.subtract(result.pair.right, result.pair.left)
    assert abs(move[0] - move[-1]) == 2, "the cells compared move against each other"


def every_third(totals: Any, size: int, rng: Rng) -> Any:
    """Reveal whether the first total is a multiple of three, which nine steps do not change."""
    return np.full(size, totals[0] % 3 == 0) ^ (rng.random(size) < 0.01)


@pytest.mark.parametrize("seed", [0, 1])
def test_what_the_ends_of_a_path_do_not_show_is_found_on_neighbours(seed: int) -> None:
    domain = Totals(cells=1, values=(0, 1000), contribution={"l1": 1})
    corner = path(domain, domain.corners()[0], 9)
    assert len({total % 3 for total in (*ends(corner).left, *ends(corner).right)}) == 1
    result, _ = found(every_third, auditor.PureDP(EPSILON), domain, 60_000, seed)
    assert not result.path
    assert 0 in {result.pair.left[0] % 3, result.pair.right[0] % 3}


def test_the_step_that_breaks_is_told_from_others_of_its_path() -> None:
    """One of a thousand steps has all of the loss; at a distance nine paths of a thousand show it, on neighbours a single pair."""

    def threshold(totals: Any, size: int, rng: Rng) -> Any:
        return np.full(size, totals[0] >= 500) ^ (rng.random(size) < 0.001)

    domain = Totals(cells=1, values=(0, 1000), contribution={"l1": 1})
    result, _ = found(threshold, auditor.PureDP(EPSILON), domain, 150_000, 1)
    assert sorted((*result.pair.left, *result.pair.right)) == [499, 500]


def peaked(totals: Any, size: int, rng: Rng) -> Any:
    """Reveal the parity of a total, with a loss from 1.2 to 2.8 that is largest at 617."""
    loss = 1.2 + 1.6 * math.exp(-abs(totals[0] - 617) / 60)
    return (rng.random(size) < 1 / (1 + math.exp(-loss / 2 * (1 if totals[0] % 2 else -1)))).astype(int)


# A search that proposes as few new pairs after a refutation as before it ends 47 to 115 from the largest loss at these seeds.
@pytest.mark.parametrize("seed", [6, 8, 9])
def test_after_a_refutation_the_search_climbs_to_a_larger_loss(seed: int) -> None:
    domain = Totals(cells=1, values=(0, 1000), contribution={"l1": 1})
    drawing = ledger_of(peaked, auditor.PureDP(1.0), domain, seed)
    first = find_pair(drawing.plan, Round(0, 2_000, 0, 10_000, 1.0), drawing, {})
    assert abs(first.pair.left[0] - 617) > 100
    climbed = find_pair(drawing.plan, Round(1, 20_000, 0, 10_000, 1.0), drawing, first.looks, refuted=True)
    assert abs(climbed.pair.left[0] - 617) < 30


@pytest.mark.parametrize(
    ("claim", "domain"),
    [
        (auditor.PureDP(1.0), SIX),  # large: neighbours show it
        (auditor.PrivacyProfile([(0.1, 0.01), (0.2, 0.001)]), SIX),  # its excess is not the sum of those of its steps
        (auditor.PureDP(EPSILON), Pairs([((0,) * 6, (1,) * 6)])),
        (auditor.PureDP(EPSILON), Value([(0,) * 6, (1,) * 6, (2,) * 6])),
    ],
)
def test_neighbours_alone_are_looked_at_where_there_is_no_path_or_no_need(claim: PrivacyClaim, domain: Domain) -> None:
    result, _ = found(compares, claim, domain, 30_000, 0)
    assert not result.path


@pytest.mark.parametrize("claim", [auditor.PureDP(EPSILON), auditor.ZeroConcentratedDP(0.005), auditor.GaussianDP(0.1)])
@pytest.mark.parametrize("outputs", [0, 200, 5_000])
def test_no_more_is_spent_than_the_budget(claim: PrivacyClaim, outputs: int) -> None:
    _, drawing = found(compares, claim, SIX, outputs, 3)
    assert drawing.spent.total == drawing.spent.search <= outputs


def test_a_search_draws_about_what_its_stages_have() -> None:
    """It draws no more than its limit, and nearly all of it: stages that are left out leave their outputs to the others."""
    for claim, domain in ((auditor.PureDP(1.0), Value(range=(0, 9))), (auditor.PureDP(EPSILON), SIX)):
        for outputs in (2_000, 20_000):
            _, drawing = found(compares if domain is SIX else noisy_value, claim, domain, outputs, 0)
            assert 0.8 * outputs < drawing.spent.search < 1.05 * outputs


def noisy_value(value: int, size: int, rng: Rng) -> Any:
    return value + rng.laplace(0, 1, size)


def released_beyond(threshold: float) -> Any:
    def count(totals: Any, size: int, rng: Rng) -> Any:
        noisy = totals[0] + rng.laplace(size=size)
        return [number if totals[0] and number > threshold else None for number in noisy.tolist()]

    return count


@pytest.mark.parametrize("seed", range(10))
def test_a_pair_on_which_events_spend_delta_stays_beside_those_that_spend_epsilon(seed: int) -> None:
    """The first person is released at 1.3 times δ, and all other pairs lose ε and no more. Without a place of its own this pair is
    left at some of the seeds.
    """
    mechanism = released_beyond(1 - math.log(2 * 0.013))
    count = Totals(cells=1, values=(0, 10), contribution={"l1": 1})
    pair, _ = found(mechanism, auditor.ApproximateDP(1.0, 0.01), count, 30_000, seed)
    learned_on = [pair.pair, *pair.rivals]
    assert {(0,), (1,)} in [{each.left, each.right} for each in learned_on]
