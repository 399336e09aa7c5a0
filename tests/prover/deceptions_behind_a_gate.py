# mypy: ignore-errors
# ruff: noqa
"""Programs whose fault stands behind a gate that random numbers do not open, so that only the models can refuse them.

Each returns a number with enough noise, but reveals the data where that number is above 300, by a construct that a careless
model of Python mistakes for another. (``unbound`` and ``glob`` are private, and use names that an evaluator may find
elsewhere.)
"""

import numpy as np
from deceptions_of_readers import raises_above, tells_above


x = 0.0


def annot(totals, rng):
    y = totals[0] + rng.laplace(0.0, 1.0)
    out = [y]

    def g(a: out.append(totals[0] if y > 300 else 0) or (out.pop() if y <= 300 else 0)):
        return 0

    return out


def unbound(totals, rng):
    y = totals[0] + rng.laplace(0.0, 1.0)
    m = totals[0] + rng.laplace(0.0, 1.0) * 0.5

    def g():
        return y

        class y:
            pass

    if y > 300:
        return g()
    return y


def glob(totals, rng):
    x = totals[0] + rng.laplace(0.0, 1.0)
    t = totals[0]
    n = x

    def g():
        if False:
            global x
        return x

    if x > 300:
        return x
    return n


def annsub(totals, rng):
    y = totals[0] + rng.laplace(0.0, 1.0)
    out = [y]
    if y > 300:
        out[0 if out.append(totals[0]) else 0]: int
    return out


def genlam(totals, y):
    out = [totals[0] + 0.0]
    add = lambda: out.append(y) or out.reverse() if True else (yield)
    add()
    return out[0]


def rev(totals, y):
    items = [y, 0]
    r = reversed(items)
    items.pop()
    total = totals[0] + 0.0
    for v in r:
        total = v
    return total


def dictvals(totals, y):
    d = {"a": 0.0, "b": y}
    for v in d.values():
        d["b"] = totals[0] + 0.0
    return v


def ext(totals, y):
    out = []
    out.extend((y if len(out) == 0 else totals[0] + 0.0) for i in range(2))
    return out


def aug(totals, y):
    out = []
    out += ((y if len(out) == 0 else totals[0] + 0.0) for i in range(2))
    return out


def sortk(totals, y):
    items = [1, 2]
    out = []
    items.sort(key=lambda i: out.append(y if len(items) == 2 else totals[0] + 0.0) or i)
    return out


def errst(totals, y):
    if totals[0] > 50:
        with np.errstate(foo="ignore"):
            pass


def revkey(totals, y):
    out = []
    sorted([0, 1], key=lambda i: out.append(i) or 0, reverse=True)
    return y if out[0] == 1 else totals[0] + 0.0


def stopmap(totals, y):
    def stop(i):
        raise StopIteration

    list(map(stop, [1]))
    return totals[0] + 0.0


def mapnone(totals, y):
    if totals[0] > 50:
        map(abs)


def starkw(totals, y):
    def g(**kw):
        return 0

    if totals[0] > 50:
        g(**{1: 2})


def mapzip(totals, y):
    d = {"a": 1}
    v = d.items()
    z = zip(v)
    d["b"] = 2
    return y if len([r for r in z]) == 1 else totals[0] + 0.0


GATED = [
    *(annot, annsub, unbound, glob),
    *(tells_above(300, one) for one in (genlam, rev, dictvals, ext, aug, sortk, revkey, stopmap, mapzip)),
    *(raises_above(300, one) for one in (errst, mapnone, starkw)),
]
