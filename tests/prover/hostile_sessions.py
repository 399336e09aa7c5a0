# mypy: ignore-errors
# ruff: noqa
"""Sessions that look private and are not, for the prover; none may be proved. The comment above each session says how it
breaks its claim.

All claim ε = 1 for all their answers together. A data set is an array of numbers from 0 to 10, one for each person.
"""

import functools

import numpy as np


def count(data, rng, epsilon=1.0):
    return len(data) + float(rng.laplace(0.0, 1 / epsilon))


class BudgetError(Exception):
    pass


class BudgetWithDataError(Exception):
    def __init__(self, data):
        super().__init__(len(data))


class Ledger:
    def __init__(self, budget):
        self.budget, self.spent = budget, 0.0

    def charge(self, cost):
        if self.spent + cost > self.budget * (1 + 1e-9):
            raise BudgetError("the budget is spent")
        self.spent += cost


class Base:
    def __init__(self, dataset, rng):
        self.dataset, self.rng, self.ledger = dataset, rng, Ledger(1.0)

    def noisy(self, epsilon=1.0):
        return count(self.dataset, self.rng, epsilon)

    def __call__(self, question):
        self.ledger.charge(1.0)
        return self.noisy()


# "more" compares an answer with the same unreleased noise, free of charge.
class UnreleasedDraw(Base):
    def __init__(self, dataset, rng):
        super().__init__(dataset, rng)
        self.noise = float(rng.laplace(0.0, 1.0))

    def __call__(self, question):
        if question == "more":
            return len(self.dataset) + 2 * self.noise
        self.ledger.charge(1.0)
        return len(self.dataset) + self.noise


# The set of allowed questions depends on the number of records.
class BudgetOfData(Base):
    def __init__(self, dataset, rng):
        super().__init__(dataset, rng)
        self.ledger = Ledger(1.0 if len(dataset) < 2 else 2.0)


# Answers are cached by the number of records, so that the price of a repetition reveals that number.
class CacheOfData(Base):
    def __init__(self, dataset, rng):
        super().__init__(dataset, rng)
        self.kept = {1: 0.5}

    def __call__(self, question):
        if len(self.dataset) not in self.kept:
            self.kept[len(self.dataset)] = super().__call__(question)
        return self.kept[len(self.dataset)]


# The refusal of the second question contains the number of records.
class RefusalOfData(Base):
    def __call__(self, question):
        if self.ledger.spent + 1.0 > 1.0:
            raise BudgetError(len(self.dataset))
        return super().__call__(question)


# The exception has a constructor of its own, which reveals the number of records.
class RefusalByConstructor(Base):
    def __call__(self, question):
        if self.ledger.spent > 0:
            raise BudgetWithDataError(self.dataset)
        return super().__call__(question)


# The budget is a class attribute: what an earlier session spent shows in this one.
class StateOfClass(Base):
    spent = 0.0

    def __call__(self, question):
        StateOfClass.spent += 1.0
        return self.noisy()


# All sessions share the list, which keeps the first data set that it meets.
class ListOfClass(Base):
    kept = []

    def __call__(self, question):
        self.kept.append(len(self.dataset))
        return float(self.kept[0])


# As above, in a parameter's default.
class ListOfDefault(Base):
    def __call__(self, question, kept=[]):
        kept.append(len(self.dataset))
        return float(kept[0])


# Each question has noise for half of ε: two of them spend 1, and a third is answered as well.
class OneTooMany(Base):
    def __call__(self, question):
        if self.ledger.spent > 1.0:
            raise BudgetError("the budget is spent")
        self.ledger.spent += 0.5
        return self.noisy(0.5)


# The session is sound for three questions, and answers the fourth without charging for it.
class AfterThree(Base):
    def __init__(self, dataset, rng):
        super().__init__(dataset, rng)
        self.asked = 0

    def __call__(self, question):
        self.asked += 1
        if self.asked > 3:
            return float(len(self.dataset))
        return super().__call__(question)


# "a" and then "b" resets the spent budget; "b" and then "a" does not.
class Order(Base):
    def __call__(self, question):
        if question == "a":
            self.ledger.charge(1.0)
            return self.noisy()
        if self.ledger.spent:
            self.ledger.spent = 0.0
        return "reset"


# "a" modifies the data: each value of the first record becomes a million.
class Mutating(Base):
    def __call__(self, question):
        if question == "b":
            self.dataset *= 1_000_000.0
            return "changed"
        self.ledger.charge(1.0)
        return float(np.clip(self.dataset, 0.0, 1e7).sum() / 10.0) + float(self.rng.laplace(0.0, 1.0))


# The session writes the count into a list that it gave as an answer, and removes it later: an analyst who looks in between sees it.
class AnswerThatGrowsForAWhile(Base):
    def __init__(self, dataset, rng):
        super().__init__(dataset, rng)
        self.given, self.turn = [], 0

    def __call__(self, question):
        self.turn += 1
        if self.turn == 1:
            return self.given
        if self.turn == 2:
            self.given.append(len(self.dataset))
        else:
            self.given.clear()
        return "noted"


# It writes into an array that it gave as an answer.
class ArrayThatChanges(Base):
    def __init__(self, dataset, rng):
        super().__init__(dataset, rng)
        self.given = np.zeros(1)

    def __call__(self, question):
        self.given[0] = len(self.dataset) if question == "b" else 0.0
        return self.given


# The budget that it reports, by a method and only after a question, is the number of records.
class RemainingOfData(Base):
    def __call__(self, question):
        self.remaining = lambda: float(len(self.dataset))
        return super().__call__(question)


