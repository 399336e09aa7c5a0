#!/usr/bin/env bash
# Two enclosures that overlap: in python-flint each comparison is False, and
# min, max and sorted depend on the order of the arguments.
#
# Guess:   not (a < b) means a >= b; the maximum of two enclosures encloses
#          both.
# Happens: a < b, a > b, a == b, a >= b are all False for overlapping balls:
#          'not proved', which is not 'refuted'. max(a, b) and max(b, a) of
#          Python are two different balls, and one of them misses values of
#          the larger number.
# Matters: 'if bound <= claim: proved, else: refuted' reports a violation
#          from rounding alone, and 'if bound > claim: refuted, else:
#          proved' proves a wrong claim. The worst loss over cells must be
#          taken with arb.max, not max.
# Source:  python-flint, arb: a comparison is true only if it holds for all
#          points of both balls; arb.max.
#
# Seen on 2026-11-28:
#   python-flint 0.9.0; a = [0.1 +/- 0.0101], b = [0.10 +/- 7.01e-3]
#   a < b: False, a > b: False, a == b: False, a >= b: False, a <= b: False
#   max(a, b) = [0.1 +/- 0.0101], max(b, a) = [0.10 +/- 7.01e-3], a.max(b) = [0.11 +/- 7.01e-3]
#   each contains 0.1099, which a may be: [True, False, True]
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile python-flint==0.9.0
"$work/venv/bin/python" - <<'PYTHON'
import sys

import flint
from flint import arb

a, b = arb(0.100, 0.010), arb(0.105, 0.002)
answers = {"<": a < b, ">": a > b, "==": a == b, ">=": a >= b, "<=": a <= b}
print(f"python-flint {flint.__version__}; a = {a}, b = {b}")
print(", ".join(f"a {sign} b: {answer}" for sign, answer in answers.items()))
print(f"max(a, b) = {max(a, b)}, max(b, a) = {max(b, a)}, a.max(b) = {a.max(b)}")
within = [m.contains(arb(0.1099)) for m in (max(a, b), max(b, a), a.max(b))]
print(f"each contains 0.1099, which a may be: {within}")
if any(answers.values()) or within != [True, False, True]:
    sys.exit("changed: overlapping balls are ordered")
PYTHON
