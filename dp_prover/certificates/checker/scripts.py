"""Checks a session's certificate: its bound holds for each script alone, and so for an adaptive analyst; see ``analyst``.

The first draws of each trace are the analyst's steps, each equally likely.
"""

from fractions import Fraction
from typing import Any

from dp_prover.certificates.checker.exact_numbers import Q, need
from dp_prover.certificates.checker.paths import paths


def scripts_apart(proof: Any, delta: Fraction) -> None:
    """Raise ValueError if a cell mixes paths of different scripts, or if δ > 0 although there are several scripts."""
    asked = proof["asked"]
    need(type(asked) is dict and {*asked} == {"rounds", "meter"}, "the keys of what is asked")
    need(asked["rounds"] and all(type(steps) is list and steps for steps in asked["rounds"]), "steps of each round")
    counts = [len(steps) for steps in asked["rounds"] if len(steps) > 1]
    if not counts:
        return
    need(proof["rule"] in ("alignment", "masses") and delta == 0, "pure ε, for an analyst who looks at answers")
    for trace in proof.get("traces", ()):
        _choices_first(trace["tree"], counts)
    for entry in proof["pairs"]:
        if "cells" not in entry:
            continue
        need(not entry["assumed"], "no assumption on noise")
        left, right = (
            [tuple(ends.items())[: len(counts)] for _, ends, _, _ in paths(proof, proof["traces"][at])]
            for at in entry["traces"]
        )
        for cell in entry["cells"]:
            scripts = {left[at] for at in cell["left"]} | {right[at] for at in cell.get("right", ())}
            need(len(scripts) == 1 and len(next(iter(scripts))) == len(counts), "paths of one script")


def _choices_first(node: Any, counts: Any) -> None:
    """Require that the first decisions of a trace are the analyst's steps."""
    if not counts:
        return
    ends = node.get("ends", ())
    need(len(ends) == counts[0] and all(Q(share) == Fraction(1, counts[0]) for _, share, _ in ends), "a step of each")
    for _, _, child in ends:
        _choices_first(child, counts[1:])
