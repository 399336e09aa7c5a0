"""Hand-written certificates for false claims: each is refused, by the checker or when the function is read again."""

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from auditor.blackbox.mechanism import PythonSource
from auditor.neighbours.pair import plain
from dp_prover.certificates import certificate as written
from dp_prover.certificates.checker import check as checker
from dp_prover.certificates.checker.check import check_certificate
from dp_prover.certificates.checker.exact_numbers import exp_at_least, exp_at_most, log_beyond
from dp_prover.certificates.checker.paths import follows, paths
from dp_prover.certificates.retrace import retraced
from dp_prover.domains.data_sets import form_of, written_data
from dp_prover.interfaces import Names
from dp_prover.language.trace import bounds_of, numbers, symbols, trace
from dp_prover.rules.masses import law_of

HALF = {"epsilon": 0.5}
STAYS = {"left": [0], "right": [0], "shifts": [[{}]]}
SWAPPED = {"n0": "n1", "n1": "n0"}


def same(dataset: Any, rng: Any) -> Any:
    return dataset


def word_with_names(dataset: int, rng: Any) -> Any:
    _, _, c = rng.laplace(0.0, 1.0), rng.laplace(0.0, 1.0), rng.laplace(0.0, 1.0)
    return ("n0" if dataset == 0 else "n1", c)


def noise_or_seven(dataset: int, rng: Any) -> Any:
    if dataset == 0:
        return 5.0 + rng.laplace(0.0, 1.0)
    return 7


class Forged:
    """A certificate of one function, which may be changed in any way before it is signed."""

    def __init__(self, function: Any, data: Sequence[Any] | None = None) -> None:
        name = f"{__name__}:{function.__name__}"
        self.mechanism = PythonSource(name, {}, ("",)).drawer()
        self.names = Names({} if data else bounds_of((Fraction(0),) * 3, (Fraction(100),) * 3))
        starts = [numbers(dataset) for dataset in data] if data else [symbols(self.names.bounds, True)]
        self.traces = [trace(self.mechanism, dataset, self.names) for dataset in starts]
        listed = [written_data(dataset) for dataset in data or []]
        values = [plain(dataset) for dataset in data or []]
        sides = [(0, 1), (1, 0)] if data else [(0, 0)]
        box = {"low": ["0"] * 3, "high": ["100"] * 3, "integer": True, "relation": {"l1": "1"}}
        self.content: dict[str, Any] = {
            "rule": "alignment",
            "mechanism": name,
            "parameters": {},
            "functions": dict(sorted(self.names.read.items())),
            "data": listed,
            "claim": HALF,
            "bound": "0",
            "domain": {"values": values, "forms": sorted(set(map(form_of, listed)))} if data else box,
            "listed": bool(data),
            "noise": written.noise(self.names),
            "traces": [written.TraceWriter(dataset).trace() for dataset in self.traces],
            "pairs": [self.entry(i, j, STAYS) for i, j in sides],
        }

    @staticmethod
    def entry(left: int, right: int, cell: Mapping[str, Any]) -> dict[str, Any]:
        shown = {"sides": [left, right], "traces": [left, right], "part": 0, "linear": False}
        return {**shown, "cells": [cell], "assumed": [], "names": {}}

    def stands(self, **changes: Any) -> bool:
        """Whether the changed certificate is accepted, and the function has the paths that it states."""
        content = {key: value for key, value in (self.content | changes).items() if value is not None}
        proof = written.signed(json.loads(json.dumps(content)))
        try:
            check_certificate(proof)
        except (ValueError, LookupError, TypeError, AttributeError):
            return False
        return retraced(proof) is None


