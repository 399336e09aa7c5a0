#!/usr/bin/env bash
# jax-privacy: correlated noise from a dense matrix of n rows is, from step n on,
# the same noise at each step.
#
# Guess:   a run that goes on for longer than the matrix was made for stops with
#          an IndexError, or gets noise of its own for each further step.
# Happens: step i reads row i of the matrix, and JAX moves an index past the end
#          to the last row, also outside jit. The draws depend on one key and the
#          number of the column, so the last row is the same vector again and
#          again. The streaming form of the same strategy goes on with new noise.
# Matters: one step too many (an epoch rounded up, a run resumed for longer), and
#          the difference of two released gradients has no noise. Nothing says
#          so, and the variance of each step is as it should be.
# Source:  jax_privacy/noise_addition.py, _dense_matrix_factorization_privatizer;
#          JAX documentation, 'sharp bits', out-of-bounds indexing; pull request
#          338 of the repository (July 2026, an IndexError), in no release yet.
#
# Seen on 2026-11-29:
#   jax-privacy 2.0.0, jax 0.10.2; a matrix for 4 steps; gradient 0, then 3 at step 6
#   dense: steps whose noise is that of the step before: [5, 6, 7, 8]; step 6 minus step 5: 3.000000
#   streaming: steps whose noise is that of the step before: []
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile jax-privacy==2.0.0 dp-accounting==0.6.0 jax==0.10.2 jaxlib==0.10.2 optax==0.2.8 scipy==1.17.1 numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import importlib.metadata
import sys

import numpy as np
from jax_privacy import noise_addition
from jax_privacy.matrix_factorization import toeplitz

steps, longer = 4, 8
strategy = toeplitz.optimal_max_error_strategy_coefs(steps)
inverse = np.linalg.inv(np.asarray(toeplitz.materialize_lower_triangular(strategy)))
streaming = toeplitz.inverse_as_streaming_matrix(strategy)


def released(matrix):
    """Return the released gradients: the true one is 3 at step 6 and 0 at all others."""
    privatizer = noise_addition.matrix_factorization_privatizer(matrix, stddev=1.0, prng_key=7)
    state = privatizer.init(np.zeros(2, np.float32))
    seen = []
    for step in range(1, longer + 1):
        gradient = np.full(2, 3.0 if step == 6 else 0.0, np.float32)
        noisy, state = privatizer.update(gradient, state)
        seen.append(np.asarray(noisy, float))
    return seen


def repeats(seen):
    """Return the steps whose noise is that of the step before."""
    noise = [row - (3.0 if step == 6 else 0.0) for step, row in enumerate(seen, 1)]
    return [k + 1 for k in range(1, longer) if np.allclose(noise[k], noise[k - 1], atol=1e-5)]


versions = [f"{name} {importlib.metadata.version(name)}" for name in ("jax-privacy", "jax")]
print(f"{', '.join(versions)}; a matrix for {steps} steps; gradient 0, then 3 at step 6")
dense, stream = released(inverse), released(streaming)
print(f"dense: steps whose noise is that of the step before: {repeats(dense)}; "
      f"step 6 minus step 5: {dense[5][0] - dense[4][0]:.6f}")
print(f"streaming: steps whose noise is that of the step before: {repeats(stream)}")
if repeats(dense) != [5, 6, 7, 8] or repeats(stream):
    sys.exit("changed: past its last row the dense matrix gives noise of its own, or an error")
PYTHON
