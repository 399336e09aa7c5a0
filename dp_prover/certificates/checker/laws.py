"""The law of an output on one data set: its decision tree, and probabilities of outputs, rounded to a known side."""

import itertools
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dp_prover.certificates.checker.enclosures import (
    CERTAIN,
    DOWN,
    EVERYWHERE,
    INFINITE,
    LATTICE,
    NEVER,
    OF_SHARE,
    ONE,
    STANDARD,
    UP,
    ZERO,
    Interval,
    constant,
    enclosed,
    exactly,
    minus,
    over,
    plus,
    probability,
    root,
    scale_of,
    share,
    times,
)
from dp_prover.certificates.checker.exact_numbers import Q, need
from dp_prover.certificates.checker.functions import value_of
from dp_prover.certificates.checker.paths import DENSE, SIGNS, follows

MOST_PIECES = 200_000  # of noise that are looked at
MOST_SCORES = 20_000
NUDGE = Fraction(
    1, 10**25
)  # how far beyond a threshold noise is cut, so that rounding does not put it on the other side
Spread = dict[int, Decimal]


class Path:
    """One path: its conditions, its probability, its output, and what of the event looks at it.

    ``forms`` are all affine forms: (coefficients, constant). ``given`` are (index of a form, relation), ``read`` maps the parts of
    the event to their coordinates.
    """

    def __init__(self, law: "Law", given: Any, mass: Interval, ends: Any, output: Any) -> None:
        self.law, self.mass = law, mass
        self.scales, self.kinds = dict(law.scales), dict(law.kinds)
        self.skeleton, self.leaves, self.choices = output
        for outcomes in self.choices:
            need(
                sum(Q(part) for _, part in outcomes) == 1 and min(Q(part) for _, part in outcomes) > 0,
                "all ends of a draw",
            )
            need(len({str(values) for values, _ in outcomes}) == len(outcomes), "different ends of a draw")
        self.forms: list[tuple[dict[str, Fraction], Interval]] = []
        self.terms: dict[str, tuple[str, list[int]]] = {}
        self.given = [(self._form(form), relation) for form, relation in given]
        for name, (low, high) in ends.items():
            self.given += [(self._form({name: 1, "": -low}), ">="), (self._form({name: -1, "": high}), ">=")]
        self.parts = law.cases.get(self.skeleton)
        self.read = [] if self.parts is None else [[self._coordinate(c) for c in of] for of, _ in self.parts]
        self._merge_normals()
        self._known: dict[int, set[str]] = {}

    def _form(self, form: Any) -> int:
        terms = {name: Q(value) for name, value in form.items() if name and Q(value)}
        return self._added(terms, constant(str(Q(form.get("", 0)))))

    def _added(self, terms: dict[str, Fraction], middle: Interval) -> int:
        """Add a form and the arguments of its terms, and return its index."""
        self.forms.append((terms, middle))
        place = len(self.forms) - 1
        self._name(terms)
        return place

    def _name(self, terms: Any) -> None:
        for name in terms:
            if name[:1] == "o" and name not in self.terms:
                operation, arguments = self.law.trace["terms"][name]
                self.terms[name] = (operation, [])  # terms do not contain themselves, or else they have no value
                self.terms[name] = (operation, [self._form(argument) for argument in arguments])

    def _coordinate(self, weights: Any) -> Any:
        """Return a text, ("choice", i, j), or the index of a combined form."""
        some = [(Q(weight), self.leaves[int(at)]) for at, weight in weights.items()]
        need(some, "a coordinate")
        if len(some) == 1 and some[0][0] == 1 and "form" not in some[0][1]:
            [(_, leaf)] = some
            if "choice" in leaf:
                return ("choice", *leaf["choice"])
            return leaf["text"] if "text" in leaf else self._form({"": leaf["number"]})
        total: dict[str, Fraction] = {}
        middle: Interval = NEVER
        for weight, leaf in some:
            if "form" not in leaf and "number" not in leaf:
                return "a combination of texts"
            form = leaf["form"] if "form" in leaf else {"": leaf["number"]}
            for name, value in form.items():
                if name:
                    total[name] = total.get(name, Fraction(0)) + weight * Q(value)
            middle = plus(middle, times(exactly(str(weight)), constant(str(Q(form.get("", 0))))))
        return self._added({name: value for name, value in total.items() if value}, middle)

    def _merge_normals(self) -> None:
        """Replace Gaussian draws that occur in the same ratio everywhere by one Gaussian draw."""
        groups: dict[Any, list[tuple[str, Fraction]]] = {}
        for name in {name for terms, _ in self.forms for name in terms if self.kinds.get(name) == "normal"}:
            column = [terms.get(name, Fraction(0)) for terms, _ in self.forms]
            first = next(filter(None, column))
            groups.setdefault(tuple(value / first for value in column), []).append((name, first))
        for ratios, names in groups.items():
            if len(names) == 1:
                continue
            merged = f"n{'+'.join(sorted(name for name, _ in names))}"
            squares = [times(exactly(str(by**2)), times(*(self.scales[name],) * 2)) for name, by in names]
            total: Interval = NEVER
            for square in squares:
                total = plus(total, square)
            self.kinds[merged], self.scales[merged] = "normal", root(total)
            gone = {name for name, _ in names}
            for (terms, _), ratio in zip(self.forms, ratios, strict=True):
                for name in gone & terms.keys():
                    del terms[name]
                if ratio:
                    terms[merged] = ratio

    # Symbols and values ----------------------------------------------------------------------------------------------

    def symbols(self, form: int, depth: int = 0) -> set[str]:
        """Return the symbols of a form, including those inside terms."""
        need(depth < 50, "terms that end")
        if form in self._known:
            return self._known[form]
        found = set[str]()
        for name in self.forms[form][0]:
            inner = (
                [self.symbols(argument, depth + 1) for argument in self.terms[name][1]] if name[:1] == "o" else [{name}]
            )
            found.update(*inner)
        self._known[form] = found
        return found

    def of_coordinate(self, coordinate: Any) -> set[str]:
        """Return the symbols of a coordinate."""
        if isinstance(coordinate, tuple):
            return {f"c{coordinate[1]}"}
        return self.symbols(coordinate) if isinstance(coordinate, int) else set()

    def value(self, form: int, boxes: Any) -> Interval:
        """Return the range of a form on a box of noise."""
        terms, total = self.forms[form]
        for name, factor in terms.items():
            if name[:1] == "o":
                operation, arguments = self.terms[name]
                inner = value_of(operation, [self.value(argument, boxes) for argument in arguments])
            else:
                inner = boxes[name]
            total = plus(total, times(exactly(str(factor)), inner))
        return total

    def shown(self, coordinate: Any, boxes: Any) -> Any:
        """Return the range of a coordinate on a box, or its text."""
        if isinstance(coordinate, tuple):
            _, choice, place = coordinate
            value = boxes[f"c{choice}"][place]
            return value["text"] if "text" in value else constant(value["number"])
        return self.value(coordinate, boxes) if isinstance(coordinate, int) else coordinate

    # Probabilities ---------------------------------------------------------------------------------------------------

    def spread(self, wanted: Any, lower: bool, apart: bool) -> Spread:
        """Return the probability of each score of some parts; of each cell of one part, if ``apart``."""
        rows = [("given", at) for at in range(len(self.given))] + [("part", at) for at in wanted]
        found = self._spread(rows, {}, lower, apart)
        return _scaled(found, self.mass[0] if lower else self.mass[1], lower)

    def _free(self, row: Any, boxes: Any) -> set[str]:
        kind, at = row
        coordinates = [self.given[at][0]] if kind == "given" else self.read[at]
        return {name for coordinate in coordinates for name in self.of_coordinate(coordinate) if name not in boxes}

    def _spread(self, rows: Any, boxes: Any, lower: bool, apart: bool) -> Spread:
        groups: list[tuple[set[str], list[Any]]] = []
        for row in rows:
            symbols = self._free(row, boxes)
            touching = [group for group in groups if group[0] & symbols] if symbols else []
            groups = [group for group in groups if group not in touching]
            groups.append((symbols.union(*(g[0] for g in touching)), [r for g in touching for r in g[1]] + [row]))
        total: Spread = {0: ONE}
        for symbols, some in sorted(groups, key=lambda group: len(group[0])):
            one = (
                self._settled(some, boxes, lower, apart)
                if not symbols
                else self._split(symbols, some, boxes, lower, apart)
            )
            total = _convolved(total, one, lower)
            if not total:
                break
        return total

    def _settled(self, rows: Any, boxes: Any, lower: bool, apart: bool) -> Spread:
        """Return the scores of rows without free symbols: {} if they cannot be, or need not be, in the event."""
        self.law.count()
        total: Spread = {0: ONE}
        for kind, at in rows:
            if kind == "given":
                form, relation = self.given[at]
                low, high = self.value(form, boxes)
                holds = low > 0 or (low >= 0 and relation != ">") if relation != "=" else low == high == 0
                may = high > 0 or (high >= 0 and relation != ">") if relation != "=" else low <= 0 <= high
                if not (holds if lower else may):
                    return {}
                continue
            scores = self._scores(at, boxes, lower, apart)
            if not scores:
                return {}
            total = _convolved(total, dict.fromkeys(scores, ONE), lower)
        return total

    def _scores(self, part: int, boxes: Any, lower: bool, apart: bool) -> list[int]:
        shown = [self.shown(coordinate, boxes) for coordinate in self.read[part]]
        certain, possible = list[int](), list[int]()
        assert self.parts is not None
        for place, (sets, score) in enumerate(self.parts[part][1]):
            inside = [_inside(value, wanted) for value, wanted in zip(shown, sets, strict=True)]
            if min(inside, default=2) > 0:
                possible.append(place if apart else score)
                if min(inside, default=2) > 1:
                    certain.append(place if apart else score)
        if apart:
            return (certain if len(possible) == 1 else []) if lower else possible
        found = certain if lower else possible
        return [max(found)] if found else []

    def _split(self, symbols: set[str], rows: Any, boxes: Any, lower: bool, apart: bool) -> Spread:
        """Cut the noise of one symbol into pieces, and add up what each gives: of the one that most rows need, or the last."""
        often = {name: sum(name in self._free(row, boxes) for row in rows) for name in symbols}
        name = max(sorted(symbols), key=lambda one: (one[:1] == "c", often[one]))
        total: Spread = {}
        for box, mass in self._pieces(name, rows, boxes, len(symbols) == 1):
            likely = mass[0] if lower else mass[1]
            if likely > 0:
                inner = {**boxes, name: box}
                found = (
                    self._settled(rows, inner, lower, apart)
                    if len(symbols) == 1
                    else self._spread(rows, inner, lower, apart)
                )
                for score, more in _scaled(found, likely, lower).items():
                    total[score] = (DOWN if lower else UP).add(total.get(score, ZERO), more)
        return total

    def _pieces(self, name: str, rows: Any, boxes: Any, alone: bool) -> Any:
        if name[:1] == "c":
            for values, mass in self.choices[int(name[1:])]:
                yield values, share(mass)
            return
        law, scale = self.kinds[name], self.scales[name]
        needed = not alone or self._is_inside(name, rows)
        cuts = {exactly(text)[0] for text in self.law.cuts.get(name, ())} if needed else set[Decimal]()
        for threshold in self._thresholds(name, rows, boxes) if alone else ():
            low, high = threshold
            far = max(abs(low), abs(high), scale[1]) if law not in LATTICE else ONE
            nudge = enclosed(NUDGE, NUDGE)
            cuts |= {minus((low, low), times(nudge, (far, far)))[0], plus((high, high), times(nudge, (far, far)))[1]}
        start, end = (ZERO, ONE) if law == "uniform" else (ZERO, INFINITE) if law == "exponential" else EVERYWHERE
        if law in LATTICE:
            start = ZERO
            cuts = {UP.subtract(cut.to_integral_value("ROUND_CEILING"), by) for cut in cuts for by in (ZERO, ONE)}
        ends = [start, *sorted(cut for cut in cuts if start < cut < end), end]
        for low, high in itertools.pairwise(ends):
            first = DOWN.add(low, ONE) if law in LATTICE else low
            yield (first, high), probability(law, scale, first, high)

    def _is_inside(self, name: str, rows: Any) -> bool:
        """Whether a symbol occurs in a term of the rows, so that thresholds of the rows do not suffice to cut it."""
        forms = [form for row in rows for form in self._of_row(row)]
        terms = {term for form in forms for term in self.forms[form][0] if term[:1] == "o"}
        return any(name in self.symbols(argument) for term in terms for argument in self.terms[term][1])

    def _of_row(self, row: Any) -> list[int]:
        kind, at = row
        return [self.given[at][0]] if kind == "given" else [c for c in self.read[at] if isinstance(c, int)]

    def _thresholds(self, name: str, rows: Any, boxes: Any) -> Any:
        """Yield where an affine row that contains the symbol outside terms crosses 0, or an end of a cell."""
        for kind, at in rows:
            coordinates = [self.given[at][0]] if kind == "given" else self.read[at]
            for place, coordinate in enumerate(coordinates):
                if not isinstance(coordinate, int):
                    continue
                terms, middle = self.forms[coordinate]
                slope = terms.get(name)
                others = [other for other in terms if other != name]
                inside = {
                    s for other in others if other[:1] == "o" for arg in self.terms[other][1] for s in self.symbols(arg)
                }
                if slope is None or name in inside:
                    continue
                rest = middle
                for other in others:
                    self.forms.append(({other: terms[other]}, NEVER))
                    rest = plus(rest, self.value(len(self.forms) - 1, boxes))
                    self.forms.pop()
                assert self.parts is not None or kind == "given"
                wanted = [0] if kind == "given" else self._ends(at, place)
                for end in wanted:
                    yield over(minus(exactly(str(end)), rest), exactly(str(slope)))

    def _ends(self, part: int, place: int) -> Any:
        assert self.parts is not None
        sets = [sets[place] for sets, _ in self.parts[part][1]]
        return {Q(end) for wanted in sets if type(wanted) is list for end in wanted if end is not None}


