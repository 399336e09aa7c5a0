#!/usr/bin/env bash
# numpy: default_rng([seed, 0]) is default_rng(seed): client 0 has the noise
# of the server.
#
# Guess:   a list of seed and number gives each number a stream of its own,
#          apart from that of the seed alone.
# Happens: the words of the list are padded with zeros before they are mixed:
#          [7], [7, 0] and [7, 0, 0] are one stream, and so are [7, 3] and
#          the number 7 + 3 * 2**32. [0, 7] is another.
# Matters: one seed for a run, a pair for each client or round: the first
#          client's noise is that of whoever used the seed alone, often the
#          server or the draw of the cohort, and it cancels. NumPy advises
#          [number, seed], in which only the seed may be 0; spawn() has no
#          such rule.
# Source:  numpy, Parallel random number generation, 'Sequence of integer
#          seeds'; SeedSequence.mix_entropy.
#
# Seen on 2026-11-29:
#   numpy 2.4.6; first draw of Laplace noise
#   seed 7: 0.2879
#   [7, 0]: 0.2879
#   [7, 0, 0]: 0.2879
#   [7, 3]: 2.9971
#   7 + 3 * 2**32: 2.9971
#   [0, 7]: -2.5546
#   spawn, child 0: 0.9056
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import sys

import numpy as np

seeds = {
    "seed 7": 7,
    "[7, 0]": [7, 0],
    "[7, 0, 0]": [7, 0, 0],
    "[7, 3]": [7, 3],
    "7 + 3 * 2**32": 7 + 3 * 2**32,
    "[0, 7]": [0, 7],
    "spawn, child 0": np.random.SeedSequence(7).spawn(1)[0],
}
noise = {words: np.random.default_rng(seed).laplace() for words, seed in seeds.items()}
print(f"numpy {np.__version__}; first draw of Laplace noise")
for words, drawn in noise.items():
    print(f"{words}: {drawn:.4f}")
first, pair, padded, third, number, turned, child = noise.values()
if not first == pair == padded or third != number or len({first, third, turned, child}) != 4:
    sys.exit("changed: a zero at the end makes another stream")
PYTHON
