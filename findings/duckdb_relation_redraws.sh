#!/usr/bin/env bash
# A DuckDB relation is a query, not its result: since 2.0 each look at it
# draws the noise again.
#
# Guess:   noisy = con.sql('SELECT sum(x) + noise ...') holds one noisy
#          total; printing it, fetching it and counting its rows show the
#          same number. Up to 1.x, execute() kept it.
# Happens: every fetchall, df and repr runs the query again with new random
#          numbers; execute and fetchone are gone, and the error that they
#          raise says why.
# Matters: three looks at one variable are three releases: the mean of what
#          was printed, logged and stored has a third of the variance that
#          one epsilon pays for. materialize() draws once.
# Source:  the message of the AttributeError that duckdb 2.0 raises for the
#          removed methods of a relation.
#
# Seen on 2026-11-28:
#   duckdb 2.0.1
#   a relation, three looks: 3 totals
#   materialized, three looks: 1 total
#   fetchone: Relations no longer have fetchone()
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile duckdb==2.0.1 numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import sys

import duckdb

noisy = duckdb.connect().sql("SELECT 100 + random() AS total")
looks = [noisy.fetchall()[0][0] for _ in range(3)]
kept = noisy.materialize()
kept_looks = [kept.fetchall()[0][0] for _ in range(3)]
print(f"duckdb {duckdb.__version__}")
print(f"a relation, three looks: {len(set(looks))} totals")
print(f"materialized, three looks: {len(set(kept_looks))} total")
try:
    noisy.fetchone()
    removed = False
except AttributeError as error:
    removed = "keeps no result" in str(error)
    print(f"fetchone: {str(error).split(':')[0]}")
if (len(set(looks)), len(set(kept_looks)), removed) != (3, 1, True):
    sys.exit("changed: a relation keeps its result, or materialize does not")
PYTHON
