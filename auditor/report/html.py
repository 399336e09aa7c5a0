"""report.html: one file that needs no other file, for readers who did not run the audits.

The templates next to this module make the layout. This module makes the words that depend on the audit.
"""

import functools
import math
import re
import zlib
from collections.abc import Iterator, Sequence
from importlib.resources import files

import jinja2
from markupsafe import Markup

from auditor.accountants.outcome import AccountantResult
from auditor.claims import Claim, DivergenceClaim, PrivacyClaim, Probability, QueryClaim
from auditor.defaults import BITS
from auditor.errors import false_alarms, how_many, visible
from auditor.events.histogram import Histogram
from auditor.events.observed import CalculatedEvent, ObservedCanaries, counted_events
from auditor.neighbours.pair import Pair, Relation, pair_words
from auditor.report.accountant_words import (
    ACCOUNTANT_COLUMNS,
    NOT_SAMPLED,
    accountant_columns,
    accountant_facts,
    accountant_finding,
)
from auditor.report.compare import in_all
from auditor.report.pair_table import DIFFERS, any_table
from auditor.report.phrases import (
    COLUMNS,
    accepted_words,
    bound_words,
    canary_words,
    code_parts,
    confidence_words,
    ended,
    expected_words,
    in_columns,
    is_proved,
    number,
    outputs_part,
    planted_words,
    proof_words,
    reach_words,
    relation_words,
    run_headline,
    smallest_proved,
    spent_words,
    urgent_first,
)
from auditor.report.plots import bound_plot, can_draw, growth_plot, histogram_plot, profile_plot, tradeoff_plot
from auditor.results.result import AuditResult, Further, RunResult, Smallest
from auditor.verdict import Verdict, refuting_side

# From this number of audits on, a list of all audits appears beside the cards if there is room.
MANY = 6


def to_html(result: RunResult) -> str:
    """Return the whole report of a run as a page."""
    named = [(audit, f"audit-{place}") for place, audit in enumerate(urgent_first(result.audits), start=1)]
    accountants = [(one, f"accountant-{place}") for place, one in enumerate(urgent_first(result.accountants), start=1)]
    return environment().get_template("page").render(result=result, named=named, accountants=accountants)


def to_cards(audits: Sequence[AuditResult]) -> str:
    """Return audits as a piece of HTML that can stand in another page, such as a notebook."""
    # A page may hold cards of several runs. So the names of plots must differ between all cards.
    names = [f"audit-{zlib.crc32(repr((a.name, a.claim, a.bound, a.seed)).encode()):x}" for a in audits]
    return environment().get_template("cards").render(named=list(zip(audits, names, strict=True)))


@functools.cache
def environment() -> jinja2.Environment:
    """Return the environment that reads the templates. It makes all text visible and escapes it, except Markup."""
    made = jinja2.Environment(
        # Remove the line breaks and indents, which only help the reader of a template.
        loader=jinja2.FunctionLoader(
            lambda name: "".join(line.strip() for line in _file(f"{name}.html.jinja").splitlines())
        ),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: value if isinstance(value, Markup) else visible(str(value)),
    )
    words = (
        accepted_words,
        counted_events,
        ended,
        expected_words,
        false_alarms,
        in_all,
        outputs_part,
        planted_words,
        proof_words,
        reach_words,
        run_headline,
    )
    parts = (
        facts,
        facts_of_smallest,
        figures,
        in_columns,
        message,
        not_tried,
        pair_or_data_set,
        share,
        style,
        tone,
        tried,
    )
    accountants = (accountant_columns, accountant_facts, accountant_finding)
    made.globals |= {function.__name__: function for function in (*words, *parts, *accountants, any_table)}
    made.globals |= {"ACCOUNTANT_COLUMNS": (*ACCOUNTANT_COLUMNS, "verdict"), "NOT_SAMPLED": NOT_SAMPLED}
    made.globals |= {"COLUMNS": (*COLUMNS, "verdict"), "MANY": MANY, "DIFFERS": DIFFERS, "can_draw": can_draw}
    return made


def _file(name: str) -> str:
    return files("auditor.report").joinpath(name).read_text(encoding="utf-8")


