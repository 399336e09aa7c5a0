"""Sessions whose bug shows only to an analyst who looks at answers: each sound one, and its faulty twin.

Whoever fixes all questions in advance meets the bug with a probability that the claim allows, as each docstring says.
A session is made by f(dataset, rng, …); see mechanisms/sessions.py.
"""

import math
from collections.abc import Callable
from typing import Any

from mechanisms.exact.pair import each, truth
from mechanisms.sessions import Data, Ledger, OutOfBudgetError, Rng, laplace_count, size_of
from mechanisms.truths.dialogue import responses

Ask = Callable[[Any], Any]


class Receipts:
    """{"do": "count"} answers [receipt, noisy count]; {"do": "refund", "answer": …} says whether an answer is returned.

    A refund of an answer that was seen gives nothing back.
    """

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> None:
        self.dataset, self.rng, self.epsilon, self.ledger = dataset, rng, epsilon, Ledger(budget)
        self.given: list[Any] = []

    def refund(self) -> str:
        """Take back an answer that was given."""
        return "noted"

    def __call__(self, question: dict[str, Any]) -> Any:
        if question["do"] == "refund":
            return self.refund() if question["answer"] in self.given else "unknown"
        self.ledger.charge(self.epsilon)
        answer = [float(self.rng.random()), laplace_count("all", self.dataset, self.rng, self.epsilon)]
        self.given.append(answer)
        return answer


class ReceiptsRefunded(Receipts):
    """The same, but a refund gives the cost back. The answer must be quoted: two random numbers, which no fixed script has."""

    def refund(self) -> str:
        self.ledger.spent -= self.epsilon
        return "refunded"


class Validating:
    """{"do": "count"} answers a noisy count; {"do": "is it less", "than": t} whether the count is less than t, with noise."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> None:
        self.dataset, self.rng, self.epsilon, self.ledger = dataset, rng, epsilon, Ledger(budget)
        self.released: set[float] = set()

    def noisy(self) -> float:
        """Return a noisy count, which is charged."""
        self.ledger.charge(self.epsilon)
        return laplace_count("all", self.dataset, self.rng, self.epsilon)

    def __call__(self, question: dict[str, Any]) -> Any:
        if question["do"] == "count":
            answer = self.noisy()
            self.released.add(answer)
            return answer
        return self.noisy() < question["than"]


class ValidatingReleases(Validating):
    """The same, but a number that was released is compared with the count itself, since it is public.

    A fixed script has the released number with probability 0 (in floating point, below 2⁻⁴⁰).
    """

    def __call__(self, question: dict[str, Any]) -> Any:
        if question["do"] != "count" and question["than"] in self.released:
            return size_of("all", self.dataset) < question["than"]
        return super().__call__(question)


class Explaining:
    """{"do": "count"} answers a noisy count; {"do": "explain", "answer": y} the scale of its noise."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float) -> None:
        self.rng, self.epsilon = rng, epsilon
        self.noise = float(rng.laplace(0.0, 1 / epsilon))
        self.answer = size_of("all", dataset) + self.noise

    def explained(self) -> float:
        """Return what is said of the noise."""
        return 1 / self.epsilon

    def __call__(self, question: dict[str, Any]) -> Any:
        if question["do"] == "count":
            return self.answer
        return self.explained() if question["answer"] == self.answer else "unknown"


class ExplainingNoise(Explaining):
    """The same, but the noise itself is given to whoever quotes the answer, which a fixed script does with probability 0."""

    def explained(self) -> float:
        return self.noise


class Bisecting:
    """{"above": t} answers a number to ask next: above t if a noisy count is, below t if not. Each question is charged."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> None:
        self.dataset, self.rng, self.epsilon, self.ledger = dataset, rng, epsilon, Ledger(budget)
        self.proposed = -1.0

    def charge(self, above: Any) -> None:
        """Charge a question."""
        self.ledger.charge(self.epsilon)

    def __call__(self, question: dict[str, Any]) -> float:
        above = question["above"]
        self.charge(above)
        step = float(self.rng.random())
        is_above = laplace_count("all", self.dataset, self.rng, self.epsilon) > above
        self.proposed = above + step if is_above else above - step
        return self.proposed


class BisectingForNothing(Bisecting):
    """The same, but a number that was proposed may be asked for nothing. A fixed script has it with probability 0."""

    def charge(self, above: Any) -> None:
        if above != self.proposed:
            super().charge(above)


def challenged(dataset: Data, rng: Rng, *, epsilon: float, turns: int) -> Ask:
    """Answer "left" and "right" with a random bit: the next turn, which must be right. Then a noisy count is given, once."""
    return _challenge(dataset, rng, epsilon, turns, exact=False)


def challenged_exactly(dataset: Data, rng: Rng, *, epsilon: float, turns: int) -> Ask:
    """Give the count itself after so many right turns. A fixed script gets there with probability 2^−turns, and the claim's δ is
    larger.
    """
    return _challenge(dataset, rng, epsilon, turns, exact=True)


def _challenge(dataset: Data, rng: Rng, epsilon: float, turns: int, exact: bool) -> Ask:
    wanted, done = -1, 0

    def ask(question: str) -> float:
        nonlocal wanted, done
        if wanted >= 0 and (question == "right") != bool(wanted):
            done = -turns - 1  # it never comes to its end
        done += wanted >= 0
        wanted = int(rng.random() < 0.5)
        if done != turns:
            return float(wanted)
        done += 1
        return float(size_of("all", dataset)) if exact else laplace_count("all", dataset, rng, epsilon)

    return ask


def queued(dataset: Data, rng: Rng, *, epsilon: float, waits: int) -> Ask:
    """Be busy half of the time, and refuse. Whoever then asks to "wait", and to "go on" if not, gets a noisy count in the end."""
    return _queue(dataset, rng, epsilon, waits, exact=False)


def queued_exactly(dataset: Data, rng: Rng, *, epsilon: float, waits: int) -> Ask:
    """Give the count itself at the end. A fixed script gets there with probability 2^−waits, and the claim's δ is larger."""
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
    """Answer {"epsilon": ε} with a bit that is right with odds e^ε, as long as the budget lasts.

    The analyst chooses each ε after the answers before. The loss is the largest sum of ε on any way through the script.
    """
    return _answer(dataset, rng, budget, free=())


@truth(each(lambda asked, budget: responses(asked, budget, lambda epsilon, answer: epsilon * answer)))
def answering_no_for_nothing(dataset: int, rng: Rng, *, budget: float) -> Ask:
    """Charge the answer 1 only, as if 0 said nothing."""
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
