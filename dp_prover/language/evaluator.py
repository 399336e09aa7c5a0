"""The evaluator: interprets a mechanism's source, with symbols in place of noise and data.

The mechanism is never called. A statement, expression, function, attribute or outside object that is not modelled ends the attempt
with its line and the reason. So only models see terms, and every model is on an allow-list.
"""

import ast
import builtins
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from dp_prover.errors import NotProvedError
from dp_prover.language import batches
from dp_prover.language.expressions import OPERATORS, Expressions
from dp_prover.language.objects import is_plain_exception, set_attribute
from dp_prover.language.outside import MODULES
from dp_prover.language.scope import CallScope
from dp_prover.models.arrays import require_few
from dp_prover.models.lazy import unmodelled
from dp_prover.models.listed import iterate, listed
from dp_prover.models.listed_numpy import applied_ufunc
from dp_prover.models.values import Array, Mark, RaisesError, is_constant

EXCEPTIONS = frozenset(
    kind for kind in vars(builtins).values() if isinstance(kind, type) and issubclass(kind, Exception)
)
Signal = tuple[str, Any] | None  # how a block was left early: return with a value, break, continue


class Evaluator(Expressions):
    """Interprets functions for one run."""

    def body(self, node: ast.FunctionDef | ast.Lambda, frame: CallScope) -> Any:
        """Return the result of a function."""
        if isinstance(node, ast.Lambda):
            return self.value(node.body, frame)
        signal = self.block(node.body, frame)
        return signal[1] if signal is not None else None

    def block(self, statements: Sequence[ast.stmt], frame: CallScope) -> Signal:
        """Execute statements in turn."""
        for statement in statements:
            self.at(statement, frame)
            self.run.check_time()
            carry_out = STATEMENTS.get(type(statement))
            if carry_out is None:
                raise NotProvedError(f"the statement {type(statement).__name__} is not modelled")
            signal: Signal = carry_out(self, statement, frame)
            if signal is not None:
                return signal
        return None

    # Statements ------------------------------------------------------------------------------------------------------

    def _expression(self, node: ast.Expr, frame: CallScope) -> Signal:
        self.value(node.value, frame)
        return None

    def _return(self, node: ast.Return, frame: CallScope) -> Signal:
        return "return", None if node.value is None else self.value(node.value, frame)

    def _assign(self, node: ast.Assign, frame: CallScope) -> Signal:
        value = self.value(node.value, frame)
        for target in node.targets:
            self.assign(target, value, frame)
        if len(node.targets) == 1:
            self._note_unread(node.targets[0], node.value, value)
        return None

    def _note_unread(self, target: ast.expr, made_by: ast.expr, value: Any) -> None:
        """Remember a list created by ``out = []``: nothing else refers to it until the name is read."""
        if isinstance(target, ast.Name) and isinstance(made_by, ast.List) and value == []:
            self.unread[id(value)] = value
        elif isinstance(target, ast.Tuple) and isinstance(made_by, ast.Tuple):
            starred = any(isinstance(element, ast.Starred) for element in (*target.elts, *made_by.elts))
            for element, written, item in () if starred else zip(target.elts, made_by.elts, value, strict=True):
                self._note_unread(element, written, item)

    def _annotated(self, node: ast.AnnAssign, frame: CallScope) -> Signal:
        if node.value is not None:
            value = self.value(node.value, frame)
            self.assign(node.target, value, frame)
            self._note_unread(node.target, node.value, value)
        return None

    def _augmented(self, node: ast.AugAssign, frame: CallScope) -> Signal:
        operation = OPERATORS[type(node.op)]
        target = node.target
        if isinstance(target, ast.Name):
            old = self.value(ast.copy_location(ast.Name(target.id, ast.Load()), target), frame)
            frame.bind(target.id, self._changed(operation, old, self.value(node.value, frame)))
            return None
        if isinstance(target, ast.Subscript):
            owner, key = self.value(target.value, frame), self.value(target.slice, frame)
            old = self.item(owner, key)
            self.set_item(owner, key, self._changed(operation, old, self.value(node.value, frame)))
            return None
        if isinstance(target, ast.Attribute):
            owner = self.value(target.value, frame)
            old = self.attribute(owner, target.attr)
            set_attribute(owner, target.attr, self._changed(operation, old, self.value(node.value, frame)))
            return None
        raise NotProvedError(f"the target {type(target).__name__} of an operator is not modelled")

    def _changed(self, operation: str, old: Any, value: Any) -> Any:
        """Return ``old operation= value``; lists and arrays are changed in place."""
        if isinstance(old, Mark) or isinstance(value, Mark):
            raise batches.refusal("something of a batch is changed in place, or used to change something")
        if isinstance(old, list) and operation in ("+", "*"):
            if isinstance(value, Array):  # NumPy's operator comes first
                return self.operate(operation, old, value)
            # The list stays the same object.
            if operation == "*":
                old[:] = self.operate(operation, old, value)
                return old
            # Items are appended singly, since computing an item may read the list.
            for item in listed(value) if isinstance(value, list | tuple) else iterate(value):
                old.append(item)
                require_few(len(old))
            return old
        if isinstance(old, dict | set):
            raise NotProvedError("a dict or a set is changed by an operator; use its methods")
        if isinstance(old, Array):
            if old.batched or self.has_rows(value):
                return self.changed_array(old, self.operate(operation, old, value))
            return self.changed_array(old, applied_ufunc(self.run, operation, old, value))
        try:
            return self.operate(operation, old, value)
        except RaisesError as error:  # the message names the in-place operator
            raise unmodelled(error.error) from None

    def _for(self, node: ast.For, frame: CallScope) -> Signal:
        values = self.value(node.iter, frame)
        if batches.is_rows(values):
            return self._over_batch(node, values, frame)
        return self._rounds(self._assigned(node, iterate(values), frame), node, frame)

    def _over_batch(self, node: ast.For, values: Any, frame: CallScope) -> Signal:
        """Execute a loop over the outputs of a batch, but only for a single output. See ``batches``."""
        self._require_outside()
        batches.require_names(node.target)
        if node.orelse:
            raise batches.refusal("a loop over the batch has an else")
        bound = batches.bound_in([node.target, *node.body])
        lists: dict[str, Any] = {name: frame.values.get(name) for name in batches.filled_lists(node.body) - bound}
        for name, items in lists.items():
            if (
                type(items) is not list
                or items
                or batches.mentions(node.body, name) != batches.appends(node.body, name)
            ):
                raise batches.refusal("a loop over the batch does more with a list than append each output")
            if id(items) not in self.unread:
                raise batches.refusal(
                    f"a list that a loop over the batch fills may have two names: write `{name} = []` before the loop, in "
                    "the same function, and read it only after"
                )
        for name in bound:  # no row may read what another row left behind
            frame.values.pop(name, None)
        before = batches.State(frame, lists)
        self.inside_batch = True
        try:
            self.assign(node.target, batches.first_row(values), frame)
            signal = self.block(node.body, frame)
        finally:
            self.inside_batch = False
        if signal is not None and signal[0] != "continue":
            raise batches.refusal("a loop over the batch is left early")
        for name in bound:
            frame.values.pop(name, None)
        before.require_same(batches.State(frame, lists))
        for name, items in lists.items():
            if len(items) != 1 or batches.is_batched(items):
                raise batches.refusal("a loop over the batch does not append exactly one output for each row")
            frame.values[name] = batches.Rows(items[0])
        return None

    def _assigned(self, node: ast.For, values: Iterator[Any], frame: CallScope) -> Iterator[None]:
        for value in values:
            self.assign(node.target, value, frame)
            yield

    def _while(self, node: ast.While, frame: CallScope) -> Signal:
        return self._rounds(iter(lambda: self.truth(self.value(node.test, frame)), False), node, frame)

    def _rounds(self, rounds: Iterator[Any], node: ast.For | ast.While, frame: CallScope) -> Signal:
        """Execute a loop's body once for each round."""
        for _ in rounds:
            self.run.check_time()
            signal = self.block(node.body, frame)
            if signal is not None and signal[0] == "break":
                return None
            if signal is not None and signal[0] == "return":
                return signal
        return self.block(node.orelse, frame)

    def _if(self, node: ast.If, frame: CallScope) -> Signal:
        return self.block(node.body if self.truth(self.value(node.test, frame)) else node.orelse, frame)

    def _pass(self, node: ast.Pass, frame: CallScope) -> Signal:
        return None

    def _break(self, node: ast.Break, frame: CallScope) -> Signal:
        return "break", None

    def _continue(self, node: ast.Continue, frame: CallScope) -> Signal:
        return "continue", None

    def _nonlocal(self, node: ast.Nonlocal, frame: CallScope) -> Signal:
        return None

    def _delete(self, node: ast.Delete, frame: CallScope) -> Signal:
        for target in node.targets:
            if not isinstance(target, ast.Name):
                raise NotProvedError("del of something other than a name is not modelled")
            frame.unbind(target.id)
        return None

    def _assert(self, node: ast.Assert, frame: CallScope) -> Signal:
        if sys.flags.optimize == 0 and not self.truth(self.value(node.test, frame)):
            words = () if node.msg is None else (self.value(node.msg, frame),)
            raise RaisesError(AssertionError(*self._constants(words)), stated=True)
        return None

    def _raise(self, node: ast.Raise, frame: CallScope) -> Signal:
        if node.exc is None or node.cause is not None:
            raise NotProvedError("a bare raise, and raise ... from, are not modelled")
        called = node.exc if isinstance(node.exc, ast.Call) else None
        kind = self.value(node.exc if called is None else called.func, frame)
        if not is_plain_exception(kind, EXCEPTIONS) or (called is not None and called.keywords):
            raise NotProvedError("an exception is raised that is neither a builtin nor an empty class derived from one")
        if issubclass(kind, StopIteration | StopAsyncIteration):
            raise NotProvedError("StopIteration is raised, which would end loops elsewhere")
        if kind not in EXCEPTIONS and self.run.names.raised.setdefault(kind.__name__, kind) is not kind:
            raise NotProvedError(f"two exception classes are called {kind.__name__}; rename one")
        words = [] if called is None else [self.value(argument, frame) for argument in called.args]
        raise RaisesError(kind(*self._constants(words)), stated=True)

    def _constants(self, values: Sequence[Any]) -> Sequence[Any]:
        if not all(map(is_constant, values)):
            raise NotProvedError("an exception is raised with something other than constants")
        return values

    def _function(self, node: ast.FunctionDef, frame: CallScope) -> Signal:
        if node.decorator_list:
            raise NotProvedError("a function inside the mechanism has a decorator, which is not modelled")
        frame.bind(node.name, self.closure(node, frame))
        return None

    def _with(self, node: ast.With, frame: CallScope) -> Signal:
        for item in node.items:
            if item.optional_vars is not None or not self.is_errstate(item.context_expr, frame):
                raise NotProvedError('with is only modelled for np.errstate(...="ignore")')
        return self.block(node.body, frame)

    def _import(self, node: ast.Import | ast.ImportFrom, frame: CallScope) -> Signal:
        if type(vars(builtins)["__import__"]) is not types.BuiltinFunctionType:
            raise NotProvedError("the import function is not Python's own")
        for alias in node.names:
            module = sys.modules.get(node.module or "" if isinstance(node, ast.ImportFrom) else alias.name)
            if module is None or module not in MODULES or (isinstance(node, ast.ImportFrom) and node.level):
                raise NotProvedError("inside the mechanism, only imports of math and numpy are modelled")
            if isinstance(node, ast.ImportFrom):
                frame.bind(alias.asname or alias.name, self.attribute(module, alias.name))
            else:
                frame.bind(alias.asname or alias.name, module)
        return None


