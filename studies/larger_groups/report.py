"""The report of the study, made from its numbers."""

from typing import Any

from studies.words import num, table


def report(numbers: Any) -> str:
    best = {entry["x"]: entry for entry in numbers["best"]}
    figure, errors = numbers["figure_1"], numbers["errors"]
    curves, lower = {c["x"]: c for c in numbers["curves"]}, {entry["r"]: entry for entry in numbers["lower"]}
    r, rho = numbers["r"], numbers["rho"]
    quadrature = max(c["error"] for c in numbers["curves"])
    last = max(x for x, entry in best.items() if entry["all"]["order"] is not None)
    half = min(x for x, entry in best.items() if entry["all"]["order"] is None)
    agree = min(a["bound"] / a["exact"] for a in numbers["audits"])
    return f"""# Better guarantees for larger groups: what Algorithm 1 can give, and a mechanism that gives more

The open problem of Pujol and Desfontaines asks for noisy counts within a relative error r whose zCDP guarantee v(x) improves
with the size x of a group. Algorithm 1 adds N(0, σ²) to the count, then noise of deviation r times the noisy count. Here σ² =
{num(numbers["sigma"] ** 2)} and r = {
        num(r, 1)
    }, as in the document's Figure 1, so that the first stage alone gives ρ = {num(rho)}. σ/r = {
        num(numbers["sigma"] / r)
    } is the
size at which both stages add the same noise. *Proved* points to [proofs.md](proofs.md), *computed* means quadrature with an estimated
error, *sampled* a bound at 99.9 % confidence. All numbers are in [numbers.json](numbers.json).

## Answers

1. **Algorithm 1 never gives more than a factor of two** (*proved*, Theorem 1): for every x, σ and r, D_α(M(x + 1)‖M(x))/α → ρ/2 as
   α → ∞. Since the definition speaks of all α > 1, v(x) ≥ ρ/2 for every group, however large. It does give something to every
   group: v(x) < ρ can be had for each x (*proved*, Theorem 3).
2. **From about σ/r records on the factor of two is there, and nothing after it** (*computed*). The least guarantee of a pair x, x + 1
   falls from {num(best[0]["all"]["share"])}ρ at x = 0 over {num(best[20]["all"]["share"])}ρ at 20 to {
        num(best[last]["all"]["share"])
    }ρ at {last}; for all x ≥ {half} looked at, D_α/α stays below its limit ρ/2.
   A pair with x + ½ = σ/r needs exactly ρ/2 (*proved*, Theorem 2).
3. **The gain hoped for is real at moderate orders.** For α ≤ 64 a group of 1,000 has {
        num(best[1000]["64"]["share"])
    }ρ and one of 10,000 {num(best[10000]["64"]["share"])}ρ: it
   falls as (1/(2r²) + 1)/x². A tail far beyond the bulk takes it back where α passes x/2; for large x the curve is
   (ρ/2)(1 − x/(2α))² from there (a Laplace argument, not proved; the dotted line below).
4. **Another mechanism solves the problem** (*proved*, Theorem 4): Gaussian noise on arsinh(rx/σ)/r, transformed back, is unbiased, has
   the noise of Algorithm 1 and keeps v(x) = 1/(2(σ² + r²(x − 1)²)) at all orders; v falls as 1/x² and **no mechanism within the
   relative error can do better than 1/x², but for a constant** (*proved*, Theorem 5).

## Algorithm 1

*Its output is well studied* (*proved*): Y = σr·UV with U ~ N(x/σ, 1), V ~ N(1/r, 1) independent, a product of two normal variables (Craig 1936), and
UV = (P² − Q²)/2 with P = (U + V)/√2 and Q = (U − V)/√2 independent, a difference of two non-central χ² variables. One record moves the means of P and of
Q by 1/(σ√2) each, worth ρ/2 each; the upper tail, where the loss is largest, is the work of P alone. That is where the factor of two comes from.

![Density of a million outputs](figure-1.svg)

*The document's Figure 1.* {figure["outputs"]:,} outputs for x = 10,000: mean {figure["mean"]:,.1f}, deviation {
        figure["deviation"]:,.1f} (document: 10,002.6 and 2,995.1; exactly
10,000 and {
        figure[
            "exact_deviation"
        ]:,.1f}, with standard errors of 3.0 and 2.1 for so many outputs). No test tells an output from the Gaussian of these moments with
an advantage above {
        num(figure["from_gaussian"], 2)
    } (*computed*). The eye is right about the bulk; zCDP at high orders is about the tail, where the
two have nothing in common.

![Rényi divergences over orders](orders.svg)

*D_α/α in both directions* (*computed*, error below {
        num(quadrature, 1)
    }ρ). With one record more the loss grows in the upper tail like √y,
and costs ρ/2 in the end. The next term of the expansion is (ρ/2)(σ/r − x − ½)/α: small groups come to ρ/2 from above, large ones from
below, which is why v(x) settles just where x passes σ/r. At α = 10⁶ the quadrature finds {
        num(curves[5]["rest"], 5)
    } for that
factor at x = 5 (expansion: {num(curves[5]["expansion"], 5)}) and {num(curves[100]["rest"], 5)} at x = 100 ({
        num(curves[100]["expansion"], 5)
    }).

![Guarantees over group sizes, and privacy profiles](guarantees.svg)

*Left: the least v of a pair, by the orders asked about. Right: ε at δ, a guarantee that does improve with x.*

{
        table(
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
        )
    }

The (ε, δ) guarantee is real, and not monotone: between 5 and 20 records ε grows. A pair x, x + 1 falls under v(x) and under v(x + 1), so a nonincreasing v needs at x what the pair x − 1, x needs.

*Sampled.* {len(numbers["audits"])} audits by outputs alone (σ = 1, orders 2, 4, 8, {
        "400,000"
    } outputs each) bound D_α from below; every bound lies below the
quadrature, at {num(agree, 2)} of it or more:

{
        table(
            ["x and order", "sampled D_α ≥", "quadrature", "αρ"],
            [
                [f"{a['x']}, α = {a['order']:g}", num(a["bound"]), num(a["exact"]), num(a["claimed"])]
                for a in numbers["audits"]
            ],
        )
    }

## What the definition would have to change

- **A range of orders that grows with the group** (truncated CDP, Bun, Dwork, Rothblum and Steinke 2018). For α ≤ x/4 a pair needs
  {
        "; ".join(
            f"{num(t['share'])}ρ = {num(t['times_x_squared'])}/x² at x = {t['x']:,}" for t in numbers["truncated"]
        )
    } (*computed*).
- **A δ** (approximate zCDP, Bun and Steinke 2016). Giving up δ/2 in each tail, a pair needs, at all orders (*computed* on a grid up to 10⁶):

{
        table(
            ["x", "δ = 10⁻⁵", "δ = 10⁻¹⁰"],
            [
                [f"{x:,}", *(num(a["share"]) + "ρ" for a in numbers["approximate"] if a["x"] == x)]
                for x in sorted({a["x"] for a in numbers["approximate"]})
            ],
        )
    }

- **A floor under the noise changes nothing.** With variance s² + (rX)² in the second stage the tail is the same, and so is ρ/2 (Laplace
  argument, not proved here). What matters is how fast the noise *grows*: with a deviation |X|^p the same argument gives the limit
  ρ·p/(1 + p). Only noise that grows slower than every power, or is capped, escapes a limit above 0, and large groups then do not use
  up the error they are allowed.

## The arsinh mechanism

Release e^(−r²/2) (σ/r) sinh(arsinh(rx/σ) + rN) with N ~ N(0, 1). It is `arsinh_gaussian` in `mechanisms/group_counts.py`; transformed counts
with Gaussian noise are the transformation mechanisms of Finley et al. (2024, arXiv 2409.18118), used there for outlying records.

![Relative error and guarantee of both mechanisms](alternative.svg)

- *Computed*: E|x̂ − x| < rx from x = {num(errors["arsinh_from"])} on, and from {
        num(errors["algorithm_1_from"])
    } for Algorithm 1; for large x the relative errors are {num(errors["arsinh_limit"])} and
  {num(errors["algorithm_1_limit"])}. Both sizes shrink in proportion to σ, at the price of ρ = 1/(2σ²): that
  small groups must pay some such price is Theorem 5 again, and at x = 0 no mechanism at all has an error below r·0.
- *Proved*: v(x) = ρ/(1 + (r(x − 1)/σ)²), which is {
        ", ".join(f"{num(a['v'] / rho)}ρ at {a['x']:,}" for a in numbers["arsinh"] if a["x"] >= 5)
    }. It is 1/2 over the variance of Algorithm 1's
  output at x − 1, leaving out r²σ²: the guarantee that its noise made one expect.
- *Proved*: with E|x̂ − x| ≤ rx for all x, v(x) ≤ c/x² on all of a long enough range needs c ≥ {
        num(lower[r]["needed"], 2)
    } at r = {num(r, 1)}; noise on the
  logarithm that uses the error up reaches c = {num(lower[r]["reached"])} ({num(lower[0.1]["needed"], 2)} and {
        num(lower[0.1]["reached"])
    } at r = 0.1). Which constant is right stays open.
- *Sampled* (σ = 1): audits of the mechanism at x, x + 1 against v(x + 1) find no violation:

{
        table(
            ["x", "sampled ρ ≥", "exact", "v(x + 1)"],
            [[str(a["x"]), num(a["bound"]), num(a["exact"]), num(a["claimed"])] for a in numbers["arsinh_audits"]],
        )
    }

## What is not shown

That D_α/α stays below ρ/2 at *all* orders for *all* x > σ/r is computed on {len(curves[5]["orders"])} orders and {
        sum(e["all"]["order"] is None for e in best.values())
    } sizes, not proved. The errors of the quadrature are
differences of two rules, not bounds. x̂ of both mechanisms may be negative or no integer; rounding and clipping are post-processing.
"""
