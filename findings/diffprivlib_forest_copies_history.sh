#!/usr/bin/env bash
# diffprivlib: each tree of a forest gets a copy of every budget spend that the
# process has ever made, and the fit takes longer with each earlier call.
#
# Guess:   the default accountant has no limit, so it keeps a running total, and
#          the time of a fit depends on its data and its number of trees.
# Happens: the accountant keeps a list of all spends. The forest makes its trees
#          by scikit-learn's clone, which copies the accountant deeply, list and
#          all, once a tree. No tree's copy gets back what the tree would spend.
# Matters: a study that repeats fits (a benchmark, an audit, a server) becomes
#          slower without end; after 50,000 calls of any tool a fit with ten trees
#          takes some hundred times as long as in a new process.
# Source:  diffprivlib/models/forest.py, fit: _make_estimator for each tree;
#          accountant.py, spent_budget; sklearn/base.py, clone: deepcopy of what is
#          no estimator.
#
# Seen on 2026-11-29 (the factor depends on the machine):
#   diffprivlib 0.6.6, scikit-learn 1.6.1
#   spends in the copy of each tree after two fits: 2; after 50,000 calls more: 50,003
#   a fit takes 10 times as long or more: True
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile diffprivlib==0.6.6 scikit-learn==1.6.1 numpy==2.4.6
"$work/venv/bin/python" -W ignore - <<'PYTHON'
import importlib.metadata
import sys
import time

import numpy as np
from diffprivlib import models, tools

data, labels = np.array([[0.1, 0.2], [0.3, 0.4], [0.9, 0.8]]), np.array([0, 1, 1])


def fitted():
    """Return the number of spends that each tree's accountant lists after a fit, and the fit's processor seconds."""
    model = models.RandomForestClassifier(n_estimators=10, bounds=([0, 0], [1, 1]), classes=[0, 1], max_depth=1)
    began = time.process_time()
    model.fit(data, labels)
    return {len(tree.accountant.spent_budget) for tree in model.estimators_}, time.process_time() - began


fitted()
[before], early = fitted()
for _ in range(50_000):
    tools.count_nonzero(np.array([1.0]), epsilon=1.0)
[after], late = fitted()
versions = [f"{name} {importlib.metadata.version(name)}" for name in ("diffprivlib", "scikit-learn")]
print(", ".join(versions))
print(f"spends in the copy of each tree after two fits: {before}; after 50,000 calls more: {after:,}")
print(f"a fit takes 10 times as long or more: {late > 10 * early}")
if not (after - before == 50_001 and late > 10 * early):
    sys.exit("changed: the time of a fit no longer depends on all calls before it")
PYTHON
