"""A clipped gradient of JAX Privacy with its noise. The seed is fixed."""

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

pytestmark = pytest.mark.filterwarnings("ignore")  # its dependencies deprecate what it calls
private = library("jax_privacy", "training/jax-privacy")
plans = library("jax_privacy.experimental.execution_plan", "training/jax-privacy")


def loss(params, example):
    return ((example - params) ** 2).sum()


GIVEN = {"stddev": 1.0, "params": np.zeros(4, np.float32), "example": np.zeros(4, np.float32)}


def test_a_clipped_gradient_has_the_claim_of_its_noise_in_clipping_norms() -> None:
    gradient = private.clipped_grad(loss, l2_clip_norm=0.5)
    assert str(planned(gradient, None, None, parameters=GIVEN).claim) == "μ = 0.5"
    with pytest.raises(InvalidInputError, match="give `stddev`, `params` and `example`"):
        planned(gradient, None, None)


def test_a_plan_has_the_claim_of_its_event_and_new_noise_in_each_call() -> None:
    plan = plans.BandMFExecutionPlanConfig.default(
        num_bands=1, iterations=10, noise_multiplier=2.0, epsilon=None, delta=None, sampling_prob=0.1
    ).plan
    adapted = adapt_object(plan, {})
    assert str(adapted.claim) == "μ = 0.5"
    batch = np.zeros((2, 4))
    outputs = [adapted.mechanism(batch, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert outputs[0] == outputs[1] != outputs[2]


def test_the_page_does_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This runs the page's blocks that need the framework, which the test of all pages leaves out."""
    does_what_it_shows(
        "docs/how-to/training", tmp_path, monkeypatch, by="tests/processes/libraries/test_jax_privacy.py"
    )


def test_a_starter_runs_as_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "--step", "jax-privacy"]) == 0
    assert main(["check", "audit.yaml"]) == 0


def test_a_step_of_ones_own_is_audited_from_the_starter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A logistic loss, and noise of twice the clipping norm."""
    monkeypatch.chdir(tmp_path)
    own = {
        "    return jnp.mean((batch - params) ** 2)\n": "    return jnp.mean(jnp.logaddexp(0.0, -batch @ params))\n",
        "l2_clip_norm=0.5": "l2_clip_norm=2.0",
        '{"stddev": 0.5, ': '{"stddev": 4.0, ',
    }
    assert verdicts_of_starter("step", "jax-privacy", tmp_path, own) == {"a step on examples": "no_violation_found"}
