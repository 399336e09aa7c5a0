"""Checks a certificate. It shares no code with the prover, only the format, which docs/reference/proofs.md describes."""

import hashlib
import json
import math
from decimal import Context, Decimal
from fractions import Fraction as Q
from typing import Any

DENSE, DIGITS = {"laplace", "logistic", "normal", "exponential", "uniform"}, Context(60)
ROUNDING, PARAMETERS = 1 + Q(1, 10**40), 1 + Q(1, 10**9)


def need(holds: Any, what: str) -> None:
    """Refuse the certificate unless something holds."""
    if not holds:
        raise ValueError(f"the certificate does not hold: {what}")


def exp_near(value: Q) -> Q:
    """Return e^value, from above by less than 1e-39 of it; ``decimal`` rounds to the nearest."""
    return Q(DIGITS.exp(DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator)))) * ROUNDING


def part(form: Any, kind: str) -> dict[str, Q]:
    """Return the symbols of one kind in a form: noise n, data x or terms o."""
    return {name: Q(value) for name, value in form.items() if name[:1] == kind}


def is_strict(form: Any, relation: str, proof: Any) -> bool:
    """Whether a condition holds strictly, but for noise of probability 0."""
    dense = any(proof["noise"][name][0] in DENSE for name in part(form, "n")) and not part(form, "o")
    return relation == ">" or (relation == ">=" and dense)


def cone(given: Any, multipliers: Any, wanted: Any, relation: str, proof: Any) -> None:
    """Wanted − Σ multipliers·given is a constant ≥ 0; where wanted is strict, it is > 0 or uses a strict condition."""
    some = [(Q(m), *condition) for m, condition in zip(multipliers, given, strict=True) if m != "0"]
    names = {"", *wanted}.union(*(form for _, form, _ in some))
    rest = {n: Q(wanted.get(n, 0)) - sum((m * Q(form.get(n, 0)) for m, form, _ in some), Q(0)) for n in names}
    above = rest.pop("")
    need(all(m >= 0 for m, _, _ in some) and not any(rest.values()) and above >= 0, "a combination of conditions")
    strictly = above > 0 or any(m > 0 and is_strict(form, r, proof) for m, form, r in some)
    need(strictly or not is_strict(wanted, relation, proof), "a strict condition")


def alike(left: Any, right: Any, proof: Any) -> list[tuple[Any, Any]]:
    """Two forms are alike but for data and constants. Return the arguments of their terms, in pairs that must stay equal."""
    ours, theirs = ([(*proof["terms"][o], c) for o, c in sorted(part(form, "o").items())] for form in (left, right))
    shapes = [[(operation, len(arguments), c) for operation, arguments, c in some] for some in (ours, theirs)]
    need(
        shapes[0] == shapes[1] and all(part(left, kind) == part(right, kind) for kind in "nx"), "forms that are unlike"
    )
    pairs = [pair for (_, a, _), (_, b, _) in zip(ours, theirs, strict=True) for pair in zip(a, b, strict=True)]
    return pairs + [deeper for pair in pairs for deeper in alike(*pair, proof)]


def kept(rows: Any, left: Any, right: Any, proof: Any) -> list[list[Any]]:
    """Return all that a shift must keep: conditions, outputs, and the arguments of their terms."""
    outputs = list(zip(left["output"], right["output"], strict=True))
    need(
        left["structure"] == right["structure"] and all(f == g or isinstance(f, dict) for f, g in outputs),
        "other outputs",
    )
    both: list[list[Any]] = [*rows, *([f, g, "="] for f, g in outputs if isinstance(f, dict))]
    return both + [[f, g, "="] for a, b, _ in both for f, g in alike(a, b, proof)]


def keep(rows: Any, difference: Any, shift: Any) -> None:
    """A shift of the noise keeps all rows where the data differ by so much."""
    numbers = {**shift, **{f"x{j}": d for j, d in enumerate(difference)}}
    for left, right, relation in rows:
        value = (
            Q(right[""])
            - Q(left[""])
            + sum((Q(c) * Q(numbers.get(name, 0)) for name, c in right.items() if name), Q(0))
        )
        need(value == 0 or (value > 0 and relation != "="), f"a shift at {right} {relation} 0")


def cost(shift: Any, proof: Any) -> Q:
    """Return a bound on the logarithm of the ratio of densities; for Gaussian noise, the squared distance in deviations."""
    moved = [(*proof["noise"][name], Q(by)) for name, by in shift.items()]
    if proof["rule"] == "gaussian":
        need(all(law == "normal" for law, *_ in moved), "noise that is shifted")
        return sum((by**2 / Q(deviation) ** 2 for _, deviation, by in moved), Q(0))
    for law, number, rate, by in moved:
        exact = law in ("laplace", "logistic", "exponential") and Q(number) > 0 and Q(number) * Q(rate) == 1
        near = law == "geometric" and by.denominator == 1 and exp_near(Q(rate)) * (1 - Q(number)) >= 1
        need((exact or near) and (law in ("laplace", "logistic") or by >= 0), "noise that is shifted")
    return sum((abs(by) * Q(rate) for _, _, rate, by in moved), Q(0))


