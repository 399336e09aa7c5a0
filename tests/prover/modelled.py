"""Snippets of user code, run in two ways: by Python and NumPy on numbers, and by the evaluator, which is given these
numbers.

``models.txt`` has a line for each snippet: the entry of a list that it is about, the code, and the contexts in which the evaluator
takes it. A context gives the snippet its names: ``v``, ``w``, ``u`` are numbers and ``a`` is an array, of data, of noise, of coins,
or constants. ``c`` and ``d`` are a coin and a die whose outcomes are undecided.
"""

import itertools
import linecache
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from auditor.blackbox.mechanism import Mechanism
from dp_prover.confirmation import confirm
from dp_prover.errors import NotProvedError
from dp_prover.interfaces import Names
from dp_prover.language.trace import bounds_of, symbols, trace

LOW, HIGH = -3, 4
NOISE = "rng.laplace(0.0, 2.0, 3)"
CONTEXTS = {
    "i": ("v, w, u = x", "a = x"),  # integer data
    "f": ("v, w, u = x", "a = x"),  # float data
    "p": ("v, w, u = x.tolist()", "a = x"),  # Python integers
    "q": ("v, w, u = x.tolist()", "a = x"),  # Python floats
    "n": (f"v, w, u = x + {NOISE}", f"a = x + {NOISE}"),
    "g": (f"v, w, u = (x + {NOISE}).tolist()", f"a = x + {NOISE}"),
    "m": ("v, w, u = x[0], rng.normal(), 2", f"a = {NOISE}\na[1] = x[0]\na[2] = -1"),
    "o": ("v, w, u = rng.normal(), 1.5, -2", "a = np.zeros(3)\na[0] = rng.normal()"),
    "l": ("v, w, u = rng.integers(-1, 3), rng.integers(3), 2", "a = rng.integers(-1, 2, 3)"),
    "t": ("v, w, u = rng.random() < .3, rng.random() < .5, True", "a = rng.random(3) < .5"),
    "r": ("v, w, u = rng.random(), rng.uniform(-1, 1), 0.5", "a = rng.random(3)"),
    "k": ("v, w, u = 1.5, -2, np.int64(3)", "a = np.array([2.5, -1.0, 0.0])"),
    "z": ("v, w, u = 0, True, -0.0", "a = np.array([2, 0, -1])"),
    "y": ("v, w, u = np.float64('nan'), np.float64('inf'), np.float64(-0.0)", "a = np.array([np.inf, np.nan, -0.0])"),
    "s": (
        "v, w, u = *np.full(1, 100, np.int8), *np.full(1, 0.1, np.float32), *np.full(1, 3, np.uint8)",
        "a = np.array([100, 27, -128], np.int8)",
    ),
}
OF_FLOATS = "fq"
OF_CONSTANTS = "kzys"
COIN = {"c": "c = rng.random() < .3", "d": "d = rng.integers(3)"}
FILE = Path(__file__).with_name("models.txt")
_count = itertools.count()


@dataclass(frozen=True, slots=True)
class Snippet:
    """Code for an entry of a list, and the contexts in which the evaluator takes it."""

    entry: str
    code: str
    contexts: str


def snippets() -> Iterator[Snippet]:
    """Yield the snippets of the file."""
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            entry, code, contexts = (
                line.split(" | ") if line.count(" | ") == 2 else (*line.rstrip(" |").split(" | "), "")
            )
            yield Snippet(entry.strip(), code.strip(), contexts.strip())


def code_in(snippet: str, context: str) -> str:
    """Return the body of a function with a snippet in a context."""
    words = set(re.findall(r"\w+", snippet))
    numbers, array = CONTEXTS[context]
    given = [numbers if words & set("vwu") else "", array if "a" in words else ""]
    given += [line for name, line in COIN.items() if name in words]
    last = snippet if words & {"return", "raise", "pass"} else f"return {snippet}"
    return "\n".join([*filter(None, given), last])


def functions(bodies: list[str]) -> list[FunctionType]:
    """Return a function ``f(x, rng)`` of a module for each body."""
    name = f"<snippets {next(_count)}>"
    text = BEFORE
    for at, body in enumerate(bodies):
        text += f"\ndef f{at}(x, rng):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module: dict[str, Any] = {"__name__": name}
    exec(compile(text, name, "exec"), module)
    return [module[f"f{at}"] for at in range(len(bodies))]


