"""Sessions that answer many questions under one budget: each sound one, and a faulty twin, which is the same with a bug.

A session is made by f(dataset, rng, …), where the data set is an array of numbers from 0 to 10, one of each person, and is called
with a question. It promises ε = ``budget`` on all that it ever answers. Where no source is given, the bug is invented after
those that issue trackers show.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Data = NDArray[np.float64]
Rng = np.random.Generator


class OutOfBudgetError(Exception):
    """A question costs more than what is left."""


def size_of(group: str, data: Data) -> int:
    """Return how many records a group has: of all records, of those above 5, or of the others. One person changes it by 1."""
    named = {"all": data >= 0, "large": data > 5, "small": data <= 5}
    return int(np.count_nonzero(named[group]))


def laplace_count(group: str, data: Data, rng: Rng, epsilon: float) -> float:
    """Return a noisy size, which is ε-private."""
    return size_of(group, data) + float(rng.laplace(0.0, 1 / epsilon))


class Ledger:
    """What may be spent, and what was. A cost that does not fit is refused before anything is answered."""

    def __init__(self, budget: float) -> None:
        self.budget, self.spent = budget, 0.0

    def charge(self, cost: float) -> None:
        """Spend, or raise OutOfBudgetError and spend nothing."""
        if self.spent + cost > self.budget * (1 + 1e-9):
            raise OutOfBudgetError("the budget is spent")
        self.spent += cost


class Charged:
    """Answers sizes of groups; each answer is charged before it is made."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> None:
        self.dataset, self.rng, self.epsilon, self.ledger = dataset, rng, epsilon, Ledger(budget)

    def cost(self, group: str) -> float:
        """Return what a question costs."""
        return self.epsilon

    def answer(self, group: str) -> float:
        """Return a new noisy size."""
        return laplace_count(group, self.dataset, self.rng, self.epsilon)

    def __call__(self, group: str) -> Any:
        self.ledger.charge(self.cost(group))
        return self.answer(group)


class ChargedTooLate(Charged):
    """The same, but it answers as long as something is left: the last answer may cost more than that."""

    def __call__(self, group: str) -> float:
        if self.ledger.spent >= self.ledger.budget:
            raise OutOfBudgetError("the budget is spent")
        self.ledger.spent += self.epsilon
        return self.answer(group)


class Refunding(Charged):
    """The same, but a refusal gives the cost back, although it was never charged."""

    def __call__(self, group: str) -> Any:
        try:
            return super().__call__(group)
        except OutOfBudgetError:
            self.ledger.spent -= self.epsilon
            raise


class CountingRefusals(Charged):
    """The same, but a refusal says how many rows the question would have touched."""

    def __call__(self, group: str) -> Any:
        try:
            return super().__call__(group)
        except OutOfBudgetError as error:
            raise OutOfBudgetError(f"{error}: {size_of(group, self.dataset)} rows are not counted") from None


class Correlated(Charged):
    """The same, but the noise is drawn once and added to every answer: differences of answers are exact."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> None:
        super().__init__(dataset, rng, epsilon=epsilon, budget=budget)
        self.noise = float(rng.laplace(0.0, 1 / epsilon))

    def answer(self, group: str) -> float:
        return size_of(group, self.dataset) + self.noise


class Remembering(Charged):
    """Answers a question that was answered before as before, and for nothing. Words are compared without their case."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> None:
        super().__init__(dataset, rng, epsilon=epsilon, budget=budget)
        self.known, self.paid = dict[str, float](), set[str]()

    def place(self, group: str) -> str:
        """Return the key of an answer."""
        return group.lower()

    def keep(self, place: str, answer: float) -> None:
        """Keep an answer."""
        self.known[place] = answer

    def __call__(self, group: str) -> float:
        name, place = group.lower(), self.place(group)
        if name not in self.paid:
            self.ledger.charge(self.cost(name))
            self.paid.add(name)
        if place not in self.known:
            self.keep(place, self.answer(name))
        return self.known[place]


