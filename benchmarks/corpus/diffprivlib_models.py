"""Models of diffprivlib; the claim is the ε that each is given. A model is loaded alone, since others need older libraries."""

import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "configs" / "libraries"))

import numpy as np
from protocol import Made, serve

warnings.simplefilter("ignore")
# Only the snapping mechanism calls it.
sys.modules["crlibm"] = ModuleType("crlibm")
sys.modules["crlibm"].log_rn = None


def _model(module: str, name: str) -> Any:
    """Return a class without importing the packages that contain it."""
    origin = find_spec("diffprivlib").origin
    for package, folder in (
        ("diffprivlib", Path(origin).parent),
        ("diffprivlib.models", Path(origin).parent / "models"),
    ):
        sys.modules[package] = ModuleType(package)
        sys.modules[package].__path__ = [str(folder)]
    return getattr(import_module(f"diffprivlib.models.{module}"), name)


def linear_regression(epsilon: float) -> Made:
    """Return the attributes of a fitted model: its coefficient, and the noisy sums of y², xy and x² from which it is computed."""
    model = _model("linear_regression", "LinearRegression")

    def released(dataset: list[list[float]]) -> list[float]:
        x, y = np.array(dataset, float).T
        fitted = model(epsilon=epsilon, bounds_X=(-1, 1), bounds_y=(0, 1), fit_intercept=False).fit(x[:, None], y)
        return [fitted.coef_.item(), *(sums.item() for sums in fitted._obj_coefs)]

    return {"epsilon": epsilon}, released


def class_counts(epsilon: float) -> Made:
    """Return the number of rows of each class in a fitted naive Bayes model. Public rows contain both classes."""
    model = _model("naive_bayes", "GaussianNB")

    def released(dataset: list[list[float]]) -> list[float]:
        x, y = np.array([[0.0, 0], [1.0, 1], *dataset], float).T
        try:
            fitted = model(epsilon=epsilon, bounds=(0, 1)).fit(x[:, None], y)
        except TypeError:  # until 0.2
            fitted = model(epsilon=epsilon, bounds=[(0, 1)]).fit(x[:, None], y)
        return fitted.class_count_.tolist()

    return {"epsilon": epsilon}, released


def forest(epsilon: float) -> Made:
    """Return the classes of a forest with one tree, and its prediction."""
    model = _model("forest", "RandomForestClassifier")

    def released(dataset: list[list[float]]) -> list[list[float]]:
        x, y = np.array(dataset, float).T
        if hasattr(model(), "feature_domains"):  # until 0.5
            made = model(n_estimators=1, epsilon=epsilon, max_depth=2, feature_domains={"0": [0, 1]})
        else:
            made = model(n_estimators=1, epsilon=epsilon, max_depth=2, bounds=(0, 1), classes=[0, 1])
        fitted = made.fit(x[:, None], y.astype(int))
        return [fitted.classes_.tolist(), fitted.predict([[0.0], [0.25], [0.5], [0.75], [1.0]]).tolist()]

    return {"epsilon": epsilon}, released


serve(linear_regression, class_counts, forest)