def message(text: str) -> Markup:
    """Return a message of the auditor. What stands between backticks is code."""
    shapes = {True: Markup("<code>{}</code>"), False: Markup("{}")}
    return Markup("").join(shapes[is_code].format(visible(part)) for part, is_code in code_parts(text))


def style(*names: str) -> Markup:
    """Return style sheets joined into one text."""
    return Markup("".join(map(_file, names)))


def tone(shown: AuditResult | AccountantResult | RunResult) -> str:
    """Return the classes that give a verdict its colour."""
    verdict = Verdict.NO_VIOLATION_FOUND if shown.verdict is Verdict.MEASURED else shown.verdict
    return verdict if shown.passed else f"{verdict} unexpected"


def facts(audit: AuditResult) -> list[tuple[str, str]]:
    """Return the facts about an audit, by name."""
    rows = [("Claim", str(audit.claim)), ("Proved", bound_words(audit))]
    if audit.bound is not None:
        if audit.p_value is not None:
            rows.append(("Confidence", f"{confidence_words(audit.bound.confidence)}, by {audit.bound.method}"))
        if isinstance(audit.event, CalculatedEvent):
            rows.append(("Method", audit.bound.method))
        also = audit.bound.also.items()
        rows += [(name.replace("delta at epsilon", "δ at ε ="), f"≥ {value:.3g}") for name, value in also]
    if (proof := proof_words(audit)) is not None:
        rows.append(("Proof", proof))
    if audit.exact is not None:
        rows.append(("Exact on this pair", number(audit.exact.value)))
    # A long name may break between its parts.
    parts = re.split(r"(?<=[.:/_])", audit.mechanism)
    rows.append(("Mechanism", Markup("").join(Markup("{}<wbr>").format(visible(part)) for part in parts)))
    if audit.pair is not None:
        unit = relation_words(audit.pair.relation)
        rows += [(pair_or_data_set(audit.pair), pair_words(audit.pair)), ("Unit of privacy", unit)]
    return rows


def figures(audit: AuditResult, name: str) -> Iterator[tuple[Markup, str, str]]:
    """Yield plots, each with its title and its caption; none without matplotlib."""
    if not can_draw():
        return
    shown = audit.illustration
    for place, histogram in enumerate(shown.histograms):
        plot = histogram_plot(f"{name}-outputs-{place}", histogram)
        yield (plot, "Outputs on the two data sets", _histogram_caption(histogram))
    if audit.bound is not None:
        yield (bound_plot(f"{name}-bound", audit), "Bound against claim", _bound_caption(audit))
    if audit.bound is not None and len(shown.growth) > 1:
        exact = " The dotted line is the exact value." if audit.exact and math.isfinite(audit.exact.value) else ""
        dashed = "" if not audit.claim.is_stated else "; the dashed line is the claim"
        caption = f"The bound of each round{dashed}.{exact} All of them hold together; the largest is the result."
        yield (growth_plot(f"{name}-growth", audit), "How the bound grew", caption)
    if shown.profile and audit.claim.is_stated and isinstance(audit.claim, PrivacyClaim):
        plot = profile_plot(f"{name}-profile", audit.claim, shown.profile)
        yield (plot, "Privacy profile", _profile_caption(audit.claim))
    if shown.band and isinstance(audit.claim, PrivacyClaim):
        yield (tradeoff_plot(f"{name}-tradeoff", audit.claim, shown.band), "Trade-off curve", BAND_CAPTION)


BAND_CAPTION = (
    "The errors of tests that tell from one output which of the two data sets it came from. There are tests with errors as "
    "small as on the solid line; the claim is that no test has errors below the dashes. All thresholds of the score have errors "
    "above the thin stair, but another score may do better. Both lines hold at all thresholds together, at the stated confidence."
)


def _profile_caption(claim: PrivacyClaim) -> str:
    line = "The line is a lower bound on δ at every ε, by the same counts"
    if isinstance(claim, DivergenceClaim):
        return (
            f"{line}. The whole line holds at the stated confidence. The bound alone has that confidence too, and the verdict "
            "rests on the bound alone. A mechanism that keeps the claim lies below the dashes (Canonne, Kamath & Steinke 2020), "
            "but not every mechanism below them keeps it."
        )
    return f"{line}. The claim allows values below the dashes."


KEY = Markup('<span class="key"><i class="swatch {0}"></i>{0} data set</span> ')