class RememberingWords(Remembering):
    """The same, but answers are kept by the question as it is written, and what was paid for by what it means."""

    def place(self, group: str) -> str:
        return group


class RememberingTheLast(Remembering):
    """The same, but it keeps the last answer only, and all that was paid for: an earlier question is answered anew, for nothing."""

    def keep(self, place: str, answer: float) -> None:
        self.known = {place: answer}


class Accounted(Charged):
    """A count at each "step", and the spent ε by "epsilon"; steps end when their history fills the budget."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> None:
        super().__init__(dataset, rng, epsilon=epsilon, budget=budget)
        self.history: list[float] = []

    def get_epsilon(self) -> float:
        """Return what the history has cost."""
        return sum(self.history)

    def __call__(self, question: str) -> float:
        if question == "epsilon":
            return self.get_epsilon()
        if sum(self.history) + self.epsilon > self.ledger.budget * (1 + 1e-9):
            raise OutOfBudgetError("the budget is spent")
        self.history.append(self.epsilon)
        return self.answer("all")


class AccountedByPop(Accounted):
    """The same, but asking for ε takes the last entry out of the history (opacus issue 535: ``self.history.pop()``)."""

    def get_epsilon(self) -> float:
        return sum(self.history) - self.history[-1] + self.history.pop() if self.history else 0.0


class InParallel(Charged):
    """Charges questions on groups without a common record once: "small" and "large" cost as much as one of them."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> None:
        super().__init__(dataset, rng, epsilon=epsilon, budget=budget)
        self.spent_on = dict.fromkeys(("all", "small", "large"), 0.0)

    def together(self, spent_on: dict[str, float]) -> float:
        """Return the cost of all questions, by what each group cost."""
        return max(spent_on["small"], spent_on["large"]) + spent_on["all"]

    def cost(self, group: str) -> float:
        before = self.together(self.spent_on)
        return self.together({**self.spent_on, group: self.spent_on[group] + self.epsilon}) - before

    def answer(self, group: str) -> float:
        self.spent_on[group] += self.epsilon
        return super().answer(group)


class InParallelByName(InParallel):
    """The same, but groups of different names are charged once, although "all" has records of both others.

    So the order and the mixture of questions decide what they cost, as in PySyft's issue 6917.
    """

    def together(self, spent_on: dict[str, float]) -> float:
        return max(spent_on.values())


class RefusingByNoise(Charged):
    """Refuses a group whose noisy size is below 2."""

    def is_small(self, group: str, noisy: float) -> bool:
        """Return whether a group is refused."""
        return noisy < 2

    def __call__(self, group: str) -> float | None:
        noisy = super().__call__(group)
        return None if self.is_small(group, noisy) else noisy


class RefusingSmallGroups(RefusingByNoise):
    """The same, but it looks at the size itself: the refusal tells it."""

    def is_small(self, group: str, noisy: float) -> bool:
        return size_of(group, self.dataset) < 2


class Metered(Charged):
    """Says after each answer what was spent."""

    @property
    def spent(self) -> float:
        """What was spent so far."""
        return self.ledger.spent


class MeteredByRows(Metered):
    """The same, but a group without records costs nothing (PySyft's issue 6916 asks for budgets by data subject)."""

    def cost(self, group: str) -> float:
        return self.epsilon if size_of(group, self.dataset) else 0.0


class Priced:
    """Answers {"epsilon": ε} with a count at that ε, and charges it."""

    def __init__(self, dataset: Data, rng: Rng, *, budget: float) -> None:
        self.dataset, self.rng, self.ledger = dataset, rng, Ledger(budget)

    def check(self, epsilon: float) -> None:
        """Raise ValueError if ε is not above 0."""
        if not epsilon > 0:
            raise ValueError("epsilon must be above 0")

    def charge(self, epsilon: float) -> None:
        """Charge a question."""
        self.ledger.charge(epsilon)

    def __call__(self, question: dict[str, float]) -> float:
        epsilon = question["epsilon"]
        self.check(epsilon)
        self.charge(epsilon)
        return laplace_count("all", self.dataset, self.rng, epsilon)


