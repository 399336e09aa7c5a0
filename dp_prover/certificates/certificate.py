"""Writes certificates: everything that a proof rests on, as JSON with exact rationals."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from dp_prover.interfaces import SIGNS, Compared, Condition, Drawn, Names, Path, Trace
from dp_prover.numbers.form import OPAQUE, Form
from dp_prover.numbers.moves import Box, Hull
from dp_prover.rules.alignment import Aligned
from dp_prover.rules.gaussian import everything_read
from dp_prover.rules.masses import OutputLaw
from dp_prover.rules.path_cells import Multipliers, bound_conditions, contradiction

FORMAT = 4
Json = Any
MISSING = {-1: "<", 0: "=", 1: ">"}


class TraceWriter:
    """Writes one trace. Terms are named after what they compute, so that traces are comparable."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        forms = [condition.form for path in trace.paths for condition in path.conditions]
        used = {name for form in forms for name in form.terms if name.startswith(OPAQUE)}
        canonical = {name: trace.names.spelled(Form.symbol(name)) for name in used}
        # Terms that differ only in constants are numbered in the order of these.
        in_order = sorted(used, key=lambda name: (canonical[name][0], [form.constant for form in canonical[name][1]]))
        self._new = {name: f"{OPAQUE}{at} {canonical[name][0]}" for at, name in enumerate(in_order)}
        self._terms = {self._new[name]: [written_form(form) for form in canonical[name][1][1:]] for name in in_order}
        self._outputs: dict[str, tuple[int, Json]] = {}
        self._order: list[int] = []
        self._tree = self._node(list(range(len(trace.paths))), 0)
        self._numbers = {path: number for number, path in enumerate(self._order)}

    def trace(self) -> Json:
        """Return all paths, as a decision tree."""
        return {"tree": self._tree, "outputs": [output for _, output in self._outputs.values()], "terms": self._terms}

    def row(self, form: Form, relation: str) -> Json:
        """Return a condition. Noise with a density makes it strict, up to probability 0."""
        strict = relation == ">=" and self._trace.names.is_dense(form)
        return [self._form(form), ">" if strict else relation]

    def _form(self, form: Form) -> dict[str, str]:
        return {self._new.get(name, name): value for name, value in written_form(form).items()}

    def _node(self, paths: Sequence[int], depth: int) -> Json:
        """Return the subtree of paths that share their first decisions."""
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
        comparison = {"if": self._form(node.form)}
        comparison |= {relation: self._node(branches[at], depth + 1) for at, relation in enumerate(node.relations)}
        return comparison | self._impossible(first, depth, node)

    def _impossible(self, path: Path, depth: int, node: Compared) -> dict[str, Json]:
        """Return the branches that no run takes, with a contradiction for each."""
        names = self._trace.names
        signs = set().union(*(SIGNS[relation] for relation in node.relations))
        missing = {-1, 0, 1} - signs - ({0} if names.is_dense(node.form) else set())
        before = sum(isinstance(decision, Compared) for decision in path.nodes[:depth])
        branches = {}
        for sign in missing:
            form = node.form if sign >= 0 else node.form.negated()
            here = Condition(form, "=" if sign == 0 else ">", node.place)
            given = [*path.conditions[:before], here, *bound_conditions(names)]
            multipliers = contradiction(given, names)
            if multipliers is not None:
                branches[MISSING[sign]] = {"never": _multipliers(multipliers)}
        return branches

    def _end(self, at: int) -> Json:
        path = self._trace.paths[at]
        self._order.append(at)
        output = self._output(path)
        number, _ = self._outputs.setdefault(json.dumps(output), (len(self._outputs), output))
        return {"output": number}

    def _output(self, path: Path) -> Json:
        """Return an output as a text without constants, and the affine forms that fill it."""
        spelled = self._trace.names.spelled
        leaves = [spelled(leaf) if isinstance(leaf, Form) else (_without_names(leaf), ()) for leaf in path.leaves]
        what = f"{_without_names(path.structure)} {[text for text, _ in leaves]} {_without_names(path.law() or '')}"
        return [what, [written_form(form) for _, forms in leaves for form in forms]]

    def cell(self, aligned: Aligned, right: "TraceWriter", moves: Box | Hull, linear: bool) -> dict[str, Json]:
        """Return a cell with its shifts. This trace is its left side."""
        cell = aligned.cell
        entry: dict[str, Json] = {"left": [self._numbers[path] for path in cell.left]}
        if aligned.empty is not None:
            return entry | {"never": _multipliers(aligned.empty)}
        entry |= {"right": [right._numbers[path] for path in cell.right], "shifts": shifts(aligned, moves, linear)}
        if cell.weight is not None:
            entry["weight"] = str(cell.weight)
        if cell.joint:
            entry["rows"] = [
                [self.row(row.left, row.relation) for row in cell.rows],
                [right.row(row.right, row.relation) for row in cell.rows],
            ]
            entry["implied"] = [[_multipliers(multipliers) for multipliers in each] for each in cell.implied]
            entry["excluded"] = {str(right._numbers[at]): _multipliers(some) for at, some in cell.excluded}
        return entry


def _without_names(value: Any) -> str:
    """Return a constant as text, escaped injectively so that nothing in it looks like a draw's symbol."""
    return str(value).replace("%", "%25").replace("n", "%6e")


def written_form(form: Form) -> dict[str, str]:
    """Return a form as JSON."""
    return {**{name: str(value) for name, value in sorted(form.terms.items())}, "": str(form.constant)}


def trace_of_gaussian(trace: Trace) -> Json:
    """Return a trace as one path that returns everything any path reads."""
    what, forms = everything_read(trace)
    outputs = [[_without_names(what), [written_form(form) for form in forms]]]
    return {"tree": {"output": 0}, "outputs": outputs, "terms": {}}


def noise(names: Names) -> Json:
    """Return the distributions of all draws that are not discrete."""
    return {
        name: [law[0], str(law[1] if len(law) > 1 else 1)] for name, law in names.laws.items() if law[0] != "finite"
    }


def is_linear(moves: Box | Hull, cells: Sequence[Aligned]) -> bool:
    """Whether all shifts are linear in a box of differences, so that its centre and axes suffice."""
    return isinstance(moves, Box) and all(cell.linear is not None for cell in cells if cell.empty is None)


def shifts(aligned: Aligned, moves: Box | Hull, linear: bool) -> Json:
    """Return the shifts of a cell: for each difference, or for a box's centre and along each axis."""
    if linear:
        assert aligned.linear is not None and isinstance(moves, Box)
        return [_moved(aligned.linear.constant, *aligned.linear.by_coordinate(len(moves.low)))]
    points = moves.points if isinstance(moves, Hull) else moves.vertices()
    return [_moved(aligned.at(tuple(map(Fraction, point)), moves)) for point in points]


def _multipliers(values: Multipliers) -> dict[str, str]:
    return {str(at): str(value) for at, value in enumerate(values) if value}


def _moved(*ways: Mapping[str, Fraction]) -> list[dict[str, str]]:
    """Return how far each symbol moves; symbols that stay are left out."""
    return [{name: str(value) for name, value in sorted(way.items()) if value} for way in ways]


def law(output_law: OutputLaw) -> Json:
    """Return an output law: the probabilities of each independent part."""
    return {
        str(part.places): {json.dumps(text): str(mass) for text, mass in part.masses.items() if mass}
        for part in output_law
    }


def signed(content: Mapping[str, Json]) -> dict[str, Json]:
    """Return a certificate with its digest, which detects accidental changes."""
    whole = {"format": FORMAT, **content}
    return {**whole, "digest": hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()}
