"""Checks a certificate. It shares no code with the prover, only the format, which docs/reference/proofs.md describes."""

import hashlib
import json
import math
from collections import defaultdict
from decimal import Context, Decimal
from fractions import Fraction as Q
from typing import Any

# Digits of logarithms and exponentials, room for their rounding, and for parameters, which are floats.
DIGITS, ROUNDED, PARAMETERS = Context(60), 1 + Q(1, 10**40), 1 + Q(1, 10**9)


def need(holds: Any, what: str) -> None:
    """Refuse the certificate unless something holds."""
    if not holds:
        raise ValueError(f"the certificate does not hold: {what}")


def decimal(value: Q) -> Decimal:
    """Return a number to 60 digits."""
    return DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))


def combined(*parts: tuple[Any, Any]) -> tuple[dict[str, Q], Q]:
    """Return the sum of (factor, form): its symbols without zeros, and its constant."""
    total: dict[str, Q] = defaultdict(Q)
    for factor, form in parts:
        for name, value in form.items():
            total[name] += Q(factor) * Q(value)
    constant = total.pop("", Q(0))
    return {name: value for name, value in total.items() if value}, constant


def follows(given: Any, multipliers: Any, wanted: Any, relation: str) -> None:
    """Wanted − Σ multipliers·given is a constant ≥ 0; if wanted is strict, it is > 0 or one of the conditions is strict."""
    used = [(Q(m), *given[int(i)]) for i, m in multipliers.items()]
    rest, above = combined((1, wanted), *((-m, form) for m, form, _ in used))
    need(not rest and above >= 0 and all(m > 0 for m, _, _ in used), "a combination of conditions")
    need(relation != ">" or above > 0 or any(strict == ">" for _, _, strict in used), "a strict condition")


def conditions(cell: Any, left: Any, right: Any) -> Any:
    """Return conditions that hold on all left paths of a cell, and those that hold on its right paths only."""
    if "rows" not in cell:
        [ours], [theirs] = cell["left"], cell["right"]
        return left["paths"][ours]["if"], right["paths"][theirs]["if"]
    here, there = cell["rows"]
    for i, each in zip(cell["left"], cell["implied"], strict=True):
        for multipliers, row in zip(each, here, strict=True):
            follows(left["paths"][i]["if"], multipliers, *row)
    for i, path in enumerate(right["paths"]):
        if i not in cell["right"]:
            follows(path["if"] + there, cell["excluded"][str(i)], {}, ">")
    return here, there


def kept(trace: Any, paths: Any, rows: Any) -> Any:
    """Return the rows that a shift must keep, so that paths have the output that they had. The first says what is computed."""
    [output] = {trace["paths"][i]["output"] for i in paths}
    what, numbers = trace["outputs"][output]
    terms = sorted({name for form in [*numbers, *(form for form, _ in rows)] for name in form if name[:1] == "o"})
    equal = [*numbers, *(form for name in terms for form in trace["terms"][name])]
    return [[{}, what], *rows, *([form, "="] for form in equal)]


def keeps(before: Any, after: Any, moves: Any) -> None:
    """All rows are kept when noise and data move by the first of the moves, give or take each of the others."""
    for (form, relation), (other, same) in zip(before, after, strict=True):
        rest, gap = combined((1, other), (-1, form))
        first, *sides = (sum((Q(c) * Q(move.get(name, 0)) for name, c in other.items()), Q(0)) for move in moves)
        holds = gap + first >= sum(map(abs, sides)) and (gap + first == 0 or relation != "=")
        need(holds and relation == same and not rest, f"a shift at {other} {relation} 0")


def cost(moves: Any, proof: Any, alone: bool) -> Q:
    """Return a bound on the logarithm of the ratio of densities; for Gaussian noise, the squared distance in deviations."""
    total, gaussian = Q(0), proof["rule"] == "gaussian"
    for name in {name for move in moves for name in move if name[:1] != "x"}:
        (law, number), (by, *sides) = proof["noise"][name], (Q(move.get(name, 0)) for move in moves)
        rate = -Q(DIGITS.ln(decimal(1 - Q(number)))) if law == "geometric" else 1 / Q(number)
        upwards = law == "exponential" or (law == "geometric" and by.denominator == 1 and alone)
        shifts = law in ("laplace", "logistic") or (upwards and by >= sum(map(abs, sides)))
        need(rate > 0 and (law == "normal" if gaussian else shifts), "noise that is shifted")
        total += (sum(map(abs, sides), abs(by)) * rate) ** (2 if gaussian else 1)
    return total


