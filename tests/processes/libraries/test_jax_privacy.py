"""A clipped gradient of JAX Privacy with its noise. The seed is fixed."""

from pathlib import Path

import numpy as np
import pytest
from installed import library
from pages import blocks_that_import

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
    """This runs the page's block that needs the framework, which the test of all pages leaves out."""
    [block] = blocks_that_import("docs/how-to/training", "jax_privacy")
    monkeypatch.chdir(tmp_path)
    exec(compile(block.text, "training.md", "exec"), {})


def test_a_starter_runs_as_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "--step", "jax-privacy"]) == 0
    assert main(["check", "audit.yaml"]) == 0
