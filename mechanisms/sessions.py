"""Sessions that answer many questions under one budget: each sound one, and a faulty twin with a bug of its bookkeeping.

A session is made by f(dataset, rng, …), where the data set is an array of numbers from 0 to 10, one of each person, and is called
with a question. It promises ε = ``budget`` on all that it ever answers. Where no source is given, the bug is invented after
those that issue trackers show.
"""

import math
from collections.abc import Callable
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


Ask = Callable[[Any], Any]


def charged(dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> Ask:
    """Answer sizes of groups; each answer is charged before it is made."""
    ledger = Ledger(budget)

    def ask(group: str) -> float:
        ledger.charge(epsilon)
        return laplace_count(group, dataset, rng, epsilon)

    return ask


def charged_too_late(dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> Ask:
    """Answer as long as something is left: the last answer may cost more than that."""
    spent = 0.0

    def ask(group: str) -> float:
        nonlocal spent
        if spent >= budget:
            raise OutOfBudgetError("the budget is spent")
        spent += epsilon
        return laplace_count(group, dataset, rng, epsilon)

    return ask


def refunding(dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> Ask:
    """Give the cost back where a question is refused, although a refusal was never charged."""
    ledger = Ledger(budget)

    def ask(group: str) -> float:
        try:
            ledger.charge(epsilon)
        except OutOfBudgetError:
            ledger.spent -= epsilon
            raise
        return laplace_count(group, dataset, rng, epsilon)

    return ask


def explaining(dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> Ask:
    """Say in a refusal how many rows the question would have touched."""
    ledger = Ledger(budget)

    def ask(group: str) -> float:
        try:
            ledger.charge(epsilon)
        except OutOfBudgetError as error:
            raise OutOfBudgetError(f"{error}: {size_of(group, dataset)} rows are not counted") from None
        return laplace_count(group, dataset, rng, epsilon)

    return ask


def correlated(dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> Ask:
    """Draw the noise once, and add it to every answer: differences of answers are exact."""
    ledger, noise = Ledger(budget), float(rng.laplace(0.0, 1 / epsilon))

    def ask(group: str) -> float:
        ledger.charge(epsilon)
        return size_of(group, dataset) + noise

    return ask


def remembering(dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> Ask:
    """Answer a question that was answered before as before, and for nothing. Words are compared without their case."""
    ledger, known = Ledger(budget), dict[str, float]()

    def ask(group: str) -> float:
        name = group.lower()
        if name not in known:
            ledger.charge(epsilon)
            known[name] = laplace_count(name, dataset, rng, epsilon)
        return known[name]

    return ask


def remembering_words(dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> Ask:
    """Keep answers by the question as it is written, and what was paid for by what it means."""
    ledger, known, paid = Ledger(budget), dict[str, float](), set[str]()

    def ask(group: str) -> float:
        name = group.lower()
        if name not in paid:
            ledger.charge(epsilon)
            paid.add(name)
        if group not in known:
            known[group] = laplace_count(name, dataset, rng, epsilon)
        return known[group]

    return ask


def remembering_the_last(dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> Ask:
    """Keep the last answer only, but all that was paid for: an earlier question is answered anew, for nothing."""
    ledger, known, paid = Ledger(budget), dict[str, float](), set[str]()

    def ask(group: str) -> float:
        name = group.lower()
        if name not in paid:
            ledger.charge(epsilon)
            paid.add(name)
        if name not in known:
            known.clear()
            known[name] = laplace_count(name, dataset, rng, epsilon)
        return known[name]

    return ask


class Accounted:
    """A count at each "step", and the spent ε by "epsilon"; steps end when their history fills the budget."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> None:
        self.dataset, self.rng, self.epsilon, self.budget = dataset, rng, epsilon, budget
        self.history: list[float] = []

    def get_epsilon(self) -> float:
        """Return what the history has cost."""
        return sum(self.history)

    def __call__(self, question: str) -> float:
        if question == "epsilon":
            return self.get_epsilon()
        if sum(self.history) + self.epsilon > self.budget * (1 + 1e-9):
            raise OutOfBudgetError("the budget is spent")
        self.history.append(self.epsilon)
        return laplace_count("all", self.dataset, self.rng, self.epsilon)


class AccountedByPop(Accounted):
    """The same, but asking for ε takes the last entry out of the history (opacus issue 535: ``self.history.pop()``)."""

    def get_epsilon(self) -> float:
        return sum(self.history) - self.history[-1] + self.history.pop() if self.history else 0.0


def in_parallel(dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> Ask:
    """Charge questions on groups without a common record once: "small" and "large" cost as much as one of them."""
    return _by_group(dataset, rng, epsilon, budget, lambda spent: max(spent["small"], spent["large"]) + spent["all"])


def in_parallel_by_name(dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> Ask:
    """Charge questions on groups of different names once, although "all" has records of both others.

    So the order and the mixture of questions decide what they cost, as in PySyft's issue 6917.
    """
    return _by_group(dataset, rng, epsilon, budget, lambda spent: max(spent.values()))


def _by_group(dataset: Data, rng: Rng, epsilon: float, budget: float, cost: Callable[[dict[str, float]], float]) -> Ask:
    spent = dict.fromkeys(("all", "small", "large"), 0.0)

    def ask(group: str) -> float:
        after = {**spent, group: spent[group] + epsilon}
        if cost(after) > budget * (1 + 1e-9):
            raise OutOfBudgetError("the budget is spent")
        spent.update(after)
        return laplace_count(group, dataset, rng, epsilon)

    return ask


def refusing_by_noise(dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> Ask:
    """Refuse a group whose noisy size is below 2."""
    ledger = Ledger(budget)

    def ask(group: str) -> float | None:
        ledger.charge(epsilon)
        noisy = laplace_count(group, dataset, rng, epsilon)
        return noisy if noisy >= 2 else None

    return ask


def refusing_small_groups(dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> Ask:
    """Refuse a group of less than 2 records: the refusal tells it."""
    ledger = Ledger(budget)

    def ask(group: str) -> float | None:
        ledger.charge(epsilon)
        return laplace_count(group, dataset, rng, epsilon) if size_of(group, dataset) >= 2 else None

    return ask


class Metered:
    """Says after each answer what was spent."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float, budget: float) -> None:
        self.dataset, self.rng, self.epsilon, self.ledger = dataset, rng, epsilon, Ledger(budget)

    @property
    def spent(self) -> float:
        """What was spent so far."""
        return self.ledger.spent

    def cost(self, group: str) -> float:
        """Return what a question costs."""
        return self.epsilon

    def __call__(self, group: str) -> float:
        self.ledger.charge(self.cost(group))
        return laplace_count(group, self.dataset, self.rng, self.epsilon)


class MeteredByRows(Metered):
    """The same, but a group without records costs nothing (PySyft's issue 6916 asks for budgets by data subject)."""

    def cost(self, group: str) -> float:
        return self.epsilon if size_of(group, self.dataset) else 0.0


def priced(dataset: Data, rng: Rng, *, budget: float) -> Ask:
    """Answer {"epsilon": ε} with a count at that ε, and charge it."""
    ledger = Ledger(budget)

    def ask(question: dict[str, float]) -> float:
        epsilon = question["epsilon"]
        if not epsilon > 0:
            raise ValueError("epsilon must be above 0")
        ledger.charge(epsilon)
        return laplace_count("all", dataset, rng, epsilon)

    return ask


def priced_in_units(dataset: Data, rng: Rng, *, budget: float) -> Ask:
    """Charge whole units only: less than one costs nothing."""
    ledger = Ledger(budget)

    def ask(question: dict[str, float]) -> float:
        epsilon = question["epsilon"]
        if not epsilon > 0:
            raise ValueError("epsilon must be above 0")
        ledger.charge(int(epsilon))
        return laplace_count("all", dataset, rng, epsilon)

    return ask


def priced_unchecked(dataset: Data, rng: Rng, *, budget: float) -> Ask:
    """Charge before ε is looked at: a negative ε is refused, but makes room in the budget."""
    ledger = Ledger(budget)

    def ask(question: dict[str, float]) -> float:
        epsilon = question["epsilon"]
        ledger.charge(epsilon)
        if not epsilon > 0:
            raise ValueError("epsilon must be above 0")
        return laplace_count("all", dataset, rng, epsilon)

    return ask


def splitting(dataset: Data, rng: Rng, *, budget: float) -> Ask:
    """Split the budget: "split" gives half of what is left to a child; "parent" and "child" spend all they have on a count."""
    return _split(dataset, rng, budget, kept=0.5)


def splitting_unshared(dataset: Data, rng: Rng, *, budget: float) -> Ask:
    """Give a child half of what is left, and keep the whole."""
    return _split(dataset, rng, budget, kept=1.0)


def _split(dataset: Data, rng: Rng, budget: float, kept: float) -> Ask:
    left = {"parent": budget, "child": 0.0}

    def ask(question: str) -> float | str:
        if question == "split":
            left["child"] += left["parent"] / 2
            left["parent"] *= kept
            return "split"
        epsilon, left[question] = left[question], 0.0
        if not epsilon:
            raise OutOfBudgetError(f"the {question} has nothing left")
        return laplace_count("all", dataset, rng, epsilon)

    return ask


# The answer of a sparse vector that has ended; else it is 1 (above) or 0 (below).
ENDED = -1


class SparseVectorSession:
    """A sparse vector of unknown length: is a group's size above a threshold? It ends at the first answer above.

    The threshold has noise of scale 2/ε, each size of scale 4/ε (Lyu, Su & Li 2017, Algorithm 1 with cutoff 1): ε in all,
    however many questions are answered below.
    """

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float, threshold: float) -> None:
        self.dataset, self.rng, self.epsilon, self.threshold = dataset, rng, epsilon, threshold
        self.noisy, self.ended = threshold + float(rng.laplace(0.0, 2 / epsilon)), False

    def size(self, group: str) -> float:
        """Return a noisy size."""
        return size_of(group, self.dataset) + float(self.rng.laplace(0.0, 4 / self.epsilon))

    def __call__(self, group: str) -> float:
        if self.ended:
            return ENDED
        self.ended = self.size(group) >= self.noisy
        return int(self.ended)


class SparseVectorWithoutEnd(SparseVectorSession):
    """The same, but it goes on after an answer above (Lyu, Su & Li 2017, Algorithm 6)."""

    def __call__(self, group: str) -> float:
        return int(self.size(group) >= self.noisy)


class SparseVectorWithValue(SparseVectorSession):
    """The same, but the answer above is the noisy size that was compared (Lyu, Su & Li 2017, Algorithm 3)."""

    def __call__(self, group: str) -> float:
        if self.ended:
            return ENDED
        size = self.size(group)
        self.ended = size >= self.noisy
        return size if self.ended else 0


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
