"""Derives from a domain what its certificate must cover: data sets, pairs, differences and ranges."""

import itertools
import json
import math
from fractions import Fraction
from typing import Any

from dp_prover.certificates.checker.exact_numbers import Q, need

MOST_SETS, MOST_CORNERS, MOST_STEPS = 5000, 16, 10**6


def data(domain: Any) -> tuple[list[Any], set[tuple[int, int]]]:
    """Return the data sets of a listed domain, and all pairs of neighbours, in both directions."""
    if "pairs" in domain:
        need(all(type(pair) is list and len(pair) == 2 for pair in domain["pairs"]), "pairs of two")
        sets = [side for pair in domain["pairs"] for side in pair]
        return sets, {(at, at ^ 1) for at in range(len(sets))}
    if "values" in domain:
        sets = different(domain["values"])
        return sets, {(i, j) for i in range(len(sets)) for j in range(len(sets)) if i != j}
    if "records" in domain:
        low, high = domain["size"]
        # Two records in MOST_SETS.bit_length() places already make more than MOST_SETS data sets.
        longest = MOST_SETS.bit_length() if len(domain["records"]) > 1 else MOST_SETS
        need(type(low) is type(high) is int and 0 <= low <= high <= longest, "few data sets")
        need(sum(len(domain["records"]) ** n for n in range(low, high + 1)) <= MOST_SETS, "few data sets")
        records = different(domain["records"])
        sets = [list(rows) for n in range(low, high + 1) for rows in itertools.product(records, repeat=n)]
        keep = {"substitute": 1, "add_remove": 0}[domain["relation"]]  # whether the removed record leaves a gap
        cut = [{str([*rows[:i], *[[i]] * keep, *rows[i + 1 :]]) for i in range(len(rows))} for rows in sets]
        near = [cut[j] if keep else {str(rows)} for j, rows in enumerate(sets)]
        neighbours = {(i, j) for i in range(len(sets)) for j in range(len(sets)) if i != j and cut[i] & near[j]}
        return sets, neighbours | {(j, i) for i, j in neighbours}
    ranges = [range(int(Q(low)), int(Q(high)) + 1) for low, high in zip(domain["low"], domain["high"], strict=True)]
    need(domain["integer"] and math.prod(map(len, ranges)) <= MOST_SETS, "few data sets")
    [(norm, reach)] = domain["relation"].items()
    need(norm in ("l1", "linf"), "a norm")
    sets = [list(vector) for vector in itertools.product(*ranges)]
    gaps = (
        ((i, j), [abs(a - b) for a, b in zip(sets[i], sets[j], strict=True)])
        for i, j in itertools.permutations(range(len(sets)), 2)
    )
    return sets, {ij for ij, gap in gaps if (sum(gap) if norm == "l1" else max(gap)) <= Q(reach)}


def different(values: Any) -> Any:
    """Return values; refuse duplicates."""
    need(len({*map(json.dumps, values)}) == len(values), "different values")
    return values


def texts_of(data: Any, forms: Any) -> list[str]:
    """Return the data sets of traces as JSON texts, after checking that all arrive as values, or all as arrays of one type.

    The remaining axes of an empty array must be those of the others.
    """
    arriving = sorted({f"array of {dataset['dtype']}" if "array" in dataset else "value" for dataset in data})
    need(forms == arriving and len(arriving) == 1, "one form of the data")
    axes = {(*dataset["shape"][1:],) for dataset in data if dataset.get("array")} or {()}
    need(all((*dataset["shape"][1:],) in axes for dataset in data if "array" in dataset), "the axes of an array")
    return [_text_of(dataset) for dataset in data]


def _text_of(dataset: Any) -> str:
    """Return a trace's data set as JSON text, after checking an array's shape and type."""
    if {*dataset} == {"value"}:
        return json.dumps(dataset["value"])
    need({*dataset} == {"array", "dtype", "shape"}, "a form of the data")
    kind, rows = {"int64": int, "float64": float, "bool": bool, "str": str}[dataset["dtype"]], [dataset["array"]]
    for length in dataset["shape"]:
        need(all(type(row) is list and len(row) == length for row in rows), "a shape")
        rows = [item for row in rows for item in row]
    # NumPy drops trailing NULs of a text.
    need(all(type(item) is kind for item in rows), "items of one type")
    need(not any(type(item) is str and "\0" in item for item in rows), "texts without what ends them")
    return json.dumps(dataset["array"])


def differences(domain: Any, entry: Any, whole: bool) -> list[list[dict[str, Fraction]]]:
    """Return the differences of neighbours: vertices, or a box's centre and half-widths. ``whole``: every integer difference."""
    size, [(kind, reach)] = len(domain["low"]), domain["relation"].items()
    names, vectors = [f"x{i}" for i in range(size)], list[Any]()
    if kind == "steps":
        vectors = [[sign * Q(value) for value in step] for sign in (1, -1) for step in reach]
    elif kind == "l1" and (not whole or (domain["integer"] and Q(reach) == 1)):
        vectors = [[Q(reach) * sign * (i == at) for i in range(size)] for sign in (1, -1) for at in range(size)]
    else:
        low, high = (
            (-Q(reach), Q(reach)) if kind != "each" else sorted((1, -1)[entry["part"]] * Q(end) for end in reach)
        )
        need(kind in ("l1", "linf", "each") and (not whole or domain["integer"]), "a relation")
        if entry["linear"]:
            middle, half = dict.fromkeys(names, (low + high) / 2), (high - low) / 2
            return [[middle, *({name: half} for name in names)]]
        need(size <= MOST_CORNERS, "few corners")
        ends: Any = range(int(low), int(high) + 1) if whole else (low, high)
        need(len(ends) ** size <= MOST_STEPS, "few corners")
        corners = itertools.product(ends, repeat=size)
        vectors = [list(step) for step in corners if kind != "l1" or sum(map(abs, step)) <= Q(reach)]
    return [[dict(zip(names, step, strict=True))] for step in vectors]


def bounds(proof: Any) -> list[Any]:
    """Return the conditions that all symbolic data values lie in their ranges."""
    domain = proof["domain"]
    ends = [(sign, i, end) for key, sign in (("low", 1), ("high", -1)) for i, end in enumerate(domain.get(key, ()))]
    return [[{f"x{i}": sign, "": -sign * Q(end)}, ">="] for sign, i, end in ends]
