"""smartnoise-sql 1.0.10. Source: snsql/sql/odometer, "Implements k-folds homogeneous composition from Kairouz, et al"."""

import math

from protocol import Process, Statement, serve
from snsql import Privacy
from snsql.sql.odometer import Odometer, OdometerHeterogeneous


def _query(epsilon: float, delta: float) -> Process:
    """Return the table of a query that is (ε, δ)-private and no better: the theorem speaks of any such query."""
    less = (1 - delta) / (1 + math.exp(epsilon))
    more = 1 - delta - less
    return {"noise": "table", "present": [delta, more, less, 0.0], "absent": [0.0, less, more, delta]}


def homogeneous(query_epsilon: float, query_delta: float, queries: int) -> Statement:
    odometer = Odometer(Privacy(epsilon=query_epsilon, delta=query_delta))
    odometer.spend(queries)
    epsilon, delta = odometer.spent
    return delta, {**_query(query_epsilon, query_delta), "steps": queries}, float(epsilon)


# "Implements k-folds heterogeneous composition from Kairouz, et al Theorem 3.5"
def heterogeneous(query_epsilon: float, query_delta: float, queries: int) -> Statement:
    odometer = OdometerHeterogeneous(Privacy(epsilon=query_epsilon, delta=query_delta))
    for _ in range(queries):
        odometer.spend()
    epsilon, delta = odometer.spent
    return delta, {**_query(query_epsilon, query_delta), "steps": queries}, float(epsilon)


serve(homogeneous, heterogeneous)
