"""The sparse vector technique of the filter of NVIDIA FLARE. Seeds are fixed."""

import pickle
import threading
from pathlib import Path

import numpy as np
import pytest
from installed import library
from pages import does_what_it_shows
from starters import verdicts_of_starter

from auditor.adapters import adapt_object
from auditor.auditing import planned
from auditor.cli import main
from auditor.errors import InvalidInputError

library("nvflare", "training/nvflare")
svt = library("nvflare.app_common.filters.svt_privacy", "training/nvflare")
percentile = library("nvflare.app_common.filters.percentile_privacy", "training/nvflare")


def filtered() -> object:
    return svt.SVTPrivacy(fraction=0.5, epsilon=1.0, noise_var=0.25, gamma=1.0, tau=0.5)


def test_the_claim_is_what_the_accountant_of_the_filter_adds_up() -> None:
    plan = planned(filtered(), None, None)
    assert str(plan.claim) == "ε = 1.5"  # two of four numbers are released
    assert plan.neighbours.relation == "substitute"


def test_calls_repeat_by_the_seed() -> None:
    mechanism = adapt_object(filtered(), {}).mechanism
    update = np.array([[10.0, -10.0, 0.0, 0.5]])
    sent = [mechanism(update, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert sent[0] == sent[1] != sent[2]
    assert [sum(number != 0 for number in each) <= 2 for each in sent] == [True] * 3  # half of four numbers


def test_a_filter_is_sent_to_other_processes_with_new_locks() -> None:
    given = filtered()
    given.first, given.second = threading.Lock(), threading.RLock()  # type: ignore[attr-defined]
    mechanism = adapt_object(given, {}).mechanism
    sent = pickle.loads(pickle.dumps(mechanism))
    update = np.array([[10.0, -10.0, 0.0, 0.5]])
    assert sent(update, np.random.default_rng(1)) == mechanism(update, np.random.default_rng(1))
    assert not given.first.locked()  # type: ignore[attr-defined]


def test_a_filter_without_noise_has_no_claim() -> None:
    with pytest.raises(InvalidInputError, match="promises nothing"):
        planned(percentile.PercentilePrivacy(), None, None)


def test_the_page_does_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This runs the page's blocks that need the framework, which the test of all pages leaves out."""
    does_what_it_shows("docs/how-to/training", tmp_path, monkeypatch, by="tests/processes/libraries/test_nvflare.py")


def test_a_starter_runs_as_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "--round", "nvflare"]) == 0
    assert main(["check", "audit.yaml"]) == 0


def test_a_filter_of_ones_own_is_audited_from_the_starter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """2.7.2 clips after the noise only, and an update of 10 shows through it; later versions pass."""
    monkeypatch.chdir(tmp_path)
    own = {
        "sent = SVTPrivacy(fraction=0.25, epsilon=1.0, noise_var=1.0, gamma=1.0, tau=0.5)\n": "sent = SVTPrivacy("
        "fraction=0.5, epsilon=0.5, noise_var=0.25, gamma=0.5, tau=0.25)\n"
    }
    sound = hasattr(filtered(), "get_privacy_spent")
    verdict = "no_violation_found" if sound else "violation"
    assert verdicts_of_starter("round", "nvflare", tmp_path, own) == {"an update as it is sent": verdict}
