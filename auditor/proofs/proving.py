"""An attempt at a proof: first for all data sets at once, then for the pairs of a domain one by one."""

import copy
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from auditor.blackbox.mechanism import Mechanism
from auditor.claims import ApproximateDP, Claim
from auditor.neighbours.domains import Domain
from auditor.neighbours.moves import Box, Hull, Moves
from auditor.neighbours.pair import Pair, Side, pair_words
from auditor.proofs import certificate as written
from auditor.proofs.alignment import NOTHING, Aligned, Aligner, Failure
from auditor.proofs.cells import Cell, Multipliers, cells
from auditor.proofs.explain import DATA, cost_of, event_of, outputs_of, pair_inside, why
from auditor.proofs.form import NotTracedError
from auditor.proofs.gaussian import Moved, least_shift
from auditor.proofs.logarithms import log_above
from auditor.proofs.masses import Law, delta_above, joined, largest_ratios, law_of, unresolved
from auditor.proofs.replay import disagreement
from auditor.proofs.result import Proof, Scope, shown_above, within
from auditor.proofs.run import Names, Path
from auditor.proofs.targets import CLAIMS, from_epsilon, from_mu_squared, goal
from auditor.proofs.trace import Call, Trace, changed, input_symbols, memory, trace

MOST_PAIRS = 2_000  # of a domain whose pairs are listed one by one
REPLAYED = 12  # runs of the function itself against its paths
MOST_MOVES = 729  # differences of integers


@dataclass(frozen=True, slots=True)
class Family:
    """Pairs of data sets that one proof covers: the traces of both sides, and what their data differ by."""

    left: int
    right: int
    moves: Box | Hull
    pair: Pair | None = None


