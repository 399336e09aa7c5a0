"""Rule 2: the output has finitely many values, whose probabilities are known exactly.

An output consists of independent parts, each with its own law. Its largest likelihood ratio between two data sets is the product of
its parts' largest ratios.
"""

import itertools
from fractions import Fraction

from dp_prover.interfaces import Masses, Trace
from dp_prover.numbers.form import Form
from dp_prover.numbers.logarithms import exp_below

MOST_OUTPUTS = 100_000  # of several parts together


OutputLaw = tuple[Masses, ...]


def law_of(trace: Trace) -> OutputLaw | None:
    """Return the law of the output on one data set; None if the output is continuous."""
    if any(path.conditions or any(isinstance(x, Form) for x in path.leaves) for path in trace.paths):
        return None
    if len(trace.paths) == 1 and trace.paths[0].groups is not None:
        [path] = trace.paths
        groups = path.groups or ()
        lazy = {place for group in groups for place in group.places}
        fixed = tuple(place for place in range(len(path.leaves)) if place not in lazy)
        text = (str(path.structure), *(str(path.leaves[place]) for place in fixed))
        return (Masses((-1, *fixed), {text: Fraction(1)}), *groups)
    masses: dict[tuple[str, ...], Fraction] = {}
    for path in trace.paths:
        mass = path.mass()
        text = (str(path.structure), *map(str, path.leaves))
        masses[text] = masses.get(text, Fraction(0)) + mass
    # Outputs of different paths may differ in length, so the output as a whole is one part.
    return (Masses((-1,), {(str(text),): mass for text, mass in masses.items()}),)


def join_parts(law: OutputLaw) -> Masses | None:
    """Return all parts as one; None if there are too many outputs."""
    if len(law) == 1:
        return law[0]
    size = 1
    for part in law:
        size *= len(part.masses)
    if size > MOST_OUTPUTS:
        return None
    masses: dict[tuple[str, ...], Fraction] = {}
    for outcome in itertools.product(*(part.masses.items() for part in law)):
        leaves: dict[int, str] = {}
        mass = Fraction(1)
        for part, (text, share) in zip(law, outcome, strict=True):
            mass *= share
            leaves |= dict(zip(part.places, text, strict=True))
        masses[str([leaves[place] for place in sorted(leaves)]),] = mass
    return Masses((-1,), masses)


def largest_ratios(left: OutputLaw, right: OutputLaw) -> tuple[tuple[Fraction, ...] | None, str]:
    """Return each part's largest P[part | left] / P[part | right], None if infinite, and the output that attains them."""
    ratios, where = [], []
    for ours, theirs in zip(left, right, strict=True):
        best = Fraction(0)
        output: tuple[str, ...] = ()
        for text, mass in ours.masses.items():
            if not mass:
                continue
            if not theirs.masses.get(text):
                return None, ", ".join(text)
            ratio = mass / theirs.masses[text]
            if ratio > best:
                best, output = ratio, text
        ratios.append(max(best, Fraction(1)))
        where.append(", ".join(output))
    return tuple(ratios), "; ".join(where)


def delta_above(left: OutputLaw, right: OutputLaw, epsilon: Fraction) -> Fraction | None:
    """Return an upper bound on Σ max(0, P − e^ε Q); None for too many outputs."""
    ours, theirs = join_parts(left), join_parts(right)
    if ours is None or theirs is None:
        return None
    factor = exp_below(epsilon)
    covered = (min(p, factor * theirs.masses.get(text, Fraction(0))) for text, p in ours.masses.items())
    return 1 - sum(covered, Fraction(0))
