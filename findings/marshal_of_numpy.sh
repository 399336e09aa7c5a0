#!/usr/bin/env bash
# marshal, Python's own format for Python's own types, writes any NumPy
# value as bare bytes, without an error.
#
# Guess:   marshal.dumps raises 'unmarshallable object' for a NumPy scalar,
#          as it does for a Fraction; or, a numpy.float64 being a float,
#          writes the number.
# Happens: whatever has a buffer is written as bytes: a float64 of 1.5 comes
#          back as eight bytes, in lists and dicts too, and the shape and
#          type of an array are lost.
# Matters: an output that travels between processes this way arrives as an
#          opaque, nearly unique byte string. Everything that compares
#          outputs, looks for a threshold or counts values sees noise only,
#          and nothing raised an error.
# Source:  Python manual, marshal: supported types; CPython,
#          Python/marshal.c, the branch for the buffer protocol at the end
#          of w_complex_object.
#
# Seen on 2026-11-28:
#   Python 3.11.7, numpy 2.4.6
#   1.5: 1.5
#   np.float64(1.5): b'\x00\x00\x00\x00\x00\x00\xf8?'
#   [np.float64(1.5)]: [b'\x00\x00\x00\x00\x00\x00\xf8?']
#   {'k': array([0, 1], dtype=int16)}: {'k': b'\x00\x00\x01\x00'}
#   Fraction(3, 2): unmarshallable object
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import marshal
import platform
import sys
from fractions import Fraction

import numpy as np

print(f"Python {platform.python_version()}, numpy {np.__version__}")
for value in (1.5, np.float64(1.5), [np.float64(1.5)], {"k": np.arange(2, dtype=np.int16)}):
    print(f"{value!r}: {marshal.loads(marshal.dumps(value))!r}")
try:
    marshal.dumps(Fraction(3, 2))
    refused = False
except ValueError as error:
    refused = True
    print(f"Fraction(3, 2): {error}")
arrived = marshal.loads(marshal.dumps(np.float64(1.5)))
if not refused or arrived != np.float64(1.5).tobytes():
    sys.exit("changed: NumPy values are refused or kept")
PYTHON
