"""Checks a certificate. The checker shares no code with the prover, only the format that CERTIFICATES.md describes.

It trusts that the traces are the function's. ``domain`` derives the pairs and differences, ``paths`` the conditions.
"""

import hashlib
import itertools
import json
import re
from fractions import Fraction
from typing import Any

from dp_prover.certificates.checker.calculation import require_refuted
from dp_prover.certificates.checker.domain import bounds, data, differences, texts_of
from dp_prover.certificates.checker.exact_numbers import ROUNDED, Q, exp_at_least, exp_at_most, log_beyond, need, says
from dp_prover.certificates.checker.floats import held_by_floats
from dp_prover.certificates.checker.paths import combined, differ, follows, paths, symbols_of_path
from dp_prover.certificates.checker.scripts import scripts_apart
from dp_prover.certificates.checker.shape import shape

PARAMETERS = 1 + Fraction(1, 10**9)  # tolerance for parameters, which are floats
UPWARDS = {"exponential", "gumbel"}
SYMBOL = re.compile(r"\bn[0-9]+(?:\.[0-9]+)?\b")


def conditions(cell: Any, left: Any, right: Any) -> Any:
    """Return conditions that hold on all left paths of a cell, and conditions that hold only on its right paths."""
    if "rows" not in cell:
        [(here, ends, mass, _)], [(there, others, other, _)] = (
            [some[i] for i in cell[key]] for key, some in (("left", left), ("right", right))
        )
        need("weight" in cell or (ends == others and mass == other), "the same ends of draws")
        return here, there
    here, there = cell["rows"]
    for i, each in zip(cell["left"], cell["implied"], strict=True):
        for multipliers, row in zip(each, here, strict=True):
            follows(left[i][0], multipliers, *row)
    for i in {*range(len(right))} - {*cell["right"]}:
        follows(right[i][0] + there, cell["excluded"][str(i)], {}, ">")
    return here, there


def kept(trace: Any, some: Any, indices: Any, rows: Any) -> Any:
    """Return, part by part, the rows that a shift must preserve for paths to keep their output.

    The first part names the function and its terms; the others are the conditions, the output, and each term's arguments.
    """
    [output] = {some[i][3] for i in indices}
    what, numbers = trace["outputs"][output]
    forms = [*numbers, *(form for form, _ in rows)]
    terms = sorted({name for form in forms for name in form if name[:1] == "o" and Q(form[name])})
    arguments = [trace["terms"][name] for name in terms]
    return [[[{}, what], [{}, terms]], rows, *([[form, "="] for form in each] for each in (numbers, *arguments))]


def keeps(before: Any, after: Any, every: Any, noise: Any) -> None:
    """Require that all rows survive each move of noise and data: the move's first part, plus or minus each of its others."""
    parts = [zip(ours, theirs, strict=True) for ours, theirs in zip(before, after, strict=True)]
    for (form, relation), (other, same) in itertools.chain.from_iterable(parts):
        need(all(name in noise or name in every[0][0] or name[:1] in "o" for name in other), "a symbol")
        rest, gap = combined((1, other), (-1, form))
        factors = [(name, Q(factor)) for name, factor in other.items()]
        for moves in every:
            first, *sides = (
                sum((c * move[name] for name, c in factors if name in move), Fraction(0)) for move in moves
            )
            holds = gap + first >= sum(map(abs, sides)) and (gap + first == 0 or relation != "=")
            need(holds and relation == same and not rest, f"a shift at {other} {relation} 0")


def cost(shifts: Any, proof: Any, alone: bool) -> Fraction:
    """Return a bound on the log-ratio of densities; for Gaussian noise, the squared distance in standard deviations."""
    total, gaussian = Fraction(0), proof["rule"] == "gaussian"
    for name in {name for shift in shifts for name in shift}:
        (law, number), (by, *sides) = proof["noise"][name], (Q(shift.get(name, 0)) for shift in shifts)
        rate = -log_beyond(1 - Q(number)) if law == "geometric" else 1 / Q(number)
        upwards = law in UPWARDS or (law == "geometric" and by.denominator == 1 and alone)
        moved = law in ("laplace", "logistic") or (upwards and by >= sum(map(abs, sides)))
        need(rate > 0 and (law == "normal" if gaussian else moved), "noise that is shifted")
        total += (sum(map(abs, sides), abs(by)) * rate) ** (2 if gaussian else 1)
    return total


def _lost(form: Any, noise: Any) -> Fraction:
    """Return a bound on the probability that a form of one Laplace draw is below 0, whatever the sign of its constant."""
    [(name, factor)], constant = combined((1, form))[0].items(), combined((1, form))[1]
    law, scale = noise[name]
    need(law == "laplace", "a tail")
    return exp_at_least(-constant / abs(factor) / Q(scale)) / 2


