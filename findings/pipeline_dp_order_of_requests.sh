#!/usr/bin/env bash
# PipelineDP: the same two mechanisms get twice the noise, or half, by which
# one was requested first.
#
# Guess:   a budget accountant composes what was requested; composition does
#          not depend on the order.
# Happens: PLDBudgetAccountant keeps the last loss distribution while it
#          goes through the list, and a truncated geometric mechanism makes
#          none: after a Laplace mechanism it composes that one once more,
#          before it nothing is composed for it.
# Matters: requested first, the truncated geometric mechanism is free: the
#          two together cost epsilon = 2 of a total of 1. The class is
#          marked experimental. That a permutation of requests changes no
#          noise is a check that needs no exact number.
# Source:  pipeline_dp/budget_accounting.py,
#          PLDBudgetAccountant._compose_distributions.
#
# Seen on 2026-11-28:
#   pipeline-dp 0.3.1; total epsilon 1, delta 1e-6
#   LAPLACE then TRUNCATED_GEOMETRIC: epsilon 0.500 and 0.500, 1.000 in all
#   TRUNCATED_GEOMETRIC then LAPLACE: epsilon 1.000 and 1.000, 2.000 in all
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile pipeline-dp==0.3.1 dp-accounting==0.6.0 scipy==1.17.1 numpy==2.1.3
"$work/venv/bin/python" - <<'PYTHON'
import importlib.metadata
import itertools
import logging
import sys

logging.disable(logging.WARNING)
from pipeline_dp.aggregate_params import MechanismType
from pipeline_dp.budget_accounting import PLDBudgetAccountant

version = importlib.metadata.version("pipeline-dp")
print(f"pipeline-dp {version}; total epsilon 1, delta 1e-6")
spent = []
for order in itertools.permutations((MechanismType.LAPLACE, MechanismType.TRUNCATED_GEOMETRIC)):
    accountant = PLDBudgetAccountant(1.0, 1e-6)
    specs = {kind: accountant.request_budget(kind) for kind in order}
    accountant.compute_budgets()
    laplace = 2**0.5 / specs[MechanismType.LAPLACE].noise_standard_deviation
    geometric = specs[MechanismType.TRUNCATED_GEOMETRIC].eps
    spent.append(laplace + geometric)
    names = " then ".join(kind.name for kind in order)
    print(f"{names}: epsilon {laplace:.3f} and {geometric:.3f}, {spent[-1]:.3f} in all")
if not (0.99 < spent[0] < 1.01 and 1.99 < spent[1] < 2.01):
    sys.exit("changed: the order does not matter, or otherwise")
PYTHON
