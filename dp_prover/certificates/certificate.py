"""Certificates: all that a proof rests on, as JSON with exact rationals. ``checker`` reads them on its own."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from dp_prover.interfaces import SIGNS, Compared, Condition, Drawn, Names, Path, Trace
from dp_prover.numbers.form import OPAQUE, Form
from dp_prover.numbers.moves import Box, Hull
from dp_prover.rules.alignment import Aligned
from dp_prover.rules.gaussian import all_seen
from dp_prover.rules.masses import OutputLaw
from dp_prover.rules.path_cells import Multipliers, bound_conditions, contradiction

FORMAT = 4
Json = Any
MISSING = {-1: "<", 0: "=", 1: ">"}


class Written:
    """Writes one trace. Terms have names that go by what they compute, so that two traces can be compared."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        forms = [condition.form for path in trace.paths for condition in path.conditions]
        used = {name for form in forms for name in form.terms if name.startswith(OPAQUE)}
        found = {name: trace.names.spelled(Form.symbol(name)) for name in used}
        # Terms that differ by constants only are counted, in the order of these.
        in_order = sorted(used, key=lambda name: (found[name][0], [form.constant for form in found[name][1]]))
        self._new = {name: f"{OPAQUE}{at} {found[name][0]}" for at, name in enumerate(in_order)}
        self._terms = {self._new[name]: [written_form(form) for form in found[name][1][1:]] for name in in_order}
        self._outputs: dict[str, tuple[int, Json]] = {}
        self._order: list[int] = []
        self._tree = self._node(list(range(len(trace.paths))), 0)
        self._numbers = {path: number for number, path in enumerate(self._order)}

    def trace(self) -> Json:
        """Return all paths, as the ends of a tree of decisions."""
        return {"tree": self._tree, "outputs": [one for _, one in self._outputs.values()], "terms": self._terms}

    def row(self, form: Form, relation: str) -> Json:
        """Return a condition. A condition on noise with a density is strict, except for noise of probability 0."""
        strict = relation == ">=" and self._trace.names.is_dense(form)
        return [self._form(form), ">" if strict else relation]

    def _form(self, form: Form) -> dict[str, str]:
        return {self._new.get(name, name): value for name, value in written_form(form).items()}

    def _node(self, paths: Sequence[int], depth: int) -> Json:
        """Return the tree of some paths, which have their first decisions in common."""
        first = self._trace.paths[paths[0]]
        if len(first.nodes) == depth:
            return self._end(paths[0])
        node = first.nodes[depth]
        branches: dict[int, list[int]] = {}
        for path in paths:
            branches.setdefault(self._trace.paths[path].taken[depth], []).append(path)
        if isinstance(node, Drawn):
            ends = [
                [label, str(share), self._node(branches[at], depth + 1)]
                for at, (label, share) in enumerate(node.outcomes)
            ]
            return {"draw": node.name, "ends": ends}
        found = {"if": self._form(node.form)}
        found |= {relation: self._node(branches[at], depth + 1) for at, relation in enumerate(node.relations)}
        return found | self._impossible(first, depth, node)

    def _impossible(self, path: Path, depth: int, node: Compared) -> dict[str, Json]:
        """Return the ways to go on that no run takes, with what shows that."""
        names = self._trace.names
        signs = set().union(*(SIGNS[relation] for relation in node.relations))
        missing = {-1, 0, 1} - signs - ({0} if names.is_dense(node.form) else set())
        before = sum(isinstance(one, Compared) for one in path.nodes[:depth])
        found = {}
        for sign in missing:
            form = node.form if sign >= 0 else node.form.negated()
            here = Condition(form, "=" if sign == 0 else ">", node.place)
            given = [*path.conditions[:before], here, *bound_conditions(names)]
            multipliers = contradiction(given, names)
            if multipliers is not None:
                found[MISSING[sign]] = {"never": _multipliers(multipliers)}
        return found

    def _end(self, at: int) -> Json:
        path = self._trace.paths[at]
        self._order.append(at)
        output = self._output(path)
        number, _ = self._outputs.setdefault(json.dumps(output), (len(self._outputs), output))
        return {"output": number}

    def _output(self, path: Path) -> Json:
        """Return a function, and the affine forms that the output is this function of."""
        spelled = self._trace.names.spelled
        leaves = [spelled(leaf) if isinstance(leaf, Form) else (_without_names(leaf), ()) for leaf in path.leaves]
        what = f"{_without_names(path.structure)} {[text for text, _ in leaves]} {_without_names(path.law() or '')}"
        return [what, [written_form(form) for _, forms in leaves for form in forms]]

    def cell(self, aligned: Aligned, right: "Written", moves: Box | Hull, linear: bool) -> dict[str, Json]:
        """Return a cell with its shifts; this is the trace of its left side."""
        one = aligned.cell
        found: dict[str, Json] = {"left": [self._numbers[path] for path in one.left]}
        if aligned.empty is not None:
            return found | {"never": _multipliers(aligned.empty)}
        found |= {"right": [right._numbers[path] for path in one.right], "shifts": shifts(aligned, moves, linear)}
        if one.weight is not None:
            found["weight"] = str(one.weight)
        if one.joint:
            found["rows"] = [
                [self.row(row.left, row.relation) for row in one.rows],
                [right.row(row.right, row.relation) for row in one.rows],
            ]
            found["implied"] = [[_multipliers(multipliers) for multipliers in each] for each in one.implied]
            found["excluded"] = {str(right._numbers[at]): _multipliers(some) for at, some in one.excluded}
        return found


