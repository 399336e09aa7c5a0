"""Soundness of the prover: proved bounds on random small programs, against their exact ε by enumeration.

A program whose proved bound is too small ends the run and is printed in a reduced form. The run also fails if a construct that
the prover models occurs in no program.
"""

import ast
import json
import linecache
import math
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from auditor import PureDP, Totals
from benchmarks import _random_templates as templates
from benchmarks._random_programs import (
    ALSO,
    FAMILIES,
    HOLE,
    Function,
    Program,
    TooManyRunsError,
    constructs,
    constructs_of,
    exact_epsilon,
    load,
    program,
)
from dp_prover import Proof, prove
from dp_prover.certificates.checker.check import check_certificate
from dp_prover.domains.domains_as_data import listing_of
from dp_prover.language import evaluator, expressions
from dp_prover.language.outside import LISTED
from dp_prover.models import attributes, generator

PROGRAMS, CHUNK = 10_000, 250
LEAST = 3  # how often each construct occurs in a whole run
CLAIM = PureDP(500.0)
DOMAINS = {norm: Totals(cells=2, values=(0, 2), contribution={norm: 1}) for norm in ("l1", "linf")}
NORMS = tuple(DOMAINS)
PAIRS = {
    norm: [(tuple(pair.left), tuple(pair.right)) for _, _, pair in listing_of(domain).pairs]
    for norm, domain in DOMAINS.items()
}
# Exact values are computed in floating point; without truncation, a sharp bound is within CLOSE of them.
SLACK, CLOSE = 1e-6, 1e-3
METHOD = re.compile(r"\{(\w+)\}\.(\w+)\(")  # of a hole in a template
Prove = Callable[[Function, str], Proof]


class TooLittleProvedError(AssertionError):
    """The exact ε of a program exceeds the bound that was proved."""


def by_prover(function: Function, norm: str) -> Proof:
    """Return the bound that the prover gives for a program."""
    return prove(function, CLAIM, DOMAINS[norm])


def compare(some: Program, norm: str, folder: Path, name: str, of: Prove = by_prover) -> tuple[Proof, float | None]:
    """Return the proved bound and the exact ε of a program. Raises TooLittleProvedError."""
    function = load(some.module(), folder, name)
    proof = of(function, norm)
    if proof.bound is None and some.family != "finite":
        return proof, None
    try:
        exact = exact_epsilon(function, PAIRS[norm], cut_off=some.family == "geometric")
    except TooManyRunsError:
        return proof, None
    if proof.bound is not None and exact > float(proof.bound) + SLACK:
        words = f"ε is {exact:.6f}, and {float(proof.bound):.6f} is proved, in {norm}"
        raise TooLittleProvedError(f"{words}:\n\n{some.text}")
    if proof.holds:
        check_certificate(json.loads(json.dumps(proof.certificate)))
    return proof, exact


def compared(
    numbers: Sequence[int], seed: int = 0, of: Prove = by_prover, occurred: Counter[str] | None = None
) -> Counter[str]:
    """Compare the proved bounds of programs with their exact ε, and count the programs of each kind.

    ``occurred`` counts the programs in which each construct occurred, and after "in a proof: " those with a proved bound.
    """
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place:
        for number in numbers:
            some, norm = program(number, seed), NORMS[number % 2]
            try:
                proof, exact = compare(some, norm, Path(place), f"program_{seed}_{number}", of)
            except TooLittleProvedError as error:
                small = smaller(some, norm, Path(place), of)
                raise TooLittleProvedError(
                    f"program {number} of seed {seed}: {error}\nmade smaller:\n\n{small.text}"
                ) from None
            linecache.clearcache()
            for kind in kinds_of(some, proof, exact):
                counts[kind] += 1
            if occurred is not None:
                names = constructs(some)
                occurred.update(names)
                if proof.bound is not None:
                    occurred.update(f"in a proof: {name}" for name in names)
    return counts


def kinds_of(some: Program, proof: Proof, exact: float | None) -> Iterator[str]:
    """Yield the names under which a program is counted."""
    for start in ("", f"{some.family}: ", *([] if some.unlisted is None else ["not modelled: "])):
        yield f"{start}programs"
        if exact is None and (proof.bound is not None or some.family == "finite"):
            yield f"{start}not enumerated"
        elif exact is not None and some.family == "finite" and some.unlisted is None:
            yield f"{start}with a finite ε" if exact < math.inf else f"{start}with an infinite ε"
        if proof.bound is not None:
            yield f"{start}proved"
            if proof.bound > 0:
                yield f"{start}proved above 0"
            if exact is not None and abs(float(proof.bound) - exact) < CLOSE:
                yield f"{start}sharp"


# Smaller programs ----------------------------------------------------------------------------------------------------------


def smaller(some: Program, norm: str, folder: Path, of: Prove, most: int = 300) -> Program:
    """Reduce a program whose proved bound is too small to fewer statements and simpler expressions."""
    smallest, tries = some, 0
    again = True
    while again:
        again = False
        for text in _simpler(smallest.text):
            tries += 1
            if tries > most:
                return smallest
            candidate = Program(some.family, text, some.unlisted, some.tags)
            if len(text) < len(smallest.text) and _is_refuted(candidate, norm, folder, f"smaller_{tries}", of):
                smallest, again = candidate, True
                break
    return smallest


def _is_refuted(some: Program, norm: str, folder: Path, name: str, of: Prove) -> bool:
    try:
        compare(some, norm, folder, name, of)
    except TooLittleProvedError:
        return True
    except Exception:
        return False
    return False


