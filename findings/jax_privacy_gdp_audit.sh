#!/usr/bin/env bash
# jax-privacy: an audit by epsilon_from_gdp of scores that tell nothing claims
# epsilon > 0 in nearly every run, and claims more for fewer canaries.
#
# Guess:   with significance = .05 a mechanism that leaks nothing is accused in
#          at most one run of 20, and few canaries give a weak bound.
# Happens: each threshold has an upper bound for both error rates, and from these
#          comes a lower bound for mu, a difference of two normal quantiles. Where
#          the two add up to more than 1 it is negative and says nothing; its
#          absolute value is taken, as if for the reverse attack. That attack
#          needs LOWER bounds of the error rates. The wider the interval, the
#          larger the claim.
# Matters: 'epsilon is at least 11', from ten canaries on each side and no leak.
#          The honest bounds of the same class have the same argument
#          'significance'. That a bound falls when data are taken away is a check
#          that needs no theory.
# Source:  jax_privacy/auditing.py, epsilon_from_gdp: np.abs; pull request 270 of
#          the repository (June 2026), in no release yet; Dong, Roth and Su
#          (2019), equation 6.
#
# Seen on 2026-11-29:
#   jax-privacy 2.0.0; 100 audits of scores that tell nothing, significance .05, delta 1e-5
#   10 canaries on each side: above 0 in 91 of 100, median 11.31; Clopper-Pearson 0 of 100
#   100 canaries on each side: above 0 in 98 of 100, median 7.96; Clopper-Pearson 0 of 100
#   1,000 canaries on each side: above 0 in 100 of 100, median 3.69; Clopper-Pearson 0 of 100
#   10,000 canaries on each side: above 0 in 100 of 100, median 2.28; Clopper-Pearson 0 of 100
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile jax-privacy==2.0.0 dp-accounting==0.6.0 jax==0.10.2 jaxlib==0.10.2 optax==0.2.8 scipy==1.17.1 numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import importlib.metadata
import sys

import numpy as np
from jax_privacy import auditing

print(f"jax-privacy {importlib.metadata.version('jax-privacy')}; 100 audits of scores that tell nothing, "
      "significance .05, delta 1e-5")
medians, accused = [], []
for n in (10, 100, 1_000, 10_000):
    gdp, exact = [], []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        audit = auditing.CanaryScoreAuditor(rng.random(n), rng.random(n))
        gdp.append(audit.epsilon_from_gdp(significance=0.05, delta=1e-5))
        exact.append(audit.epsilon_clopper_pearson(significance=0.05, delta=1e-5))
    medians.append(float(np.median(gdp)))
    accused.append(sum(value > 0 for value in gdp))
    print(f"{n:,} canaries on each side: above 0 in {accused[-1]} of 100, median {medians[-1]:.2f}; "
          f"Clopper-Pearson {sum(value > 0 for value in exact)} of 100")
if min(accused) < 50 or medians != sorted(medians, reverse=True):
    sys.exit("changed: an audit of scores that tell nothing claims little, or less for fewer canaries")
PYTHON
