"""Run every benchmark, or those named: ``python -m benchmarks [NAME ...]``; results go to benchmarks/results/."""

import importlib
import json
import os
import pkgutil
import platform
import sys
from pathlib import Path

import benchmarks

RESULTS = Path(__file__).parent / "results"


def main(names: list[str]) -> None:
    known = sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if not (m.name.startswith("_") or m.ispkg))
    for name in names or known:
        if name not in known:
            sys.exit(f'no benchmark is called "{name}"; there are {", ".join(known)}')
        figures = importlib.import_module(f"benchmarks.{name}").measure()
        machine = {"cores": os.cpu_count(), "python": platform.python_version(), "machine": platform.machine()}
        RESULTS.mkdir(exist_ok=True)
        text = json.dumps({"machine": machine, "figures": figures}, indent=1, ensure_ascii=False)
        (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        print(f"{name}\n{text}", flush=True)


if __name__ == "__main__":  # workers of a local cluster import this module too
    main(sys.argv[1:])
