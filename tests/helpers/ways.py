"""The ways of an output from a mechanism to the table of columns, and what each of them makes of a form.

A data set is a recipe of ``forms``, and the mechanism returns what is built from it.
"""

import functools
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import forms
import numpy as np

from auditor.auditing.ledger import as_drawn
from auditor.blackbox.batches import Batch, Phase, draw_all
from auditor.blackbox.canonical import from_list
from auditor.blackbox.command import Command, Program
from auditor.blackbox.encoding import decode, encode, packed
from auditor.blackbox.host import Hosted, hosted
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.outputs import Outputs
from auditor.blackbox.sample import Drawer, Sample
from auditor.blackbox.workers import Workers, processes, workers_for
from auditor.errors import MechanismError
from auditor.neighbours.pair import Pair

LABELS = np.array([True, False, False, True, True, False])
# The forms that a program can write as JSON. The data sets of a program are JSON as well, and so are all recipes.
JSON = (
    "float",
    "int",
    "text of a number",
    "text with a number",
    "None",
    "True",
    "empty list",
    "empty dict",
    "list",
    "dict",
)


def released(recipe: Any, rng: np.random.Generator) -> Any:
    return forms.build(recipe)


def released_without_rng(recipe: Any) -> Any:
    return forms.build(recipe)


def released_together(recipe: Any, size: int, rng: np.random.Generator) -> Any:
    return [forms.build(recipe) for _ in range(size)]


def source(function: Callable[..., Any], module: str = "ways") -> PythonSource:
    return PythonSource(f"{module}:{function.__name__}", search_path=tuple(sys.path))


@functools.cache
def host(name: str) -> Hosted:
    return hosted(source(globals()[name]), None)


@functools.cache
def program() -> Program:
    """Return a program that builds the outputs and writes them as JSON."""
    code = (
        f"import json, sys; sys.path[:] = {sys.path!r}; import forms\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    for _ in range(asked['size']): print(json.dumps(forms.build(asked['dataset'])))\n"
        "    sys.stdout.flush()\n"
    )
    return Program(Command([sys.executable, "-c", code], tempfile.gettempdir()), {}, 60.0)


def drawn(drawer: Drawer, pair: Pair, labels: Any = LABELS) -> Sample:
    return drawer.draw(pair, labels, np.random.default_rng(1))


def in_worker(workers: Workers, pair: Pair) -> Sample:
    task = draw_all, (source(released), 1, "ways", as_drawn, [Batch(pair, len(LABELS), Phase.SEARCH, (0,))])
    [(batches, error, _)] = workers.run(iter([task]), 1)
    if error is not None:
        raise error
    return batches[0].seen  # type: ignore[no-any-return]


WAYS: dict[str, Callable[[Pair], Sample]] = {
    "this process": lambda pair: drawn(source(released).drawer(), pair),
    "this process, `size`": lambda pair: drawn(source(released_together).drawer(), pair),
    "own process": lambda pair: drawn(host("released"), pair),
    "own process, no `rng`": lambda pair: drawn(host("released_without_rng"), pair),
    "own process, `size`": lambda pair: drawn(host("released_together"), pair),
    "worker": lambda pair: in_worker(workers_for("loky", processes(-1)), pair),
    "resumed": lambda pair: decode(encode(WAYS["this process"](pair))),
    "recording": lambda pair: decode(packed(WAYS["this process"](pair), np.savez_compressed)),
}
RECIPES = [
    *([name, "1.5"] for name in forms.OF_A_NUMBER),
    *([name] for name in forms.CONSTANTS),
    *([name, ["float", "1.5"], ["int", "2.5"], ["text of a number", "0.5"]] for name in forms.CONTAINERS),
    *([name, ["numpy.float64", "1.5"], ["array of float64", "0.5"]] for name in forms.CONTAINERS),
]


def cells(outputs: Outputs) -> dict[str, list[Any]]:
    return {
        column.name: column.numbers.tolist()
        if column.codes is None
        else [n if code < 0 else column.atoms[code] for code, n in zip(column.codes, column.numbers, strict=True)]
        for column in outputs.columns
    }


def seen(draw: Callable[[Pair], Sample], pair: Pair) -> Any:
    """Return the columns of both sides in order, or the message of the refusal."""
    try:
        sample = draw(pair)
    except MechanismError as error:
        return refusal(error)
    return [list(cells(side)) for side in (sample.left, sample.right)], cells(sample.left), cells(sample.right)


def refusal(error: MechanismError) -> str:
    """Return the message of a refusal. Only masked arrays, and objects without readable content, are refused, and by a message."""
    assert "masked array" in str(error) or "does not show what it holds" in str(error), error
    return re.sub(r"0x[0-9a-f]+", "0x…", str(error))


