"""Show a pair with a script as a dialogue: each question, with the typical answer on either side."""

import re

import numpy as np

from auditor.blackbox.outputs import ABSENT, NUMBER, Outputs
from auditor.blackbox.sample import Sample
from auditor.neighbours.pair import Pair
from auditor.neighbours.scripts import is_dialogue, steps_in_words
from auditor.results.result import Turn
from auditor.sessions.transcript import NOT_ASKED, PAST_METER

# ANSWER matches the names of columns about answers. NO_ANSWER are the atoms in them that are not answers.
ANSWER = re.compile(r"(type of |message of )?output(\['answers'\])?\[\d+\]")
NO_ANSWER = {ABSENT, "exception", "str", repr(NOT_ASKED), repr(PAST_METER)}


def turns(pair: Pair, sample: Sample) -> tuple[Turn, ...]:
    """Return the turns of the dialogue on a pair, with the typical answers in a sample. Return () without a script."""
    if not is_dialogue(pair.left):
        return ()
    asked = enumerate(steps_in_words(pair.left["ask"]))
    return tuple(Turn(question, _typical(sample.left, at), _typical(sample.right, at)) for at, question in asked)


def all_raise(pair: Pair, sample: Sample) -> str:
    """Return an exception in words if all questions on both sides raise. Return "" if any question is answered."""
    kinds, texts = set[str](), set[str]()
    for outputs in (sample.left, sample.right) if is_dialogue(pair.left) else ():
        for column in filter(lambda column: ANSWER.fullmatch(column.name), outputs.columns):
            if column.codes is None or (column.codes == NUMBER).any():
                return ""
            found = {column.atoms[code] for code in np.unique(column.codes).tolist()}
            (texts if column.name.startswith("message") else kinds).update(found - NO_ANSWER)
    all_raised = bool(kinds) and all(kind.startswith("raises ") for kind in kinds)
    return f"{min(kinds)}: {min(texts)}" if all_raised else ""


def _typical(outputs: Outputs, at: int) -> str:
    """Return the commonest answer to a question with its share, or the median if there are many numbers."""
    names = {column.name for column in outputs.columns}
    place = next((name for name in (f"output['answers'][{at}]", f"output[{at}]") if name in names), None)
    if place is None or not outputs.size:
        return "–"
    column = outputs.column(place)
    is_number = np.ones(len(column.numbers), np.bool_) if column.codes is None else column.codes == NUMBER
    numbers = column.numbers[is_number]
    atoms = [] if column.codes is None else np.bincount(column.codes[~is_number], minlength=len(column.atoms)).tolist()
    counts = dict(zip(column.atoms, atoms, strict=True)) if atoms else {}
    values, times = np.unique(numbers, return_counts=True)
    if len(values) <= 8:  # if there are more values, their median is shown
        counts |= {f"{value:g}": int(n) for value, n in zip(values, times, strict=True)}
    else:
        counts[f"median {np.median(numbers):.3g}"] = len(numbers)
    commonest = max(counts, key=counts.__getitem__)
    share = counts[commonest] / len(column.numbers)
    return commonest if share == 1 else f"{commonest} ({100 * share:.0f} %)"
