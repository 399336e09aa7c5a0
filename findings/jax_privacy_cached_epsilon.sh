#!/usr/bin/env bash
# jax-privacy: a cached accountant answers for the noise of the first
# request, whatever noise is asked for next.
#
# Guess:   the cache is keyed by what the answer depends on; its docstring
#          promises that a cached number never lies below the true one.
# Happens: the cache is filled at the first call and holds numbers of
#          updates only. Asked for sigma 4 and then sigma 1, it states .0795
#          twice; without the cache the second is .718.
# Matters: comparing noise multipliers in one session, or calibrating
#          through the cached object, gives the first answer for all: nine
#          times below the exact one here. The order of the requests decides
#          whether the number is safe.
# Source:  jax_privacy/accounting/analysis.py,
#          CachedExperimentAccountant._maybe_initialize_cache.
#
# Seen on 2026-11-28:
#   jax-privacy 2.0.0; rate .01, 100 updates, delta 1e-5
#   order (4.0, 1.0), sigma 4.0: cached 0.0795, not cached 0.0795
#   order (4.0, 1.0), sigma 1.0: cached 0.0795, not cached 0.7180
#   order (1.0, 4.0), sigma 1.0: cached 0.7180, not cached 0.7180
#   order (1.0, 4.0), sigma 4.0: cached 0.7180, not cached 0.0795
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile jax-privacy==2.0.0 dp-accounting==0.6.0 jax==0.10.2 jaxlib==0.10.2 scipy==1.17.1 numpy==2.1.3
"$work/venv/bin/python" - <<'PYTHON'
import importlib.metadata
import sys

from jax_privacy import accounting

def parameters(sigma):
    return accounting.DpParams(
        noise_multipliers=sigma, num_samples=10_000, delta=1e-5, batch_size=100
    )

def cached():
    exact = accounting.DpsgdTrainingAccountant(accounting.PldAccountantConfig())
    return accounting.CachedExperimentAccountant(exact, 100, 10)

version = importlib.metadata.version("jax-privacy")
print(f"jax-privacy {version}; rate .01, 100 updates, delta 1e-5")
stated = {}
for order in ((4.0, 1.0), (1.0, 4.0)):
    accountant = cached()
    for sigma in order:
        with_cache = accountant.compute_epsilon(100, parameters(sigma), allow_approximate_cache=True)
        without = accountant.compute_epsilon(100, parameters(sigma))
        stated[order, sigma] = with_cache, without
        print(f"order {order}, sigma {sigma}: cached {with_cache:.4f}, not cached {without:.4f}")
low, exact = stated[(4.0, 1.0), 1.0]
if not low < 0.2 * exact or stated[(1.0, 4.0), 4.0][0] < 0.5:
    sys.exit("changed: the cache knows the noise")
PYTHON
