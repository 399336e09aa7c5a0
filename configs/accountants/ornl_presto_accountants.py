"""ornl-presto 0.1.29. Source: ornl_presto/privacy_mechanisms.py, which loads without PyTorch.

"sensitivity: Sensitivity of the query. delta: Target delta for (epsilon, delta)-DP" (applyDPGaussian). The scale of noise is
that of an output at 0 from a generator whose standard draw is known.
"""

import numpy as np
from protocol import Statement, gaussian, laplace, load_submodules_only, serve, stand_in_for

stand_in_for("torch")
load_submodules_only("ornl_presto")
from ornl_presto import privacy_mechanisms  # noqa: E402


def gaussian_mechanism(sensitivity: float, epsilon: float, delta: float) -> Statement:
    np.random.seed(1)
    standard = np.random.normal()
    np.random.seed(1)
    [output] = privacy_mechanisms.applyDPGaussian([0.0], sensitivity=sensitivity, epsilon=epsilon, delta=delta)
    return epsilon, gaussian(output / standard, sensitivity=sensitivity)


def laplace_mechanism(sensitivity: float, epsilon: float, delta: float) -> Statement:
    np.random.seed(1)
    standard = np.random.laplace()
    np.random.seed(1)
    [output] = privacy_mechanisms.applyDPLaplace([0.0], sensitivity=sensitivity, epsilon=epsilon)
    return epsilon, laplace(output / standard, sensitivity=sensitivity)


serve(gaussian_mechanism, laplace_mechanism)
