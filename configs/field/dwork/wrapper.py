"""dwork 0.0.13, as its README calls it; ``low`` and ``high`` are the schema's."""

import pandas as pd
from dwork.dataschema import DataSchema
from dwork.dataset.pandas import PandasDataset
from dwork.language.types import Float, Integer


def _dataset(values, number, low, high):
    class Schema(DataSchema):
        x = number(min=low, max=high)

    return PandasDataset(Schema, pd.DataFrame({"x": values}, dtype=number.type))


def length(data, epsilon):
    return _dataset(data, Integer, 0, 100).len().dp(epsilon)


def integer_sum(data, epsilon, low, high):
    return _dataset(data, Integer, low, high)["x"].sum().dp(epsilon)


def float_sum(data, epsilon, low, high):
    return _dataset(data, Float, low, high)["x"].sum().dp(epsilon)


def mean(data, epsilon, low, high):
    dataset = _dataset(data, Integer, low, high)
    return (dataset["x"].sum() / dataset.len()).dp(epsilon)


def two_sums(data, epsilon):
    dataset = _dataset(data, Float, 0.0, 1.0)
    return (dataset["x"].sum() + dataset["x"].sum()).dp(epsilon)
