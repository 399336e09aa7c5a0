"""Reads a function's source, and verifies that it is what runs: compiled again, it must give the function's code."""

import ast
import functools
import hashlib
import linecache
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType

from dp_prover.errors import NotProvedError

Node = ast.FunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True)
class Read:
    """A function's syntax tree, the names that it binds, and a digest of its source."""

    node: Node
    file: str
    names: frozenset[str]
    digest: str


def read_source(function: FunctionType) -> Read:
    """Return a function's source. Raises NotProvedError if no source compiles to the function's code."""
    code = function.__code__
    linecache.checkcache(code.co_filename)
    text = "".join(linecache.getlines(code.co_filename, function.__globals__))
    return _read(code, text, function.__qualname__)


@functools.lru_cache(maxsize=1024)
def _read(code: CodeType, text: str, name: str) -> Read:
    if not text:
        raise NotProvedError(f"the source of {name} cannot be read; define it in a file")
    try:
        compiled, nodes = _compiled(text)
    except (SyntaxError, ValueError, RecursionError):
        raise NotProvedError(f"the source of {name} cannot be read; define it in a file") from None
    if code not in compiled:
        raise NotProvedError(
            f"the source of {name} is not what runs: its file or its code was changed after the import"
        )
    candidates = _nodes_of(nodes, code)
    if len(candidates) != 1:
        raise NotProvedError(f"several functions are on line {code.co_firstlineno}; put each on a line of its own")
    names = bound_names(candidates[0])
    # From Python 3.12 on, a function owns its comprehensions' names.
    own = frozenset((*code.co_varnames, *code.co_cellvars)) - _names_of_comprehensions(candidates[0])
    if names - _names_of_comprehensions(candidates[0]) != own:
        raise NotProvedError(f"the names that {name} binds are not understood; do not use class or global in it")
    return Read(candidates[0], code.co_filename, names, hashlib.sha256(ast.dump(candidates[0]).encode()).hexdigest())


@functools.lru_cache(maxsize=64)
def _compiled(text: str) -> tuple[frozenset[CodeType], tuple[Node, ...]]:
    """Return all code objects and all functions of a module."""
    whole = compile(text, "source", "exec", dont_inherit=True)
    nodes = tuple(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.Lambda))
    return frozenset(_inside(whole)), nodes


def _inside(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _inside(constant)


def _nodes_of(nodes: Iterable[Node], code: CodeType) -> list[Node]:
    """Return the functions that a code object may belong to: by line; among lambdas, the smallest that contains its positions."""
    if code.co_name != "<lambda>":
        named = [node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == code.co_name]
        return [
            node
            for node in named
            if min([node.lineno, *(part.lineno for part in node.decorator_list)]) == code.co_firstlineno
        ]
    # Instructions without source text, such as an implicit return, span no columns.
    at = [(a, c, b, d) for a, b, c, d in code.co_positions() if None not in (a, b, c, d) and (a, c) != (b, d)]
    if not at:
        return [node for node in nodes if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno]
    starts, ends = {position[:2] for position in at}, {position[2:] for position in at}
    sizes = {}
    for node in nodes:
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno:
            body = node.body
            start, end = (body.lineno, body.col_offset), (body.end_lineno or 0, body.end_col_offset or 0)
            if min(starts, default=start) >= start and max(ends, default=end) <= end:
                sizes[node] = (end[0] - start[0], end[1] - start[1])
    return [node for node, size in sizes.items() if size == min(sizes.values())]


class _Binder(ast.NodeVisitor):
    """Collects the names that a function binds, without those of nested functions."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.elsewhere: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.names.add(node.id)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:  # a bare annotation binds nothing
            self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.names.add(node.name)
        for inner in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(inner)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for inner in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(inner)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        # Its own names stay inside; := is refused there.
        self.visit(node.generators[0].iter)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension  # noqa: N815

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}

    visit_ImportFrom = visit_Import  # noqa: N815

    def visit_Nonlocal(self, node: ast.Nonlocal | ast.Global) -> None:
        self.elsewhere |= set(node.names)

    visit_Global = visit_Nonlocal  # noqa: N815


def _names_of_comprehensions(node: Node) -> frozenset[str]:
    targets = [inner.target for inner in ast.walk(node) if isinstance(inner, ast.comprehension)]
    return frozenset(node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))


# Constructs that change what a function is, or who owns a name, even where they are never reached.
NOWHERE = (
    *(ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith),
    *(ast.Global, ast.ClassDef, ast.Try, ast.TryStar, ast.Match),
)
WORDS: dict[type[ast.AST], str] = {
    ast.Global: "the mechanism writes a global variable, and so keeps state; pass the value as an argument",
    ast.Try: "try is not modelled, since code that raises on one number may not raise on another; test for it with if",
    ast.TryStar: "try is not modelled; test with if",
    ast.Match: "match is not modelled; use if and ==",
    ast.ClassDef: "a class inside the mechanism is not modelled; define it in the module",
}


def _is_of_base(node: ast.AST) -> bool:
    """Whether a node is ``super().__init__`` or ``super().__call__``."""
    return (
        isinstance(node, ast.Attribute)
        and node.attr in ("__init__", "__call__")
        and isinstance(node.value, ast.Call)
        and is_super(node.value)
    )


def is_super(node: ast.Call) -> bool:
    """Whether a call reads ``super()``."""
    return isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args and not node.keywords


def _require_plain(node: ast.AST, is_root: bool) -> None:
    """Raise NotProvedError for constructs that a function must not contain anywhere."""
    if isinstance(node, NOWHERE):
        reason = WORDS.get(type(node), "generators and async functions are not modelled; build a list")
        raise NotProvedError(f"{reason} (line {getattr(node, 'lineno', 0)})")
    if isinstance(node, ast.AnnAssign) and (node.value is None or isinstance(node.target, ast.Subscript)):
        raise NotProvedError(f"a type annotation has no value, or no name; leave it out (line {node.lineno})")
    if isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        for part in ast.walk(node):
            if isinstance(part, ast.NamedExpr):
                raise NotProvedError(f":= is in a lambda or a comprehension; use a statement (line {part.lineno})")
    name = {ast.Name: "id", ast.Attribute: "attr", ast.keyword: "arg", ast.arg: "arg", ast.FunctionDef: "name"}.get(
        type(node)
    )
    if name is not None and not is_root and not _is_of_base(node) and str(getattr(node, name)).startswith("__"):
        raise NotProvedError(
            f"the name {getattr(node, name)} begins with two underscores, which has a special meaning in Python; rename it"
        )
    if getattr(node, "type_params", ()):
        raise NotProvedError(f"a function has type parameters; leave them out (line {getattr(node, 'lineno', 0)})")


def bound_names(node: Node) -> frozenset[str]:
    """Return the names that a function binds: its parameters and the names it assigns to."""
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [parameter for parameter in (arguments.vararg, arguments.kwarg) if parameter is not None]
    own = {node, *every}
    for inner in ast.walk(node):
        _require_plain(inner, is_root=inner in own)
    binder = _Binder()
    for statement in node.body if isinstance(node, ast.FunctionDef) else [node.body]:
        binder.visit(statement)
    return frozenset(binder.names - binder.elsewhere | {parameter.arg for parameter in every})
