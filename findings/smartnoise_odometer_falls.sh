#!/usr/bin/env bash
# SmartNoise: the delta that the odometer has spent falls again after some
# 700 queries, and is near 0 after 10,000.
#
# Guess:   what is spent only grows; a composition theorem is an upper
#          bound, so the odometer is on the safe side.
# Happens: with (.1, .001) for each query the stated delta is .239 after 500
#          queries, .233 after 1,000 and .0005 after 10,000; the chance that
#          one of the deltas happens is .99995. One factor (1 - delta) too
#          many multiplies the sum. The heterogeneous odometer does not
#          fall.
# Matters: a service that stops at a limit on delta may never stop. That a
#          total rises with each query is a check that needs no theory.
# Source:  snsql/sql/odometer.py, Odometer.spent; Kairouz, Oh and Viswanath
#          (2015), theorem 3.4.
#
# Seen on 2026-11-28:
#   smartnoise-sql 1.0.10; (.1, .001) a query
#   100 queries: delta 0.08664, heterogeneous 0.09566, 1-(1-d)^k 0.09521
#   500 queries: delta 0.23918, heterogeneous 0.39392, 1-(1-d)^k 0.39362
#   1,000 queries: delta 0.23300, heterogeneous 0.63249, 1-(1-d)^k 0.63230
#   5,000 queries: delta 0.00718, heterogeneous 0.99328, 1-(1-d)^k 0.99328
#   10,000 queries: delta 0.00055, heterogeneous 0.99995, 1-(1-d)^k 0.99995
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile smartnoise-sql==1.0.10 opendp==0.14.2 pandas==2.3.3 numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import importlib.metadata
import sys

from snsql.sql.odometer import Odometer, OdometerHeterogeneous
from snsql.sql.privacy import Privacy

print(f"smartnoise-sql {importlib.metadata.version('smartnoise-sql')}; (.1, .001) a query")
steps = (100, 500, 1_000, 5_000, 10_000)
deltas, others = [], []
for k in steps:
    odometer = Odometer(Privacy(epsilon=0.1, delta=0.001))
    odometer.spend(k)
    other = OdometerHeterogeneous(Privacy(epsilon=0.1, delta=0.001))
    for _ in range(k):
        other.spend()
    deltas.append(float(odometer.spent[1]))
    others.append(float(other.spent[1]))
    exact = 1 - (1 - 0.001) ** k
    print(f"{k:,} queries: delta {deltas[-1]:.5f}, heterogeneous {others[-1]:.5f}, 1-(1-d)^k {exact:.5f}")
if deltas == sorted(deltas) or others != sorted(others):
    sys.exit("changed: the spent delta only grows, or falls in both")
PYTHON
