"""Random small programs as source text, and the exact ε of each, computed by running it on every outcome of its draws.

A program draws noise that depends on the data and computes with the result. It is assembled from the templates in
``_random_templates``, written to a file and imported. A stand-in for NumPy's generator replays a script of outcomes and records
how many outcomes each draw had. Geometric distributions are truncated where less than ``TAIL`` of their mass remains.
Continuous noise is represented by one number per interval in which no comparison changes.
"""

import ast
import importlib.util
import itertools
import math
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from benchmarks import _random_templates as templates
from dp_prover.language.outside import entry_of

Function = Callable[[Any, np.random.Generator], Any]
FAMILIES = ("finite", "geometric", "continuous")
PRELUDES = {"finite": templates.FINITE, "geometric": templates.GEOMETRIC, "continuous": templates.CONTINUOUS}
TAIL = 2.0**-18
REACH = 8  # the largest multiple of 1/2 that Laplace noise is compared with
MOST_RUNS = 2_000  # of a program on one data set
HOLE = re.compile(r"\{(int|npi|float|bool|arr|mask|mat|list|tup|dict|str|any|const|pos|half|cint|carr|nz)\}")
NEW = re.compile(r"\b[A-H]\b")
SIMPLE = {
    "npi": "np.int64({int})",
    "float": "{int} / 2",
    "bool": "{int} > {const}",
    "arr": "np.array([{int}, {int}])",
    "mask": "np.array([{bool}, {bool}])",
    "mat": "np.array([[{int}, 1], [0, {int}]])",
    "list": "[{int}, {int}]",
    "tup": "({int}, {int})",
    "dict": "{'a': {int}, 'b': {int}}",
    "str": "'up'",
}
CONSTANTS = {"const": (-1, 0, 1, 1, 2), "pos": (1, 2, 3), "half": (-0.5, 0.5, 1.5)}
MOSTLY_CONSTANTS = {"cint": ("int", ("0", "1", "2")), "carr": ("arr", ("np.array([0, 1])", "np.array([2, 1])"))}
# How a value of each type selects one of three biases of a coin.
SUMMARIES = {
    "bool": "int({0})",
    "float": "({0} > 0.5) + ({0} > 1)",
    **dict.fromkeys(("int", "npi"), "abs(int({0})) % 3"),
    **dict.fromkeys(("arr", "mask", "mat"), "int(abs(np.sum({0}))) % 3"),
    **dict.fromkeys(("list", "tup"), "int(abs(sum({0}))) % 3"),
    "dict": "int(abs(sum({0}.values()))) % 3",
    "str": "len({0}) % 3",
    "any": "0 if {0} is None else 1",
}
OF_DATA = {"int": ["x[0]", "x[1]", "int(x[0])"], "arr": ["x"], "npi": ["x[0]"]}


# Programs ------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Program:
    """The text of a program, its noise family, what it reads that the prover does not model, and its constructs."""

    family: str
    text: str
    unlisted: str | None
    tags: frozenset[str]

    def module(self) -> str:
        return templates.MODULE + "\n" + self.text


