"""Rule 2: the output has finitely many values, and their probabilities are known exactly.

An output is made of parts that are independent of each other, each with its own law. The largest ratio of the probabilities of
an output
on two data sets is then the product of the largest ratios of its parts.
"""

import itertools
from fractions import Fraction

from dp_prover.interfaces import Masses, Trace
from dp_prover.numbers.form import Form
from dp_prover.numbers.logarithms import exp_below

MOST_OUTPUTS = 100_000  # of several parts together


OutputLaw = tuple[Masses, ...]


def law_of(trace: Trace) -> OutputLaw | None:
    """Return the law of the output on one data set; None if it is not finite."""
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
    # Paths may have outputs of several lengths, so that an output as a whole is one part.
    return (Masses((-1,), {(str(text),): mass for text, mass in masses.items()}),)


def joined(law: OutputLaw) -> Masses | None:
    """Return all parts as one."""
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
    """Return the largest P[part | left] / P[part | right] of each part, None for infinity, and the output with these parts."""
    ratios, where = [], []
    for one, other in zip(left, right, strict=True):
        best = Fraction(0)
        output: tuple[str, ...] = ()
        for text, mass in one.masses.items():
            if not mass:
                continue
            if not other.masses.get(text):
                return None, ", ".join(text)
            ratio = mass / other.masses[text]
            if ratio > best:
                best, output = ratio, text
        ratios.append(max(best, Fraction(1)))
        where.append(", ".join(output))
    return tuple(ratios), "; ".join(where)


def delta_above(left: OutputLaw, right: OutputLaw, epsilon: Fraction) -> Fraction | None:
    """Return a number that is at least Σ max(0, P − e^ε Q); None for too many outputs."""
    one, other = joined(left), joined(right)
    if one is None or other is None:
        return None
    factor = exp_below(epsilon)
    covered = (min(p, factor * other.masses.get(text, Fraction(0))) for text, p in one.masses.items())
    return 1 - sum(covered, Fraction(0))
