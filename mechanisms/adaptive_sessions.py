"""Sessions with bugs that only an adaptive analyst can exploit, each faulty one next to its sound twin.

An analyst who fixes all questions in advance meets the bug with a probability that the claim allows, as each docstring says. A
session is made by f(dataset, rng, …); see mechanisms/sessions.py.
"""

import math
from collections.abc import Callable
from typing import Any

from mechanisms.exact.pair import each, truth
from mechanisms.sessions import Data, Ledger, OutOfBudgetError, Rng, laplace_count, size_of
from mechanisms.truths.dialogue import responses

Ask = Callable[[Any], Any]


class Receipts:
    """{"do": "count"} answers [receipt, noisy count]; {"do": "refund", "answer": …} says whether an answer is taken back.

    Refunding an answer that was released restores no budget.
    """

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> None:
        self.dataset, self.rng, self.epsilon, self.ledger = dataset, rng, epsilon, Ledger(budget)
        self.given: list[Any] = []

    def refund(self) -> str:
        """Take back an answer of this session."""
        return "noted"

    def __call__(self, question: dict[str, Any]) -> Any:
        if question["do"] == "refund":
            return self.refund() if question["answer"] in self.given else "unknown"
        self.ledger.charge(self.epsilon)
        answer = [float(self.rng.random()), laplace_count("all", self.dataset, self.rng, self.epsilon)]
        self.given.append(answer)
        return answer


class ReceiptsRefunded(Receipts):
    """As Receipts, but a refund restores the budget. It must quote the answer, two random numbers that no fixed script contains."""

    def refund(self) -> str:
        self.ledger.spent -= self.epsilon
        return "refunded"


class Validating:
    """{"do": "count"} answers a noisy count; {"do": "is it less", "than": t} compares the count with t, with noise."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> None:
        self.dataset, self.rng, self.epsilon, self.ledger = dataset, rng, epsilon, Ledger(budget)
        self.released: set[float] = set()

    def noisy(self) -> float:
        """Return a noisy count and charge for it."""
        self.ledger.charge(self.epsilon)
        return laplace_count("all", self.dataset, self.rng, self.epsilon)

    def __call__(self, question: dict[str, Any]) -> Any:
        if question["do"] == "count":
            answer = self.noisy()
            self.released.add(answer)
            return answer
        return self.noisy() < question["than"]


class ValidatingReleases(Validating):
    """As Validating, but a value that was released before is compared with the exact count, as if that were safe
    because the value is public.

    A fixed script contains a released value with probability 0 (in floating point, below 2⁻⁴⁰).
    """

    def __call__(self, question: dict[str, Any]) -> Any:
        if question["do"] != "count" and question["than"] in self.released:
            return size_of("all", self.dataset) < question["than"]
        return super().__call__(question)


class Explaining:
    """{"do": "count"} answers a noisy count; {"do": "explain", "answer": y} answers the scale of its noise."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float) -> None:
        self.rng, self.epsilon = rng, epsilon
        self.noise = float(rng.laplace(0.0, 1 / epsilon))
        self.answer = size_of("all", dataset) + self.noise

    def explained(self) -> float:
        """Return what the session reveals about the noise."""
        return 1 / self.epsilon

    def __call__(self, question: dict[str, Any]) -> Any:
        if question["do"] == "count":
            return self.answer
        return self.explained() if question["answer"] == self.answer else "unknown"


class ExplainingNoise(Explaining):
    """As Explaining, but quoting the answer reveals the noise itself; a fixed script quotes it with probability 0."""

    def explained(self) -> float:
        return self.noise


