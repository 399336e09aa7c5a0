"""report.html: one file that needs no other file, for readers who did not run the audits."""

import math
import re
import zlib
from collections.abc import Iterator, Sequence
from importlib.resources import files

from auditor.claims import DivergenceClaim, PrivacyClaim, Probability, QueryClaim
from auditor.events.histogram import Histogram
from auditor.events.observed import ObservedBets, counted_events
from auditor.events.selection import BITS
from auditor.neighbours.pair import Pair, Relation, pair_words
from auditor.report.markup import Markup, joined, tag
from auditor.report.phrases import (
    COLUMNS,
    bound_words,
    confidence_words,
    finding,
    headline,
    in_columns,
    number,
    relation_words,
    smallest_proved,
    spent_words,
    verdict_words,
)
from auditor.report.plots import bound_plot, growth_plot, histogram_plot, profile_plot
from auditor.results.result import AuditResult, RunResult
from auditor.verdict import Verdict, refuting_side

# The page may load nothing and run nothing, even if some text in it were read as HTML.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
# From this number of audits on, a list of them stands beside the cards where there is room.
MANY = 6


def to_html(result: RunResult) -> str:
    """Return the whole report of a run as a page."""
    named = [(audit, f"audit-{place}") for place, audit in enumerate(result.audits, start=1)]
    main = tag(
        "main",
        _title(result),
        _table(named),
        _how_to_read(result),
        *(_card(audit, name, link_back=True) for audit, name in named),
        tag("footer", f"auditor {result.auditor} · report.json beside this file holds all counts"),
    )
    body = tag("body", main, _contents(named) if len(named) >= MANY else "", class_="auditor")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{result.name}: privacy audit"),
        _style("card.css", "page.css"),
    )
    return "<!DOCTYPE html>\n" + tag("html", head, body, lang="en") + "\n"


def to_cards(audits: Sequence[AuditResult]) -> str:
    """Return audits as a piece of HTML that can stand in another page, such as a notebook."""
    # A page may hold cards of several runs. Each card must find its own plots.
    names = [f"audit-{zlib.crc32(repr((a.name, a.claim, a.bound, a.seed)).encode()):x}" for a in audits]
    return tag("div", _style("card.css"), *map(_card, audits, names), class_="auditor")


def _style(*names: str) -> Markup:
    return tag("style", *(Markup(files("auditor.report").joinpath(name).read_text(encoding="utf-8")) for name in names))


def _title(result: RunResult) -> Markup:
    kicker, name = tag("p", "Privacy audit", class_="kicker"), tag("h1", result.name)
    return tag("header", kicker, name, tag("p", headline(result), class_=f"headline {_tone(result)}"), id="top")


def _tone(shown: AuditResult | RunResult) -> str:
    """Return the classes that give a verdict its colour."""
    return shown.verdict if shown.passed else f"{shown.verdict} unexpected"


def _table(named: Sequence[tuple[AuditResult, str]]) -> Markup:
    rows = []
    for audit, name in named:
        cells = {**in_columns(audit), "verdict": _badge(audit)}
        link = tag("th", tag("a", cells.pop("audit"), href=f"#{name}"), scope="row")
        rows.append(tag("tr", link, *(tag("td", cell or "–", data_label=term) for term, cell in cells.items())))
    return tag("table", tag("caption", "All audits"), _head(*COLUMNS), tag("tbody", *rows), class_="summary")


def _head(*headings: str) -> Markup:
    return tag("thead", tag("tr", *(tag("th", heading, scope="col") for heading in headings)))


def _badge(audit: AuditResult) -> Markup:
    badge = tag("span", verdict_words(audit.verdict), class_=f"badge {_tone(audit)}")
    note = "as expected" if audit.passed else f"expected: {verdict_words(audit.expected)}"
    return joined(badge, " ", tag("small", note))


def _contents(named: Sequence[tuple[AuditResult, str]]) -> Markup:
    items = [tag("li", tag("a", audit.name, href=f"#{name}"), class_=_tone(audit)) for audit, name in named]
    return tag("nav", tag("a", "Summary", href="#top"), tag("ol", *items), aria_label="Audits")


def _how_to_read(result: RunResult) -> Markup:
    allowed = f"{100 * (1 - result.confidence):.3g} %"
    said = {
        "Violation": "the outputs prove that the claim is broken on the pair shown. If every mechanism here kept its claim, the "
        f"chance that any of these audits said so would be at most {allowed}.",
        "No violation found": "is not a proof of privacy. Each audit says which violations it would have caught, where it looked, "
        "and where not.",
        "Proved": "is a lower limit of the privacy loss, which the outputs prove at the stated confidence.",
        "Exact": "is the true loss on the pair found, where it can be computed.",
    }
    items = [joined(tag("dt", term), tag("dd", text)) for term, text in said.items()]
    return tag("details", tag("summary", "How to read this report"), tag("dl", *items), class_="guide")


