"""report.html: one self-contained, well-formed file that shows any text as text."""

import dataclasses
import html
import itertools
import math
import re
from collections import Counter
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from every_kind import cards, every_kind
from hypothesis import given
from hypothesis import strategies as st
from made_results import changed as with_changes
from markupsafe import Markup

from auditor.bounds.conversions import implied_delta
from auditor.claims import (
    ApproximateDP,
    GaussianDP,
    Monotone,
    PrivacyProfile,
    PureDP,
    RenyiDP,
    Sensitivity,
    ZeroConcentratedDP,
)
from auditor.errors import InvalidInputError, visible
from auditor.events.histogram import Bar, Histogram, Mark
from auditor.report.html import environment, to_html
from auditor.report.plots import _reach, bound_plot, histogram_plot, profile_plot
from auditor.results.result import AuditResult, Illustration, RunResult
from mechanisms.exact.known_continuous import gaussian_delta

VOID = {"meta", "wbr"}


class Page(HTMLParser):
    """Read a page: every element closed in order, with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        assert len(dict(attributes)) == len(attributes), "an attribute stands twice"
        self.elements.append((name, dict(attributes)))
        if name not in VOID:
            self.open.append(name)

    def handle_startendtag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((name, dict(attributes)))

    def handle_endtag(self, name: str) -> None:
        assert self.open.pop() == name

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for element, attributes in self.elements if element == name]


@pytest.fixture(scope="module")
def text() -> str:
    return to_html(every_kind())


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def problems(text: str) -> list[str]:
    """Say what keeps a page from standing alone."""
    page, faults = Page(text), []
    names = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    faults += [f"{name} stands {times} times" for name, times in Counter(names).items() if times > 1]
    links = [a.get("href") or a.get("xlink:href") for _, a in page.elements if "href" in a or "xlink:href" in a]
    links += re.findall(r"url\(([^)]*)\)", text)
    faults += [
        f"{link} leads outside, or nowhere" for link in links if link is None or link.removeprefix("#") not in names
    ]
    faults += [f"{name} is loaded or run" for name in ("script", "img", "link", "iframe", "object") if page.all(name)]
    faults += [f"{k} is run" for _, a in page.elements for k in a if k.startswith("on") or k in {"src", "srcset"}]
    addresses = set(re.findall(r"\w+://[^\s\"'<]*", text))
    faults += [
        f"{address} is an address"
        for address in addresses - {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    ]
    return faults


def test_a_page_stands_alone(text: str) -> None:
    assert problems(text) == []
    assert "http://www.w3.org/2000/svg" in text, "else this test would not have seen a plot"


def test_every_plot_has_a_title_and_a_description(page: Page, text: str) -> None:
    plots = page.all("svg")
    assert len(plots) >= 20
    for plot in plots:
        assert plot["role"] == "img"
        [title, description] = str(plot["aria-labelledby"]).split()
        for name, part in ((title, "title"), (description, "desc")):
            match = re.search(rf'<{part} id="{name}">([^<]+)</{part}>', text)
            assert match is not None
            assert len(match[1]) > 10


def test_every_audit_has_a_card_and_a_row_that_leads_to_it(page: Page) -> None:
    cards = [section["id"] for section in page.all("section")]
    assert len(cards) == len(every_kind().audits)
    assert [link["href"] for link in page.all("a")][: len(cards)] == [f"#{card}" for card in cards]


def test_a_page_tells_what_a_reviewer_asks(page: Page) -> None:
    shown = " ".join(page.texts)
    for part in (
        "claims violated: “broken”",
        "a false alarm in at most 1 of 100 runs",
        "is not a proof of privacy",
        "Unit of privacy",
        "Not tried",
        "Floating-point representations",
        "the audit detects violations from these values",
        "The same seed draws the same outputs again",
        "auditor.audit(module:broken, PureDP(epsilon=0.3)",
    ):
        assert part in shown, part


def test_a_weak_pass_is_called_weak_in_the_table_and_on_its_card() -> None:
    run = every_kind()
    sound = next(audit for audit in run.audits if audit.verdict == "no_violation_found" and not audit.weak)
    weak = with_changes(sound, warnings=("weak: only one pair was looked at",))
    shown = "no violation found (weak)</span>"
    assert [to_html(dataclasses.replace(run, audits=[one])).count(shown) for one in (sound, weak)] == [0, 2]


def test_counts_are_those_of_events_only() -> None:
    shown = {name: "<summary>Counts</summary>" in card for name, card in cards().items()}
    without = {"concentrated", "curve", "rényi", "query", "canaries", "canaries apart", "failing"}
    assert shown == {name: name not in without for name in shown}


# --- Hostile text ---


@given(st.text(st.characters(), max_size=20))
def test_markup_reads_back_as_the_text_it_was_made_of(text: str) -> None:
    page = Page(environment().from_string('<p title="{{ text }}">{{ text }}</p>').render(text=text))
    assert "".join(page.texts) == visible(text)
    assert page.elements == [("p", {"title": visible(text)})]


def test_only_markup_is_not_escaped() -> None:
    shown = environment().from_string("{{ text }}{{ markup }}")
    assert shown.render(text="<b>", markup=Markup("<b>&lt;</b>")) == "&lt;b&gt;<b>&lt;</b>"
    assert html.unescape(shown.render(text="<>&\"'", markup="")) == "<>&\"'"


# --- Plots ---

SHAPES = {
    "one value": Histogram("output", (10, 0), bars=(Bar("0", 10, 0),)),
    "nothing": Histogram("output", (0, 0)),
    "one edge": Histogram("output", (5, 5), (0.0,), (5, 0), (0, 5)),
    "huge numbers": Histogram("output", (5, 5), (-1e308, 0.0, 1e308), (1, 2, 1, 1), (1, 2, 1, 1)),
    "close numbers": Histogram(
        "output", (3, 3), (1.0, 1.0 + 2**-52), (1, 2, 0), (1, 1, 1), (Mark("left", 1.0, math.inf),)
    ),
    "many bars": Histogram("output", (99, 99), bars=tuple(Bar("y" * 60, n, n, "right") for n in range(25))),
    "cells and bars": Histogram(
        "f", (9, 9), (0.0, 1.0), (3, 3, 3), (0, 0, 0), (Mark("right", 0.5, math.inf),), (Bar("NaN", 0, 9),)
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_any_histogram_can_be_drawn(shape: str) -> None:
    made = histogram_plot("plot", SHAPES[shape])
    assert problems(made) == []
    assert "nan" not in made.lower().replace("nan:", "").replace(">nan<", "")


# --- What a claim allows ---


@pytest.mark.parametrize(("epsilon0", "delta0"), [(1.0, 0.0), (1.0, 0.1), (0.0, 0.2), (5.0, 1e-5)])
def test_the_delta_that_a_claim_implies_is_that_of_its_worst_mechanism(epsilon0: float, delta0: float) -> None:
    """Against a randomised response that reveals the truth with probability δ₀, by its definition."""
    lie = 1 / (1 + math.exp(epsilon0))
    for epsilon in (0.0, 0.3, 1.0, 2.0, 10.0):
        truth = delta0 + (1 - delta0) * max(0.0, (1 - lie) - math.exp(epsilon) * lie)
        assert implied_delta(ApproximateDP(epsilon0, delta0), epsilon) == pytest.approx(truth, abs=1e-12)


def test_other_claims_imply_what_they_say() -> None:
    assert implied_delta(PrivacyProfile([(0.5, 0.1), (1.0, 0.01)]), 1.0) == pytest.approx(0.01)
    assert implied_delta(GaussianDP(1.0), 0.0) == pytest.approx(0.382925, abs=1e-6)
    assert implied_delta(PureDP(0.0), 0.0) == 0.0
    with pytest.raises(InvalidInputError, match="implies no δ"):
        implied_delta(Sensitivity(1.0), 0.0)


@pytest.mark.parametrize("rho", [0.005, 0.1, 0.5, 3.0])
def test_claims_on_divergences_allow_what_mechanisms_that_keep_them_have_and_little_more(rho: float) -> None:
    """The Gaussian mechanism satisfies ρ and (a, aρ) with equality; converted as in Mironov (2017), the claims allow more."""
    mu = math.sqrt(2 * rho)
    for epsilon in np.linspace(0.0, 4 * mu, 30):
        has = gaussian_delta(mu, epsilon)
        for a in (1.1, 2.0, 16.0):
            allowed = implied_delta(RenyiDP(a, a * rho), epsilon)
            assert has <= allowed <= math.exp(min(0.0, (a - 1) * (a * rho - epsilon))) + 1e-12
        allowed = implied_delta(ZeroConcentratedDP(rho), epsilon)
        assert has <= allowed <= max(5 * has, 1e-4)


@pytest.mark.parametrize("order", [1.01, 1.5, 2.0, 8.0])
def test_no_pair_of_coins_within_a_divergence_lies_above_what_it_allows(order: float) -> None:
    """These pairs come close: apart from mixtures they are the worst case."""
    from auditor.bounds.divergences import renyi_divergence

    chances = np.concatenate([[1e-6, 1e-4], np.linspace(0.001, 0.999, 80)])
    nearest = math.inf
    for q, p in itertools.combinations(chances, 2):  # for p > q, since otherwise no δ is below 0
        one, other = np.array([p, 1 - p]), np.array([q, 1 - q])
        kept = max(0.0, renyi_divergence(order, one, other), renyi_divergence(order, other, one))
        for epsilon in (0.0, 0.5, 1.0):
            has, allowed = p - math.exp(epsilon) * q, implied_delta(RenyiDP(order, kept), epsilon)
            assert has <= allowed + 1e-12
            nearest = min(nearest, allowed / has if has > 0.01 else math.inf)
    assert nearest < 1.05


def test_the_largest_divergence_allows_everything() -> None:
    assert implied_delta(RenyiDP(2.0, 500.0), 1.0) == 1.0 == implied_delta(ZeroConcentratedDP(500.0), 1.0)
    assert implied_delta(ZeroConcentratedDP(0.0), 0.0) == 0.0


# --- What every card says ---


def test_every_audit_with_an_answer_says_what_violation_it_would_have_caught() -> None:
    for audit in every_kind().audits:
        card = cards()[audit.name]
        would = "the audit detects violations" in card or "the audit would have found a violation" in card
        assert would == (audit.bound is not None), audit.name


def test_every_audit_of_outputs_shows_them() -> None:
    without = {"probability", "query", "canaries", "canaries apart", "failing"}
    for name, card in cards().items():
        assert ("Outputs on the two data sets" in card) == (name not in without), name


def test_every_audit_of_privacy_has_a_profile() -> None:
    for audit in every_kind().audits:
        card, told = cards()[audit.name], audit.claim.quantity in {"epsilon", "mu", "rho", "excess"}
        if audit.bound is None or not told:
            assert "Privacy profile" not in card
        else:
            assert "δ over ε" in card


# --- Notebooks ---


def test_a_result_shows_itself_in_a_notebook_as_on_the_page(text: str) -> None:
    for name, card in cards().items():
        assert problems(card) == []
        assert name in "".join(Page(card).texts)
    figures = re.findall(r"<figcaption>.*?</figcaption>", next(iter(cards().values())))
    assert figures
    assert all(figure in text for figure in figures)


def test_a_run_is_a_frame_with_a_row_for_each_audit() -> None:
    pytest.importorskip("pandas")
    frame = every_kind().to_frame()
    assert list(frame.index) == [audit.name for audit in every_kind().audits]
    assert frame.loc["broken", "verdict"] == "violation"
    assert frame.loc["broken", "bound"] > frame.loc["broken", "claimed"] == 0.3
    assert frame["bound"].isna().sum() == 1, "that of the audit without an answer"
    audit: AuditResult = every_kind().audits[0]
    assert audit.to_frame().equals(frame.iloc[:1])


def test_without_pandas_a_frame_is_an_error_that_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InvalidInputError, match="pip install pandas"):
        every_kind().to_frame()


def changed(name: str, **changes: Any) -> str:
    [audit] = [audit for audit in every_kind().audits if audit.name == name]
    return to_html(RunResult("one", 0.999, [with_changes(audit, **changes)], 1.0))


def test_a_plot_follows_the_colours_of_the_page(text: str) -> None:
    assert "var(--left)" in text
    assert re.findall(r"(?:fill|stroke): #[0-9a-f]+", text) == []


def test_a_users_own_style_of_plots_changes_nothing(text: str) -> None:
    import matplotlib as mpl

    with mpl.rc_context({"axes.facecolor": "red", "font.size": 30, "text.usetex": True, "svg.fonttype": "path"}):
        assert to_html(every_kind()) == text
        assert mpl.rcParams["font.size"] == 30


def test_infinite_bounds_and_values_can_be_drawn() -> None:
    [audit] = [audit for audit in every_kind().audits if audit.name == "broken"]
    assert audit.bound is not None
    bound = dataclasses.replace(audit.bound, value=math.inf)
    growth = Illustration((), [(10, 1.0), (20, math.inf)], [(0.0, 0.5), (1.0, 0.5)])
    assert "∞" in changed("broken", bound=bound, illustration=growth, power={"80%": math.inf, "95%": math.inf})


def test_the_curve_of_bounds_runs_to_the_right_whichever_round_had_fewer_outputs() -> None:
    growth = [(400, 0.1), (5429, 0.3), (1474, 0.2)]
    made = changed("sound", illustration=Illustration((), growth))
    assert "From 0.1 after 400 outputs to 0.3 after 5,429" in made
    assert made == changed("sound", illustration=Illustration((), sorted(growth)))


def test_outputs_over_many_powers_of_ten_are_told_in_plain_numbers() -> None:
    growth = [(6, 0.0), (1_000, 0.2), (20_000, 0.3), (3_000_000, 0.4)]
    made = changed("sound", illustration=Illustration((), growth))
    assert {"10", "1 k", "100 k", "1 M"} <= {text.strip() for text in Page(made).texts}
    assert "mathdefault" not in made


def test_what_a_query_does_is_one_value_and_what_it_may_not_do_at_all_has_room() -> None:
    [audit] = [audit for audit in every_kind().audits if audit.name == "query"]
    assert audit.bound is not None
    sound = with_changes(
        audit, claim=Monotone(), bound=dataclasses.replace(audit.bound, quantity="decrease", value=0.0)
    )
    plot = bound_plot("plot", sound)
    assert "claimed: at most 0; largest found: 0." in plot
    assert "proved" not in plot
    assert _reach(sound, [0.0])[0] < 0, "there is a bar of what is allowed"


@pytest.mark.parametrize(("delta", "is_log"), [(0.001, True), (0.2, False)])
def test_a_profile_of_rare_outputs_is_on_a_logarithmic_scale(delta: float, is_log: bool) -> None:
    drawn = profile_plot("some", PureDP(1.0), [(0.0, delta), (1.0, delta), (2.0, delta / 2)])
    assert (">0.001<" in drawn and ">0.0001<" in drawn) == is_log
    assert "mathdefault" not in drawn
    assert f"At ε = 1, the distance is largest: δ is at least {delta:g} and the claim allows 0." in drawn


def test_the_style_of_a_card_touches_nothing_else_on_the_page() -> None:
    style = re.search(r"<style>(.*?)</style>", next(iter(cards().values())), re.DOTALL)
    assert style is not None
    selectors = [selector.strip() for selector in re.findall(r"([^{};]+)\{", style[1])]
    assert len(selectors) > 30
    assert [selector for selector in selectors if not selector.startswith((".auditor", "@media"))] == []