class Maker:
    """Assembles one program."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.scope: dict[str, list[str]] = {}
        self.tags: set[str] = set()
        self._names = 0

    def filled(self, text: str, depth: int) -> tuple[str, dict[str, str]]:
        """Return a template with its holes filled, and the names that it introduces."""
        letters = sorted(set(NEW.findall(text)))
        names = {}
        for letter in letters:
            self._names += 1
            names[letter] = f"v{self._names}"
        text = NEW.sub(lambda hole: names[hole.group()], text)
        for hole in HOLE.finditer(text):
            after = re.match(r"\.(\w+)\(", text[hole.end() :])
            if after:
                self.tags.add(f"{hole.group(1)}.{after.group(1)}")
        return HOLE.sub(lambda hole: self.expression(hole.group(1), depth), text), names

    def expression(self, kind: str, depth: int) -> str:
        """Return a random expression of the given type."""
        chance = self.chance
        if kind in CONSTANTS:
            return str(chance.choice(CONSTANTS[kind]))
        if kind in MOSTLY_CONSTANTS:
            other, constants = MOSTLY_CONSTANTS[kind]
            return chance.choice(constants) if chance.random() < 0.6 else self.expression(other, depth)
        known_names = self.scope.get(kind, [])
        if known_names and (depth <= 0 or chance.random() < 0.6 or kind == "nz"):
            return chance.choice(known_names)
        if kind == "int" and (depth <= 0 or chance.random() < 0.4):
            return str(chance.choice([0, 1, 2]))
        if depth <= 0:
            return f"({self.filled(SIMPLE[kind], 0)[0]})"
        return f"({self.filled(chance.choice(templates.EXPRESSIONS[kind]), depth - 1)[0]})"

    def statement(self, template: tuple[str, str], depth: int = 0) -> tuple[list[str], dict[str, str]]:
        """Return the lines of a random statement, and the names that it introduces with their types."""
        text, said = template
        kinds, _, tags = said.partition("#")
        filled, names = self.filled(text, depth)
        self.tags |= set(tags.split())
        typed = dict(pair.split(":") for pair in kinds.split())
        return filled.split("\n"), {names[letter]: kind for letter, kind in typed.items()}

    def know(self, names: dict[str, str]) -> None:
        """Make names available to later expressions."""
        for name, kind in names.items():
            if kind != "any":
                self.scope.setdefault(kind, []).append(name)

    def feature(self, feature: tuple[str, str]) -> tuple[list[str], dict[str, str]]:
        """Return lines that contain the given template."""
        kind, text = feature
        if kind == "statement":
            return self.statement(next(template for template in templates.STATEMENTS if template[0] == text), depth=1)
        if kind == "unlisted":
            self.scope = {name: list(values) for name, values in OF_DATA.items()}
            return self.statement((text, "A:int"))
        filled, _ = self.filled(text, 1)
        self._names += 1
        name = f"v{self._names}"
        return [f"{name} = {filled}"], {name: kind}


def features() -> list[tuple[str, str]]:
    """Return every template for an expression or a statement, with its type."""
    typed = [(kind, text) for kind, texts in templates.EXPRESSIONS.items() for text in texts]
    return typed + [("statement", text) for text, _ in templates.STATEMENTS]


@cache
def _in_random_order(seed: int) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    listed, unlisted = features(), list(templates.UNLISTED)
    random.Random(f"order {seed}").shuffle(listed)
    random.Random(f"others {seed}").shuffle(unlisted)
    return listed, unlisted


def program(number: int, seed: int = 0) -> Program:
    """Return the program with this number. Each program is built around one template, and the numbers cycle through all of them."""
    chance = random.Random(f"{seed} {number}")
    listed, unlisted = _in_random_order(seed)
    own: tuple[str, str] | None = None
    round_of_seven, place = divmod(number, 7)
    if place == 6:
        own = unlisted[round_of_seven % len(unlisted)]
    maker = Maker(chance)
    family = chance.choices(FAMILIES, [5, 3, 3])[0]
    feature = ("unlisted", own[0]) if own else listed[(6 * round_of_seven + place) % len(listed)]
    lines: list[str] = []
    shown: dict[str, str] = {}  # names that the output may have
    if own or chance.random() < (0.5 if family == "finite" else 0.15):
        _of_data(maker, feature, "finite" if own else family, lines, shown)
        if chance.random() < 0.3 and family == "finite":
            _private(maker, family, lines, shown)
    else:
        _private(maker, family, lines, shown)
        if chance.random() < 0.08 and family != "continuous":
            maker.scope.setdefault("int", []).append("x[0]")
            maker.scope.setdefault("arr", []).append("x")
        own_lines, names = maker.feature(feature)
        lines += own_lines
        maker.know(names)
        shown |= names
    for _ in range(chance.choices([0, 1, 2], [4, 3, 1])[0]):
        more, names = maker.statement(chance.choice(templates.STATEMENTS))
        if chance.random() < 0.2:
            test = maker.expression("bool", 0)
            more = [f"if {test}:", *(f"    {line}" for line in more)]
            names = {}
        lines += more
        maker.know(names)
        shown |= names
    lines.append(_returned(maker, shown))
    defaults = chance.choice(["", "", "", ", extra=1", ", *, extra=1"])
    text = f"def f(x, rng{defaults}):\n" + "".join(f"    {line}\n" for line in lines)
    return Program(family, text, None if own is None else own[1], frozenset(maker.tags))


def _of_data(maker: Maker, feature: tuple[str, str], family: str, lines: list[str], shown: dict[str, str]) -> None:
    """Add a template that reads only the data, then a coin whose bias is one of three values selected by the result."""
    chance = maker.chance
    maker.scope = {name: list(values) for name, values in OF_DATA.items()}
    own_lines, names = maker.feature(feature)
    lines += own_lines
    if feature[0] == "unlisted" and chance.random() < 0.5:
        shown |= names
    maker.scope = {}
    if not names:
        return
    name, kind = chance.choice(sorted(names.items()))
    coins = {
        "finite": ("rng.random() < 0.25 * (1 + chance)", "rng.choice(3, p=TABLE[chance]) == 0"),
        "geometric": ("chance + rng.geometric(0.75) - rng.geometric(0.75) > 1",),
        "continuous": ("chance + rng.laplace(0.0, 2.0) > 1",),
    }
    lines += [f"chance = {SUMMARIES[kind].format(name)}", f"coin = {chance.choice(coins[family])}"]
    shown["coin"] = "bool"
    maker.scope["bool"] = ["coin"]


def _private(maker: Maker, family: str, lines: list[str], shown: dict[str, str]) -> None:
    """Add draws whose distribution depends on the data, and computations on them."""
    chance = maker.chance
    text, kinds = chance.choice(PRELUDES[family])
    if chance.random() < 0.25 and "TABLE" not in text and "size=" not in text:
        # A function of the data in place of one of its numbers.
        maker.scope = {name: list(values) for name, values in OF_DATA.items()}
        inner = maker.expression("int", 2)
        maker.scope = {}
        small = chance.choice([f"int({inner}) % 3", f"max(0, min(2, int({inner})))", f"(1 if {inner} > 1 else 0)"])
        text = text.replace("x[0]", "count")
        lines.append(f"count = {small}")
    more, names = maker.statement((text, kinds))
    lines += more
    maker.know(names)
    if family != "continuous":
        shown |= names
        return
    for _ in range(chance.choice([1, 1, 2])):
        filled, _ = maker.filled(chance.choice(templates.COMPARED), 0)
        maker._names += 1
        name, kind = f"v{maker._names}", chance.choice(["bool", "bool", "int"])
        lines.append(f"{name} = {filled}" if kind == "bool" else f"{name} = 1 if {filled} else 0")
        maker.know({name: kind})
        shown[name] = kind


def _returned(maker: Maker, shown: dict[str, str]) -> str:
    """Return the last line of the program."""
    chance = maker.chance
    names = [name for name, kind in shown.items() if kind != "nz"]
    chosen = sorted(chance.sample(names, min(len(names), chance.choice([1, 2, 3]))))
    numbers = [name for name in chosen if shown[name] in ("int", "bool", "float")]
    several = ", ".join(chosen)
    forms = [several or "None"] * 3 + [f"[{several}]", "{" + ", ".join(f"'{name}': {name}" for name in chosen) + "}"]
    if numbers:
        forms += [f"np.array([{', '.join(numbers)}])", maker.expression("int", 1)]
    return f"return {chance.choice(forms)}"


def load(text: str, folder: Path, name: str) -> Function:
    """Write a module to a file, import it, and return its function f."""
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function: Function = module.f
    return function


# The exact ε ---------------------------------------------------------------------------------------------------------------

Outcomes = Sequence[tuple[Any, float]]
SCRATCH = np.random.default_rng(0)  # determines the type and the shape of a draw, and what it raises
LAWS = {"laplace": stats.laplace, "logistic": stats.logistic, "gumbel": stats.gumbel_r, "normal": stats.norm}


class TooManyRunsError(Exception):
    """The draws of a program have more joint outcomes than are enumerated."""


@dataclass(slots=True)
class Script:
    """The outcome of each draw; a draw beyond the end of the script has its first outcome. ``counts`` records the number of
    outcomes per draw.
    """

    places: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    mass: float = 1.0

    def one_of(self, outcomes: Outcomes) -> Any:
        """Return the outcome of the next draw."""
        at = len(self.counts)
        if at == len(self.places):
            self.places.append(0)
        self.counts.append(len(outcomes))
        value, mass = outcomes[self.places[at]]
        self.mass *= mass
        return value


class Fixed(np.random.Generator):
    """A stand-in for a generator that replays the outcomes of a script."""

    def __init__(self) -> None:
        super().__init__(np.random.PCG64(0))
        self.script = Script()

    def _drawn(self, shown: Any, outcomes: Callable[..., Outcomes], *parameters: Any) -> Any:
        if not isinstance(shown, np.ndarray):
            return type(shown)(self.script.one_of(outcomes(*parameters)))
        rows = zip(*(np.broadcast_to(parameter, shown.shape).ravel().tolist() for parameter in parameters), strict=True)
        values = [self.script.one_of(outcomes(*row)) for row in rows]
        return np.array(values, dtype=shown.dtype).reshape(shown.shape)

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        return self._drawn(SCRATCH.random(size, dtype, out), _uniform, 0.0, 1.0)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return self._drawn(SCRATCH.uniform(low, high, size), _uniform, low, high)

    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: Any = False
    ) -> Any:
        shown = SCRATCH.integers(low, high, size, dtype, endpoint)
        first, last = (0, low) if high is None else (low, high)
        return self._drawn(shown, _integer, first, np.add(last, int(endpoint)))

    def geometric(self, p: Any, size: Any = None) -> Any:
        return self._drawn(SCRATCH.geometric(p, size), _geometric, p)

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        return self._drawn(SCRATCH.binomial(n, p, size), _binomial, n, p)

    def choice(
        self, a: Any, size: Any = None, replace: Any = True, p: Any = None, axis: Any = 0, shuffle: Any = True
    ) -> Any:
        shown = SCRATCH.choice(a, size, replace, p, axis, shuffle)
        options = list(range(int(a))) if np.ndim(a) == 0 else list(np.asarray(a))
        weights = [1.0] * len(options) if p is None else [float(weight) for weight in p]
        left, chosen = list(range(len(options))), []
        for _ in range(np.size(shown)):
            total = sum(weights[at] for at in left)
            at = self.script.one_of([(at, weights[at] / total) for at in left if weights[at]])
            chosen.append(options[at])
            left = left if replace else [other for other in left if other != at]
        if not isinstance(shown, np.ndarray):
            return type(shown)(chosen[0])
        return np.array(chosen, dtype=shown.dtype).reshape(shown.shape)

    def permutation(self, x: Any, axis: int = 0) -> Any:
        SCRATCH.permutation(x, axis)
        items = np.arange(x) if np.ndim(x) == 0 else np.array(x)
        return items[list(self._order(len(items)))]

    def shuffle(self, x: Any, axis: int = 0) -> None:
        items = list(x)
        for place, at in enumerate(self._order(len(items))):
            x[place] = items[at]

    def _order(self, count: int) -> tuple[int, ...]:
        order: tuple[int, ...] = self.script.one_of(_orders(count))
        return order

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._located("laplace", SCRATCH.laplace(loc, scale, size), loc, scale)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._located("logistic", SCRATCH.logistic(loc, scale, size), loc, scale)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._located("gumbel", SCRATCH.gumbel(loc, scale, size), loc, scale)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._located("normal", SCRATCH.normal(loc, scale, size), loc, scale)

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        return self._located("normal", SCRATCH.standard_normal(size, dtype, out), 0.0, 1.0)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        return self._drawn(SCRATCH.exponential(scale, size), _exponential, scale)

    def standard_exponential(
        self, size: Any = None, dtype: Any = np.float64, method: Any = "zig", out: Any = None
    ) -> Any:
        return self._drawn(SCRATCH.standard_exponential(size, dtype, method, out), _exponential, 1.0)

    def _located(self, law: str, shown: Any, loc: Any, scale: Any) -> Any:
        return self._drawn(shown, lambda place, width: _shifted(law, place, width), loc, scale)


def _uniform(low: float, high: float) -> Outcomes:
    # Programs compare draws with multiples of 1/4 on [0, 1), and with eighths of any other range.
    pieces = 4 if (low, high) == (0.0, 1.0) else 8
    return [(low + (high - low) * (2 * at + 1) / (2 * pieces), 1 / pieces) for at in range(pieces)]


def _integer(low: int, high: int) -> Outcomes:
    if high - low > MOST_RUNS:
        raise TooManyRunsError
    return [(value, 1 / (high - low)) for value in range(int(low), int(high))]


@cache
def _geometric(p: float) -> Outcomes:
    most = 1 if p == 1 else math.ceil(math.log(TAIL) / math.log1p(-p))
    if most > MOST_RUNS:
        raise TooManyRunsError
    return [(value, p * (1 - p) ** (value - 1)) for value in range(1, most + 1)]


def _binomial(n: int, p: float) -> Outcomes:
    masses = [(k, math.comb(int(n), k) * p**k * (1 - p) ** (int(n) - k)) for k in range(int(n) + 1)]
    return [(value, mass) for value, mass in masses if mass]


@cache
def _orders(count: int) -> Outcomes:
    if count > 4:
        raise TooManyRunsError
    return [(order, 1 / math.factorial(count)) for order in itertools.permutations(range(count))]


@cache
def _intervals(law: str, scale: float, low: float) -> Outcomes:
    """Return the midpoint of each interval between multiples of 1/2 and a point beyond the last, with their probabilities."""
    if scale == 0:
        return [(0.0, 1.0)]
    ends = np.arange(low, REACH + 0.5, 0.5)
    of = stats.expon if law == "exponential" else LAWS[law]
    masses = np.diff([0.0, *of.cdf(ends if low < 0 else ends[1:], scale=scale), 1.0])
    middles = [ends[0] - 0.25, *(ends + 0.25)] if low < 0 else ends + 0.25
    return [(float(at), float(mass)) for at, mass in zip(middles, masses, strict=True)]


def _shifted(law: str, place: float, width: float) -> Outcomes:
    return [(place + value, mass) for value, mass in _intervals(law, float(width), -float(REACH))]


def _exponential(scale: float) -> Outcomes:
    return _intervals("exponential", float(scale), 0.0)


def spelled(output: Any) -> Any:
    """Return an output as text that includes its types. Floats are rounded, so that sums which are equal in the reals compare
    equal.
    """
    if isinstance(output, np.ndarray):
        return f"array {output.dtype} {output.shape} {[spelled(item) for item in output.ravel().tolist()]}"
    if isinstance(output, list | tuple):
        return f"{type(output).__name__} {[spelled(item) for item in output]}"
    if isinstance(output, dict):
        return f"dict {[(spelled(key), spelled(value)) for key, value in output.items()]}"
    if isinstance(output, float | np.floating) and output and math.isfinite(output):
        number = float(output)
        return f"{type(output).__name__} {float(f'{number:.9g}') if abs(number) > 1e-12 else 0.0}"
    return f"{type(output).__name__} {output!r}"


def law_of(function: Function, data: tuple[int, ...]) -> dict[str, float]:
    """Return the distribution of the outputs without the truncated tail. An exception is an output, identified by its type."""
    law: dict[str, float] = defaultdict(float)
    generator, runs = Fixed(), 0
    places: list[int] = []
    while True:
        script = generator.script = Script(places)
        with np.errstate(all="ignore"):
            try:
                output = spelled(function(np.array(data, dtype=np.int64), generator))
            except TooManyRunsError:
                raise
            except Exception as error:
                output = f"raises {type(error).__name__}"
        law[output] += script.mass
        runs += 1
        places = _next(script)
        if not places:
            return law
        if runs >= MOST_RUNS:
            raise TooManyRunsError


def _next(script: Script) -> list[int]:
    """Return the next script in the enumeration, which is empty at the end."""
    places = script.places[: len(script.counts)]
    while places and places[-1] + 1 >= script.counts[len(places) - 1]:
        places.pop()
    if places:
        places[-1] += 1
    return places


def exact_epsilon(function: Function, pairs: Iterable[tuple[Any, Any]], cut_off: bool) -> float:
    """Return the program's ε on the pairs, or a lower bound on it if its distribution was truncated. Raises TooManyRunsError."""
    laws: dict[Any, dict[str, float]] = {}
    largest = 0.0
    for pair in pairs:
        for data in pair:
            if data not in laws:
                laws[data] = law_of(function, data)
        left, right = (laws[data] for data in pair)
        for p, q in ((left, right), (right, left)):
            missing = max(0.0, 1 - sum(q.values())) + 1e-12 if cut_off else 0.0
            for output, mass in p.items():
                if mass > 0:
                    rest = q.get(output, 0.0) + missing
                    largest = max(largest, math.log(mass / rest) if rest else math.inf)
    return largest


