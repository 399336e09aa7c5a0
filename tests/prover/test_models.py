"""Every listed function, statement and expression of the evaluator, against Python and NumPy on random numbers."""

import ast
import math
from collections import defaultdict

import numpy as np
import pytest
from modelled import MODELS, Snippet, blocks, disagreements, functions, outcomes, snippets

from auditor.blackbox.mechanism import Mechanism
from dp_prover.interfaces import Names
from dp_prover.language.evaluator import STATEMENTS
from dp_prover.language.expressions import EXPRESSIONS
from dp_prover.language.outside import LISTED
from dp_prover.language.trace import numbers, trace
from dp_prover.models.attributes import ARRAY_METHODS, METHODS, SCALAR_METHODS, TYPE_METHODS
from dp_prover.models.generator import METHODS as DRAWS
from dp_prover.models.listed_numpy import NUMPY
from dp_prover.models.listed_python import BUILTINS, MATH

NAMES = {np.generic: "np.generic", np.ufunc: "np.ufunc"}


def entries() -> set[str]:
    """Return the names of all entries of all lists."""
    methods = {f"{NAMES.get(kind, kind.__name__)}.{name}" for kind, names in METHODS.items() for name in names}
    methods |= {f"{kind.__name__}.{name}" for kind, name in TYPE_METHODS}
    methods |= {f"array.{name}" for name in ARRAY_METHODS} | {f"scalar.{name}" for name in SCALAR_METHODS}
    return methods | {entry.name for entry in (*BUILTINS, *MATH, *NUMPY)} | {f"rng.{name}" for name in DRAWS}


def test_snippets_that_are_never_taken_are_refused():
    never = [snippet for snippet in (*snippets(), *blocks()) if not snippet.contexts]
    assert {kind for kind, _ in outcomes([(snippet.code, "i") for snippet in never])} == {"refused"}


def test_every_entry_has_snippets_that_the_evaluator_takes():
    taken = {name for name, some in MODELS.items() if any(snippet.contexts for snippet in some)}
    assert entries() == taken


@pytest.mark.parametrize("entry", sorted(MODELS))
def test_models_do_as_the_real_functions(entry: str):
    assert disagreements(MODELS[entry], contexts=1, seeds=2) == []


def test_every_statement_and_expression_has_a_block_that_the_evaluator_takes():
    kinds = {
        type(node) for block in blocks() if block.contexts for node in ast.walk(ast.parse(f"def f():\n {_in(block)}"))
    }
    assert set(STATEMENTS) | set(EXPRESSIONS) <= kinds


def _in(block: Snippet) -> str:
    return block.code.replace("\n", "\n ")


def test_blocks_do_as_python():
    assert disagreements(list(blocks()), contexts=1, seeds=2) == []


# Laws --------------------------------------------------------------------------------------------------------------------

# Recorded numbers do not show their law, so laws are compared with NumPy's draws.
BELOW = {
    "laplace": lambda t: np.where(t < 0, np.exp(-np.abs(t)) / 2, 1 - np.exp(-np.abs(t)) / 2),
    "logistic": lambda t: 1 / (1 + np.exp(-t)),
    "gumbel": lambda t: np.exp(-np.exp(-t)),
    "normal": lambda t: np.array([(1 + math.erf(one / math.sqrt(2))) / 2 for one in t]),
    "exponential": lambda t: 1 - np.exp(-np.maximum(t, 0)),
}
LAWS = (
    *("laplace(0, 2.5)", "laplace(scale=0.5)", "logistic(0, 2)", "gumbel(0, 3)", "normal(0, 2)", "normal(scale=0.5)"),
    *("exponential(2.5)", "standard_normal()", "standard_exponential()", "standard_exponential(method='inv')"),
    *(
        "laplace(0, [2.5])[0]",
        "normal(np.zeros(1), 3)[0]",
        "gumbel(size=2)[1]",
        "laplace()",
        "exponential()",
        "normal()",
    ),
)
FINITE = (
    *("integers(3)", "integers(-1, 2)", "integers(-1, 2, endpoint=True)", "integers(5, size=2)[1]", "choice(4)"),
    *("choice(3, p=[0.2, 0.5, 0.3])", "binomial(3, 0.3)", "binomial(n=[1, 2], p=[0.5, 0.1])[1]", "choice([4, 4, 5])"),
    *("permutation(3)[0]", "random() < 0.3", "uniform(-1, 3) < 0", "uniform(1, 5, size=2)[1] >= 4"),
    *("integers(10**6) < 300000", "integers(10**6, size=2)[1] >= 300000", "choice(x, 2, replace=False)[1] > 2"),
)
DRAWN = 4000


def drawn(draw: str) -> np.ndarray:
    rng = np.random.default_rng(1)
    x = np.array([1, 2, 3])
    return np.array([eval(f"rng.{draw}", {"np": np, "rng": rng, "x": x}) for _ in range(DRAWN)])


@pytest.mark.parametrize("draw", LAWS)
def test_noise_has_the_law_that_is_noted(draw: str):
    [function] = functions([f"return rng.{draw}"])
    names = Names()
    [path] = trace(Mechanism.from_callable(function, {}, "f"), numbers(np.arange(3)), names).paths
    [symbol] = path.leaves[0].terms
    law, scale = names.laws[symbol]
    values = np.sort(drawn(draw)) / float(scale * path.leaves[0].terms[symbol])
    assert np.max(np.abs(BELOW[law](values) - np.arange(DRAWN) / DRAWN)) < 0.03


def test_geometric_noise_has_the_law_that_is_noted():
    [function] = functions(["return rng.geometric(0.4)"])
    names = Names()
    [path] = trace(Mechanism.from_callable(function, {}, "f"), numbers(np.arange(3)), names).paths
    [symbol] = path.leaves[0].terms
    values = drawn("geometric(0.4)")
    law, share = names.laws[symbol]
    assert (law, float(share)) == ("geometric", 0.4)
    assert [np.mean(values == k) for k in (0, 1, 2, 3)] == pytest.approx([0, 0.4, 0.24, 0.144], abs=0.03)


@pytest.mark.parametrize("draw", FINITE)
def test_finite_draws_have_the_masses_that_are_noted(draw: str):
    [function] = functions(
        [f"return 1 if (y := rng.{draw}) == 0 else 2 if y == 1 else 3 if y == 2 else 4 if y == 4 else 5"]
    )
    paths = trace(Mechanism.from_callable(function, {}, "f"), numbers(np.array([1, 2, 3])), Names()).paths
    masses: dict[str, float] = defaultdict(float)
    for path in paths:
        masses[path.leaves[0]] += float(path.mass())
    places = {0: "int 1", 1: "int 2", 2: "int 3", 4: "int 4"}
    shares: dict[str, float] = defaultdict(float)
    for value in drawn(draw).tolist():
        shares[places.get(value, "int 5")] += 1 / DRAWN
    assert masses == pytest.approx(dict(shares), abs=0.03)


def test_the_lists_have_no_function_under_two_names():
    assert len(LISTED) == len({id(entry.real) for entry in (*BUILTINS, *MATH, *NUMPY)})
