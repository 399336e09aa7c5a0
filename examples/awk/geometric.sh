#!/bin/sh
# awk by another name reads its input in large pieces and would wait for more: mawk needs -W interactive, the others do not.
if awk -W version 2>&1 </dev/null | grep -q mawk; then exec awk -W interactive -f geometric.awk; fi
exec awk -f geometric.awk
