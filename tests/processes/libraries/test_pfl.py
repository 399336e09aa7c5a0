"""pfl's mechanisms at the server and at the client. Seeds are fixed; a sound one raises a false alarm with probability < 1e-9."""

from pathlib import Path

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

library("pfl", "training/pfl")
gaussian = library("pfl.privacy.gaussian_mechanism", "training/pfl").GaussianMechanism
laplace = library("pfl.privacy.laplace_mechanism", "training/pfl").LaplaceMechanism
joint = library("pfl.privacy.joint_mechanism", "training/pfl").JointMechanism
adaptive = library("pfl.privacy.adaptive_clipping", "training/pfl").AdaptiveClippingGaussianMechanism
clipping = library("pfl.privacy.privacy_mechanism", "training/pfl").NormClippingOnly

SETTINGS = {**QUICK, "planted": 0}


def test_each_mechanism_has_the_claim_of_its_noise() -> None:
    both = joint({"one": (gaussian(1.0, 2.0), ["a"]), "other": (gaussian(1.0, 2.0), ["b"])})
    adapting = adaptive(lambda bound: gaussian(bound, 0.5), 1.0, 2.0, 0.5)
    claims = [str(planned(each, None, None).claim) for each in (gaussian(3.0, 0.5), laplace(3.0, 0.5), adapting)]
    assert claims == ["μ = 2", "ε = 0.5", "μ = 2"]
    assert str(planned(both, None, None).claim) == "μ = 0.707107"
    assert str(planned(gaussian(3.0, 0.5), None, None, parameters={"relation": "substitute"}).claim) == "μ = 4"


def test_a_cohort_is_clipped_and_added_up() -> None:
    mechanism = adapt_object(gaussian(1.0, 1e-2), {}).mechanism
    cohort = np.array([[10.0, 0, 0, 0], [0, 10.0, 0, 0], [0, 0.5, 0, 0]])
    released = mechanism(cohort, np.random.default_rng(0))
    assert np.abs(np.array(released) - [1, 1.5, 0, 0]).max() < 0.1
    assert released == mechanism(cohort, np.random.default_rng(0)) != mechanism(cohort, np.random.default_rng(1))


def test_mechanisms_that_share_their_seed_are_found() -> None:
    both = joint({"one": (gaussian(1.0, 1.0), ["a"]), "other": (gaussian(1.0, 1.0), ["b"])})
    assert auditor.audit(both, **SETTINGS).verdict == "violation"


def test_noise_for_one_bound_at_the_client_is_found() -> None:
    result = auditor.audit(laplace(1.0, 1.0), parameters={"local": True}, **SETTINGS)
    assert (result.verdict, str(result.claim)) == ("violation", "ε = 1")


def test_gaussian_noise_at_the_server_passes() -> None:
    result = auditor.audit(gaussian(1.0, 1.0), **{**SETTINGS, "samples": 3_000, "search": 1_000})
    assert result.verdict == "no_violation_found"


def test_clipping_alone_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="is not known"):
        planned(clipping(2, 1.0), None, None)


def test_the_page_does_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This runs the page's blocks that need the framework, which the test of all pages leaves out."""
    does_what_it_shows("docs/how-to/training", tmp_path, monkeypatch, by="tests/processes/libraries/test_pfl.py")


def test_a_starter_runs_as_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "--round", "pfl"]) == 0
    assert main(["check", "audit.yaml"]) == 0


OF_STARTER = "mechanism = GaussianMechanism(clipping_bound=1.0, relative_noise_stddev=1.0)\n"
# Noise for an (ε, δ); and two parts of an update, whose noise is the same, since they share their seed.
SOUND = "mechanism = GaussianMechanism.construct_single_iteration(2.0, 4.0, 1e-3)\n"
FAULTY = (
    "from pfl.privacy.joint_mechanism import JointMechanism\n\n"
    "part = GaussianMechanism(clipping_bound=1.0, relative_noise_stddev=1.0)\n"
    'mechanism = JointMechanism({"one": (part, ["a"]), "other": (part, ["b"])})\n'
)


@pytest.mark.parametrize(("own", "verdict"), [(SOUND, "no_violation_found"), (FAULTY, "violation")])
def test_a_mechanism_of_ones_own_is_audited_from_the_starter(
    own: str, verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert verdicts_of_starter("round", "pfl", tmp_path, {OF_STARTER: own}) == {"noise at the server": verdict}
