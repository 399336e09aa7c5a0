"""The base of all parts of a configuration: unknown keys and other types are errors.

The text below a key is its description in the JSON Schema.
"""

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from auditor.errors import InvalidInputError
from auditor.neighbours.numbers import Number

T = TypeVar("T")


class Strict(BaseModel):
    """A mapping with the keys of its fields, and no others."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)

    def given(self) -> dict[str, Any]:
        """Return the keys that the file sets, with their values; null sets nothing."""
        return {key: value for key, value in self if key in self.model_fields_set and value is not None}


def validated(kind: type[T], data: Any, what: str) -> T:
    """Return data as an object of a type. Raises InvalidInputError: ``what``, the first place that is wrong, and why."""
    try:
        return TypeAdapter(kind).validate_python(data)
    except ValidationError as errors:
        first = errors.errors()[0]
        place = ", ".join(map(str, first["loc"])) or "all of it"
        raise InvalidInputError(f"{what}: {place}: {first['msg']}") from None


def limited(**limits: Any) -> Any:
    """Put a limit into the JSON Schema only. The code that uses the number checks it."""
    return Field(json_schema_extra=limits)


class LowHigh(Strict):
    """The two ends of a range, both inside it."""

    low: Number
    """The least."""
    high: Number
    """The greatest."""
