#!/usr/bin/env bash
# xxhash 4 (2026) hashes no text, and pure-ldp's local hashing, which does
# not pin it, fails on its first report.
#
# Guess:   a hash library keeps its interface; an LDP client from a fresh
#          install works as it did.
# Happens: xxhash 4 wants bytes, where 3.x encoded a str by itself. Encoded
#          by hand both give the same numbers, so stored reports stay valid.
# Matters: a fresh environment breaks clients and servers of optimal local
#          hashing, while a locked one runs on. Repairing it with another
#          hash or encoding would silently change every bucket: the repair
#          is str.encode, checked against old reports.
# Source:  the TypeError that xxhash 4 raises;
#          pure_ldp/frequency_oracles/local_hashing/lh_client.py, line 69.
#
# Seen on 2026-11-28:
#   xxhash 3.5.0: text int; bytes 319659373; a report tuple
#   xxhash 4.1.0: text TypeError: Strings must be encoded before hashing; bytes 319659373; a report TypeError: Strings must be encoded before hashing
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile numpy==2.4.6 scipy==1.17.1 pandas==3.1.1 \
    bitarray==3.12.3 bitstring==5.0.0 statsmodels==0.15.0 scikit-learn==1.9.1
"$work/venv/bin/pip" install -qq --no-compile --no-deps pure-ldp==1.2.0
cat > "$work/report.py" <<'PYTHON'
import sys

import xxhash
from pure_ldp.frequency_oracles.local_hashing import LHClient

def outcome(call):
    try:
        return type(call()).__name__
    except TypeError as error:
        return f"TypeError: {error}"

report = outcome(lambda: LHClient(epsilon=1.0, d=10).privatise(3))
text = outcome(lambda: xxhash.xxh32("3", seed=7).intdigest())
of_bytes = xxhash.xxh32(b"3", seed=7).intdigest()
print(f"xxhash {xxhash.VERSION}: text {text}; bytes {of_bytes}; a report {report}")
old = xxhash.VERSION.startswith("3")
if of_bytes != 319659373 or (text == "int") != old or (report == "tuple") != old:
    sys.exit("changed: xxhash takes text, or hashes bytes to another number")
PYTHON
for version in 3.5.0 4.1.0; do
    "$work/venv/bin/pip" install -qq --no-compile --no-deps "xxhash==$version"
    "$work/venv/bin/python" "$work/report.py"
done
