#!/usr/bin/env bash
# A sample of 10 % in DuckDB holds all rows of a small table, or none.
#
# Guess:   USING SAMPLE 10% of 1,000 rows keeps each row with probability
#          .1, some 100 rows.
# Happens: a percentage samples blocks of 2,048 rows: of 1,000 rows it keeps
#          0 or 1,000. Only BERNOULLI draws for each row.
# Matters: 'privacy amplification by sampling' at rate .1 needs a draw for
#          each record, independent of the others. Here the number of rows
#          is public evidence, and a group of 2,000 neighbours in the table
#          comes and goes together.
# Source:  DuckDB manual, 'Samples': system sampling is the method of
#          percentages, and works on vectors.
#
# Seen on 2026-11-28:
#   duckdb 2.0.1, 200 samples of 1,000 rows at 10 %
#   USING SAMPLE 10%: sizes [0, 1000]
#   BERNOULLI(10%): all sizes within 50 to 170: True
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile duckdb==2.0.1
"$work/venv/bin/python" - <<'PYTHON'
import sys

import duckdb

def sizes(method):
    query = f"SELECT count(*) FROM range(1000) TABLESAMPLE {method}"
    return [duckdb.sql(query).fetchall()[0][0] for _ in range(200)]

plain = [
    duckdb.sql("SELECT count(*) FROM range(1000) USING SAMPLE 10%").fetchall()[0][0]
    for _ in range(200)
]
bernoulli = sizes("BERNOULLI(10%)")
print(f"duckdb {duckdb.__version__}, 200 samples of 1,000 rows at 10 %")
print(f"USING SAMPLE 10%: sizes {sorted(set(plain))}")
print(f"BERNOULLI(10%): all sizes within 50 to 170: {all(50 < n < 170 for n in bernoulli)}")
if not set(plain) <= {0, 1000} or not all(50 < n < 170 for n in bernoulli):
    sys.exit("changed: a percentage samples rows, or BERNOULLI does not")
PYTHON
