"""What sessions answered in a sample: the typical answer to each question on either side, or the common error."""

import re

import numpy as np

from auditor.blackbox.outputs import ABSENT, NUMBER, Outputs
from auditor.blackbox.sample import Sample
from auditor.neighbours.pair import Pair
from auditor.neighbours.scripts import describe_steps, is_dialogue
from auditor.results.result import Turn
from auditor.sessions.transcript import NOT_ASKED, PAST_METER

# ANSWER_COLUMN matches the names of columns about answers. NOT_ANSWERS are the atoms in them that are no answers.
ANSWER_COLUMN = re.compile(r"(type of |message of )?output(\['answers'\])?\[\d+\]")
NOT_ANSWERS = {ABSENT, "exception", "str", repr(NOT_ASKED), repr(PAST_METER)}


def typical_turns(pair: Pair, sample: Sample) -> tuple[Turn, ...]:
    """Return the turns of the dialogue on a pair, with the typical answers in a sample. Return () without a script."""
    if not is_dialogue(pair.left):
        return ()
    questions = enumerate(describe_steps(pair.left["ask"]))
    return tuple(
        Turn(question, _typical_answer(sample.left, at), _typical_answer(sample.right, at))
        for at, question in questions
    )


def error_if_all_raise(pair: Pair, sample: Sample) -> str:
    """Return an exception in words if all questions on both sides raise. Return "" if any question is answered."""
    kinds, texts = set[str](), set[str]()
    for outputs in (sample.left, sample.right) if is_dialogue(pair.left) else ():
        for column in filter(lambda column: ANSWER_COLUMN.fullmatch(column.name), outputs.columns):
            if column.codes is None or (column.codes == NUMBER).any():
                return ""
            atoms = {column.atoms[code] for code in np.unique(column.codes).tolist()}
            (texts if column.name.startswith("message") else kinds).update(atoms - NOT_ANSWERS)
    all_raised = bool(kinds) and all(kind.startswith("raises ") for kind in kinds)
    return f"{min(kinds)}: {min(texts)}" if all_raised else ""


def _typical_answer(outputs: Outputs, at: int) -> str:
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
