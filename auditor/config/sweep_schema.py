"""The shape of the table of a library, by which it is swept."""

from typing import Any

from pydantic import Field

from auditor.config.strict import Strict


class Example(Strict):
    """An object, and the keys of its audit that it does not say itself."""

    object: str
    """A Python expression."""
    parameters: dict[str, Any] = Field(default={})
    claim: dict[str, Any] | None = None
    neighbours: dict[str, Any] | None = None
    samples: int | None = None
    search: dict[str, Any] | None = None
    planted: int | None = None


class LibraryKeys(Strict):
    """A library, with what a sweep needs to know of it."""

    library: str
    """The module, by whose name the library is swept."""
    distribution: str | None = None
    """The name under which it is installed, if it is another one."""
    setup: str = ""
    """Python that runs before all expressions."""
    constructors: list[str] = Field(default=[])
    """module:pattern, such as opendp.measurements:make_*; by default all public names of the module."""
    others: dict[str, str] = Field(default={})
    """Names that fit a pattern and build nothing that can be audited, each with the reason."""
    arguments: dict[str, list[str]] = Field(default={})
    """Expressions to try, by the name of a parameter; "a, b" has those for the first two parameters together."""
    examples: dict[str, list[Example]] = Field(default={})
    """By the name of a constructor: what is audited in place of its arguments."""
