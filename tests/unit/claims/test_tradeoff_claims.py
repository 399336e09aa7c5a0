"""A claimed trade-off curve: its polygon, a polygon below a function, its lines (ε, δ), and files of points."""

import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from auditor.bounds.conversions import gaussian_delta, implied_delta, tradeoff_curve
from auditor.claims import ApproximateDP, PureDP, Tradeoff, claim_from_dict
from auditor.errors import AuditorError, InvalidInputError

ALPHAS = [*np.linspace(0, 1, 501).tolist(), 1e-9, 1e-6, 1e-4]


def gaussian(mu: float) -> Callable[[float], float]:
    return lambda alpha: float(ndtr(-ndtri(alpha) - mu)) if 0 < alpha < 1 else 1.0 - alpha


def laplace(epsilon: float) -> Callable[[float], float]:
    """Laplace noise: two straight ends, and a hyperbola between them (Dong, Roth & Su 2022, Proposition A.6)."""
    shrunk = math.exp(-epsilon)

    def curve(alpha: float) -> float:
        if alpha < shrunk / 2:
            return 1 - alpha / shrunk
        return shrunk / (4 * alpha) if alpha < 0.5 else shrunk * (1 - alpha)

    return curve


def approximate(epsilon: float, delta: float) -> Tradeoff:
    """The curve of (ε, δ): two lines, which meet on the diagonal (Dong, Roth & Su 2022, Proposition 2.5)."""
    middle = (1 - delta) / (1 + math.exp(epsilon))
    return Tradeoff([(0, 1 - delta), (middle, middle), (1 - delta, 0)])


SKEW = Tradeoff([(0, 1), (0.3, 0.2), (1, 0)])

FUNCTIONS: list[Callable[[float], float]] = [
    *map(gaussian, (0.0, 0.1, 1.0, 3.0, 6.0)),
    *map(laplace, (0.01, 1.0, 5.0)),
    approximate(1.0, 0.1).at,
    SKEW.at,
    lambda alpha: max(0.0, 0.5 - alpha),
    lambda alpha: 1 - alpha,
    lambda alpha: (1 - math.sqrt(alpha)) ** 2,
]


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_a_polygon_from_a_function_claims_less_and_hardly_less(number: int) -> None:
    function = FUNCTIONS[number]
    claim = Tradeoff.from_function(function)
    gaps = [function(alpha) - claim.at(alpha) for alpha in ALPHAS]
    assert min(gaps) > -1e-12  # a mechanism that keeps the function's curve keeps the claim
    # Next to α = 0, a curve may fall as steeply as it likes. A corner between two points is cut.
    assert max(gap for alpha, gap in zip(ALPHAS, gaps, strict=True) if alpha >= 1e-4) < 4e-3


def test_chords_through_samples_of_a_function_would_claim_more() -> None:
    """This is what from_function avoids: the polygon through its own points lies above the curve."""
    curve = gaussian(1.0)
    through = Tradeoff([(alpha, curve(alpha)) for alpha in np.linspace(0, 1, 101).tolist()])
    assert min(curve(alpha) - through.at(alpha) for alpha in ALPHAS) < -1e-3


@pytest.mark.parametrize("mu", [0.3, 1.0, 2.5])
def test_a_gaussian_curve_allows_the_gaussian_profile(mu: float) -> None:
    claim = Tradeoff.from_function(gaussian(mu))
    for epsilon in (0.0, 0.5, 1.0, 2.0, 4.0):
        allowed = implied_delta(claim, epsilon)
        assert gaussian_delta(mu, epsilon) - 1e-12 <= allowed <= gaussian_delta(mu, epsilon) + 2e-4


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (1.0, 0.0), (0.5, 0.1), (3.0, 1e-5), (0.0, 0.4)])
def test_the_curve_of_approximate_privacy_is_that_claim(epsilon: float, delta: float) -> None:
    curve, claim = approximate(epsilon, delta), ApproximateDP(epsilon, delta)
    for each in itertools.chain(*curve.lines()):
        assert (each.epsilon, each.delta) == (pytest.approx(epsilon, abs=1e-9), pytest.approx(delta, abs=1e-9))
    assert curve.total_variation() == pytest.approx(claim.total_variation())
    for at in (0.0, 0.3, 1.0, 2.0):
        assert implied_delta(curve, at) == pytest.approx(implied_delta(claim, at), abs=1e-9)
    ours, theirs = tradeoff_curve(curve), tradeoff_curve(claim)
    shares = np.linspace(0, 1, 21)
    assert ours.least_wrong_rate(shares) == pytest.approx(theirs.least_wrong_rate(shares), abs=1e-9)


