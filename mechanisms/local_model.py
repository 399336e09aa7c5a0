"""Document 002, "Introduction to differential privacy proofs": mechanisms on a single value.

Slip in the document: its listing of k-RR uses an undefined ``k``, and calls ``random.choice`` on a set, which Python refuses.
Here the possible outputs are 0 … k − 1.
"""

import numpy as np
from numpy.typing import NDArray

from mechanisms.exact.pair import each, truth
from mechanisms.specimens import specimen
from mechanisms.truths import discrete


@truth(each(discrete.kary_randomised_response))
@specimen(1, "002", "ε", "one value of k; any two values", holds=True)
def kary_randomised_response(
    value: int, size: int, rng: np.random.Generator, *, k: int, epsilon: float
) -> NDArray[np.int64]:
    """Return the value, or with probability p = k/(k − 1 + e^ε) a uniform one of the k values.

    P[M(v) = v] / P[M(w) = v] = ((1 − p) + p/k) / (p/k) = e^ε exactly (002, "K-ary randomized response").
    """
    p = k / (k - 1 + np.exp(epsilon))
    return np.where(rng.random(size) <= p, rng.integers(k, size=size), value)


@truth(each(discrete.basic_rappor))
@specimen(2, "002", "ε", "one value of k; any two values", holds=True)
def basic_rappor(value: int, size: int, rng: np.random.Generator, *, k: int, epsilon: float) -> NDArray[np.bool_]:
    """Return the one-hot vector of the value with each of its k bits flipped with probability f/2.

    With f = 2/(1 + e^(ε/2)), the two bits in which two one-hot vectors differ make the ratio
    ((1 − f/2)/(f/2))² = e^ε exactly (002, "RAPPOR"; Erlingsson et al. 2014, the one-time form).
    """
    f = 2 / (1 + np.exp(epsilon / 2))
    bits: NDArray[np.bool_] = rng.random((size, k)) < f / 2
    bits[:, value] ^= True
    return bits
