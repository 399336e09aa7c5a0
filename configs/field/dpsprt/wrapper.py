"""dpsprt 1.2.0: the decision of a test and when it stopped."""

import numpy as np
from dpsprt.core import algorithms


def test(data, name, epsilon, **more):
    run = getattr(algorithms, name)
    decision, stopped, _ = run(np.array(data, float), 0.3, 0.7, 0.4, 0.4, epsilon, **more)
    return [int(decision), int(stopped)]
