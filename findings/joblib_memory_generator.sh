#!/usr/bin/env bash
# joblib.Memory and a seeded generator: on the second run two queries get
# the same noise.
#
# Guess:   a cached release is the safest one: the second run answers the
#          first query from the cache and goes on as before.
# Happens: the generator is an argument and is hashed by its state, so the
#          second run hits; but a hit does not advance the generator. The
#          next query then draws the very noise that the cached one
#          contains.
# Matters: second answer minus first is the exact difference of two totals,
#          for two queries that were each paid for. Both runs 'reproduce',
#          and yet differ in the second answer.
# Source:  joblib.hash, which hashes the pickled arguments, here the
#          generator's state; a hit skips the body, and with it the draw.
#
# Seen on 2026-11-28:
#   joblib 1.6.0, numpy 2.4.6; true totals 100 and 40
#   first run: 100.0239 and 42.3119, difference 57.7120
#   second run: 100.0239 and 40.0239, difference 60.0000
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile joblib==1.6.0 numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import sys
import tempfile

import joblib
import numpy as np

with tempfile.TemporaryDirectory() as folder:
    memory = joblib.Memory(folder, verbose=0)

    @memory.cache
    def noisy(total, rng):
        return float(total + rng.laplace())

    def session():
        rng = np.random.default_rng(1)
        return noisy(100.0, rng), float(40.0 + rng.laplace())

    first, second = session(), session()

print(f"joblib {joblib.__version__}, numpy {np.__version__}; true totals 100 and 40")
for name, (a, b) in (("first run", first), ("second run", second)):
    print(f"{name}: {a:.4f} and {b:.4f}, difference {a - b:.4f}")
if abs(second[0] - second[1] - 60.0) > 1e-9 or abs(first[0] - first[1] - 60.0) < 1e-3:
    sys.exit("changed: a hit advances the generator, or is none")
PYTHON
