"""Mechanisms as strangers write them: outputs that share memory with the next one, or change their form from call to call.

``FORMS`` has for each of them a function that begins anew, and returns a function that makes the n-th output. A data set names the
form and a token: each token begins anew, in whatever process.
"""

import collections
import copy
import itertools
import os
import time
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

Made = Callable[[int], Any]


class Float(float):
    """A float of its own class, which may have attributes."""


class Text(str):
    """A text of its own class."""


class Two(NamedTuple):
    a: Any
    b: Any


def in_turn(*made: Made) -> Callable[[], Made]:
    return lambda: lambda n: made[n % len(made)](n)


def changed(start: Callable[[], Any], change: Callable[[Any, int], Any], shown: Made = lambda kept: kept) -> Any:
    """Return a form whose object is changed, and returned again."""

    def begin() -> Made:
        kept = start()

        def make(n: int) -> Any:
            change(kept, n)
            return shown(kept)

        return make

    return begin


def fill(kept: Any, n: int) -> None:
    kept[...] = np.arange(kept.size).reshape(kept.shape) + 10.5 * n


def first(kept: Any, n: int) -> None:
    kept[0] = n + 0.5


def tagged(n: int) -> Float:
    made = Float(n)
    made.tag = n % 2  # type: ignore[attr-defined]
    return made


FORMS: dict[str, Callable[[], Made]] = {
    "an array again": changed(lambda: np.zeros(3), fill),
    "an array of integers again": changed(lambda: np.zeros(3, np.int16), fill),
    "an empty array, and others": in_turn(lambda n: np.zeros(0), np.ones, lambda n: np.array(n + 0.5)),
    "a view on a buffer": changed(lambda: np.zeros(8), fill, lambda kept: kept[2:4]),
    "a view with steps": changed(lambda: np.zeros(8), fill, lambda kept: kept[::3]),
    "a view that runs back": changed(lambda: np.zeros(4), fill, lambda kept: kept[::-1]),
    "a column of a buffer": changed(lambda: np.zeros((3, 2)), fill, lambda kept: kept[:, 1]),
    "a buffer, transposed": changed(lambda: np.zeros((2, 3)), fill, lambda kept: kept.T),
    "C and Fortran in turn": in_turn(lambda n: np.full((2, 2), n), lambda n: np.full((2, 2), n, order="F")),
    "a record of a buffer": changed(
        lambda: np.zeros(2, [("a", "f8"), ("b", "i4")]), lambda kept, n: kept.fill((n, n)), lambda kept: kept[0]
    ),
    "a list again": changed(lambda: [0.0, 1.0], first),
    "a list in a list again": changed(lambda: [[0.0], "s"], lambda kept, n: first(kept[0], n)),
    "a list in a tuple again": changed(lambda: ([0.0], [1.0]), lambda kept, n: first(kept[1], n)),
    "an array in a list again": changed(lambda: [np.zeros(2), 1], lambda kept, n: fill(kept[0], n)),
    "a dict again": changed(lambda: {"a": 0.0, "b": "s"}, lambda kept, n: kept.update(a=n)),
    "a dict in a dict again": changed(lambda: {"a": {"b": [0.0]}}, lambda kept, n: first(kept["a"]["b"], n)),
    "a dict that grows": changed(dict, lambda kept, n: kept.update({f"k{n}": n})),
    "a list that grows": changed(list, lambda kept, n: kept.append(n)),
    "a list of lists that grows": changed(lambda: [[]], lambda kept, n: kept[0].append([n])),
    "a proxy of a dict": changed(lambda: {"a": 0.0}, lambda kept, n: kept.update(a=n), types.MappingProxyType),
    "the values of a dict": changed(
        lambda: {"a": 0.0}, lambda kept, n: kept.update(a=n), lambda kept: list(kept.values())
    ),
    "a set again": changed(set, lambda kept, n: kept.add(n)),
    "a deque again": changed(lambda: collections.deque([0, 0], 2), lambda kept, n: kept.append(n)),
    "bytes of a buffer": changed(lambda: bytearray(3), lambda kept, n: kept.__setitem__(0, n)),
    "bytes in a list": changed(lambda: [bytearray(3)], lambda kept, n: kept[0].__setitem__(0, n)),
    "memory of a buffer": changed(lambda: np.zeros(2), fill, memoryview),
    "one list twice": changed(lambda: [0.0], first, lambda kept: [kept, kept]),
    "a float again": changed(lambda: Float(0.5), lambda kept, n: setattr(kept, "tag", n)),
    "an exception again": changed(lambda: ValueError(0), lambda kept, n: setattr(kept, "args", (n,))),
    "a namespace again": changed(types.SimpleNamespace, lambda kept, n: setattr(kept, "a", n)),
    "keys in another order": in_turn(lambda n: {"a": n, "b": 0.5}, lambda n: {"b": 0.5, "a": n}),
    "keys in another order, deeper": in_turn(lambda n: {"k": {"a": n, "b": 1}}, lambda n: {"k": {"b": 1, "a": n}}),
    "keys that come and go": in_turn(lambda n: {"a": n}, lambda n: {"a": n, "b": n}, lambda n: {}),
    "equal keys": in_turn(lambda n: {1: n}, lambda n: {True: n}, lambda n: {1.0: n}, lambda n: {np.float64(1.0): n}),
    "equal numbers": in_turn(
        *(lambda n, kind=kind: kind(1) for kind in (bool, int, float, np.float64, np.int8, Float))
    ),
    "equal numbers in a list": in_turn(
        *(lambda n, kind=kind: [kind(1), "s"] for kind in (bool, int, float, np.float64, Float))
    ),
    "equal numbers in a dict": in_turn(
        *(lambda n, kind=kind: {"a": [kind(1)]} for kind in (bool, int, float, np.float64, Float))
    ),
    "equal numbers in an array": in_turn(
        *(lambda n, kind=kind: np.ones(2, kind) for kind in ("?", "i8", "f8", "f4", ">f8"))
    ),
    "equal texts": in_turn(lambda n: "a", lambda n: Text("a"), lambda n: np.str_("a"), lambda n: b"a"),
    "equal texts in a list": in_turn(
        lambda n: ["a", "b"], lambda n: [Text("a"), "b"], lambda n: [np.str_("a"), "b"], lambda n: [b"a", "b"]
    ),
    "equal lists": in_turn(
        lambda n: ["a", None], lambda n: ("a", None), lambda n: Two("a", None), lambda n: collections.deque(["a", None])
    ),
    "lists in lists": in_turn(
        lambda n: [["a"], []], lambda n: [("a",), []], lambda n: [["a"], ()], lambda n: [[["a"]], []]
    ),
    "zeros": in_turn(lambda n: 0.0, lambda n: -0.0, lambda n: float("nan"), lambda n: np.float64(-0.0), lambda n: 0),
    "zeros in lists": in_turn(
        lambda n: [0.0], lambda n: [-0.0], lambda n: [float("nan")], lambda n: [0], lambda n: [False]
    ),
    "signs of zeros in lists": in_turn(lambda n: [0.0], lambda n: [-0.0]),
    "truths in lists": in_turn(lambda n: [1], lambda n: [True], lambda n: (1,), lambda n: (True,)),
    "a float with an attribute": in_turn(tagged, float),
    "numbers of NumPy in a buffer": changed(lambda: np.zeros(2), fill, lambda kept: [kept[0], {"a": kept[1]}]),
    "numbers and lists of them": in_turn(
        float, lambda n: [np.float64(n)], lambda n: [float(n)], np.float64, np.float32
    ),
    "wide integers": in_turn(lambda n: n, lambda n: 2**60 + n, lambda n: [2**70 + n], lambda n: [2**60 + 1, n]),
    "deep lists": in_turn(
        lambda n: [[[[[n]]]]], lambda n: [[[[[float(n)]]]]], lambda n: {"a": {"b": {"c": {"d": [n]}}}}
    ),
    "nothing, and something": in_turn(lambda n: None, float, lambda n: [None], lambda n: {"a": None}),
    "many texts": in_turn(lambda n: [f"w{n}", "s"], lambda n: [f"{n}", "s"], lambda n: [f"w{n}"] * (n % 4)),
}
_BEGUN: dict[Any, tuple[Made, Iterator[int]]] = {}