def alignment(entry: Any, proof: Any, clock: Any) -> tuple[Fraction, Fraction]:
    """Return ε (μ² for Gaussian noise) for one pair or one set of differences, and the δ lost to assumptions."""
    (ours, theirs), noise, new = (proof["traces"][at] for at in entry["traces"]), proof["noise"], entry["names"]
    text = json.dumps(theirs)
    symbols = {*SYMBOL.findall(text)}
    need(len({new.get(name, name) for name in symbols}) == len(symbols), "different names of noise")
    need(all(noise[name] == noise[other] for name, other in new.items()), "noise of the same distribution")
    theirs = json.loads(SYMBOL.sub(lambda name: new.get(name[0], name[0]), text))
    left, right = paths(proof, ours), paths(proof, theirs)
    left = [(given + entry["assumed"], *rest) for given, *rest in left]
    whole = any(law == "geometric" for law, _ in noise.values())
    moves = [[{}]] if proof["listed"] else differences(proof["domain"], entry, whole)
    covered, used = [Fraction(0)] * len(left), [list[Any]() for _ in right]
    for cell in entry["cells"]:
        clock()
        alone = "rows" not in cell and len(cell["left"]) == len(cell.get("right", ())) == 1
        need("weight" not in cell or (Q(cell["weight"]) > 0 and alone), "a weight of two paths")
        if "never" in cell:
            [path] = cell["left"]
            follows(left[path][0] + bounds(proof), cell["never"], {}, ">")
            covered[path] = Fraction(1)
            continue
        here, there = conditions(cell, left, right)
        if "weight" in cell:
            source, target = left[cell["left"][0]], right[cell["right"][0]]
            need(
                not differ(source[1], target[1]) & (symbols_of_path(ours, source) | symbols_of_path(theirs, target)),
                "draws that end otherwise",
            )
        before, after = kept(ours, left, cell["left"], here), kept(theirs, right, cell["right"], there)
        moved = [[{name: Q(by) for name, by in shift.items()} for shift in shifts] for shifts in cell["shifts"]]
        both = [[a | b for a, b in zip(shift, move, strict=True)] for shift, move in zip(moved, moves, strict=True)]
        keeps(before, after, both, noise)
        price = max(cost(shifts, proof, len(shifts) == 1) for shifts in cell["shifts"])
        for path in cell["left"]:
            covered[path] += Q(cell["weight"]) / left[path][2] if "weight" in cell else 1
        for path in cell["right"]:
            used[path].append((Q(cell["weight"]) / right[path][2] if "weight" in cell else Fraction(1), price))
    need(all(share >= 1 for share in covered), "each path is in a cell")
    need(proof["rule"] != "gaussian" or len(left) == len(entry["cells"]) == 1, "Gaussian noise on one path")
    numbers = [Fraction(0)]
    for each in filter(None, used):
        times = sum((share * exp_at_least(price) for share, price in each), Fraction(0))
        alone = len(each) == 1 and each[0][0] == 1
        numbers.append(each[0][1] if alone else log_beyond(max(times, Fraction(1))))
    return max(numbers), sum((_lost(form, noise) for form, _ in entry["assumed"]), Fraction(0))


def masses(entry: Any, proof: Any, clock: Any) -> tuple[Fraction, Fraction]:
    """Return ε and δ of one pair. The losses of independent parts add up (composition); missing mass counts towards δ."""
    left, right = (proof["laws"][at] for at in entry["traces"])
    need(left.keys() == right.keys() == entry["epsilons"].keys(), "parts")
    delta = Fraction(0)
    for place, part in left.items():
        clock()
        factor = exp_at_most(Q(entry["epsilons"][place]))  # a larger factor would hide missing mass
        need(sum(map(Q, part.values())) <= 1 and all(Q(p) >= 0 for p in part.values()), "masses")
        delta += 1 - sum(min(Q(p), factor * Q(right[place].get(text, 0))) for text, p in part.items())
    return sum(map(Q, entry["epsilons"].values()), Fraction(0)), delta


def check_certificate(proof: Any, clock: Any = lambda: None) -> None:
    """Raise ValueError if a certificate does not prove, or refute, its claim. ``clock`` is called repeatedly, and may raise."""
    need(proof["format"] == 4, f"it is of format {proof['format']}; write it anew with `auditor prove --out DIR`")
    text = json.dumps({key: value for key, value in proof.items() if key != "digest"}, sort_keys=True)
    need(hashlib.sha256(text.encode()).hexdigest() == proof["digest"], "it was changed")
    if proof["rule"] == "calculation":
        require_refuted(proof, clock)
        return
    rule, claim, bound, domain = proof["rule"], proof["claim"], Q(proof["bound"]), proof["domain"]
    shape(proof)
    held_by_floats(proof)
    if proof["listed"]:
        sets, wanted = data(domain)
        named = sorted((*entry["sides"],) for entry in proof["pairs"])
        need(named == sorted(wanted), "all pairs")
        shown = texts_of(proof["data"], domain["forms"])
        traced = [each for entry in proof["pairs"] for each in zip(entry["sides"], entry["traces"], strict=True)]
        need({place for _, place in traced} == {*range(len(shown))}, "data that are compared")
        need(all(json.dumps(sets[at]) == shown[place] for at, place in traced), "the data of each trace")
    else:
        parts = [0, 1] if "each" in domain["relation"] else [0]
        need(
            [[*entry["traces"], entry["part"]] for entry in proof["pairs"]] == [[0, 0, part] for part in parts],
            "all parts",
        )
    rules = {"masses": masses, "alignment": alignment, "gaussian": alignment}
    losses = [rules[rule](entry, proof, clock) for entry in proof["pairs"]]
    number, delta = (max(loss[at] for loss in losses) for at in (0, 1))
    need(delta <= Q(claim.get("delta", 0)) * PARAMETERS, "δ")
    if "asked" in proof:
        scripts_apart(proof, delta)
    need(says(claim, number, bound * ROUNDED, rule == "gaussian"), "the bound")
    need(bound <= next(Q(claim[name]) for name in ("rho", "mu", "epsilon") if name in claim) * PARAMETERS, "the claim")