def entries(cell: Mapping[str, Any], names: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
    return [Forged.entry(i, j, cell) | {"names": dict(names or {})} for i, j in ((0, 1), (1, 0))]


def noisy(dataset: int, rng: Any) -> Any:
    return dataset + rng.laplace(0.0, 2.0)


def test_a_true_statement_written_by_hand_stands() -> None:
    pairs = [Forged.entry(i, j, {**STAYS, "shifts": [[{"n0": str(i - j)}]]}) for i, j in ((0, 1), (1, 0))]
    assert Forged(noisy, [0, 1]).stands(pairs=pairs, bound="1/2")
    assert not Forged(noisy, [0, 1]).stands(pairs=pairs, bound="1/4")


def test_an_output_is_not_impossible_as_well() -> None:
    """The checker would take the output for a path, and retracing for an impossible branch, which it does not compare."""
    forged = Forged(same)
    one = forged.content["traces"][0] | {"tree": {"output": 0, "never": {}}, "outputs": [["anything", []]]}
    assert not forged.stands(traces=[one], pairs=[Forged.entry(0, 0, {**STAYS, "shifts": [[{}]] * 6})])


@pytest.mark.parametrize("more", [{"low": ["1"], "high": ["0"]}, {}])
def test_data_that_are_listed_have_no_range_that_contradicts_itself(more: Any) -> None:
    forged = Forged(same, [0, 1])
    impossible = entries({"left": [0], "never": {"0": "1", "1": "1"}})
    assert not forged.stands(domain=forged.content["domain"] | more, pairs=impossible)


@pytest.mark.parametrize(
    "domain",
    [
        {"values": [[0], [1]], "low": ["0"], "high": ["1"], "integer": True, "relation": {"l1": "0"}},
        {"low": ["1"], "high": ["0"], "integer": True, "relation": {"l1": "1"}},
        {"low": ["0"] * 3, "high": ["100"] * 3, "integer": True, "relation": {"steps": []}},
    ],
)
def test_a_domain_is_what_it_is_shown_as_and_not_empty(domain: Any) -> None:
    for shifts in ([[{}], [{}]], []):
        assert not Forged(same).stands(domain=domain, pairs=[Forged.entry(0, 0, {**STAYS, "shifts": shifts})])


def test_laws_are_those_of_all_data_sets() -> None:
    """A data set without a law may not be dropped, since the indices of the others would change."""
    forged = Forged(noise_or_seven, [0, 1])
    laws = law_of(forged.traces[1])
    assert laws is not None
    assert law_of(forged.traces[0]) is None
    law = written.law(laws)
    pairs = [{"sides": [i, j], "traces": [i, j], "epsilons": dict.fromkeys(law, "0")} for i, j in ((0, 1), (1, 0))]
    data = [written_data(one) for one in (0, 1, 1)]
    changes = {"rule": "masses", "noise": {}, "traces": None, "pairs": pairs}
    assert not forged.stands(**changes, laws=[law, law], data=data)
    assert not forged.stands(**changes, laws=[None, law])


@pytest.mark.parametrize("rule", ["gaussian", "alignment"])
def test_a_text_is_no_name_of_noise(rule: str) -> None:
    forged = Forged(word_with_names, [0, 1])
    traces = [written.trace_of_gaussian(trace) for trace in forged.traces] if rule == "gaussian" else None
    plain = [
        {"tree": {"output": 0}, "outputs": [[f"word n{at}", [{"n2": "1", "": "0"}]]], "terms": {}} for at in (0, 1)
    ]
    for shown in (traces or forged.content["traces"], plain):
        assert not forged.stands(rule=rule, traces=shown, pairs=entries(STAYS, SWAPPED))


# --- Of the second reader ---


def gaussian(totals: Any, rng: Any) -> Any:
    return totals[0] + rng.normal(0.0, 1.0)


def compared_and_told(value: int, rng: Any) -> Any:
    y = value + rng.laplace(0.0, 1.0)
    z = y + 1.0
    w = y - 1.0
    if z * z > 25.0:
        return y
    if w * w > 25.0:
        return y
    return y


def by_axes(data: Any, rng: Any) -> Any:
    if len(data.shape) == 2:
        return 1
    return len(data)


@pytest.mark.parametrize(
    "changes",
    [
        {"claim": {"mu": 0.01}, "bound": "-100"},
        {"claim": {"mu": -3}, "bound": "-3"},
        {"claim": {"order": -2, "epsilon": 0.01}, "bound": "1/100"},
        {"claim": {"epsilon": 0.01, "delta": -1}, "bound": "1/100"},
    ],
)
def test_a_bound_and_a_claim_are_not_negative(changes: Any) -> None:
    """The square of a negative bound on μ is large."""
    box = {"low": ["0"], "high": ["100"], "integer": True, "relation": {"l1": "1"}}
    shifts = [[{"n0": "-1"}], [{"n0": "1"}]]
    forged = Forged(gaussian)
    traces = [written.trace_of_gaussian(trace) for trace in forged.traces]
    gauss = {
        "rule": "gaussian",
        "domain": box,
        "traces": traces,
        "pairs": [Forged.entry(0, 0, {**STAYS, "shifts": shifts})],
    }
    assert forged.stands(**gauss, claim={"mu": 1.0}, bound="1"), "what is true stands"
    assert not forged.stands(**gauss, **changes)


@pytest.mark.parametrize("relation", ["=", ">="])
def test_conditions_outputs_and_arguments_of_terms_do_not_change_places(relation: str) -> None:
    """A condition on 0 times a term once stood for the term's arguments, and a condition of the other side for its output."""
    forged = Forged(compared_and_told, [0, 1])
    pairs = []
    for i, j in ((0, 1), (1, 0)):
        terms = forged.content["traces"][i]["terms"]
        [name] = [name for name, forms in terms.items() if forms[-1] == {"n0": "1", "": str(j)}]
        left = [{"n0": "1", "": str(i)}, *terms[name]]
        here, there = [[{name: "0"}, ">="]], [[{}, ">="], *[[form, relation] for form in left[:-1]]]
        joint = {"rows": [here, there], "implied": [[{}]] * 3, "excluded": {}}
        pairs.append(Forged.entry(i, j, {"left": [0, 1, 2], "right": [0, 1, 2], "shifts": [[{}]], **joint}))
    assert not forged.stands(pairs=pairs)


def masses(forged: Forged) -> dict[str, Any]:
    """Return a certificate of ε = 0 by the laws of the function on two data sets."""
    found = [law_of(one) for one in forged.traces]
    laws = [written.law(one) for one in found if one is not None]
    zeros = dict.fromkeys(laws[0], "0")
    pairs = [{"sides": [i, j], "traces": [i, j], "epsilons": zeros} for i, j in ((0, 1), (1, 0))]
    return {"rule": "masses", "noise": {}, "traces": None, "laws": laws, "pairs": pairs}


def test_an_array_without_items_has_the_axes_of_the_others() -> None:
    domain = {"records": [3], "size": [0, 1], "relation": "add_remove", "forms": ["array of int64"]}
    as_it_is = Forged(by_axes, [np.array([], np.int64), np.array([3])])
    assert not as_it_is.stands(**masses(as_it_is), domain=domain), "the length differs"
    flat = Forged(by_axes, [np.zeros((0, 5), np.int64), np.array([3])])
    assert not flat.stands(**masses(flat), domain=domain)


@pytest.mark.parametrize(
    "domain",
    [
        {"values": [[1], [1]]},
        {"pairs": [[[1], [1]]]},
        {"records": [1, 1], "size": [1, 1], "relation": "substitute"},
    ],
)
def test_values_differ(domain: Any) -> None:
    """Two equal values would make every function private, and be shown as two; a pair is shown as it is."""
    forged = Forged(first, [[1], [1]])
    stands = forged.stands(**masses(forged), domain={**domain, "forms": ["value"]})
    assert stands == ("pairs" in domain)


@pytest.mark.parametrize("number", ["100", "007", "1/02", "00"])
def test_a_number_is_written_without_zeros_before_it(number: str) -> None:
    """Leading zeros would push the rest of a statement out of sight."""
    shifts = [[{"n0": "-1"}], [{"n0": "1"}]]
    forged = Forged(gaussian)
    traces = [written.trace_of_gaussian(trace) for trace in forged.traces]
    box = {"low": ["0"], "high": [number], "integer": True, "relation": {"l1": "1"}}
    pairs = [Forged.entry(0, 0, {**STAYS, "shifts": shifts})]
    stands = forged.stands(rule="gaussian", traces=traces, pairs=pairs, claim={"mu": 1.0}, bound="1", domain=box)
    assert stands == (number == "100")


# --- Of the third reader ---


@pytest.mark.parametrize("pairs", [[[0], [0, 1], [1]], [[0, 0, 1, 1]], ["01", "10"]])
def test_a_pair_is_two_data_sets(pairs: Any) -> None:
    """Otherwise lists of one and of three would be shown as three pairs, and checked as other pairs."""
    forged = Forged(same, [0, 0, 1, 1])
    content = masses(forged)
    each = [{**content["pairs"][0], "sides": [i, i ^ 1], "traces": [i, i ^ 1]} for i in range(4)]
    assert not forged.stands(**{**content, "pairs": each}, domain={"pairs": pairs, "forms": ["value"]})


@pytest.mark.parametrize("relation", [{"steps": "12"}, {"each": "12"}, {"steps": ["1"]}, {"steps": [["1"]]}, "l1"])
def test_a_relation_is_not_read_letter_by_letter(relation: Any) -> None:
    """A reader takes the text 12 for a step of twelve, and the checker took it for two steps of one and two."""
    forged = Forged(noisy_first)
    box = {"low": ["0"], "high": ["100"], "integer": True, "relation": relation}
    shifts = [[{"n0": str(-by)}] for by in (1, 2, -1, -2)]
    for some in (shifts, shifts[:2], shifts[::2]):
        stands = forged.stands(
            domain=box, pairs=[Forged.entry(0, 0, {**STAYS, "shifts": some})], bound="2", claim={"epsilon": 2}
        )
        assert not stands or relation == {"steps": [["1"]]}


def noisy_first(totals: Any, rng: Any) -> Any:
    return totals[0] + rng.laplace(0.0, 1.0)


@pytest.mark.parametrize("value", [Fraction(149, 10**62), Fraction(1, 10**30), Fraction(1, 3), 1 - Fraction(1, 10**70)])
def test_logarithms_are_further_from_0_however_small(value: Fraction) -> None:
    """ln(1 − p) ≤ −p and ln(1 + x) ≥ x/(1 + x) bound the computed values."""
    assert log_beyond(1 - value) <= -value
    assert log_beyond(1 + value) >= value / (1 + value)
    assert log_beyond(Fraction(1)) == 0


def test_a_condition_follows_from_positive_multiples_only() -> None:
    given = [[{"n0": "1"}, ">="]]
    follows(given, {"0": "1"}, {"n0": "1"}, ">=")
    for multipliers, wanted, relation in (({"0": "-1"}, {"n0": "-1"}, ">="), ({"0": "1"}, {"n0": "1"}, ">")):
        with pytest.raises(ValueError, match="condition"):
            follows(given, multipliers, wanted, relation)


@pytest.mark.parametrize("value", [-3_000_000, -(10**7), -200, -1, 0])
def test_exponentials_lie_between_their_limits_however_small(value: int) -> None:
    assert 0 <= exp_at_most(Fraction(value)) <= exp_at_least(Fraction(value))
    assert exp_at_least(Fraction(value)) > 0
    assert exp_at_most(Fraction(0)) == 1


def told_if_rare(value: int, rng: Any) -> Any:
    return value if rng.laplace(0.0, 1.0) > 3e6 else -1


def told_above_3(value: int, rng: Any) -> Any:
    return value if rng.laplace(0.0, 1.0) > 3 else -1


def told_above_3_logistic(value: int, rng: Any) -> Any:
    return value if rng.logistic(0.0, 1.0) > 3 else -1


@pytest.mark.parametrize(
    ("function", "limit", "delta", "true"),
    [(told_above_3, 3, 0.03, True), (told_above_3_logistic, 3, 0.03, False), (told_if_rare, 3_000_000, 0, False)],
)
def test_what_is_assumed_of_noise_counts(function: Any, limit: int, delta: float, true: bool) -> None:
    """The probability of more than 3 is e^(−3)/2 = .025, or .047 for logistic noise; that of 3e6 is too small for
    decimals, and not 0."""
    assumed, contradict = [[{"n0": "-1", "": str(limit)}, ">="]], {"0": "1", "1": "1"}
    reason = {"rows": [assumed, assumed], "implied": [[{"0": "1"}]], "excluded": {"0": contradict}}
    cells = [{"left": [1], "right": [1], "shifts": [[{}]], **reason}, {"left": [0], "never": contradict}]
    pairs = [{**Forged.entry(i, j, STAYS), "cells": cells, "assumed": assumed} for i, j in ((0, 1), (1, 0))]
    assert Forged(function, [0, 1]).stands(pairs=pairs, claim={"epsilon": 0.0, "delta": delta}) == true


def fair(value: int, rng: Any) -> Any:
    return int(rng.random() < 0.5 + value * 2.0**-40)


def test_masses_that_differ_a_little_differ() -> None:
    forged = Forged(fair, [0, 1])
    content = masses(forged)
    assert not forged.stands(**content, claim={"epsilon": 0.0})
    e = Fraction(1, 2**141)
    tiny = [{"(0,)": {"a": str(Fraction(1, 2) + by), "b": str(Fraction(1, 2) - by)}} for by in (0, e)]
    entry = {"traces": [0, 1], "epsilons": {"(0,)": "0"}}
    assert checker.masses(entry, {"laws": tiny}, lambda: None)[1] == e


# --- Of the fourth reader ---


def by_container(data: Any, rng: Any) -> Any:
    if isinstance(data, list):
        return 1 if data[0] == 1 else 0
    return 0 if data[0] == 1 else 1


def first(data: Any, rng: Any) -> Any:
    return data[0]


def by_width(data: Any, rng: Any) -> Any:
    return 1 if data.shape[1] == 2 and len(data) == 0 else 0


def test_all_data_sets_arrive_in_one_form() -> None:
    """Otherwise a data set could be a list and its neighbour an array, which the function can distinguish."""
    forged = Forged(by_container, [[0], np.array([1])])
    assert not forged.stands(**masses(forged), claim={"epsilon": 0.0})
    both = Forged(by_container, [[0], np.array([1]), [1], np.array([0])])
    content = masses(both)
    pairs = [{**content["pairs"][0], "sides": [i, 1 - i], "traces": [2 * i, 2 * i + 1]} for i in (0, 1)]
    domain = {"values": [[0], [1]], "forms": ["array of int64", "value"]}
    assert not both.stands(**{**content, "pairs": pairs}, domain=domain, claim={"epsilon": 0.0})


def test_texts_that_are_one_in_an_array_are_refused() -> None:
    forged = Forged(first, [np.array(["a"]), np.array(["a"])])
    data = [{**one, "array": [text]} for one, text in zip(forged.content["data"], ("a", "a\0"), strict=True)]
    domain = {"values": [["a"], ["a\0"]], "forms": ["array of str"]}
    assert not forged.stands(**masses(forged), data=data, domain=domain, claim={"epsilon": 0.0})


def test_an_array_without_rows_is_as_wide_as_the_others() -> None:
    domain = {"records": [[1, 2]], "size": [0, 1], "relation": "add_remove", "forms": ["array of int64"]}
    for width in (2, 7):
        forged = Forged(by_width, [np.zeros((0, width), np.int64), np.array([[1, 2]])])
        assert not forged.stands(**masses(forged), domain=domain, claim={"epsilon": 0.0})


@pytest.mark.parametrize(
    "forms",
    [["array of int64", "value"], ["value", "array of int64"], ["value", "arrays of any kind"], [], "value", ["value"]],
)
def test_the_forms_that_are_shown_are_those_of_the_data(forms: Any) -> None:
    """The forms of arrays that a certificate shows were once never checked."""
    forged = Forged(by_container, [[0], [0]])
    domain = {"pairs": [[[0], [0]]], "forms": forms}
    assert forged.stands(**masses(forged), domain=domain, claim={"epsilon": 0.0}) == (forms == ["value"])


def test_data_that_are_not_compared_are_refused() -> None:
    forged = Forged(first, [np.array([1]), np.array([1]), np.array([1.0])])
    content = masses(forged)
    domain = {"pairs": [[[1], [1]]], "forms": ["array of float64", "array of int64"]}
    assert not forged.stands(**content, domain=domain, claim={"epsilon": 0.0})
    fewer = {"data": forged.content["data"][:2], "laws": content["laws"][:2]}
    domain = {"pairs": [[[1], [1]]], "forms": ["array of int64"]}
    assert forged.stands(**{**content, **fewer}, domain=domain, claim={"epsilon": 0.0})


def by_type(data: Any, rng: Any) -> Any:
    return 0 if data.dtype == np.float64 else 1 - len(data)


def test_arrays_are_of_one_type() -> None:
    """An empty array could have any type, and the function may look at it."""
    forged = Forged(by_type, [np.array([], np.float64), np.array([3])])
    domain = {"records": [3], "size": [0, 1], "relation": "add_remove", "forms": ["array of float64", "array of int64"]}
    assert not forged.stands(**masses(forged), domain=domain, claim={"epsilon": 0.0})


# --- Each of these is refused by a single check ---


def has_a_fraction(data: Any, rng: Any) -> Any:
    return data[0] % 1 > 0


@pytest.mark.parametrize("changes", [{}, {"integer": False}, {"relation": {"l0": "1"}}])
def test_vectors_are_listed_for_integers_and_a_norm(changes: Any) -> None:
    """Between two integers lie other numbers, and l0 does not limit a difference."""
    forged = Forged(has_a_fraction, [[0], [1]])
    box = {"low": ["0"], "high": ["1"], "integer": True, "relation": {"l1": "1"}, "forms": ["value"]}
    assert forged.stands(**masses(forged), domain=box | changes, claim={"epsilon": 0.0}) == (not changes)


def rows(data: Any, rng: Any) -> Any:
    return len(data)


@pytest.mark.parametrize(
    ("values", "made"),
    [([[0.25], [0.75]], [[0], [0]]), ([[[0, 0]], [[0], [0]]], [[[0], [0]]] * 2)],
)
def test_an_array_is_made_of_what_is_shown(values: Any, made: Any) -> None:
    """Otherwise 0.25 and 0.75 arrive as 0, and two rows of one number look like one row of two."""
    forged = Forged(rows if np.ndim(made[0]) > 1 else first, [np.array(one) for one in made])
    data = [{**one, "array": value} for one, value in zip(forged.content["data"], values, strict=True)]
    domain = {"values": values, "forms": ["array of int64"]}
    assert not forged.stands(**masses(forged), data=data, domain=domain, claim={"epsilon": 0.0})


def above(value: int, rng: Any) -> Any:
    return 1 if rng.laplace(0.0, 1.0) + value > 0 else 0


def test_paths_that_are_joined_have_one_output() -> None:
    joined = {"left": [0, 1], "right": [0, 1], "shifts": [[{}]]}
    reason = {"rows": [[], []], "implied": [[], []], "excluded": {}}
    assert not Forged(above, [0, 1]).stands(pairs=entries(joined | reason))


def draws_told_twice(value: int, rng: Any) -> Any:
    one, other = rng.laplace(0.0, 1.0), rng.laplace(0.0, 1.0)
    return (one, other if value else one)


def test_two_draws_are_not_given_one_name() -> None:
    """Both draws would then be equal, which they are with probability 0."""
    forged = Forged(draws_told_twice, [0, 1])
    entry = Forged.entry(0, 1, STAYS) | {"names": {"n1": "n0"}}
    with pytest.raises(ValueError, match="different names of noise"):
        checker.alignment(entry, forged.content, lambda: None)


def discrete(x: Any, rng: Any) -> Any:
    return x[0] + rng.geometric(0.5) - rng.geometric(0.5)


def discrete_of_half(x: Any, rng: Any) -> Any:
    return x[0] / 2 + rng.geometric(0.5) - rng.geometric(0.5)


@pytest.mark.parametrize(
    ("function", "norm", "reach", "integer"),
    [
        (discrete, "l1", "1", True),
        (discrete, "l1", "1", False),
        (discrete, "linf", "1", False),
        (discrete_of_half, "l1", "2", True),
    ],
)
def test_integer_noise_hides_each_difference_of_integers(function: Any, norm: str, reach: str, integer: bool) -> None:
    """The lattice of the outputs reveals half a step of the data, or of the noise."""
    forged = Forged(function)
    box = {"low": ["0"], "high": ["100"], "integer": integer, "relation": {norm: reach}}
    ways = [[{"n1": "1"}], [{"n0": "1"}]] if norm == "l1" else [[{"n0": "1"}], [{}], [{"n1": "1"}]]
    pairs = [Forged.entry(0, 0, {**STAYS, "shifts": ways})]
    stands = forged.stands(domain=box, pairs=pairs, claim={"epsilon": 0.7}, bound="7/10")
    assert stands == (integer and reach == "1")


def two_normals(value: int, rng: Any) -> Any:
    return value + rng.normal(0.0, 1.0) - rng.normal(0.0, 1.0)


def minus_exponential(value: int, rng: Any) -> Any:
    return value - rng.exponential(1.0)


def two_geometrics(value: int, rng: Any) -> Any:
    return value / 2 + rng.geometric(0.5) - rng.geometric(0.5)


def of_another_scale(value: int, rng: Any) -> Any:
    one, other = rng.laplace(0.0, 1.0), rng.laplace(0.0, 2.0)
    return other if value else one


def flipped(value: int, rng: Any) -> Any:
    return value ^ (rng.random() < 0.25)


def coin(value: int, rng: Any) -> Any:
    return 1 if rng.random() < 0.25 + value / 4 else 0


@pytest.mark.parametrize(
    ("function", "shifts", "names", "right"),
    [
        (two_normals, ({"n1": "1"}, {"n0": "1"}), {}, [0]),
        (minus_exponential, ({"n0": "1"}, {"n0": "-1"}), {}, [0]),
        (two_geometrics, ({"n1": "1/2"}, {"n0": "1/2"}), {}, [0]),
        (of_another_scale, ({}, {}), SWAPPED, [0]),
        (flipped, ({}, {}), {}, [1, 0]),
        (coin, ({}, {}), {}, [0, 1]),
    ],
)
def test_noise_has_its_law_on_both_sides(function: Any, shifts: Any, names: Any, right: Any) -> None:
    pairs = []
    for (i, j), shift in zip(((0, 1), (1, 0)), shifts, strict=True):
        cells = [{"left": [at], "right": [to], "shifts": [[shift]]} for at, to in enumerate(right)]
        pairs.append(Forged.entry(i, j, STAYS) | {"cells": cells, "names": names})
    assert not Forged(function, [0, 1]).stands(pairs=pairs, claim={"epsilon": 1.0}, bound="1")


def test_epsilons_are_those_of_the_parts() -> None:
    """The ε of a part that does not exist would be subtracted."""
    forged = Forged(flipped, [0, 1])
    content = masses(forged)
    for more, true in (({}, True), ({"more": "-2"}, False)):
        pairs = [entry | {"epsilons": entry["epsilons"] | {"(0,)": "2"} | more} for entry in content["pairs"]]
        assert forged.stands(**content | {"pairs": pairs}, claim={"epsilon": 2.0}, bound="2" if true else "0") == true


def test_traces_are_of_the_data_of_the_domain() -> None:
    forged = Forged(same, [5, 5])
    assert not forged.stands(**masses(forged), domain={"values": [0, 1], "forms": ["value"]})


def one_way(totals: Any, rng: Any) -> Any:
    return totals[0] + rng.exponential(1.0)


def test_differences_have_both_signs() -> None:
    box = {"low": ["0"], "high": ["100"], "integer": True, "relation": {"each": ["0", "1"]}}
    pairs = [Forged.entry(0, 0, {**STAYS, "shifts": [[{"n0": "1"}], [{}]]}) | {"part": 1}]
    assert not Forged(one_way).stands(domain=box, pairs=pairs, claim={"epsilon": 1.0}, bound="1")


LEAF = {"output": 0}


@pytest.mark.parametrize(
    "tree",
    [
        {"draw": "n2", "ends": [["a", "1/2", LEAF], ["b", "1/4", LEAF]]},
        {"draw": "n2", "ends": [["a", "3/2", LEAF], ["b", "-1/2", LEAF]]},
        {"draw": "n2", "ends": [["a", "1/2", LEAF], ["a", "1/2", LEAF]]},
        {"if": {"n0": "1"}, ">": LEAF},
        {"if": {"n0": "1"}, ">": LEAF, ">=": LEAF, "<": LEAF},
        {"if": {"n1": "1"}, ">": LEAF, "<": LEAF},
        {"if": {"n0": "1", "o0": "1"}, ">": LEAF, "<": LEAF},
        {"if": {"n0": "1"}, ">": LEAF, "<": {"never": {}}},
        {"output": 0, "never": {}},
    ],
)
def test_a_tree_leaves_nothing_open(tree: Any) -> None:
    """n1 and the terms may be 0, which has probability 0 under Laplace noise."""
    proof = {"noise": {"n0": ["laplace", "1"], "n1": ["geometric", "1/2"]}, "listed": True, "domain": {}}
    assert len(paths(proof, {"tree": {"if": {"n0": "1"}, ">": LEAF, "<": LEAF}})) == 2
    with pytest.raises(ValueError, match="the certificate does not hold"):
        paths(proof, {"tree": tree})