# Constructs ----------------------------------------------------------------------------------------------------------------

SHOWN_BY_TYPE = {
    **dict.fromkeys(("arr", "mask", "mat", "carr"), "array"),
    **dict.fromkeys(("npi", "int"), "number"),
    **{"list": "list", "tup": "tuple", "dict": "dict", "str": "str"},
}


def constructs(some: Program) -> set[str]:
    """Return the names of the constructs that a program contains."""
    return constructs_of(some.module()[len(templates.MODULE) :], some.tags)


def constructs_of(text: str, tags: Iterable[str]) -> set[str]:
    """Return the names of the constructs in a program's text; ``tags`` name those that the syntax tree does not show."""
    names = set()
    for tag in tags:
        kind, _, name = tag.partition(".")
        names.add(f"method {SHOWN_BY_TYPE.get(kind, kind)}.{name}")
    tree = ast.parse(text)
    for node in ast.walk(tree):
        names.add(f"syntax {type(node).__name__}")
        names |= {f"also {name}" for name in _also(node)}
        if isinstance(node, ast.Attribute):
            dotted = ast.unparse(node)
            if dotted.startswith(("np.", "math.", "rng.")):
                names.add(f"function {_listed_as(dotted)}")
            elif isinstance(node.value, ast.Constant):
                names.add(f"method {type(node.value.value).__name__}.{node.attr}")
            elif isinstance(node.value, ast.Name) and node.value.id == "int":
                names.add(f"method int.{node.attr}")
            if dotted.startswith("np.") and dotted.count(".") == 2:
                names.add(f"method ufunc.{node.attr}")
            names.add(f"attribute {node.attr}")
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            names.add(f"function {node.id}")
    return names


