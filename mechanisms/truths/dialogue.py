"""The distribution of a transcript of randomised responses, by enumeration of all dialogues that a script can produce."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from auditor.neighbours.scripts import NO_QUESTION, ScriptedData
from mechanisms.exact.distributions import MassFunction

REFUSED, NOT_ASKED = "refused", "not asked"
Answers = tuple[Any, ...]


def responses(asked: Mapping[str, Any], budget: float, cost: Callable[[float, int], float]) -> MassFunction:
    """Return the distribution of the answers to {"epsilon": ε}, of a bit that is answered rightly with odds e^ε.

    ``cost(ε, answer)`` is what an answer costs. A question of ε is refused if more than the budget would be spent with it.
    """
    bit, script = int(asked["data"]), ScriptedData.of(None, asked).script

    def go_on(step: int, last: Any, spent: float, so_far: Answers, log_mass: float) -> Iterator[tuple[Answers, float]]:
        if step == len(script):
            yield so_far, log_mass
            return
        question = script[step].question(last)
        if question is NO_QUESTION:
            yield from go_on(step + 1, last, spent, (*so_far, NOT_ASKED), log_mass)
        elif spent + question["epsilon"] > budget * (1 + 1e-9):
            yield from go_on(step + 1, None, spent, (*so_far, REFUSED), log_mass)
        else:
            epsilon = question["epsilon"]
            for answer in (0, 1):
                log_odds = epsilon if answer == bit else -epsilon
                after = spent + cost(epsilon, answer)
                yield from go_on(step + 1, answer, after, (*so_far, answer), log_mass - math.log1p(math.exp(-log_odds)))

    return MassFunction(dict(go_on(0, None, 0.0, (), 0.0)))