def _simpler(text: str) -> Iterator[str]:
    """Yield the text with one statement removed or replaced by its body, or with one expression replaced by a part of it."""
    for at in range(len(_outside_of_loops(ast.parse(text)))):
        tree = ast.parse(text)
        node = _outside_of_loops(tree)[at]
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                for place, statement in enumerate(value):
                    for inside in ([], *([statement.body] if isinstance(statement, ast.If | ast.For) else [])):
                        new = [*value[:place], *inside, *value[place + 1 :]] or [ast.Pass()]
                        setattr(node, name, new)
                        yield ast.unparse(tree) + "\n"
                setattr(node, name, value)
            elif isinstance(value, ast.expr) and not isinstance(node, ast.Call | ast.arguments | ast.Attribute):
                for part in ast.iter_child_nodes(value):
                    if isinstance(part, ast.expr):
                        setattr(node, name, part)
                        yield ast.unparse(tree) + "\n"
                setattr(node, name, value)


def _outside_of_loops(tree: ast.AST) -> list[ast.AST]:
    """Return all nodes outside of loops, since a loop that is changed may not terminate."""
    nodes, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.For | ast.While):
            nodes.append(node)
            waiting += ast.iter_child_nodes(node)
    return nodes


# Constructs ----------------------------------------------------------------------------------------------------------------


def modelled() -> set[str]:
    """Return the names of all constructs that the prover models, from its own lists."""
    nodes: list[type[ast.AST]] = [*evaluator.STATEMENTS, *expressions.EXPRESSIONS, *expressions.OPERATORS]
    nodes += [*expressions.UNARY, *expressions.COMPARED, ast.Not, ast.And, ast.Or, ast.Is, ast.IsNot, ast.In, ast.NotIn]
    nodes += [ast.Starred, ast.comprehension]
    names = {f"syntax {node.__name__}" for node in nodes} | {f"also {name}" for name in ALSO}
    names |= {f"also augmented {node.__name__}" for node in expressions.OPERATORS if node is not ast.MatMult}
    names |= {f"function {entry.name}" for entry in LISTED.values()}
    names |= {f"function rng.{name}" for name in generator.METHODS}
    names |= {f"method array.{name}" for name in attributes.ARRAY_METHODS}
    names |= {f"method number.{name}" for name in attributes.SCALAR_METHODS}
    names |= {
        f"attribute {name}" for name in ("shape", "size", "ndim", "dtype", "T", "kind", "name", "itemsize", "char")
    }
    for kind, methods in attributes.METHODS.items():
        named = {"generic": "number"}.get(kind.__name__, kind.__name__)
        names |= {f"method {named}.{name}" for name in methods}
    return names


def without_a_template() -> set[str]:
    """Return the names of constructs that the prover models and no template contains."""
    texts = [text for texts in templates.EXPRESSIONS.values() for text in texts]
    texts += [text for family in (templates.STATEMENTS, templates.FINITE, templates.GEOMETRIC) for text, _ in family]
    texts += [*templates.COMPARED, *(text for text, _ in templates.CONTINUOUS)]
    said = [kinds.partition("#")[2].split() for _, kinds in templates.STATEMENTS]
    covered = set()
    for text, tags in [
        *((text, []) for text in texts),
        *zip((text for text, _ in templates.STATEMENTS), said, strict=True),
    ]:
        covered |= constructs_of_template(text, tags)
    return modelled() - covered


def constructs_of_template(text: str, tags: Sequence[str]) -> set[str]:
    """Return the constructs of a template whose holes are filled with a name."""
    methods = [f"{kind}.{name}" for kind, name in (m.groups() for m in METHOD.finditer(text))]
    plain = HOLE.sub("value", text)
    lines = "def f():\n" + "".join(f"    {line}\n" for line in plain.split("\n"))
    return constructs_of(lines, [*tags, *methods])


def table(occurred: Counter[str]) -> dict[str, dict[str, int]]:
    """Return how often each modelled construct occurred, and in how many programs with a proved bound."""
    return {
        name: {"programs": occurred[name], "proved": occurred[f"in a proof: {name}"]}
        for name in sorted(modelled(), key=lambda name: (occurred[f"in a proof: {name}"], name))
    }


def measure(programs: int = PROGRAMS) -> dict[str, Any]:
    """Compare chunks of programs, and print the counts after each chunk."""
    counted: Counter[str] = Counter()
    occurred: Counter[str] = Counter()
    slowest = 0.0
    for first in range(0, programs, CHUNK):
        begun = time.process_time()
        counted += compared(range(first, min(first + CHUNK, programs)), occurred=occurred)
        slowest = max(slowest, time.process_time() - begun)
        print(
            f"{counted['programs']:,} programs: {counted['proved']:,} proved, {counted['sharp']:,} sharp, none below its exact ε",
            flush=True,
        )
    counts = table(occurred)
    rare = [name for name, count in counts.items() if count["programs"] < LEAST]
    assert not rare, f"constructs that occur in fewer than {LEAST} programs: {', '.join(rare)}"
    kinds = sorted(counted, key=lambda name: (": " in name, name))
    return {
        **{name: counted[name] for name in kinds},
        "below the exact value": 0,
        "constructs": len(counts),
        "constructs in a proof": sum(count["proved"] > 0 for count in counts.values()),
        "constructs in no proof": sorted(name for name, count in counts.items() if not count["proved"]),
        "families": list(FAMILIES),
        "seconds of the slowest chunk": round(slowest, 1),
    }
