"""Find the adapter of an object. An entry point of the group ``auditor.adapters`` names this module.

An adapter is a function of the object, with keywords for what the object does not state. It is found by the module of
the object's class, so no library is imported here.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from pkgutil import resolve_name
from typing import Any, cast

from auditor.adapters import Adapted
from auditor.claims import ApproximateDP, Claim, PureDP
from auditor.errors import require_known
from auditor.libraries.dp_accounting import claim_from_accounting, doubts_of, from_dp_event

claim_of = claim_from_accounting  # auditor.adapters asks for this name, for ``doubts_of`` and for ``adapt``
__all__ = ["adapt", "claim_of", "doubts_of"]

# Defaults of what neither the object nor the user states: numbers of records, ends of ranges, lengths of vectors.
DEFAULT_SIZE, DEFAULT_REACH, DEFAULT_CELLS = (0, 20), 100, 3
# Adapters by module. A package's adapter also serves those of its modules that have no entry of their own.
ADAPTERS = {
    "diffprivlib": "diffprivlib:from_diffprivlib",
    "diffprivlib.models": "estimator:from_estimator",
    "flwr": "training.flwr:from_flwr",
    "jax_privacy": "training.jax_privacy:from_jax_privacy",
    "nvflare": "training.nvflare:from_nvflare",
    "opacus": "training.opacus:from_opacus",
    "pfl": "training.pfl:from_pfl",
    "opendp": "opendp:from_opendp",
    "pipeline_dp": "pipeline_dp:from_pipeline_dp",
    "pydp": "pydp:from_pydp",
    "_partition_selection": "pydp:from_pydp",  # the module that PyDP's strategies name
    "pure_ldp": "pure_ldp:from_pure_ldp",
    "snsql": "smartnoise_sql:from_smartnoise_sql",
    "tmlt.core": "tmlt_core:from_tmlt_core",
}
# Adapters of functions, by the module of the function.
FUNCTION_ADAPTERS = {"diffprivlib.tools": "diffprivlib:from_tool"}
Adapter = Callable[..., Adapted]


def note_chosen_values(library: str, values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return one assumption that states the values which an adapter chose, by keyword; () without values.

    >>> note_chosen_values("OpenDP", {"d_in": 1, "range": (0, 100)})
    ('OpenDP does not say these, so they were chosen: d_in = 1, range = (0, 100); `parameters` replaces them',)
    """
    if not values:
        return ()
    listed = ", ".join(f"{keyword} = {value!r}" for keyword, value in values.items())
    return (f"{library} does not say these, so they were chosen: {listed}; `parameters` replaces them",)


def dp_claim(epsilon: float, delta: float = 0.0) -> Claim:
    """Return a claim of (ε, δ)-differential privacy, which is pure if δ is 0."""
    return ApproximateDP(float(epsilon), float(delta)) if delta else PureDP(float(epsilon))


def adapter_of(thing: object) -> Adapter | None:
    """Return an object's adapter, by the modules of its class and base classes, or None if there is none.

    A function, or a partial of a function, has an adapter if FUNCTION_ADAPTERS names its module. Objects of other modules
    have one if they are callables with a ``dp_event``, or estimators in the style of scikit-learn.
    """
    function = thing.func if isinstance(thing, functools.partial) else thing
    if inspect.isfunction(function):
        return _adapter_for_module(str(function.__module__), FUNCTION_ADAPTERS)
    for kind in type(thing).__mro__:
        if (adapter := _adapter_for_module(str(kind.__module__), ADAPTERS)) is not None:
            return adapter
    if isinstance(thing, type):
        return None
    if hasattr(thing, "dp_event") and callable(thing):
        return from_dp_event
    if hasattr(thing, "fit") and hasattr(thing, "get_params"):
        return load_adapter("estimator:from_estimator")
    return None


def _adapter_for_module(module: str, names: Mapping[str, str]) -> Adapter | None:
    """Return the adapter of a module, or else of the nearest enclosing package."""
    while module and module not in names:
        module = module.rpartition(".")[0]
    return load_adapter(names[module]) if module else None


def load_adapter(name: str) -> Adapter:
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
    keywords = [name for name, parameter in signature.parameters.items() if parameter.kind is parameter.KEYWORD_ONLY]
    require_known(f"{type(thing).__name__} of {type(thing).__module__} has no parameter", parameters, keywords)
    return adapter(thing, **parameters)
