"""Packages that would load a framework which what is audited of them does not use."""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from typing import Any, ClassVar


def load_submodules_only(*packages: str) -> None:
    """Let the modules of packages be imported without the packages' own ``__init__``."""
    for name in packages:
        spec = importlib.util.find_spec(name)
        assert spec is not None and spec.submodule_search_locations is not None
        package = types.ModuleType(name)
        package.__path__ = list(spec.submodule_search_locations)
        sys.modules[name] = package


class _StandIn(types.ModuleType):
    """A module of which each name is an empty class."""

    __path__: ClassVar[list[str]] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (), {})
        setattr(self, name, made)
        return made


class _StandInFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, packages: tuple[str, ...]) -> None:
        self.packages = packages

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        known = any(f"{fullname}.".startswith(f"{name}.") for name in self.packages)
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True) if known else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def stand_in_for(*packages: str) -> None:
    """Let packages be imported that are not installed, by modules of which only functions without them are used."""
    sys.meta_path.insert(0, _StandInFinder(packages))