def expected(pair: Pair) -> list[Any]:
    """Return the columns or the refusal without any way: the outputs are made here, and made canonical.

    If both sides are refused, the refusal that comes first depends on the order of drawing, and both are returned.
    """
    counts, sides, refusals = (int(LABELS.sum()), int((~LABELS).sum())), list[Outputs](), list[Any]()
    for recipe, number in zip((pair.left, pair.right), counts, strict=True):
        try:
            sides.append(from_list([forms.build(recipe) for _ in range(number)]))
        except MechanismError as error:
            refusals.append(refusal(error))
    return refusals or [([list(cells(side)) for side in sides], *map(cells, sides))]


# --- The table of the reference ---

INTRODUCTION = """# What an audit looks at

An output of a mechanism may have any form. Each is taken apart into *places*, and events look at places. The table shows
the places of an example of each form: a number, a text, or how something is written. What a mechanism returns is the same
to the audit in every way: in the auditor's process, in a process of its own, with `size` or one output a call, in a worker,
on a cluster, from a resumed run or a recording, and from a program for what JSON can write. A test takes every form, and
500 nested ones, through every way (`tests/processes/blackbox/test_ways.py`), and makes this page.

Of an object its text, its attributes, its class and the module of its class are read, three levels deep. Of a text its
letters up to 40 from either end, its parts, counts, the numbers in it, the steps from each to the three before it, and the
time that it spells (ISO 8601) are read; of a wide integer its remainders and bits; of a time its place in the minute, the
hour, the day and the week. Of two numbers anywhere in an output that are correlated, such as two with the same noise, the
difference or the sum is read. Where an output holds more that differs from call to call, the report names it, and the pass is
weak.

Not read: addresses in the text of an exception, and the lines of its traceback; whether an exception was raised or returned;
of an array or a memoryview whether it may be written, its strides, the metadata of its dtype, and what else its memory holds,
such as values below a mask of pandas, below a null of Arrow, or zeros that a sparse array stores; the bits of a NaN, also of
a Decimal; how a table of Arrow or a column of polars is cut into chunks; which code or run of Arrow stands for an item;
whether polars knows that a column is sorted; which of two types of NumPy of one width a number has (`np.int64` or
`np.longlong`); what an open file or a context manager would do; whether two parts of an output are one object; the order in
which a set gives its items; whether a UUID was made safely; how a program spaces and escapes its JSON. What an output only
refers to is no part of it: attributes of its class, of a function or of a member of an Enum, and what a property looks up
elsewhere. A subclass of a date is believed in its year, hour and so on, and a class that was put into a library's module
passes for one of it. Nor is what a class leaves out of its pickle because it cannot be pickled.

Of a number in a text the size is read, and near the ends of the text its digits. Of a float the size and the number of its
decimals are read, with `events: [bits]` also the exponent of its lowest bit, and no other pattern of its bits or digits, such
as its fraction or its last decimal. With `size`, what the array of a batch holds beside its items is no output: whether they
are integers or floats, labels, and attributes. Outputs of one call, and of successive calls, are read one by one: what
several outputs show only together is not seen. Of an integer with many values the size, bits and small remainders are read,
and of many parts together sums, orders, how many differ and what a regression finds: a relation of another kind between them,
such as a product, or a word that says which sign a number has, is not seen, and not named, nor is a remainder that only
numbers of one size show, or the day of a month.

The ways are WAYS, and *program* where JSON can write the form.

| form | an example | is seen as | in these ways |
|---|---|---|---|
"""


def table() -> str:
    """Return the page with the places of each form."""
    named = ", ".join(f"*{way}*" for way in (*WAYS, "cluster"))
    return INTRODUCTION.replace("WAYS", named) + "".join(f"{line}\n" for line in _rows())


def _rows() -> Iterator[str]:
    for recipe in RECIPES[: -len(forms.CONTAINERS)]:
        output = forms.build(recipe)
        try:
            places = ", ".join(f"{name}: {_short(values[0])}" for name, values in cells(from_list([output])).items())
        except MechanismError as error:
            places = f"refused: {error}"
        through = "all, program" if is_json(recipe) else "all"
        yield f"| {recipe[0]} | {_code(_short(output))} | {places.replace('|', chr(92) + '|')} | {through} |"


def _short(value: Any) -> str:
    text = (value if isinstance(value, str) else repr(value)).replace("\n", " ")
    text = re.sub(r" at 0x[0-9a-f]+", "", text)
    text = re.sub(r"digest [0-9a-f]+", "digest …", text)  # it depends on the versions of Python and of the library
    return text if len(text) <= 60 else f"{text[:57]}…"


def _code(text: str) -> str:
    return f"`{text.replace('|', chr(92) + '|')}`"


def is_json(recipe: Any) -> bool:
    """Whether a program can write the output of a recipe as it is."""
    return recipe[0] in JSON and all(is_json(part) for part in recipe[1:] if isinstance(part, list))


def fits_json(recipe: Any) -> bool:
    value = forms.build(recipe)
    return bool(json.loads(json.dumps(value)) == value)
