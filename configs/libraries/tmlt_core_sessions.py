"""A privacy accountant of Tumult Core as a session, on a number that is the size of the data set. No Spark is started.

The claim is that of the sequential composition which the accountant was launched with, by its privacy function.
"""

import functools
from typing import Any

import numpy as np
from protocol import Made, played, serve
from tmlt.core.domains.numpy_domains import NumpyIntegerDomain
from tmlt.core.measurements.interactive_measurements import PrivacyAccountant, SequentialComposition
from tmlt.core.measurements.noise_mechanisms import AddGeometricNoise
from tmlt.core.measures import PureDP
from tmlt.core.metrics import AbsoluteDifference
from tmlt.core.utils.exact_number import ExactNumber


@functools.cache
def geometric(alpha: int) -> AddGeometricNoise:
    """Return geometric noise of loss 1/alpha."""
    return AddGeometricNoise(ExactNumber(alpha))


class Counts:
    """An accountant that is asked for noisy sizes."""

    def __init__(self, composition: SequentialComposition, records: list[float]) -> None:
        self.accountant = PrivacyAccountant.launch(composition, np.int64(len(records)))

    @property
    def remaining(self) -> float:
        """The budget that the accountant says is left."""
        return float(self.accountant.privacy_budget.to_float(round_up=True))

    def __call__(self, question: dict[str, Any]) -> int:
        return int(self.accountant.measure(geometric(question["alpha"])))


def accountant(epsilon: int) -> Made:
    composition = SequentialComposition(
        input_domain=NumpyIntegerDomain(),
        input_metric=AbsoluteDifference(),
        output_measure=PureDP(),
        d_in=ExactNumber(1),
        privacy_budget=ExactNumber(epsilon),
    )
    stated = composition.privacy_function(ExactNumber(1))
    return {"epsilon": float(stated.to_float(round_up=True))}, played(lambda records: Counts(composition, records))


serve(accountant)
