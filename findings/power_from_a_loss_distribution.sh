#!/usr/bin/env bash
# riskcal: the power of an attack at a false positive rate of 1e-8, read
# from a loss distribution of dp-accounting, is 170,000 times too small.
#
# Guess:   the distribution is pessimistic, so every number derived from it
#          errs towards more risk.
# Happens: it is right for delta(epsilon), where its masses enter as a
#          whole. Read as two laws of an output, the far tail has been cut
#          and merged: at 1e-4 the power agrees to four digits, at 1e-8 it
#          is 1.2e-11 for 2.0e-6.
# Matters: 'true positives at a low false positive rate' is how membership
#          inference is reported, and 1e-8 is the rate of interest for a
#          country's records. The closed form of a Gaussian is at hand and
#          shows it; for other mechanisms nothing does.
# Source:  riskcal.analysis.get_beta_from_pld; dp_accounting.pld, the cut
#          tail of from_gaussian_mechanism (log_mass_truncation_bound).
#
# Seen on 2026-11-28:
#   riskcal 1.5.1, Gaussian, sigma 1; power at a rate
#   1e-02: stated 9.236e-02, exact 9.236e-02, ratio 1.0e+00
#   1e-04: stated 3.273e-03, exact 3.274e-03, ratio 1.0e+00
#   1e-06: stated 8.601e-05, exact 8.722e-05, ratio 9.9e-01
#   1e-08: stated 1.167e-11, exact 1.994e-06, ratio 5.9e-06
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile riskcal==1.5.1 dp-accounting==0.6.0 scipy==1.17.1 numpy==2.1.3
"$work/venv/bin/python" - <<'PYTHON'
import importlib.metadata
import sys
import warnings

warnings.simplefilter("ignore")
import riskcal
from dp_accounting.pld import privacy_loss_distribution
from scipy.stats import norm

pld = privacy_loss_distribution.from_gaussian_mechanism(1.0)
print(f"riskcal {importlib.metadata.version('riskcal')}, Gaussian, sigma 1; power at a rate")
ratios = {}
for rate in (1e-2, 1e-4, 1e-6, 1e-8):
    stated = float(1 - riskcal.analysis.get_beta_from_pld(pld, rate))
    exact = norm.cdf(norm.ppf(rate) + 1)
    ratios[rate] = stated / exact
    print(f"{rate:.0e}: stated {stated:.3e}, exact {exact:.3e}, ratio {ratios[rate]:.1e}")
if not 0.999 < ratios[1e-4] < 1.001 or ratios[1e-8] > 1e-3:
    sys.exit("changed: the power at a small rate is another one")
PYTHON