class Bisecting:
    """{"above": t} answers with the next threshold to ask: above t if a noisy count is above t, and below it otherwise.
    Each question is charged."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> None:
        self.dataset, self.rng, self.epsilon, self.ledger = dataset, rng, epsilon, Ledger(budget)
        self.proposed = -1.0

    def charge(self, above: Any) -> None:
        """Charge for a question."""
        self.ledger.charge(self.epsilon)

    def __call__(self, question: dict[str, Any]) -> float:
        above = question["above"]
        self.charge(above)
        step = float(self.rng.random())
        is_above = laplace_count("all", self.dataset, self.rng, self.epsilon) > above
        self.proposed = above + step if is_above else above - step
        return self.proposed


class BisectingForNothing(Bisecting):
    """As Bisecting, but a threshold that was proposed is answered free of charge. A fixed script contains such a
    threshold with probability 0."""

    def charge(self, above: Any) -> None:
        if above != self.proposed:
            super().charge(above)


def challenged(dataset: Data, rng: Rng, *, epsilon: float, turns: int) -> Ask:
    """Answer each turn with a random bit, which says whether the next turn must be "right" or "left"; after all turns,
    a noisy count, once."""
    return _challenge(dataset, rng, epsilon, turns, exact=False)


def challenged_exactly(dataset: Data, rng: Rng, *, epsilon: float, turns: int) -> Ask:
    """As challenged, but the exact count at the end. A fixed script gets there with probability 2^−turns, below the claim's δ."""
    return _challenge(dataset, rng, epsilon, turns, exact=True)


def _challenge(dataset: Data, rng: Rng, epsilon: float, turns: int, exact: bool) -> Ask:
    wanted, done = -1, 0

    def ask(question: str) -> float:
        nonlocal wanted, done
        if wanted >= 0 and (question == "right") != bool(wanted):
            done = -turns - 1  # it never reaches its end
        done += wanted >= 0
        wanted = int(rng.random() < 0.5)
        if done != turns:
            return float(wanted)
        done += 1
        return float(size_of("all", dataset)) if exact else laplace_count("all", dataset, rng, epsilon)

    return ask


def queued(dataset: Data, rng: Rng, *, epsilon: float, waits: int) -> Ask:
    """Be busy half of the time. An analyst who waits while the session is busy, and goes on otherwise, gets a noisy
    count at the end."""
    return _queue(dataset, rng, epsilon, waits, exact=False)


def queued_exactly(dataset: Data, rng: Rng, *, epsilon: float, waits: int) -> Ask:
    """As queued, but the exact count at the end. A fixed script gets there with probability 2^−waits, below the claim's δ."""
    return _queue(dataset, rng, epsilon, waits, exact=True)


def _queue(dataset: Data, rng: Rng, epsilon: float, waits: int, exact: bool) -> Ask:
    state, busy, is_open = 0, False, True

    def ask(question: str) -> str | float:
        nonlocal state, busy, is_open
        if not is_open:
            return "closed"
        if state and (question == "wait") != busy:
            is_open = False
            return "closed"
        state += 1
        if state > waits:
            is_open = False
            return float(size_of("all", dataset)) if exact else laplace_count("all", dataset, rng, epsilon)
        busy = bool(rng.random() < 0.5)
        if busy:
            raise OutOfBudgetError("busy")
        return "ready"

    return ask


@truth(each(lambda asked, budget: responses(asked, budget, lambda epsilon, answer: epsilon)))
def answering(dataset: int, rng: Rng, *, budget: float) -> Ask:
    """Answer {"epsilon": ε} with a randomised response at that ε, as long as the budget lasts.

    The analyst chooses each ε after the previous answers. The loss is the largest sum of ε along any path through the script.
    """
    return _answer(dataset, rng, budget, free=())


@truth(each(lambda asked, budget: responses(asked, budget, lambda epsilon, answer: epsilon * answer)))
def answering_no_for_nothing(dataset: int, rng: Rng, *, budget: float) -> Ask:
    """As answering, but charge only for the answer 1, as if 0 revealed nothing."""
    return _answer(dataset, rng, budget, free=(0,))


def _answer(dataset: int, rng: Rng, budget: float, free: tuple[int, ...]) -> Ask:
    spent = 0.0

    def ask(question: dict[str, float]) -> int | None:
        nonlocal spent
        epsilon = question["epsilon"]
        if spent + epsilon > budget * (1 + 1e-9):
            return None
        lies = rng.random() >= 1 / (1 + math.exp(-epsilon))
        answer = dataset ^ int(lies)
        spent += 0.0 if answer in free else epsilon
        return answer

    return ask
