"""The base of all parts of a configuration: unknown keys and other types are errors.

The text below a key is its description in the JSON Schema.
"""

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from auditor.errors import InvalidInputError

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
        raise InvalidInputError(f"{what}: {place}: {plain_message(first)}") from None


def plain_message(problem: Any) -> str:
    """Say what a value must be, of a problem that pydantic found."""
    # What pydantic calls by the names of Python's types.
    known = {
        "dict_type": "a mapping, {key: value}",
        "list_type": "a list, [value, value]",
        "string_type": "text: write it in quotes",
        "bool_type": "true or false",
    }.get(problem["type"])
    message = f"it must be {known}" if known else problem["msg"].replace("Input should be", "it must be")
    return str(message[0].lower() + message[1:])