def _without_names(value: Any) -> str:
    """Return a constant as text in which nothing looks like the name of a draw; different texts stay different."""
    return str(value).replace("%", "%25").replace("n", "%6e")


def written_form(form: Form) -> dict[str, str]:
    """Return a form as JSON."""
    return {**{name: str(value) for name, value in sorted(form.terms.items())}, "": str(form.constant)}


def trace_of_gaussian(one: Trace) -> Json:
    """Return a trace as one path with everything that any path looks at."""
    what, forms = all_seen(one)
    outputs = [[_without_names(what), [written_form(form) for form in forms]]]
    return {"tree": {"output": 0}, "outputs": outputs, "terms": {}}


def noise(names: Names) -> Json:
    """Return the laws of all noise except finite draws."""
    return {
        name: [law[0], str(law[1] if len(law) > 1 else 1)] for name, law in names.laws.items() if law[0] != "finite"
    }


def is_linear(moves: Box | Hull, found: Sequence[Aligned]) -> bool:
    """Whether all shifts are linear in a box of differences, so that its middle and its half-widths stand for it."""
    return isinstance(moves, Box) and all(one.linear is not None for one in found if one.empty is None)


def shifts(one: Aligned, moves: Box | Hull, linear: bool) -> Json:
    """Return the shifts of a cell: for each difference, or for the middle of a box and each way from it."""
    if linear:
        assert one.linear is not None and isinstance(moves, Box)
        return [_moved(one.linear.constant, *one.linear.by_coordinate(len(moves.low)))]
    points = moves.points if isinstance(moves, Hull) else moves.vertices()
    return [_moved(one.at(tuple(map(Fraction, point)), moves)) for point in points]


def _multipliers(values: Multipliers) -> dict[str, str]:
    return {str(at): str(value) for at, value in enumerate(values) if value}


def _moved(*ways: Mapping[str, Fraction]) -> list[dict[str, str]]:
    """Return how far each symbol moves, without those that stay."""
    return [{name: str(value) for name, value in sorted(way.items()) if value} for way in ways]


def law(one: OutputLaw) -> Json:
    """Return the law of an output: the probabilities of each part that is independent of the others."""
    return {
        str(part.places): {json.dumps(text): str(mass) for text, mass in part.masses.items() if mass} for part in one
    }


def signed(content: Mapping[str, Json]) -> dict[str, Json]:
    """Return a certificate with its digest, so that a number that is changed by accident shows."""
    said = {"format": FORMAT, **content}
    return {**said, "digest": hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()}