class _NoProofError(Exception):
    """A trace without a proof: in words why, and where it showed, as an event or as the path to it."""

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
    """A proof in the making."""

    mechanism: Mechanism
    claim: Claim
    domain: Domain
    deadline: float
    names: Names = field(default_factory=Names)

    def prove(self) -> Proof:
        """Return a proof, or why there is none."""
        if not isinstance(self.claim, CLAIMS):
            return self._none(f"there is no rule for claims of the kind {type(self.claim).__name__}")
        if not self.mechanism.takes_rng:
            return self._none("the mechanism takes no generator, so its randomness cannot be followed")
        before = memory(self.mechanism.function)
        first: Proof | None = None
        moves = self.domain.moves()
        for attempt in (self._all_at_once, self._one_by_one):
            if attempt == self._all_at_once and moves is None:
                continue
            try:
                proof = attempt()
            except NotTracedError as error:
                proof = self._none(str(error))
            name = changed(before, memory(self.mechanism.function))
            if name is not None:
                return self._none(f"the mechanism has a memory: {name} changed while it was traced")
            if proof.proved:
                return proof
            if first is not None:
                reason = f"{first.reason}; pair by pair: {proof.reason}"
                proof = replace(proof if first.pair is None else first, reason=reason)
            first = proof
            # Numbers in place of symbols help where data could not be followed, or are compared as they are.
            if time.monotonic() > self.deadline or (proof.pair is not None and DATA not in str(proof.reason)):
                break
        assert first is not None
        return first

    def _none(self, reason: str) -> Proof:
        return Proof(self.mechanism.name, self.claim, None, Scope.DOMAIN, reason=reason)

    # Traces ----------------------------------------------------------------------------------------------------------

    def _call(self) -> Call:
        mechanism = self.mechanism

        def call(dataset: Any, rng: Any) -> Any:
            keywords = copy.deepcopy(dict(mechanism.copied)) | {"rng": rng} | ({"size": 1} if mechanism.batched else {})
            output = mechanism.function(dataset, **keywords)
            if mechanism.batched and len(output) != 1:
                raise ValueError("a batch of size 1 does not hold one output")
            return output

        return call

    def _symbolic(self, moves: Moves) -> Trace:
        bounds = {f"x{at}": ends for at, ends in enumerate(zip(moves.low, moves.high, strict=True))}
        self.names = Names(bounds, deadline=self.deadline)
        found = trace(self._call(), lambda: input_symbols(len(moves.low)), self.names)
        rng = np.random.default_rng(0)
        pairs = [self.domain.random(rng) for _ in range(REPLAYED // 2)] + self.domain.corners()[: REPLAYED // 2]
        for seed, pair in enumerate(pairs):
            values = {f"x{at}": float(value) for at, value in enumerate(pair.left)}
            self._confirm(pair.dataset("left"), values, found, seed)
        return found

    def _confirm(self, dataset: Any, values: Mapping[str, float], found: Trace, seed: int) -> None:
        wrong = disagreement(self._call(), dataset, values, found, seed)
        if wrong is not None:
            raise NotTracedError(wrong)

    def _numeric(self, pair: Pair, side: Any) -> Trace:
        found = trace(self._call(), lambda: pair.dataset(side), self.names)
        self._confirm(pair.dataset(side), {}, found, seed=len(self.names.laws))
        return found

    # All data sets at once -------------------------------------------------------------------------------------------

    def _all_at_once(self) -> Proof:
        moves = self.domain.moves()
        assert moves is not None
        found = self._symbolic(moves)
        families = []
        for some in moves.sets:
            if any(law[0] == "geometric" for law in self.names.laws.values()) and not (
                isinstance(some, Hull) and some.alone
            ):
                if not moves.integer or isinstance(some, Hull) or len(some.integers()) > MOST_MOVES:
                    raise NotTracedError("geometric noise needs a short list of integer differences between neighbours")
                some = Hull(tuple(some.integers()), alone=True)  # noqa: PLW2901
            families.append(Family(0, 0, some))
        return self._from_traces([found], lambda: families, Scope.DOMAIN, None)

    # Pair by pair ----------------------------------------------------------------------------------------------------

    def _one_by_one(self) -> Proof:
        every = self.domain.every(MOST_PAIRS)
        pairs = every if every is not None else self.domain.corners()
        scope = Scope.DOMAIN if every is not None else Scope.PAIRS
        self.names = Names(samplers=self.names.samplers, deadline=self.deadline)
        traces: list[Trace] = []
        places: dict[str, int] = {}

        def place(pair: Pair, side: Side) -> int:
            dataset = pair.dataset(side)
            whole = isinstance(dataset, np.ndarray)
            key = repr((dataset.tolist(), dataset.dtype, dataset.shape) if whole else dataset)
            if key not in places:
                traces.append(self._numeric(pair, side))
                places[key] = len(traces) - 1
            return places[key]

        def families() -> Iterator[Family]:
            # Traced when they are asked for, so that a pair that fails ends it.
            for pair in pairs:
                left, right = place(pair, "left"), place(pair, "right")
                yield Family(left, right, NOTHING, pair)
                yield Family(right, left, NOTHING, pair)

        next(families())
        if law_of(traces[0]) is not None and law_of(traces[1]) is not None:
            every_family = list(families())
            laws = [law_of(one) for one in traces]
            if None not in laws:
                return self._from_laws([law for law in laws if law is not None], every_family, scope, len(pairs))
        return self._from_traces(traces, families, scope, len(pairs))

    # Rules -----------------------------------------------------------------------------------------------------------

    def _from_traces(
        self, traces: Sequence[Trace], families: Callable[[], Iterable[Family]], scope: Scope, pairs: int | None
    ) -> Proof:
        if any(law[0] == "normal" for law in self.names.laws.values()):
            proof = self._by_gaussian(traces, families, scope, pairs)
            if proof is not None:
                return proof
        aligner = Aligner(self.names, goal(self.claim))
        try:
            every: list[tuple[Family, list[Aligned]]] = []
            largest, worst = Fraction(-1), None
            for family in families():
                found = [
                    self._cells(aligner, traces, family, ways)
                    for ways in cells(traces[family.left], traces[family.right])
                ]
                each = [one for way in found for one in way]
                top = max(each, key=lambda one: one.cost)
                if top.cost > largest:
                    largest, worst = top.cost, (family, top)
                every.append((family, each))
            if (missing := unresolved(self.names)) > 0:
                raise _NoProofError(
                    f"of a sampler that retries, probability {float(missing):.1e} is not resolved; that counts for δ where all "
                    "outputs are finite, and is no part of a proof by shifts of noise"
                )
        except _NoProofError as failure:
            return self._failed(failure, scope, pairs)
        bound = from_epsilon(self.claim, largest)
        if bound is None:
            return self._failed(
                _NoProofError(f"pure ε ≤ {shown_above(largest)} is proved, which says nothing of this claim"),
                scope,
                pairs,
            )
        if not within(bound, self.claim.value):
            assert worst is not None
            family, top = worst
            reason = f"the best bound that was found is {self.claim.symbol} ≤ {shown_above(bound)}"
            path = traces[family.left].paths[top.cell.left[0]]
            where = Failure(top.cell, aligner.dearest(top.cell, family.moves), top.cost)
            return self._failed(
                _NoProofError(reason, bound=bound, family=family, failure=where, path=path), scope, pairs
            )
        return self._signed("alignment", bound, scope, pairs, self._aligned(traces, every))

    def _aligned(self, traces: Sequence[Trace], every: Sequence[tuple[Family, list[Aligned]]]) -> dict[str, Any]:
        """Return the content of a certificate."""
        sides = [written.Written(one) for one in traces]
        empty: list[dict[int, Multipliers]] = [{} for _ in traces]
        entries = []
        for family, found in every:
            empty[family.left] |= {one.cell.left[0]: one.empty for one in found if one.empty is not None}
            left, right = sides[family.left], sides[family.right]
            some = [one for one in found if one.empty is None]
            entries.append(_entry(family, some, left, right))
        every_trace = [side.trace(none) for side, none in zip(sides, empty, strict=True)]
        return {"noise": written.noise(self.names), "traces": every_trace, "pairs": entries}

    def _cells(
        self, aligner: Aligner, traces: Sequence[Trace], family: Family, ways: Sequence[Sequence[Cell]]
    ) -> list[Aligned]:
        """Return the cheapest way to align the paths of one output."""
        best: list[Aligned] | None = None
        failure: Failure | None = None
        for way in ways:
            found: list[Aligned] = []
            for cell in way:
                if time.monotonic() > self.deadline:
                    raise _NoProofError("the time for a proof is up, after the paths were traced")
                one = aligner.align(cell, family.moves)
                if isinstance(one, Failure) or one.cost > aligner.goal:
                    conditions = [c for at in cell.left for c in traces[family.left].paths[at].conditions]
                    one = aligner.empty(cell, conditions) or one
                if isinstance(one, Failure):
                    failure = failure or one
                    break
                found.append(one)
            else:
                if best is None or cost_of(found) < cost_of(best):
                    best = found
                if cost_of(best) <= aligner.goal:
                    break
        if best is not None:
            return best
        if failure is None:
            event = "an output that has no counterpart"
            raise _NoProofError(
                "an output of one data set has no counterpart on its neighbour", family=family, event=event
            )
        path = traces[family.left].paths[failure.cell.left[0]]
        raise _NoProofError(why(failure, aligner), family=family, failure=failure, path=path)

    def _by_gaussian(
        self,
        traces: Sequence[Trace],
        families: Callable[[], Iterable[Family]],
        scope: Scope,
        pairs: int | None,
    ) -> Proof | None:
        largest = Fraction(0)
        every: list[tuple[Family, Aligned]] = []
        for family in families():
            found = least_shift(traces[family.left], traces[family.right], family.moves)
            if not isinstance(found, Moved):
                return None
            largest = max(largest, found.squared)
            every.append((family, Aligned(Cell((0,), (0,), (), ()), found.squared, found.shifts)))
        bound = from_mu_squared(self.claim, largest)
        if bound is None:
            return None
        if not within(bound, self.claim.value):
            reason = f"the best bound that was found is {self.claim.symbol} ≤ {shown_above(bound)}"
            return self._failed(_NoProofError(reason, bound=bound), scope, pairs)
        every_trace = [written.trace_of_gaussian(one) for one in traces]
        sides = [written.Written(one) for one in traces]
        entries = [_entry(family, [one], sides[family.left], sides[family.right]) for family, one in every]
        content = {"noise": written.noise(self.names), "traces": every_trace, "pairs": entries}
        return self._signed("gaussian", bound, scope, pairs, content)

    def _from_laws(self, laws: Sequence[Law], families: Sequence[Family], scope: Scope, pairs: int) -> Proof:
        if isinstance(self.claim, ApproximateDP) or len({tuple(part.places for part in law) for law in laws}) > 1:
            whole = [joined(law) for law in laws]
            if None in whole and not isinstance(self.claim, ApproximateDP):
                return self._failed(_NoProofError("there are too many outputs to list"), scope, pairs)
            laws = [(part,) for part in whole if part is not None] if None not in whole else laws
        every, worst = [], (Fraction(-1), families[0], "")
        bound: Fraction | None = None
        missing = max((1 - sum(part.masses.values()) for law in laws for part in law), default=Fraction(0))
        for family in families:
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
                return self._signed("masses", bound, scope, pairs, _by_masses(laws, families, every))
        if isinstance(self.claim, ApproximateDP):
            epsilon = Fraction(self.claim.epsilon)
            deltas = [delta_above(laws[family.left], laws[family.right], epsilon) for family in families]
            if None not in deltas and within(max(d for d in deltas if d is not None), self.claim.delta):
                return self._signed(
                    "masses", epsilon, scope, pairs, _by_masses(laws, families, [[epsilon]] * len(families))
                )
        _, family, output = worst
        reason = (
            f"exactly, {self.claim.symbol} = {shown_above(bound)}"
            if bound is not None
            else f"of a sampler that retries, probability {float(missing):.1e} is not resolved, more than the claim allows for"
            if missing
            else "an output of one data set is impossible on its neighbour"
        )
        return self._failed(_NoProofError(reason, bound=bound, family=family, event=f"output {output}"), scope, pairs)

    # Results ---------------------------------------------------------------------------------------------------------

    def _signed(self, rule: str, bound: Fraction, scope: Scope, pairs: int | None, content: Mapping[str, Any]) -> Proof:
        about = {"rule": rule, "mechanism": self.mechanism.name, "claim": self.claim.to_dict(), "bound": str(bound)}
        said = {"scope": str(scope), "domain": str(self.domain)}
        certificate = written.signed({**about, **said, **content})
        return Proof(self.mechanism.name, self.claim, bound, scope, rule, pairs=pairs, certificate=certificate)

    def _failed(self, error: _NoProofError, scope: Scope, pairs: int | None) -> Proof:
        pair = None
        if error.family is not None:
            moves = self.domain.moves()
            inside = error.family.pair is None and error.failure is not None and moves is not None
            pair = (
                pair_inside(self.domain, moves, error.failure)
                if inside and moves and error.failure
                else error.family.pair
            )
        return Proof(
            self.mechanism.name,
            self.claim,
            error.bound,
            scope,
            reason=str(error),
            pair=pair,
            event=error.event,
            outputs=None if error.path is None else outputs_of(error.path),
            pairs=pairs,
        )


def _entry(family: Family, found: Sequence[Aligned], left: written.Written, right: written.Written) -> dict[str, Any]:
    """Return what a certificate says of some pairs."""
    data = {} if family.pair is None else {"data": pair_words(family.pair)}
    return data | written.pair((family.left, family.right), family.moves, found, left, right)


def _by_masses(laws: Sequence[Law], families: Sequence[Family], every: Sequence[Sequence[Fraction]]) -> dict[str, Any]:
    """Return the content of a certificate: all laws, and for each pair the ε of each part."""
    pairs = []
    for family, epsilons in zip(families, every, strict=True):
        parts = zip(laws[family.left], epsilons, strict=True)
        pairs.append(
            {"sides": [family.left, family.right], "epsilons": {str(part.places): str(e) for part, e in parts}}
        )
    return {"laws": [written.law(law) for law in laws], "pairs": pairs}
