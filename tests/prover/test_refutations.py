"""Refutations by calculation: what is false is refuted with a certificate that no change survives, and what is true never."""

import copy
import functools
import itertools
import json
import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from calculated import CASES, ONE, textbook_gaussian
from test_checker import refuses, signed

import auditor
import dp_prover
from auditor import ApproximateDP, PureDP, Records, Totals, Value
from auditor.auditing.calculated import calculated
from auditor.auditing.outcome import levels_of
from auditor.config.load import load_configuration
from auditor.prover import Status
from auditor.report.ci import to_junit
from auditor.report.html import to_html
from auditor.report.markdown import to_markdown
from auditor.results.files import to_json
from auditor.results.result import RunResult
from dp_prover.certificates.checker import enclosures
from dp_prover.certificates.checker.check import check_certificate
from dp_prover.certificates.checker.functions import value_of
from dp_prover.certificates.retrace import retraced

FALSE = [name for name, case in CASES.items() if case.false is not None]
TRUE = [name for name, case in CASES.items() if case.true is not None]


@functools.cache
def refutation(name: str) -> dp_prover.Proof:
    case = CASES[name]
    assert case.false is not None
    return dp_prover.prove(case.mechanism, case.false, case.domain, parameters=case.parameters, seconds=10)


def certificate(name: str) -> Any:
    return json.loads(json.dumps(refutation(name).certificate))


# What is refuted, and what is not ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FALSE)
def test_what_is_false_is_refuted_with_a_certificate(name: str) -> None:
    proof, case = refutation(name), CASES[name]
    assert proof.status is Status.REFUTED and not proof.proved and not proof.holds, str(proof)
    assert proof.refutation is not None and case.false is not None
    assert proof.refutation.value > case.false.value
    check_certificate(certificate(name))
    if case.true is not None and type(case.true) is type(case.false) and not hasattr(case.true, "delta"):
        assert proof.refutation.value <= case.true.value * (1 + 1e-9)


@pytest.mark.parametrize("name", TRUE)
def test_what_is_true_is_never_refuted(name: str) -> None:
    case = CASES[name]
    assert case.true is not None
    proof = dp_prover.prove(case.mechanism, case.true, case.domain, parameters=case.parameters, seconds=1)
    assert proof.status is not Status.REFUTED, str(proof)


def test_there_are_enough_of_both() -> None:
    assert len(FALSE) >= 50 and len(TRUE) >= 50


@pytest.mark.parametrize("settings", [(10.0, 1e-5, 10.39), (20.0, 1e-5, 25.4), (50.0, 1e-5, 96.4)])
def test_the_bound_is_near_the_exact_value(settings: tuple[float, float, float]) -> None:
    epsilon, delta, least = settings
    parameters = {"epsilon": epsilon, "delta": delta}
    proof = dp_prover.prove(textbook_gaussian, ApproximateDP(epsilon, delta), ONE, parameters=parameters)
    assert proof.refutation is not None and proof.refutation.value > least


# Certificates --------------------------------------------------------------------------------------------------------------


KINDS = [
    *("textbook_gaussian", "gaussian_mu", "gaussian_rho", "laplace_renyi", "noise_is_cut_and_pure", "two_bits"),
    *("threshold", "rounded", "three_answers", "noisy_max", "subsampled_laplace", "two_sided_geometric"),
]


