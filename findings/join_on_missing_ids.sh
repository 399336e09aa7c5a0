#!/usr/bin/env bash
# A join in pandas matches a missing id with every missing id: one unknown
# person multiplies the rows of all the others.
#
# Guess:   a missing key matches nothing, as in SQL; pandas would drop such
#          rows, as its groupby does.
# Happens: merge treats NaN and None as equal keys: three rows without an id
#          and two on the other side give six rows. DuckDB and polars (null)
#          give none; polars joins NaN with NaN. groupby().head(1) on the
#          same frame drops those rows.
# Matters: the stability of a join is the greatest number of matches of one
#          id. Bounding it with groupby(id).head(k) bounds the known people
#          only; without that step a row without an id adds as many rows as
#          there are such rows, so no constant bounds it.
# Source:  pandas.merge, on null values in both key columns; polars,
#          DataFrame.join, nulls_equal.
#
# Seen on 2026-11-28:
#   pandas 3.1.1: 7 rows
#   duckdb 2.0.1: 1 rows
#   polars 2.1.0, null: 1 rows
#   polars 2.1.0, NaN: 7 rows
#   pandas, groupby('id').head(1): 1 of 4 rows
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile pandas==3.1.1 polars==2.1.0 duckdb==2.0.1 pyarrow==26.0.1 numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import sys

import duckdb
import pandas as pd
import polars as pl

nan = float("nan")
visits = pd.DataFrame({"id": [1.0, nan, nan, nan], "visit": range(4)})
bills = pd.DataFrame({"id": [1.0, nan, nan], "bill": range(3)})
nulls = [pl.from_pandas(f) for f in (visits, bills)]
nans = [f.with_columns(pl.col("id").fill_null(nan)) for f in nulls]
rows = {
    f"pandas {pd.__version__}": len(visits.merge(bills, on="id")),
    f"duckdb {duckdb.__version__}": len(duckdb.sql("FROM visits JOIN bills USING (id)").fetchall()),
    f"polars {pl.__version__}, null": nulls[0].join(nulls[1], on="id").height,
    f"polars {pl.__version__}, NaN": nans[0].join(nans[1], on="id").height,
}
for name, count in rows.items():
    print(f"{name}: {count} rows")
kept = len(visits.groupby("id").head(1))
print(f"pandas, groupby('id').head(1): {kept} of {len(visits)} rows")
if list(rows.values()) != [7, 1, 1, 7] or kept != 1:
    sys.exit("changed: missing keys are joined otherwise")
PYTHON
