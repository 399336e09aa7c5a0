#!/usr/bin/env bash
# An SMT solver refutes a right bound, or hides a wrong one, through a
# division by zero that Python never makes.
#
# Guess:   x / 0 is an error in the solver, or the formula with it is false.
# Happens: in SMT-LIB division is total: 1/0 may be any number, the same
#          wherever it occurs. z3 finds a 'counterexample' to the bound on a
#          clamped mean at n = 0; and integer division of negative numbers
#          is not Python's // either.
# Matters: means of no records are the edge where mechanisms break. A guard
#          'n if n else 1' must be in the formula; without it a model of the
#          solver is not a pair of data sets, and where both sides divide by
#          0 the two quotients agree and a real difference stays hidden.
# Source:  SMT-LIB 2.7, theory Reals, note on division by zero; z3 guide,
#          'Division'.
#
# Seen on 2026-11-28:
#   z3 5.4.1
#   a mean of numbers in [0, 1] outside of [0, 1]: sat, at n = 0
#   two quotients 0/0 that differ: unsat
#   -7/2, 7/-2, -7/-2: Python [-4, -4, 3], z3 [-4, -3, 4]
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile z3-solver==5.4.1.0
"$work/venv/bin/python" - <<'PYTHON'
import sys

import z3

total, other, n = z3.Reals("total other n")
mean = z3.Solver()
mean.add(0 <= total, total <= n, n >= 0, z3.Or(total / n > 1, total / n < 0))
wrong = mean.check()
where = mean.model()[n]
print(f"z3 {z3.get_version_string()}")
print(f"a mean of numbers in [0, 1] outside of [0, 1]: {wrong}, at n = {where}")
hidden = z3.Solver()
hidden.add(total == 0, other == 0, n == 0, total / n != other / n)
print(f"two quotients 0/0 that differ: {hidden.check()}")
pairs = [(-7, 2), (7, -2), (-7, -2)]
ours = [a // b for a, b in pairs]
theirs = [z3.simplify(z3.IntVal(a) / z3.IntVal(b)).as_long() for a, b in pairs]
print(f"-7/2, 7/-2, -7/-2: Python {ours}, z3 {theirs}")
answers = str(wrong), str(where), str(hidden.check()), theirs
if answers != ("sat", "0", "unsat", [-4, -3, 4]):
    sys.exit("changed: the solver divides otherwise")
PYTHON
