"""The checker refuses what does not follow. It is small, and knows nothing of the prover."""

import ast
import copy
import hashlib
import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from auditor import PureDP, Totals, Value, ZeroConcentratedDP
from auditor.proofs import checker, prove
from auditor.proofs.checker import check

SOURCE = Path(str(checker.__file__))
COUNTS = Totals(cells=3, values=(0, 10), contribution={"linf": 1})


def noisy_max(x: Any, rng: Any) -> Any:
    best, largest = 0, x[0] + rng.laplace(0, 2)
    for at, value in enumerate(x[1:], 1):
        noisy = value + rng.laplace(0, 2)
        if noisy > largest:
            best, largest = at, noisy
    return best


def sparse_vector(x: Any, rng: Any) -> Any:
    limit = 5 + rng.laplace(0, 2)
    for at, value in enumerate(x):
        if value + rng.laplace(0, 4) >= limit:
            return at
    return None


def ratio(x: Any, rng: Any) -> Any:
    return (x[0] + rng.laplace(0, 4)) / (x[1] + rng.laplace(0, 4))


def terms(x: Any, rng: Any) -> Any:
    return 1 if (x[0] + rng.laplace(0, 4)) / (x[1] + rng.laplace(0, 4)) > 2 else 0


def discrete(x: Any, rng: Any) -> Any:
    return x[0] + rng.geometric(0.25) - rng.geometric(0.25)


def answer(bit: int, rng: Any) -> Any:
    return bit ^ (rng.random() < 0.25)


def gaussian(x: Any, rng: Any) -> Any:
    return abs(x[0] + rng.normal(0, 2))


def certificates() -> dict[str, Any]:
    found = {
        "noisy max": prove(noisy_max, PureDP(1.0), COUNTS),
        "sparse vector": prove(sparse_vector, PureDP(1.0), COUNTS),
        "ratio": prove(ratio, PureDP(0.5), COUNTS),
        "terms": prove(terms, PureDP(0.5), COUNTS),
        "discrete": prove(discrete, PureDP(0.3), COUNTS),
        "randomised response": prove(answer, PureDP(1.1), Value(values=[0, 1])),
        "gaussian": prove(gaussian, ZeroConcentratedDP(0.125), Totals(cells=1, values=(0, 9), contribution={"l1": 1})),
    }
    assert {name for name, proof in found.items() if not proof.proved} == set()
    return {name: json.loads(json.dumps(proof.certificate)) for name, proof in found.items()}


CERTIFICATES = certificates()


def signed(proof: Any) -> Any:
    """Return a certificate with the digest of what it says now."""
    content = {key: value for key, value in proof.items() if key != "digest"}
    return content | {"digest": hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()}


