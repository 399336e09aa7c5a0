"""The figures of the study."""

import math
from typing import Any

from matplotlib.figure import Figure

from studies.drawing import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, panels


def draw(numbers: Any) -> dict[str, Figure]:
    return {"truth": truth(numbers["reports"]), "detection": detection(numbers["detection"])}


def truth(audits: Any) -> Figure:
    figure, [[axis]] = panels(1, 1, 5.0, 4.2)
    kinds = {"epsilon": ("ε", BLUE, "o"), "rho": ("ρ", GREEN, "s"), "mu": ("μ", PURPLE, "D")}
    for quantity, (label, colour, marker) in kinds.items():
        some = [
            (float(a["exact"]), a["bound"])
            for a in audits
            if a["quantity"] == quantity and math.isfinite(float(a["exact"])) and a["bound"] > 1e-3
        ]
        if some:
            axis.plot(*zip(*some, strict=True), marker, color=colour, mfc="none", markersize=5, label=label)
    axis.plot([0.02, 12], [0.02, 12], color=BLACK, linewidth=0.9)
    axis.plot([0.02, 12], [0.01, 6], color="grey", linewidth=0.8, linestyle=":")
    axis.text(9, 10.5, "truth", fontsize=7, ha="right")
    axis.text(9, 3.6, "half", fontsize=7, ha="center", color="dimgrey")
    axis.set(xscale="log", yscale="log", xlabel="exact value on the pair found", ylabel="bound proved from outputs")
    axis.legend(loc="lower right")
    return figure


def detection(rows: Any) -> Figure:
    figure, [[axis]] = panels(1, 1, 5.0, 3.6)
    names = list(dict.fromkeys(row["name"] for row in rows))
    looks = zip((BLUE, ORANGE, GREEN, RED, PURPLE), "osD^v", strict=True)
    for name, (colour, marker) in zip(names, looks, strict=True):
        some = [(100 * row["share"], row["outputs"]) for row in rows if row["name"] == name and row["outputs"]]
        axis.plot(*zip(*some, strict=True), marker=marker, color=colour, markersize=4, label=name)
    axis.set(xscale="log", yscale="log", xlabel="noise too small by, %", ylabel="outputs until refuted, both sides")
    axis.set_xticks([5, 10, 20, 50], ["5", "10", "20", "50"])
    axis.minorticks_off()
    axis.legend(loc="upper right", fontsize=7)
    return figure
