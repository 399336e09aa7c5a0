"""What an adapter makes of an object, and which adapter an object has.

An adapter is a function of the object and of keywords, for what the object does not say. The one for an object is found by the
module of its class, so no library is imported here. ``ADAPTERS`` has those of this package. Other packages name theirs by an entry
point of the group ``auditor.adapters``: its name is the library's module, its value ``module:function``.
"""

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pkgutil import resolve_name
from typing import Any, cast

from auditor.claims import Claim
from auditor.errors import InvalidInputError, did_you_mean
from auditor.neighbours.domains import Domain

GROUP = "auditor.adapters"
# By the first part of the name of a library's modules.
ADAPTERS = {
    "diffprivlib": "auditor.adapters.diffprivlib:from_diffprivlib",
    "opendp": "auditor.adapters.opendp:from_opendp",
    "pure_ldp": "auditor.adapters.pure_ldp:from_pure_ldp",
}
# For any callable with a ``dp_event``, whatever its module.
BY_EVENT = "auditor.adapters.dp_event:from_dp_event"


@dataclass(frozen=True, slots=True)
class Adapted:
    """An object as an audit needs it.

    ``mechanism`` is a callable as ``auditor.audit`` takes one; with several workers, pickle must be able to send it.
    ``assumptions`` are sentences on what the object does not say and was chosen instead. They are warnings of the report. If there
    is no claim, or no neighbours, ``wanting`` says which keyword supplies it.
    """

    mechanism: Callable[..., Any]
    claim: Claim | None = None
    neighbours: Domain | None = None
    assumptions: tuple[str, ...] = ()
    wanting: str = ""


Adapter = Callable[..., Adapted]


def what_was_chosen(library: str, values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the assumption that names the values an adapter chose, by its keywords; none if there are none.

    >>> what_was_chosen("OpenDP", {"d_in": 1, "range": (0, 100)})
    ('OpenDP does not say these, so they were chosen: d_in = 1, range = (0, 100); `parameters` replaces them',)
    """
    if not values:
        return ()
    listed = ", ".join(f"{keyword} = {value!r}" for keyword, value in values.items())
    return (f"{library} does not say these, so they were chosen: {listed}; `parameters` replaces them",)


def adapter_of(thing: object) -> Adapter | None:
    """Return the adapter for an object, by the modules of its class and of those that it derives from; None if it has none.

    An object of no such module has one if it states an event of dp-accounting.
    """
    for kind in type(thing).__mro__:
        library = kind.__module__.partition(".")[0]
        if library not in sys.stdlib_module_names and (adapter := _adapter_for(library)) is not None:
            return adapter
    if hasattr(thing, "dp_event") and callable(thing) and not isinstance(thing, type):
        return cast(Adapter, resolve_name(BY_EVENT))
    return None


@functools.cache
def _adapter_for(library: str) -> Adapter | None:
    # Those from outside come first, so a newer one can replace one of this package.
    for found in entry_points(group=GROUP, name=library):
        adapter: Adapter = found.load()
        return adapter
    return resolve_name(ADAPTERS[library]) if library in ADAPTERS else None


def adapt(thing: object, said: Mapping[str, Any]) -> Adapted | None:
    """Return the result of an object's adapter, with the keywords ``said``; None for an object without an adapter.

    Raises InvalidInputError for a keyword that the adapter does not have, and for an object that it can make nothing of.
    """
    adapter = adapter_of(thing)
    if adapter is None:
        return None
    signature = inspect.signature(adapter)
    known = [name for name, one in signature.parameters.items() if one.kind is one.KEYWORD_ONLY]
    for key in said:
        if key not in known:
            raise InvalidInputError(
                f'{type(thing).__name__} of {type(thing).__module__} has no parameter "{key}"; {did_you_mean(key, known)}'
            )
    return adapter(thing, **said)


def mechanism_of(thing: object, said: Mapping[str, Any]) -> Callable[..., Any]:
    """Return the mechanism alone. Raises InvalidInputError as ``adapt``, and if the object has no adapter and cannot be called."""
    adapted = adapt(thing, said)
    if adapted is not None:
        return adapted.mechanism
    if not callable(thing):
        raise InvalidInputError(
            f"{type(thing).__name__} of {type(thing).__module__} cannot be called, and has no adapter; write a function that "
            "calls it"
        )
    return functools.partial(thing, **said) if said else thing
