"""The report of the study, made from its numbers."""

from typing import Any

from studies.words import num, table


def report(numbers: Any) -> str:
    ties, rows = numbers["ties"], numbers["sums"]["rows"]
    figure = numbers["figure_1"]
    shares = [e["failure"] / e["beta"] for e in numbers["worst"]]
    spare = [e["tau"] - e["enough"] for e in numbers["worst"]]
    last = max(row["n"] for row in rows)
    return f"""# Shifted inverse sensitivity: Theorem 4 measured, and the two losses compared

Fang, Dong and Yi's mechanism, as the post "Beyond Local Sensitivity via Down Sensitivity" presents it, is an exponential mechanism over a
finite Y, so that every number here is a finite sum: *exact* means to rounding (10⁻¹² or better). f is the maximum of records in
0 … |Y| − 1, and the promise of Theorem 4 is f(x) ≥ M(x) ≥ f(x) − DS^{{2τ}}(x) with chance 1 − β, τ = ⌈(2/ε) ln(|Y|/β)⌉.
All numbers are in [numbers.json](numbers.json).

## Answers

1. **With the loss |ℓ − τ|, Theorem 4 fails, for every ε and every β < 9/11** (*proved*): on 2τ records of 1 and Y = {{0, …, 10}} the losses at 0 and at every
   y ≥ 1 are all τ, the output is uniform, and in range with chance 2/11. Footnote 4 is not a technicality; the theorem needs ℓ*.
2. **With ℓ\\* Theorem 4 holds, with a factor of two to spare** (*exact*). On τ records of 1 the failure is (|Y| − 2)q/(2 + (|Y| − 2)q) with q = e^(−ετ/2),
   *proved* and below β/2: between {num(min(shares), 2)} and {
        num(max(shares), 2)
    } of β over ε, β and |Y| below. No data set does worse among all of up to 12
   records with 4 values, gone through one by one; that none does at any size is not shown. A τ smaller by {
        min(spare)
    } to {max(spare)}
   records would keep the promise on that data set: about (2 ln 2)/ε of it is slack, no more.
3. **For a sum of signed records ε grows without bound** (*proved*): between (1, …, 1) and (1, …, 1, −n), for n ≥ 2τ, the mechanism into
   {{0, …, n}} reaches ε(n − τ)/2 − ln(n + 1) + ln Z with Z ≤ coth(ε/4). The monotonised sum keeps its ε.

## Figure 1, and the shift

![The loss, and its two shifted forms](figure-1.svg)

*Left: the document's Figure 1, ℓ(x, y) for the 32 records of Binomial(5, 1/2). Right: the two shifted losses at τ = {
        figure["tau"]
    } (from y = 2 on).* The maximum of
rank τ + 1 is 4, which ℓ* prefers by {
        num(figure["shifted"][5] - figure["shifted"][4], 2)
    } over 5; |ℓ − τ| prefers 3 to it by {
        num(figure["absolute"][4] - figure["absolute"][3], 2)
    }, since ℓ jumps over τ at the five 4s.

## Accuracy

![Chance of success with ties, and the failure on the worst data](accuracy.svg)

*Left (exact): n records of 1, ε = 1, β = {num(ties["beta"], 1)}, Y = {{0, …, 10}}, τ = {
        ties["tau"]
    }.* With |ℓ − τ| the chance of success passes 1 − β only between
{min(m for m, s in zip(ties["m"], ties["absolute"], strict=True) if s >= 1 - ties["beta"])} and {
        max(m for m, s in zip(ties["m"], ties["absolute"], strict=True) if s >= 1 - ties["beta"])
    } records and tends to 1/10 with more ties, the more certain the data are. It is {
        ", ".join(
            f"{num(entry['success'], 4)} at ε = {entry['epsilon']:g}, β = {entry['beta']:g}"
            for entry in ties["at_two_tau"]
        )
    } on 2τ ones.

{
        table(
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
        )
    }

*The search (exact, ε = 1, Y = {{0, 1, 2, 3}}):* {
        "; ".join(
            f"at β = {e['beta']:g} (τ = {e['tau']}) the worst data set is {len(e['records'])} records of {e['records'][0]}, failing with {num(e['failure'])}"
            for e in numbers["search"]
        )
    }.

## The sum

![ε reached](sum.svg)

*ε reached where ε is claimed (exact, loss |ℓ − τ|, β = {
        num(numbers["sums"]["beta"], 1)
    }).* One record of −n takes ℓ from n − y to 0 everywhere, so the output on the one side is uniform
and on the other concentrated at n − τ.

{
        table(
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
        )
    }
"""
