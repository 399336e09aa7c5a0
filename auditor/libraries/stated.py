"""Claims from accountants of training and of federated learning, and from any object that states ε at a δ.

An accountant claims what it states. What its history implies is computed exactly as well. If that is more, the report says so: a
violation of the claim may then be the accountant's, and not the mechanism's.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from auditor.claims import ApproximateDP, Claim, GaussianDP, PrivacyProfile, PureDP
from auditor.errors import InvalidInputError
from auditor.exact import (
    Composition,
    FixedSize,
    Gaussian,
    Interval,
    Laplace,
    Poisson,
    Process,
    epsilon_interval,
    mu_interval,
)
from auditor.exact.process import ProcessRelation

# The values of δ at which a claimed profile is stated, unless one is given.
PROFILE_DELTAS = (0.1, 0.01, 1e-3, 1e-6)
# No claim may have a larger ε, since e^ε is near the largest float.
MOST_EPSILON = 500.0
# A stated ε may lie this share below the exact one, by rounding.
TOLERANCE = 1e-6

Known = Process | Composition


# --- What an accountant states ---


def claim_from_accountant(stated: Any, relation: str | None, delta: float | None = None) -> Claim | None:
    """Return the claim of an accountant that is not one of dp-accounting, or of any object that states ε at a δ; None for others.

    Raises InvalidInputError for an accountant of another relation than ``relation``, and for one that promises nothing.
    """
    name = type(stated).__name__
    own = relation_of(stated)
    if relation is not None and own is not None and own != relation:
        raise InvalidInputError(
            f"{name} accounts for {own}, but the neighbours are {relation}; give both the same relation"
        )
    if library_of(stated) == "pfl" and not callable(getattr(stated, "get_epsilon", None)):
        return _of_pfl(stated, delta)
    for method in ("get_epsilon", "get_epsilon_for_delta"):
        if callable(getattr(stated, method, None)) and not isinstance(stated, type):
            at = [delta] if delta is not None else _own_deltas(stated)
            return profile_of(getattr(stated, method), at, name)
    return None


def profile_of(epsilon_at: Callable[[float], Any], deltas: list[float], what: str) -> Claim:
    """Return the claim of the ε that a function states at each δ: of one δ alone, or a profile of those that are finite.

    Raises InvalidInputError if no ε is finite and at most MOST_EPSILON, or if the function fails at each δ. ``what`` names it.
    """
    points, failures = [], list[str]()
    for delta in deltas:
        try:
            points.append((float(epsilon_at(delta)), delta))
        except Exception as error:  # some accountants refuse some δ
            failures.append(f"{type(error).__name__} at δ = {delta:g}: {error}")
    kept = [(epsilon, delta) for epsilon, delta in points if 0 <= epsilon <= MOST_EPSILON]
    if not kept:
        if failures:
            raise InvalidInputError(f"{what} states no ε: {failures[0]}")
        at = f"δ = {deltas[0]:g}" if len(deltas) == 1 else f"every δ up to {max(deltas)}"
        stated = points[0][0]
        most = "infinite" if math.isinf(stated) else "not a number" if math.isnan(stated) else f"{stated:g}"
        raise InvalidInputError(
            f"{what} promises nothing: its ε is {most} at {at}; a claim has an ε from 0 to {MOST_EPSILON:g}"
        )
    if len(deltas) == 1:
        [(epsilon, delta)] = kept
        return ApproximateDP(epsilon, delta) if delta else PureDP(epsilon)
    return PrivacyProfile(kept)


def _own_deltas(stated: Any) -> list[float]:
    """Return the δ that the accountant itself names, or those of a profile."""
    state = _state_of_flwr(stated)
    return [float(state["config"]["target_delta"])] if state else [*PROFILE_DELTAS]


def _of_pfl(stated: Any, delta: float | None) -> Claim | None:
    epsilon, own = (getattr(stated, key, None) for key in ("epsilon", "delta"))
    if epsilon is None or own is None:
        return None
    if delta is not None and delta != own:
        raise InvalidInputError(
            f"delta is {delta!r}, and {type(stated).__name__} states ε for δ = {own!r} only; leave it out"
        )
    return profile_of(lambda _: epsilon, [float(own)], type(stated).__name__)


# --- What an accountant's history implies ---


def library_of(stated: object) -> str:
    """Return the library that defines an object's class, or a base of it that is no class of Python's own."""
    roots = [kind.__module__.partition(".")[0] for kind in type(stated).__mro__]
    return next((root for root in roots if root in _HISTORIES), roots[0])


def relation_of(stated: object) -> str | None:
    """Return the relation of an accountant, as far as it is known; None otherwise."""
    known = implied_process(stated)
    return None if known is None else (known.relation if known.relation in ("add_remove", "substitute") else None)


def implied_process(stated: object) -> Known | None:
    """Return the process that an accountant's history describes; None if it has none, or one that is not known."""
    read = _HISTORIES.get(library_of(stated))
    try:
        return None if read is None else read(stated)
    except (ArithmeticError, AttributeError, KeyError, LookupError, TypeError, ValueError):
        return None  # another version of the library; the accountant still states its number