def output(case: Sequence[Any], rng: Any = None) -> Any:
    """Return the next output of a form, for a token."""
    key = tuple(case)
    if key not in _BEGUN:
        _BEGUN[key] = FORMS[case[0]](), itertools.count()
    make, numbers = _BEGUN[key]
    return make(next(numbers))


def output_without_rng(case: Sequence[Any]) -> Any:
    return output(case)


def wanted(name: str, size: int) -> list[Any]:
    """Return the first outputs of a form, each copied when it was made."""
    make = FORMS[name]()
    return [_copied(make(n)) for n in range(size)]


def _copied(value: Any) -> Any:
    if isinstance(value, memoryview):
        return memoryview(np.array(value))
    if isinstance(value, types.MappingProxyType):
        return types.MappingProxyType(copy.deepcopy(dict(value)))
    return copy.deepcopy(value)


# --- Mechanisms that end or hold their process at some outputs ---

ENDS = 2e-4


def of_many_forms(u: float) -> Any:
    """Return an output that tells u, in one of several forms; seldom a large one."""
    if u > 0.9995:
        return large(u)
    return [u, np.float64(u), Float(u), {"u": u, "words": ["a", "b"]}, [u, 1], np.array([u, 1.0])][int(u * 1e6) % 6]


def ends_now_and_then(case: Any, rng: np.random.Generator) -> Any:
    if (u := rng.random()) < ENDS:
        os._exit(3)
    return of_many_forms(u)


def large(u: float) -> Any:
    """Return 100,000 bytes, sometimes 2,000,000, that tell u."""
    return bytes(2_000_000 if u > 0.95 else 100_000) + repr(u).encode()


def large_without_end(case: Any, rng: np.random.Generator) -> Any:
    return large(rng.random())


def large_or_ends(case: Any, rng: np.random.Generator) -> Any:
    if (u := rng.random()) < 0.05:
        os._exit(3)
    return large(u)


def takes_its_time(case: Any, rng: np.random.Generator) -> float:
    """Take an eighth of a second, and for one output in ten more than a minute."""
    u = rng.random()
    time.sleep(100.0 if u < 0.1 else 0.125)
    return float(u)


def is_soon_drawn(case: Any, rng: np.random.Generator) -> Any:
    """Return an output that takes longer to read than to draw."""
    return [*map(str, rng.random(100).tolist())]


def hangs(case: Any, rng: np.random.Generator) -> Any:
    time.sleep(1000.0)
