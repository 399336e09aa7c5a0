#!/usr/bin/env bash
# polars: a seed inside over() or group_by() starts again in every group.
#
# Guess:   sample(n, seed=...) within groups is one reproducible stream, in
#          which each group gets its own draw, as in pandas' groupby.sample.
# Happens: each group starts from the same seed: all groups of one size keep
#          the same positions, and shuffle gives them one permutation.
# Matters: 'keep at most two rows of each person, at random' is the usual
#          contribution bound. With a seed it is one draw for all people:
#          the same places of every history are kept, so the sampling error
#          of a total does not average out over people.
# Source:  polars.Expr.sample and Expr.shuffle, 'seed'; beside it pandas'
#          GroupBy.sample, which uses one generator for all groups.
#
# Seen on 2026-11-28:
#   polars 2.1.0; 50 people of 20 rows
#   sample(2, seed=1): 1 choice(s) of rows
#   shuffle(seed=1): 1 order(s)
#   sample(2): more than 20 choices: True
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile polars==2.1.0
"$work/venv/bin/python" - <<'PYTHON'
import sys

import polars as pl

people, rows = 50, 20
data = {"id": [p for p in range(people) for _ in range(rows)], "row": list(range(rows)) * people}
frame = pl.DataFrame(data)
sampled = frame.group_by("id", maintain_order=True).agg(pl.col("row").sample(2, seed=1))
shuffled = frame.with_columns(pl.col("row").shuffle(seed=1).over("id").alias("s"))
kept = {tuple(v) for v in sampled["row"].to_list()}
orders = {tuple(g["s"].to_list()) for g in shuffled.partition_by("id")}
unseeded = frame.group_by("id").agg(pl.col("row").sample(2))
free = {tuple(v) for v in unseeded["row"].to_list()}
print(f"polars {pl.__version__}; {people} people of {rows} rows")
print(f"sample(2, seed=1): {len(kept)} choice(s) of rows")
print(f"shuffle(seed=1): {len(orders)} order(s)")
print(f"sample(2): more than 20 choices: {len(free) > 20}")
if (len(kept), len(orders)) != (1, 1) or len(free) <= 20:
    sys.exit("changed: groups get draws of their own")
PYTHON
