#!/usr/bin/env bash
# A column that is clipped in place: pandas 3 clips a copy, and the frame
# keeps its outlier.
#
# Guess:   `for _, column in frame.items(): column.clip(0, 10,
#          inplace=True)` bounds every contribution, as it has for years; if
#          it ever stopped, pandas would warn.
# Happens: under pandas 2.3.3 the frame is clipped; under 3.1.1 it is not,
#          and nothing is warned. Only the one-line chain
#          frame[name].clip(..., inplace=True) warns.
# Matters: the clip is the sensitivity bound. After the upgrade the same
#          program adds noise for a bound of 10 to a sum that holds
#          1,000,000.
# Source:  pandas 3.0 release notes, 'Copy-on-Write';
#          pandas.errors.ChainedAssignmentError, which covers chains only.
#
# Seen on 2026-11-28:
#   pandas 2.3.3, items: sum 15, warnings []
#   pandas 2.3.3, named: sum 15, warnings []
#   pandas 2.3.3, chain: sum 15, warnings ['FutureWarning']
#   pandas 3.1.1, items: sum 1,000,005, warnings []
#   pandas 3.1.1, named: sum 1,000,005, warnings []
#   pandas 3.1.1, chain: sum 1,000,005, warnings ['ChainedAssignmentError']
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/clip.py" <<'PYTHON'
import sys
import warnings

import pandas as pd

def clipped(way):
    frame = pd.DataFrame({"pay": [0.0, 5.0, 1e6]})
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        if way == "items":
            for _, column in frame.items():
                column.clip(0, 10, inplace=True)
        elif way == "named":
            column = frame["pay"]
            column.clip(0, 10, inplace=True)
        else:
            frame["pay"].clip(0, 10, inplace=True)
    return frame["pay"].sum(), [w.category.__name__ for w in heard]

expected = 15.0 if pd.__version__ == "2.3.3" else 1000005.0
for way in ("items", "named", "chain"):
    total, heard = clipped(way)
    print(f"pandas {pd.__version__}, {way}: sum {total:,.0f}, warnings {heard}")
    if total != expected or (way != "chain" and heard):
        sys.exit("changed: the sum or the warnings differ from those above")
PYTHON
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile numpy==2.4.6 python-dateutil==2.9.0.post0 pytz==2026.2 tzdata==2026.3
for version in 2.3.3 3.1.1; do
    "$work/venv/bin/pip" install -qq --no-compile --no-deps --target "$work/$version" "pandas==$version"
    PYTHONPATH="$work/$version" "$work/venv/bin/python" "$work/clip.py"
done
