"""Build the objects of a library in another process, since a library may crash.

The objects stay in that process; the auditor gets the Python expression of each.
"""

import inspect
import itertools
import multiprocessing
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from auditor.adapters import adapt_object
from auditor.errors import AuditorError, InvalidInputError, visible
from auditor.libraries.library_table import Example, LibraryTable

BUILD_SECONDS = 60.0  # for all calls of one constructor
MOST_CALLS = 1000
LONGEST_REASON = 300  # letters
VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)  # *args and **kwargs


@dataclass(frozen=True, slots=True)
class SweptObject:
    """An auditable object: the name of its audit, its constructor, and its example."""

    name: str
    constructor: str
    example: Example


@dataclass(frozen=True, slots=True)
class NotBuilt:
    """A constructor, or one of its examples, that is not audited."""

    constructor: str
    reason: str


Built = list[SweptObject | NotBuilt]


def build_objects(table: LibraryTable) -> Iterator[SweptObject | NotBuilt]:
    """Yield the objects to audit of each constructor, or the reason why there is none.

    Raises InvalidInputError as ``LibraryTable.find_constructors`` does, and if the setup of the table fails.
    """
    constructors = table.find_constructors()
    yield from (NotBuilt(name, reason) for name, reason in table.others.items())
    remaining = {name: module for name, module in constructors.items() if name not in table.others}
    while remaining:
        for constructor, built in _build_in_one_process(table, remaining):
            del remaining[constructor]
            yield from built


def _build_in_one_process(table: LibraryTable, modules: Mapping[str, str]) -> Iterator[tuple[str, Built]]:
    """Yield each constructor with its objects, up to the first one at which the process ends or times out."""
    spawn = multiprocessing.get_context("spawn")
    receiver, sender = spawn.Pipe(duplex=False)
    process = spawn.Process(target=_build_all, args=(table, dict(modules), sender), daemon=True)
    process.start()
    sender.close()
    try:
        reason, lost = _receive(receiver)
        if reason := reason or lost:
            raise InvalidInputError(
                f"the setup of the table for {table.library} failed: {visible(reason, LONGEST_REASON)}; install what it imports, "
                "or name another table by --examples"
            )
        for constructor in list(modules):
            built, lost = _receive(receiver)
            yield constructor, [NotBuilt(constructor, lost)] if lost else built
            if lost:
                return
    finally:
        process.kill()
        process.join()
        receiver.close()


def _receive(receiver: Connection) -> tuple[Any, str]:
    """Return the next message of the process, or the reason why there is none."""
    if not receiver.poll(BUILD_SECONDS):
        return None, f"it was not built within {BUILD_SECONDS:g} s"
    try:
        return receiver.recv(), ""
    except EOFError:
        return None, "the library ended the process that built it"


def _build_all(table: LibraryTable, modules: Mapping[str, str], end: Connection) -> None:
    """Call each constructor, and send the objects. Text that the library prints is dropped."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(quiet, stream)
    names = dict[str, Any]()
    try:
        exec(table.preamble, names)
    except Exception as error:  # of the code in the table
        end.send(f"{type(error).__name__}: {error}")
        return
    end.send("")
    for constructor, module in modules.items():
        if examples := table.examples.get(constructor):
            end.send(_build_examples(constructor, examples, names))
        else:
            end.send(_build_from_arguments(table, constructor, module, names))


def _build_examples(constructor: str, examples: list[Example], names: dict[str, Any]) -> Built:
    """Return an object to audit for each example, or the reason why it is not audited."""
    built: Built = []
    for number, example in enumerate(examples, start=1):
        name = constructor if number == 1 else f"{constructor}, {number}"
        if reason := _try_example(example, names)[1]:
            built.append(NotBuilt(constructor, f"{example.object}: {reason}"))
        else:
            built.append(SweptObject(name, constructor, example))
    return built


def _build_from_arguments(table: LibraryTable, constructor: str, module: str, names: dict[str, Any]) -> Built:
    """Return the first object that can be audited, or else the reason why the call that came furthest failed."""
    try:
        signature = inspect.signature(getattr(sys.modules[module], constructor))
    except (TypeError, ValueError):
        return [NotBuilt(constructor, "Python can read no signature, and there is no example")]
    needed = [
        name
        for name, parameter in signature.parameters.items()
        if parameter.default is parameter.empty and parameter.kind not in VARIADIC
    ]
    if missing := table.parameters_without_arguments(needed):
        return [NotBuilt(constructor, f"there is no generic argument for {', '.join(missing)}, and no example")]
    furthest = (False, "nothing was tried")
    for call in itertools.islice(table.calls(constructor, module, needed), MOST_CALLS):
        example = Example(object=call)
        made, reason = _try_example(example, names)
        if not reason:
            return [SweptObject(constructor, constructor, example)]
        furthest = (made, reason) if made or not furthest[0] else furthest
    return [NotBuilt(constructor, furthest[1])]


def _try_example(example: Example, names: dict[str, Any]) -> tuple[bool, str]:
    """Build an example. Return whether it was built, and the reason why it cannot be audited ("" if it can)."""
    try:
        thing = eval(example.object, names)
    except Exception as error:  # of the library
        return False, _shorten(f"{type(error).__name__}: {error}")
    try:
        adapted = adapt_object(thing, example.parameters)
    except Exception as error:  # the adapter may read an attribute that this release does not have
        return True, _shorten(error if isinstance(error, AuditorError) else f"{type(error).__name__}: {error}")
    if adapted is None:
        return True, f"{type(thing).__name__} has no adapter"
    lacks = [key for key in ("claim", "neighbours") if getattr(example, key) is None and getattr(adapted, key) is None]
    return True, _shorten(f"it does not say its {' and '.join(lacks)}; {adapted.wanting}") if lacks else ""


def _shorten(text: object) -> str:
    return visible(" ".join(str(text).split()), LONGEST_REASON)
