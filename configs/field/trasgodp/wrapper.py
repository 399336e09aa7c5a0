"""trasgoDP 2.1.0: the local mechanisms of its README; a data set is one person's value, unless a function takes a column."""

import pandas as pd
from trasgodp.categorical import dp_exponential_array, dp_randomized_response_binary, dp_randomized_response_kary_array
from trasgodp.geoindis import metric_privacy
from trasgodp.numerical import dp_clip_gaussian_array, dp_clip_laplace, dp_clip_laplace_array


def laplace_array(data, epsilon, low, high):
    return dp_clip_laplace_array([data], epsilon, low, high)


def laplace_frame(data, epsilon, low, high):
    return dp_clip_laplace(pd.DataFrame({"age": [data]}), "age", epsilon, low, high)["age"]


def gaussian_array(data, epsilon, delta, low, high):
    return dp_clip_gaussian_array([data], epsilon, low, high, delta=delta)


def exponential_array(data, epsilon):
    return dp_exponential_array(data, epsilon)


def response_binary(data, epsilon):
    return dp_randomized_response_binary(pd.DataFrame({"sex": data}), "sex", epsilon)["sex"]


def response_kary(data, epsilon):
    return dp_randomized_response_kary_array(data, epsilon)


def geo(data, epsilon, seed=None):
    named = {} if seed is None else {"seed": None if seed == "none" else seed}
    noisy = metric_privacy(pd.DataFrame({"lat": [data[0]], "lon": [data[1]]}), "lat", "lon", epsilon, **named)
    return noisy[["lat", "lon"]].iloc[0]
