"""Expressions of a mechanism, evaluated: constants as Python has them, and terms, lazy values and arrays by their models."""

import ast
import functools
import hashlib
import operator
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dp_prover.errors import NotProvedError
from dp_prover.language import batches
from dp_prover.language.objects import (
    Bases,
    MadeObject,
    MethodOfMade,
    attribute_of_instance,
    bases_of,
    made_instance,
    method_after,
    set_attribute,
    special_method,
)
from dp_prover.language.outside import (
    BoundMethod,
    Foreign,
    attribute_of,
    describe,
    entry_of,
    from_outside,
    on_type,
)
from dp_prover.language.scope import CallScope, Closure, bound_arguments
from dp_prover.language.source import bound_names, is_super, read_source
from dp_prover.models.arithmetic import (
    COMPARISONS,
    binary,
    compare_scalars,
    equal_items,
    is_true,
    lazily,
    may_be_nan,
    native,
    placed,
    unary,
)
from dp_prover.models.arrays import is_known, put, real, require_few, taken
from dp_prover.models.attributes import UncalledMethod, attribute, call_method, method_of_type
from dp_prover.models.lazy import Lazy, unmodelled
from dp_prover.models.listed import Iterated, View, called, iterate, listed
from dp_prover.models.listed_numpy import applied_ufunc, applied_unary
from dp_prover.models.listed_python import key_of
from dp_prover.models.run import TracedRun
from dp_prover.models.values import Array, Mark, Term, is_constant, kind_of

MOST_CALLS = 40  # nested
OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.MatMult: "@",
}
UNARY: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}
COMPARED: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
CONSTANTS = (bool, int, float, str, bytes, type(None), type(...))


