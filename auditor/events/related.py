"""Numbers that are correlated, wherever in an output they are: noise that is used twice cancels in their difference or sum."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from auditor.blackbox.outputs import OutputColumn, Outputs
from auditor.bounds.intervals import Floats
from auditor.events.features import Place, combined_column
from auditor.events.text import NumberInText
from auditor.interfaces import Feature

# At most MOST_RELATED pairs are tried: those with the strongest correlation, from RELATED on. Noise that is used twice has 1. Fewer
# than ENOUGH outputs have such correlations by chance, and SOME_OUTPUTS are enough.
MOST_RELATED, RELATED, ENOUGH, SOME_OUTPUTS = 8, 0.8, 100, 1_000
# The most numbers that are compared, each with each, in fewer outputs, as a search has, and in more.
MOST_NUMBERS_IN_LOOKS, MOST_NUMBERS = 64, 512


@dataclass(frozen=True, slots=True)
class Combined:
    """A number of the output plus or minus (``sign``) another one. Either may be written in a text."""

    first: Feature
    second: Feature
    sign: float

    @property
    def name(self) -> str:
        return f"{self.first.name} {'+' if self.sign > 0 else '−'} {self.second.name}"

    def extract(self, outputs: Outputs) -> OutputColumn:
        """Return the sum or the difference; an atom where either is no finite number."""
        return combined_column(self.name, self.first.extract(outputs), self.second.extract(outputs), self.sign)


def related_numbers(outputs: Outputs, features: Sequence[Feature]) -> Iterator[Feature]:
    """Suggest the sum or the difference of the most correlated numbers among some features."""
    read = [feature for feature in features if isinstance(feature, Place | NumberInText)]
    most = MOST_NUMBERS if outputs.size >= SOME_OUTPUTS else MOST_NUMBERS_IN_LOOKS
    if outputs.size < ENOUGH or not 2 <= len(read) <= most:
        return
    # Outputs of one side come first, and on one side alone noise that is used twice may cancel to the same number.
    some = outputs[:: -(-outputs.size // SOME_OUTPUTS)]
    named = {feature.name for feature in features}
    numbers, columns = list[Feature](), list[Floats]()
    for feature in read:
        column = feature.extract(some)
        if column.is_finite.mean() > 0.95 and np.any(column.numbers != column.numbers[0]):
            numbers.append(feature)
            columns.append(np.where(column.is_finite, column.numbers, 0.0))
    if len(numbers) > 1:
        for i, j, sign in _most_related(np.stack(columns, axis=1)):
            combined = Combined(numbers[j], numbers[i], sign)
            if combined.name not in named:
                yield combined


def _most_related(numbers: Floats) -> list[tuple[int, int, float]]:
    """Return the most correlated pairs of columns, and the sign with which the second is added to the first so that they cancel."""
    # The correlation of heavy tails would be that of a few outputs.
    part = np.clip(numbers, *np.quantile(numbers, [0.05, 0.95], axis=0))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        part = part - part.mean(axis=0)
        part = np.nan_to_num(part / np.sqrt((part**2).sum(axis=0)), posinf=0.0, neginf=0.0)
        correlations = part.T @ part
        first, second = np.triu_indices(len(correlations), 1)
        correlations = correlations[first, second]
        pairs = list[tuple[int, int, float]]()
        for at in np.argsort(-np.abs(correlations), kind="stable")[: 4 * MOST_RELATED].tolist():
            i, j, sign = int(first[at]), int(second[at]), float(-np.sign(correlations[at]))
            both = numbers[:, j] + sign * numbers[:, i]
            # A number that is repeated as it is says nothing new.
            if abs(correlations[at]) >= RELATED and np.any(both != both[0]):
                pairs.append((i, j, sign))
    return pairs[:MOST_RELATED]
