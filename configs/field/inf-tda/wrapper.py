"""inf-tda 0.1: the data set that is released of two-part tuples; a data set is the number of tuples of each of four kinds."""

import InfTDA
import pandas as pd

KINDS = pd.MultiIndex.from_product([["a", "b"], ["x", "y"]])


def release(data, epsilon, delta, contribution, distinct):
    private = InfTDA.inf_tda(
        pd.Series(data, index=KINDS, dtype="int32"), (epsilon, delta), contribution, distinct_tuples=distinct
    )
    return {"".join(kind): int(number) for kind, number in private.items()}
