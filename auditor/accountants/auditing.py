"""The audit of an accountant: search, facts, and the verdict."""

import contextlib
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from auditor.accountants.calls import caller_of
from auditor.accountants.facts import facts_of, relations_that_fit
from auditor.accountants.outcome import (
    WORDS,
    AccountantResult,
    Coverage,
    Fact,
    Statement,
    judged,
    number,
    setting,
    settings_words,
    times,
)
from auditor.accountants.points import Points
from auditor.accountants.search import Evaluated, Search
from auditor.accountants.target import TARGETS, Accountant, Value
from auditor.bounds.digits import round_to_side
from auditor.errors import InvalidInputError, MechanismError, require_number
from auditor.verdict import Verdict

# How many earlier calls are repeated, to see if a violation needs them.
MOST_REPLAYED = 60
SEED, POINTS, SECONDS, TOLERANCE, CALL_SECONDS = 0, 400, 45.0, 1e-6, 10.0


@dataclass(frozen=True, slots=True)
class AccountantPlan:
    """An audit of an accountant that can be carried out, with the keywords of ``audit_accountant``."""

    accountant: Accountant
    keywords: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name of the audit."""
        return self.accountant.name

    @property
    def seconds(self) -> float:
        """The seconds after which no further setting is tried."""
        return float(self.keywords.get("seconds", SECONDS))

    def most_settings(self) -> int:
        """Return how many settings are searched at most."""
        return int(min(self.keywords.get("points", POINTS), Points(self.accountant).count()))

    def varied(self) -> Mapping[str, str]:
        """Return the parameters of which several values are tried, each with its range or choices."""
        return {name: _range(self.accountant, name) for name in Points(self.accountant).free}

    def require_settings(self) -> None:
        """Raise InvalidInputError if a keyword is not possible."""
        _require(**self.keywords)

    def require_callables(self) -> None:
        """Load the callables once. Raises MechanismError or InvalidInputError as ``audit_accountant``, before any time is spent."""
        caller_of(self.accountant, isolate=self.keywords.get("isolate", True), limit=CALL_SECONDS)

    def try_once(self) -> str:
        """Say what the accountant states in the middle of its ranges. Raises as ``require_callables``."""
        made = caller_of(self.accountant, isolate=self.keywords.get("isolate", True), limit=CALL_SECONDS)
        with contextlib.closing(made) as caller:
            search = Search(caller, TOLERANCE, SEED, 1, math.inf)
            found = search.at(search.points.centre())
        at = f"at {setting(found.setting)}"
        if found.statement is None:
            return f"{at}: {found.failure.text if found.failure else found.outside}"
        stated = number(float(f"{found.statement.stated:.6g}"))
        exact = number(float(f"{found.statement.high:.6g}"))
        return f"{at}: {'the target is' if found.statement.noise is not None else 'stated'} {stated}, exact at most {exact}"

    def carry_out(self) -> AccountantResult:
        """Return the result. An error of the accountant makes it inconclusive, and other audits go on."""
        try:
            return audit_accountant(self.accountant, **self.keywords)
        except (MechanismError, InvalidInputError) as error:
            return AccountantResult(
                name=self.name,
                states=self.accountant.states,
                verdict=Verdict.INCONCLUSIVE,
                expected=Verdict(self.keywords.get("expect", Verdict.NO_VIOLATION_FOUND)),
                reason=str(error),
                coverage=Coverage(0, 0),
                ranges={name: _range(self.accountant, name) for name in self.accountant.parameters},
                tolerance=self.keywords.get("tolerance", TOLERANCE),
                seed=self.keywords.get("seed", SEED),
                source=self.accountant.source,
                seconds=0.0,
            )


def audit_accountant(
    accountant: Accountant,
    *,
    seed: int = SEED,
    points: int = POINTS,
    seconds: float = SECONDS,
    tolerance: float = TOLERANCE,
    call_seconds: float = CALL_SECONDS,
    isolate: bool = True,
    expect: Verdict | str = Verdict.NO_VIOLATION_FOUND,
) -> AccountantResult:
    """Compare what an accountant states with the exact numbers of its process, over ranges of its parameters.

    Nothing is sampled, so no confidence is involved: a violation is a number that lies below the exact one.

    Args:
        accountant: what is audited.
        seed: decides the random settings.
        points: the most settings that are searched.
        seconds: after this time no further setting is tried, counted from the first answer, which may wait for an import; the
            report then says how many were.
        tolerance: a violation is a number below the exact one by more than this share of it.
        call_seconds: the time limit of one call of the accountant, and of one exact number.
        isolate: call the accountant in a process of its own, where it may crash or hang, and compute exact numbers in another
            one. Otherwise both run in this process, without a limit.
        expect: how the audit should end, "violation" or "no_violation_found".

    Raises InvalidInputError for impossible values, and MechanismError if a callable cannot be imported.
    """
    if not isinstance(accountant, Accountant):
        raise InvalidInputError(f"accountant is {accountant!r}; it must be an Accountant")
    _require(seed=seed, points=points, seconds=seconds, tolerance=tolerance, call_seconds=call_seconds, expect=expect)
    began = time.monotonic()
    with contextlib.closing(caller_of(accountant, isolate=isolate, limit=call_seconds)) as caller:
        search = Search(caller, tolerance, seed, points, seconds)
        search.run()
        facts = facts_of(search)
        if (found := search.worst()) is not None and not found.is_below:
            search.run_on()
        worst = search.worst()
        simplest = search.simplest(worst) if worst is not None and worst.is_below else None
        facts = [*(relations_that_fit(search, simplest) if simplest else ()), *facts]
        after, once = _needed_before(search, simplest) if simplest and isolate else ((), None)
        coverage = _coverage(search)
        shown = simplest or worst
        verdict = judged(accountant.states, tolerance, shown.statement if shown else None, coverage)
        return AccountantResult(
            name=accountant.name,
            states=accountant.states,
            verdict=verdict,
            expected=Verdict(expect),
            reason=_reason(verdict, search, shown, coverage),
            coverage=coverage,
            ranges={name: _range(accountant, name) for name in accountant.parameters},
            tolerance=tolerance,
            seed=seed,
            source=accountant.source,
            worst=worst.statement if worst else None,
            simplest=simplest.statement if simplest else None,
            after=after,
            facts=(*facts, *([once] if once else [])),
            how=shown.how if shown else "",
            seconds=time.monotonic() - began,
        )


def _require(**keywords: Any) -> None:
    """Raise InvalidInputError if a keyword of ``audit_accountant`` is not possible; those that are left out have defaults."""
    for name, value in keywords.items():
        if name == "tolerance":
            require_number(name, value, 0, 1, high_open=True)
        elif name in ("seconds", "call_seconds"):
            require_number(name, value, 0, 1e9, low_open=True)
        elif name in ("points", "seed"):
            least = 1 if name == "points" else 0
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InvalidInputError(f"{name} is {value!r}; it must be an integer of at least {least}")
        elif name == "expect" and value not in (Verdict.VIOLATION, Verdict.NO_VIOLATION_FOUND):
            raise InvalidInputError(f'expect is {value!r}; it must be "violation" or "no_violation_found"')


def _coverage(search: Search) -> Coverage:
    ones = search.evaluated.values()
    return Coverage(
        tried=len(ones),
        decided=sum(one.decided for one in ones),
        undecided=sum(one.statement is not None and not one.decided for one in ones),
        refused=sum(one.failure is not None for one in ones),
        outside=sum(bool(one.outside) for one in ones),
        complete=len(ones) >= search.points.count(),
    )


def _reason(verdict: Verdict, search: Search, shown: Evaluated | None, coverage: Coverage) -> str:
    """Say why the verdict is what it is."""
    stopped = "" if search.in_time else "; the time was over before all settings were tried"
    if verdict is Verdict.VIOLATION:
        assert shown is not None and shown.statement is not None
        return _violated(search.accountant, shown.statement)
    if verdict is Verdict.NO_VIOLATION_FOUND:
        side = "above" if search.accountant.bound == "lower" else "below"
        return f"no stated number lies {side} the exact one, at {settings_words(coverage.decided)}{stopped}"
    if with_number := coverage.decided + coverage.undecided:
        much = f"{coverage.undecided} of {with_number} stated numbers"
        return f"the exact interval is too wide to say if they are too small, of {much}{stopped}"
    failure = next((one.failure.text for one in search.evaluated.values() if one.failure), "")
    outside = next((one.outside for one in search.evaluated.values() if one.outside), "")
    what = f"no number is stated: {failure}" if failure else f"there is no process: {outside}"
    return f"at none of {settings_words(coverage.tried)} can anything be compared; {what}{stopped}"


def _violated(accountant: Accountant, statement: Statement) -> str:
    if accountant.states == "noise":
        target = next(name for name in TARGETS if name in accountant.parameters)
        noise, exact = number(float(f"{statement.noise:.6g}")), number(round_to_side(statement.low, up=False, digits=6))
        return f"returns the noise {noise} for {WORDS[target]} = {number(statement.stated)}, and with it {WORDS[target]} ≥ {exact}"
    stated, exact = _told_apart(statement)
    states = f"states {WORDS[accountant.states]} = {stated}"
    if statement.lower:
        return f"{states} as a lower bound, where it is at most {exact}"
    factor = times(statement.ratio)
    more = "" if statement.ratio == float("inf") or factor == "1" else f", {factor} times as much"
    return f"{states}, where it is at least {exact}{more}"


def _told_apart(statement: Statement) -> tuple[str, str]:
    """Return what is stated and the end of the exact interval that it violates, with six digits, or as many as tell them apart."""
    up = statement.lower
    for digits in range(6, 18):
        stated = float(f"{statement.stated:.{digits}g}")
        exact = round_to_side(statement.high if up else statement.low, up=up, digits=digits)
        if stated > exact if up else stated < exact:
            break
    return number(stated), number(exact)


def _range(accountant: Accountant, name: str) -> str:
    space = accountant.choices_of(name)
    return ", ".join(map(number, space)) if isinstance(space, tuple) else str(space)


def _needed_before(search: Search, shown: Evaluated) -> tuple[Sequence[Mapping[str, Value]], Fact | None]:
    """Return the calls that must precede a violation, none if a new process shows it at once; and a fact if none show it again."""
    asked = [one.setting for one in search.evaluated.values()]
    place = asked.index(shown.setting)
    for before in ((), asked[:1], asked[max(0, place - 1) : place], asked[: min(place, MOST_REPLAYED)]):
        search.caller.renew()
        for earlier in before:
            search.caller.stated(earlier)
        if search.fresh(shown.setting).is_below:
            return before, None
    said = number(float(f"{shown.statement.stated if shown.statement else math.nan:.6g}"))
    return (), Fact(
        "state",
        f"{said} was stated once, and not again in a process started anew (at {setting(shown.setting)})",
        shown.setting,
    )
