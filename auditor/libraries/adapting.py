"""Find the adapter of an object. An entry point of the group ``auditor.adapters`` names this module.

An adapter is a function of the object, with keywords for what the object does not say. It is found by the module of the
object's class, so no library is imported here.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from pkgutil import resolve_name
from typing import Any, cast

from auditor.adapters import Adapted
from auditor.claims import ApproximateDP, Claim, PureDP
from auditor.errors import require_known
from auditor.libraries.dp_accounting import claim_of, from_dp_event

__all__ = ["adapt", "claim_of"]  # what auditor.adapters asks for

# Adapters by module. The adapter of a package is for all its modules that have no entry of their own.
ADAPTERS = {
    "diffprivlib": "diffprivlib:from_diffprivlib",
    "diffprivlib.models": "estimator:from_estimator",
    "opendp": "opendp:from_opendp",
    "pipeline_dp": "pipeline_dp:from_pipeline_dp",
    "pydp": "pydp:from_pydp",
    "_partition_selection": "pydp:from_pydp",  # the module that PyDP's strategies name
    "pure_ldp": "pure_ldp:from_pure_ldp",
    "snsql": "smartnoise_sql:from_smartnoise_sql",
    "tmlt.core": "tmlt_core:from_tmlt_core",
}
# Adapters of functions, by the module of the function.
OF_FUNCTIONS = {"diffprivlib.tools": "diffprivlib:from_tool"}
Adapter = Callable[..., Adapted]


def what_was_chosen(library: str, values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return one assumption that names the values which an adapter chose, by keyword. Return () without values.

    >>> what_was_chosen("OpenDP", {"d_in": 1, "range": (0, 100)})
    ('OpenDP does not say these, so they were chosen: d_in = 1, range = (0, 100); `parameters` replaces them',)
    """
    if not values:
        return ()
    listed = ", ".join(f"{keyword} = {value!r}" for keyword, value in values.items())
    return (f"{library} does not say these, so they were chosen: {listed}; `parameters` replaces them",)


def dp_claim(epsilon: float, delta: float = 0.0) -> Claim:
    """Return (ε, δ)-differential privacy, which is pure if δ is 0."""
    return ApproximateDP(float(epsilon), float(delta)) if delta else PureDP(float(epsilon))


def adapter_of(thing: object) -> Adapter | None:
    """Return the adapter of an object, by the modules of its class and base classes. Return None if there is none.

    A function, or a partial of a function, has an adapter if OF_FUNCTIONS names its module. Objects of other modules
    have one if they are callables with a ``dp_event``, or estimators in the manner of scikit-learn.
    """
    function = thing.func if isinstance(thing, functools.partial) else thing
    if inspect.isfunction(function):
        return _for_module(str(function.__module__), OF_FUNCTIONS)
    for kind in type(thing).__mro__:
        if (adapter := _for_module(str(kind.__module__), ADAPTERS)) is not None:
            return adapter
    if isinstance(thing, type):
        return None
    if hasattr(thing, "dp_event") and callable(thing):
        return from_dp_event
    if hasattr(thing, "fit") and hasattr(thing, "get_params"):
        return loaded("estimator:from_estimator")
    return None


def _for_module(module: str, names: Mapping[str, str]) -> Adapter | None:
    """Return the adapter of a module, or else of the nearest package around the module."""
    while module and module not in names:
        module = module.rpartition(".")[0]
    return loaded(names[module]) if module else None


def loaded(name: str) -> Adapter:
    """Import an adapter of this package."""
    return cast(Adapter, resolve_name(f"auditor.libraries.{name}"))


def adapt(thing: object, parameters: Mapping[str, Any]) -> Adapted | None:
    """Return the result of an object's adapter with the keywords ``parameters``. Return None if it has no adapter.

    Raises InvalidInputError for a keyword that the adapter does not have, and for an object that the adapter refuses.
    """
    adapter = adapter_of(thing)
    if adapter is None:
        return None
    signature = inspect.signature(adapter)
    known = [name for name, one in signature.parameters.items() if one.kind is one.KEYWORD_ONLY]
    require_known(f"{type(thing).__name__} of {type(thing).__module__} has no parameter", parameters, known)
    return adapter(thing, **parameters)
