"""PrivBayes of DataSynthesizer, on binary columns; the claim is the ε that it is given.

The library takes the values of a column from the data, so public rows with both values of each column come first.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "configs" / "libraries"))

import pandas as pd
from DataSynthesizer.lib.PrivBayes import get_noisy_distribution_of_attributes
from protocol import Made, serve

COLUMNS = ["a", "b"]


def joint_counts(epsilon: float) -> Made:
    """Return the noisy counts of all values of both columns."""

    def released(dataset: list[list[int]]) -> list[float]:
        return get_noisy_distribution_of_attributes(COLUMNS, _frame(dataset), epsilon)["count"].tolist()

    return {"epsilon": epsilon}, released


def _frame(dataset: list[list[int]]) -> pd.DataFrame:
    return pd.DataFrame([[0, 0], [1, 1], *dataset], columns=COLUMNS)


serve(joint_counts)
