"""The checker refuses what does not follow. It is small and independent of the prover."""

import ast
import copy
import functools
import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from auditor import ApproximateDP, PureDP, Records, Totals, Value, ZeroConcentratedDP
from dp_prover import prove
from dp_prover.certificates import certificate as written
from dp_prover.certificates.checker import check as checker
from dp_prover.certificates.checker.check import check_certificate

SOURCES = sorted(Path(str(checker.__file__)).parent.glob("*.py"))
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


def sampled(bits: Any, rng: Any) -> Any:
    """Half of the records, with noise: ε = ln(1 + (e − 1)/2) = .6201."""
    return float(bits[rng.random(len(bits)) < 0.5].sum()) + rng.laplace(0, 1)


def threshold(words: Any, rng: Any) -> Any:
    """Noisy counts above 1 + ln(1/(2δ)) of the words that occur."""
    released = {}
    for word in sorted(set(words)):
        noisy = sum(1 for record in words if record == word) + rng.laplace(0, 1)
        if noisy > 4.9121:
            released[word] = noisy
    return released


PROVED: dict[str, tuple[Any, Any, Any]] = {
    "noisy max": (noisy_max, PureDP(1.0), COUNTS),
    "sparse vector": (sparse_vector, PureDP(1.0), COUNTS),
    "ratio": (ratio, PureDP(0.5), COUNTS),
    "terms": (terms, PureDP(0.5), COUNTS),
    "discrete": (discrete, PureDP(0.3), COUNTS),
    "randomised response": (answer, PureDP(1.1), Value(values=[0, 1])),
    "sampled": (sampled, PureDP(0.6202), Records(choices=[0, 1], size=(0, 2))),
    "threshold": (threshold, ApproximateDP(1.0, 0.01), Records(choices=["a", "b"], size=(0, 2))),
    "pairs": (ratio, PureDP(0.5), [([1, 2], [2, 2]), ([3, 4], [3, 5])]),
    "gaussian": (gaussian, ZeroConcentratedDP(0.125), Totals(cells=1, values=(0, 9), contribution={"l1": 1})),
}


@functools.cache
def certificate(name: str) -> Any:
    proof = prove(*PROVED[name])
    assert proof.holds, f"{name}: {proof}"
    return json.loads(json.dumps(proof.certificate))


def signed(proof: Any) -> Any:
    """Return a certificate with the digest of its present content."""
    return written.signed({key: value for key, value in proof.items() if key != "digest"})


