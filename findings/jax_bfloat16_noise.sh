#!/usr/bin/env bash
# jax.random.normal in bfloat16 has 128 different values, none beyond 2.9
# standard deviations; jax.random.laplace is not even symmetric.
#
# Guess:   noise in bfloat16 is float32 noise, rounded: coarse, but with
#          tails. torch.randn does it so: thousands of values, up to five
#          deviations.
# Happens: the sampler inverts the distribution at a uniform number of 7
#          random bits. Two million draws take 128 values, the largest 2.89;
#          Laplace noise of scale 1 lies between -4.4 and 5.5.
# Matters: delta of a Gaussian mechanism is made by its tails: noise that
#          never exceeds 2.9 deviations tells the sum for certain where two
#          supports do not overlap, whatever the accountant states.
#          dtype=grad.dtype is how optimizers ask for noise.
# Source:  jax/_src/random/core.py, _uniform: 8 random bits where the
#          mantissa has fewer than 8; optax 0.2.8, contrib/_privacy.py, line
#          102.
#
# Seen on 2026-11-28:
#   jax 0.10.2; two million draws each
#   normal, bfloat16: 128 values in [-2.89, 2.52], deviation 0.997
#   normal, float32: 1779605 values in [-4.65, 5.22], deviation 1.000
#   laplace, bfloat16: 128 values in [-4.44, 5.53], deviation 1.399
#   laplace, float32: 1779605 values in [-15.54, 12.59], deviation 1.413
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6 scipy==1.17.1
"$work/venv/bin/python" - <<'PYTHON'
import sys

import jax
import jax.numpy as jnp
import numpy as np

def describe(sampler, dtype):
    draws = np.asarray(sampler(jax.random.key(0), (2_000_000,), dtype)).astype(float)
    return len(np.unique(draws)), draws.min(), draws.max(), draws.std()

print(f"jax {jax.__version__}; two million draws each")
seen = {}
for name, sampler in (("normal", jax.random.normal), ("laplace", jax.random.laplace)):
    for dtype in (jnp.bfloat16, jnp.float32):
        kind = name, jnp.dtype(dtype).name
        seen[kind] = describe(sampler, dtype)
        count, low, high, deviation = seen[kind]
        print(f"{kind[0]}, {kind[1]}: {count} values in [{low:.2f}, {high:.2f}], deviation {deviation:.3f}")
normal, laplace = seen["normal", "bfloat16"], seen["laplace", "bfloat16"]
if normal[0] > 128 or normal[2] > 3 or abs(laplace[1] + laplace[2]) < 0.5:
    sys.exit("changed: bfloat16 noise has more values or tails")
if seen["normal", "float32"][2] < 4.5:
    sys.exit("changed: float32 noise has no tails")
PYTHON
