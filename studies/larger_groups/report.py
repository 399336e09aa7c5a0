"""What report.md.jinja says, computed from the numbers of the study."""

from typing import Any

from studies.words import num, table


def values(numbers: Any) -> dict[str, Any]:
    best = {entry["x"]: entry for entry in numbers["best"]}
    figure, errors = numbers["figure_1"], numbers["errors"]
    curves, lower = {c["x"]: c for c in numbers["curves"]}, {entry["r"]: entry for entry in numbers["lower"]}
    r, rho = numbers["r"], numbers["rho"]
    return {
        "agree": min(a["bound"] / a["exact"] for a in numbers["audits"]),
        "approximate_table": table(
            ["x", "δ = 10⁻⁵", "δ = 10⁻¹⁰"],
            [
                [f"{x:,}", *(num(a["share"]) + "ρ" for a in numbers["approximate"] if a["x"] == x)]
                for x in sorted({a["x"] for a in numbers["approximate"]})
            ],
        ),
        "arsinh": ", ".join(f"{num(a['v'] / rho)}ρ at {a['x']:,}" for a in numbers["arsinh"] if a["x"] >= 5),
        "arsinh_table": table(
            ["x", "sampled ρ ≥", "exact", "v(x + 1)"],
            [[str(a["x"]), num(a["bound"]), num(a["exact"]), num(a["claimed"])] for a in numbers["arsinh_audits"]],
        ),
        "audits_table": table(
            ["x and order", "sampled D_α ≥", "quadrature", "αρ"],
            [
                [f"{a['x']}, α = {a['order']:g}", num(a["bound"]), num(a["exact"]), num(a["claimed"])]
                for a in numbers["audits"]
            ],
        ),
        "best": best,
        "curves": curves,
        "errors": errors,
        "figure": figure,
        "guarantees_table": table(
            ["x", "all α", "α ≤ 64", "α ≤ 8", "α ≤ 2", "ε at δ = 10⁻⁵", "ε at δ = 10⁻⁹"],
            [
                [
                    f"{p['x']:,}",
                    *(num(best[p["x"]][kind]["share"]) + "ρ" for kind in ("all", "64", "8", "2")),
                    num(p["epsilon"][1]),
                    num(p["epsilon"][3]),
                ]
                for p in numbers["profiles"]
            ]
            + [["first stage alone", *["ρ"] * 4, *(num(numbers["gaussian_profile"][at]) for at in (1, 3))]],
        ),
        "half": min(x for x, entry in best.items() if entry["all"]["order"] is None),
        "last": max(x for x, entry in best.items() if entry["all"]["order"] is not None),
        "lower": lower,
        "quadrature": max(c["error"] for c in numbers["curves"]),
        "r": r,
        "rho": rho,
        "sizes_below": sum(e["all"]["order"] is None for e in best.values()),
        "truncated": "; ".join(
            f"{num(t['share'])}ρ = {num(t['times_x_squared'])}/x² at x = {t['x']:,}" for t in numbers["truncated"]
        ),
    }
