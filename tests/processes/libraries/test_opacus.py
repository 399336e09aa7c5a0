"""Steps and epochs of Opacus. Seeds are fixed; a sound step raises a false alarm with probability below 1e-9."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from installed import QUICK, library
from pages import does_what_it_shows
from starters import verdicts_of_starter

import auditor
from auditor.adapters import adapt_object
from auditor.auditing import planned
from auditor.cli import main
from auditor.errors import InvalidInputError

torch, opacus = library("torch", "training/opacus"), library("opacus", "training/opacus")
SETTINGS = {**QUICK, "planted": 0}
pytestmark = pytest.mark.filterwarnings("ignore")


def private(outputs: int = 2, norm: Any = 0.5, **more: Any) -> Any:
    torch.manual_seed(0)
    records = torch.utils.data.TensorDataset(torch.zeros(64, 4), torch.ones(64, dtype=torch.long))
    model = torch.nn.Linear(4, outputs)
    return opacus.PrivacyEngine().make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=torch.utils.data.DataLoader(records, batch_size=8, shuffle=True),
        noise_multiplier=2.0,
        max_grad_norm=norm,
        **more,
    )


def test_seeded_seeds_torch_and_restores_it() -> None:
    torch.manual_seed(3)
    expected = [torch.rand(1).item(), torch.rand(1).item()]
    torch.manual_seed(3)
    first, inside = torch.rand(1).item(), []
    for _ in range(2):
        with auditor.seeded(np.random.default_rng(1)):
            inside.append(torch.rand(1).item())
    assert inside[0] == inside[1]
    assert [first, torch.rand(1).item()] == expected


def test_the_claim_of_a_step_is_that_of_its_multiplier() -> None:
    optimizer = private()[1]
    assert str(planned(optimizer, None, None).claim) == "μ = 0.5"
    replaced = planned(optimizer, None, None, parameters={"relation": "substitute"})
    assert str(replaced.claim) == "μ = 1"
    assert any("twice the μ" in sentence for sentence in replaced.assumptions)


def test_a_step_clips_each_gradient_and_leaves_the_optimizer_alone() -> None:
    model, optimizer, _ = private()
    optimizer.noise_multiplier = 0.05  # its noise is 0.025
    weights = [parameter.detach().clone() for parameter in model.parameters()]
    step = adapt_object(optimizer, {}).mechanism
    batch = np.array([[10.0, 0, 0, 0], [10.0, 0, 0, 0], [0.1, 0, 0, 0]])
    released = step(batch, np.random.default_rng(0))
    assert abs(released[0] * 8 - 1.1) < 6 * 0.025
    assert released == step(batch, np.random.default_rng(0)) != step(batch, np.random.default_rng(1))
    assert len(step(batch[:0], np.random.default_rng(0))) == len(released)  # an empty batch
    assert all(torch.equal(old, new) for old, new in zip(weights, model.parameters(), strict=True))


def test_examples_run_through_the_model_and_its_hooks() -> None:
    model, optimizer, _ = private()
    optimizer.noise_multiplier = 0.05  # its noise is 0.025
    given = {"model": model, "criterion": torch.nn.CrossEntropyLoss(), "example": (torch.zeros(4), torch.tensor(1))}
    step = adapt_object(optimizer, given).mechanism
    batch = np.array([[10.0, 0, 0, 0]] * 3)
    released = np.array(step(batch, np.random.default_rng(0))) * 8
    assert np.linalg.norm(released) == pytest.approx(1.5, abs=0.2)  # three gradients of the clipping norm


def test_ghost_clipping_takes_a_loss_of_one_number_for_each_example() -> None:
    for loss, target, outputs, length in (
        (torch.nn.CrossEntropyLoss(), torch.tensor(1), 2, 1.5),
        (torch.nn.BCEWithLogitsLoss(), torch.ones(1), 1, 4.5),  # a column of losses: each gradient counts three times
    ):
        made = private(outputs, grad_sample_mode="ghost", criterion=loss)
        made[1].noise_multiplier = 0.05  # its noise is 0.025
        step = adapt_object(made[2], {"example": (torch.zeros(4), target)}).mechanism
        released = np.array(step(np.array([[10.0, 0, 0, 0]] * 3), np.random.default_rng(0))) * 8
        assert np.linalg.norm(released) == pytest.approx(length, abs=0.2)


@pytest.mark.parametrize(("poisson", "sampling"), [(True, "poisson"), (False, "shuffled")])
def test_an_epoch_draws_as_its_loader_does(poisson: bool, sampling: str) -> None:
    _, optimizer, loader = private(poisson_sampling=poisson)
    domain = planned(optimizer, None, None, parameters={"loader": loader}).neighbours
    assert (domain.loader.sampling, domain.loader.batches or domain.loader.batch_size) == (
        sampling,
        8 if poisson else 4,
    )


def test_a_shuffled_epoch_under_the_claim_of_poisson_batches_is_found() -> None:
    _, optimizer, loader = private(poisson_sampling=False)
    optimizer.noise_multiplier = 1.0
    assert auditor.audit(optimizer, parameters={"loader": loader}, **SETTINGS).verdict == "violation"


def test_what_an_audit_cannot_take_is_said() -> None:
    model, optimizer, _ = private()
    engine = opacus.PrivacyEngine()
    with pytest.raises(InvalidInputError, match="is no optimizer"):
        planned(engine, None, None)
    assert str(planned(engine, None, None, parameters={"optimizer": optimizer}).claim) == "μ = 0.5"
    with pytest.raises(InvalidInputError, match="belong together"):
        planned(optimizer, None, None, parameters={"model": model})
    ghost = private(grad_sample_mode="ghost", criterion=torch.nn.CrossEntropyLoss())[1]
    with pytest.raises(InvalidInputError, match="clips in the model's backward pass"):
        planned(ghost, None, None)
    optimizer.noise_multiplier = 0.0
    with pytest.raises(InvalidInputError, match="nothing is promised"):
        planned(optimizer, None, None)


def test_the_page_does_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This runs the page's blocks that need the framework, which the test of all pages leaves out."""
    does_what_it_shows("docs/how-to/training", tmp_path, monkeypatch, by="tests/processes/libraries/test_opacus.py")


