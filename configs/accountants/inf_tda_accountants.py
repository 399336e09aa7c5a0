"""inf-tda 0.1. Source: InfTDA/mechanism and differential_privacy.

"contribution: How many tuples a user can contribute at most to the dataset … distinct_tuples: bool - True if each user can
contribute to only distinct tuples" (inf_tda). Each level of the hierarchy gets integer Gaussian noise. A user who is replaced
may move all tuples from one count to another, at each level; distinct ones not at the last, where each has a count of its own.
"""

import math

from InfTDA.differential_privacy import get_rho_from_budget
from InfTDA.mechanism import get_sensitivity
from protocol import Process, Statement, serve


def inf_tda(distinct: bool, contribution: int, levels: int, epsilon: float, delta: float) -> Statement:
    rho = get_rho_from_budget((epsilon, delta))
    # make_gaussian_noise(d_in=sensitivity, rho=rho / T) of the module has this scale
    scale = float(get_sensitivity(contribution, "bounded", distinct) / math.sqrt(2 * rho / levels))

    def counts(moved: int, number: int) -> Process:
        return {"noise": "discrete-gaussian", "scale": scale, "sensitivity": moved, "steps": number}

    if not distinct:
        return delta, counts(contribution, 2 * levels)
    above = [counts(contribution, 2 * (levels - 1))] if levels > 1 else []
    return delta, [*above, counts(1, 2 * contribution)]


serve(inf_tda)