def numbers(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to each number, whether written as text or not."""
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
        check_certificate(proof)
    except (ValueError, LookupError, TypeError, ArithmeticError):
        return True
    return False


@pytest.mark.parametrize("name", PROVED)
def test_a_certificate_holds(name: str) -> None:
    check_certificate(certificate(name))


@pytest.mark.parametrize("name", PROVED)
def test_a_certificate_with_any_number_changed_is_refused(name: str) -> None:
    proof = certificate(name)
    accepted = [way for way in numbers(proof) if not refuses(changed(proof, way, Fraction(1, 1000)))]
    assert accepted == []


PAIR = ("pairs", 0)
CELL = (*PAIR, "cells", 0)


@pytest.mark.parametrize(
    ("name", "way", "by"),
    [
        ("noisy max", ("claim", "epsilon"), -1),
        ("noisy max", ("bound",), -1),
        ("noisy max", ("noise", "n0", 1), -1),
        ("noisy max", (*CELL, "shifts", 0, 0, "n2"), 1),
        ("noisy max", ("domain", "relation", "linf"), 1),
        ("sparse vector", (*CELL, "shifts", 0, 0, "n1"), -1),
        ("sparse vector", ("domain", "relation", "linf"), Fraction(1, 2)),
        ("sparse vector", ("traces", 0, "tree", "if", "n1"), -1),
        ("sparse vector", ("traces", 0, "tree", "if", "x0"), 1),
        ("ratio", ("traces", 0, "outputs", 0, 1, 1, "x0"), 1),
        ("ratio", ("traces", 0, "outputs", 0, 1, 1, "n0"), 1),
        ("discrete", ("noise", "n0", 1), Fraction(1, 8)),
        ("discrete", (*CELL, "shifts", 0, 0, "n0"), Fraction(1, 2)),
        ("discrete", ("domain", "relation", "linf"), 1),
        ("randomised response", ("laws", 0, "(0,)", '["int 0"]'), Fraction(1, 8)),
        ("randomised response", ("laws", 0, "(0,)", '["int 0"]'), Fraction(-1, 8)),
        ("randomised response", (*PAIR, "epsilons", "(0,)"), Fraction(-1, 8)),
        ("gaussian", ("noise", "n0", 1), -1),
        ("gaussian", (*CELL, "shifts", 0, 0, "n0"), Fraction(1, 2)),
        ("gaussian", ("domain", "relation", "l1"), 1),
        ("threshold", ("claim", "delta"), Fraction(-1, 100)),
        ("threshold", ("domain", "size", 1), 1),
    ],
)
def test_a_number_that_matters_is_refused_under_a_digest_of_its_own(name: str, way: Any, by: Any) -> None:
    inner = certificate(name)
    for key in way[:-1]:
        inner = inner[key]
    if way[-1] not in (inner if isinstance(inner, dict) else range(len(inner))):
        pytest.fail(f"{way} is not there: {inner}")
    assert refuses(signed(changed(certificate(name), way, Fraction(by))))


def tampered(name: str, change: Any) -> Any:
    """Return a changed certificate with a matching digest."""
    proof = copy.deepcopy(certificate(name))
    change(proof)
    return signed(proof)


def ends_of(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each node of a tree that has ends, and the key of one of them."""
    for key, child in node.items():
        if isinstance(child, dict) and key != "if":
            if "output" in child:
                yield node, key
            yield from ends_of(child)


@pytest.mark.parametrize(
    "claim", [{"epsilon": 1.0, "rho": 9.0}, {"rho": 9.0, "mu": 9.0}, {}, {"epsilon": 1.0, "order": 2, "mu": 1}]
)
def test_a_claim_has_one_quantity(claim: Any) -> None:
    assert refuses(tampered("noisy max", lambda proof: proof.update(claim=claim)))


@pytest.mark.parametrize(
    "number", ["1e999999999", "9" * 2000, "1/0", "nan", "1_0", " 1", float("inf"), True, None, [1]]
)
def test_a_number_is_short_before_it_is_read(number: Any) -> None:
    def forge(proof: Any) -> None:
        proof["noise"]["n0"][1] = number

    assert refuses(tampered("noisy max", forge))


def a_path_is_left_out(proof: Any) -> None:
    """Its cell is left out as well: the function has no path for what the tree leaves open."""
    node, key = next(ends_of(proof["traces"][0]["tree"]))
    del node[key]
    proof["pairs"][0]["cells"].pop(0)


def a_branch_is_said_to_be_impossible(proof: Any) -> None:
    node, key = next(ends_of(proof["traces"][0]["tree"]))
    node[key] = {"never": {}}


def siblings_overlap(proof: Any) -> None:
    tree = proof["traces"][0]["tree"]
    tree["="] = copy.deepcopy(tree[next(key for key in tree if key != "if")])


def ends_of_a_draw_lack_probability(proof: Any) -> None:
    for trace in proof["traces"]:
        if "draw" in trace["tree"]:
            trace["tree"]["ends"].pop()


def a_shift_moves_data(proof: Any) -> None:
    """x0 + x1 + noise, where the shift offsets the change of one data value only."""
    for shift in proof["pairs"][0]["cells"][0]["shifts"]:
        shift[0] = {"x0": "-1"}


def weights_times(factor: Fraction, proof: Any) -> None:
    """With less weight, a path is not covered; with more, another path is used for more than e^ε."""
    weighed = [cell for entry in proof["pairs"] for cell in entry["cells"] if "weight" in cell]
    assert weighed
    for cell in weighed:
        cell["weight"] = str(Fraction(cell["weight"]) * factor)


def a_weight_is_negative(proof: Any) -> None:
    """Two cells of weights 2 and −1 cover a path once, at less than its cost."""
    for entry in proof["pairs"]:
        [cell] = entry["cells"]
        entry["cells"] = [cell | {"weight": "2"}, cell | {"weight": "-1"}]


def gaussian_noise_is_pure(epsilon: float, proof: Any) -> None:
    proof["claim"], proof["bound"] = {"epsilon": epsilon}, str(Fraction(epsilon))


def one_direction_is_missing(proof: Any) -> None:
    proof["pairs"].pop()


def a_trace_is_of_other_data(proof: Any) -> None:
    """The other data set is as near as the first, so the checker refuses the trace only because another data set
    stands beside it."""
    for entry in proof["pairs"]:
        entry["traces"] = [0, 0]


def pairs_are_a_whole_domain(proof: Any) -> None:
    """Without the listed pairs, the certificate would be about nothing."""
    proof["domain"] = {"values": [dataset for pair in proof["domain"]["pairs"] for dataset in pair]}


def two_noises_have_one_name(proof: Any) -> None:
    for entry in proof["pairs"]:
        entry["names"] = {"n0": "n1", "n1": "n1"}


def what_is_assumed_is_not_counted(proof: Any) -> None:
    proof["claim"] = {"epsilon": proof["claim"]["epsilon"]}


def a_cell_is_left_out(proof: Any) -> None:
    proof["pairs"][0]["cells"].pop()


def two_paths_go_to_one(proof: Any) -> None:
    cells = proof["pairs"][0]["cells"]
    cells[1]["right"] = cells[0]["right"]


FORGED = {
    "noisy max": (a_path_is_left_out,),
    "sparse vector": (
        *(a_path_is_left_out, a_branch_is_said_to_be_impossible, siblings_overlap),
        *(a_cell_is_left_out, two_paths_go_to_one),
    ),
    "ratio": (a_shift_moves_data,),
    "discrete": (a_weight_is_negative,),
    "sampled": (
        *(ends_of_a_draw_lack_probability, one_direction_is_missing),
        *(functools.partial(weights_times, Fraction(eighths, 8)) for eighths in (7, 9)),
    ),
    "gaussian": tuple(functools.partial(gaussian_noise_is_pure, epsilon) for epsilon in (0.5, 50.0, 1000.0)),
    "randomised response": (one_direction_is_missing, a_trace_is_of_other_data),
    "threshold": (
        *(one_direction_is_missing, a_trace_is_of_other_data),
        *(two_noises_have_one_name, what_is_assumed_is_not_counted),
    ),
    "pairs": (pairs_are_a_whole_domain,),
}


@pytest.mark.parametrize(("name", "forge"), [(name, forge) for name, some in FORGED.items() for forge in some])
def test_what_is_forged_is_refused_under_a_digest_of_its_own(name: str, forge: Any) -> None:
    assert refuses(tampered(name, forge))


@pytest.mark.parametrize("part", ["implied", "excluded"])
def test_paths_are_joined_for_a_reason_only(part: str) -> None:
    proof = copy.deepcopy(certificate("noisy max"))
    joint = next(cell for cell in proof["pairs"][0]["cells"] if cell.get("excluded"))
    if part == "excluded":
        joint[part].popitem()
    else:
        for side in joint["rows"]:
            side.append([{"n0": "1", "": "0"}, ">"])
        for each in joint["implied"]:
            each.append({})
    assert refuses(signed(proof))


def records(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to each record whose keys belong to the format, and are not names of what is proved."""
    if isinstance(value, dict | list):
        if isinstance(value, dict) and not {"n0", "x0", ""} & value.keys():
            yield way
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from records(item, (*way, key))


# Records that hold what is proved, and name nothing that the checker reads.
FREE = {"functions", "parameters", "names", "noise", "laws", "terms", "shifts", "implied", "excluded", "never", "data"}


@pytest.mark.parametrize("name", PROVED)
@pytest.mark.parametrize("key", ["never", "low", "weight", "new"])
def test_a_record_of_two_kinds_is_refused(name: str, key: str) -> None:
    """Otherwise the reader, the checker and the retracing may each take the record for another kind."""
    tried, accepted = 0, []
    for way in records(certificate(name)):
        other = copy.deepcopy(certificate(name))
        inner = other
        for step in way:
            inner = inner[step]
        if FREE & {*way} or key in inner:
            continue
        inner[key] = {} if key in ("never", "new") else []
        tried += 1
        accepted += [] if refuses(signed(other)) else [way]
    assert tried > 2
    assert accepted == []


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_the_checker_stands_alone(source: Path) -> None:
    tree = ast.parse(source.read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    own = {f"dp_prover.certificates.checker.{one.stem}" for one in SOURCES}
    library = {
        "functools",
        "hashlib",
        "itertools",
        "json",
        "math",
        "re",
        "collections",
        "decimal",
        "fractions",
        "typing",
    }
    assert names - own <= library


def test_a_certificate_of_another_format_is_refused_with_a_sentence() -> None:
    with pytest.raises(ValueError, match="it is of format 1; write it anew with `auditor prove --out DIR`"):
        check_certificate(signed({**certificate("ratio"), "format": 1}))
