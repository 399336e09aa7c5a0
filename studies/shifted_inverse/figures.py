"""The figures of the study."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from studies.drawing import BLACK, BLUE, GREEN, ORANGE, RED, panels


def draw(numbers: Any) -> dict[str, Figure]:
    return {
        "figure-1": figure_1(numbers["figure_1"]),
        "accuracy": accuracy(numbers),
        "sum": sums(numbers["sums"]["rows"]),
    }


def figure_1(data: Any) -> Figure:
    figure, [[left, right]] = panels(1, 2, 7.4, 3.0)
    y = np.array(data["y"])
    left.step(y, data["loss"], where="post", color=BLUE, label="ℓ(x, y)")
    left.axvline(5, color=BLACK, linestyle="--", linewidth=1, label="max x = 5")
    left.set(xlabel="y", ylabel="records to remove so that max ≤ y", ylim=(-0.8, 33))
    left.legend()
    shown = slice(2, None)
    right.plot(y[shown], data["absolute"][shown], "o-", color=RED, markersize=4, label="|ℓ − τ|")
    right.plot(y[shown], data["shifted"][shown], "s--", color=BLUE, markersize=4, label="ℓ*")
    right.axvline(5, color=BLACK, linestyle="--", linewidth=1)
    right.set(xlabel="y", ylabel=f"shifted loss, τ = {data['tau']}")
    right.legend(loc="upper right")
    return figure


def accuracy(numbers: Any) -> Figure:
    figure, [[left, right]] = panels(1, 2, 7.4, 3.2)
    ties = numbers["ties"]
    left.plot(ties["m"], ties["footnote_4"], color=BLUE, linestyle="--", label="ℓ* of footnote 4")
    left.plot(ties["m"], ties["absolute"], color=RED, label="|ℓ − τ|")
    left.axhline(1 - ties["beta"], color="grey", linewidth=0.8)
    left.text(22, 1 - ties["beta"] - 0.01, "Theorem 4: 1 − β", fontsize=7, va="top", color="dimgrey")
    for times, label in ((1, "τ"), (2, "2τ")):
        left.axvline(times * ties["tau"], color="grey", linewidth=0.8, linestyle=":")
        left.text(times * ties["tau"] + 0.4, 0.02, label, fontsize=8, color="dimgrey")
    left.set(xlabel="records, all 1", ylabel="chance that M(x) is in range", ylim=(0, 1.03))
    left.legend(loc="center right")
    for outputs, colour, marker in ((11, ORANGE, "o"), (101, GREEN, "s"), (1001, BLUE, "D")):
        for epsilon, style in ((0.5, "-"), (2.0, ":")):
            some = [e for e in numbers["worst"] if e["outputs"] == outputs and e["epsilon"] == epsilon]
            right.plot(
                [e["beta"] for e in some],
                [e["failure"] / e["beta"] for e in some],
                style,
                marker=marker,
                markersize=4,
                color=colour,
                label=f"|Y| = {outputs:,}, ε = {epsilon:g}",
            )
    right.axhline(0.5, color="grey", linewidth=0.8)
    right.set(xscale="log", xlabel="β", ylabel="failure on τ ones, share of β", ylim=(0, 1))
    right.legend(fontsize=7, ncols=2, loc="upper center")
    return figure


def sums(rows: Any) -> Figure:
    figure, [[axis]] = panels(1, 1, 5.0, 3.2)
    for epsilon, colour in ((0.5, ORANGE), (1.0, GREEN), (2.0, BLUE)):
        some = [row for row in rows if row["claimed"] == epsilon]
        n = [row["n"] for row in some]
        axis.plot(
            n, [row["sum"]["epsilon"] for row in some], "o-", color=colour, markersize=3, label=f"ε = {epsilon:g}"
        )
        # Between few ones no ε is spent at all, which a logarithm cannot show.
        spent = [(row["n"], row["monotone"]["epsilon"]) for row in some if row["monotone"]["epsilon"] > 0]
        axis.plot(*zip(*spent, strict=True), "s:", color=colour, markersize=3)
    axis.plot([], [], "o-", color=BLACK, markersize=3, label="sum")
    axis.plot([], [], "s:", color=BLACK, markersize=3, label="monotonised sum")
    axis.set(xlabel="n", ylabel="ε reached (nats)", yscale="log")
    axis.legend(fontsize=7, loc="upper left")
    axis.set_ylim(0.05, 2000)
    return figure