# --- a card ---


def _card(audit: AuditResult, name: str, link_back: bool = False) -> Markup:
    back = tag("a", "↑ all audits", href="#top", class_="back") if link_back else Markup()
    parts = [
        tag("header", tag("h2", audit.name), _badge(audit), back),
        tag("p", finding(audit), class_="finding"),
        *(tag("p", tag("strong", "Warning: "), f"{warning}.", class_="warning") for warning in audit.warnings),
        _facts(audit),
        tag("div", *_figures(audit, name), class_="figures"),
        _smallest(audit),
        _counts(audit),
        _tried(audit),
        _again(audit),
    ]
    return tag("section", *parts, class_=f"card {_tone(audit)}", id=name)


def _facts(audit: AuditResult) -> Markup:
    facts = [("Claim", str(audit.claim)), ("Proved", bound_words(audit))]
    if audit.bound is not None:
        if audit.p_value is not None:
            facts.append(("Confidence", f"{confidence_words(audit.bound.confidence)}, by {audit.bound.method}"))
        also = audit.bound.also.items()
        facts += [(name.replace("delta at epsilon", "δ at ε ="), f"≥ {value:.3g}") for name, value in also]
    if audit.exact is not None:
        facts.append(("Exact on this pair", number(audit.exact.value)))
    facts.append(("Mechanism", _breakable(audit.mechanism)))
    if audit.pair is not None:
        facts += [(_of(audit.pair), pair_words(audit.pair)), ("Unit of privacy", relation_words(audit.pair.relation))]
    return _list(facts)


def _breakable(name: str) -> Markup:
    """Let a long name break where its parts meet."""
    parts = re.split(r"(?<=[.:/_])", name)
    return joined(*(piece for part in parts for piece in (part, tag("wbr"))))


def _list(facts: Sequence[tuple[str, str]]) -> Markup:
    return tag("dl", *(tag("div", tag("dt", term), tag("dd", text)) for term, text in facts), class_="facts")


def _figures(audit: AuditResult, name: str) -> Iterator[Markup]:
    shown, is_sequential = audit.illustration, isinstance(audit.event, ObservedBets)
    for place, histogram in enumerate(shown.histograms):
        plot = histogram_plot(f"{name}-outputs-{place}", histogram)
        yield _figure(plot, "Outputs on the two data sets", _histogram_caption(histogram, is_sequential))
    if audit.bound is not None:
        yield _figure(bound_plot(f"{name}-bound", audit), "Bound against claim", _bound_caption(audit))
    if audit.bound is not None and len(shown.growth) > 1:
        looked = (
            "The audit could stop at any of these points."
            if is_sequential
            else "Only the last point is a result; the others show how it came about."
        )
        exact = " Dotted is the exact value." if audit.exact and math.isfinite(audit.exact.value) else ""
        caption = f"The bound after each part of the outputs; dashed is the claim.{exact} {looked}"
        yield _figure(growth_plot(f"{name}-growth", audit), "How the bound grew", caption)
    if shown.profile and isinstance(audit.claim, PrivacyClaim):
        plot = profile_plot(f"{name}-profile", audit.claim, shown.profile)
        yield _figure(plot, "Privacy profile", _profile_caption(audit.claim))
    elif is_sequential:
        yield _figure(Markup(), "Privacy profile", NO_PROFILE)


# The caption of sequential audits.
NO_PROFILE = (
    "None. A sequential audit bets against the claim as it stands, to stop as soon as it is sure. Its bets prove nothing about δ "
    "at other values of ε. An audit with method: fixed does."
)


def _profile_caption(claim: PrivacyClaim) -> str:
    line = "The line is a lower bound on δ at every ε, by the same counts"
    if isinstance(claim, DivergenceClaim):
        return (
            f"{line}. The whole line holds at the stated confidence. The bound has that confidence for itself, and the "
            "verdict rests on the bound alone. A mechanism that keeps the claim lies below the dashes (Canonne, Kamath & Steinke "
            "2020), but not every mechanism below them keeps it."
        )
    return f"{line}. The claim allows what lies below the dashes."


def _histogram_caption(shown: Histogram, is_sequential: bool) -> Markup:
    says = "the last bets say" if is_sequential else "the event says"
    origin = (
        "of those that were bet on. Each bet used only what was learned from earlier outputs."
        if is_sequential
        else "of the selection, from which the audit learned where to look. None of them counts for the bound."
    )
    feature = "" if shown.feature == "output" else f"Shown is the {shown.feature}. "
    parts = [f"{feature}{sum(shown.outputs):,} outputs {origin}"]
    if any(mark.guess for mark in shown.marks) or any(bar.guess for bar in shown.bars):
        parts.append(f" Shaded is where {says} which side an output came from.")
    if shown.edges:
        parts.append(" The outermost steps hold everything beyond.")
    swatches = [(tag("i", class_=f"swatch {side}"), f"{side} data set") for side in ("left", "right")]
    return joined(*(part for swatch in swatches for part in (tag("span", *swatch, class_="key"), " ")), *parts)


