"""The report of the study, made from its numbers."""

import math
from typing import Any

import numpy as np

from studies.words import num, table

CLASSES = (("epsilon", "ε"), ("rho", "ρ"), ("mu", "μ"))


def report(numbers: Any) -> str:
    audits, rows = numbers["reports"], numbers["detection"]
    above = [a for a in audits if a["bound"] > float(a["exact"])]
    finite = [a for a in audits if math.isfinite(float(a["exact"])) and float(a["exact"]) > 0]
    shares = [a["bound"] / float(a["exact"]) for a in finite]
    refuted = [a["bound"] / float(a["exact"]) for a in finite if a["verdict"] == "violation"]
    weakest = sorted(finite, key=lambda a: a["bound"] / float(a["exact"]))[:5]
    spent = [a["outputs"] for a in audits]
    search = np.median([s["search"] / sum(s.values()) for s in spent])
    names = list(dict.fromkeys(row["name"] for row in rows))
    losses = sorted({row["share"] for row in rows}, reverse=True)

    def cell(name: str, share: float) -> str:
        value = next(row["outputs"] for row in rows if row["name"] == name and row["share"] == share)
        return f"{int(value):,}" if value else "–"

    return f"""# How good is the auditor?

Bounds are *sampled*, each at the confidence of its report; exact values are *computed* to the errors in the reports. All numbers are in
[numbers.json](numbers.json).

## Bound against truth

![Bounds and exact values](truth.svg)

{len(audits)} audits of the committed reports are of mechanisms whose exact value on the pair found is known. {
        len(above)
    } of their bounds lie above it. Where it
is finite, the bound is {num(float(np.median(shares)), 2)} of it in the median, and {
        num(float(np.median(refuted)), 2)
    } among the claims that were refuted. Where it is far less, the loss
is small for so many outputs, or reached on outputs that are hardly ever seen, as no auditor can see either; the worst are

{
        table(
            ["audit", "bound", "exact", "verdict"],
            [[a["name"], num(a["bound"]), num(a["exact"]), a["verdict"].replace("_", " ")] for a in weakest],
        )
    }

## Outputs until a claim falls

Each mechanism claims ε = 1 (the Gaussian μ = 1), has noise whose scale is too small by the share given, and is audited on one pair of
neighbours on which its loss is all of that. Entries are outputs of both sides, selection included, with which {
        numbers["enough"]
    } of {numbers["runs"]} runs
refute the claim at {
        100
        * numbers["confidence"]:g} % confidence; sizes grow by √2, so that they are known to within that. (*Sampled*.)

![Outputs until refuted](detection.svg)

{
        table(
            ["", *(f"{100 * s:g} %" for s in losses)],
            [[name, *(cell(name, s) for s in losses)] for name in names],
        )
    }

Halving what is missing takes about four times the outputs.

## What the search costs

Over these audits the search for a pair took {
        num(100 * float(search), 2)
    } % of the outputs in the median; the smallest pair of a refuted claim took up to {
        num(100 * max(s["shrink"] / sum(s.values()) for s in spent), 2)
    } %.
The bound uses none of these outputs. What is lost by a search that misses the worst pair is not in this table: exact values are those on
the pair found.
"""
