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
# By module; that of a package is for all its modules but those that are named as well.
ADAPTERS = {
    "diffprivlib": "auditor.adapters.diffprivlib:from_diffprivlib",
    "diffprivlib.models": "auditor.adapters.estimator:from_estimator",
    "opendp": "auditor.adapters.opendp:from_opendp",
    "pipeline_dp": "auditor.adapters.pipeline_dp:from_pipeline_dp",
    "pydp": "auditor.adapters.pydp:from_pydp",
    "_partition_selection": "auditor.adapters.pydp:from_pydp",  # as PyDP's strategies say
    "pure_ldp": "auditor.adapters.pure_ldp:from_pure_ldp",
    "snsql": "auditor.adapters.smartnoise_sql:from_smartnoise_sql",
    "tmlt.core": "auditor.adapters.tmlt_core:from_tmlt_core",
}
# By the module of a function that says something with its arguments alone.
OF_FUNCTIONS = {"diffprivlib.tools": "auditor.adapters.diffprivlib:from_tool"}
# Whatever the module: for a callable with a ``dp_event``, and for an object with ``fit`` and ``get_params``.
BY_EVENT = "auditor.adapters.dp_event:from_dp_event"
BY_FIT = "auditor.adapters.estimator:from_estimator"


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

    A function, or a partial of one, has one if OF_FUNCTIONS names its module. An object of no such module has one if it states an
    event of dp-accounting, and if it is an estimator in the manner of scikit-learn.
    """
    function = thing.func if isinstance(thing, functools.partial) else thing
    if inspect.isfunction(function):
        name = _of_module(str(function.__module__), OF_FUNCTIONS)
        return cast(Adapter, resolve_name(name)) if name else None
    for kind in type(thing).__mro__:
        module = str(kind.__module__)
        if module.partition(".")[0] not in sys.stdlib_module_names and (adapter := _adapter_for(module)) is not None:
            return adapter
    if isinstance(thing, type):
        return None
    if hasattr(thing, "dp_event") and callable(thing):
        return cast(Adapter, resolve_name(BY_EVENT))
    if hasattr(thing, "fit") and hasattr(thing, "get_params"):
        return cast(Adapter, resolve_name(BY_FIT))
    return None


@functools.cache
def _adapter_for(module: str) -> Adapter | None:
    # Those from outside come first, so a newer one can replace one of this package.
    for found in entry_points(group=GROUP, name=module.partition(".")[0]):
        adapter: Adapter = found.load()
        return adapter
    name = _of_module(module, ADAPTERS)
    return cast(Adapter, resolve_name(name)) if name else None


def _of_module(module: str, names: Mapping[str, str]) -> str | None:
    """Return the name for a module: its own, or that of the nearest package around it."""
    while module and module not in names:
        module = module.rpartition(".")[0]
    return names.get(module)


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
