#!/usr/bin/env bash
# clip_grad_norm_ to 1 leaves a norm of 1.005 in bfloat16, and a norm of 0
# for a finite gradient of 1e20.
#
# Guess:   the clipped norm is at most 1, and a little less: the divisor is
#          norm + 1e-6.
# Happens: the factor is rounded to 8 bits, so the clipped norm of a
#          bfloat16 gradient lies up to .5 % above the bound; 1e-6 is lost
#          beside the norm. In float32 the square of 1e20 overflows: the
#          norm is infinite, the factor 0, and a finite record counts as
#          nothing.
# Matters: the norm bound is the sensitivity: mu = C / sigma is too small by
#          the excess on every step. And a record that is scaled too far
#          vanishes instead of being clipped, so the contribution is not
#          monotone in the record: a canary with a huge gradient is
#          invisible.
# Source:  torch/nn/utils/clip_grad.py, clip_coef;
#          torch.nn.utils.clip_grad_norm_.
#
# Seen on 2026-11-28:
#   torch 2.13.0; norm after clip_grad_norm_(max_norm=1)
#   torch.float32: largest of 54 gradients of ones 1.000000
#   torch.bfloat16: largest of 54 gradients of ones 1.005426
#   float32: of (1e18, 1e18) 1.000000, of (1e20, 1e20) 0.000000
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile torch==2.13.0 numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import sys

import torch

def clipped(values, dtype):
    p = torch.nn.Parameter(torch.zeros(len(values), dtype=dtype))
    p.grad = torch.tensor(values, dtype=dtype)
    torch.nn.utils.clip_grad_norm_([p], 1.0)
    return float(p.grad.double().norm())

print(f"torch {torch.__version__.split('+')[0]}; norm after clip_grad_norm_(max_norm=1)")
excess = {}
for dtype in (torch.float32, torch.bfloat16):
    norms = [clipped([1.0] * n, dtype) for n in range(10, 2000, 37)]
    excess[dtype] = max(norms)
    print(f"{dtype}: largest of {len(norms)} gradients of ones {max(norms):.6f}")
huge = clipped([1e20, 1e20], torch.float32)
large = clipped([1e18, 1e18], torch.float32)
print(f"float32: of (1e18, 1e18) {large:.6f}, of (1e20, 1e20) {huge:.6f}")
if excess[torch.bfloat16] < 1.001 or excess[torch.float32] > 1.00001 or huge != 0 or large < 0.99:
    sys.exit("changed: the clipped norm keeps, or leaves, its bound otherwise")
PYTHON
