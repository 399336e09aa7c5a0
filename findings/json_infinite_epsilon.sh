#!/usr/bin/env bash
# An infinite epsilon in a report: three of five JSON writers turn it into
# null, the value of 'not computed'.
#
# Guess:   either the writer raises, since JSON has no infinity, or it
#          writes Infinity, as Python does.
# Happens: orjson, msgspec and pandas write null without a word; json and
#          ujson write Infinity, which orjson and msgspec refuse to read.
# Matters: infinity is the honest answer for 'no guarantee' (a Gaussian at
#          delta = 0, a budget that is spent). Read back as None it is
#          skipped by maxima and filters, and the worst mechanism vanishes
#          from the table.
# Source:  RFC 8259, section 6 (no infinity); orjson's README on nan and
#          inf.
#
# Seen on 2026-11-28:
#   json: {"epsilon": Infinity}
#   ujson 6.1.0: {"epsilon":Infinity}
#   orjson 3.13.0: {"epsilon":null}
#   msgspec 0.22.0: {"epsilon":null}
#   pandas 3.1.1: {"epsilon":null}
#   what json wrote is refused by 2 of orjson, msgspec
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile orjson==3.13.0 ujson==6.1.0 msgspec==0.22.0 pandas==3.1.1 numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import json
import math
import sys

import msgspec
import orjson
import pandas as pd
import ujson

report = {"epsilon": math.inf}
written = {
    "json": json.dumps(report),
    f"ujson {ujson.__version__}": ujson.dumps(report),
    f"orjson {orjson.__version__}": orjson.dumps(report).decode(),
    f"msgspec {msgspec.__version__}": msgspec.json.encode(report).decode(),
    f"pandas {pd.__version__}": pd.Series(report).to_json(),
}
for name, text in written.items():
    print(f"{name}: {text}")
refused = 0
for read in (orjson.loads, msgspec.json.decode):
    try:
        read(written["json"])
    except ValueError:
        refused += 1
print(f"what json wrote is refused by {refused} of orjson, msgspec")
nulls = ["null" in text for text in written.values()]
if nulls != [False, False, True, True, True] or refused != 2:
    sys.exit("changed: infinity is written or read otherwise")
PYTHON
