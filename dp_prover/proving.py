"""An attempt at a proof: first for all data sets at once, on symbols, then data set by data set."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, get_args

import numpy as np

from auditor.blackbox.mechanism import Mechanism
from auditor.bounds.digits import format_rounded_up
from auditor.claims import ApproximateDP, Claim
from auditor.interfaces import Domain
from auditor.neighbours.pair import Pair, Side, plain
from auditor.prover import Scope
from dp_prover.certificates import certificate as written
from dp_prover.certificates.checker.check import check_certificate
from dp_prover.clock import check_time, seconds_left
from dp_prover.confirmation.confirm import RecordingGenerator, compared_numbers, confirmed
from dp_prover.confirmation.directed import confirm_each
from dp_prover.domains.data_sets import form_of, written_data
from dp_prover.domains.domains_as_data import Listing, Vectors, largest_change, listing_of, some_pairs, vectors_of
from dp_prover.errors import NotProvedError
from dp_prover.interfaces import LARGEST_INTEGER, Names, Path, Trace
from dp_prover.language.analyst import analyst_of
from dp_prover.language.trace import bounds_of, numbers, symbols, trace
from dp_prover.numbers.logarithms import log_above
from dp_prover.numbers.moves import Box, Hull
from dp_prover.numbers.targets import CLAIMS, from_epsilon, from_mu_squared, goal
from dp_prover.proof import Proof, within
from dp_prover.rules.alignment import NOTHING, Aligned, Aligner, Failure
from dp_prover.rules.explain import DATA, event_of, outputs_of, pair_inside
from dp_prover.rules.gaussian import Moved, least_shift
from dp_prover.rules.masses import OutputLaw, delta_above, join_parts, largest_ratios, law_of
from dp_prover.rules.pairing import Matched, NotMatchedError, Pairing
from dp_prover.rules.path_cells import Cell

# Runs of the mechanism: on corners and random pairs, and on numbers that its code compares with.
RANDOM, MOST_COMPARED = 12, 24


@dataclass(frozen=True, slots=True)
class Family:
    """Pairs of data sets that share one argument: the traces of both sides, and the set of their differences.

    ``sides`` are the certificate's indices of the data sets, ``part`` that of the set of differences.
    """

    left: int
    right: int
    moves: Box | Hull
    pair: Pair | None = None
    sides: tuple[int, int] = (0, 0)
    part: int = 0


@dataclass(frozen=True, slots=True)
class Subject:
    """What an attempt is about: the domain as data, and the number of listed pairs."""

    scope: Scope
    domain: Mapping[str, Any]
    listed: bool
    pairs: int | None = None


class _FailedError(Exception):
    """No rule proves the claim on these traces: the reason, and where it shows, as an event or a path."""

    def __init__(
        self,
        reason: str,
        *,
        bound: Fraction | None = None,
        family: Family | None = None,
        failure: Failure | None = None,
        event: str | None = None,
        path: Path | None = None,
    ) -> None:
        super().__init__(reason)
        self.bound, self.family, self.failure = bound, family, failure
        self.event, self.path = event if path is None else event_of(path), path


@dataclass(slots=True)
class Attempt:
    """An attempt at a proof. ``pure`` demands a proof of pure ε, whatever the claim."""

    mechanism: Mechanism
    claim: Claim
    domain: Domain
    pure: bool = False
    names: Names = field(default_factory=Names)
    _data: list[Any] = field(default_factory=list)  # the data set of each trace, as JSON; empty for symbols

    def prove(self) -> Proof:
        """Return a proof, or the reason why there is none."""
        if not isinstance(self.claim, CLAIMS):
            return self._none(f"there is no rule for claims of the kind {type(self.claim).__name__}")
        if {"raise", "call"} & set(np.geterr().values()):
            return self._none("NumPy is set to raise on NaN or infinity; leave out np.seterr")
        if not self.mechanism.takes_rng:
            return self._none("the mechanism takes no generator, so its randomness cannot be followed")
        vectors = vectors_of(self.domain)
        first: Proof | None = None
        if vectors is not None:
            first = self._tried(lambda: self._all_at_once(vectors))
            # Concrete data help where symbolic data cannot be followed, or are compared without noise.
            if first.proved or seconds_left() < 0 or (first.pair is not None and DATA not in str(first.reason)):
                return first
        second = self._tried(lambda: self._one_by_one(listing_of(self.domain)))
        if first is None or second.holds:
            return second
        both = first.reason if second.reason == first.reason else f"{first.reason}; one by one: {second.reason}"
        return replace(second if first.pair is None else first, reason=both)

    def _tried(self, attempt: Callable[[], Proof]) -> Proof:
        try:
            return attempt()
        except NotProvedError as error:
            return self._none(str(error))

    def _none(self, reason: str) -> Proof:
        return Proof(self.mechanism.name, self.claim, None, Scope.DOMAIN, reason=reason)

    # Traces ----------------------------------------------------------------------------------------------------------

    def _symbolic(self, vectors: Vectors) -> Trace:
        self.names = Names(bounds_of(vectors.low, vectors.high), largest_change(vectors.relation), vectors.integer)
        dataset = symbols(self.names.bounds, vectors.integer)
        examples = some_pairs(self.domain)
        _require_vectors(vectors, [pair.dataset(side) for pair in examples for side in get_args(Side)])
        traced = trace(self.mechanism, dataset, self.names)
        pairs = [*examples[-RANDOM // 2 :], *examples[: RANDOM // 2]]
        tried = [[float(value) for value in side] for pair in pairs for side in (pair.left, pair.right)]
        constants = sorted(self.names.compared, key=abs)
        tried += compared_numbers(constants, vectors.low, vectors.high, vectors.integer)[:MOST_COMPARED]

        def real(data: Mapping[str, float]) -> Any:
            return np.array([*data.values()]).astype(np.int64 if vectors.integer else np.float64)

        confirmed_paths = set[int]()
        for seed, values in enumerate(tried):
            check_time()
            data = {f"x{at}": value for at, value in enumerate(values)}
            place = confirmed(self.mechanism, real(data), dataset, data, traced, RecordingGenerator(seed))
            confirmed_paths |= set() if place is None else {place}
        confirm_each(self.mechanism, dataset, traced, real, vectors.integer, confirmed_paths)
        return traced

    def _numeric(self, pair: Pair, side: Side) -> Trace:
        dataset = numbers(pair.dataset(side))
        traced = trace(self.mechanism, dataset, self.names)
        real = pair.dataset(side)
        check_time()
        place = confirmed(self.mechanism, real, dataset, {}, traced, RecordingGenerator(len(self.names.laws)))
        confirm_each(self.mechanism, dataset, traced, lambda _: real, False, set() if place is None else {place})
        return traced

    # All data sets at once -------------------------------------------------------------------------------------------

    def _all_at_once(self, vectors: Vectors) -> Proof:
        traced = self._symbolic(vectors)
        _require_an_output([traced])
        sets: list[Box | Hull] = vectors.sets()
        if any(law[0] == "geometric" for law in self.names.laws.values()):
            steps = vectors.steps()
            if steps is None:
                raise NotProvedError("geometric noise requires a short list of integer differences between neighbours")
            sets = [steps]
        families = [Family(0, 0, moves, part=part) for part, moves in enumerate(sets)]
        about = Subject(Scope.DOMAIN, vectors.data(), listed=False)
        return self._from_traces([traced], lambda: families, about)

    # Pair by pair ----------------------------------------------------------------------------------------------------

    def _one_by_one(self, listing: Listing) -> Proof:
        scope = Scope.DOMAIN if listing.is_whole else Scope.PAIRS
        self.names, self._data = Names(), []
        traces: list[Trace] = []
        places: dict[str, int] = {}

        def place(pair: Pair, side: Side) -> int:
            key = _spelled(pair.dataset(side))
            if key not in places:
                traces.append(self._numeric(pair, side))
                self._data.append(written_data(pair.dataset(side)))
                places[key] = len(traces) - 1
            return places[key]

        def families() -> Iterator[Family]:
            # Traced on demand, so that the first pair that fails ends the attempt.
            for i, j, pair in listing.pairs:
                left, right = place(pair, "left"), place(pair, "right")
                yield Family(left, right, NOTHING, pair, (i, j))
                yield Family(right, left, NOTHING, pair, (j, i))

        about = Subject(scope, listing.data, listed=True, pairs=len(listing.pairs))
        next(families())
        _require_an_output(traces)
        if law_of(traces[0]) is not None and law_of(traces[-1]) is not None:
            every_family = list(families())
            laws = [law for law in map(law_of, traces) if law is not None]
            if len(laws) == len(traces):
                return self._from_laws(laws, every_family, about)
        return self._from_traces(traces, families, about)

    # Rules -----------------------------------------------------------------------------------------------------------

    def _from_traces(self, traces: Sequence[Trace], families: Callable[[], Iterable[Family]], about: Subject) -> Proof:
        if not self.pure and any(law[0] == "normal" for law in self.names.laws.values()):
            proof = self._by_gaussian(traces, families, about)
            if proof is not None:
                return proof
        delta = Fraction(self.claim.delta) if isinstance(self.claim, ApproximateDP) else Fraction(0)
        aligner = Aligner(self.names, goal(self.claim))
        pairing = Pairing(aligner, delta)
        every: list[tuple[Family, Matched]] = []
        largest, worst = Fraction(-1), None
        try:
            for family in families():
                left, right = traces[family.left], traces[family.right]
                try:
                    matched = pairing.match(left, right, family.moves, listed=family.pair is not None)
                except NotMatchedError as error:
                    event = "an output that has no counterpart" if error.path is None else None
                    raise _FailedError(
                        str(error), family=family, failure=error.failure, event=event, path=error.path
                    ) from None
                if matched.cost > largest:
                    top = max(matched.cells, key=lambda aligned: aligned.cost)
                    largest, worst = matched.cost, (family, top)
                every.append((family, matched))
        except _FailedError as failure:
            return self._failed(failure, about)
        bound = from_epsilon(self.claim, largest)
        if bound is None:
            return self._failed(
                _FailedError(f"pure ε ≤ {format_rounded_up(largest)} is proved, which does not decide this claim"),
                about,
            )
        if not within(bound, self.claim.value):
            assert worst is not None
            family, top = worst
            reason = f"the best bound is {self.claim.symbol} ≤ {format_rounded_up(bound)}"
            path = traces[family.left].paths[top.cell.left[0]]
            where = Failure(top.cell, aligner.dearest(top.cell, family.moves), top.cost)
            return self._failed(_FailedError(reason, bound=bound, family=family, failure=where, path=path), about)
        return self._signed("alignment", bound, about, self._aligned(traces, every))

    def _aligned(self, traces: Sequence[Trace], every: Sequence[tuple[Family, Matched]]) -> dict[str, Any]:
        """Return the content of a certificate."""
        sides = [written.TraceWriter(trace) for trace in traces]
        entries = []
        for family, matched in every:
            left, right = sides[family.left], sides[family.right]
            linear = written.is_linear(family.moves, matched.cells)
            cells = [left.cell(cell, right, family.moves, linear) for cell in matched.cells]
            entry = {
                "sides": list(family.sides),
                "traces": [family.left, family.right],
                "part": family.part,
                "linear": linear,
                "cells": cells,
            }
            entry["assumed"] = [left.row(condition.form, condition.relation) for condition in matched.assumed]
            entries.append(entry | {"names": dict(matched.names)})
        return {"noise": written.noise(self.names), "traces": [side.trace() for side in sides], "pairs": entries}

    def _by_gaussian(
        self,
        traces: Sequence[Trace],
        families: Callable[[], Iterable[Family]],
        about: Subject,
    ) -> Proof | None:
        largest = Fraction(0)
        entries = []
        for family in families():
            least = least_shift(traces[family.left], traces[family.right], family.moves)
            if not isinstance(least, Moved):
                return None
            largest = max(largest, least.squared)
            aligned = Aligned(Cell((0,), (0,), (), ()), least.squared, least.shifts)
            cell = {"left": [0], "right": [0], "shifts": written.shifts(aligned, family.moves, linear=False)}
            entry = {
                "sides": list(family.sides),
                "traces": [family.left, family.right],
                "part": family.part,
                "linear": False,
                "cells": [cell],
            }
            entries.append(entry | {"assumed": [], "names": {}})
        bound = from_mu_squared(self.claim, largest)
        if bound is None:
            return None
        if not within(bound, self.claim.value):
            reason = f"the best bound is {self.claim.symbol} ≤ {format_rounded_up(bound)}"
            return self._failed(_FailedError(reason, bound=bound), about)
        every_trace = [written.trace_of_gaussian(trace) for trace in traces]
        content = {"noise": written.noise(self.names), "traces": every_trace, "pairs": entries}
        return self._signed("gaussian", bound, about, content)

    def _from_laws(self, laws: Sequence[OutputLaw], families: Sequence[Family], about: Subject) -> Proof:
        if isinstance(self.claim, ApproximateDP) or len({tuple(part.places for part in law) for law in laws}) > 1:
            whole = [join_parts(law) for law in laws]
            if None in whole and not isinstance(self.claim, ApproximateDP):
                return self._failed(_FailedError("there are too many outputs to list"), about)
            laws = [(part,) for part in whole if part is not None] if None not in whole else laws
        every, worst = [], (Fraction(-1), families[0], "")
        bound: Fraction | None = None
        for family in families:
            check_time()
            ratios, output = largest_ratios(laws[family.left], laws[family.right])
            if ratios is None:
                worst = (Fraction(0), family, output)
                break
            epsilons = [log_above(ratio) for ratio in ratios]
            every.append(epsilons)
            if sum(epsilons) > worst[0]:
                worst = (sum(epsilons, Fraction(0)), family, output)
        else:
            bound = from_epsilon(self.claim, worst[0])
            if bound is not None and within(bound, self.claim.value):
                return self._signed("masses", bound, about, _by_masses(laws, families, every))
        if isinstance(self.claim, ApproximateDP):
            epsilon = Fraction(self.claim.epsilon)
            deltas = [delta_above(laws[family.left], laws[family.right], epsilon) for family in families]
            if None not in deltas and within(max(d for d in deltas if d is not None), self.claim.delta):
                every = [[epsilon]] * len(families)
                return self._signed("masses", epsilon, about, _by_masses(laws, families, every))
        _, family, output = worst
        reason = (
            f"exactly, {self.claim.symbol} = {format_rounded_up(bound)}"
            if bound is not None
            else "an output of one data set is impossible on its neighbour"
        )
        return self._failed(_FailedError(reason, bound=bound, family=family, event=f"output {output}"), about)

    # Results ---------------------------------------------------------------------------------------------------------

    def _signed(self, rule: str, bound: Fraction, about: Subject, content: Mapping[str, Any]) -> Proof:
        """Return the proof once the checker has accepted its certificate."""
        mechanism = {
            "mechanism": self.mechanism.name,
            "parameters": plain(dict(self.mechanism.parameters)),
            "functions": dict(sorted(self.names.read.items())),
            "data": self._data,
        }
        head = {"rule": rule, **mechanism, "claim": self.claim.to_dict(), "bound": str(bound)}
        forms = {"forms": sorted(set(map(form_of, self._data)))} if about.listed else {}
        subject = {"domain": dict(about.domain) | forms, "listed": about.listed}
        analyst = analyst_of(self.mechanism)
        subject |= {} if analyst is None else {"asked": analyst.to_data()}
        certificate = written.signed(json.loads(json.dumps({**head, **subject, **content})))
        try:
            check_certificate(certificate, check_time)
        except (ValueError, LookupError, TypeError, ArithmeticError, AttributeError) as error:
            return self._failed(_FailedError(f"the checker refuses the certificate: {error}", bound=None), about)
        if seconds_left() < 0:
            return self._failed(_FailedError("the time for a proof is up, after it was checked"), about)
        return Proof(
            self.mechanism.name, self.claim, bound, about.scope, rule, pairs=about.pairs, certificate=certificate
        )

    def _failed(self, error: _FailedError, about: Subject) -> Proof:
        pair = None
        if error.family is not None:
            pair = error.family.pair
            vectors = vectors_of(self.domain)
            if pair is None and error.failure is not None and vectors is not None:
                pair = pair_inside(self.domain, vectors, error.failure)
        return Proof(
            self.mechanism.name,
            self.claim,
            error.bound,
            about.scope,
            reason=str(error),
            pair=pair,
            event=error.event,
            outputs=None if error.path is None else outputs_of(error.path),
            pairs=about.pairs,
        )


def _require_vectors(vectors: Vectors, datasets: Sequence[Any]) -> None:
    """Raise NotProvedError unless the domain's data sets have the type and the ranges that its description gives."""
    if vectors.integer and max(map(abs, (*vectors.low, *vectors.high))) > LARGEST_INTEGER:
        raise NotProvedError(
            "the data have integers of more than 53 bits, which floats do not represent exactly; limit the domain's values"
        )
    wanted = (np.ndarray, np.dtype(np.int64 if vectors.integer else np.float64), (len(vectors.low),))
    if any((type(dataset), getattr(dataset, "dtype", None), np.shape(dataset)) != wanted for dataset in datasets):
        raise NotProvedError("the data do not arrive as an array of int64 or float64")
    for dataset in datasets:
        if np.any((dataset == 0) & np.signbit(dataset)):
            raise NotProvedError(
                "the data contain −0.0, which equals 0.0 but is another number; write 0.0 in the domain"
            )
        if not all(a <= Fraction(x) <= b for a, x, b in zip(vectors.low, dataset.tolist(), vectors.high, strict=True)):
            raise NotProvedError("the data go beyond the ranges that the domain describes")


