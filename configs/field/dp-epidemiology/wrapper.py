"""dp-epidemiology 0.1.1: its measurements of transactions; a record is a postal code or a number of transactions."""

import functools

import pandas as pd
from stand_ins import load_submodules_only

load_submodules_only("DP_epidemiology")
from DP_epidemiology import utilities  # noqa: E402


@functools.cache
def _count(epsilon):
    return utilities.make_private_count("city", "Bogota", epsilon)


def postal_codes(data, epsilon):
    return _count(epsilon)(pd.DataFrame({"city": ["Bogota"] * len(data), "merch_postal_code": data}))


@functools.cache
def _transactions(most, scale):
    return utilities.make_private_nb_transactions_avg_count("Airlines", most, 10, scale)


def transactions(data, most, scale):
    frame = pd.DataFrame({"merch_category": ["Airlines"] * len(data), "nb_transactions": pd.Series(data, dtype=float)})
    return _transactions(most, scale)(frame)
