"""aion-clinical 2.0.7: ``aion.privacy``; a data set is a count, or the list that is counted or averaged."""

from aion.privacy.dp import DPQueryEngine, LaplaceDP, LocalDP, PrivacyBudget


def laplace(data, epsilon):
    return LaplaceDP(epsilon).release(data)


def local(data, epsilon):
    return LocalDP(epsilon).release_local_count(data)


def cohort_count(data, epsilon):
    return DPQueryEngine(PrivacyBudget(epsilon)).cohort_count(len(data)).to_dict()


def mean_value(data, epsilon):
    return DPQueryEngine(PrivacyBudget(epsilon)).mean_value(sum(data) / len(data), len(data), 0.0, 10.0).to_dict()