@pytest.mark.parametrize("claim", [approximate(1.0, 0.1), SKEW, Tradeoff.from_function(gaussian(1.0))])
def test_a_curve_is_the_envelope_of_its_lines(claim: Tradeoff) -> None:
    steep, flat = claim.lines()
    for alpha in ALPHAS:
        below = [1 - line.delta - math.exp(line.epsilon) * alpha for line in steep]
        below += [(1 - line.delta - alpha) * math.exp(-line.epsilon) for line in flat]
        assert max(0.0, *below) == pytest.approx(claim.at(alpha), abs=1e-9)


@pytest.mark.parametrize("claim", [approximate(1.0, 0.1), SKEW, Tradeoff.from_function(gaussian(1.0))])
def test_a_value_is_added_to_every_epsilon(claim: Tradeoff) -> None:
    same = claim.with_value(0.0)
    for alpha in ALPHAS:
        assert same.at(alpha) == pytest.approx(claim.at(alpha), abs=1e-9)
    weaker, stronger = claim.with_value(0.2), claim.with_value(-0.2)
    assert stronger.implies(claim)
    assert claim.implies(weaker)
    assert not weaker.implies(claim)
    assert not claim.implies(stronger)
    assert claim.with_value(claim.least_value).lines()[0][0].epsilon == pytest.approx(0.0, abs=1e-9)
    if claim == approximate(1.0, 0.1):
        assert weaker.at(0.1) == pytest.approx(approximate(1.2, 0.1).at(0.1))


def test_a_curve_that_holds_one_way_says_less() -> None:
    """Either side may be the one whose tests the curve limits: then both are limited by the hull of the curve and its inverse."""
    one_way = Tradeoff(SKEW.tradeoff, symmetric=False)
    hull = one_way.both_ways()
    assert hull.symmetric
    assert hull.tradeoff == ((0.0, 1.0), (0.2, 0.3), (0.3, 0.2), (1.0, 0.0))
    assert SKEW.implies(one_way)
    assert not one_way.implies(SKEW)
    assert SKEW.implies(hull)
    assert one_way.implies(hull)
    # The symmetric claim limits both ways by the larger of the curve and its inverse.
    assert implied_delta(SKEW, 0.0) < implied_delta(one_way, 0.0) + 1e-12
    assert implied_delta(SKEW, 0.9) < implied_delta(one_way, 0.9)


FORMS: list[dict[str, Any]] = [
    {"tradeoff": [[0.0, 1.0], [0.25, 0.25], [1.0, 0.0]]},
    {"tradeoff": [[0.0, 1.0], [0.3, 0.2], [1.0, 0.0]], "symmetric": False},
    {"tradeoff": [[0.0, 0.9], [0.4, 0.0]]},
]


@pytest.mark.parametrize("form", FORMS)
def test_a_curve_goes_back_to_its_keys(form: dict[str, Any]) -> None:
    claim = claim_from_dict(form)
    assert isinstance(claim, Tradeoff)
    assert claim.to_dict() == form
    assert claim_from_dict({"symmetric": True, **form}) == claim
    assert hash(claim) == hash(claim_from_dict(form))
    assert eval(repr(claim), {"Tradeoff": Tradeoff}) == claim
    assert len(str(Tradeoff.from_function(gaussian(1.0)))) < 80


def test_points_on_an_edge_are_no_corners() -> None:
    assert Tradeoff([(0, 0.5), (0.5, 0), (0.7, 0), (1, 0)]) == Tradeoff([(0, 0.5), (0.5, 0)])
    assert Tradeoff([(0, 0.9), (1, 0)], symmetric=False).both_ways() == Tradeoff([(0, 0.9), (0.9, 0)])
    assert Tradeoff([(0, 1), (0.125, 0.625), (0.25, 0.25), (1, 0)]) == Tradeoff([(0, 1), (0.25, 0.25), (1, 0)])


