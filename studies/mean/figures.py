"""The figures of the study."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from studies.drawing import BLACK, BLUE, RED, panels


def draw(numbers: Any) -> dict[str, Figure]:
    return {
        "errors": errors(numbers["errors"]["histograms"]),
        "smoothed": smoothed(numbers["smooth"]),
        "profiles": profiles(numbers["profiles"]),
    }


def errors(histograms: Any) -> Figure:
    figure, axes = panels(2, 3, 9.6, 5.4)
    for axis, (group, data) in zip(axes.ravel(), histograms.items(), strict=False):
        edges = np.array(data["edges"])
        for name, counts in data["counts"].items():
            kind = name.removeprefix(f"{group}, ")
            colour, style = {"printed": (RED, "-"), "corrected": (BLUE, "--")}.get(kind, (BLACK, "-"))
            grey = kind not in ("printed", "corrected")
            label = {"printed": "as printed"}.get(kind, kind)
            axis.stairs(counts, edges, fill=grey, color="silver" if grey else colour, linestyle=style, label=label)
        axis.set(title=group, xlabel="percent error of the mean", xlim=(0, edges[-1]))
        # Global sensitivity stands in the first bin of a wide axis.
        tallest = max(max(c) for name, c in data["counts"].items() if name != "global sensitivity")
        axis.set_ylim(0, 1.6 * tallest)
        axis.legend(loc="upper right", fontsize=7)
    for axis in axes[:, 0]:
        axis.set_ylabel("trials of 10,000")
    axes.ravel()[-1].set_visible(False)
    return figure


def smoothed(data: Any) -> Figure:
    figure, [[left, middle, right]] = panels(1, 3, 9.6, 3.0)
    left.plot(data["k"], data["printed"], color=BLUE)
    left.set(title="as printed, k < 200", xlabel="k", ylabel="$e^{−βk} A(k)$", ylim=(0, None))
    middle.semilogy(data["every_k"], data["every"], color=BLUE)
    middle.set(title="every k up to n", xlabel="k, thousands", ylim=(1e-300, 1))
    middle.set_xticks([0, 10_000, 20_000, 30_000], ["0", "10", "20", "30"])
    cliff = data["cliff"]
    right.plot(cliff["n"], cliff["printed"], "o-", color=RED, markersize=3, label="as printed")
    right.plot(cliff["n"], cliff["corrected"], "s-", color=BLUE, markersize=3, label="corrected")
    right.set(title="ε = 0.1, δ = 10⁻³, u = 1", xlabel="records n", ylabel="S", xticks=[190, 195, 200, 205, 210])
    right.set_ylim(0, None)
    right.legend(loc="center right")
    return figure


def profiles(cases: Any) -> Figure:
    figure, axes = panels(2, 3, 9.6, 6.0)
    styles = {"printed": (RED, "-", "o", "as printed"), "corrected": (BLUE, "--", "s", "corrected")}
    for axis, case in zip(axes.ravel(), cases, strict=True):
        scale = case["claimed_epsilon"]
        for kind, (colour, style, marker, label) in styles.items():
            if kind not in case:
                continue
            delta = np.array(case[kind]["delta"])
            shown = delta > 1e-12
            axis.semilogy(np.array(case["epsilon"])[shown], delta[shown], style, color=colour, label=label)
            bounds = [(p["epsilon"], p["delta"]) for p in case[kind]["sampled"] if p["delta"] > 0]
            if bounds:
                axis.plot(*zip(*bounds, strict=True), marker, color=colour, markersize=4, mfc="white")
        limit = case["claimed_delta"] or 1e-8
        axis.fill_between([scale, 6 * scale], limit, 3, color="grey", alpha=0.18, linewidth=0)
        axis.set(title=case["name"], ylim=(1e-8, 3), xlim=(0, 6 * scale))
        if axis is axes.ravel()[1]:
            axis.plot([], [], "o", color=BLACK, mfc="white", markersize=4, label="sampled, at least")
            axis.fill_between([], [], color="grey", alpha=0.18, label="breaks the claim")
            axis.legend(fontsize=7, loc="lower left")
    for axis in axes[-1]:
        axis.set_xlabel("ε (nats)")
    for axis in axes[:, 0]:
        axis.set_ylabel("δ(ε)")
    return figure
