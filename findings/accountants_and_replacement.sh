#!/usr/bin/env bash
# dp-accounting: told that a record is replaced, one accountant doubles the
# sensitivity of a Gaussian and the other does not.
#
# Guess:   the two accountants differ by tightness only: the Renyi bound is
#          a little above the exact one, in every relation.
# Happens: for sigma = 1 at delta = 1e-5 the Renyi accountant states 4.73 in
#          both relations; the one of loss distributions 4.38 (add or
#          remove) and 9.997 (replace). The 'looser' bound is half of the
#          exact one.
# Matters: a noise multiplier means sigma over the sensitivity of the
#          declared relation for one, and over the clipping norm for the
#          other. Switching accountants, or comparing them to see which is
#          tighter, changes the guarantee by a factor of two.
# Source:  dp_accounting/rdp/rdp_privacy_accountant.py, GaussianDpEvent (no
#          use of the relation);
#          dp_accounting/pld/pld_privacy_accountant.py, the same event.
#
# Seen on 2026-11-28:
#   dp-accounting 0.6.0, Gaussian, sigma 1, delta 1e-5
#   RdpAccountant, ADD_OR_REMOVE_ONE: 4.7285
#   RdpAccountant, REPLACE_ONE: 4.7285
#   PLDAccountant, ADD_OR_REMOVE_ONE: 4.3772
#   PLDAccountant, REPLACE_ONE: 9.9973
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile dp-accounting==0.6.0 scipy==1.17.1 numpy==2.1.3
"$work/venv/bin/python" - <<'PYTHON'
import importlib.metadata
import sys

import dp_accounting
from dp_accounting import pld, rdp

relations = dp_accounting.NeighboringRelation
stated = {}
print(f"dp-accounting {importlib.metadata.version('dp-accounting')}, Gaussian, sigma 1, delta 1e-5")
for accountant in (rdp.RdpAccountant, pld.PLDAccountant):
    for relation in (relations.ADD_OR_REMOVE_ONE, relations.REPLACE_ONE):
        a = accountant(neighboring_relation=relation)
        a.compose(dp_accounting.GaussianDpEvent(1.0))
        name = f"{accountant.__name__}, {relation.name}"
        stated[name] = a.get_epsilon(1e-5)
        print(f"{name}: {stated[name]:.4f}")
if [round(e, 2) for e in stated.values()] != [4.73, 4.73, 4.38, 10.0]:
    sys.exit("changed: an accountant takes the relation otherwise")
PYTHON
