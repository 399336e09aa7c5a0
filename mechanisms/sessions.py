"""Sessions that answer many questions under one budget, each sound one with a twin that has a bug.

A session is made by f(dataset, rng, …), where the data set is an array of numbers from 0 to 10, one per person, and is called
with a question. It promises ε = ``budget`` for all its answers together. Bugs without a cited source are invented after those
in issue trackers.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Data = NDArray[np.float64]
Rng = np.random.Generator


class OutOfBudgetError(Exception):
    """A question costs more than the remaining budget."""


def size_of(group: str, data: Data) -> int:
    """Return the size of a group: all records, those above 5 (large), or the others (small). One person changes it by 1."""
    named = {"all": data >= 0, "large": data > 5, "small": data <= 5}
    return int(np.count_nonzero(named[group]))


def laplace_count(group: str, data: Data, rng: Rng, epsilon: float) -> float:
    """Return an ε-DP noisy group size."""
    return size_of(group, data) + float(rng.laplace(0.0, 1 / epsilon))


class Ledger:
    """The budget and what was spent of it. A cost that exceeds the rest is refused before anything is answered."""

    def __init__(self, budget: float) -> None:
        self.budget, self.spent = budget, 0.0

    def charge(self, cost: float) -> None:
        """Spend the cost, or raise OutOfBudgetError and spend nothing."""
        if self.spent + cost > self.budget * (1 + 1e-9):
            raise OutOfBudgetError("the budget is spent")
        self.spent += cost


class Charged:
    """Answers group sizes; each answer is charged before it is computed."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> None:
        self.dataset, self.rng, self.epsilon, self.ledger = dataset, rng, epsilon, Ledger(budget)

    def cost(self, group: str) -> float:
        """Return the cost of a question."""
        return self.epsilon

    def answer(self, group: str) -> float:
        """Return a noisy size with fresh noise."""
        return laplace_count(group, self.dataset, self.rng, self.epsilon)

    def __call__(self, group: str) -> Any:
        self.ledger.charge(self.cost(group))
        return self.answer(group)


class ChargedTooLate(Charged):
    """As Charged, but answers while any budget is left: the last answer may cost more than the rest."""

    def __call__(self, group: str) -> float:
        if self.ledger.spent >= self.ledger.budget:
            raise OutOfBudgetError("the budget is spent")
        self.ledger.spent += self.epsilon
        return self.answer(group)


class Refunding(Charged):
    """As Charged, but a refusal refunds the cost, although it was never charged."""

    def __call__(self, group: str) -> Any:
        try:
            return super().__call__(group)
        except OutOfBudgetError:
            self.ledger.spent -= self.epsilon
            raise


class CountingRefusals(Charged):
    """As Charged, but a refusal reveals how many rows the question would have touched."""

    def __call__(self, group: str) -> Any:
        try:
            return super().__call__(group)
        except OutOfBudgetError as error:
            raise OutOfBudgetError(f"{error}: {size_of(group, self.dataset)} rows are not counted") from None


class Correlated(Charged):
    """As Charged, but one draw of noise is added to every answer, so differences between answers are exact."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> None:
        super().__init__(dataset, rng, epsilon=epsilon, budget=budget)
        self.noise = float(rng.laplace(0.0, 1 / epsilon))

    def answer(self, group: str) -> float:
        return size_of(group, self.dataset) + self.noise


class Remembering(Charged):
    """Repeats the answer to a repeated question free of charge. Questions are compared case-insensitively."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> None:
        super().__init__(dataset, rng, epsilon=epsilon, budget=budget)
        self.known, self.paid = dict[str, float](), set[str]()

    def place(self, group: str) -> str:
        """Return the key under which an answer is cached."""
        return group.lower()

    def keep(self, place: str, answer: float) -> None:
        """Cache an answer."""
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
    """As Remembering, but answers are cached by the literal question, while payment is tracked case-insensitively."""

    def place(self, group: str) -> str:
        return group


class RememberingTheLast(Remembering):
    """As Remembering, but caches only the last answer: an earlier question that was paid for gets a fresh answer for free."""

    def keep(self, place: str, answer: float) -> None:
        self.known = {place: answer}


