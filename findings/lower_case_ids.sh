#!/usr/bin/env bash
# An id in lower case: Python and pandas disagree, and pandas with itself, by
# whether pyarrow is installed.
#
# Guess:   lower() of a name is one text, whichever tool makes it, so people
#          can be matched and counted by it.
# Happens: Python writes the Turkish I with a dot as two characters and the
#          last Greek sigma as its final form; Arrow's kernel and DuckDB go
#          letter by letter. pandas 3 has text in Arrow where pyarrow is
#          installed, and then gives another name for the same line of code.
# Matters: an opt-out list that was made by one tool does not find the person
#          in the frame of another, and one person with two ids has two
#          contributions. casefold() differs from lower() by design.
# Source:  Unicode, SpecialCasing.txt; pandas' string dtype: "storage: pyarrow
#          if installed"; Arrow's kernel utf8_lower.
#
# Seen on 2026-11-29:
#   name İpek: Python 5 characters; pandas alone 5, with pyarrow 4; polars 5; DuckDB 4
#   name ΑΛΕΞΗΣ: Python αλεξης; pandas alone αλεξης, with pyarrow αλεξησ; polars αλεξης; DuckDB αλεξησ
#   of an opt-out list of 2, made by Python: found by pandas alone 2, with pyarrow 0
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile pandas==3.1.1 polars==2.1.0 duckdb==2.0.1 numpy==2.4.6
cat > "$work/lower.py" <<'PYTHON'
import json
import sys

import pandas as pd

print(json.dumps(pd.Series(sys.argv[1:]).str.lower().tolist()))
PYTHON
alone=$("$work/venv/bin/python" "$work/lower.py" İpek ΑΛΕΞΗΣ)
"$work/venv/bin/pip" install -qq --no-compile pyarrow==26.0.1
beside=$("$work/venv/bin/python" "$work/lower.py" İpek ΑΛΕΞΗΣ)
"$work/venv/bin/python" - "$alone" "$beside" <<'PYTHON'
import json
import sys

import duckdb
import polars as pl

names = ["İpek", "ΑΛΕΞΗΣ"]
lowered = {
    "Python": [name.lower() for name in names],
    "pandas alone": json.loads(sys.argv[1]),
    "with pyarrow": json.loads(sys.argv[2]),
    "polars": pl.Series(names).str.to_lowercase().to_list(),
    "DuckDB": [duckdb.connect().execute("SELECT lower(?)", [name]).fetchall()[0][0] for name in names],
}
shown = [{tool: f"{len(texts[0])}" for tool, texts in lowered.items()}, {tool: texts[1] for tool, texts in lowered.items()}]
for name, by, unit in zip(names, shown, (" characters", ""), strict=True):
    print(
        f"name {name}: Python {by['Python']}{unit}; pandas alone {by['pandas alone']}, "
        f"with pyarrow {by['with pyarrow']}; polars {by['polars']}; DuckDB {by['DuckDB']}"
    )
listed = set(lowered["Python"])
matched = [len(listed & set(lowered[tool])) for tool in ("pandas alone", "with pyarrow")]
print(f"of an opt-out list of 2, made by Python: found by pandas alone {matched[0]}, with pyarrow {matched[1]}")
if matched != [2, 0] or lowered["polars"] != lowered["Python"] or lowered["DuckDB"] != lowered["with pyarrow"]:
    sys.exit("changed: lower() is another text")
PYTHON
