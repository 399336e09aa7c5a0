"""Certificates: all that a proof rests on, as JSON with exact rationals. ``auditor.proofs.checker`` reads them on its own."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from auditor.neighbours.moves import Box, Hull
from auditor.proofs.alignment import Aligned, rate
from auditor.proofs.cells import Row
from auditor.proofs.form import Form
from auditor.proofs.masses import Law
from auditor.proofs.run import Names, Path
from auditor.proofs.trace import Trace

FORMAT = 1
Json = Any


def _form(form: Form) -> dict[str, str]:
    return {**{name: str(value) for name, value in sorted(form.terms.items())}, "": str(form.constant)}


def _path(path: Path) -> Json:
    return {
        "decisions": [list(pair) for pair in zip(path.decisions, path.options, strict=True)],
        "if": [[_form(condition.form), condition.relation] for condition in path.conditions],
        "sources": {name: [label, str(mass)] for name, (label, mass) in sorted(path.labels.items())},
        "output": [_form(leaf) if isinstance(leaf, Form) else leaf for leaf in path.leaves],
        "structure": f"{path.structure} {path.law() or ''}",
    }


def symbols(names: Names) -> dict[str, Json]:
    """Return the laws of the noise, with their rates, and the opaque terms."""
    noise = {}
    for name, law in names.laws.items():
        cost = rate(law)
        noise[name] = [law[0], *([str(law[1])] if len(law) == 2 else []), *([str(cost)] if cost is not None else [])]
    terms = {
        name: [operation, [_form(argument) for argument in arguments]]
        for name, (operation, arguments) in names.terms.items()
    }
    return {"noise": noise, "terms": terms}


def traces(some: Sequence[Trace]) -> list[Json]:
    """Return all paths of traces."""
    return [[_path(path) for path in one.paths] for one in some]


def points(moves: Box | Hull) -> list[tuple[Fraction, ...]]:
    """Return the differences that need a shift of their own: all others are mixtures of them."""
    some = moves.points if isinstance(moves, Hull) else moves.vertices()
    return [tuple(map(Fraction, point)) for point in some]


def pair(sides: tuple[int, int], moves: Box | Hull, more: Mapping[str, Json]) -> Json:
    """Return a set of pairs: both traces, and the differences of their data."""
    alone = isinstance(moves, Hull) and moves.alone
    return {"sides": list(sides), "alone": alone, "differences": [_vector(point) for point in points(moves)], **more}


def _vector(values: Sequence[Any]) -> list[str]:
    return [str(Fraction(value)) for value in values]


def by_name(values: Mapping[str, Fraction]) -> dict[str, str]:
    """Return a shift, without the noise that stays."""
    return {name: str(value) for name, value in sorted(values.items()) if value}


def rows(some: Sequence[Row]) -> Json:
    """Return what a shift must keep."""
    return [[_form(row.left), _form(row.right), row.relation] for row in some]


def cell(aligned: Aligned, moves: Box | Hull) -> Json:
    """Return a cell with its shifts, in the order of the differences."""
    one = aligned.cell
    entry: dict[str, Json] = {"left": list(one.left), "right": list(one.right), "rows": rows(one.rows)}
    if one.joint:
        entry["implied"] = [[_vector(multipliers) for multipliers in each] for each in one.implied]
        entry["excluded"] = [[at, _vector(multipliers)] for at, multipliers in one.excluded]
    if aligned.empty is not None:
        entry["empty"] = _vector(aligned.empty)
    else:
        entry["shifts"] = [by_name(aligned.at(point, moves)) for point in points(moves)]
    return entry


def law(one: Law) -> Json:
    """Return the law of an output, part by part."""
    return [
        {
            "places": list(part.places),
            "masses": {json.dumps(text): str(mass) for text, mass in part.masses.items() if mass},
        }
        for part in one
    ]


def signed(content: Mapping[str, Json]) -> dict[str, Json]:
    """Return a certificate with its digest, so that a number that is changed by accident shows."""
    said = {"format": FORMAT, **content}
    return {**said, "digest": hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()}
