"""The report of the study, made from its numbers."""

import math
import statistics
from typing import Any

from studies.words import num, table


def report(numbers: Any) -> str:
    known = {row["name"]: row for row in numbers["known"]}
    plane, over_b = numbers["plane"], numbers["over_b"]
    broken = [node for node in plane if float(node["printed"]["epsilon"]) > numbers["epsilon"]]
    kept = max(float(node["corrected"]["epsilon"]) for node in plane)
    swapped = [node for node in plane if float(node["substitution"]["epsilon"]) > numbers["epsilon"]]
    worst_printed = max(plane, key=lambda node: float(node["printed"]["epsilon"]))
    worst_swapped = max(plane, key=lambda node: float(node["substitution"]["epsilon"]))
    large = next(node["substitution"] for node in plane if (node["a"], node["b"]) == (5000, 10_000))
    panels = [(node, kind) for node in plane for kind in ("printed", "corrected", "substitution")]
    broken_anywhere = [(node, kind) for node, kind in panels if float(node[kind]["epsilon"]) > numbers["epsilon"]]
    unseen = [(node, kind) for node, kind in broken_anywhere if node[kind]["verdict"] != "violation"]
    caught = len(broken_anywhere) - len(unseen)
    missed = (
        " and ".join(f"({node['a']:,}, {node['b']:,}) with ε = {num(node[kind]['epsilon'])}" for node, kind in unseen)
        or "nothing"
    )
    seen = [node[kind] for node, kind in panels if 0.5 < float(node[kind]["epsilon"]) < math.inf]
    share = statistics.median(found["bound"] / float(found["epsilon"]) for found in seen)
    error = max(node[kind]["error"] for node in plane for kind in ("printed", "corrected", "substitution"))

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
    return f"""# Private ratios: what each mechanism errs, and the privacy that it buys

The post "Privately bounding local sensitivity" compares three ways to release a/b, where each person adds (0, 1) or (1, 1). Its figures do not name
all their parameters; here ε = {
        numbers[
            "epsilon"
        ]:g}, δ = 10⁻⁵, and *local sensitivity* is the mechanism corrected by Theorem 2, with the share ε₁/ε varied. *Proved* is
what follows from a formula beside it, *computed* is by quadrature with an estimated error below {
        num(max(error, 1e-9), 1)
    } in ε, *sampled* is {numbers["trials"]:,} trials a point, or an
audit at 99.9 % confidence. All numbers are in [numbers.json](numbers.json).

## Answers

1. **The remark that local sensitivity does not suffer under substitution is wrong** (*computed* and *sampled*). At (5,000, 10,000) against (5,001, 10,000) the corrected
   mechanism has ε = {num(large["epsilon"], 4)} (audited: ε ≥ {
        num(large["bound"], 4)
    }), not 1. A substitution moves a/b by 1/b; the local sensitivity under add/remove is half of that at a/b = 1/2, and
   the noise follows it. {len(swapped)} of {len(plane)} points of the plane break the claim, all at large b.
2. **As printed, the mechanism is not private in the middle of the plane**: {len(broken)} of {
        len(plane)
    } points break the claim, up to ε = {num(worst_printed["printed"]["epsilon"])} at ({worst_printed["a"]:,}, {
        worst_printed["b"]:,}) (*computed*). Corrected,
   it reaches ε = {
        num(kept)
    } at most on these points: for small b it spends little of its ε, since its noise is scaled to loose bounds.
3. **Local sensitivity wins for large b and a/b near 1/2, KSW elsewhere**, as the document says; from which b on depends on ε₁ (below). For b → ∞ it errs
   max(p, 1 − p)/((1 − s)bε) at p = a/b and share s, KSW (1 − p + p²)/(bε), the naive ratio 2(1 + p + p²)/((1 + p)bε) (*proved*, the noise linearised). So
   local sensitivity wins for {
        "; ".join(range_of(s) for s in (0.02, 0.1, 0.3))
    }: for every p < 1 as the share falls to 0.
4. **The mean absolute error that the figures show is infinite** for the naive and the KSW ratio at every b (*proved*: the denominator has a positive density at 0, so that P[|ratio| > t]
   falls as 1/t only). For b of a few hundred and more no trial of 100,000 sees it; for small b the plotted means say how far the largest draw went. Medians are in numbers.json.
5. **Under substitution there is a simpler mechanism than all of these**: b does not change, so (a + Lap(1/ε))/b is ε-private, and errs 1/(bε) (*proved*), less than KSW with
   λ = 2/ε, 2(1 − p + p²)/(bε) ≥ 1.5/(bε).

## Errors

![Mean absolute errors](errors.svg)

*Sampled. Left: over b at a/b = 1/2. Middle and right: over a/b, times b, at b = {
        " and ".join(f"{int(b):,}" for b in numbers["over_ratio"])
    }; lines that are missing lie above.* The second row grants local sensitivity ε/2 and a δ to match, which is
enough under substitution, as that is a removal and an addition.

{
        table(
            ["b (a/b = 1/2)", "naive", "KSW", *(f"local, share {s}" for s in ("0.02", "0.1", "0.3"))],
            [
                [
                    f"{point['b']:,}",
                    *(num(error_of(point, name)) for name in ("naive", "ksw", "local 0.02", "local 0.1", "local 0.3")),
                ]
                for point in shown
            ],
        )
    }

On this grid local sensitivity errs less than KSW from b = {first("0.02", "ksw")} on with a share of 0.02, from {
        first("0.1", "ksw")
    } with 0.1, from {first("0.3", "ksw")} with 0.3; and less than the naive ratio from
{first("0.02", "naive")}, {first("0.1", "naive")} and {
        first("0.3", "naive")
    }. Below, it bails out to the naive ratio, with less than all of ε; and where it just no longer does, the lower bound on b is next
to 2 and that on the sensitivity next to useless: at b = 100 and a share of 0.3 the error is {
        num(
            error_of(next(p for p in over_b if p["b"] == 100), "local 0.3")
            / error_of(next(p for p in over_b if p["b"] == 100), "naive"),
            2,
        )
    } times the naive ratio's.

## The privacy that was bought

![ε over the plane, exact and audited](privacy.svg)

*Computed, above: ε at δ = 10⁻⁵, the larger over the two people who may join (left, middle), and for one who changes the answer (right).* The noise on a and b is discrete and integrated out by a
sum; scales within 0.2 % of each other are merged, which costs less than 10⁻⁵ in ε. The largest in the right panel is {
        num(worst_swapped["substitution"]["epsilon"])
    }.

*Sampled, below: what an audit proves on the same pairs from {
        numbers["samples"]:,} outputs each, with 99.9 % confidence.* {caught} of the {
        len(broken_anywhere)
    } points and pairs that break the claim are refuted, and none of the others. Where the exact value
is above 0.5, the median of bound over truth is {num(share, 2)}; missed is {missed}.

The other two mechanisms at (200, 300), ε = 1 claimed:

{
        table(
            ["mechanism and relation", "exact ε", "exact ε at δ = 10⁻⁵"],
            [[name, num(row["pure"]["value"], 4), num(row["approximate"]["value"], 4)] for name, row in known.items()],
        )
    }

The naive ratio reaches its ε only where outputs practically never fall, as the last column shows: for all that can be seen it is more private than it claims.
"""