def _figure(plot: Markup, title: str, caption: str) -> Markup:
    return tag("figure", tag("figcaption", tag("strong", title)), plot, tag("figcaption", caption))


def _bound_caption(audit: AuditResult) -> str:
    if isinstance(audit.claim, QueryClaim):
        return "A query is deterministic: one pair beyond what is claimed refutes it. The diamond is the largest value found."
    alone = isinstance(audit.claim, Probability)
    ranges = (
        "The claim allows the first bar; the true value on this data set is proved to lie in the second."
        if alone
        else "The claim allows values up to the dashed line; the true value is proved to lie in the lower bar's range."
    )
    if audit.verdict is Verdict.VIOLATION:
        return ranges if alone else f"{ranges} They do not meet: the claim is broken."
    if (audit.power or {}).get("95%", math.inf) == math.inf:
        return ranges
    return f"{ranges} A true value at the diamond “would be caught” is detected with 95 % chance."


def _smallest(audit: AuditResult) -> Markup:
    if audit.smallest is None:
        return Markup()
    small, what = audit.smallest, _of(audit.smallest.pair)
    facts = [(what, pair_words(small.pair)), ("Event", small.event.description)]
    facts.append(("Proved", smallest_proved(audit.claim, small)))
    return tag("details", tag("summary", f"The smallest {what.lower()} that still breaks the claim"), _list(facts))


def _of(pair: Pair) -> str:
    return "Data set" if pair.relation is Relation.ALONE else "Pair"


def _counts(audit: AuditResult) -> Markup:
    """Return how often each event happened, side by side; nothing where no single event was counted."""
    counted = counted_events(audit.event)
    if not counted:
        return Markup()
    rows = [
        tag("tr", tag("th", event, scope="row"), *(tag("td", _share(*seen)) for seen in counts))
        for event, counts in counted
    ]
    headings = ("left", "right") if len(counted[0][1]) == 2 else ("hits of trials",)
    table = tag("table", _head("event", *headings), tag("tbody", *rows))
    return tag("details", tag("summary", "Counts"), tag("div", table, class_="scroll"))


def _share(hits: int, trials: int) -> str:
    return f"{hits:,} of {trials:,} ({100 * hits / max(1, trials):.3g} %)"


def _tried(audit: AuditResult) -> Markup:
    tried, not_tried = [], []
    looked_at = "Data sets" if isinstance(audit.claim, Probability) else "Pairs"
    if audit.tried is not None:
        tried.append(f"Data sets: {audit.tried.neighbours}.")
        tried.append(f"{looked_at} looked at: {audit.tried.pairs:,}, chosen by forecast bound.")
        if (fitted := audit.tried.search) is not None:
            fits = f"Outputs that fitted into the seconds of the search: {fitted:,}"
            tried.append(f"{fits}; search: {{outputs: {fitted}}} repeats it.")
        bits = BITS in audit.tried.events
        if bits:
            tried.append("Events on floating-point representations, too.")
        elif not isinstance(audit.claim, QueryClaim):
            not_tried.append("Floating-point representations of the outputs.")
    tried += [f"Outputs: {spent_words(audit.outputs)}.", f"End: {audit.stop_reason}."]
    not_tried.append("Data sets outside those named, and pairs of them not reached by the search.")
    if not isinstance(audit.claim, QueryClaim | Probability):
        not_tried.append("Events other than the one chosen, beyond what was seen of them while choosing.")
    if audit.power:
        caught = [f"{number(value)} ({chance.replace('%', ' %')} chance)" for chance, value in audit.power.items()]
        on = "down" if refuting_side(audit.claim) == "upper" else "on"
        tried.append(f"On this event, violations from these values {on} would have been caught: {', '.join(caught)}.")
    elif isinstance(audit.claim, QueryClaim) and audit.bound is not None:
        tried.append("On any of the pairs looked at, a violation would have been found.")
    lists = [
        joined(tag("h3", title), tag("ul", *(tag("li", item) for item in items)))
        for title, items in (("Tried", tried), ("Not tried", not_tried))
    ]
    return tag("details", tag("summary", "What was tried, and what was not"), *lists)


def _again(audit: AuditResult) -> Markup:
    same = "The same seed draws the same outputs again."
    other = "The mechanism has entropy of its own, so that another run draws other outputs."
    seeded = f"Seed {audit.seed}. {same if audit.reproducible else other}"
    command = tag("pre", tag("code", audit.reproduce)) if audit.reproduce else Markup()
    return tag("details", tag("summary", "How to reproduce it"), tag("p", seeded), command)