def alignment(pair: Any, proof: Any) -> Q:
    """Return the largest cost on one pair, or on one set of differences."""
    (left, right), cells = (proof["traces"][i] for i in pair["sides"]), pair["cells"]
    ours, theirs = (sorted(i for cell in cells for i in cell[side]) for side in ("left", "right"))
    some = [i for i, path in enumerate(left["paths"]) if "empty" not in path]
    need(ours == some and len(theirs) == len({*theirs}), "each path is in one cell")
    need(proof["rule"] != "gaussian" or not left["paths"][0]["if"], "Gaussian noise on one path")
    costs = []
    for cell in cells:
        here, there = conditions(cell, left, right)
        before, after = kept(left, cell["left"], here), kept(right, cell["right"], there)
        for differences, shifts in zip(pair["differences"], cell["shifts"], strict=True):
            moves = [shift | moved for shift, moved in zip(shifts, differences, strict=True)]
            keeps(before, after, moves)
            costs.append(cost(moves, proof, pair["alone"] and len(moves) == 1))
    return max(costs)


def masses(pair: Any, proof: Any) -> Q:
    """Return ε of one pair. ε and δ of independent parts add up (composition), and mass that is missing counts for δ."""
    left, right = (proof["laws"][i] for i in pair["sides"])
    need(left.keys() == right.keys() == pair["epsilons"].keys(), "parts")
    delta = Q(0)
    for place, part in left.items():
        factor = Q(DIGITS.exp(decimal(Q(pair["epsilons"][place])))) * ROUNDED
        need(sum(map(Q, part.values())) <= 1 and all(Q(p) >= 0 for p in part.values()), "masses")
        delta += 1 - sum(min(Q(p), factor * Q(right[place].get(text, 0))) for text, p in part.items())
    need(delta <= Q(proof["claim"].get("delta", 0)) * PARAMETERS, "δ")
    return sum(map(Q, pair["epsilons"].values()), Q(0))


def says(claim: Any, number: Q, bound: Q, gaussian: bool) -> bool:
    """Whether ε, or μ² of Gaussian noise, gives a bound on the quantity of a claim."""
    rho = (number if gaussian else number**2) / 2
    if "rho" in claim or "order" in claim:
        return rho * Q(claim.get("order", 1)) <= bound or ("order" in claim and not gaussian and number <= bound)
    if "mu" in claim or not gaussian or number == 0:
        return number <= (bound if "mu" not in claim else bound**2 if gaussian else 0)
    mu, epsilon = math.sqrt(number), float(bound)
    tails = [math.erfc((epsilon / mu - side * mu / 2) / math.sqrt(2)) / 2 for side in (1, -1)]
    return bool(tails[0] - math.exp(epsilon) * tails[1] <= claim.get("delta", 0) * (1 + 1e-6))


def leaves(tree: Any) -> list[int]:
    """Return the paths at the ends of a tree of decisions."""
    return [tree] if isinstance(tree, int) else [path for branch in tree for path in leaves(branch)]


def check(proof: Any) -> None:
    """Raise ValueError where a certificate does not prove its claim."""
    need(proof["format"] == 2, f"it is of format {proof['format']}; write it anew with `auditor prove --out DIR`")
    text = json.dumps({key: value for key, value in proof.items() if key != "digest"}, sort_keys=True)
    need(hashlib.sha256(text.encode()).hexdigest() == proof["digest"], "it was changed")
    for trace in proof.get("traces", []):
        need(sorted(leaves(trace["tree"])) == [*range(len(trace["paths"]))], "a missing path")
        for path in (path for path in trace["paths"] if "empty" in path):
            follows(path["if"], path["empty"], {}, ">")
    rule, claim, bound = proof["rule"], proof["claim"], Q(proof["bound"])
    number = max((masses if rule == "masses" else alignment)(pair, proof) for pair in proof["pairs"])
    need(says(claim, number, bound * ROUNDED, rule == "gaussian"), "the bound")
    need(bound <= next(Q(claim[name]) for name in ("rho", "mu", "epsilon") if name in claim) * PARAMETERS, "the claim")
