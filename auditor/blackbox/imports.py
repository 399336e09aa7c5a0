"""What a mechanism imports: the files of modules, and the versions of installed packages."""

import contextlib
import functools
import importlib.metadata
import os
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from auditor.errors import MechanismError
from auditor.interfaces import Source

# The folders of Python's own modules and the auditor's, whose versions are known.
_OWN = tuple(
    f"{folder}{os.sep}"
    for folder in (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), Path(__file__).parent.parent)
)


def imported(sources: Sequence[Source], dataset: None) -> tuple[list[str], dict[str, str]]:
    """Import sources. Return the versions of installed packages in this process, and the files of all other modules.

    The signature is that of a mechanism, so that it runs where mechanisms run. Python's own modules are left out.
    """
    for source in sources:
        with contextlib.suppress(MechanismError):  # it is raised again when the source is needed
            source.drawer()
    files, packages = list[str](), set[str]()
    for name, module in list(sys.modules.items()):
        file = vars(module).get("__file__") if isinstance(module, ModuleType) else None
        if not isinstance(file, str):
            continue
        if any(f"{os.sep}{part}{os.sep}" in file for part in ("site-packages", "dist-packages")):
            packages.add(name.partition(".")[0])
        elif not file.startswith(_OWN):
            files.append(file)
    # A package with a leading underscore is a hook of an installer, or part of another package.
    return files, {f"package {name}": _version(name) for name in sorted(packages) if not name.startswith("_")}


@functools.cache  # finding a distribution with another name takes a tenth of a second
def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:  # the distribution may have another name than the package
        distributions = importlib.metadata.packages_distributions().get(package, ())
        return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in sorted({*distributions}))
