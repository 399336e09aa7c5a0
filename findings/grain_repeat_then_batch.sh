#!/usr/bin/env bash
# Grain: a data set that is repeated and then batched holds one record twice
# in a batch.
#
# Guess:   shuffle, repeat and batch give epochs: each record is once in
#          each epoch, so at most once in a batch.
# Happens: batch() cuts across the end of an epoch, since repeat() only
#          lengthens the index: with 10 records and batches of 4 the third
#          batch is the end of one permutation and the start of the next.
#          With seed 0 it is [5, 2, 5, 7]. batch before repeat avoids it,
#          with a smaller last batch.
# Matters: the sensitivity of a clipped sum over a batch is the clipping
#          norm for each copy of a record: such a batch needs twice the
#          noise, and no accountant of fixed or Poisson batches describes
#          it.
# Source:  grain.MapDataset.repeat, implementation note (only the length
#          changes).
#
# Seen on 2026-11-28:
#   grain 0.2.18; 50 seeds, 10 records, batches of 4, 3 epochs
#   repeat, batch: 20 batches with a record twice
#   batch, repeat: 0 batches with a record twice
#   the first: seed 0, [5, 2, 5, 7]
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile grain==0.2.18 numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import importlib.metadata
import sys

import grain

def batches(dataset):
    return [b.tolist() for b in dataset]

twice = {"repeat, batch": 0, "batch, repeat": 0}
example = None
for seed in range(50):
    records = grain.MapDataset.range(10).shuffle(seed=seed)
    orders = {
        "repeat, batch": batches(records.repeat(3).batch(4)),
        "batch, repeat": batches(records.batch(4).repeat(3)),
    }
    for order, found in orders.items():
        doubled = [b for b in found if len(set(b)) < len(b)]
        twice[order] += len(doubled)
        example = example or (doubled and (seed, doubled[0]))
print(f"grain {importlib.metadata.version('grain')}; 50 seeds, 10 records, batches of 4, 3 epochs")
for order, count in twice.items():
    print(f"{order}: {count} batches with a record twice")
print(f"the first: seed {example[0]}, {example[1]}")
if twice["repeat, batch"] < 5 or twice["batch, repeat"]:
    sys.exit("changed: a batch does not cross the end of an epoch")
PYTHON
