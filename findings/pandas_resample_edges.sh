#!/usr/bin/env bash
# pandas: resample("7D") counts from the midnight before the first record, so
# one early record moves the edges of all weeks.
#
# Guess:   weeks have fixed edges, and one person more changes one count by
#          one, so weekly counts have sensitivity 1.
# Happens: with a frequency that does not divide a day, the bins start at
#          the first day in the data (origin="start_day"): without its first
#          record every week is another week, under another name.
#          polars and DuckDB count weeks from a fixed day.
# Matters: noise of scale 1 / epsilon on each count protects nobody's
#          record; the first one shows in all of them, and the bins' names
#          give its day without noise. origin="epoch", or "W", is fixed.
# Source:  pandas.DataFrame.resample, 'origin'; polars group_by_dynamic,
#          'start_by'; DuckDB time_bucket.
#
# Seen on 2026-11-29:
#   41 records over six weeks, and the same without the first
#   pandas 3.1.1 resample("7D"): L1 distance 81 of the counts, by week
#   pandas 3.1.1 resample("7D", origin="epoch"): L1 distance 1
#   polars 2.1.0 group_by_dynamic(every="7d"): L1 distance 1
#   duckdb 2.0.1 time_bucket(7 days): L1 distance 1
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile pandas==3.1.1 polars==2.1.0 duckdb==2.0.1 numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import sys
from datetime import datetime, timedelta

import duckdb
import pandas as pd
import polars as pl

start = datetime(2026, 1, 5, 9)
moments = [start, *(start + timedelta(days=day) for day in range(1, 41))]

def by_pandas(times, **options):
    counts = pd.Series(1, index=pd.DatetimeIndex(times)).resample("7D", **options).sum()
    return {day.date(): int(count) for day, count in counts.items() if count}

def by_polars(times):
    weeks = pl.DataFrame({"t": times}).group_by_dynamic("t", every="7d").agg(pl.len())
    return {day.date(): count for day, count in weeks.rows()}

def by_duckdb(times):
    frame = pl.DataFrame({"t": times})
    connection = duckdb.connect()
    connection.execute("CREATE TABLE records (t TIMESTAMP)")
    connection.executemany("INSERT INTO records VALUES (?)", frame.rows())
    query = "SELECT time_bucket(INTERVAL 7 days, t) AS week, count(*) FROM records GROUP BY week"
    return {day.date(): count for day, count in connection.execute(query).fetchall()}

def distance(counts):
    """Return the L1 distance of the counts with and without the first record, week by week."""
    whole, rest = counts(moments), counts(moments[1:])
    return sum(abs(whole.get(week, 0) - rest.get(week, 0)) for week in whole.keys() | rest.keys())

print(f"{len(moments)} records over six weeks, and the same without the first")
moved = distance(by_pandas)
fixed = [distance(lambda times: by_pandas(times, origin="epoch")), distance(by_polars), distance(by_duckdb)]
print(f'pandas {pd.__version__} resample("7D"): L1 distance {moved} of the counts, by week')
print(f'pandas {pd.__version__} resample("7D", origin="epoch"): L1 distance {fixed[0]}')
print(f'polars {pl.__version__} group_by_dynamic(every="7d"): L1 distance {fixed[1]}')
print(f"duckdb {duckdb.__version__} time_bucket(7 days): L1 distance {fixed[2]}")
if moved < 30 or fixed != [1, 1, 1]:
    sys.exit("changed: weeks have other edges")
PYTHON
