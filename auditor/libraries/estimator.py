"""scikit-learn-style estimators: ``fit`` learns from records, and a dict of the results is the output.

The dict holds the fitted attributes (their names end in an underscore) and predictions for a few points, or a selection
of these.
"""

import copy
import inspect
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from auditor.adapters import Adapted
from auditor.errors import InvalidInputError
from auditor.libraries.adapting import dp_claim, note_chosen_values
from auditor.neighbours.records import Records

# Defaults for the range of each feature and for the number of records.
FEATURE_RANGES, TRAINING_SIZE = ((0.0, 1.0), (0.0, 1.0)), (10, 20)
MOST_POINTS = 4  # for which an estimator predicts
PREDICTED = "predicted"


def from_estimator(
    thing: Any,
    *,
    relation: str | None = None,
    size: Sequence[int] | None = None,
    range: Sequence[Any] | None = None,
    classes: Sequence[Any] | None = None,
    target: Sequence[float] | None = None,
    attributes: Sequence[str] | None = None,
) -> Adapted:
    """Adapt an estimator that is not fitted yet. Each call fits a copy.

    Args:
        thing: an object with ``fit``; its ``epsilon`` and ``delta``, if it has them, are the claim.
        relation: "add_remove" or "substitute".
        size: [low, high], how many records there are.
        range: [low, high] of each feature.
        classes: the classes of a classifier.
        target: [low, high], the numbers that a regression predicts.
        attributes: the names of fitted attributes, and "predicted" for predictions; by default all.

    Raises InvalidInputError for another relation, if classes and target are both given, and if ``fit`` needs one.
    """
    epsilon, claim = getattr(thing, "epsilon", None), None
    if isinstance(epsilon, int | float) and math.isfinite(epsilon):
        claim = dp_claim(epsilon, getattr(thing, "delta", 0.0))
    name = type(thing).__name__
    if relation is None:
        wanting = f"{name} does not say which data are neighbours; say `relation`"
        return Adapted(FittedEstimator(thing), claim, wanting=wanting)
    if classes is not None and target is not None:
        raise InvalidInputError(
            "classes and target are both given; a classifier has classes, a regression has a target"
        )
    chosen = dict[str, Any]()
    ends = chosen.setdefault("range", FEATURE_RANGES) if range is None else range
    size = chosen.setdefault("size", TRAINING_SIZE) if size is None else size
    features = [(float(low), float(high)) for low, high in ends]
    columns: list[dict[str, Any]] = [{"low": low, "high": high} for low, high in features]
    if classes is not None:
        columns.append({"choices": list(classes)})
    elif target is not None:
        columns.append({"low": float(target[0]), "high": float(target[1])})
    points = tuple(itertools.islice(itertools.product(*features), MOST_POINTS))
    shape: dict[str, Any] = {"record": features[0]} if len(columns) == 1 else {"columns": columns}
    domain = Records(**shape, size=size, relation=relation)
    learns = inspect.signature(thing.fit).parameters.get("y")
    if len(columns) == len(features) and learns is not None and learns.default is inspect.Parameter.empty:
        raise InvalidInputError(
            f"{name} learns to predict: give `classes`, or for a regression `target`, the ends [low, high]"
        )
    mechanism = FittedEstimator(thing, len(features), len(columns) > len(features), points, tuple(attributes or ()))
    return Adapted(mechanism, claim, domain, note_chosen_values(name, chosen), f"{name} has no epsilon; give a claim")


@dataclass(frozen=True, slots=True)
class FittedEstimator:
    """An estimator as a function of its records, whose columns are the features and, if it has one, the target."""

    estimator: Any
    features: int = 0
    has_target: bool = False
    points: tuple[tuple[float, ...], ...] = ()
    attributes: tuple[str, ...] = ()

    def __call__(self, data: Any) -> dict[str, Any]:
        table = np.asarray(data).reshape(len(data), self.features + self.has_target)
        features = table[:, : self.features]
        learned = _copied(self.estimator)
        learned.fit(features, table[:, -1]) if self.has_target else learned.fit(features)
        names = sorted(name for name in vars(learned) if name.endswith("_") and not name.startswith("_"))
        if hasattr(learned, "predict"):
            names.append(PREDICTED)
        return {
            name: _plain_value(
                learned.predict(np.asarray(self.points)) if name == PREDICTED else getattr(learned, name)
            )
            for name in self.attributes or names
        }


def _copied(estimator: Any) -> Any:
    """Return a copy of an estimator, whose accountant is a new one if it has no limit.

    diffprivlib's default accountant lists all calls of the process, and a forest copies it for each of its trees. So copies would
    soon take longer than the fits.
    """
    accountant: Any = getattr(estimator, "accountant", None)
    if getattr(accountant, "epsilon", None) == math.inf and getattr(accountant, "delta", None) == 1:
        return copy.deepcopy(estimator, {id(accountant): accountant.__class__()})
    return copy.deepcopy(estimator)


def _plain_value(value: Any) -> Any:
    """Return numbers, texts, and lists of these unchanged, and the type's name for anything else."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain_value(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else type(value).__name__
