"""The figures of the study."""

from typing import Any

import numpy as np
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure

from studies.drawing import BLACK, BLUE, GREEN, ORANGE, RED, SKY, panels

LINES = {
    "add_remove": {
        "naive": ("naive, Lap(2/ε) twice", BLACK, "-"),
        "ksw": ("KSW", BLUE, "-"),
        "local 0.02": ("local sensitivity, ε₁ = 0.02 ε", ORANGE, "--"),
        "local 0.1": ("local sensitivity, ε₁ = 0.1 ε", RED, "--"),
        "local 0.3": ("local sensitivity, ε₁ = 0.3 ε", SKY, "--"),
    },
    "substitution": {
        "ksw": ("KSW, λ = 2/ε", BLUE, "-"),
        "local": ("local sensitivity, ε/2 and δ to match", RED, "--"),
        "plain": ("(a + Lap(1/ε))/b", GREEN, "-"),
    },
}
TITLES = {"add_remove": "add/remove", "substitution": "substitution"}


def draw(numbers: Any) -> dict[str, Figure]:
    return {"errors": errors(numbers), "privacy": privacy(numbers["plane"])}


def errors(numbers: Any) -> Figure:
    figure, axes = panels(2, 3, 9.6, 6.0)
    for row, (relation, lines) in zip(axes, LINES.items(), strict=True):
        for name, (label, colour, style) in lines.items():
            points = numbers["over_b"]
            b = [point["b"] for point in points]
            row[0].loglog(b, [point[relation][name]["mean"] for point in points], style, color=colour, label=label)
            for axis, points in zip(row[1:], numbers["over_ratio"].values(), strict=True):
                scaled = [point["b"] * point[relation][name]["mean"] for point in points]
                axis.plot([point["a"] / point["b"] for point in points], scaled, style, color=colour)
        row[0].set(title=f"{TITLES[relation]}, a/b = 1/2", ylabel="mean absolute error", ylim=(4e-6, 3e5))
        row[0].legend(fontsize=7, loc="upper right")
        for axis, b in zip(row[1:], numbers["over_ratio"], strict=True):
            axis.set(
                title=f"{TITLES[relation]}, b = {int(b):,}", ylabel="mean absolute error, units of 1/b", ylim=(0, 4)
            )
    axes[-1][0].set_xlabel("b")
    for axis in axes[-1][1:]:
        axis.set_xlabel("a/b")
    return figure


def privacy(plane: Any) -> Figure:
    figure, rows = panels(2, 3, 9.6, 6.2, sharex=True, sharey=True)
    sizes = sorted({node["b"] for node in plane})
    count = len(plane) // len(sizes)
    titles = {
        "printed": "as printed, add/remove",
        "corrected": "corrected, add/remove",
        "substitution": "corrected, substitution",
    }
    images = []
    for row, (value_of, source) in zip(rows, {"epsilon": "exact", "bound": "audited, ε ≥"}.items(), strict=True):
        for axis, (kind, title) in zip(row, titles.items(), strict=True):
            grid = np.array([node[kind][value_of] for node in plane], dtype=float).reshape(len(sizes), count).T
            images.append(axis.imshow(grid, origin="lower", aspect="auto", cmap="RdBu_r", norm=TwoSlopeNorm(1, 0, 5)))
            for (i, j), value in np.ndenumerate(grid):
                colour = "white" if value > 3.2 or value < 0.2 else "black"
                text = "∞" if np.isinf(value) else f"{value:.2f}"
                axis.text(j, i, text, ha="center", va="center", fontsize=7, color=colour)
            axis.set(title=f"{source}: {title}")
            axis.grid(visible=False)
    for axis in rows[-1]:
        axis.set_xticks(range(len(sizes)), [f"{b:,}" for b in sizes], fontsize=7)
        axis.set_xlabel("b")
    ratios = [node["a"] / node["b"] for node in plane[-count:]]
    for row in rows:
        row[0].set_yticks(range(count), [f"{ratio:g}" for ratio in ratios])
        row[0].set_ylabel("a/b")
    label = "ε at δ = 10⁻⁵; claimed: 1"
    figure.colorbar(images[0], ax=[axis for row in rows for axis in row], label=label, ticks=[0, 0.5, 1, 2, 3, 4, 5])
    return figure
