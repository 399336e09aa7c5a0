"""Run every benchmark, or the ones named: ``python -m benchmarks [NAME ...]``. Results go to benchmarks/results/.

If ``measure`` takes any number of arguments, they follow the name: ``python -m benchmarks same_reports OUT``.

A long benchmark yields its figures after each step. They are written each time, so an interrupted run can be resumed from them.
"""

import importlib
import inspect
import json
import os
import pkgutil
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import benchmarks
from auditor.results.files import write_whole

RESULTS = Path(__file__).parent / "results"


def main(names: list[str]) -> None:
    every = sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if not (m.name.startswith("_") or m.ispkg))
    asked = list(names or every)
    while asked:
        name = asked.pop(0)
        if name not in every:
            sys.exit(f'no benchmark is called "{name}"; there are {", ".join(every)}')
        measure = importlib.import_module(f"benchmarks.{name}").measure
        takes_any = any(each.kind is each.VAR_POSITIONAL for each in inspect.signature(measure).parameters.values())
        arguments, asked = (asked, []) if names and takes_any else ([], asked)
        measured = measure(*arguments)
        for figures in measured if isinstance(measured, Iterator) else [measured]:
            if figures is not None:
                _write(name, figures)


def _write(name: str, figures: Any) -> None:
    machine = {"cores": os.cpu_count(), "python": platform.python_version(), "machine": platform.machine()}
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps({"machine": machine, "figures": figures}, indent=1, ensure_ascii=False)
    write_whole(RESULTS / f"{name}.json", text + "\n")
    print(f"{name}\n{text}", flush=True)


if __name__ == "__main__":  # workers of a local cluster import this module too
    main(sys.argv[1:])