def wrong(function: FunctionType, floats: bool, seeds: int = 3) -> str | None:
    """Describe how the evaluator is wrong about a function; None if it is right. Raises NotProvedError if it refuses the
    function."""
    mechanism = Mechanism.from_callable(function, {}, "f")
    ends = tuple(Fraction(end) + (Fraction(1, 2) if floats else 0) for end in (LOW, HIGH))
    names = Names(bounds_of((ends[0],) * 3, (ends[1],) * 3), integer=not floats)
    dataset = symbols(names.bounds, not floats)
    traced = trace(mechanism, dataset, names)
    for seed in range(seeds):
        values = data(seed, floats)
        named = {f"x{at}": float(value) for at, value in enumerate(values)}
        try:
            confirm.confirmed(mechanism, values, dataset, named, traced, confirm.RecordingGenerator(seed))
        except NotProvedError as error:
            return f"{error}, for the data {values.tolist()} and seed {seed}"
    return None


def data(seed: int, floats: bool) -> np.ndarray[Any, Any]:
    """Return three numbers, some of them equal."""
    rng = np.random.default_rng(1000 + seed)
    whole = rng.integers(LOW, HIGH, 3, endpoint=True)
    if seed % 3 == 1:
        whole[1] = whole[0]
    if not floats:
        return whole
    return whole + np.where(rng.random(3) < 0.5, 0.0, rng.random(3) * 0.5)


# Tables ----------------------------------------------------------------------------------------------------------------


def outcomes(some: list[tuple[str, str]], seeds: int = 3) -> list[tuple[str, str | None]]:
    """Return for each (code, context) whether it is modelled, refused or wrong, with an explanation."""
    rows: list[tuple[str, str | None]] = []
    bodies = [code_in(code, context) for code, context in some]
    # The evaluator reads a whole module for each of its functions, so modules are small.
    made = [function for at in range(0, len(bodies), 8) for function in functions(bodies[at : at + 8])]
    for function, (_, context) in zip(made, some, strict=True):
        try:
            # Constants are the same whatever the seed is.
            words = wrong(function, context in OF_FLOATS, 1 if context in OF_CONSTANTS else seeds)
            rows.append(("taken", None) if words is None else ("wrong", words))
        except NotProvedError as error:
            rows.append(("refused", error.reason))
    return rows


LANGUAGE = Path(__file__).with_name("language.txt")
BEFORE = """import math
import numpy as np
CONSTANT = 2.5
NAMES = ("north", "south")
TABLE = np.array([1.0, 2.0, 4.0])
class Count(int):
    pass
COUNT = Count(3)
ONE = np.complex128(1)
def helper(t, s=2, *, k=1):
    return t * s + k
def counted(*ts, **rest):
    return [len(ts), ts[-1], rest]
class Base:
    shared = 2
    def __init__(self, t, k=1):
        self.t, self.k = t, k
    def twice(self):
        return self.t * self.shared
    @property
    def half(self):
        return self.t / 2
    def __call__(self, s):
        self.t = self.t + s
        return self.twice()
class Derived(Base):
    shared = 3
    def __init__(self, t):
        super().__init__(t, k=4)
        self.log: list[float] = []
    def twice(self):
        self.log.append(self.k)
        return super().twice() + self.k
class Plain:
    pass
"""


def blocks() -> Iterator[Snippet]:
    """Yield the blocks of statements of the other file: each ends with the contexts in which the evaluator takes it."""
    for block in LANGUAGE.read_text(encoding="utf-8").strip("\n").split("\n\n"):
        lines = block.splitlines()
        code = "\n".join(line for line in lines if not line.startswith("#"))
        yield Snippet("", code, "".join(line[1:].strip() for line in lines if line.startswith("#")))


MODELS: dict[str, list[Snippet]] = defaultdict(list)
for _one in snippets():
    MODELS[_one.entry].append(_one)


def some(snippet: Snippet, count: int) -> str:
    """Return a few of a snippet's contexts: constants, and the others in turn."""
    of_constants = [context for context in snippet.contexts if context in OF_CONSTANTS]
    others = [context for context in snippet.contexts if context not in OF_CONSTANTS]
    turn = sum(map(ord, snippet.code))
    if count == 1 and others and turn % 2:
        of_constants = []
    return "".join({rest[(turn + at) % len(rest)] for rest in (of_constants, others) if rest for at in range(count)})


def disagreements(given: list[Snippet], contexts: int, seeds: int) -> list[str]:
    """Describe the snippets that are wrong, or refused in one of their contexts."""
    each = [(snippet.code, context) for snippet in given for context in sorted(some(snippet, contexts))]
    ends = zip(each, outcomes(each, seeds), strict=True)
    return [f"{code} ({context}): {words}" for (code, context), (kind, words) in ends if kind != "taken"]
