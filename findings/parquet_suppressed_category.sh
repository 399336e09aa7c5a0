#!/usr/bin/env bash
# Parquet: a place that was suppressed because few people live there is
# still in the file by its name.
#
# Guess:   a frame without the rows of a small group holds nothing of it, and
#          neither does the file that is released.
# Happens: a category column keeps its categories when rows go, and the
#          dictionary is written as it is, by pandas and by a slice in
#          pyarrow: the bytes hold the name, and reading brings the category
#          back, with a count of 0. polars writes what is left.
# Matters: 'groups below five are left out' is a contribution threshold; that
#          somebody was in the group is what it should hide. A differencing of
#          two such files shows who came. remove_unused_categories() first.
# Source:  pandas.Series.cat.remove_unused_categories; Arrow's
#          DictionaryArray: a slice shares its dictionary.
#
# Seen on 2026-11-29:
#   41 people in three places, one of them alone in Zermatt; the place is left out
#   pandas 3.1.1, to_parquet: 40 rows; the name in the file: True; read again: Zermatt 0
#   pandas 3.1.1, to_feather: 40 rows; the name in the file: True
#   pyarrow 26.0.1, write_table of a slice: 40 rows; the name in the file: True
#   polars 2.1.0, write_parquet: 40 rows; the name in the file: False
#   pandas 3.1.1, without unused categories: 40 rows; the name in the file: False
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile pandas==3.1.1 polars==2.1.0 pyarrow==26.0.1 numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import io
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

places = ["Bern"] * 20 + ["Chur"] * 20 + ["Zermatt"]
frame = pd.DataFrame({"place": pd.Categorical(places)})
kept = frame.groupby("place", observed=True).filter(lambda group: len(group) >= 5)
unused = kept.assign(place=kept["place"].cat.remove_unused_categories())
table = pa.table({"place": pa.array(places).dictionary_encode()}).slice(0, 40)
columns = pl.DataFrame({"place": places}, schema={"place": pl.Categorical}).filter(pl.len().over("place") >= 5)

def written(write):
    file = io.BytesIO()
    write(file)
    return file.getvalue()

files = {
    f"pandas {pd.__version__}, to_parquet": written(kept.to_parquet),
    f"pandas {pd.__version__}, to_feather": written(kept.to_feather),
    f"pyarrow {pa.__version__}, write_table of a slice": written(lambda file: pq.write_table(table, file)),
    f"polars {pl.__version__}, write_parquet": written(columns.write_parquet),
    f"pandas {pd.__version__}, without unused categories": written(unused.to_parquet),
}
again = pd.read_parquet(io.BytesIO(next(iter(files.values()))))["place"].value_counts()
print(f"{len(places)} people in three places, one of them alone in Zermatt; the place is left out")
for number, (words, data) in enumerate(files.items()):
    read = f"; read again: Zermatt {again['Zermatt']}" if number == 0 else ""
    print(f"{words}: {len(kept)} rows; the name in the file: {b'Zermatt' in data}{read}")
if [b"Zermatt" in data for data in files.values()] != [True, True, True, False, False]:
    sys.exit("changed: a dictionary holds what is in use")
PYTHON
