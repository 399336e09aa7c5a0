"""Certificates of functions that leak by the type of their data, by their batch or by floats: the checker, or reading
the function again, refuses each. An earlier prover made such certificates."""

import json
from typing import Any

import numpy as np
import pytest
from test_checker import signed

import auditor
import dp_prover
from dp_prover.certificates import retrace
from dp_prover.certificates.checker.check import check_certificate

ONE = auditor.Totals(cells=1, values=(0, 100), contribution={"l1": 1})
LISTS = auditor.Records(choices=[0.0, 1.0], size=(0, 2), container="list")
HERE = __name__


def total(x: Any, rng: Any) -> Any:
    return x[0] + rng.laplace(0, 1)


def total_of_list(d: Any, rng: Any) -> Any:
    return sum(d) + 0.0 + rng.laplace(0, 1)


def zero_if_empty(d: Any, rng: Any) -> Any:
    return 0.0 if d == [] else sum(d) + 0.0 + rng.laplace(0, 1)


def falls_with_the_size(x: Any, size: int, rng: Any) -> Any:
    return x[0] + rng.laplace(0, 1 / size, size)


def certificate(function: Any, domain: Any) -> Any:
    proof = dp_prover.prove(f"{HERE}:{function.__name__}", auditor.PureDP(1.0), domain)
    assert proof.proved, proof.reason
    return json.loads(json.dumps(proof.certificate))


def test_a_certificate_of_the_earlier_format_is_written_anew() -> None:
    proof = certificate(total, ONE)
    check_certificate(proof)
    with pytest.raises(ValueError, match="of format 3; write it anew"):
        check_certificate(signed({**proof, "format": 3}))


@pytest.mark.parametrize("end", [2**53 + 1, 2**60])
def test_integers_that_floats_do_not_hold_are_refused(end: int) -> None:
    proof = certificate(total, ONE)
    check_certificate(signed({**proof, "domain": proof["domain"] | {"high": [str(2**40)]}}))
    with pytest.raises(ValueError, match="integers of 53 bits"):
        check_certificate(signed({**proof, "domain": proof["domain"] | {"high": [str(end)]}}))


@pytest.mark.parametrize("change", [{"": str(2**60)}, {"x0": str(2**50), "": "0"}])
def test_an_output_that_rounds_the_noise_away_is_refused(change: dict[str, str]) -> None:
    proof = certificate(total, ONE)
    trace = proof["traces"][0]
    what, [form] = trace["outputs"][0]
    outputs = [[what, [form | change]]]
    with pytest.raises(ValueError, match="noise above the last bit"):
        check_certificate(signed({**proof, "traces": [{**trace, "outputs": outputs}]}))


def test_sums_of_fractions_do_not_move_by_exact_steps() -> None:
    """Of 1e17 people who add 0.1 each, one more moves a float by 2 or not at all."""
    proofs = [
        dp_prover.prove(
            lambda x, rng: x[0] + rng.laplace(0, 0.1),
            auditor.PureDP(1.0),
            auditor.Totals(contributions=[[0.1]], people=(0, people)),
        )
        for people in (1000, 10**12, 10**17)
    ]
    assert [proof.proved for proof in proofs] == [True, False, False]


def test_tuples_are_no_lists() -> None:
    proof = certificate(total_of_list, LISTS)
    check_certificate(proof)
    tuples = [{"value": {"tuple": dataset["value"]}} for dataset in proof["data"]]
    with pytest.raises(ValueError, match="the data of each trace"):
        check_certificate(signed({**proof, "data": tuples}))


def test_a_number_of_numpy_is_no_number_of_python() -> None:
    domain = auditor.Value(values=[np.float64(0.5), np.float64(1.0)])
    proof = dp_prover.prove(lambda v, rng: v + rng.laplace(0, 1), auditor.PureDP(1.0), domain)
    content: Any = proof.certificate
    assert content["data"][0] == {"value": {"number": 0.5, "dtype": "float64"}}
    check_certificate(content)
    with pytest.raises(ValueError, match="the data of each trace"):
        check_certificate(signed({**content, "data": [{"value": 0.5}, {"value": 1.0}]}))


@pytest.mark.parametrize(
    ("private", "leaks", "domain"), [(total, falls_with_the_size, ONE), (total_of_list, zero_if_empty, LISTS)]
)
def test_the_function_is_read_again_as_it_is_called(private: Any, leaks: Any, domain: Any) -> None:
    """The paths of a private function, under the name of a leaking one."""
    proof = certificate(private, domain)
    assert retrace.retraced(proof) is None
    wrong = retrace.retraced(signed({**proof, "mechanism": f"{HERE}:{leaks.__name__}"}))
    assert wrong is not None
    assert "batch" in wrong or "has changed since" in wrong
