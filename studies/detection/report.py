"""What report.md.jinja says, computed from the numbers of the study."""

import math
from typing import Any

import numpy as np

from studies.words import num, table


def values(numbers: Any) -> dict[str, Any]:
    audits, rows = numbers["reports"], numbers["detection"]
    finite = [a for a in audits if math.isfinite(float(a["exact"])) and float(a["exact"]) > 0]
    share = np.median([a["bound"] / float(a["exact"]) for a in finite])
    weakest = sorted(finite, key=lambda a: a["bound"] / float(a["exact"]))[:5]
    spent = [a["outputs"] for a in audits]
    names = list(dict.fromkeys(row["name"] for row in rows))
    losses = sorted({row["share"] for row in rows}, reverse=True)

    def cell(name: str, share: float) -> str:
        value = next(row["outputs"] for row in rows if row["name"] == name and row["share"] == share)
        return f"{int(value):,}" if value else "–"

    return {
        "above": [a for a in audits if a["bound"] > float(a["exact"])],
        "audits": audits,
        "if_refuted": np.median([a["bound"] / float(a["exact"]) for a in finite if a["verdict"] == "violation"]),
        "most_shrinking": num(100 * max(s["shrink"] / sum(s.values()) for s in spent), 2),
        "outputs_table": table(
            ["", *(f"{100 * s:g} %" for s in losses)],
            [[name, *(cell(name, s) for s in losses)] for name in names],
        ),
        "search": np.median([s["search"] / sum(s.values()) for s in spent]),
        "share": share,
        "weakest_table": table(
            ["audit", "bound", "exact", "verdict"],
            [[a["name"], num(a["bound"]), num(a["exact"]), a["verdict"].replace("_", " ")] for a in weakest],
        ),
    }