class Accounted(Charged):
    """Answers each "step" with a count, and "epsilon" with the spent ε; steps end when their history exhausts the budget."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> None:
        super().__init__(dataset, rng, epsilon=epsilon, budget=budget)
        self.history: list[float] = []

    def get_epsilon(self) -> float:
        """Return the cost of the history."""
        return sum(self.history)

    def __call__(self, question: str) -> float:
        if question == "epsilon":
            return self.get_epsilon()
        if sum(self.history) + self.epsilon > self.ledger.budget * (1 + 1e-9):
            raise OutOfBudgetError("the budget is spent")
        self.history.append(self.epsilon)
        return self.answer("all")


class AccountedByPop(Accounted):
    """As Accounted, but asking for ε removes the last history entry (opacus issue 535: ``self.history.pop()``)."""

    def get_epsilon(self) -> float:
        return sum(self.history) - self.history[-1] + self.history.pop() if self.history else 0.0


class InParallel(Charged):
    """Uses parallel composition for disjoint groups: "small" and "large" together cost as much as one of them."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> None:
        super().__init__(dataset, rng, epsilon=epsilon, budget=budget)
        self.spent_on = dict.fromkeys(("all", "small", "large"), 0.0)

    def together(self, spent_on: dict[str, float]) -> float:
        """Return the cost of all questions from the cost per group."""
        return max(spent_on["small"], spent_on["large"]) + spent_on["all"]

    def cost(self, group: str) -> float:
        before = self.together(self.spent_on)
        return self.together({**self.spent_on, group: self.spent_on[group] + self.epsilon}) - before

    def answer(self, group: str) -> float:
        self.spent_on[group] += self.epsilon
        return super().answer(group)


class InParallelByName(InParallel):
    """As InParallel, but treats any two names as disjoint groups, although "all" overlaps both others.

    The cost of questions then depends on their order and mixture, as in PySyft's issue 6917.
    """

    def together(self, spent_on: dict[str, float]) -> float:
        return max(spent_on.values())


class RefusingByNoise(Charged):
    """Refuses groups whose noisy size is below 2."""

    def is_small(self, group: str, noisy: float) -> bool:
        """Return whether a group is refused."""
        return noisy < 2

    def __call__(self, group: str) -> float | None:
        noisy = super().__call__(group)
        return None if self.is_small(group, noisy) else noisy


class RefusingSmallGroups(RefusingByNoise):
    """As RefusingByNoise, but compares the exact size, which the refusal then reveals."""

    def is_small(self, group: str, noisy: float) -> bool:
        return size_of(group, self.dataset) < 2


class Metered(Charged):
    """Reports the spent budget after each answer."""

    @property
    def spent(self) -> float:
        """What was spent so far."""
        return self.ledger.spent


class MeteredByRows(Metered):
    """As Metered, but an empty group costs nothing (PySyft's issue 6916 asks for budgets per data subject)."""

    def cost(self, group: str) -> float:
        return self.epsilon if size_of(group, self.dataset) else 0.0


class Priced:
    """Answers {"epsilon": ε} with a count at that ε, and charges ε."""

    def __init__(self, dataset: Data, rng: Rng, *, budget: float) -> None:
        self.dataset, self.rng, self.ledger = dataset, rng, Ledger(budget)

    def check(self, epsilon: float) -> None:
        """Raise ValueError unless ε is above 0."""
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
    """As Priced, but charges whole units only, so less than one unit is free."""

    def charge(self, epsilon: float) -> None:
        super().charge(int(epsilon))


class PricedUnchecked(Priced):
    """As Priced, but charges ε before checking it: a negative ε is refused, and yet frees budget."""

    def check(self, epsilon: float) -> None:
        if epsilon <= 0:
            self.charge(epsilon)
        super().check(epsilon)


class Splitting:
    """Splits the budget: "split" gives half of the rest to a child; "parent" and "child" spend all their budget on a count."""

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
    """As Splitting, but the parent keeps its whole budget."""

    kept = 1.0


class SparseVectorSession:
    """A sparse vector of unbounded length: is a group's size above a threshold (1) or not (0)? It ends at the first answer 1.

    The threshold has noise of scale 2/ε and each size noise of scale 4/ε (Lyu, Su & Li 2017, Algorithm 1 with cutoff 1): ε in
    total, however many questions are answered below.
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
    """As SparseVectorSession, but continues after an answer above, with half the noise (Lyu, Su & Li 2017, Algorithm 6)."""

    scale = 2.0

    def answer(self, size: float, is_above: bool) -> float:
        return int(is_above)


class SparseVectorWithValue(SparseVectorSession):
    """As SparseVectorSession, but the answer above is the noisy size, with half the noise (Lyu, Su & Li 2017, Algorithm 3)."""

    scale = 2.0

    def answer(self, size: float, is_above: bool) -> float | str:
        super().answer(size, is_above)
        return size if is_above else "below"


class Odometer:
    """Answers {"epsilon": ε} without limit and reports the spent ε, which bounds the loss at any time."""

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
    """As Odometer, but reports the largest cost, as if all groups were disjoint."""

    @property
    def spent(self) -> float:
        """The largest cost."""
        return max(self.costs, default=0.0)


class OdometerBySquares(Odometer):
    """As Odometer, but adds costs in quadrature, as independent noise adds up and privacy loss does not."""

    @property
    def spent(self) -> float:
        """The root of the sum of squares."""
        return math.hypot(*self.costs)
