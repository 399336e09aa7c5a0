#!/usr/bin/env bash
# A clamp to [0, 1] that meets NaN: four tools, three answers, and Python's
# own depends on the order of the arguments.
#
# Guess:   a clamp returns a number inside its bounds, or NaN stays NaN
#          everywhere.
# Happens: NumPy keeps NaN; DuckDB returns the upper bound, since NaN is its
#          largest number; Arrow returns the lower bound; min and max of
#          Python return NaN, 0 or 1 for four ways to write one clamp.
# Matters: one record with a NaN makes a NumPy total NaN (an event of
#          probability 1 that names the record), and counts fully in SQL.
#          The same pipeline has another sensitivity in each engine, and a
#          test in one says nothing on the other.
# Source:  DuckDB manual, floating-point types (NaN is the greatest number);
#          pyarrow.compute.max_element_wise (any number wins over NaN).
#
# Seen on 2026-11-28:
#   numpy 2.4.6: [nan]
#   duckdb 2.0.1: [1.0, 1.0]
#   pyarrow 26.0.1: [0.0]
#   python, four orders: [nan, 0.0, 1.0, nan]
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile numpy==2.4.6 duckdb==2.0.1 pyarrow==26.0.1
"$work/venv/bin/python" - <<'PYTHON'
import sys

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

nan = float("nan")
python = [
    min(max(nan, 0.0), 1.0),
    min(1.0, max(0.0, nan)),
    max(0.0, min(1.0, nan)),
    max(min(nan, 1.0), 0.0),
]
sql = "SELECT least(greatest('nan'::DOUBLE, 0), 1), greatest(least('nan'::DOUBLE, 1), 0)"
answers = {
    f"numpy {np.__version__}": [float(np.clip(nan, 0, 1))],
    f"duckdb {duckdb.__version__}": list(duckdb.sql(sql).fetchall()[0]),
    f"pyarrow {pa.__version__}": [
        pc.min_element_wise(pc.max_element_wise(pa.scalar(nan), 0.0), 1.0).as_py()
    ],
    "python, four orders": python,
}
for name, values in answers.items():
    print(f"{name}: {values}")
expected = ["nan", "1.0 1.0", "0.0", "nan 0.0 1.0 nan"]
if [" ".join(map(str, v)) for v in answers.values()] != expected:
    sys.exit("changed: a clamp of NaN gives another number")
PYTHON