class PricedInUnits(Priced):
    """The same, but whole units only are charged: less than one costs nothing."""

    def charge(self, epsilon: float) -> None:
        super().charge(int(epsilon))


class PricedUnchecked(Priced):
    """The same, but ε is charged before it is looked at: a negative ε is refused, and makes room in the budget."""

    def check(self, epsilon: float) -> None:
        if epsilon <= 0:
            self.charge(epsilon)
        super().check(epsilon)


class Splitting:
    """Splits the budget: "split" gives half of what is left to a child; "parent" and "child" spend all they have on a count."""

    kept = 0.5

    def __init__(self, dataset: Data, rng: Rng, *, budget: float) -> None:
        self.dataset, self.rng, self.left = dataset, rng, {"parent": budget, "child": 0.0}

    def __call__(self, question: str) -> float | str:
        if question == "split":
            self.left["child"] += self.left["parent"] / 2
            self.left["parent"] *= self.kept
            return "split"
        epsilon, self.left[question] = self.left[question], 0.0
        if not epsilon:
            raise OutOfBudgetError(f"the {question} has nothing left")
        return laplace_count("all", self.dataset, self.rng, epsilon)


class SplittingUnshared(Splitting):
    """The same, but the parent keeps all that it had."""

    kept = 1.0


class SparseVectorSession:
    """A sparse vector of unknown length: is a group's size above a threshold (1) or not (0)? It ends at the first answer 1.

    The threshold has noise of scale 2/ε, each size of scale 4/ε (Lyu, Su & Li 2017, Algorithm 1 with cutoff 1): ε in all,
    however many questions are answered below.
    """

    scale = 4.0

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float, threshold: float) -> None:
        self.dataset, self.rng, self.epsilon = dataset, rng, epsilon
        self.noisy, self.ended = threshold + float(rng.laplace(0.0, 2 / epsilon)), False

    def answer(self, size: float, is_above: bool) -> float | str:
        """Return the answer for a noisy size, and end with the first one above."""
        self.ended = is_above
        return int(is_above)

    def __call__(self, group: str) -> float | str:
        if self.ended:
            raise OutOfBudgetError("an answer was above")
        size = size_of(group, self.dataset) + float(self.rng.laplace(0.0, self.scale / self.epsilon))
        return self.answer(size, size >= self.noisy)


class SparseVectorWithoutEnd(SparseVectorSession):
    """The same, but it goes on after an answer above, and has half of the noise (Lyu, Su & Li 2017, Algorithm 6)."""

    scale = 2.0

    def answer(self, size: float, is_above: bool) -> float:
        return int(is_above)


class SparseVectorWithValue(SparseVectorSession):
    """The same, but the answer above is the noisy size itself, which has half of the noise (Lyu, Su & Li 2017, Algorithm 3)."""

    scale = 2.0

    def answer(self, size: float, is_above: bool) -> float | str:
        super().answer(size, is_above)
        return size if is_above else "below"


class Odometer:
    """Answers {"epsilon": ε} without end, and says what was spent: at any time, the loss so far is at most that."""

    def __init__(self, dataset: Data, rng: Rng) -> None:
        self.dataset, self.rng, self.costs = dataset, rng, list[float]()

    @property
    def spent(self) -> float:
        """The sum of all costs."""
        return sum(self.costs)

    def __call__(self, question: dict[str, float]) -> float:
        epsilon = question["epsilon"]
        if not epsilon > 0:
            raise ValueError("epsilon must be above 0")
        self.costs.append(epsilon)
        return laplace_count("all", self.dataset, self.rng, epsilon)


class OdometerOfTheLargest(Odometer):
    """The same, but it says the largest cost, as if all questions were on groups without a common record."""

    @property
    def spent(self) -> float:
        """The largest cost."""
        return max(self.costs, default=0.0)


class OdometerBySquares(Odometer):
    """The same, but it adds up squares, as noise of several questions adds up and loss does not."""

    @property
    def spent(self) -> float:
        """The root of the sum of squares."""
        return math.hypot(*self.costs)
