"""The objects of a sweep as a Python file, and their audits as a configuration: what `auditor run` can run again."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from auditor.results.files import write_whole
from auditor.sweeps.building import SweptObject
from auditor.sweeps.library_table import LibraryTable

SAMPLES = 50_000  # outputs of the bound of each audit
OBJECTS = "objects.py"


def write_sweep(table: LibraryTable, objects: Sequence[SweptObject], folder: Path) -> Path:
    """Write both files into a folder, and return the path of the configuration, which is called after the folder."""
    made = f"# {table.library} {table.release}, as built by `auditor sweep {table.library}`"
    code = [f"{_variable(one)} = {one.example.object}\n" for one in objects]
    write_whole(folder / OBJECTS, f"{made}.\n# ruff: noqa\n# fmt: off\n{table.beginning}\n{''.join(code)}")
    lines = "".join(f"  - {json.dumps(_audit(one), ensure_ascii=False)}\n" for one in objects)
    file = folder / f"{folder.name}.yaml"
    write_whole(file, f"{made}: {OBJECTS} has the objects.\nversion: 1\nsamples: {SAMPLES}\naudits:\n{lines}")
    return file


def _variable(one: SweptObject) -> str:
    return re.sub(r"\W+", "_", one.name)


def _audit(one: SweptObject) -> dict[str, Any]:
    keys = one.example.given()
    del keys["object"]
    return {"name": one.name, "mechanism": {"object": f"{OBJECTS}:{_variable(one)}"}, **keys}