def test_a_starter_runs_as_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "--step", "opacus"]) == 0
    assert main(["check", "audit.yaml"]) == 0


def test_a_training_of_ones_own_is_audited_from_the_starter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small network on images of 36 pixels, whose loader shuffles while its accountant assumes Poisson sampling."""
    monkeypatch.chdir(tmp_path)
    own = {
        "torch.zeros(64, 4)": "torch.zeros(64, 1, 6, 6)",
        "torch.nn.Linear(4, 2)": "torch.nn.Sequential(\n"
        "    torch.nn.Conv2d(1, 2, 3), torch.nn.Tanh(), torch.nn.Flatten(), torch.nn.Linear(32, 2)\n"
        ")",
        "    max_grad_norm=0.5,\n": "    max_grad_norm=1.5,\n    poisson_sampling=False,\n",
    }
    assert verdicts_of_starter("step", "opacus", tmp_path, own) == {
        "a step on gradients": "no_violation_found",
        "a step on examples": "no_violation_found",
        "an epoch": "violation",
    }


def test_gradients_crafted_by_the_auditor_audit_an_epoch_in_one_run() -> None:
    """With a tenth of the noise that is claimed, every canary stands out in its step."""
    torch.manual_seed(0)
    model, loss = torch.nn.Linear(100, 2), {"noise_multiplier": 1.0}
    records = torch.utils.data.TensorDataset(torch.zeros(64, 100), torch.ones(64, dtype=torch.long))
    _, optimizer, loader = opacus.PrivacyEngine().make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=torch.utils.data.DataLoader(records, batch_size=8),
        max_grad_norm=0.5,
        **loss,
    )
    canaries = auditor.Canaries.crafted(200, 0.5, apart=True)
    settings: dict[str, Any] = {"method": "one-run", "workers": 1, "isolate": False, "seed": 1}
    sound = auditor.audit(optimizer, neighbours=canaries, parameters={"loader": loader}, **settings)
    assert sound.verdict == "no_violation_found"
    optimizer.noise_multiplier = 0.1  # the claim stays that of 1.0
    faulty = auditor.audit(optimizer, sound.claim, canaries, parameters={"loader": loader}, **settings)
    assert faulty.verdict == "violation"