def rows_of(cell: Any, left: Any, right: Any, proof: Any) -> list[list[Any]]:
    """Return what a shift of a cell must keep, once it is sure that it takes the cell's paths into one another."""
    ours, theirs = [left[i] for i in cell["left"]], [right[i] for i in cell["right"]]
    here, there = ([[row[side], row[2]] for row in cell["rows"]] for side in (0, 1))
    if "excluded" in cell:
        both = [
            (p["output"], p["structure"]) == (some[0]["output"], some[0]["structure"])
            for some in (ours, theirs)
            for p in some
        ]
        need(
            all(both) and {*dict(cell["excluded"]), *cell["right"]} == {*range(len(right))},
            "a path that is not excluded",
        )
        for path, each in zip(ours, cell["implied"], strict=True):
            for (form, relation), multipliers in zip(here, each, strict=True):
                cone(path["if"], multipliers, form, relation, proof)
        for i, multipliers in cell["excluded"]:
            cone(right[i]["if"] + there, multipliers, {}, ">", proof)
    else:
        same = (here, there, ours[0]["sources"]) == (ours[0]["if"], theirs[0]["if"], theirs[0]["sources"])
        need(same and len(ours) == len(theirs) == 1, "the conditions of a path")
    return kept(cell["rows"], ours[0], theirs[0], proof)


def alignment(pair: Any, proof: Any) -> Q:
    """Return the largest cost on one pair, or on one set of differences."""
    (left, right), cells, gaussian = (
        (proof["traces"][i] for i in pair["sides"]),
        pair["cells"],
        proof["rule"] == "gaussian",
    )
    need(sorted(i for cell in cells for i in cell["left"]) == [*range(len(left))], "each path is in one cell")
    used = [i for cell in cells if "empty" not in cell for i in cell["right"]]
    need(len(used) == len({*used}) and not (gaussian and any("excluded" in cell for cell in cells)), "cells that meet")
    need(pair["alone"] or all(law[0] != "geometric" for law in proof["noise"].values()), "integers between differences")
    found = Q(0)
    for cell in cells:
        if "empty" in cell:
            need(len(cell["left"]) == 1, "an empty path")
            cone(left[cell["left"][0]]["if"], cell["empty"], {}, ">", proof)
            continue
        rows = [[f, g, "=" if gaussian else relation] for f, g, relation in rows_of(cell, left, right, proof)]
        for difference, shift in zip(pair["differences"], (pair if gaussian else cell)["shifts"], strict=True):
            keep(rows, difference, shift)
            found = max(found, cost(shift, proof))
    return found


def masses(pair: Any, proof: Any) -> Q:
    """Return the ε of the proof if it is enough on one pair, or enough for all but the δ of the claim."""
    laws = [[{text: Q(p) for text, p in part["masses"].items()} for part in proof["laws"][i]] for i in pair["sides"]]
    need(all(sum(part.values()) == 1 and min(part.values()) > 0 for law in laws for part in law), "masses")
    places = [[part["places"] for part in proof["laws"][i]] for i in pair["sides"]]
    sides, factor = list(zip(*laws, strict=True)), exp_near(Q(proof["number"]))
    if "delta" in proof["claim"] and len(sides) == 1:
        excess = sum(max(Q(0), p - factor / ROUNDING**2 * sides[0][1].get(text, 0)) for text, p in sides[0][0].items())
        need(excess <= Q(proof["claim"]["delta"]) * PARAMETERS, "δ")
    else:
        need(places[0] == places[1] and all({*p} <= {*q} for p, q in sides), "an impossible output")
        need(
            math.prod(max(mass / q[text] for text, mass in p.items()) for p, q in sides) <= factor,
            "a ratio of probabilities",
        )
    return Q(proof["number"])


def says(claim: Any, number: Q, bound: Q, gaussian: bool) -> bool:
    """Whether ε, or μ² of Gaussian noise, gives a bound on the quantity of a claim."""
    if "rho" in claim or "order" in claim:
        scaled = (number if gaussian else number**2) * Q(claim.get("order", 1)) / 2
        return scaled <= bound or (not gaussian and "order" in claim and number <= bound)
    if not gaussian or number == 0:
        return number <= bound and ("mu" not in claim or number == 0)
    mu, epsilon = math.sqrt(number), float(bound)
    tails = (
        [math.erfc(-(side * mu / 2 - epsilon / mu) / math.sqrt(2)) / 2 for side in (1, -1)] if "delta" in claim else []
    )
    return (
        number <= bound**2
        if "mu" in claim
        else bool(tails) and tails[0] - math.exp(epsilon) * tails[1] <= claim["delta"] * (1 + 1e-6)
    )


def check(proof: Any) -> None:
    """Raise ValueError where a certificate does not prove its claim."""
    text = json.dumps({key: value for key, value in proof.items() if key != "digest"}, sort_keys=True)
    need(proof["format"] == 1 and hashlib.sha256(text.encode()).hexdigest() == proof["digest"], "it was changed")
    for paths in proof.get("traces", []):
        shares = [math.prod(Q(1, options) for _, options in path["decisions"]) for path in paths]
        need(sum(shares) == 1 and len({str(path["decisions"]) for path in paths}) == len(paths), "a missing path")
    rule = {"alignment": alignment, "gaussian": alignment, "masses": masses}[proof["rule"]]
    number, claim, bound = max(rule(pair, proof) for pair in proof["pairs"]), proof["claim"], Q(proof["bound"])
    claimed = next(Q(claim[name]) for name in ("rho", "mu", "epsilon") if name in claim)
    need(says(claim, number, bound, proof["rule"] == "gaussian") and bound <= claimed * PARAMETERS, "the claim")
