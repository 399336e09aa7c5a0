#!/usr/bin/env bash
# Clamped values on the edges of a histogram: four libraries, four answers.
#
# Guess:   bins are closed on the left and open on the right, and the last
#          one takes the upper bound.
# Happens: that holds for numpy only. pandas.cut closes on the right and
#          loses the lower bound; polars closes on the right and keeps it;
#          boost-histogram puts the upper bound into the overflow, outside
#          of the counts.
# Matters: clamping to [0, 20] moves all outliers onto an edge, so the edge
#          is the most frequent value. Whether one person's record counts at
#          all, and where, depends on the library: counts of a test in numpy
#          do not foretell the released histogram, and the total falls.
# Source:  numpy.histogram, notes on the last bin; pandas.cut,
#          include_lowest; boost-histogram, axes with overflow.
#
# Seen on 2026-11-28:
#   clamped values: [0.0, 3.0, 10.0, 20.0, 20.0], edges [0.0, 10.0, 20.0]
#   numpy 2.4.6: [2, 3], total 5 of 5
#   pandas 3.1.1: [2, 2], total 4 of 5
#   polars 2.1.0: [3, 2], total 5 of 5
#   boost-histogram 1.8.1: [2, 1], total 3 of 5
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile numpy==2.4.6 pandas==3.1.1 polars==2.1.0 boost-histogram==1.8.1
"$work/venv/bin/python" - <<'PYTHON'
import sys

import boost_histogram as bh
import numpy as np
import pandas as pd
import polars as pl

edges = [0.0, 10.0, 20.0]
ages = np.clip([-5.0, 3.0, 10.0, 35.0, 50.0], 0, 20)
boost = bh.Histogram(bh.axis.Variable(edges))
boost.fill(ages)
counts = {
    f"numpy {np.__version__}": np.histogram(ages, edges)[0],
    f"pandas {pd.__version__}": pd.cut(pd.Series(ages), edges).value_counts(sort=False),
    f"polars {pl.__version__}": pl.Series(ages).hist(bins=edges)["count"],
    f"boost-histogram {bh.__version__}": boost.values(),
}
print(f"clamped values: {ages.tolist()}, edges {edges}")
seen = []
for name, values in counts.items():
    seen.append([int(v) for v in values])
    print(f"{name}: {seen[-1]}, total {sum(seen[-1])} of {len(ages)}")
if seen != [[2, 3], [2, 2], [3, 2], [2, 1]]:
    sys.exit("changed: an edge belongs to another bin")
PYTHON
