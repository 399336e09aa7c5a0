#!/usr/bin/env bash
# delta: 1e-5 in a YAML file is text for PyYAML and a number for
# ruamel.yaml; an exponent without a sign is text even with a point.
#
# Guess:   1e-5 is a float in every parser, as in JSON, TOML and Python.
# Happens: PyYAML follows YAML 1.1, where a float needs a point and its
#          exponent a sign: 1e-5 and 1.0e5 are strings. YAML 1.2, in
#          ruamel.yaml, reads floats. 017 is 15 in one, 17 in the other.
# Matters: a configured delta becomes the text '1e-5'. A comparison raises
#          at least; a template, a hash of the configuration, or 'if it is
#          no number, take 1/n' goes on with another guarantee than the file
#          states.
# Source:  YAML 1.1, type 'float', against YAML 1.2.2, section 10.3.2.
#
# Seen on 2026-11-28:
#   PyYAML 6.0.4, ruamel.yaml 0.19.1
#   1e-5: '1e-5' and 1e-05
#   1.0e-5: 1e-05 and 1e-05
#   1e5: '1e5' and 100000.0
#   1.0e5: '1.0e5' and 100000.0
#   1.0e+5: 100000.0 and 100000.0
#   017: 15 and 17
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile PyYAML==6.0.4 ruamel.yaml==0.19.1
"$work/venv/bin/python" - <<'PYTHON'
import sys

import ruamel.yaml
import yaml

new = ruamel.yaml.YAML(typ="safe", pure=True)
print(f"PyYAML {yaml.__version__}, ruamel.yaml {ruamel.yaml.__version__}")
read = {}
for text in ("1e-5", "1.0e-5", "1e5", "1.0e5", "1.0e+5", "017"):
    read[text] = yaml.safe_load(text), new.load(text)
    print(f"{text}: {read[text][0]!r} and {read[text][1]!r}")
expected = {
    "1e-5": ("1e-5", 1e-5),
    "1.0e-5": (1e-5, 1e-5),
    "1e5": ("1e5", 1e5),
    "1.0e5": ("1.0e5", 1e5),
    "1.0e+5": (1e5, 1e5),
    "017": (15, 17),
}
if read != expected:
    sys.exit("changed: a number is read otherwise")
PYTHON
