"""Checks what floats represent: data integers exactly, and noise above the last bit."""

from fractions import Fraction
from typing import Any

from dp_prover.certificates.checker.exact_numbers import Q, need

LARGEST_INTEGER = 2**53  # floats represent all integers up to this
# The largest ratio of a number to its noise scale: in general, and for float sums, whose rounding lengthens the steps.
LARGEST, LARGEST_SUM = 2**43, 2**30


def held_by_floats(proof: Any) -> None:
    """Raise ValueError if data integers exceed what floats represent, or if floats may round the noise away."""
    domain = proof["domain"]
    sizes = {
        f"x{i}": max(abs(Q(low)), abs(Q(high)))
        for i, (low, high) in enumerate(zip(domain.get("low", ()), domain.get("high", ()), strict=True))
    }
    if domain.get("integer"):
        need(max(sizes.values()) <= LARGEST_INTEGER, "integers of 53 bits, which floats hold")
    summed = "low" in domain and "steps" in domain["relation"] and not domain["integer"]
    scales = {name: Q(number) if law != "geometric" else Fraction(1) for name, (law, number) in proof["noise"].items()}
    for form in (form for trace in proof.get("traces", ()) for form in _forms(trace)):
        noise = [abs(Q(by)) * scales[name] for name, by in form.items() if name in scales]
        size = sum((abs(Q(by)) * sizes.get(name, 1 if name == "" else 0) for name, by in form.items()), Fraction(0))
        need(
            size <= (LARGEST_SUM if summed else LARGEST) * min(filter(None, noise), default=size),
            "noise above the last bit of floats",
        )


def _forms(trace: Any) -> list[Any]:
    """Return the forms of all outputs and conditions."""
    forms = [form for _, numbers in trace["outputs"] for form in numbers]
    waiting = [trace["tree"]]
    while waiting:
        node = waiting.pop()
        if "if" in node:
            forms.append(node["if"])
            waiting += [child for key, child in node.items() if key != "if"]
        elif "draw" in node:
            waiting += [child for _, _, child in node["ends"]]
    return forms
