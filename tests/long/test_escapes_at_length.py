"""Faults as they occur in practice, and a leak in every corner of an output, each next to a sound twin that passes."""

import pytest

import auditor
from auditor.interfaces import Domain
from benchmarks._faults_of_people import FAULTS, ONE_MORE, PEOPLE, Fault, released_raw


@pytest.mark.parametrize("is_sound", [False, True], ids=["faulty", "sound"])
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_and_its_sound_twin_passes(name: str, is_sound: bool) -> None:
    case = FAULTS[name]
    result = case.audit(case.sound if is_sound else case.faulty)
    assert result.verdict == ("no_violation_found" if is_sound else "violation"), result.event


def test_gaussian_noise_that_is_too_small_is_a_warning_and_no_violation() -> None:
    small, enough = (lambda d, size, rng, sigma=sigma: len(d) + rng.normal(0, sigma, size) for sigma in (3.0, 6.0))
    case = Fault(small, enough, auditor.ApproximateDP(1.0, 1e-6), settings={"samples": 200_000})
    result = case.audit(case.faulty)
    assert result.verdict == "no_violation_found"
    [warning] = [line for line in result.warnings if "the noise looks Gaussian, and is smaller" in line]
    assert "This does not prove that the claim is violated" in warning
    assert not case.audit(case.sound, planted=0).warnings


@pytest.mark.parametrize(
    ("domain", "once_in", "samples", "times"),
    [
        *((ONE_MORE, once_in, samples, 100) for once_in, samples in ((100, 5_700), (1_000, 66_600), (10_000, 689_000))),
        *(
            (PEOPLE, once_in, samples, 300)
            for once_in, samples in ((100, 16_000), (1_000, 185_000), (10_000, 1_750_000))
        ),
    ],
)
def test_a_rare_release_is_found(domain: Domain, once_in: int, samples: int, times: int) -> None:
    """The release is found with 18 of 20 seeds; at 100 times its rate on a given pair, or 300 times from a domain, with all."""
    case = released_raw(once_in, domain, settings={"samples": samples})
    results = [case.audit(case.faulty, seed) for seed in range(20)]
    assert max(sum(result.outputs.to_dict().values()) for result in results) <= times * once_in
    assert sum(result.verdict == "violation" for result in results) >= 18
