"""What report.md.jinja says, computed from the numbers of the study."""

import math
import statistics
from typing import Any

from studies.words import num, table


def values(numbers: Any) -> dict[str, Any]:
    exact = {row["name"]: row for row in numbers["known"]}
    plane, over_b = numbers["plane"], numbers["over_b"]
    kept = max(float(node["corrected"]["epsilon"]) for node in plane)
    panels = [(node, kind) for node in plane for kind in ("printed", "corrected", "substitution")]
    broken_anywhere = [(node, kind) for node, kind in panels if float(node[kind]["epsilon"]) > numbers["epsilon"]]
    unseen = [(node, kind) for node, kind in broken_anywhere if node[kind]["verdict"] != "violation"]
    audited = [node[kind] for node, kind in panels if 0.5 < float(node[kind]["epsilon"]) < math.inf]
    share = statistics.median(loss["bound"] / float(loss["epsilon"]) for loss in audited)

    def error_of(point: Any, name: str, relation: str = "add_remove", kind: str = "mean") -> float:
        value: float = point[relation][name][kind]
        return value

    def first(share: str, other: str) -> str:
        """Return the b from which on local sensitivity has the smaller error."""
        ahead = [error_of(p, f"local {share}") < error_of(p, other) for p in over_b]
        behind = max((i for i, better in enumerate(ahead) if not better), default=-1)
        return f"{over_b[behind + 1]['b']:,}" if behind + 1 < len(over_b) else "never"

    def range_of(share: float) -> str:
        kept = 1 - share
        end = ((1 + kept) - math.sqrt((1 + kept) ** 2 - 4 * kept**2)) / (2 * kept)
        return f"{num(1 - end)} < a/b < {num(end)} at a share of {share:g}"

    shown = [point for point in over_b if point["b"] in (10, 100, 1000, 10_000, 100_000)]
    return {
        "at_a_hundred": num(
            error_of(next(p for p in over_b if p["b"] == 100), "local 0.3")
            / error_of(next(p for p in over_b if p["b"] == 100), "naive"),
            2,
        ),
        "broken": [node for node in plane if float(node["printed"]["epsilon"]) > numbers["epsilon"]],
        "broken_anywhere": broken_anywhere,
        "caught": len(broken_anywhere) - len(unseen),
        "error": max(node[kind]["error"] for node in plane for kind in ("printed", "corrected", "substitution")),
        "errors_table": table(
            ["b (a/b = 1/2)", "naive", "KSW", *(f"local, share {s}" for s in ("0.02", "0.1", "0.3"))],
            [
                [
                    f"{point['b']:,}",
                    *(num(error_of(point, name)) for name in ("naive", "ksw", "local 0.02", "local 0.1", "local 0.3")),
                ]
                for point in shown
            ],
        ),
        "first": first,
        "kept": kept,
        "known_table": table(
            ["mechanism and relation", "exact ε", "exact ε at δ = 10⁻⁵"],
            [[name, num(row["pure"]["value"], 4), num(row["approximate"]["value"], 4)] for name, row in exact.items()],
        ),
        "large": next(node["substitution"] for node in plane if (node["a"], node["b"]) == (5000, 10_000)),
        "missed": " and ".join(
            f"({node['a']:,}, {node['b']:,}) with ε = {num(node[kind]['epsilon'])}" for node, kind in unseen
        )
        or "nothing",
        "plane": plane,
        "ranges": "; ".join(range_of(s) for s in (0.02, 0.1, 0.3)),
        "share": share,
        "sums": " and ".join(f"{int(b):,}" for b in numbers["over_ratio"]),
        "swapped": [node for node in plane if float(node["substitution"]["epsilon"]) > numbers["epsilon"]],
        "worst_printed": max(plane, key=lambda node: float(node["printed"]["epsilon"])),
        "worst_swapped": max(plane, key=lambda node: float(node["substitution"]["epsilon"])),
    }
