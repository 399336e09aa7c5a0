#!/usr/bin/env bash
# Directed rounding in Python's decimal: exp, ln, log10 and sqrt round to
# nearest, whatever the context says, so a 'lower' bound lies above.
#
# Guess:   with ROUND_FLOOR every operation of a context rounds down, so
#          that intervals of decimals enclose.
# Happens: division and ** obey; exp, ln, log10 and sqrt always round half
#          to even. In five digits the floor of e is 2.7183, which exceeds
#          e. MPFR (gmpy2) rounds each function as asked.
# Matters: bounds on exp(epsilon) by 'decimal with ROUND_CEILING' are not
#          rigorous: half of them are on the wrong side by up to half a
#          unit, and a proof of delta = P - exp(epsilon) Q does not hold in
#          its last digit.
# Source:  Python manual, Decimal.exp and Decimal.ln: rounded by
#          ROUND_HALF_EVEN; Lib/_pydecimal.py, lines 2820, 3115, 3247 and
#          3328.
#
# Seen on 2026-11-28:
#   Python 3.11.7, five digits, floor and ceiling:
#   1/3: 0.33333 and 0.33334
#   exp(1): 2.7183 and 2.7183
#   ln(2): 0.69315 and 0.69315
#   log10(2): 0.30103 and 0.30103
#   gmpy2 2.3.2, exp(1) in 17 bits: 2.718262 and 2.718292
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile gmpy2==2.3.2
"$work/venv/bin/python" - <<'PYTHON'
import decimal
import platform
import sys
from decimal import Decimal

import gmpy2

def rounded(mode):
    with decimal.localcontext(decimal.Context(prec=5, rounding=mode)):
        return Decimal(1) / 3, Decimal(1).exp(), Decimal(2).ln(), Decimal(2).log10()

down, up = rounded(decimal.ROUND_FLOOR), rounded(decimal.ROUND_CEILING)
print(f"Python {platform.python_version()}, five digits, floor and ceiling:")
for name, low, high in zip(("1/3", "exp(1)", "ln(2)", "log10(2)"), down, up):
    print(f"{name}: {low} and {high}")
bounds = []
for mode in (gmpy2.RoundDown, gmpy2.RoundUp):
    with gmpy2.context(precision=17, round=mode):
        bounds.append(gmpy2.exp(1))
print(f"gmpy2 {gmpy2.version()}, exp(1) in 17 bits: {bounds[0]} and {bounds[1]}")
e = Decimal(1).exp(decimal.Context(prec=30))
if down[0] == up[0] or down[1:] != up[1:] or not down[1] > e or bounds[0] >= bounds[1]:
    sys.exit("changed: decimal rounds exp, ln or log10 as the context says")
PYTHON