class Law:
    """The law of the output on one data set, and the event's cases.

    ``cells`` lists the numbers of cells of each part, if all cases have one list of parts. ``least`` is the smallest upper bound
    on a probability: rounding may hide as much of a discrete draw.
    """

    def __init__(self, trace: Any, noise: Any, event: Any, clock: Any, most: int = MOST_PIECES) -> None:
        need(type(trace) is dict and {*trace} == {"tree", "outputs", "terms"}, "the keys of a trace")
        self.trace, self.clock, self.counted, self.most = trace, clock, 0, most
        need(all(law in STANDARD or law in LATTICE or law == "uniform" for law, _ in noise.values()), "known noise")
        self.kinds = {name: law for name, (law, _) in noise.items()}
        self.scales = {name: scale_of(law, parameter) for name, (law, parameter) in noise.items()}
        self.cuts, self.cases = event["cuts"], dict[str, Any]()
        for skeleton, parts in event["cases"]:
            need(skeleton not in self.cases and type(skeleton) is str, "different cases")
            for of, cells in parts:
                need(all(type(score) is int and len(sets) == len(of) for sets, score in cells), "cells")
            self.cases[skeleton] = parts
        need(self.cases, "a case")
        self.cells = [len(parts) for _, parts in next(iter(self.cases.values()))]
        self.random = False
        self.paths = [Path(self, *each) for each in self._walked(noise)]
        draws = self.random or any(path.choices for path in self.paths) or "uniform" in self.kinds.values()
        self.least = enclosed(OF_SHARE, OF_SHARE)[1] if draws else ZERO

    def count(self) -> None:
        """Count a piece of noise; refuse a certificate with too many."""
        self.counted += 1
        need(self.counted <= self.most, "few pieces of noise")
        if self.counted % 100 == 0:
            self.clock()

    def _walked(self, noise: Any) -> Any:
        """Yield each path: conditions, probability, ranges of uniform draws, and output. Siblings cover all cases."""
        waiting: list[Any] = [(self.trace["tree"], [], CERTAIN, {}, frozenset[str]())]
        while waiting:
            node, given, mass, ends, drawn = waiting.pop()
            self.count()
            if {*node} == {"output"}:
                yield given, mass, ends, self.trace["outputs"][node["output"]]
            elif {*node} == {"never"}:
                follows(given, node["never"], {}, ">")
            elif {*node} == {"draw", "ends"}:
                self.random = True
                name, shares = node["draw"], [Q(part) for _, part, _ in node["ends"]]
                need(sum(shares) == 1 and min(shares) > 0, "all ends of a draw")
                if self.kinds.get(name) == "uniform":
                    low, high = ends.get(name, (Fraction(0), Fraction(1)))
                    for part, (label, _, child) in zip(shares, node["ends"], strict=True):
                        upper = low + part * (high - ends.get(name, (Fraction(0), Fraction(1)))[0])
                        need(label == f"{low} to {upper}", "the part of a uniform draw")
                        waiting.append((child, given, mass, ends | {name: (low, upper)}, drawn))
                        low = upper
                    continue
                need(name not in drawn and name not in noise, "a draw once")
                need(len({label for label, _, _ in node["ends"]}) == len(shares), "different ends of a draw")
                for _, part, child in node["ends"]:
                    waiting.append((child, given, times(mass, share(part)), ends, drawn | {name}))
            else:
                need("if" in node and {*node} - {"if"} <= {*SIGNS}, "one kind of node")
                self._compared(node, (given, mass, ends, drawn), waiting, noise)

    def _compared(self, node: Any, so_far: Any, waiting: Any, noise: Any) -> None:
        form, (given, *rest) = node["if"], so_far
        branches = {key: child for key, child in node.items() if key != "if"}
        covered = [sign for key in branches for sign in SIGNS[key]]
        dense = any(noise.get(name, [""])[0] in DENSE for name in form) and all(name[:1] != "o" for name in form)
        need(len({*covered}) == len(covered) and {*covered} >= ({-1, 1} if dense else {-1, 0, 1}), "all ways to go on")
        for key, child in branches.items():
            turned = form if key in (">", ">=", "=") else {name: str(-Q(value)) for name, value in form.items()}
            strict = ">" if key in "<>" else ">=" if key != "=" else "="
            waiting.append((child, [*given, [turned, strict]], *rest))

    # Probabilities ---------------------------------------------------------------------------------------------------

    def at_least(self, threshold: int) -> Decimal:
        """Return a lower bound on the probability that the parts' scores sum to at least a threshold."""
        return self._total(threshold, lower=True)

    def at_most(self, threshold: int) -> Decimal:
        """Return an upper bound on that probability."""
        return min(UP.add(self._total(threshold, lower=False), self.least), ONE)

    def _total(self, threshold: int, lower: bool) -> Decimal:
        total = ZERO
        for path in self.paths:
            if path.parts is not None:
                found = path.spread(range(len(path.parts)), lower, apart=False)
                for score, mass in found.items():
                    total = (DOWN if lower else UP).add(total, mass) if score >= threshold else total
        return total

    def masses(self, part: int, lower: bool) -> Any:
        """Return bounds on the probability of each cell of a part, by case and cell."""
        total: dict[Any, Decimal] = {}
        for path in self.paths:
            if path.parts is not None:
                for cell, mass in path.spread([part], lower, apart=True).items():
                    key = path.skeleton, cell
                    total[key] = (DOWN if lower else UP).add(total.get(key, ZERO), mass)
        return total if lower else {key: min(UP.add(mass, self.least), ONE) for key, mass in total.items()}

    def independent_parts(self) -> list[int]:
        """Return the numbers of cells, after checking that the parts of the only path are independent of each other."""
        need(len(self.paths) == len(self.cases) == 1 and self.paths[0].parts is not None, "one path")
        [path] = self.paths
        need(not path.given and path.mass == CERTAIN, "a path without conditions")
        each = [set[str]().union(*map(path.of_coordinate, coordinates)) for coordinates in path.read]
        need(sum(map(len, each)) == len(set[str]().union(*each)), "independent parts")
        return self.cells


