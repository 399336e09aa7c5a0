"""An attempt at a refutation: pairs of the domain, one after the other, until the checker accepts a certificate."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, get_args

import numpy as np

from auditor.blackbox.mechanism import Mechanism
from auditor.claims import Claim
from auditor.interfaces import Domain
from auditor.neighbours.pair import Pair, Side, distinct, plain
from auditor.neighbours.totals import TotalsInCells
from dp_prover.certificates import certificate as written
from dp_prover.certificates.checker.check import check_certificate
from dp_prover.certificates.checker.membership import require_neighbours
from dp_prover.certificates.laws import LawWriter
from dp_prover.clock import check_time, seconds_left
from dp_prover.confirmation.confirm import RecordingGenerator, confirmed
from dp_prover.confirmation.directed import confirm_each
from dp_prover.domains.data_sets import form_of, without_form, written_data
from dp_prover.domains.domains_as_data import listing_of, moved, some_pairs, vectors_of
from dp_prover.errors import NotProvedError
from dp_prover.interfaces import Names, Trace
from dp_prover.language.trace import numbers, trace
from dp_prover.numbers.targets import CLAIMS
from dp_prover.proof import Refutation
from dp_prover.refuting.events import Proposal, proposed

MOST_PAIRS = 24
WRONG = (ValueError, LookupError, TypeError, ArithmeticError, AttributeError)


@dataclass(frozen=True, slots=True)
class Traced:
    """A pair of data sets, as the mechanism receives them, with the law of the output on each."""

    names: Names
    data: list[Any]
    laws: list[Any]


Found = tuple[Refutation, Mapping[str, Any]]


def refuted(mechanism: Mechanism, claim: Claim, domain: Domain, first: Pair | None = None) -> Found | None:
    """Return a refutation of a claim with its certificate, which the checker has accepted; None if none is found.

    ``first`` is the pair that is tried first.
    """
    if not isinstance(claim, CLAIMS) or not mechanism.takes_rng or {"raise", "call"} & set(np.geterr().values()):
        return None
    try:
        for pair in _pairs(domain, first):
            found = _on(mechanism, claim, domain, pair)
            if found is not None:
                return found
            if seconds_left() < 0:
                break
    except NotProvedError:
        pass
    return None


def _pairs(domain: Domain, first: Pair | None) -> Iterator[Pair]:
    corners = domain.corners()
    yield from distinct([first, *corners[:4], *_far_apart(domain), *corners[4:], *some_pairs(domain)], MOST_PAIRS)


def _far_apart(domain: Domain) -> list[Pair | None]:
    """Return pairs of vectors of which one number is far from the others, and moves towards them as they move towards it."""
    vectors = vectors_of(domain)
    if vectors is None or not isinstance(domain, TotalsInCells) or domain.cells == 1:
        return []
    [(kind, reach)] = vectors.relation.items()
    low, high, step = (
        int(end) if vectors.integer else float(end) for end in (vectors.low[0], vectors.high[0], Fraction(reach))
    )
    found = []
    for near, far, sign in ((low, high, 1), (high, low, -1)):
        data = [near, *[far] * (domain.cells - 1)]
        by = [sign * step, *[-sign * step if kind == "linf" else 0 * step] * (domain.cells - 1)]
        found += [moved(domain, data, by), moved(domain, data[::-1], by[::-1])]
    return found


def traced_pair(mechanism: Mechanism, pair: Pair) -> Traced:
    """Return the laws of the output on both data sets of a pair. Raises NotProvedError if the mechanism is not modelled."""
    names = Names()
    data = [written_data(pair.dataset(side)) for side in get_args(Side)]
    traces = [_traced(mechanism, pair.dataset(side), pair.dataset(side), names) for side in get_args(Side)]
    return Traced(names, data, [json.loads(json.dumps(LawWriter(each).trace())) for each in traces])


def _traced(mechanism: Mechanism, dataset: Any, real: Any, names: Names) -> Trace:
    made = numbers(dataset)
    traced = trace(mechanism, made, names)
    place = confirmed(mechanism, real, made, {}, traced, RecordingGenerator(len(names.laws)))
    confirm_each(mechanism, made, traced, lambda _: real, False, set() if place is None else {place})
    return traced


def _on(mechanism: Mechanism, claim: Claim, domain: Domain, pair: Pair) -> Found | None:
    """Return a refutation on one pair, in one of the two directions."""
    traced = traced_pair(mechanism, pair)
    if (
        len({form_of(data) for data in traced.data}) > 1
    ):  # neighbours that arrive in different forms are refuted by outputs
        return None
    noise = written.noise(traced.names)
    for turned in (False, True):
        way = slice(None, None, -1) if turned else slice(None)
        for proposal in proposed(claim, traced.laws[way], noise):
            certificate = _certificate(mechanism, claim, domain, traced, noise, proposal, way)
            check_time()
            try:
                check_certificate(certificate, check_time)
            except WRONG:
                continue
            shown = Pair(pair.right, pair.left, pair.relation, pair.form) if turned else pair
            return Refutation(shown, proposal.bound, proposal.words, proposal.chances), certificate
    return None


def _certificate(
    mechanism: Mechanism,
    claim: Claim,
    domain: Domain,
    traced: Traced,
    noise: Any,
    proposal: Proposal,
    way: slice,
) -> Mapping[str, Any]:
    head = {
        "rule": "calculation",
        "mechanism": mechanism.name,
        "parameters": plain(dict(mechanism.parameters)),
        "functions": dict(sorted(traced.names.read.items())),
        "claim": claim.to_dict(),
        "bound": "infinite" if proposal.bound is None else str(proposal.bound),
    }
    content = {
        "domain": _domain_of(domain, traced.data),
        "data": traced.data[way],
        "noise": noise,
        "traces": traced.laws[way],
        "event": proposal.event,
    }
    return written.signed(json.loads(json.dumps({**head, **content})))


def _domain_of(domain: Domain, data: list[Any]) -> dict[str, Any]:
    """Return the domain as data; the pair itself if the domain's description does not show that the pair is in it."""
    forms = {"forms": sorted(set(map(form_of, data)))}
    vectors = vectors_of(domain)
    try:
        described = dict(listing_of(domain).data if vectors is None else vectors.data()) | forms
        require_neighbours(json.loads(json.dumps(described)), json.loads(json.dumps(data)))
    except (NotProvedError, *WRONG):
        return {"pairs": [[without_form(each) for each in data]]} | forms
    return described