class Expressions:
    """Evaluates expressions for one run."""

    def __init__(self, run: TracedRun, batched: bool = False) -> None:
        self.run = run
        self.batched = batched  # whether the mechanism returns a batch of outputs
        self._file = ""
        self._depth = 0
        self.inside_batch = False  # whether a loop over the outputs of a batch is running
        self.unread: dict[int, list[Any]] = {}  # new empty lists by id, whose only name has not been read yet

    def body(self, node: ast.FunctionDef | ast.Lambda, frame: CallScope) -> Any:
        """Return the result of a function."""
        raise NotImplementedError

    def at(self, node: ast.stmt | ast.expr, frame: CallScope) -> None:
        """Record the current line."""
        self.run.at(frame.file, node.lineno)

    def value(self, node: ast.expr, frame: CallScope) -> Any:
        """Return the value of an expression."""
        self.at(node, frame)
        evaluate = EXPRESSIONS.get(type(node))
        if evaluate is None:
            raise NotProvedError(f"the expression {type(node).__name__} is not modelled")
        return evaluate(self, node, frame)

    def truth(self, value: Any) -> bool:
        """Return whether a value is true, forking if it may be either."""
        if self.has_rows(value) and not isinstance(value, list | tuple | dict):
            raise batches.refusal("a condition has something of a batch")
        if isinstance(value, Array):
            if value.index.size != 1:
                raise unmodelled(ValueError("The truth value of an array with more than one element is ambiguous"))
            return is_true(self.run, next(value.typed()))
        if isinstance(value, list | dict | set | View):
            return len(value) > 0
        if isinstance(value, Term | Lazy) or is_constant(value):
            return is_true(self.run, value)
        if type(value) is tuple:
            return len(value) > 0
        raise NotProvedError(f"{describe(value)} is used as a condition, which is not modelled")

    # Names and constants -------------------------------------------------------------------------------------------

    def _constant(self, node: ast.Constant, frame: CallScope) -> Any:
        if type(node.value) not in CONSTANTS:
            raise NotProvedError(f"the constant {node.value!r} is not modelled")
        return node.value

    def _name(self, node: ast.Name, frame: CallScope) -> Any:
        value = frame.look_up(node.id)
        self.unread.pop(id(value), None)
        if isinstance(value, Array) and value.store.unsure and is_known(value):
            # A module-level array is part of the source.
            content = f"{value.dtype} {value.shape} {value.flat()}"
            self.run.names.read[f"array {node.id}"] = hashlib.sha256(content.encode()).hexdigest()
        return value

    def _named(self, node: ast.NamedExpr, frame: CallScope) -> Any:
        value = self.value(node.value, frame)
        self.assign(node.target, value, frame)
        return value

    def _attribute(self, node: ast.Attribute, frame: CallScope) -> Any:
        return self.attribute(self.value(node.value, frame), node.attr)

    def attribute(self, value: Any, name: str) -> Any:
        """Return an attribute of a value."""
        if isinstance(value, types.ModuleType | Foreign):
            return attribute_of(value, name)
        if isinstance(value, MadeObject):
            member = attribute_of_instance(value, name)
            return self.call(member.fget, [value], {}) if type(member) is property else member
        if isinstance(value, Bases):
            return method_after(value, name)
        if isinstance(value, type):
            if value not in (int, dict):
                raise NotProvedError(f"{value.__name__}.{name} is not modelled")
            return UncalledMethod(value, name)
        if isinstance(value, Array) and value.batched:
            return batches.attribute(value, name)
        return attribute(value, name)

    # Operators -------------------------------------------------------------------------------------------------------

    def _binary(self, node: ast.BinOp, frame: CallScope) -> Any:
        left = self.value(node.left, frame)
        right = self.value(node.right, frame)
        self.at(node, frame)
        return self.operate(OPERATORS[type(node.op)], left, right)

    def operate(self, operation: str, a: Any, b: Any) -> Any:
        """Return ``a operation b``."""
        if type(a) is type(b) and type(a) in (list, tuple) and operation == "+":
            return self._of_sequences(operation, a, b)
        if self.has_rows(a, b):
            self._require_outside(a, b)
            if operation == "@":
                return batches.multiplied(self.run, functools.partial(applied_ufunc, self.run, "@"), a, b)
            return batches.item_by_item(self.run, functools.partial(applied_ufunc, self.run, operation), a, b)
        if isinstance(a, Array) or isinstance(b, Array):
            if any(isinstance(value, str | Foreign | dict | set) or value is None for value in (a, b)):
                raise NotProvedError(f"{operation} has an array and {describe(b if isinstance(a, Array) else a)}")
            return applied_ufunc(self.run, operation, a, b)
        if isinstance(a, list | tuple) or isinstance(b, list | tuple):
            return self._of_sequences(operation, a, b)
        for value in (a, b):
            if not (isinstance(value, Term | Lazy | set) or is_constant(value)):
                raise NotProvedError(f"{operation} has {describe(value)}, which is not modelled")
        if operation == "@":
            raise NotProvedError("@ has a number")
        if isinstance(a, str | bytes) and operation == "%" and not is_known(b):
            raise NotProvedError("formatting a number from data or noise as text is not modelled; return the number")
        return binary(self.run, operation, a, b)

    def has_rows(self, *values: Any) -> bool:
        """Whether some value belongs to a batch of outputs."""
        return self.batched and any(map(batches.is_batched, values))

    def _require_outside(self, *values: Any) -> None:
        """Raise NotProvedError inside a loop over the outputs of a batch, where only one output's row may be used."""
        if self.inside_batch:
            marks = [value.words for value in values if isinstance(value, Mark)]
            raise batches.refusal(
                f"{marks[0]} is computed with" if marks else "a loop over the batch computes with all rows"
            )

    def _of_sequences(self, operation: str, a: Any, b: Any) -> Any:
        if operation == "+" and type(a) is type(b):
            require_few(len(a) + len(b))
            return a + b
        for items, times in ((a, b), (b, a)):
            if operation == "*" and isinstance(items, list | tuple) and isinstance(times, int | np.integer):
                require_few(len(items) * max(int(times), 0))
                return items * int(times)
        if isinstance(a, str) and operation == "%" and is_known(b):
            return native(operator.mod, a, real(b))
        raise NotProvedError(f"{operation} of a list or tuple is not modelled here; use arrays")

    def _unary(self, node: ast.UnaryOp, frame: CallScope) -> Any:
        value = self.value(node.operand, frame)
        if self.has_rows(value) and not isinstance(node.op, ast.Not):
            self._require_outside(value)
            return batches.item_by_item(
                self.run, functools.partial(applied_unary, self.run, UNARY[type(node.op)]), value
            )
        if isinstance(node.op, ast.Not):
            return lazily(operator.not_, value) if isinstance(value, Lazy) else not self.truth(value)
        if isinstance(value, Array):
            return applied_unary(self.run, UNARY[type(node.op)], value)
        if not (isinstance(value, Term | Lazy) or is_constant(value)):
            raise NotProvedError(f"{UNARY[type(node.op)]} has {describe(value)}, which is not modelled")
        return unary(self.run, UNARY[type(node.op)], value)

    def _boolean(self, node: ast.BoolOp, frame: CallScope) -> Any:
        stops = isinstance(node.op, ast.Or)
        for part in node.values[:-1]:
            value = self.value(part, frame)
            value = value.settled() if isinstance(value, Lazy) else value
            if self.truth(value) == stops:
                return value
        return self.value(node.values[-1], frame)

    def _compare(self, node: ast.Compare, frame: CallScope) -> Any:
        left = self.value(node.left, frame)
        result: Any = True
        for at, (op, right_node) in enumerate(zip(node.ops, node.comparators, strict=True)):
            right = self.value(right_node, frame)
            self.at(node, frame)
            result = self._compared(op, left, right)
            if at < len(node.ops) - 1:
                result = result.settled() if isinstance(result, Lazy) else result
                if not self.truth(result):
                    return result
            left = right
        return result

    def _compared(self, op: ast.cmpop, a: Any, b: Any) -> Any:
        if isinstance(op, ast.Is | ast.IsNot):
            a, b = (value.settled() if isinstance(value, Lazy) else value for value in (a, b))
            if a is not None and b is not None:
                raise NotProvedError("`is` compares identities, which is only modelled for None; use ==")
            return (a is b) == isinstance(op, ast.Is)
        if isinstance(op, ast.In | ast.NotIn):
            contains = self._contains(b, a)
            return contains if isinstance(op, ast.In) else not contains
        operation = COMPARED[type(op)]
        if self.has_rows(a, b):
            self._require_outside(a, b)
            return batches.item_by_item(self.run, functools.partial(applied_ufunc, self.run, operation), a, b)
        if isinstance(a, Array) or isinstance(b, Array):
            if not all(
                isinstance(value, Array | Term | Lazy | list | tuple | int | float | np.generic) for value in (a, b)
            ):
                raise NotProvedError(f"{operation} has an array and {describe(b if isinstance(a, Array) else a)}")
            return applied_ufunc(self.run, operation, a, b)
        if is_known(a) and is_known(b):
            if any(map(_holds_nan, (a, b))):
                raise NotProvedError("lists with NaN are compared, where Python compares NaN by identity")
            return native(COMPARISONS[operation], real(a), real(b))
        for value in (a, b):
            if not (isinstance(value, Term | Lazy) or is_constant(value)):
                raise NotProvedError(f"{operation} compares {describe(value)} with a number from data or noise")
        return compare_scalars(self.run, operation, a, b)

    def _contains(self, container: Any, item: Any) -> bool:
        if isinstance(container, dict | set):
            return key_of(item) in container
        if isinstance(container, list | tuple | Array) and not isinstance(item, list | tuple | Array | dict):
            if isinstance(container, Array) and len(container.shape) != 1:
                raise NotProvedError("`in` is applied to an array with several axes")
            return any(self.truth(self._equal_items(member, item, container)) for member in iterate(container))
        if is_constant(container) and is_constant(item):
            return bool(native(operator.contains, container, item))
        raise NotProvedError(f"`in` is applied to {describe(container)}, which is not modelled")

    def _equal_items(self, member: Any, item: Any, container: Any) -> Any:
        if isinstance(container, Array) or isinstance(member, Array | list | tuple | dict | set):
            return self._compared(ast.Eq(), member, item)
        return equal_items(self.run, member, item)

    def _choice(self, node: ast.IfExp, frame: CallScope) -> Any:
        return self.value(node.body if self.truth(self.value(node.test, frame)) else node.orelse, frame)

    # Containers --------------------------------------------------------------------------------------------------------

    def _elements(self, nodes: Sequence[ast.expr], frame: CallScope) -> list[Any]:
        items: list[Any] = []
        for node in nodes:
            items += (
                listed(self.value(node.value, frame)) if isinstance(node, ast.Starred) else [self.value(node, frame)]
            )
        return items

    def _list(self, node: ast.List, frame: CallScope) -> Any:
        return self._elements(node.elts, frame)

    def _tuple(self, node: ast.Tuple, frame: CallScope) -> Any:
        return tuple(self._elements(node.elts, frame))

    def _set(self, node: ast.Set, frame: CallScope) -> Any:
        return {key_of(value) for value in self._elements(node.elts, frame)}

    def _dict(self, node: ast.Dict, frame: CallScope) -> Any:
        items: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                more = self.value(value, frame)
                if type(more) is not dict:
                    raise NotProvedError("** has something other than a dict")
                items |= more
            else:
                name = key_of(self.value(key, frame))
                items[name] = self.value(value, frame)
        return items

    def _subscript(self, node: ast.Subscript, frame: CallScope) -> Any:
        owner = self.value(node.value, frame)
        key = self.value(node.slice, frame)
        self.at(node, frame)
        return self.item(owner, key)

    def _slice(self, node: ast.Slice, frame: CallScope) -> Any:
        parts = (node.lower, node.upper, node.step)
        ends = [None if part is None else self._end(self.value(part, frame)) for part in parts]
        return slice(*ends)

    def _end(self, value: Any) -> Any:
        if isinstance(value, Term):
            raise NotProvedError("a slice has a number from data or noise as an end, which is not modelled")
        return real(value)

    def item(self, owner: Any, key: Any) -> Any:
        """Return ``owner[key]``."""
        if self.has_rows(key) or (isinstance(owner, Array) and owner.batched):
            return batches.item(owner, key, self.inside_batch)
        if isinstance(owner, Array):
            return taken(owner, key)
        if type(owner) is dict:
            return placed(owner.__getitem__, key_of(key))
        if type(owner) in (list, tuple, str, bytes, range):
            return placed(owner.__getitem__, self._place(key))
        if isinstance(owner, type) and owner in (list, dict, set):  # list[float](), which is list()
            return owner
        raise NotProvedError(f"reading an item of {describe(owner)} is not modelled")

    def _place(self, key: Any) -> Any:
        if isinstance(key, Term | Array):
            raise NotProvedError("the index of a list depends on the data or on noise")
        return real(key)

    def set_item(self, owner: Any, key: Any, value: Any) -> None:
        """Execute ``owner[key] = value``."""
        if isinstance(owner, Array) and owner.batched:
            batches.set_item(self.run, owner, key, value, self.inside_batch)
        elif self.has_rows(key) or (isinstance(owner, Array) and self.has_rows(value)):
            raise batches.refusal("rows of a batch are written into something else")
        elif isinstance(owner, Array):
            put(self.run, owner, key, value)
        elif type(owner) is dict:
            owner[key_of(key)] = value
        elif type(owner) is list:
            place = self._place(key)
            if isinstance(place, slice) and type(value) not in (list, tuple):
                raise NotProvedError("something other than a list or a tuple is assigned to a slice of a list")
            placed(owner.__setitem__, place, list(value) if isinstance(place, slice) else value)
        else:
            raise NotProvedError(f"assigning to an item of {describe(owner)} is not modelled")

    def changed_array(self, array: Array, value: Any) -> Array:
        """Write an in-place operator's result into its array, and return the array."""
        if array.batched or self.has_rows(value):
            self._require_outside()
            if not (isinstance(value, Array) and array.batched and value.batched):
                raise batches.refusal("rows of a batch change another array")
            with batches.showing_rows():
                self._changed_array(array, value)
            return array
        return self._changed_array(array, value)

    def _changed_array(self, array: Array, value: Any) -> Array:
        kind = value.dtype if isinstance(value, Array) else np.dtype(kind_of(value))
        if not np.can_cast(kind, array.dtype, "same_kind"):
            raise unmodelled(TypeError(f"Cannot cast the result from {kind} to {array.dtype}"))
        if isinstance(value, Array) and value.shape != array.shape:
            raise unmodelled(ValueError("non-broadcastable output operand"))
        put(self.run, array, ..., value)
        return array

    def assign(self, target: ast.expr, value: Any, frame: CallScope) -> None:
        """Execute an assignment."""
        if isinstance(target, ast.Name):
            frame.bind(target.id, value)
        elif isinstance(target, ast.Subscript):
            self.set_item(self.value(target.value, frame), self.value(target.slice, frame), value)
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target.elts, listed(value), frame)
        elif isinstance(target, ast.Attribute):
            set_attribute(self.value(target.value, frame), target.attr, value)
        else:
            raise NotProvedError(f"the target {type(target).__name__} of an assignment is not modelled")

    def _unpack(self, targets: Sequence[ast.expr], values: list[Any], frame: CallScope) -> None:
        starred = [at for at, target in enumerate(targets) if isinstance(target, ast.Starred)]
        if starred:
            [at] = starred
            after = len(targets) - at - 1
            if len(values) < len(targets) - 1:
                raise unmodelled(ValueError("not enough values to unpack"))
            middle = values[at : len(values) - after]
            values = [*values[:at], middle, *values[len(values) - after :]]
            targets = [*targets[:at], targets[at].value, *targets[at + 1 :]]  # type: ignore[attr-defined]
        if len(targets) != len(values):
            raise unmodelled(ValueError(f"cannot unpack {len(values)} values into {len(targets)}"))
        for target, value in zip(targets, values, strict=True):
            self.assign(target, value, frame)

    # Comprehensions ----------------------------------------------------------------------------------------------------

    def _rows(self, node: Any, frame: CallScope) -> Iterator[CallScope]:
        """Yield a frame for each row of a comprehension; its outermost iterable is evaluated immediately."""
        return self._rows_over(node, self.value(node.generators[0].iter, frame), frame)

    def _rows_over(self, node: Any, values: Any, frame: CallScope) -> Iterator[CallScope]:
        walked = (name for part in node.generators for name in ast.walk(part.target))
        targets = frozenset(name.id for name in walked if isinstance(name, ast.Name))
        inner = CallScope(targets, frame.file, frame)
        return self._nested(node.generators, iterate(values), inner)

    def _nested(
        self, parts: Sequence[ast.comprehension], values: Iterator[Any], frame: CallScope
    ) -> Iterator[CallScope]:
        part, *more = parts
        if part.is_async:
            raise NotProvedError("async comprehensions are not modelled")
        for value in values:
            self.run.check_time()
            self.assign(part.target, value, frame)
            if all(self.truth(self.value(test, frame)) for test in part.ifs):
                if more:
                    yield from self._nested(more, iterate(self.value(more[0].iter, frame)), frame)
                else:
                    yield frame

    def _list_of(self, node: ast.ListComp, frame: CallScope) -> Any:
        values = self.value(node.generators[0].iter, frame)
        if batches.is_rows(values):
            return self._rows_of_batch(node, values, frame)
        return [self.value(node.elt, row) for row in self._rows_over(node, values, frame)]

    def _rows_of_batch(self, node: ast.ListComp, values: Any, frame: CallScope) -> Any:
        """Return the list of a batch's outputs, of which one is evaluated."""
        self._require_outside()
        if len(node.generators) > 1 or node.generators[0].ifs or node.generators[0].is_async:
            raise batches.refusal("a list has more or fewer items than the batch has outputs")
        target = node.generators[0].target
        batches.require_names(target)
        names = [name.id for name in ast.walk(target) if isinstance(name, ast.Name)]
        inner = CallScope(frozenset(names), frame.file, frame)
        before = batches.State(frame, {})
        self.inside_batch = True
        try:
            self.assign(target, batches.first_row(values), inner)
            output = self.value(node.elt, inner)
        finally:
            self.inside_batch = False
        before.require_same(batches.State(frame, {}))
        if batches.is_batched(output):
            raise batches.refusal("an output of a batch holds other outputs")
        return batches.Rows(output)

    def _set_of(self, node: ast.SetComp, frame: CallScope) -> Any:
        return {key_of(self.value(node.elt, row)) for row in self._rows(node, frame)}

    def _dict_of(self, node: ast.DictComp, frame: CallScope) -> Any:
        items = {}
        for row in self._rows(node, frame):
            key = key_of(self.value(node.key, row))
            items[key] = self.value(node.value, row)
        return items

    def _stream(self, node: ast.GeneratorExp, frame: CallScope) -> Any:
        rows = self._rows(node, frame)
        return Iterated(self.value(node.elt, row) for row in rows)

    # Text ----------------------------------------------------------------------------------------------------------------

    def _joined(self, node: ast.JoinedStr, frame: CallScope) -> Any:
        return "".join(self.value(part, frame) for part in node.values)

    def _formatted(self, node: ast.FormattedValue, frame: CallScope) -> Any:
        value = self.value(node.value, frame)
        value = value.settled() if isinstance(value, Lazy) else value
        if isinstance(value, Mark):
            raise batches.refusal(f"{value.words} is written as text")
        if not is_constant(value):
            raise NotProvedError("formatting a number from data or noise as text is not modelled; return the number")
        turned: Any = {115: str, 114: repr, 97: ascii}.get(node.conversion)
        spec = "" if node.format_spec is None else self.value(node.format_spec, frame)
        return native(format, native(turned, value) if turned is not None else value, spec)

    # Calls ---------------------------------------------------------------------------------------------------------------

    def closure(self, node: ast.FunctionDef | ast.Lambda, frame: CallScope) -> Closure:
        """Create a function, and evaluate its defaults and annotations."""
        arguments = node.args
        places = [parameter.arg for parameter in (*arguments.posonlyargs, *arguments.args)]
        defaults = {
            name: self.value(default, frame)
            for name, default in zip(places[len(places) - len(arguments.defaults) :], arguments.defaults, strict=True)
        }
        for parameter, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if default is not None:
                defaults[parameter.arg] = self.value(default, frame)
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [parameter for parameter in (arguments.vararg, arguments.kwarg) if parameter is not None]
        for annotation in (*(parameter.annotation for parameter in every), getattr(node, "returns", None)):
            if annotation is not None:
                self._annotation(annotation, frame)
        return Closure(node, bound_names(node), frame, defaults)

    def _annotation(self, node: ast.expr, frame: CallScope) -> None:
        """Evaluate a type annotation, as Python does when a function is created."""
        if isinstance(node, ast.Constant):
            return
        if isinstance(node, ast.Name):
            self._name(node, frame)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            for side in (node.left, node.right):
                self._annotation(side, frame)
                if not (isinstance(side, ast.Constant) and side.value is None) and not (
                    isinstance(side, ast.Name) and self._name(side, frame) in (bool, int, float, str)
                ):
                    raise NotProvedError("a type annotation has | between something other than types; leave it out")
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            if self._name(node.value, frame) not in (list, dict, tuple, set):
                raise NotProvedError("a type annotation is computed; leave it out")
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            for part in inner:
                self._annotation(part, frame)
        else:
            raise NotProvedError("a type annotation is computed; leave it out")

    def _lambda(self, node: ast.Lambda, frame: CallScope) -> Any:
        return self.closure(node, frame)

    def is_errstate(self, node: ast.expr, frame: CallScope) -> bool:
        """Whether an expression is ``np.errstate`` with nothing but "ignore"."""
        if not isinstance(node, ast.Call) or node.args:
            return False
        words = [self.value(keyword.value, frame) for keyword in node.keywords]
        kinds = {"all", "divide", "over", "under", "invalid"}
        named = all(keyword.arg in kinds for keyword in node.keywords)
        return named and self.value(node.func, frame) is np.errstate and all(word == "ignore" for word in words)

    def _call(self, node: ast.Call, frame: CallScope) -> Any:
        function = self.value(node.func, frame)
        if function is super and is_super(node):
            return bases_of(frame.function, frame.values)
        if any(isinstance(argument, ast.Starred) for argument in node.args) and not all(
            isinstance(keyword.value, ast.Name | ast.Constant) for keyword in node.keywords
        ):
            raise NotProvedError(
                "a call combines * with a computed keyword, whose order is not modelled; compute the keyword before the call"
            )
        arguments = self._elements(node.args, frame)
        keywords: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self.value(keyword.value, frame)
            more = {keyword.arg: value} if keyword.arg is not None else value
            if type(more) is not dict or keywords.keys() & more.keys() or not all(type(name) is str for name in more):
                raise NotProvedError("** has something other than a dict, or an argument is given twice")
            keywords |= more
        self.at(node, frame)
        return self.call(function, arguments, keywords)

    def call(self, function: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """Call a function of the mechanism, or one on the allow-list."""
        if isinstance(function, Closure):
            values = bound_arguments(function.node, list(arguments), keywords, function.defaults)
            frame = CallScope(function.names, function.frame.file, function.frame, values=values)
            return self._entered(function.node, frame)
        of_batch = self.has_rows(*arguments, *keywords.values())
        if isinstance(function, UncalledMethod) and (of_batch or self.has_rows(function.owner)):
            self._require_outside(*arguments, *keywords.values())
            model = functools.partial(call_method, self, function)
            return batches.method(function, self.run, model, arguments, keywords)
        if isinstance(function, UncalledMethod) and self.batched and not self.inside_batch:
            batches.require_independent(function)
        if isinstance(function, UncalledMethod):
            if isinstance(function.owner, type):
                return called_of_type(function, arguments, keywords)
            return call_method(self, function, arguments, keywords)
        if isinstance(function, BoundMethod | MethodOfMade):
            return self.call(function.function, [function.owner, *arguments], keywords)
        if isinstance(function, MadeObject):
            return self.call(special_method(function, "__call__"), arguments, keywords)
        entry = entry_of(function)
        if entry is not None and of_batch:
            self._require_outside(*arguments, *keywords.values())
            return batches.called(entry, self.run, functools.partial(called, entry, self), arguments, keywords)
        if entry is not None:
            return called(entry, self, arguments, keywords)
        if type(function) is types.FunctionType:
            return self._of_module(function, arguments, keywords)
        if isinstance(function, Foreign):
            return self._of_object(function.value, arguments, keywords)
        if type(function) is type:
            return made_instance(self, function, arguments, keywords)
        raise NotProvedError(f"{describe(function)} is called, which is not on the list of functions that are modelled")

    def _of_module(self, function: types.FunctionType, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        source = read_source(function)
        self.run.names.read[function.__qualname__] = source.digest
        parameters = source.node.args
        places = [parameter.arg for parameter in (*parameters.posonlyargs, *parameters.args)]
        given, named = function.__defaults__ or (), function.__kwdefaults__ or {}
        own = {parameter.arg for parameter in parameters.kwonlyargs}
        if type(given) is not tuple or type(named) is not dict or not own.issuperset(named):
            raise NotProvedError(f"the defaults of {function.__qualname__} were changed after its definition")
        defaults = {
            name: from_outside(value) for name, value in zip(places[len(places) - len(given) :], given, strict=True)
        }
        defaults |= {name: from_outside(value) for name, value in named.items()}
        values = bound_arguments(source.node, list(arguments), keywords, defaults)
        return self._entered(source.node, CallScope(source.names, source.file, None, function, values))

    def _of_object(self, value: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """Call a partial function, a bound method, or an object whose class defines ``__call__``."""
        if type(value) is functools.partial:
            keywords = {name: from_outside(keyword) for name, keyword in value.keywords.items()} | dict(keywords)
            return self.call(from_outside(value.func), [*map(from_outside, value.args), *arguments], keywords)
        if type(value) is types.MethodType and type(value.__func__) is types.FunctionType:
            return self.call(value.__func__, [from_outside(value.__self__), *arguments], keywords)
        method = on_type(type(value), "__call__")
        if type(method) is types.FunctionType:
            return self.call(method, [Foreign(value), *arguments], keywords)
        raise NotProvedError(
            f"{describe(Foreign(value))} is called, which is not on the list of functions that are modelled"
        )

    def _entered(self, node: ast.FunctionDef | ast.Lambda, frame: CallScope) -> Any:
        if self._depth >= MOST_CALLS:
            raise NotProvedError(f"functions call each other more than {MOST_CALLS} deep")
        self.run.check_time()
        line, self._depth = self.run.line, self._depth + 1
        try:
            result = self.body(node, frame)
        finally:  # a session goes on after an exception
            self._depth -= 1
        self.run.at(*line)
        return result


def _holds_nan(value: Any) -> bool:
    """Whether a list, a tuple or a dict holds NaN."""
    if isinstance(value, dict):
        return _holds_nan([*value, *value.values()])
    return isinstance(value, list | tuple) and any(may_be_nan(item) or _holds_nan(item) for item in value)


def called_of_type(method: UncalledMethod, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Call a type's function with constants."""
    function = method_of_type(method.owner, method.name)
    if not all(map(is_constant, (*arguments, *keywords.values()))):
        raise NotProvedError(f"{method.name} has something other than constants")
    return native(function, *map(real, arguments), **{name: real(value) for name, value in keywords.items()})


EXPRESSIONS: dict[type[ast.expr], Any] = {
    ast.Constant: Expressions._constant,
    ast.Name: Expressions._name,
    ast.NamedExpr: Expressions._named,
    ast.Attribute: Expressions._attribute,
    ast.BinOp: Expressions._binary,
    ast.UnaryOp: Expressions._unary,
    ast.BoolOp: Expressions._boolean,
    ast.Compare: Expressions._compare,
    ast.IfExp: Expressions._choice,
    ast.List: Expressions._list,
    ast.Tuple: Expressions._tuple,
    ast.Set: Expressions._set,
    ast.Dict: Expressions._dict,
    ast.Subscript: Expressions._subscript,
    ast.Slice: Expressions._slice,
    ast.ListComp: Expressions._list_of,
    ast.SetComp: Expressions._set_of,
    ast.DictComp: Expressions._dict_of,
    ast.GeneratorExp: Expressions._stream,
    ast.JoinedStr: Expressions._joined,
    ast.FormattedValue: Expressions._formatted,
    ast.Lambda: Expressions._lambda,
    ast.Call: Expressions._call,
}