def _inside(value: Any, wanted: Any) -> int:
    """Return 2 if a coordinate is certainly in a set, 1 if it may be, and 0 if it is not."""
    if type(wanted) is dict:
        return 2 if wanted["text"] == value else 0
    if isinstance(value, str):
        return 0
    need(type(wanted) is list and len(wanted) == 2, "a range")
    low = (-INFINITE, -INFINITE) if wanted[0] is None else exactly(wanted[0])
    high = (INFINITE, INFINITE) if wanted[1] is None else exactly(wanted[1])
    if value[0] >= low[1] and value[1] <= high[0]:
        return 2
    return int(value[1] >= low[0] and value[0] <= high[1])


def _scaled(found: Spread, by: Decimal, lower: bool) -> Spread:
    return {score: (DOWN if lower else UP).multiply(mass, by) for score, mass in found.items()}


def _convolved(a: Spread, b: Spread, lower: bool) -> Spread:
    """Return the distribution of a sum of independent scores."""
    context, total = DOWN if lower else UP, dict[int, Decimal]()
    if len(a) == 1 and 0 in a and a[0] == 1:
        return b
    need(len(a) * len(b) <= MOST_SCORES * 100, "few scores")
    for score, mass in a.items():
        for other, more in b.items():
            product = context.multiply(mass, more)
            total[score + other] = context.add(total.get(score + other, ZERO), product)
    return total
