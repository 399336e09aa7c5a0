"""A library's table for a sweep, in YAML: its constructors, arguments to try, and examples."""

import fnmatch
import importlib
import itertools
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import Field

from auditor.config.schema import Strict, validated
from auditor.config.yaml_text import read_yaml_file
from auditor.errors import InvalidInputError, require_known

HERE = Path(__file__).parent
GENERIC_TABLE = "any"  # the file of arguments whose names many libraries share


class Example(Strict):
    """An object, and the keys of its audit that the object does not say."""

    object: str
    """A Python expression."""
    parameters: dict[str, Any] = Field(default={})
    claim: dict[str, Any] | None = None
    neighbours: dict[str, Any] | None = None
    samples: int | None = None
    search: int | None = None
    planted: int | None = None


class LibraryTable(Strict):
    """The table of a library."""

    library: str
    """The module, by whose name the library is swept."""
    distribution: str | None = None
    """The name under which it is installed, if that is not the module's."""
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

    @property
    def release(self) -> str:
        """The installed version of the library."""
        try:
            return version(self.distribution or self.library)
        except PackageNotFoundError:
            return "unknown"

    @property
    def _patterns(self) -> list[str]:
        return self.constructors or [f"{self.library}:*"]

    @property
    def preamble(self) -> str:
        """The Python that runs before the expressions: imports, then ``setup``."""
        modules = dict.fromkeys(pattern.partition(":")[0] for pattern in self._patterns)
        return "".join(f"import {module}\n" for module in modules) + self.setup

    def find_constructors(self) -> dict[str, str]:
        """Return the module of each public constructor by the name of the constructor.

        Raises InvalidInputError if a module cannot be imported, or if the table names an unknown constructor.
        """
        names = dict[str, str]()
        for module, _, pattern in (entry.partition(":") for entry in self._patterns):
            try:
                imported = importlib.import_module(module)
            except ImportError as error:
                raise InvalidInputError(
                    f"{module} cannot be imported: {error}; install it next to the auditor"
                ) from None
            for name in dir(imported):
                thing = getattr(imported, name)
                # An object imported from another library is no constructor. Objects written in C may name any module, or none.
                home = str(getattr(thing, "__module__", None) or module).partition(".")[0]
                own = home in (self.library, module) or bool(pattern.strip("*"))
                if callable(thing) and own and not name.startswith("_") and fnmatch.fnmatchcase(name, pattern or "*"):
                    names.setdefault(name, module)
        require_known(f"the table of {self.library} names", (*self.examples, *self.others), names)
        return names

    def parameters_without_arguments(self, needed: list[str]) -> list[str]:
        """Return the parameters for which the table has no arguments to try."""
        return [name for name in needed[self._together(needed) :] if name not in self.arguments]

    def _together(self, needed: list[str]) -> int:
        """Return 2 if the table has joint arguments for the first two parameters, and otherwise 0."""
        return 2 if len(needed) > 1 and ", ".join(needed[:2]) in self.arguments else 0

    def calls(self, constructor: str, module: str, needed: list[str]) -> Iterator[str]:
        """Yield calls of a constructor, with each choice of arguments for the parameters that are ``needed``."""
        joint = self._together(needed)
        choices = [self.arguments[", ".join(needed[:joint])]] if joint else []
        choices += [[f"{name}={value}" for value in self.arguments[name]] for name in needed[joint:]]
        for chosen in itertools.product(*choices):
            yield f"{module}.{constructor}({', '.join(chosen)})"


def load_table(library: str, examples: Path | None = None) -> LibraryTable:
    """Load the table of a library from ``examples``, else from this package; else it has generic arguments only.

    Raises InvalidInputError for a file that is no table, or the table of another library.
    """
    packaged = HERE / f"{library}.yaml"
    file = examples or (packaged if packaged.is_file() else None)
    table = _read_table(file) if file else LibraryTable(library=library)
    if table.library != library:
        raise InvalidInputError(f'{file} is the table of "{table.library}", not of "{library}"')
    generic = _read_table(HERE / f"{GENERIC_TABLE}.yaml").arguments
    return table.model_copy(update={"arguments": {**generic, **table.arguments}})


def _read_table(file: Path) -> LibraryTable:
    return validated(LibraryTable, read_yaml_file(file).data, str(file))
