"""Certificates: all that a proof rests on, as JSON with exact rationals. ``auditor.proofs.checker`` reads them on its own."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from auditor.neighbours.moves import Box, Hull
from auditor.proofs.alignment import Aligned, rate
from auditor.proofs.cells import Cell, Multipliers, is_strict
from auditor.proofs.form import OPAQUE, Form
from auditor.proofs.gaussian import all_seen
from auditor.proofs.masses import Law
from auditor.proofs.run import Condition, Names, Path
from auditor.proofs.trace import Trace

FORMAT = 2
Json = Any


def _form(form: Form) -> dict[str, str]:
    return {**{name: str(value) for name, value in sorted(form.terms.items())}, "": str(form.constant)}


class Written:
    """Writes one trace. Terms have names that go by what they compute, so that two traces can be compared."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        forms = [condition.form for path in trace.paths for condition in path.conditions]
        used = {name for form in forms for name in form.terms if name.startswith(OPAQUE)}
        found = {name: trace.names.spelled(Form.symbol(name)) for name in used}
        # Terms that differ by constants only are counted, in the order of these.
        in_order = sorted(used, key=lambda name: (found[name][0], [form.constant for form in found[name][1]]))
        self._new = {name: f"{OPAQUE}{at} {found[name][0]}" for at, name in enumerate(in_order)}
        self._terms = {self._new[name]: [_form(form) for form in found[name][1][1:]] for name in in_order}

    def condition(self, condition: Condition) -> Json:
        """Return a condition. One on noise with a density is strict, but for noise of probability 0."""
        form = {self._new.get(name, name): value for name, value in _form(condition.form).items()}
        strict = is_strict(condition.form, condition.relation, self._trace.names)
        return [form, ">" if strict else condition.relation]

    def trace(self, empty: Mapping[int, Multipliers]) -> Json:
        """Return all paths, of which some are ``empty``: their conditions contradict each other."""
        outputs: dict[str, tuple[int, Json]] = {}
        paths = []
        for at, path in enumerate(self._trace.paths):
            output = self._output(path)
            number, _ = outputs.setdefault(json.dumps(output), (len(outputs), output))
            drawn = [[{f"s {name} is {label}": "1"}, "="] for name, (label, _) in sorted(path.labels.items())]
            found: dict[str, Json] = {"if": [*map(self.condition, path.conditions), *drawn], "output": number}
            paths.append(found | ({"empty": _multipliers(empty[at])} if at in empty else {}))
        tree = _tree([(at, path.decisions) for at, path in enumerate(self._trace.paths)])
        return {"tree": tree, "paths": paths, "outputs": [one for _, one in outputs.values()], "terms": self._terms}

    def _output(self, path: Path) -> Json:
        """Return a function, and the affine forms that the output is this function of."""
        spelled = self._trace.names.spelled
        leaves = [spelled(leaf) if isinstance(leaf, Form) else (leaf, ()) for leaf in path.leaves]
        what = f"{path.structure} {[text for text, _ in leaves]} {path.law() or ''}"
        return [what, [_form(form) for _, forms in leaves for form in forms]]

    def padded(self, multipliers: Multipliers, at: int) -> Multipliers:
        """Return multipliers of a path's conditions and further rows, with room for its finite draws between."""
        path = self._trace.paths[at]
        own = len(path.conditions)
        return (*multipliers[:own], *[Fraction(0)] * len(path.labels), *multipliers[own:])


def _tree(paths: Sequence[tuple[int, tuple[int, ...]]]) -> Json:
    """Return the numbers of paths as the ends of a tree of decisions."""
    [(at, decisions), *more] = paths
    if not more and not decisions:
        return at
    branches: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
    for path, (first, *rest) in paths:
        branches.setdefault(first, []).append((path, tuple(rest)))
    return [_tree(branches[first]) for first in sorted(branches)]


def trace_of_gaussian(one: Trace) -> Json:
    """Return a trace as one path, which shows all that is looked at on any."""
    what, forms = all_seen(one)
    outputs = [[what, [_form(form) for form in forms]]]
    return {"tree": 0, "paths": [{"if": [], "output": 0}], "outputs": outputs, "terms": {}}


def noise(names: Names) -> Json:
    """Return the laws of all noise that can be shifted."""
    kept = {name: law for name, law in names.laws.items() if law[0] == "normal" or rate(law) is not None}
    return {name: [law[0], str(law[1])] for name, law in kept.items()}


def pair(
    sides: tuple[int, int], moves: Box | Hull, found: Sequence[Aligned], left: Written, right: Written
) -> dict[str, Json]:
    """Return a set of pairs: both traces, the differences of their data, and the cells with their shifts.

    Where all shifts are linear in a box of differences, these are its middle and its half-widths, and each shift is as well.
    """
    linear = [one.linear for one in found if one.linear is not None]
    if isinstance(moves, Box) and len(linear) == len(found):
        ends = [(Fraction(low), Fraction(high)) for low, high in zip(moves.low, moves.high, strict=True)]
        middle = {f"x{j}": (low + high) / 2 for j, (low, high) in enumerate(ends)}
        ways = [{f"x{j}": (high - low) / 2} for j, (low, high) in enumerate(ends)]
        differences = [_moved(middle, *ways)]
        shifts = [[_moved(one.constant, *one.by_coordinate(len(ends)))] for one in linear]
    else:
        points = moves.points if isinstance(moves, Hull) else moves.vertices()
        exact = [tuple(map(Fraction, point)) for point in points]
        differences = [_moved({f"x{j}": number for j, number in enumerate(point)}) for point in exact]
        shifts = [[_moved(one.at(point, moves)) for point in exact] for one in found]
    cells = [_cell(one.cell, left, right) | {"shifts": each} for one, each in zip(found, shifts, strict=True)]
    alone = isinstance(moves, Hull) and moves.alone
    return {"sides": list(sides), "alone": alone, "differences": differences, "cells": cells}


def _multipliers(values: Multipliers) -> dict[str, str]:
    return {str(at): str(value) for at, value in enumerate(values) if value}


def _moved(*ways: Mapping[str, Fraction]) -> list[dict[str, str]]:
    """Return how far each symbol moves, without those that stay."""
    return [{name: str(value) for name, value in sorted(way.items()) if value} for way in ways]


def _cell(one: Cell, left: Written, right: Written) -> dict[str, Json]:
    """Return a cell without its shifts."""
    found: dict[str, Json] = {"left": list(one.left), "right": list(one.right)}
    if one.joint:
        here = [left.condition(Condition(row.left, row.relation, row.place)) for row in one.rows]
        there = [right.condition(Condition(row.right, row.relation, row.place)) for row in one.rows]
        found["rows"] = [here, there]
        found["implied"] = [[_multipliers(multipliers) for multipliers in each] for each in one.implied]
        found["excluded"] = {str(at): _multipliers(right.padded(some, at)) for at, some in one.excluded}
    return found


def law(one: Law) -> Json:
    """Return the law of an output: the probabilities of each part that is independent of the others."""
    return {
        str(part.places): {json.dumps(text): str(mass) for text, mass in part.masses.items() if mass} for part in one
    }


def signed(content: Mapping[str, Json]) -> dict[str, Json]:
    """Return a certificate with its digest, so that a number that is changed by accident shows."""
    said = {"format": FORMAT, **content}
    return {**said, "digest": hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()}
