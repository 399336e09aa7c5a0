"""Exact privacy losses of a pair of known distributions, in nats: ε, δ, Rényi divergences and ρ.

What the errors mean. Where every output is listed (:class:`~auditor.exact.distributions.MassFunction`) they are
*proved* up to the rounding of the given log masses, which they allow for. Where there is a density they are
*estimates*: the difference of two quadrature rules, or of two steps of a search. :attr:`Exact.proved` tells which.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from auditor.errors import InvalidInputError, require_number
from auditor.exact.continuous import Continuous
from auditor.exact.discrete import Discrete
from auditor.exact.distributions import Coordinate, Density, Distribution, MassFunction, Product