INVALID: list[tuple[Any, str]] = [
    ([], "0 points"),
    ([(0, 1)], "1 points"),
    ("curve", "list of points"),
    (3, "list of points"),
    ([(0, 1), (1, 0, 0)], "point 2 of tradeoff"),
    ([(0, 1), 1], "point 2 of tradeoff"),
    ([(0, 1), (0.5, math.nan), (1, 0)], "beta of point 2 of tradeoff is nan"),
    ([(0, 1), (0.5, "x"), (1, 0)], "beta of point 2"),
    ([(0, 1), (1.5, 0)], "alpha of point 2"),
    ([(0, 1), (0.5, -0.1), (1, 0)], "beta of point 2"),
    ([(0, 1), (0.5, 0.2), (0.4, 0.1), (1, 0)], "sort the points"),
    ([(0, 1), (0.5, 0.2), (0.5, 0.1), (1, 0)], "sort the points"),
    ([(0.1, 0.9), (1, 0)], "first alpha"),
    ([(0, 1), (0.5, 0.2)], "last beta"),
    ([(0, 0), (1, 0)], "first beta above 0"),
    ([(0, 1), (0.5, 0.6), (1, 0)], "at most 1 − alpha"),
    ([(0, 1), (0.25, 0.25), (0.5, 0.24), (1, 0)], "convex"),
    ([(0, 1), (0.25, 0.1), (0.5, 0.2), (1, 0)], "convex"),
    ([(0, 1), (1e-300, 0.5), (1, 0)], "ε > 500"),
]


@pytest.mark.parametrize(("points", "said"), INVALID)
def test_an_invalid_polygon_is_refused_with_its_fault(points: Any, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        Tradeoff(points)


def test_a_curve_is_symmetric_or_not() -> None:
    with pytest.raises(InvalidInputError, match="symmetric is 1; it must be true or false"):
        claim_from_dict({"tradeoff": [[0, 1], [1, 0]], "symmetric": 1})


def _raising(alpha: float) -> float:
    raise ValueError("no curve")


UNFIT: list[tuple[Any, str]] = [
    (lambda alpha: 1 - alpha**2, "at most 1 − alpha"),
    (lambda alpha: 0.5 * (1 - alpha) if alpha < 0.5 else 0.4 * (1 - alpha), "convex"),
    (lambda alpha: 0.2, "at most 1 − alpha"),
    (lambda alpha: alpha / 4, "at most 1 − alpha"),
    (lambda alpha: 0.0, "first beta above 0"),
    (lambda alpha: -0.1, "at least 0"),
    (lambda alpha: math.nan, "nan"),
    (lambda alpha: None, "must return a number"),
    (_raising, "no curve"),
]


@pytest.mark.parametrize(("function", "said"), UNFIT)
def test_a_function_that_is_no_trade_off_curve_is_refused(function: Any, said: str) -> None:
    with pytest.raises(AuditorError, match=said) as caught:
        Tradeoff.from_function(function, "curves.py:mine")
    assert "curves.py:mine" in str(caught.value) or "tradeoff" in str(caught.value)


POINTS = [[0, 1], [0.25, 0.25], [1, 0]]
FILES = {
    "plain.csv": "0,1\n0.25,0.25\n1,0\n",
    "heading.csv": "alpha,beta\n0,1\n\n0.25,0.25\n1,0\n",
    "list.json": json.dumps(POINTS),
    "claim.json": json.dumps({"tradeoff": POINTS}),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_holds_the_points(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(FILES[name])
    assert Tradeoff.from_file(tmp_path / name) == Tradeoff(POINTS)
    assert Tradeoff.from_file(str(tmp_path / name), symmetric=False) == Tradeoff(POINTS, symmetric=False)


SPOILT = [
    ("curve.txt", "0,1", "must end in .csv or .json"),
    ("missing.csv", None, "no file"),
    ("bad.csv", "0,1\n0.25,x\n1,0\n", "line 2"),
    ("three.csv", "0,1\n0.25,0.25,1\n1,0\n", "line 2"),
    ("empty.csv", "", "0 points"),
    ("bad.json", "[[0, 1]", "not JSON"),
    ("number.json", "3", "list of points"),
    ("concave.csv", "0,1\n0.5,0.6\n1,0\n", "at most 1 − alpha"),
]


@pytest.mark.parametrize(("name", "text", "said"), SPOILT)
def test_a_spoilt_file_is_named_with_its_fault(tmp_path: Path, name: str, text: str | None, said: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(InvalidInputError, match=said) as caught:
        Tradeoff.from_file(tmp_path / name)
    assert name in str(caught.value)


def test_pure_privacy_and_its_curve_differ_in_kind() -> None:
    assert not PureDP(1.0).implies(approximate(1.0, 0.0))
    assert not approximate(1.0, 0.0).implies(PureDP(1.0))
