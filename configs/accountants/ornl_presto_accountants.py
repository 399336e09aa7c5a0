"""ornl-presto 0.1.29. Source: ornl_presto/privacy_mechanisms, which loads without PyTorch.

"sensitivity: Sensitivity of the query. delta: Target delta for (epsilon, delta)-DP" (applyDPGaussian).
"""

from unittest import mock

from protocol import Statement, gaussian, laplace, load_submodules_only, serve, stand_in_for

stand_in_for("torch")
load_submodules_only("ornl_presto")
from ornl_presto import privacy_mechanisms  # noqa: E402


def gaussian_mechanism(sensitivity: float, epsilon: float, delta: float) -> Statement:
    with mock.patch("numpy.random.normal", return_value=[0.0]) as draw:
        privacy_mechanisms.applyDPGaussian([0.0], sensitivity=sensitivity, epsilon=epsilon, delta=delta)
    scale = float(draw.call_args.args[1])
    return scale, gaussian(scale, sensitivity=sensitivity)


def laplace_mechanism(sensitivity: float, epsilon: float, delta: float) -> Statement:
    with mock.patch("numpy.random.laplace", return_value=[0.0]) as draw:
        privacy_mechanisms.applyDPLaplace([0.0], sensitivity=sensitivity, epsilon=epsilon)
    scale = float(draw.call_args.args[1])
    return scale, laplace(scale, sensitivity=sensitivity)


serve(gaussian_mechanism, laplace_mechanism)