def numbers(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to each number, written as text or not."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(item, (*way, key))
        return
    is_text = isinstance(value, str) and value.lstrip("-").replace("/", "").isdigit()
    if is_text or (isinstance(value, int | float) and not isinstance(value, bool)):
        yield way


def changed(proof: Any, way: tuple[Any, ...], by: Fraction) -> Any:
    other = copy.deepcopy(proof)
    inner = other
    for key in way[:-1]:
        inner = inner[key]
    value = inner[way[-1]]
    inner[way[-1]] = str(Fraction(value) + by) if isinstance(value, str) else value + (1 if by > 0 else -1)
    return other


def refuses(proof: Any) -> bool:
    try:
        check(proof)
    except (ValueError, LookupError, TypeError, ArithmeticError):
        return True
    return False


@pytest.mark.parametrize("name", CERTIFICATES)
def test_a_certificate_holds(name: str) -> None:
    check(CERTIFICATES[name])


@pytest.mark.parametrize("name", CERTIFICATES)
def test_a_certificate_with_any_number_changed_is_refused(name: str) -> None:
    proof = CERTIFICATES[name]
    accepted = [way for way in numbers(proof) if not refuses(changed(proof, way, Fraction(1, 1000)))]
    assert accepted == []


@pytest.mark.parametrize(
    ("name", "way", "by"),
    [
        ("noisy max", ("claim", "epsilon"), -1),
        ("noisy max", ("bound",), -1),
        ("noisy max", ("noise", "n0", 1), -1),
        ("noisy max", ("pairs", 0, "cells", 0, "shifts", 0, 0, "n2"), 1),
        ("sparse vector", ("pairs", 0, "cells", 0, "shifts", 0, 0, "n1"), -1),
        ("sparse vector", ("pairs", 0, "differences", 0, 1, "x0"), 1),
        ("sparse vector", ("traces", 0, "paths", 0, "if", 0, 0, "n1"), -1),
        ("sparse vector", ("traces", 0, "paths", 0, "if", 0, 0, "x0"), 1),
        ("sparse vector", ("traces", 0, "tree", 0), 1),
        ("ratio", ("traces", 0, "outputs", 0, 1, 1, "x0"), 1),
        ("ratio", ("traces", 0, "outputs", 0, 1, 1, "n0"), 1),
        ("terms", ("traces", 0, "terms", "o0 1 divide(1 n0 + 1 x0 + #, 1 n1 + 1 x1 + #) + #", 0, "x0"), 1),
        ("terms", ("traces", 0, "terms", "o0 1 divide(1 n0 + 1 x0 + #, 1 n1 + 1 x1 + #) + #", 1, "n1"), 1),
        ("discrete", ("noise", "n0", 1), Fraction(1, 8)),
        ("discrete", ("pairs", 0, "cells", 0, "shifts", 0, 0, "n0"), Fraction(1, 2)),
        ("discrete", ("pairs", 0, "alone"), -1),
        ("randomised response", ("laws", 0, "(0,)", '["int 0"]'), Fraction(1, 8)),
        ("randomised response", ("laws", 0, "(0,)", '["int 0"]'), Fraction(-1, 8)),
        ("randomised response", ("pairs", 0, "epsilons", "(0,)"), Fraction(-1, 8)),
        ("gaussian", ("noise", "n0", 1), -1),
        ("gaussian", ("pairs", 0, "cells", 0, "shifts", 0, 0, "n0"), Fraction(1, 2)),
    ],
)
def test_a_number_that_matters_is_refused_under_a_digest_of_its_own(name: str, way: Any, by: Any) -> None:
    inner = CERTIFICATES[name]
    for key in way[:-1]:
        inner = inner[key]
    if way[-1] not in (inner if isinstance(inner, dict) else range(len(inner))):
        pytest.fail(f"{way} is not there: {inner}")
    assert refuses(signed(changed(CERTIFICATES[name], way, Fraction(by))))


@pytest.mark.parametrize("name", ["noisy max", "sparse vector"])
def test_a_path_that_is_left_out_is_missed(name: str) -> None:
    proof = copy.deepcopy(CERTIFICATES[name])
    proof["traces"][0]["paths"].pop()
    assert refuses(signed(proof))


@pytest.mark.parametrize("part", ["implied", "excluded"])
def test_paths_are_joined_for_a_reason_only(part: str) -> None:
    proof = copy.deepcopy(CERTIFICATES["noisy max"])
    joint = next(cell for cell in proof["pairs"][0]["cells"] if cell.get("excluded"))
    if part == "excluded":
        joint[part].popitem()
    else:
        for side in joint["rows"]:
            side.append([{"n0": "1", "": "0"}, ">"])
        for each in joint["implied"]:
            each.append({})
    assert refuses(signed(proof))


def test_a_cell_that_is_left_out_is_missed() -> None:
    proof = copy.deepcopy(CERTIFICATES["sparse vector"])
    proof["pairs"][0]["cells"].pop()
    assert refuses(signed(proof))


def test_two_paths_do_not_go_to_one() -> None:
    proof = copy.deepcopy(CERTIFICATES["sparse vector"])
    cells = proof["pairs"][0]["cells"]
    cells[1]["right"] = cells[0]["right"]
    assert refuses(signed(proof))


def test_the_checker_stands_alone_and_is_short() -> None:
    tree = ast.parse(SOURCE.read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert names == {"hashlib", "json", "math", "collections", "decimal", "fractions", "typing"}
    aside: set[int] = set()  # lines of docstrings and imports
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text or isinstance(node, ast.Import | ast.ImportFrom):
            aside |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(SOURCE.read_text().splitlines(), 1)
    assert sum(1 for at, line in lines if line.strip() and line.strip()[0] != "#" and at not in aside) <= 100


def test_a_certificate_of_another_format_is_refused_with_a_sentence() -> None:
    with pytest.raises(ValueError, match="it is of format 1; write it anew with `auditor prove --out DIR`"):
        check(signed({**CERTIFICATES["ratio"], "format": 1}))
