"""Traces a mechanism: all its paths on one data set, which may consist of symbols.

The evaluator runs the function once for each path, along a given prefix of decisions.
"""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np

from auditor.blackbox.mechanism import Mechanism
from dp_prover.clock import seconds_left
from dp_prover.errors import NotProvedError
from dp_prover.interfaces import Dataset, Names, Path, Trace, UnitInterval
from dp_prover.language import batches
from dp_prover.language.analyst import analyst_of, interview
from dp_prover.language.evaluator import Evaluator, evaluate, locating_errors
from dp_prover.language.outside import as_argument, from_outside
from dp_prover.models import generator
from dp_prover.models.arithmetic import require_hardly_rounded
from dp_prover.models.laws import require_unused
from dp_prover.models.lazy import CURRENT, Lazy
from dp_prover.models.run import TracedRun
from dp_prover.models.values import FLOAT64, INT64, Term, array_of, flattened, independent, settled_leaf
from dp_prover.numbers.form import INPUT, Form

MOST_PATHS = 4096


def symbols(bounds: Mapping[str, UnitInterval], integer: bool) -> Dataset:
    """Return a symbolic data set: an array of all data values."""
    dtype = INT64 if integer else FLOAT64
    items = [Term(Form.symbol(f"{INPUT}{at}"), dtype) for at in range(len(bounds))]
    return lambda: array_of(items, (len(items),), dtype)


def numbers(dataset: Any) -> Dataset:
    """Return a concrete data set. Raises NotProvedError if its type is not modelled."""
    return lambda: as_argument(dataset)


def trace(mechanism: Mechanism, dataset: Dataset, names: Names) -> Trace:
    """Follow every path. Raises NotProvedError that says what is not modelled, and where."""
    paths: list[Path] = []
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        prefix = waiting.pop()
        run = TracedRun(names, prefix)
        try:
            paths.append(follow(mechanism, dataset, run))
        except NotProvedError:
            if seconds_left() >= 0:
                raise
            raise NotProvedError(f"the time for a proof is up, after {len(paths):,} paths") from None
        for at in range(len(prefix), len(run.taken)):
            node = run.nodes[at]
            options = len(node.relations) if hasattr(node, "relations") else len(node.outcomes)
            waiting += [(*run.taken[:at], other) for other in range(1, options)]
        if len(paths) + len(waiting) > MOST_PATHS:
            raise NotProvedError(f"there are more than {MOST_PATHS:,} paths")
    return Trace(names, tuple(paths))


@contextmanager
def without_warnings() -> Iterator[None]:
    """Silence NumPy's warnings about NaN and infinity, as an audit does."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def follow(mechanism: Mechanism, dataset: Dataset, run: TracedRun) -> Path:
    """Evaluate one run, and return its path."""
    token = CURRENT.set(run)
    try:
        with without_warnings():
            return path_of_run(run, output_of(mechanism, dataset, run))
    finally:
        CURRENT.reset(token)


def output_of(mechanism: Mechanism, dataset: Dataset, run: TracedRun) -> Any:
    """Evaluate the mechanism, and return its output."""
    own = dict(zip(mechanism.copied, as_argument(tuple(mechanism.copied.values())), strict=True))
    size = {"size": batches.SIZE} if mechanism.batched else {}
    keywords = own | {"rng": generator.RNG} | size
    evaluator, analyst = Evaluator(run, mechanism.batched), analyst_of(mechanism)
    if analyst is not None:
        kept = {
            name: from_outside(value) for name, value in mechanism.parameters.items() if name not in mechanism.copied
        }
        return interview(evaluator, analyst, dataset, kept | keywords)
    output = evaluate(evaluator, from_outside(mechanism.function), [dataset()], keywords)
    if mechanism.batched:
        with locating_errors(evaluator):
            return batches.output_of_batch(output)
    return output


def path_of_run(run: TracedRun, output: Any) -> Path:
    """Return the path of a run. Lazy leaves are settled, unless the output is discrete and nothing was decided."""
    try:
        structure, leaves = flattened(output, run.names)
        groups = None
        if not run.taken and not any(isinstance(leaf, Form) for leaf in leaves):
            groups = independent(leaves)
            places = {place: at for at, group in enumerate(groups) for place in group.places}
            leaves = [f"group {places[at]}" if isinstance(leaf, Lazy) else leaf for at, leaf in enumerate(leaves)]
        else:
            leaves = [settled_leaf(leaf) for leaf in leaves]
    except NotProvedError as error:
        raise NotProvedError(error.reason, error.place or run.place) from None
    for leaf in leaves:
        if run.labels and isinstance(leaf, Form) and run.names.finest(leaf) is None:
            require_hardly_rounded(run, leaf)
    path = Path(
        tuple(run.conditions),
        dict(run.labels),
        structure,
        tuple(leaves),
        tuple(run.taken),
        tuple(run.nodes),
        groups,
        output,
    )
    require_unused(run, path)
    return path


def bounds_of(low: tuple[Fraction, ...], high: tuple[Fraction, ...]) -> dict[str, UnitInterval]:
    """Return the ranges of all data values, by symbol."""
    return {f"{INPUT}{at}": ends for at, ends in enumerate(zip(low, high, strict=True))}
