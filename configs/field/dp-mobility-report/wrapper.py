"""dp-mobility-report 0.2.11: the noise of its reports; a data set is a count, counts, or the values of trips."""

import numpy as np
import pandas as pd
from stand_ins import load_submodules_only

load_submodules_only("dp_mobility_report", "dp_mobility_report.privacy")
from dp_mobility_report.privacy import diff_privacy  # noqa: E402


def count(data, epsilon):
    return diff_privacy.count_dp(data, epsilon, 1)


def counts(data, epsilon):
    return diff_privacy.counts_dp(np.array(data), epsilon, 1)


def bounds(data, epsilon):
    return [float(bound) for bound in diff_privacy.bounds_dp(np.array(data, float), epsilon, 1)]


def quartiles(data, epsilon):
    return diff_privacy.quartiles_dp(pd.Series(data, dtype=float), epsilon, 1, bounds=(0.0, 10.0))[0].to_list()
