"""binomialdpy 0.1.5: a count with Tulap noise, and the p-value that is made of it."""

import math

import numpy as np
from binomialdpy import pvalue, tulap


def noise(data, epsilon, delta=0.0):
    b = math.exp(-epsilon)
    q = 2 * delta * b / (1 - b + 2 * delta * b)
    return float(tulap.random(1, m=sum(data), b=b, q=q)[0])


def p_value(data, epsilon):
    b = math.exp(-epsilon)
    sample = tulap.random(1, m=sum(data), b=b, q=0)
    return np.ravel(pvalue.right(sample, len(data), 0.5, b, 0))