@cache
def _listed_as(dotted: str) -> str:
    """Return the name under which the prover lists a function."""
    module, *names = dotted.split(".")
    value: Any = {"np": np, "math": math}.get(module)
    for name in names:
        value = getattr(value, name, None)
    entry = entry_of(value)
    return dotted if entry is None else entry.name


def _also(node: ast.AST) -> Iterator[str]:
    """Yield names of constructs that span several kinds of syntax node."""
    if isinstance(node, ast.For | ast.While) and node.orelse:
        yield f"{type(node).__name__.lower()} else"
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        yield "chained comparison"
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        given = node.args
        parts = {
            "default": given.defaults or any(given.kw_defaults),
            "*args": given.vararg,
            "**kwargs": given.kwarg,
            "keyword only": given.kwonlyargs,
            "place only": given.posonlyargs,
        }
        yield from (f"parameter {name}" for name, part in parts.items() if part)
    if isinstance(node, ast.Call):
        yield from ("call with *" for argument in node.args if isinstance(argument, ast.Starred))
        yield from ("call with **" for argument in node.keywords if argument.arg is None)
    if isinstance(node, ast.comprehension) and node.ifs:
        yield "comprehension if"
    if isinstance(node, ast.ListComp | ast.GeneratorExp) and len(node.generators) > 1:
        yield "nested comprehension"
    if isinstance(node, ast.Constant):
        yield f"constant {type(node.value).__name__}"
    if isinstance(node, ast.Dict) and None in node.keys:
        yield "dict with **"
    yield from _of_statement(node)


def _of_statement(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Assign):
        yield from (f"assignment to {type(target).__name__}" for target in node.targets)
        yield from ("assignment to several" for _ in node.targets[1:])
        parts = [part for target in node.targets if isinstance(target, ast.Tuple | ast.List) for part in target.elts]
        yield from ("starred assignment" for part in parts if isinstance(part, ast.Starred))
    if isinstance(node, ast.AugAssign):
        yield f"augmented {type(node.op).__name__}"
        yield f"augmented {type(node.target).__name__}"
    if isinstance(node, ast.Assert) and node.msg is not None:
        yield "assert with words"


ALSO = (
    *(
        "for else",
        "while else",
        "chained comparison",
        "call with *",
        "call with **",
        "comprehension if",
        "nested comprehension",
    ),
    *(f"parameter {name}" for name in ("default", "*args", "**kwargs", "keyword only", "place only")),
    *(f"assignment to {name}" for name in ("Name", "Tuple", "List", "Subscript", "several")),
    *("starred assignment", "augmented Name", "augmented Subscript", "dict with **", "assert with words"),
    *(f"constant {name}" for name in ("bool", "int", "float", "str", "bytes", "NoneType", "ellipsis")),
)
