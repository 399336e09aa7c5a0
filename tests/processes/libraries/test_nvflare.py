"""The sparse vector technique of the filter of NVIDIA FLARE. Seeds are fixed."""

import numpy as np
import pytest
from installed import library

from auditor.adapters import adapt_object
from auditor.auditing import planned
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


def test_a_filter_without_noise_has_no_claim() -> None:
    with pytest.raises(InvalidInputError, match="promises nothing"):
        planned(percentile.PercentilePrivacy(), None, None)
