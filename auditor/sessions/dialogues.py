"""Neighbours with a script of questions: the data sets of another domain, with the same script on both sides."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from auditor.errors import InvalidInputError, how_many, require_known
from auditor.interfaces import CLOSELY, Domain, Values
from auditor.neighbours.domains import MOST_CORNERS, MOST_SIMPLE, Pairs
from auditor.neighbours.limits import any_of, ends
from auditor.neighbours.numbers import Range, one_changed
from auditor.neighbours.pair import FormAround, Pair, distinct
from auditor.neighbours.records import RecordValues
from auditor.neighbours.scripts import (
    LAST_ANSWER,
    NO_QUESTION,
    PLAIN_CONDITIONS,
    IfAnswer,
    Script,
    ScriptedData,
    ScriptStep,
    read_meter,
    read_script,
)

# The most questions of a script, more than any bug needs. Each question adds a place to the transcript.
MOST_QUESTIONS = 1_000
# How many questions of a range, or of several parts, are tried first.
FIRST_QUESTIONS = 8
# Thresholds of conditions. The first splits the answers no (0) and yes (1), the others split counts.
THRESHOLDS = (0.5, 0.0, 1.0, 2.0, 5.0, 10.0)
QUESTION_FORMS = ("choices", "range", "parts", "script")


@dataclass(frozen=True, slots=True)
class NumberQuestions(Values):
    """Questions that are a number of a range, or the last answer."""

    range: Range

    def limits(self) -> dict[str, Any]:
        return ends(self.range)

    def first(self) -> list[Any]:
        low, high = self.range.low, self.range.high
        numbers = list(dict.fromkeys([low, high, *self.range.ladder()]))
        return [*numbers[:1], LAST_ANSWER, *numbers[1 : FIRST_QUESTIONS - 1]]

    def draw(self, rng: np.random.Generator) -> Any:
        if rng.random() < 0.25:
            return LAST_ANSWER
        marks = self.range.ladder()
        return marks[rng.integers(len(marks))] if rng.random() < 0.5 else self.range.draw(rng)

    def near(self, value: Any, rng: np.random.Generator) -> Any:
        return self.draw(rng) if value == LAST_ANSWER or rng.random() < 0.25 else self.range.near(value, rng)

    def simpler(self, value: Any) -> list[Any]:
        return [self.range.low, self.range.high] if value == LAST_ANSWER else self.range.simpler(value)


@dataclass(frozen=True, slots=True)
class PartQuestions(Values):
    """Questions that are mappings, whose parts vary independently."""

    parts: tuple[tuple[str, Values], ...]

    def limits(self) -> dict[str, Any]:
        return {"parts": [{"name": name, **questions.limits()} for name, questions in self.parts]}

    def first(self) -> list[Any]:
        firsts = [questions.first() for _, questions in self.parts]
        # Combinations of the first values of all parts come first.
        places = sorted(itertools.product(*(range(len(first)) for first in firsts)), key=lambda at: (max(at), sum(at)))
        return [self._of([first[i] for first, i in zip(firsts, at, strict=True)]) for at in places[:FIRST_QUESTIONS]]

    def draw(self, rng: np.random.Generator) -> Any:
        return self._of([questions.draw(rng) for _, questions in self.parts])

    def near(self, value: Any, rng: np.random.Generator) -> Any:
        name, questions = self.parts[rng.integers(len(self.parts))]
        return {**value, name: questions.near(value[name], rng)}

    def simpler(self, value: Any) -> list[Any]:
        return [{**value, name: part} for name, questions in self.parts for part in questions.simpler(value[name])]

    def _of(self, values: Sequence[Any]) -> dict[str, Any]:
        return {name: value for (name, _), value in zip(self.parts, values, strict=True)}


def read_questions(given: Any) -> Values:
    """Return the questions that are written as a list, or as {"choices": […]}, {"range": [low, high]} or {"parts": {…}}.

    Raises InvalidInputError that says what is allowed.
    """
    if isinstance(given, Sequence) and not isinstance(given, str):
        given = {"choices": given}
    if not isinstance(given, Mapping) or len(given) != 1:
        raise InvalidInputError(
            f"ask is {given!r}; it must be a list of questions, or a mapping with one of the keys {QUESTION_FORMS}"
        )
    [(form, value)] = given.items()
    if form == "range":
        ends = Range.of("ask: range", value)
        return NumberQuestions(replace(ends, integer=ends.has_integer_ends))
    if form == "parts" and isinstance(value, Mapping) and value:
        return PartQuestions(tuple((str(name), read_questions(part)) for name, part in value.items()))
    if form == "choices" and isinstance(value, Sequence) and not isinstance(value, str) and value:
        return RecordValues(tuple(value))
    require_known("ask has the key", [form], QUESTION_FORMS)
    raise InvalidInputError(
        f"ask: {form} is {value!r}; it must be a list of choices, or a mapping of parts, and not empty"
    )


@dataclass(frozen=True, slots=True)
class DialogueForm(FormAround):
    """A data set in the form of its own domain, with a script."""

    def __str__(self) -> str:
        return f"{self.inside or 'data'}, with a script of questions"

    def build(self, data: Any, other: Any) -> ScriptedData:
        inside = Pair(data["data"], None if other is None else other["data"], form=self.inside)
        return ScriptedData.of(inside.dataset("left"), data)

    def code(self, built: Any) -> str:
        others = ", ".join(f"{key!r}: {value!r}" for key, value in built.items() if key != "data")
        return f"{{'data': {self._inside(built)}, {others}}}"

    def call(self, left: Any, right: Any) -> str:
        pairs = f"[({self._inside(left)}, {self._inside(right)})]"
        meter = f", meter={left['meter']!r}" if "meter" in left else ""
        return f"auditor.Dialogues({pairs}, {{'script': {left['ask']!r}}}{meter})"

    def _inside(self, built: Any) -> str:
        return self.inside.code(built["data"]) if self.inside else repr(built["data"])


class Dialogues(Domain):
    """Sessions on neighbours of a domain, all asked the same questions. The mechanism f(dataset, rng) returns a session.

    Args:
        neighbours: a domain, or a list of (left, right) pairs.
        ask: what may be asked: a list of questions; {"range": [low, high]} for numbers; {"parts": {"column": [...], "above":
            {"range": [0, 10]}}} for mappings; or {"script": [...]} for one script, with steps as auditor.neighbours.scripts has.
        rounds: the most questions that a script asks.
        sessions: how many sessions on the same data a script may open. The claim covers all of them together.
        meter: {"at": e} ends a dialogue before the answer that brings a session's ``spent`` above e. {"at": e, "of": p}
            ends it before the question that brings the sum of the questions' parts p above e. The claim covers it
            until then.

    Raises InvalidInputError for questions, rounds, sessions and meters that are not possible.
    """

    def __init__(
        self,
        neighbours: Domain | Sequence[tuple[Any, Any]],
        ask: Any,
        rounds: int | None = None,
        sessions: int = 1,
        meter: Mapping[str, Any] | None = None,
    ) -> None:
        self.base: Domain = Pairs(list(neighbours)) if isinstance(neighbours, Sequence) else neighbours
        fixed = ask["script"] if isinstance(ask, Mapping) and ask.keys() == {"script"} else None
        self.fixed = None if fixed is None else read_script(fixed)
        self.questions = read_questions(ask if self.fixed is None else [step.ask for step in self.fixed])
        if fixed is not None and rounds is not None:
            raise InvalidInputError(
                f"rounds is {rounds}, but a script has its own number of questions; leave out rounds"
            )
        self.rounds = (4 if rounds is None else rounds) if self.fixed is None else len(self.fixed)
        self.sessions, self.meter = sessions, None if meter is None else read_meter(meter)
        for name, number in (("rounds", self.rounds), ("sessions", sessions)):
            if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= MOST_QUESTIONS:
                raise InvalidInputError(f"{name} is {number!r}; it must be an integer from 1 to {MOST_QUESTIONS:,}")

    def __str__(self) -> str:
        questions = f"{'up to' if self.fixed is None else 'a script of'} {how_many(self.rounds, 'question')}"
        side = f", of {self.sessions} sessions" if self.sessions > 1 else ""
        of = "" if self.meter is None or self.meter.of is None else f" of {self.meter.of}"
        until = "" if self.meter is None else f", until {self.meter.at:g}{of} is spent"
        return f"{self.base}; {questions}{side}{until}"

    def limits(self) -> dict[str, Any]:
        ask = self.questions.limits() if self.fixed is None else {"script": any_of([self.fixed])}
        meter = {} if self.meter is None else {"meter": self.meter.to_data()}
        number = {"rounds": {"high": self.rounds}, "sessions": {"high": self.sessions}}
        return {"neighbours": self.base.limits(), "ask": ask, **number, **meter}

    # --- Pairs ---

    def with_script(self, base: Pair, script: Script) -> Pair:
        """Return a pair of the base domain with a script on both sides."""
        left, right = (ScriptedData(data, script, self.meter) for data in (base.left, base.right))
        return Pair(left, right, base.relation, DialogueForm(base.form), base.grows, (base, script))

    def corners(self) -> list[Pair]:
        bases, scripts = self.base.corners(), self._first_scripts()
        # The chosen pairs are spread over the corners of the base domain. Each of them is asked each script.
        turns = math.ceil(min(MOST_CORNERS, len(bases) * len(scripts)) / len(scripts))
        chosen = [bases[round(turn * (len(bases) - 1) / max(1, turns - 1))] for turn in range(turns)]
        return [self.with_script(base, script) for base in chosen for script in scripts][:MOST_CORNERS]

    def simplest(self) -> list[Pair]:
        bases, scripts = self.base.simplest(), self._first_scripts()
        # The first two pairs, which move the ends of a range, rank first. Early scripts rank before late ones.
        both = itertools.product(range(len(bases)), range(len(scripts)))
        ranked = sorted(both, key=lambda at: ((at[0] // 2 + 1) * (at[1] + 2), at[1]))
        return [self.with_script(bases[i], scripts[j]) for i, j in ranked[:MOST_SIMPLE]]

    def closely(self, best: Sequence[Pair], most: int) -> list[Pair]:
        # Scripts matter more than data sets, so each script is tried once, on the best pair tried with it so far. The
        # first scripts, which few outputs may have missed, alternate with the scripts of largest utility.
        best_with: dict[str, Pair] = {}
        for pair in best:
            best_with.setdefault(repr(pair.origin[1]), pair)
        first = [best_with[written] for written in map(repr, self._first_scripts()) if written in best_with]
        in_turn = itertools.chain.from_iterable(itertools.zip_longest(first, best_with.values()))
        return distinct([pair for pair in in_turn if pair is not None])[: max(most, CLOSELY)]

    def rearranged(self, rng: np.random.Generator) -> Sequence[Pair]:
        script = self._random_script(rng)
        return [self.with_script(pair, script) for pair in self.base.rearranged(rng)]

    def step(self, pair: Pair, way: int) -> Pair | None:
        base, script = pair.origin
        return (moved := self.base.step(base, way)) and self.with_script(moved, script)

    def random(self, rng: np.random.Generator) -> Pair:
        return self.with_script(self.base.random(rng), self._random_script(rng))

    def mutate(self, pair: Pair, rng: np.random.Generator) -> Pair:
        base, script = pair.origin
        if rng.random() < 0.6 and self.fixed is None:
            return self.with_script(base, self._mutate_script(script, rng))
        return self.with_script(self.base.mutate(base, rng), script)

    def between(self, one: Pair, other: Pair) -> Pair | None:
        (base, script), (other_base, other_script) = one.origin, other.origin
        if script == other_script:
            return (half := self.base.between(base, other_base)) and self.with_script(half, script)
        # A script of a length in between shows where a session begins to refuse.
        short, long = sorted((script, other_script), key=len)
        middle = (len(short) + len(long)) // 2
        is_start = long[: len(short)] == short and base.key() == other_base.key()
        return self.with_script(base, long[:middle]) if is_start and len(short) < middle < len(long) else None

    def simpler(self, pair: Pair) -> Iterator[Pair]:
        base, script = pair.origin
        yield from (self.with_script(base, shorter) for shorter in self._simpler_scripts(script))
        yield from (self.with_script(simpler, script) for simpler in self.base.simpler(base))

    # --- Scripts ---

    def _first_scripts(self) -> list[Script]:
        """Return the scripts that are tried first. A script comes before its own prefixes, which show less."""
        if self.fixed is not None:
            return [self.fixed]
        steps, n = [ScriptStep(question) for question in self.questions.first()], self.rounds
        scripts = [_repeat_steps(steps, n), *((step,) * n for step in steps), _repeat_steps(steps[::-1], n)]
        scripts += [(step,) * min(n, 2) for step in steps]
        two = list(itertools.permutations(steps, 2))[:16]
        scripts += [_repeat_steps(both, n) for both in two]
        scripts += [(first, *(second,) * (n - 1)) for first, second in two]
        scripts += [(first,) * (n - 1) + (second,) for first, second in two]
        scripts += self._first_adaptive_scripts(steps)
        if self.sessions > 1:
            scripts += [
                tuple(replace(step, session=1 + at % self.sessions) for at, step in enumerate(script))
                for script in scripts
            ]
        # Duplicates are found by repr, since questions may be mappings, which have no hash.
        return list({repr(script): script for script in scripts if script}.values())

    def _first_adaptive_scripts(self, steps: Sequence[ScriptStep]) -> list[Script]:
        """Return scripts that depend on answers: repeat a question on a condition, or choose between two questions."""
        if self.rounds == 1:
            return []
        again = [IfAnswer("answered"), *(IfAnswer("at_most", t) for t in THRESHOLDS[:3])]
        choices = [*map(IfAnswer, PLAIN_CONDITIONS), *(IfAnswer("above", t) for t in THRESHOLDS[:3])]
        two = list(itertools.permutations(steps, 2))[:4]
        adaptive = [(step, replace(step, when=when)) for when in again for step in steps[:4]]
        adaptive += [
            (first, replace(first, when=when, otherwise=second.ask)) for when in choices for first, second in two
        ]
        return [(first, *(later,) * (self.rounds - 1)) for first, later in adaptive]

    def _random_script(self, rng: np.random.Generator) -> Script:
        if self.fixed is not None:
            return self.fixed
        n, kind = int(Range(1, self.rounds, True).draw(rng)), rng.integers(4)
        first, second = (ScriptStep(self.questions.draw(rng)) for _ in range(2))
        if kind == 0:
            script = (first,) * n
        elif kind == 1:
            at = int(rng.integers(n + 1))
            script = (first,) * at + (second,) * (n - at)
        elif kind == 2:
            script = _repeat_steps([first, second], n)
        else:
            script = tuple(ScriptStep(self.questions.draw(rng)) for _ in range(n))
        if n > 1 and rng.random() < 0.5:
            since = int(rng.integers(1, n))
            times = n - since if rng.random() < 0.5 else 1
            when = self._random_condition(rng)
            other = self.questions.draw(rng) if rng.random() < 0.5 else NO_QUESTION
            adaptive = tuple(replace(step, when=when, otherwise=other) for step in script[since : since + times])
            script = script[:since] + adaptive + script[since + times :]
        if self.sessions == 1 or rng.random() < 0.5:
            return script
        return tuple(replace(step, session=1 + int(rng.integers(self.sessions))) for step in script)

    def _random_condition(self, rng: np.random.Generator) -> IfAnswer:
        if rng.random() < 0.25:
            return IfAnswer(PLAIN_CONDITIONS[rng.integers(2)])
        threshold = THRESHOLDS[rng.integers(len(THRESHOLDS))]
        return IfAnswer("above" if rng.random() < 0.5 else "at_most", float(threshold))

    def _mutate_script(self, script: Script, rng: np.random.Generator) -> Script:
        """Change a script by one step: a question, a condition, the order, or the length."""
        steps, n = list(script), len(script)
        at, kind = int(rng.integers(n)), rng.integers(7)
        step = steps[at]
        if kind == 0:
            steps[at] = replace(step, ask=self.questions.near(step.ask, rng))
        elif kind == 1:
            other = int(rng.integers(n))
            steps[at], steps[other] = steps[other], steps[at]
        elif kind == 2 and n > 1:
            del steps[at : at + int(Range(1, max(1, n // 2), True).draw(rng))]
        elif kind == 3:
            new = step if rng.random() < 0.5 else ScriptStep(self.questions.draw(rng))
            steps[at:at] = [new] * int(Range(1, n, True).draw(rng))
        elif kind == 4:
            steps[at] = replace(step, when=self._near_condition(step.when, rng))
        elif kind == 5 and step.when is not None:
            steps[at] = replace(step, otherwise=self.questions.draw(rng) if rng.random() < 0.7 else NO_QUESTION)
        else:
            steps[at] = replace(step, when=None, otherwise=NO_QUESTION)
        if self.sessions > 1 and rng.random() < 0.2 and steps:
            place = int(rng.integers(len(steps)))
            steps[place] = replace(steps[place], session=1 + int(rng.integers(self.sessions)))
        return tuple(steps[: self.rounds]) or script

    def _near_condition(self, when: IfAnswer | None, rng: np.random.Generator) -> IfAnswer:
        if when is None or when.kind in PLAIN_CONDITIONS or rng.random() < 0.5:
            return self._random_condition(rng)
        factor = (0.5, 2.0, -1.0)[rng.integers(3)]
        if rng.random() < 0.5:
            return replace(when, threshold=when.threshold * factor)
        return replace(when, threshold=when.threshold + (1.0 if rng.random() < 0.5 else -1.0))

    def _simpler_scripts(self, script: Script) -> Iterator[Script]:
        n = len(script)
        if n > 1:
            yield script[: n // 2]
            yield script[n // 2 :]
            yield from (script[:at] + script[at + 1 :] for at in range(n - 1, -1, -1))
        yield from one_changed(script, self._simpler_steps)

    def _simpler_steps(self, step: ScriptStep) -> list[ScriptStep]:
        simpler = [] if step.session == 1 else [replace(step, session=1)]
        if step.when is not None:
            simpler += [ScriptStep(step.ask, session=step.session)]
            if step.otherwise is not NO_QUESTION:
                simpler += [ScriptStep(step.otherwise, session=step.session), replace(step, otherwise=NO_QUESTION)]
            if step.when.kind not in PLAIN_CONDITIONS:
                near = [replace(step.when, threshold=t) for t in (0.0, 1.0, float(round(step.when.threshold)))]
                simpler += [replace(step, when=when) for when in near if when != step.when]
        if self.fixed is None:
            simpler += [replace(step, ask=question) for question in self.questions.simpler(step.ask)]
        return simpler


def _repeat_steps(steps: Sequence[ScriptStep], n: int) -> Script:
    return tuple(itertools.islice(itertools.cycle(steps), n))