def _of_opacus(stated: Any) -> Known | None:
    """``history`` is a list of noise multiplier, sampling rate and steps, of neighbours with one record more or less."""
    return _composed([_sampled(Gaussian(float(sigma)), float(q), int(steps)) for sigma, q, steps in stated.history])


def _state_of_flwr(stated: Any) -> Any:
    state = stated.state_dict() if library_of(stated) == "flwr" and hasattr(stated, "state_dict") else None
    return state if isinstance(state, Mapping) and "config" in state else None


def _history_of_flwr(stated: Any) -> Known | None:
    state = _state_of_flwr(stated)
    if state is None:
        return None
    relations: dict[str, ProcessRelation] = {"add-or-remove-one": "add_remove", "replace-one": "substitute"}
    relation = relations[state["config"]["neighboring_relation"]]
    kind = state["config"]["sampling_method"]
    processes = []
    for one in state["compositions"]:
        event = one["event"]
        rate = event["sample_size"] / event["population_size"]
        sampling = {"poisson": Poisson, "without-replacement": FixedSize, "no-amplification": None}[kind]
        how = sampling(rate) if sampling is not None and rate < 1 else None
        processes.append(Process(Gaussian(float(event["noise_multiplier"])), 1.0, relation, how, int(one["count"])))
    return _composed(processes)


def _history_of_pfl(stated: Any) -> Known | None:
    kinds: dict[str, type[Gaussian] | type[Laplace]] = {"gaussian": Gaussian, "laplace": Laplace}
    noise = kinds[str(stated.mechanism).lower()](float(stated.noise_parameter))
    return _sampled(noise, float(stated.sampling_probability), int(stated.num_compositions))


_HISTORIES: dict[str, Callable[[Any], Known | None]] = {
    "opacus": _of_opacus,
    "flwr": _history_of_flwr,
    "pfl": _history_of_pfl,
}


def _sampled(noise: Gaussian | Laplace, rate: float, steps: int) -> Process:
    return Process(noise, sampling=Poisson(rate) if rate < 1 else None, steps=steps)


def _composed(processes: list[Process]) -> Known | None:
    return Composition(tuple(processes)) if processes else None


# --- Exact claims of known processes ---


def claim_of_process(process: Known, delta: float | None, what: str) -> Claim:
    """Return the claim that is exact for a process, or the upper ends of its interval. ``what`` names it in errors.

    Gaussian noise without sampling is μ-Gaussian, one step of Laplace noise is pure, and all else has a profile, unless ``delta``
    is given. Under "substitute" a contribution is taken away and another one added, which doubles the distance.
    """
    parts = process.processes if isinstance(process, Composition) else (process,)
    plain = delta is None and all(part.sampling is None for part in parts)
    if plain and all(isinstance(part.noise, Gaussian) for part in parts):
        mu = _shortest(mu_interval(process))
        if mu <= MOST_EPSILON:
            return GaussianDP(mu)
    if plain and len(parts) == 1 and isinstance(parts[0].noise, Laplace) and parts[0].steps == 1:
        epsilon = _shortest(epsilon_interval(process, 0.0))
        if epsilon <= MOST_EPSILON:
            return PureDP(epsilon)
    at = [delta] if delta is not None else [*PROFILE_DELTAS]
    return profile_of(lambda one: epsilon_interval(process, one).high, at, what)


def _shortest(interval: Interval) -> float:
    """Return the number of fewest digits in an interval, which is narrow where there is a closed form."""
    rounded = (float(f"{interval.high:.{digits}g}") for digits in range(1, 17))
    return next((number for number in rounded if interval.low <= number <= interval.high), interval.high)


def doubts_about(stated: Any, process: Known | None, claim: Claim) -> tuple[str, ...]:
    """Return a sentence if an accountant's claim lies below the exact number of its own history."""
    if process is None:
        return ()
    if isinstance(claim, PrivacyProfile):
        points = [(point.epsilon, point.delta) for point in claim.profile]
    elif isinstance(claim, ApproximateDP | PureDP):
        points = [(claim.epsilon, claim.delta)]
    else:
        return ()
    for epsilon, delta in points:
        exact = epsilon_interval(process, delta).low
        if epsilon < exact * (1 - TOLERANCE):
            at_least = math.floor(exact * 1000) / 1000
            return (
                f"the claim is what {type(stated).__name__} states, ε = {epsilon:.4g} at δ = {delta:g}, and what it accounts for "
                f"has ε ≥ {at_least:g} under {process.relation}: a violation may be the accountant's, and not the mechanism's",
            )
    return ()