def _require_an_output(traces: Sequence[Trace]) -> None:
    """Raise NotProvedError if a mechanism raises on every path: it satisfies any claim, which is no information."""
    structures = [path.structure for trace in traces for path in trace.paths]
    if all(structure[:1] == ("raises",) for structure in structures):
        raise NotProvedError(f"the mechanism always raises {structures[0][1]}")


def _spelled(dataset: Any) -> str:
    """Return a text that identifies a data set. Raises NotProvedError for data that no text identifies."""
    if isinstance(dataset, np.ndarray) and type(dataset) is np.ndarray and dataset.dtype.kind in "biufUS":
        return f"array {dataset.dtype} {dataset.shape} {dataset.tolist()!r}"
    if type(dataset) in (list, tuple):
        return f"{type(dataset).__name__} [{', '.join(map(_spelled, dataset))}]"
    if type(dataset) is dict:
        return f"dict {{{', '.join(f'{_spelled(key)}: {_spelled(value)}' for key, value in dataset.items())}}}"
    if dataset is None or type(dataset) in (bool, int, float, str, bytes) or isinstance(dataset, np.generic):
        return f"{type(dataset).__name__} {dataset!r}"
    raise NotProvedError(
        f"the data are a {type(dataset).__name__}, which is not modelled; numbers, text, lists and arrays are"
    )


def _by_masses(
    laws: Sequence[OutputLaw], families: Sequence[Family], every: Sequence[Sequence[Fraction]]
) -> dict[str, Any]:
    """Return the content of a certificate: all laws, and the ε of each part of each pair."""
    pairs = []
    for family, epsilons in zip(families, every, strict=True):
        parts = zip(laws[family.left], epsilons, strict=True)
        losses = {str(part.places): str(epsilon) for part, epsilon in parts}
        pairs.append({"sides": list(family.sides), "traces": [family.left, family.right], "epsilons": losses})
    return {"noise": {}, "laws": [written.law(law) for law in laws], "pairs": pairs}