# Reading the budget spends it: each reading removes noise from a cached answer.
class ReadingChanges(Base):
    def __init__(self, dataset, rng):
        super().__init__(dataset, rng)
        self.read = 0

    @property
    def spent(self):
        self.read += 1
        return float(len(self.dataset)) if self.read > 5 else 0.0


# A subclass answers, with a method that differs from its base's.
class Overriding(Base):
    def noisy(self, epsilon=1.0):
        return count(self.dataset, self.rng, 4.0)


class Left(Base):
    def noisy(self, epsilon=1.0):
        return super().noisy(epsilon)


class Right(Base):
    def noisy(self, epsilon=1.0):
        return count(self.dataset, self.rng, 4.0)


# The base after Left is Right, and not Base.
class Diamond(Left, Right):
    pass


# Special methods may do anything.
class Getting(Base):
    def __getattr__(self, name):
        return 4.0

    def __call__(self, question):
        self.ledger.charge(1.0)
        return self.noisy(self.epsilon)


class Widened(type):
    def __call__(cls, dataset, rng):
        return Overriding(dataset, rng)


class OfAnotherType(Base, metaclass=Widened):
    pass


# A decorated method is whatever the decorator returned.
def louder(function):
    @functools.wraps(function)
    def inner(self, question):
        return function(self, question) if self.ledger.spent else float(len(self.dataset))

    return inner


class Decorated(Base):
    @louder
    def __call__(self, question):
        return super().__call__(question)


# An exception leaves the list in another order, whose first item is the number of records.
class SortedByRaising(Base):
    def __init__(self, dataset, rng):
        super().__init__(dataset, rng)
        self.items = [len(dataset), 0]

    def key(self, item):
        raise BudgetError("no")

    def __call__(self, question):
        if question == "b":
            self.items.sort(key=self.key)
        return self.items[0] if self.items else 0


# A map goes on after an exception, where a generator has ended.
class MapAfterRaising(Base):
    def __init__(self, dataset, rng):
        super().__init__(dataset, rng)
        self.stream = map(self.one, [0, len(dataset)])

    def one(self, item):
        if item == 0:
            raise BudgetError("no")
        return item

    def __call__(self, question):
        for item in self.stream:
            return item
        return 0


# An exception leaves the count in the state, for a later question.
class StateBeforeRaising(Base):
    def __init__(self, dataset, rng):
        super().__init__(dataset, rng)
        self.last = 0

    def __call__(self, question):
        if question == "a":
            return self.last
        self.last = len(self.dataset)
        raise BudgetError("no")


# Objects are compared by identity, which is their address.
class Compared(Base):
    def __call__(self, question):
        same = self.ledger == Ledger(1.0)
        return float(len(self.dataset)) if not same else self.noisy()


class InAList(Base):
    def __call__(self, question):
        return float(len(self.dataset)) if self.ledger not in [Ledger(1.0)] else self.noisy()


class Truth(Base):
    def __call__(self, question):
        return float(len(self.dataset)) if self.ledger else self.noisy()


class OwnClass(Base):
    def __call__(self, question):
        return float(len(self.dataset)) if isinstance(self, Base) else self.noisy()


# The second question is answered by another function.
def by_changing_function(dataset, rng):
    def exact(question):
        return float(len(dataset))

    asked = 0

    def ask(question):
        nonlocal asked
        asked += 1
        return exact(question) if asked > 1 else count(dataset, rng)

    return ask


class Asking:
    def __init__(self, dataset, rng):
        self.dataset, self.rng = dataset, rng

    def ask(self, question):
        return count(self.dataset, self.rng, 1.0)


# The method of an object: each question costs 1.
def by_method(dataset, rng):
    return Asking(dataset, rng).ask


# The module keeps one session for all calls.
SHARED = Asking(np.zeros(3), np.random.default_rng(0))


def from_outside(dataset, rng):
    return SHARED


# The question sets the ε.
class ByQuestion(Base):
    def __call__(self, question):
        self.ledger.charge(0.25)
        return self.noisy(4.0 if question == "b" else 0.25)


# Opening fails for an empty data set.
class OpeningByData(Base):
    def __init__(self, dataset, rng):
        super().__init__(dataset, rng)
        if len(dataset) == 0:
            raise BudgetError("there is nothing")


# An answer is the session, which holds the data.
class AnswersItself(Base):
    def __call__(self, question):
        return self


# KeyError is Python's own, and its text contains the key.
class KeyOfData(Base):
    def __call__(self, question):
        return {"never": 0}[len(self.dataset)]


# Two exceptions have the same name and text, but are different classes, which reveals whether there is a record.
def named_error(base):
    class NamedError(base):
        pass

    return NamedError


ONE_ERROR, OTHER_ERROR = named_error(Exception), named_error(Exception)


class TwoOfOneName(Base):
    def __call__(self, question):
        if len(self.dataset) == 0:
            raise ONE_ERROR("no")
        raise OTHER_ERROR("no")


# Laplace noise would keep the claim; Gaussian noise keeps no ε.
class Gaussian(Base):
    def __call__(self, question):
        return len(self.dataset) + float(self.rng.normal(0.0, 1.0))


HOSTILE = [
    *(UnreleasedDraw, BudgetOfData, CacheOfData, RefusalOfData, RefusalByConstructor, StateOfClass, ListOfClass),
    *(ListOfDefault, OneTooMany, AfterThree, Order, Mutating, AnswerThatGrowsForAWhile, ArrayThatChanges),
    *(RemainingOfData, ReadingChanges, Overriding, Diamond, Getting, OfAnotherType, Decorated),
    *(SortedByRaising, MapAfterRaising, StateBeforeRaising, Compared, InAList, Truth, OwnClass, by_changing_function),
    *(by_method, from_outside, ByQuestion, OpeningByData, AnswersItself, KeyOfData, TwoOfOneName, Gaussian),
]
