"""The report of the study, made from its numbers."""

from typing import Any

from studies.words import num, table


def report(numbers: Any) -> str:
    summaries, smooth, release = numbers["errors"]["summaries"], numbers["smooth"], numbers["propose_test_release"]
    cases = {case["name"]: case for case in numbers["profiles"]}
    cliff = smooth["cliff"]
    point, test = release["points"][0], cases["propose-test-release"]
    chunks = -(-numbers["rows"] // -(-numbers["rows"] // 6000))

    def mean(name: str) -> str:
        return f"{num(summaries[name]['mean'])} %"

    def at_claim(case: Any, kind: str) -> list[str]:
        if kind not in case:
            return []
        sampled = next(p["delta"] for p in case[kind]["sampled"] if p["epsilon"] == case["claimed_epsilon"])
        claim = f"({case['claimed_epsilon']:g}, {num(case['claimed_delta'], 1)})"
        name = f"{case['name']}, {'as printed' if kind == 'printed' else 'corrected'}"
        return [name, claim, num(case[kind]["at_claim"]), num(sampled), case[kind]["pair"]]

    return f"""# Local sensitivity of a mean: what five mechanisms err, and what privacy they buy

The chapter "Local Sensitivity" releases the mean of the Adult data's ages by global sensitivity, propose-test-release, smooth sensitivity and
sample-and-aggregate. *Proved* is what follows from a formula beside it, *computed* is by quadrature (estimated error below 10⁻¹¹), *sampled* is
at 99.9 % confidence. The Adult data are not at hand: errors are on {numbers["rows"]:,} synthetic ages (mean {
        num(numbers["mean"])
    }, deviation {num(numbers["deviation"])}, fixed seed).
All numbers are in [numbers.json](numbers.json).

## Answers

1. **Propose-test-release misses its δ by 1/(2√(2δ)) as printed** (*proved*). Where the local sensitivity is too high the test is passed by accident with
   chance ½e^(−εT) = ½√(δ/2), T being the printed threshold ln(2/δ)/(2ε), and the release then gives a record away. At δ = {
        num(point["delta"], 1)
    } that is {num(point["exact"])} in place of {num(point["delta"], 1)},
   {num(point["exact"] / point["delta"])} times too much (*computed*; *sampled*: δ(1) ≥ {
        num(point["sampled"])
    }). With the document's δ = 1/n² the factor is n/(2√2) = {
        num(release["document"]["factor"], 5)
    }; the accident has this chance for
   all data of up to {release["document"]["at_most_records"]:,.0f} people.
2. **It spends ε twice as well**, on the test and on the release: the worst neighbours at ε = 1 have δ = {
        num(test["printed"]["at_claim"])
    }, {num(test["printed"]["at_claim"] / test["claimed_delta"], 2)} times what is claimed (*computed*).
3. **Paid for, propose-test-release is worse than global sensitivity here**, not better: mean error {
        mean("propose-test-release, corrected")
    } against {mean("global sensitivity")}; as printed {mean("propose-test-release, printed")} (*sampled*,
   10,000 trials, standard errors 1 %). The document's advantage is the ε it does not count.
4. **Smooth sensitivity keeps its advantage on these data** ({mean("smooth sensitivity, corrected")} corrected, {
        mean("smooth sensitivity, printed")
    } as printed), but stopping at k = 199 is not harmless: at ε = {num(cliff["epsilon"], 1)} S falls from
   {num(cliff["printed"][cliff["n"].index(199)])} at n = 199 to {
        num(cliff["printed"][cliff["n"].index(200)])
    } at n = 200 (*proved*), and δ(ε) is {
        num(cases["smooth sensitivity, ε = 0.1"]["printed"]["at_claim"])
    } there, not 0.001.
5. **Sample-and-aggregate does not come close to global sensitivity** once a record's chunk may not depend on the others. Printed, k = 6,000 asks for noise
   of 6,000 chunks and makes {chunks:,}; corrected, empty chunks (which answer the middle of the range) add a bias: {
        mean("sample and aggregate, k = 6000, corrected")
    } against {mean("sample and aggregate, k = 6000, printed")} as printed.

## Percent errors

![Histograms of percent errors](errors.svg)

*Sampled, 10,000 trials each, ε = 1, u = 100, δ = 1/n², b = 0.005, clipping to [20, 80].* Nothing was refused. Order and shape are the document's, but for the
corrected mechanisms.

{
        table(
            ["mechanism", "mean percent error", "standard error"],
            [[name, num(entry["mean"]), num(entry["standard_error"], 2)] for name, entry in summaries.items()],
        )
    }

## The smoothed sensitivity

![Smoothed local sensitivity over k](smoothed.svg)

The largest term is at k = 0, as the document says, and it can be proved for its numbers: with A(k) = u/(n − k) the logarithm of a term is convex in k, so that its
maximum over 0 … n − 1 is at an end; at k = n − 1 it is e^(−β(n − 1))u, far below u/n here. 2S = {
        num(smooth["final_printed"], 7)
    } as printed for 32,561 rows, {num(smooth["final_corrected"], 7)}
corrected (the document's 0.006141752 and its threshold 10.7375055 are those of 32,563 rows). For small ε the maximum is at the *other* end, which 200 steps
do not reach (right).

## Privacy profiles

![Privacy profiles](profiles.svg)

*δ(ε) on the worst of a list of neighbours (computed), and lower bounds sampled from 10⁶ outputs a side; grey: what breaks the claim.* Curves are lower bounds for
the mechanism, exact for the neighbours. Where no dashed curve is shown, there is only one version.

{
        table(
            ["mechanism", "claim (ε, δ)", "δ at the claimed ε", "sampled ≥", "neighbours"],
            [row for case in cases.values() for kind in ("printed", "corrected") if (row := at_claim(case, kind))],
        )
    }
"""
