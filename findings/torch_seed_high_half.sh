#!/usr/bin/env bash
# PyTorch: the generator of the processor reads the lower 32 bits of a seed;
# seeds that differ above them give the same noise.
#
# Guess:   a seed is a number of 64 bits: the range that the documentation
#          states, and what initial_seed() gives back.
# Happens: the Mersenne twister is started from 32 bits of it: seeds that
#          differ by a multiple of 2**32 are one stream.
# Matters: 'client in the upper half, round in the lower' is a usual way to
#          make distinct seeds of two numbers. Then all clients draw the same
#          noise in a round, and the difference of two reports has none. And
#          64 bits of entropy are 32: after some 77,000 seeds two are equal
#          with probability one half.
# Source:  torch.Generator.manual_seed: "within the inclusive range
#          [-0x8000_0000_0000_0000, 0xffff_ffff_ffff_ffff]";
#          ATen/core/MT19937RNGEngine.h, init_with_uint32.
#
# Seen on 2026-11-29:
#   torch 2.13.0; seed = client * 2**32 + round, three normal draws
#   client 0, round 7: -0.1468, 0.7861, 0.9468
#   client 1, round 7: -0.1468, 0.7861, 0.9468
#   client 2, round 7: -0.1468, 0.7861, 0.9468
#   client 2, round 8: 0.2713, -1.2729, 0.5027
#   numpy, client 0 and 1, round 7: equal: False
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile torch==2.13.0 numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import sys

import numpy as np
import torch

def noise(client, round_number):
    generator = torch.Generator().manual_seed(client * 2**32 + round_number)
    return torch.randn(3, generator=generator).tolist()

print(f"torch {torch.__version__.split('+')[0]}; seed = client * 2**32 + round, three normal draws")
cases = [(0, 7), (1, 7), (2, 7), (2, 8)]
draws = [noise(*case) for case in cases]
for (client, number), drawn in zip(cases, draws, strict=True):
    print(f"client {client}, round {number}: {', '.join(f'{value:.4f}' for value in drawn)}")
by_numpy = [np.random.default_rng(client * 2**32 + 7).normal() for client in (0, 1)]
print(f"numpy, client 0 and 1, round 7: equal: {by_numpy[0] == by_numpy[1]}")
if not draws[0] == draws[1] == draws[2] or draws[2] == draws[3] or by_numpy[0] == by_numpy[1]:
    sys.exit("changed: the upper half of a seed counts")
PYTHON