def leaves(value: Any, way: tuple[Any, ...] = ()) -> Any:
    """Yield the way to each number, text and truth value."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*way, key))
        return
    yield way


def with_change(proof: Any, way: tuple[Any, ...], change: Any) -> Any:
    other = copy.deepcopy(proof)
    inner = other
    for key in way[:-1]:
        inner = inner[key]
    inner[way[-1]] = change(inner[way[-1]])
    return other


def another(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return str(Fraction(value) + Fraction(1, 1000))
        except ValueError:
            return f"{value}x"
    return 1 if value is None else value + 1


@pytest.mark.parametrize("name", KINDS)
def test_a_changed_field_is_refused(name: str) -> None:
    proof = certificate(name)
    ways = list(leaves(proof))
    some = ways if len(ways) <= 60 else [ways[at] for at in np.linspace(0, len(ways) - 1, 60).astype(int)]
    assert [way for way in some if not refuses(with_change(proof, way, another))] == []


@pytest.mark.parametrize("name", KINDS)
def test_a_field_that_is_missing_or_new_is_refused_under_a_digest_of_its_own(name: str) -> None:
    proof = certificate(name)
    for key in proof.keys() - {"digest", "format"}:
        assert refuses(signed({other: value for other, value in proof.items() if other != key})), key
    assert refuses(signed({**proof, "listed": True}))
    for key in proof["event"]:
        assert refuses(signed({**proof, "event": {k: v for k, v in proof["event"].items() if k != key}})), key
    assert refuses(signed({**proof, "event": {**proof["event"], "order": "2", "threshold": 1}}))


def larger_bound(proof: Any) -> None:
    proof["bound"] = "infinite" if proof["bound"] != "infinite" else proof["bound"]
    if proof["rule"] == "calculation" and proof["bound"] == "infinite" and "delta" in proof["claim"]:
        proof["claim"]["delta"] = 0.9999


def slightly_larger_bound(proof: Any) -> None:
    proof["bound"] = str(Fraction(proof["bound"]) * Fraction(101, 100))


def claim_that_holds(proof: Any) -> None:
    name = next(name for name in ("rho", "mu", "epsilon") if name in proof["claim"])
    proof["claim"][name] = 400.0


def larger_noise(proof: Any) -> None:
    for law in proof["noise"].values():
        law[1] = str(Fraction(law[1]) * 2) if law[0] != "geometric" else str(Fraction(law[1]) / 4)


def sides_exchanged(proof: Any) -> None:
    proof["traces"].reverse()


def one_side_twice(proof: Any) -> None:
    proof["traces"][1] = proof["traces"][0]


def same_data(proof: Any) -> None:
    proof["data"][1] = proof["data"][0]


def another_pair(proof: Any) -> None:
    for data in proof["data"]:
        if "array" in data:
            data["array"] = [10_000 + value for value in data["array"]]
        else:
            data["value"] = [data["value"], "unheard of"]


def paths_left_out(proof: Any) -> None:
    for trace in proof["traces"]:
        tree = trace["tree"]
        if "ends" in tree:
            tree["ends"].pop()
        elif "if" in tree:
            del tree[next(key for key in tree if key != "if")]
        else:
            trace["outputs"] = []


def shares_doubled(proof: Any) -> None:
    def visit(node: Any) -> None:
        for end in node.get("ends", ()):
            end[1] = str(Fraction(end[1]) * 2)
            visit(end[2])

    for trace in proof["traces"]:
        visit(trace["tree"])
        for _, _, choices in trace["outputs"]:
            for outcomes in choices:
                for outcome in outcomes:
                    outcome[1] = str(Fraction(outcome[1]) * 2)
        if "ends" not in trace["tree"] and not trace["outputs"][0][2]:
            trace["tree"] = {"never": {}}


FORGERIES = [
    *(claim_that_holds, sides_exchanged, one_side_twice, same_data, another_pair),
    *(paths_left_out, shares_doubled),
]


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
@pytest.mark.parametrize("name", KINDS)
def test_what_is_forged_is_refused_under_a_digest_of_its_own(name: str, forge: Any) -> None:
    symmetric = {"gaussian_rho", "laplace_renyi"}  # the divergence is the same in both directions, and the domain too
    if forge is sides_exchanged and name in symmetric:
        pytest.skip("both directions hold")
    proof = certificate(name)
    if forge is claim_that_holds and proof["bound"] == "infinite":
        pytest.skip("no claim holds")
    forge(proof)
    assert refuses(signed(proof))


@pytest.mark.parametrize("name", [name for name in KINDS if name not in ("noise_is_cut_and_pure", "threshold")])
@pytest.mark.parametrize("forge", [larger_bound, slightly_larger_bound, larger_noise], ids=lambda forge: forge.__name__)
def test_a_larger_bound_or_more_noise_is_refused(name: str, forge: Any) -> None:
    proof = certificate(name)
    if forge is larger_noise and not proof["noise"]:
        pytest.skip("no noise")
    forge(proof)
    assert refuses(signed(proof))


@pytest.mark.parametrize(
    ("domain", "data", "is_in"),
    [
        ({"values": [0, 1]}, (0, 1), True),
        ({"values": [0, 1]}, (0, 2), False),
        ({"values": [0, 1]}, (0, 0), False),
        ({"values": [0, 1]}, (0, True), False),
        ({"pairs": [[[1], [2]]]}, ([2], [1]), True),
        ({"pairs": [[[1], [2]], [[3], [4]]]}, ([1], [4]), False),
        ({"records": [0, 1], "size": [0, 9], "relation": "add_remove"}, ([0, 1, 1], [0, 1]), True),
        ({"records": [0, 1], "size": [0, 9], "relation": "add_remove"}, ([0, 1, 1], [1, 0]), False),
        ({"records": [0, 1], "size": [0, 9], "relation": "add_remove"}, ([0, 1], [1, 1]), False),
        ({"records": [0, 1], "size": [0, 9], "relation": "substitute"}, ([0, 1], [1, 1]), True),
        ({"records": [0, 1], "size": [0, 9], "relation": "substitute"}, ([0, 1], [1, 0]), False),
        ({"records": [0, 1], "size": [0, 1], "relation": "substitute"}, ([0, 1], [1, 1]), False),
        ({"records": [0, 1], "size": [0, 9], "relation": "substitute"}, ([0, 2], [1, 2]), False),
    ],
)
def test_the_pair_is_one_of_the_domain(domain: Any, data: Any, is_in: bool) -> None:
    proof = certificate("randomised_response")
    proof["domain"] = {**domain, "forms": ["value"]}
    proof["data"] = [{"value": side} for side in data]
    assert refuses(signed(proof)) != is_in


@pytest.mark.parametrize(
    ("relation", "data", "is_in"),
    [
        ({"l1": "1"}, ([1, 2], [2, 2]), True),
        ({"l1": "1"}, ([1, 2], [2, 3]), False),
        ({"linf": "1"}, ([1, 2], [2, 3]), True),
        ({"linf": "1"}, ([1, 2], [3, 2]), False),
        ({"steps": [["1", "1"]]}, ([1, 2], [0, 1]), True),
        ({"steps": [["1", "1"]]}, ([1, 2], [0, 3]), False),
        ({"each": ["0", "1"]}, ([1, 2], [1, 3]), True),
        ({"each": ["0", "1"]}, ([1, 2], [0, 3]), False),
        ({"linf": "1"}, ([9, 9], [9, 10]), False),
        ({"linf": "1"}, ([1.0, 2.0], [2.0, 2.0]), False),
    ],
)
def test_a_pair_of_vectors_is_one_of_the_domain(relation: Any, data: Any, is_in: bool) -> None:
    proof = certificate("randomised_response")
    proof["domain"] = {"low": ["0", "0"], "high": ["9", "9"], "integer": True, "relation": relation}
    proof["domain"] |= {"forms": [f"array of {'float64' if type(data[0][0]) is float else 'int64'}"]}
    kind = "float64" if type(data[0][0]) is float else "int64"
    proof["data"] = [{"array": side, "dtype": kind, "shape": [2]} for side in data]
    assert refuses(signed(proof)) != is_in


# The checker's arithmetic ---------------------------------------------------------------------------------------------------

SCIPY = {
    "laplace": scipy.stats.laplace,
    "normal": scipy.stats.norm,
    "logistic": scipy.stats.logistic,
    "gumbel": scipy.stats.gumbel_r,
    "exponential": scipy.stats.expon,
}


@pytest.mark.parametrize("law", SCIPY)
def test_probabilities_of_noise_are_enclosed(law: str) -> None:
    rng = np.random.default_rng(7)
    scale = enclosures.scale_of(law, "3/2")
    reference = SCIPY[law](scale=1.5)
    for low, high in [sorted(rng.uniform(-15, 40, 2)) for _ in range(200)] + [(-math.inf, 2.0), (3.0, math.inf)]:
        below, above = map(float, enclosures.probability(law, scale, Decimal(low), Decimal(high)))
        exact = reference.cdf(high) - reference.cdf(low) if low < 0 else reference.sf(low) - reference.sf(high)
        assert below <= exact * (1 + 1e-9) + 1e-15 and exact <= above * (1 + 1e-9) + 1e-15
        assert above - below <= 1e-7 * above + 1e-300


@pytest.mark.parametrize("z", [0.0, 0.3, 1.0, 5.0, 9.999999, 10.0, 10.000001, 15.0, 30.0, 37.0])
def test_tails_of_the_normal_distribution_are_enclosed(z: float) -> None:
    low, high = map(float, enclosures.normal_tail(Decimal(z)))
    assert low <= scipy.stats.norm.sf(z) * (1 + 1e-11) and scipy.stats.norm.sf(z) <= high * (1 + 1e-11)
    assert high - low <= 1e-15 * high


def test_the_two_expansions_of_the_normal_tail_meet() -> None:
    """Between these points the tail falls by about 1 in 10²⁴, which only their accuracy can show."""
    before, after = (enclosures.normal_tail(Decimal(text)) for text in ("9.99999999999999999999999", "10"))
    assert after[0] <= before[1] and before[0] <= after[1] * (1 + Decimal(10) ** -20)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        *(("floor", np.floor), ("ceil", np.ceil), ("rint", np.rint), ("trunc", np.trunc), ("abs", np.abs)),
        *(("exp", np.exp), ("sign", np.sign), ("round", np.round)),
    ],
)
def test_functions_of_intervals_hold_the_real_values(name: str, function: Any) -> None:
    rng = np.random.default_rng(3)
    for _ in range(100):
        low, high = sorted(rng.uniform(-9, 9, 2).round(rng.integers(0, 3)))
        found = value_of(f"np.{name}[float64]", [(Decimal(low), Decimal(high))])
        below, above = map(float, found)
        for value in (*rng.uniform(low, high, 20), low, high):
            exact = function(value)
            assert below - 1e-12 * abs(exact) <= exact <= above + 1e-12 * abs(exact)


def test_an_unknown_function_may_be_anything() -> None:
    assert value_of("median[float64]", [(Decimal(1), Decimal(2))]) == enclosures.EVERYWHERE


# Reports -------------------------------------------------------------------------------------------------------------------

TEXTBOOK: dict[str, Any] = {"parameters": {"epsilon": 10.0, "delta": 1e-5}, "workers": 1, "seed": 3, "name": "textbook"}


def audited(**settings: Any) -> Any:
    claim = ApproximateDP(10.0, 1e-5)
    return auditor.audit(textbook_gaussian, claim, ONE, **{**TEXTBOOK, "samples": 2_000, **settings})


@pytest.mark.parametrize("prove", ["only", True, "briefly"])
def test_a_refutation_is_a_violation_without_a_level(prove: Any) -> None:
    result = audited(prove=prove)
    assert (result.verdict, result.bound.method, result.bound.confidence) == ("violation", "calculation", 1.0)
    assert result.bound.value > 10.39 and result.p_value is None and result.alpha is None
    assert result.pair.to_dict() == result.proof.refutation.pair.to_dict()
    assert result.proof.status == "refuted" and result.proof.bound == pytest.approx(10.3939, abs=1e-3)
    assert (result.outputs.bound == 0) == (prove == "only")


def test_every_form_of_a_report_shows_a_refutation(tmp_path: Path) -> None:
    run = RunResult("run", 0.999, [audited(prove="only")])
    for text in (str(run.audits[0]), to_html(run), to_markdown(run), to_junit(run)):
        assert "calculation" in text and "[1" in text and "≤ output" in text and "10.39" in text
    file = tmp_path / "report.json"
    file.write_text(to_json(run.to_dict()))
    again = auditor.read_report(file)
    assert again.audits[0].verdict == "violation" and again.to_dict() == run.to_dict()


@pytest.mark.parametrize(
    "change",
    [
        lambda audit: audit.update(verdict="no_violation_found"),
        lambda audit: audit["bound"].update(value=99.0),
        lambda audit: audit["event"].update(likely=0.5),
        lambda audit: audit["pair"].update(left=[7]),
        lambda audit: audit["proof"]["refutation"].update(bound=9.0),
        lambda audit: audit["proof"].pop("refutation"),
        lambda audit: audit["proof"].update(status="not_proved"),
        lambda audit: audit.update(claim={"epsilon": 11.0, "delta": 1e-5}),
    ],
)
def test_a_report_that_contradicts_its_refutation_is_not_read(change: Any, tmp_path: Path) -> None:
    data = json.loads(to_json(RunResult("run", 0.999, [audited(prove="only")]).to_dict()))
    change(data["audits"][0])
    file = tmp_path / "report.json"
    file.write_text(to_json(data))
    with pytest.raises(auditor.InvalidInputError):
        auditor.read_report(file)


def test_outputs_that_refute_a_claim_keep_their_place_beside_a_refutation() -> None:
    def faulty(x: Any, size: int, rng: Any) -> Any:
        return x + rng.laplace(0.0, 0.25, (size, 1))

    result = auditor.audit(faulty, PureDP(1.0), ONE, samples=20_000, seed=1, workers=1, prove=True)
    assert result.verdict == "violation" and result.p_value is not None and result.bound.method != "calculation"
    assert result.proof.refutation.bound > 3.99 and "Refuted by calculation too" in str(result)


def test_a_refutation_takes_no_level_from_other_audits_and_gives_none() -> None:
    """Counted in the budget like an audit without an answer; a p-value of 0 instead would raise the level of others."""
    assert levels_of([None, 0.5, 0.2], 0.03, 3) == [None, 0.01, 0.01]
    assert levels_of([0.0, 0.5, 0.2], 0.03, 3)[1] > 0.01


def test_a_refutation_within_the_claim_is_an_error() -> None:
    found = audited(prove="only").proof.refutation
    with pytest.raises(auditor.InvalidInputError, match="does not refute"):
        calculated(ApproximateDP(11.0, 1e-5), found)


# What names a mechanism ------------------------------------------------------------------------------------------------------

MODULE = '''"""A mechanism."""


def doubled(counts, rng, *, scale):
    return counts[0] + rng.laplace(0.0, scale)
'''


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    # Each test has a module of its own, since Python keeps those that were imported.
    (tmp_path / f"{tmp_path.name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    proof = dp_prover.prove(f"{tmp_path.name}.py:doubled", PureDP(1.0), ONE, parameters={"scale": 0.5})
    assert proof.status is Status.REFUTED
    return json.loads(json.dumps(proof.certificate))


def test_a_certificate_is_checked_against_the_function(named: Any, tmp_path: Path) -> None:
    assert retraced(named) is None
    words = dp_prover.checked(named, True)
    assert "does not have epsilon = 1: epsilon is at least 1.99" in words and "read again" in words
    other = copy.deepcopy(named)
    other["parameters"] = {"scale": 1.0}
    assert retraced(signed(other)) == "its paths differ from those of the certificate"
    other = copy.deepcopy(named)
    other["functions"] = dict.fromkeys(named["functions"], "another digest")
    assert "has changed since the proof" in str(retraced(signed(other)))


def test_the_command_writes_and_checks_a_certificate(
    named: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from auditor.cli import main

    (tmp_path / "c.yaml").write_text(
        f"version: 1\naudits:\n  - name: doubled\n    mechanism: {tmp_path.name}.py:doubled\n    parameters: {{scale: 0.5}}\n"
        "    claim: {epsilon: 1}\n    neighbours: {domain: totals, cells: 1, values: {low: 0, high: 9}, contribution: {l1: 1}}\n"
    )
    assert load_configuration(tmp_path / "c.yaml") is not None
    assert main(["prove", "c.yaml", "--out", "proofs"]) == 1
    assert "refuted: ε ≥ 1.99" in capsys.readouterr().out.replace("\n", " ")
    assert main(["check-proof", "--retrace", "proofs/c/proof-1.json"]) == 0
    assert "does not have epsilon = 1" in capsys.readouterr().out


# Deceptions ------------------------------------------------------------------------------------------------------------------


def test_what_looks_at_the_size_of_a_batch_is_not_refuted_by_its_model() -> None:
    def by_size(x: Any, size: int, rng: Any) -> Any:
        return x + rng.laplace(0.0, 1.0 if size > 1 else 0.1, (size, 1))

    assert dp_prover.prove(by_size, PureDP(1.0), ONE).status is Status.NOT_PROVED


def test_neighbours_of_different_types_are_left_to_outputs() -> None:
    proof = dp_prover.prove(lambda x, rng: rng.laplace(0, 1), PureDP(1.0), [(1, 1.5), ([1], (1,))])
    assert proof.status is not Status.REFUTED


@pytest.mark.parametrize("shift", [1e-9, 1e-13, 0.0])
def test_a_claim_that_rounding_exceeds_is_not_refuted(shift: float) -> None:
    """Neither by parameters in floating point nor by a claim that was rounded in print."""

    def counted(x: Any, rng: Any, *, scale: float) -> Any:
        return x[0] + rng.laplace(0.0, scale)

    for epsilon in (0.1, 1 / 3, 0.7, 7.0):
        proof = dp_prover.prove(
            counted, PureDP(epsilon * (1 - shift)), ONE, parameters={"scale": 1 / epsilon}, seconds=4
        )
        assert proof.status is not Status.REFUTED


def test_a_claim_just_too_small_is_refuted() -> None:
    def counted(x: Any, rng: Any) -> Any:
        return x[0] + rng.laplace(0.0, 1.0)

    assert dp_prover.prove(counted, PureDP(0.9999), ONE).status is Status.REFUTED


def test_an_event_of_next_to_no_chance_refutes_nothing() -> None:
    """The tail of Gaussian noise breaks any pure claim, but below 2⁻⁹⁰ nobody looks."""

    def noisy(x: Any, rng: Any) -> Any:
        return x[0] + rng.normal(0.0, 10.0)

    assert dp_prover.prove(noisy, PureDP(5.0), ONE, seconds=4).status is not Status.REFUTED


def test_pairs_that_are_listed_are_refuted_too() -> None:
    def noisy(x: Any, rng: Any) -> Any:
        return x + rng.laplace(0.0, 1.0)

    proof = dp_prover.prove(noisy, PureDP(1.5), [(0.0, 1.0), (0.0, 2.0)])
    assert proof.refutation is not None and proof.refutation.value == pytest.approx(2.0, abs=1e-3)


def test_a_domain_that_is_not_described_names_the_pair() -> None:
    domain = Records(record=(0.0, 10.0), size=(1, 3), relation="substitute")

    def mean(x: Any, rng: Any) -> Any:
        return x.sum() + rng.laplace(0.0, 1.0)

    proof = dp_prover.prove(mean, PureDP(1.0), domain)
    assert proof.status is Status.REFUTED and proof.certificate is not None
    assert [*proof.certificate["domain"]] == ["pairs", "forms"]


def test_both_directions_are_tried() -> None:
    def raised(bit: int, rng: Any) -> Any:
        return bit == 1 and rng.random() < 0.3

    for values in itertools.permutations([0, 1]):
        assert dp_prover.prove(raised, PureDP(1.0), Value(values=[*values])).status is Status.REFUTED


def test_totals_of_many_cells_are_refuted_at_a_pair() -> None:
    many = Totals(cells=12, values=(0, 1000), contribution={"linf": 1})

    def noisy(x: Any, size: int, rng: Any) -> Any:
        return x + rng.laplace(0.0, 2.0, (size, 12))

    assert dp_prover.prove(noisy, PureDP(1.0), many).status is Status.REFUTED
