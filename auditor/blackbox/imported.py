"""What a mechanism imports: the files of modules, and the versions of installed packages."""

import contextlib
import importlib.metadata
import os.path
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from auditor.blackbox.mechanism import PythonSource
from auditor.errors import MechanismError

_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
# Python's own modules and the auditor's, whose versions are known.
_OWN = tuple(
    f"{folder}{os.sep}"
    for folder in (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), Path(__file__).parent.parent)
)


def imported(sources: Sequence[PythonSource], dataset: None) -> tuple[list[str], dict[str, str]]:
    """Import sources; return the files of this process's modules, but for Python's own, and the versions of packages.

    It has the form of a mechanism, so it runs where mechanisms do.
    """
    for source in sources:
        with contextlib.suppress(MechanismError):  # it is raised again when the source is needed
            source.load()
    files, packages = list[str](), set[str]()
    for name, module in list(sys.modules.items()):
        file = vars(module).get("__file__") if isinstance(module, ModuleType) else None
        if not isinstance(file, str):
            continue
        if any(part in file for part in _PACKAGES):
            packages.add(name.partition(".")[0])
        elif not file.startswith(_OWN):
            files.append(file)
    # Those of a leading underline are hooks of installers, or parts of another package.
    return files, {f"package {name}": _version(name) for name in sorted(packages) if not name.startswith("_")}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:  # a package may have another name than what is installed
        found = importlib.metadata.packages_distributions().get(package, ())
        return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in sorted({*found}))