def _histogram_caption(shown: Histogram) -> Markup:
    origin = "from which the audit learned where to look. None of them counts for the bound that is shown."
    feature = "" if shown.feature == "output" else f"The plot shows the {shown.feature}. "
    parts = [f"{feature}{how_many(sum(shown.outputs), 'output')} {origin}"]
    if any(mark.guess for mark in shown.marks) or any(bar.guess for bar in shown.bars):
        parts.append(" In the shaded parts, the event says which side an output came from.")
    if shown.edges:
        parts.append(" The first and the last step also hold all outputs beyond the range of the plot.")
    return KEY.format("left") + KEY.format("right") + visible("".join(parts))


def _bound_caption(audit: AuditResult) -> str:
    if isinstance(audit.claim, QueryClaim):
        return "A query is deterministic: one pair above the claim refutes it. The diamond is the largest value found."
    if not audit.claim.is_stated:
        return "The true value is proved to lie in the range of the bar."
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
    return f"{ranges} A true value at the diamond (“would be caught”) is detected with 95 % probability."


def facts_of_smallest(claim: Claim, small: Smallest | Further) -> list[tuple[str, str]]:
    """Return the facts about the smallest pair, or about a further fault, by name."""
    where = pair_or_data_set(small.pair).lower()
    return [("Event", small.event.description), (f"Proved on this {where}", smallest_proved(claim, small))]


def pair_or_data_set(pair: Pair) -> str:
    """Return the word for a pair, or for the single data set that stands for one."""
    return "Data set" if pair.relation is Relation.ALONE else "Pair"


def share(hits: int, trials: int) -> str:
    """Write how often an event happened."""
    return f"{hits:,} of {trials:,} ({100 * hits / max(1, trials):.3g} %)"


def tried(audit: AuditResult) -> list[str]:
    """Say where an audit looked, and which violations it detects."""
    lines = [f"Data sets: {audit.tried.neighbours}."]
    if isinstance(audit.event, ObservedCanaries):
        lines += [f"{words}." for words in canary_words(audit.event)]
    else:
        looked_at = "Data sets" if isinstance(audit.claim, Probability) else "Pairs"
        lines.append(f"{looked_at} looked at: {audit.tried.pairs:,}, chosen by forecast bound.")
    if isinstance(audit.claim, PrivacyClaim):
        lines += [
            f"{stage.name[:1].upper()}{stage.name[1:]}: {how_many(stage.pairs, 'look')}, {how_many(stage.outputs, 'output')}. "
            f"Detects {audit.claim.symbol} = {number(stage.caught)} with 95 % probability, if all outputs of a pair show it."
            for stage in audit.tried.stages
        ]
    if BITS in audit.tried.events:
        lines.append("Events on floating-point representations, too.")
    if audit.tried.observed:
        lines.append(f"Observed in addition to the value: {', '.join(audit.tried.observed)}.")
    lines += [f"Outputs: {spent_words(audit.outputs)}.", f"End: {audit.stop_reason}."]
    if audit.power:
        caught = [f"{number(value)} ({chance.replace('%', ' %')} probability)" for chance, value in audit.power.items()]
        on = "down" if refuting_side(audit.claim) == "upper" else "on"
        lines.append(f"On this event, the audit detects violations from these values {on}: {', '.join(caught)}.")
    elif isinstance(audit.claim, QueryClaim) and audit.bound is not None:
        lines.append("On each pair looked at, the audit would have found a violation.")
    return lines


def not_tried(audit: AuditResult) -> list[str]:
    """Say where an audit did not look."""
    if isinstance(audit.event, ObservedCanaries):
        return ["Other canaries, other data next to them, and other scores."]
    if is_proved(audit):  # for all data sets of the domain and all events, but over the reals
        return ["Floating-point representations of the outputs.", "Data sets outside the domain above."]
    lines = ["Data sets outside the domain above, and pairs that the search did not reach."]
    if BITS not in audit.tried.events and not isinstance(audit.claim, QueryClaim):
        lines.insert(0, "Floating-point representations of the outputs.")
    if not isinstance(audit.claim, QueryClaim | Probability):
        lines.append("Events other than the one chosen. The audit looked at them only to choose.")
    return lines
