#!/usr/bin/env bash
# Opacus' Renyi accountant never states less than .1029 at delta = 1e-5,
# whatever the noise, and refuses a target of .1 that 35 sigmas reach.
#
# Guess:   epsilon goes to 0 as the noise grows; a small target only costs
#          noise.
# Happens: the orders end at 63, and the conversion from an order to
#          (epsilon, delta) leaves a term that no noise removes: sigma 100
#          gives .106, a million gives .1029. get_noise_multiplier for .1
#          raises 'The privacy budget is too low'. The PRV accountant
#          returns 35.
# Matters: small budgets look infeasible, and a sweep over noise has a false
#          plateau that reads as the price of composition: ten such
#          mechanisms, accounted apart and added, seem to cost 1.03.
# Source:  opacus/accountants/rdp.py, DEFAULT_ALPHAS;
#          opacus/accountants/utils.py, get_noise_multiplier.
#
# Seen on 2026-11-28:
#   opacus 1.6.0; one step at a full batch, delta 1e-5
#   sigma 1: epsilon 4.7285
#   sigma 10: epsilon 0.3753
#   sigma 100: epsilon 0.1060
#   sigma 1,000: epsilon 0.1029
#   sigma 1,000,000: epsilon 0.1029
#   target .1: rdp: The privacy budget is too low.; prv: sigma 35.0
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile opacus==1.6.0 torch==2.13.0 scipy==1.17.1 numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import sys
import warnings

warnings.simplefilter("ignore")
import opacus
from opacus.accountants import RDPAccountant
from opacus.accountants.utils import get_noise_multiplier

print(f"opacus {opacus.__version__}; one step at a full batch, delta 1e-5")
stated = {}
for sigma in (1.0, 10.0, 100.0, 1000.0, 1e6):
    accountant = RDPAccountant()
    accountant.step(noise_multiplier=sigma, sample_rate=1.0)
    stated[sigma] = accountant.get_epsilon(1e-5)
    print(f"sigma {sigma:,.0f}: epsilon {stated[sigma]:.4f}")
target = {"target_epsilon": 0.1, "target_delta": 1e-5, "sample_rate": 1.0, "steps": 1}
try:
    refused = f"sigma {get_noise_multiplier(accountant='rdp', **target)}"
except ValueError as error:
    refused = str(error)
reached = get_noise_multiplier(accountant="prv", **target)
print(f"target .1: rdp: {refused}; prv: sigma {reached:.1f}")
if not 0.1028 < stated[1e6] < 0.1030 or "too low" not in refused or not 30 < reached < 45:
    sys.exit("changed: the accountant has other orders, or another conversion")
PYTHON
