"""The figures of the study."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import norm

from studies.drawing import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, panels, shades


def draw(numbers: Any) -> dict[str, Figure]:
    return {
        "figure-1": figure_1(numbers["figure_1"]),
        "orders": orders(numbers["curves"]),
        "guarantees": guarantees(numbers),
        "alternative": alternative(numbers),
    }


def figure_1(data: Any) -> Figure:
    figure, [[axis]] = panels(1, 1, 5.2, 3.0)
    edges = np.array(data["edges"])
    axis.stairs(1e4 * np.array(data["density"]), edges / 1000, fill=True, color=RED, alpha=0.55, label="10⁶ outputs")
    y = np.linspace(edges[0], edges[-1], 400)
    fit = norm.pdf(y, data["mean"], data["deviation"])
    axis.plot(y / 1000, 1e4 * fit, color=BLACK, label="Gaussian of the same mean and deviation")
    axis.set(xlabel="output of Algorithm 1, thousands", ylabel="density, 10⁻⁴", xlim=(-5, 25))
    axis.legend(loc="upper right")
    axis.set_ylim(0, 1.75)
    return figure


def orders(curves: Any) -> Figure:
    figure, [[more, fewer]] = panels(1, 2, 7.4, 3.2, sharey=True)
    for data, colour in zip(curves, shades(len(curves)), strict=True):
        alpha = np.array(data["orders"])
        label = f"x = {data['x']:,}"
        more.plot(alpha, data["up"], color=colour)
        fewer.plot(alpha, data["down"], color=colour, label=label)
        if data["x"] >= 100:
            beyond = alpha[alpha > data["x"] / 2]
            more.plot(beyond, (1 - data["x"] / 2 / beyond) ** 2 / 2, color=BLACK, linestyle=":", linewidth=1.1)
    fewer.plot([], [], color=BLACK, linestyle=":", label="left: ½(1 − x/(2α))²")
    for axis, title in ((more, "M(x + 1) from M(x)"), (fewer, "M(x) from M(x + 1)")):
        axis.axhline(0.5, color="grey", linewidth=0.8)
        axis.axhline(1, color="grey", linewidth=0.8, linestyle="--")
        axis.set(xscale="log", xlabel="order α", title=title, xlim=(1, 1e6), ylim=(-0.02, 1.04))
    more.text(1.3, 1.01, "ρ: the first stage alone", fontsize=7, va="bottom", color="dimgrey")
    more.text(1.3, 0.51, "ρ/2", fontsize=7, va="bottom", color="dimgrey")
    more.set_ylabel("$D_α/α$, in units of ρ")
    fewer.legend(loc="upper right", bbox_to_anchor=(1, 0.96))
    return figure


def guarantees(numbers: Any) -> Figure:
    figure, [[left, right]] = panels(1, 2, 7.4, 3.2)
    best = numbers["best"]
    x = np.array([entry["x"] for entry in best])
    kinds = (("all", "all α > 1", BLACK), ("64", "α ≤ 64", BLUE), ("8", "α ≤ 8", GREEN), ("2", "α ≤ 2", ORANGE))
    for name, label, colour in kinds:
        left.plot(x, [entry[name]["share"] for entry in best], color=colour, label=label)
    deltas = sorted({entry["delta"] for entry in numbers["approximate"]})
    for delta, marker in zip(deltas, "sD", strict=True):
        some = [entry for entry in numbers["approximate"] if entry["delta"] == delta]
        label = f"all α, δ = $10^{{{round(np.log10(delta))}}}$ given up"
        places = [entry["x"] for entry in some]
        left.plot(
            places, [entry["share"] for entry in some], marker, color=PURPLE, markersize=4, label=label, mfc="none"
        )
    left.set(
        xscale="symlog",
        yscale="log",
        xlim=(0, 1e4),
        xlabel="records in the group, x",
        ylabel="least v of a pair x, x + 1, units of ρ",
    )
    left.set_xscale("symlog", linthresh=10)
    left.legend(loc="lower left")
    for data, colour in zip(numbers["profiles"], shades(len(numbers["profiles"])), strict=True):
        positive = [(d, e) for d, e in zip(data["deltas"], data["epsilon"], strict=True) if e > 0]
        right.plot(*zip(*positive, strict=True), "o-", color=colour, markersize=3, label=f"x = {data['x']:,}")
    deltas = numbers["profiles"][0]["deltas"]
    right.plot(deltas, numbers["gaussian_profile"], "k--", label="the first stage alone")
    right.set(xscale="log", yscale="log", xlabel="δ", ylabel="ε (nats)")
    right.invert_xaxis()
    right.legend(loc="lower right", fontsize=7, ncols=2, handlelength=1.4)
    right.set_ylim(5e-5, 2)
    return figure


def alternative(numbers: Any) -> Figure:
    figure, [[left, right]] = panels(1, 2, 7.4, 3.2)
    errors, r = numbers["errors"], numbers["r"]
    left.plot(errors["x"], errors["algorithm_1"], color=BLUE, label="Algorithm 1")
    left.plot(errors["x"], errors["arsinh"], color=RED, linestyle="--", label="arsinh mechanism")
    left.axhline(r, color="grey", linewidth=0.8)
    left.text(9000, r + 0.01, f"allowed: r = {r:g}", fontsize=7, ha="right", va="bottom", color="dimgrey")
    left.set(
        xscale="log", xlabel="records in the group, x", ylabel="mean relative error $E|\\hat{x} − x|/x$", ylim=(0, 1)
    )
    left.legend()
    best, rho, sigma = numbers["best"], numbers["rho"], numbers["sigma"]
    x = np.array([entry["x"] for entry in best], dtype=float)
    right.plot(x, [entry["all"]["share"] for entry in best], color=BLUE, label="Algorithm 1,\nleast possible")
    ours = 1 / (1 + (r * np.maximum(0, x - 1) / sigma) ** 2)
    right.plot(x, ours, color=RED, linestyle="--", label="arsinh, proved")
    bound = next(entry["needed"] for entry in numbers["lower"] if entry["r"] == r)
    some = x[x >= 45]
    right.fill_between(some, bound / some**2 / rho, 1e-9, color="grey", alpha=0.25, linewidth=0)
    right.text(300, 3e-7, "no mechanism with\nthis relative error\nstays in here", fontsize=7, ha="center", va="center")
    right.set(yscale="log", xlim=(0, 1e4), ylim=(1e-8, 5), xlabel="records in the group, x", ylabel="v(x), units of ρ")
    right.set_xscale("symlog", linthresh=10)
    right.legend(loc="center left", bbox_to_anchor=(0, 0.42), fontsize=7)
    return figure
