"""What is found by its entry point and imported by nobody: adapters and provers, of this distribution and of others."""

import functools
import sys
from importlib.metadata import entry_points
from typing import Any

from auditor.door import outcome, told
from auditor.errors import InvalidInputError


def found(group: str) -> dict[str, Any]:
    """Return what the entry points of a group name, loaded, by "module" or "module:attribute".

    Those of other distributions come first, so that they can replace what this one has. A module that is not there, since somebody
    took it out, is passed over.

    Raises InvalidInputError if one cannot be loaded for another reason.
    """
    return _found(group, tuple(sys.path))


@functools.cache
def _found(group: str, path: tuple[str, ...]) -> dict[str, Any]:
    points = sorted(
        entry_points(group=group), key=lambda one: (getattr(one.dist, "name", "") == "dp-auditor", one.value)
    )
    loaded = dict[str, Any]()
    for point in points:
        plugin = outcome(point.load)
        missing = plugin.name if isinstance(plugin, ModuleNotFoundError) else None
        if missing and f"{point.module}.".startswith(f"{missing}."):
            continue
        if isinstance(plugin, BaseException):
            raise InvalidInputError(
                f"the entry point {point.value} of {group} cannot be loaded: {told(plugin)}; repair or uninstall "
                "the package that has it"
            ) from plugin
        loaded[point.value] = plugin
    return loaded
