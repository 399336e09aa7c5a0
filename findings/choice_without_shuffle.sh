#!/usr/bin/env bash
# numpy: a sample without replacement drawn with shuffle=False is uniform as
# a set, but its first half can never hold the last records.
#
# Guess:   shuffle=False only saves time; each slot of the sample is a
#          uniform record.
# Happens: of 10 out of 100 records, numbers 95 to 99 never appear in the
#          first five places (0 of 20,000 samples), while the others do in 5
#          %.
# Matters: one sample split into two batches gives the last records another
#          sampling rate in each: 0 in the first, twice the rate in the
#          second. An accountant with rate m/n for each step then states too
#          little for them, and a canary appended at the end is never in the
#          first batch.
# Source:  numpy.random.Generator.choice, shuffle; without it the order is
#          that of Floyd's algorithm.
#
# Seen on 2026-11-28:
#   numpy 2.4.6; share of samples with a record in the first five places
#   shuffle=False: records 0 to 94 0.0526, 95 to 99 0.0000
#   shuffle=True: records 0 to 94 0.0500, 95 to 99 0.0493
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import sys

import numpy as np

rng = np.random.default_rng(0)
samples, records, size = 20_000, 100, 10

def first_half(shuffle):
    counts = np.zeros(records)
    for _ in range(samples):
        counts[rng.choice(records, size, replace=False, shuffle=shuffle)[: size // 2]] += 1
    return counts / samples

plain, shuffled = first_half(False), first_half(True)
print(f"numpy {np.__version__}; share of samples with a record in the first five places")
print(f"shuffle=False: records 0 to 94 {plain[:95].mean():.4f}, 95 to 99 {plain[95:].mean():.4f}")
print(f"shuffle=True: records 0 to 94 {shuffled[:95].mean():.4f}, 95 to 99 {shuffled[95:].mean():.4f}")
if plain[95:].any() or not 0.04 < shuffled[95:].mean() < 0.06:
    sys.exit("changed: the order without a shuffle is another one")
PYTHON
