#!/usr/bin/env bash
# Polars widens the sum of 8 and 16 bits, not of 32: the total of a bounded
# Int32 column wraps around.
#
# Guess:   either every integer sum is widened, as in DuckDB and Arrow, or
#          none is.
# Happens: the sum of four Int16 values of 30,000 is 120,000; of four Int32
#          values of 2**30 it is 0, also inside group_by, without an error.
# Matters: 'clip to [0, B] and add' has sensitivity B over the integers. In
#          a ring of 32 bits one more record can move the total by 2**32 -
#          B, and noise of scale B / epsilon does not cover that. Annual
#          incomes in cents reach the edge with some 400 people.
# Source:  polars.Expr.sum, notes: types of 8 and 16 bits become Int64;
#          those of 32 are not named.
#
# Seen on 2026-11-28:
#   polars 2.1.0, duckdb 2.0.1, pyarrow 26.0.1
#   polars, Int16: 120,000
#   polars, Int32: 0
#   polars, Int32 in a group: 0
#   duckdb, INTEGER: 4,294,967,296
#   pyarrow, int32: 4,294,967,296
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile polars==2.1.0 duckdb==2.0.1 pyarrow==26.0.1
"$work/venv/bin/python" - <<'PYTHON'
import sys

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

small = pl.DataFrame({"x": pl.Series([30_000] * 4, dtype=pl.Int16)})
large = pl.DataFrame({"x": pl.Series([2**30] * 4, dtype=pl.Int32)})
totals = {
    "polars, Int16": small["x"].sum(),
    "polars, Int32": large["x"].sum(),
    "polars, Int32 in a group": large.group_by(pl.lit(1)).agg(pl.col("x").sum())["x"][0],
    "duckdb, INTEGER": duckdb.sql("SELECT sum(x) FROM large").fetchall()[0][0],
    "pyarrow, int32": pc.sum(large["x"].to_arrow()).as_py(),
}
print(f"polars {pl.__version__}, duckdb {duckdb.__version__}, pyarrow {pa.__version__}")
for name, total in totals.items():
    print(f"{name}: {int(total):,}")
if [int(t) for t in totals.values()] != [120_000, 0, 0, 2**32, 2**32]:
    sys.exit("changed: a sum is widened, or no longer widened")
PYTHON
