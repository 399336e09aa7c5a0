"""Requires that a pair of data sets is a pair of neighbours of a domain."""

import json
from typing import Any

from dp_prover.certificates.checker.domain import different, texts_of
from dp_prover.certificates.checker.exact_numbers import Q, need
from dp_prover.certificates.checker.shape import LISTS, VECTORS, keys


def require_neighbours(domain: Any, data: Any) -> None:
    """Raise ValueError unless the two data sets are neighbours in a domain, and arrive in its form."""
    keys(domain, [*LISTS, VECTORS | {"forms"}], "the domain")
    need(type(data) is list and len(data) == 2, "two data sets")
    texts = texts_of(data, domain["forms"])
    left, right = map(json.loads, texts)
    need(texts[0] != texts[1], "different data sets")
    if "pairs" in domain:
        need(any(sorted(map(json.dumps, pair)) == sorted(texts) for pair in domain["pairs"]), "a pair of the domain")
    elif "values" in domain:
        values = {*map(json.dumps, different(domain["values"]))}
        need({*texts} <= values, "values of the domain")
    elif "records" in domain:
        _require_lists(domain, left, right)
    else:
        _require_vectors(domain, left, right)


def _require_lists(domain: Any, left: Any, right: Any) -> None:
    records = {*map(json.dumps, different(domain["records"]))}
    low, high = domain["size"]
    need(type(low) is type(high) is int, "sizes")
    need(all(type(side) is list and low <= len(side) <= high for side in (left, right)), "data sets of these sizes")
    need({json.dumps(record) for side in (left, right) for record in side} <= records, "records of the domain")
    short, long = sorted((left, right), key=len)
    texts, others = ([*map(json.dumps, side)] for side in (short, long))
    if domain["relation"] == "substitute":
        gaps = sum(a != b for a, b in zip(texts, others, strict=True))
        need(gaps == 1, "one record that differs")
    else:
        need(domain["relation"] == "add_remove" and len(others) == len(texts) + 1, "one record more")
        need(any([*others[:at], *others[at + 1 :]] == texts for at in range(len(others))), "one record more")


def _require_vectors(domain: Any, left: Any, right: Any) -> None:
    size = len(domain["low"])
    need(type(domain["integer"]) is bool and len(domain["high"]) == size > 0, "ranges")
    kind = int if domain["integer"] else float
    for side in (left, right):
        need(type(side) is list and len(side) == size and all(type(value) is kind for value in side), "numbers")
        ends = zip(domain["low"], side, domain["high"], strict=True)
        need(all(Q(low) <= Q(value) <= Q(high) for low, value, high in ends), "numbers within their ranges")
    gap = [Q(b) - Q(a) for a, b in zip(left, right, strict=True)]
    [(name, reach)] = domain["relation"].items()
    if name == "steps":
        need(any(gap in ([Q(x) for x in step], [-Q(x) for x in step]) for step in reach), "a step of the domain")
    elif name == "each":
        low, high = map(Q, reach)
        need(any(all(low <= sign * value <= high for value in gap) for sign in (1, -1)), "differences of the domain")
    else:
        need(name in ("l1", "linf"), "a norm")
        far = sum(map(abs, gap)) if name == "l1" else max(map(abs, gap))
        need(far <= Q(reach), "data sets within reach")
