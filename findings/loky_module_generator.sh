#!/usr/bin/env bash
# Twelve noisy answers from joblib's worker processes, one noise: a
# generator at the top of a script travels with each task.
#
# Guess:   each worker has its own copy of the generator, so two workers
#          repeat each other, and within one worker the stream goes on.
# Happens: a function of the main script is pickled by value together with
#          the globals that it uses, anew for every batch of tasks, so each
#          batch starts from the same state: here twelve tasks with one
#          noise. Threads draw twelve.
# Matters: the difference of two answers is the exact difference of the
#          data. A test with one worker (n_jobs=1), where all is well,
#          cannot see it, and moving the function into an imported module
#          changes what happens.
# Source:  cloudpickle, functions of __main__ are pickled by value with
#          their globals; joblib's example on the random state within
#          joblib.Parallel.
#
# Seen on 2026-11-28:
#   joblib 1.6.0, numpy 2.4.6; twelve tasks of one total
#   loky, 1 worker(s): 12 different answers
#   threading, 2 worker(s): 12 different answers
#   loky, 2 worker(s): 1 different answers
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile joblib==1.6.0 numpy==2.4.6
cat > "$work/release.py" <<'PYTHON'
import sys

import joblib
import numpy as np

rng = np.random.default_rng(7)

def release(total):
    return float(total + rng.laplace())

if __name__ == "__main__":
    print(f"joblib {joblib.__version__}, numpy {np.__version__}; twelve tasks of one total")
    counts = {}
    for backend, jobs in (("loky", 1), ("threading", 2), ("loky", 2)):
        parallel = joblib.Parallel(n_jobs=jobs, backend=backend)
        answers = parallel(joblib.delayed(release)(0.0) for _ in range(12))
        counts[backend, jobs] = len(set(answers))
        print(f"{backend}, {jobs} worker(s): {len(set(answers))} different answers")
    if list(counts.values())[:2] != [12, 12] or counts["loky", 2] >= 12:
        sys.exit("changed: tasks in processes no longer repeat the noise")
PYTHON
"$work/venv/bin/python" "$work/release.py"
