"""Derives the paths of a trace from its decision tree, and checks what follows from their conditions."""

from collections import defaultdict
from fractions import Fraction
from typing import Any

from dp_prover.certificates.checker.domain import bounds
from dp_prover.certificates.checker.exact_numbers import Q, need

DENSE = {"laplace", "logistic", "normal", "exponential", "gumbel", "uniform"}
NODES = ({"output"}, {"never"}, {"draw", "ends"})
SIGNS = {">": (1,), ">=": (0, 1), "=": (0,), "<=": (-1, 0), "<": (-1,)}


def combined(*parts: tuple[Any, Any]) -> tuple[dict[str, Fraction], Fraction]:
    """Return a linear combination of forms: its non-zero coefficients, and its constant."""
    total: dict[str, Fraction] = defaultdict(Fraction)
    for factor, form in parts:
        for name, value in form.items():
            total[name] += Q(factor) * Q(value)
    constant = total.pop("", Fraction(0))
    return {name: value for name, value in total.items() if value}, constant


def follows(given: Any, multipliers: Any, wanted: Any, relation: str) -> None:
    """Require that wanted − Σ multipliers·given is a constant ≥ 0; if strict, that it is > 0 or a used condition is strict."""
    used = [(Q(m), *given[int(i)]) for i, m in multipliers.items() if Q(m)]
    rest, above = combined((1, wanted), *((-m, form) for m, form, _ in used))
    need(not rest and above >= 0 and all(m > 0 for m, _, _ in used), "a combination of conditions")
    need(relation != ">" or above > 0 or any(strict == ">" for _, _, strict in used), "a strict condition")


def paths(proof: Any, trace: Any) -> list[tuple[list[Any], dict[str, str], Fraction, int]]:
    """Return each path: conditions, discrete outcomes, their probability, and output. Require that siblings cover all cases."""
    ended: list[Any] = []
    waiting: list[Any] = [(trace["tree"], [], {}, Fraction(1))]
    while waiting:
        node, given, ends, mass = waiting.pop()
        more: list[Any] = []
        need({*node} in NODES or ("if" in node and {*node} - {"if"} <= {*SIGNS}), "one kind of node")
        if "output" in node:
            ended.append((given, ends, mass, node["output"]))
        elif "never" in node:
            follows(given + bounds(proof), node["never"], {}, ">")
        elif "draw" in node:
            shares, labels = [Q(share) for _, share, _ in node["ends"]], [label for label, _, _ in node["ends"]]
            need(sum(shares) == 1 and min(shares) > 0 and len({*labels}) == len(labels), "all ends of a draw")
            where = f"{node['draw']} {len(ends)}"
            more = [(child, given, ends | {where: label}, mass * Q(share)) for label, share, child in node["ends"]]
        else:
            form, branches = node["if"], {key: child for key, child in node.items() if key != "if"}
            covered = [sign for key in branches for sign in SIGNS[key]]
            dense = any(proof["noise"].get(name, [""])[0] in DENSE for name in form) and not any(
                name[:1] == "o" for name in form
            )
            need(
                len({*covered}) == len(covered) and {*covered} >= ({-1, 1} if dense else {-1, 0, 1}),
                "all ways to go on",
            )
            for key, child in branches.items():
                turned = form if key in (">", ">=", "=") else {name: str(-Q(value)) for name, value in form.items()}
                strict = ">" if key in "<>" or (dense and key != "=") else ">=" if key != "=" else "="
                more.append((child, [*given, [turned, strict]], ends, mass))
        waiting += more[::-1]
    return ended


def symbols_of_path(trace: Any, path: Any) -> set[str]:
    """Return the symbols of a path's conditions and output, including those inside terms."""
    forms = [form for form, _ in path[0]] + trace["outputs"][path[3]][1]
    inside = [form for outer in forms for name in outer if name[:1] == "o" for form in trace["terms"][name]]
    return {name for form in forms + inside for name in form}


def differ(ends: Any, others: Any) -> set[str]:
    """Return the draws with different outcomes on two paths."""
    each = [{(place.partition(" ")[0], label) for place, label in some.items()} for some in (ends, others)]
    return {name for name, _ in each[0] ^ each[1]}