STATEMENTS: dict[type[ast.stmt], Any] = {
    ast.Expr: Evaluator._expression,
    ast.Return: Evaluator._return,
    ast.Assign: Evaluator._assign,
    ast.AnnAssign: Evaluator._annotated,
    ast.AugAssign: Evaluator._augmented,
    ast.For: Evaluator._for,
    ast.While: Evaluator._while,
    ast.If: Evaluator._if,
    ast.Pass: Evaluator._pass,
    ast.Break: Evaluator._break,
    ast.Continue: Evaluator._continue,
    ast.Nonlocal: Evaluator._nonlocal,
    ast.Delete: Evaluator._delete,
    ast.Assert: Evaluator._assert,
    ast.Raise: Evaluator._raise,
    ast.FunctionDef: Evaluator._function,
    ast.With: Evaluator._with,
    ast.Import: Evaluator._import,
    ast.ImportFrom: Evaluator._import,
}


def evaluate(evaluator: Evaluator, function: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Return a function's result, or its exception. Raises NotProvedError with the line."""
    try:
        with locating_errors(evaluator):
            return evaluator.call(function, arguments, keywords)
    except RaisesError as error:
        return error


@contextmanager
def locating_errors(evaluator: Evaluator) -> Iterator[None]:
    """Turn errors of an evaluation into a NotProvedError with the line. The mechanism's own exceptions pass through."""
    try:
        yield
    except NotProvedError as error:
        raise NotProvedError(error.reason, error.place or evaluator.run.place) from None
    except RecursionError:
        raise NotProvedError("functions call each other too deeply", evaluator.run.place) from None
    except (AssertionError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        words = f"this is not modelled ({type(error).__name__}: {error})"
        raise NotProvedError(words, evaluator.run.place) from error
