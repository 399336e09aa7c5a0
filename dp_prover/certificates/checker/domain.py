"""What a certificate must cover, for its checker: data sets, pairs, differences and ranges, derived from the domain as data."""

import itertools
import json
import math
from fractions import Fraction
from typing import Any

from dp_prover.certificates.checker.exact_numbers import Q, need

MOST_SETS, MOST_CORNERS, MOST_STEPS = 5000, 16, 10**6


def data(domain: Any) -> tuple[list[Any], set[tuple[int, int]]]:
    """Return the data sets of a domain that lists them, and which of them are neighbours, in both directions."""
    if "pairs" in domain:
        need(all(type(pair) is list and len(pair) == 2 for pair in domain["pairs"]), "pairs of two")
        sets = [one for pair in domain["pairs"] for one in pair]
        return sets, {(at, at ^ 1) for at in range(len(sets))}
    if "values" in domain:
        sets = different(domain["values"])
        return sets, {(i, j) for i in range(len(sets)) for j in range(len(sets)) if i != j}
    if "records" in domain:
        low, high = domain["size"]
        # Two records in as many places as MOST_SETS has digits are more data sets than MOST_SETS.
        longest = MOST_SETS.bit_length() if len(domain["records"]) > 1 else MOST_SETS
        need(type(low) is type(high) is int and 0 <= low <= high <= longest, "few data sets")
        need(sum(len(domain["records"]) ** n for n in range(low, high + 1)) <= MOST_SETS, "few data sets")
        records = different(domain["records"])
        sets = [list(one) for n in range(low, high + 1) for one in itertools.product(records, repeat=n)]
        keep = {"substitute": 1, "add_remove": 0}[domain["relation"]]  # whether a place stays, without its record
        cut = [{str([*one[:i], *[[i]] * keep, *one[i + 1 :]]) for i in range(len(one))} for one in sets]
        near = [cut[j] if keep else {str(one)} for j, one in enumerate(sets)]
        found = {(i, j) for i in range(len(sets)) for j in range(len(sets)) if i != j and cut[i] & near[j]}
        return sets, found | {(j, i) for i, j in found}
    ranges = [range(int(Q(low)), int(Q(high)) + 1) for low, high in zip(domain["low"], domain["high"], strict=True)]
    need(domain["integer"] and math.prod(map(len, ranges)) <= MOST_SETS, "few data sets")
    [(norm, reach)] = domain["relation"].items()
    need(norm in ("l1", "linf"), "a norm")
    sets = [list(one) for one in itertools.product(*ranges)]
    gaps = (
        ((i, j), [abs(a - b) for a, b in zip(sets[i], sets[j], strict=True)])
        for i, j in itertools.permutations(range(len(sets)), 2)
    )
    return sets, {ij for ij, gap in gaps if (sum(gap) if norm == "l1" else max(gap)) <= Q(reach)}


def different(values: Any) -> Any:
    """Return values, and refuse a value that appears twice."""
    need(len({*map(json.dumps, values)}) == len(values), "different values")
    return values


def texts_of(data: Any, forms: Any) -> list[str]:
    """Return the data sets of traces as texts that tell types: all as they are, or all as arrays of one type.

    Arrays without items have the other axes of those with items.
    """
    found = sorted({f"array of {one['dtype']}" if "array" in one else "value" for one in data})
    need(forms == found and len(found) == 1, "one form of the data")
    axes = {(*one["shape"][1:],) for one in data if one.get("array")} or {()}
    need(all((*one["shape"][1:],) in axes for one in data if "array" in one), "the axes of an array")
    return [_text_of(one) for one in data]


def _text_of(dataset: Any) -> str:
    """Return a data set of a trace as text that tells types, as it is or as an array of a type."""
    if {*dataset} == {"value"}:
        return json.dumps(dataset["value"])
    need({*dataset} == {"array", "dtype", "shape"}, "a form of the data")
    kind, rows = {"int64": int, "float64": float, "bool": bool, "str": str}[dataset["dtype"]], [dataset["array"]]
    for length in dataset["shape"]:
        need(all(type(row) is list and len(row) == length for row in rows), "a shape")
        rows = [one for row in rows for one in row]
    # NumPy drops what is 0 at the end of a text.
    need(all(type(one) is kind for one in rows), "items of one type")
    need(not any(type(one) is str and "\0" in one for one in rows), "texts without what ends them")
    return json.dumps(dataset["array"])


def differences(domain: Any, entry: Any, whole: bool) -> list[list[dict[str, Fraction]]]:
    """Return how neighbours differ: vectors, or the middle of a box and its half-widths. ``whole``: mixtures are no differences."""
    size, [(kind, reach)] = len(domain["low"]), domain["relation"].items()
    names, found = [f"x{i}" for i in range(size)], list[Any]()
    if kind == "steps":
        found = [[sign * Q(one) for one in step] for sign in (1, -1) for step in reach]
    elif kind == "l1" and (not whole or (domain["integer"] and Q(reach) == 1)):
        found = [[Q(reach) * sign * (i == at) for i in range(size)] for sign in (1, -1) for at in range(size)]
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
        found = [list(step) for step in corners if kind != "l1" or sum(map(abs, step)) <= Q(reach)]
    return [[dict(zip(names, step, strict=True))] for step in found]


def bounds(proof: Any) -> list[Any]:
    """Return the conditions that all numbers of the data lie in their ranges, if they are symbols."""
    domain = proof["domain"]
    ends = [(sign, i, end) for key, sign in (("low", 1), ("high", -1)) for i, end in enumerate(domain.get(key, ()))]
    return [[{f"x{i}": sign, "": -sign * Q(end)}, ">="] for sign, i, end in ends]
