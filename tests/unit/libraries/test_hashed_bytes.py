"""The input of pure-ldp's hash is bytes, which every version of xxhash takes; version 4 refuses text."""

import re
import sys
import types
from collections.abc import Mapping
from typing import Any
from unittest.mock import MagicMock

import pytest
import yaml
from folders import PROJECT

from auditor.libraries.pure_ldp import hash_item


def xxh32(data: object, seed: int) -> Any:
    """Accept only what xxhash 4 accepts."""
    if not isinstance(data, bytes):
        raise TypeError("Strings must be encoded before hashing")
    return types.SimpleNamespace(intdigest=lambda: int.from_bytes(data, "big") + seed)


@pytest.fixture
def strict(monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    """Replace xxhash by a module that takes bytes only."""
    module: Any = types.ModuleType("xxhash")
    module.xxh32 = xxh32
    monkeypatch.setitem(sys.modules, "xxhash", module)
    return {"xxhash": module}


@pytest.mark.usefixtures("strict")
def test_an_item_is_hashed_as_the_bytes_of_its_text() -> None:
    client = types.SimpleNamespace(index_mapper=lambda item: item - 1, g=7)
    assert hash_item(client, 8, seed=3) == (ord("7") + 3) % 7


@pytest.mark.usefixtures("strict")
def test_the_objects_of_the_sweep_hash_bytes() -> None:
    setup = yaml.safe_load((PROJECT / "auditor" / "libraries" / "pure_ldp.yaml").read_text())["setup"]
    names: dict[str, Any] = {"pure_ldp": MagicMock()}
    exec(setup, names)  # text of this project
    assert 0 <= names["hashed"](16, 2)("an item") < 16


def test_no_text_is_hashed_anywhere_in_the_project() -> None:
    folders = ("auditor", "benchmarks", "configs", "mechanisms", "studies", "tests/processes/libraries")
    files = [file for folder in folders for kind in ("*.py", "*.yaml") for file in (PROJECT / folder).rglob(kind)]
    hashed = {
        f"{file.relative_to(PROJECT)}: {call}": call
        for file in files
        for call in re.findall(r"xxh\d+\w*\((?:[^()]|\([^()]*\))*", file.read_text())
    }
    assert hashed
    assert all(".encode()" in call or "(text," in call for call in hashed.values()), hashed
