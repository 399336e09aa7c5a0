"""What report.md.jinja says, computed from the numbers of the study."""

from typing import Any

from studies.words import num, table


def values(numbers: Any) -> dict[str, Any]:
    ties, rows = numbers["ties"], numbers["sums"]["rows"]
    last = max(row["n"] for row in rows)
    return {
        "at_two_tau": ", ".join(
            f"{num(entry['success'], 4)} at ε = {entry['epsilon']:g}, β = {entry['beta']:g}"
            for entry in ties["at_two_tau"]
        ),
        "figure": numbers["figure_1"],
        "first_in_range": min(m for m, s in zip(ties["m"], ties["absolute"], strict=True) if s >= 1 - ties["beta"]),
        "last_in_range": max(m for m, s in zip(ties["m"], ties["absolute"], strict=True) if s >= 1 - ties["beta"]),
        "searched": "; ".join(
            f"at β = {e['beta']:g} (τ = {e['tau']}) the worst data set is {len(e['records'])} records of {e['records'][0]}, "
            f"failing with {num(e['failure'])}"
            for e in numbers["search"]
        ),
        "shares": [e["failure"] / e["beta"] for e in numbers["worst"]],
        "spare": [e["tau"] - e["enough"] for e in numbers["worst"]],
        "sums_table": table(
            ["claimed ε", "n", "τ", "sum: ε reached", "monotonised sum"],
            [
                [
                    f"{row['claimed']:g}",
                    str(row["n"]),
                    str(row["tau"]),
                    num(row["sum"]["epsilon"], 4),
                    num(row["monotone"]["epsilon"], 3),
                ]
                for row in rows
                if row["n"] in (10, 50, last)
            ],
        ),
        "ties": ties,
        "worst_table": table(
            ["ε, |Y|, β", "τ", "failure on τ ones", "share of β", "τ that suffices there"],
            [
                [
                    f"{e['epsilon']:g}, {e['outputs']:,}, {e['beta']:g}",
                    str(e["tau"]),
                    num(e["failure"]),
                    num(e["failure"] / e["beta"], 2),
                    str(e["enough"]),
                ]
                for e in numbers["worst"]
                if e["beta"] in (0.1, 0.001)
            ],
        ),
    }
