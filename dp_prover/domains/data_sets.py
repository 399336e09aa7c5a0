"""Data sets as JSON that records every type, and back."""

from typing import Any

import numpy as np

from dp_prover.errors import NotProvedError

ARRAYS = ("int64", "float64", "bool", "str")  # supported array types
PLAIN = (bool, int, float, str, type(None))


def written_data(dataset: Any) -> Any:
    """Return a data set as JSON; ``made_again`` restores an equal one with the same types.

    Raises NotProvedError for an unsupported type, such as a data frame.
    """
    if type(dataset) is np.ndarray:
        return _array(dataset)
    try:
        return {"value": _written(dataset)}
    except RecursionError:
        raise NotProvedError(
            "the data contain themselves, or are nested too deeply; pass a flat list, or an array"
        ) from None


def form_of(data: Any) -> str:
    """Describe the form of a data set given as JSON."""
    return f"array of {data['dtype']}" if "array" in data else "value"


def without_form(data: Any) -> Any:
    """Strip the form from a data set given as JSON, as a domain lists it."""
    return data["array"] if "array" in data else data["value"]


def made_again(data: Any) -> Any:
    """Restore a data set from its JSON."""
    return _read(data) if "array" in data else _read(data["value"])


def _array(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    kind = "str" if array.dtype.kind == "U" else str(array.dtype)
    if kind not in ARRAYS:
        raise NotProvedError(f"the data are arrays of {kind}; use int64 or float64")
    return {"array": array.tolist(), "dtype": kind, "shape": list(array.shape)}


def _written(value: Any) -> Any:
    """Return a value as JSON. Python numbers, strings and lists stand for themselves; an object names any other type."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is list:
        return [_written(item) for item in value]
    if kind is tuple:
        return {"tuple": [_written(item) for item in value]}
    if kind is dict:
        return {"dict": [[_written(key), _written(item)] for key, item in value.items()]}
    if kind is bytes:
        return {"bytes": value.hex()}
    if kind is np.ndarray:
        return _array(value)
    if isinstance(value, np.generic) and str(value.dtype) in ("int64", "float64", "bool"):
        return {"number": value.item(), "dtype": str(value.dtype)}
    raise NotProvedError(f"the data are a {kind.__name__}, which is not modelled; numbers, text, lists and arrays are")


def _read(value: Any) -> Any:
    if type(value) is list:
        return [_read(item) for item in value]
    if type(value) is not dict:
        return value
    if "tuple" in value:
        return tuple(_read(item) for item in value["tuple"])
    if "dict" in value:
        return {_read(key): _read(item) for key, item in value["dict"]}
    if "bytes" in value:
        return bytes.fromhex(value["bytes"])
    if "array" in value:
        return np.array(value["array"], dtype=np.dtype(value["dtype"])).reshape(value["shape"])
    return np.dtype(value["dtype"]).type(value["number"])
