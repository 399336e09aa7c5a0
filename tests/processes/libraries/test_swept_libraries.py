"""What of real libraries can be audited without a wrapper, where `make libraries` has installed them. Nothing is drawn
here.

Each library is imported in a process whose path begins with its own environment, as in `make sweeps`.
"""

import functools
import json
import os
import subprocess
import sys
from typing import Any

import pytest
from folders import PROJECT
from installed import ENVIRONMENTS

SCRIPT = """
import json, sys
from auditor.libraries.building import SweptObject, build_objects
from auditor.libraries.library_table import load_table

if __name__ == "__main__":
    table = load_table(sys.argv[1])
    modules = table.find_constructors()
    built = list(build_objects(table))
    audited = [one for one in built if isinstance(one, SweptObject)]
    print(json.dumps({
        "audited": [modules[name] for name in dict.fromkeys(one.constructor for one in audited)],
        "left out": {one.constructor: one.reason for one in built if not isinstance(one, SweptObject)},
    }))
"""
# Each with its environment, and the constructors that are not audited. All others that a pattern finds are audited.
LIBRARIES = {
    "opendp": (
        "opendp",
        {
            *("make_private_expr", "make_stable_expr", "make_cdf", "make_consistent_b_ary_tree", "make_proof_link"),
            *("make_quantiles_from_counts", "make_fully_adaptive_composition", "make_population_amplification"),
        },
    ),
    "pure_ldp": ("pure-ldp", {"FreqOracleClient"}),
    "diffprivlib": ("diffprivlib", {"DPMachine", "DPMechanism", "TruncationAndFoldingMixin"}),
    "pydp": ("python-dp", {"NumericalMechanism"}),
    "snsql": ("smartnoise-sql", {"from_connection", "Mechanism", "Unbounded"}),
}
# The findings of the committed tables. Each was confirmed in the source, and is in reports/libraries/NEW.md.
VIOLATIONS: dict[str, set[str]] = {
    "opendp": set(),
    "pure_ldp": {"RAPPORClient"},
    "diffprivlib": {"nanmean", "nanvar", "nanstd", "Vector", "KMeans", "LogisticRegression", "RandomForestClassifier"},
    "pydp": set(),
    "snsql": {"from_df"},
}
REPORTS = PROJECT / "reports" / "libraries"


@functools.cache
def built(name: str) -> Any:
    environment, _ = LIBRARIES[name]
    sites = [str(site) for site in (ENVIRONMENTS / environment).glob("lib/python3.*/site-packages")]
    if not sites:
        pytest.skip(f"{environment} is not installed; `make libraries` installs it")
    path = os.pathsep.join([*sites, os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, name]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", LIBRARIES)
def test_all_but_a_few_constructors_are_audited(name: str) -> None:
    reasons = built(name)["left out"]
    assert reasons.keys() == LIBRARIES[name][1], reasons
    assert all(reasons.values())


@pytest.mark.parametrize(
    ("name", "module", "least"),
    [
        ("opendp", "opendp.measurements", 18),
        ("opendp", "opendp.transformations", 50),
        ("pure_ldp", "pure_ldp.frequency_oracles", 11),
        ("pure_ldp", "pure_ldp.heavy_hitters", 3),
        ("diffprivlib", "diffprivlib.mechanisms", 21),
        ("diffprivlib", "diffprivlib.tools", 15),
        ("diffprivlib", "diffprivlib.models", 8),
        ("pydp", "pydp.algorithms.laplacian", 9),
    ],
)
def test_the_constructors_that_are_audited_are_counted(name: str, module: str, least: int) -> None:
    assert built(name)["audited"].count(module) >= least


# --- Without the libraries: the committed tables ---


@pytest.mark.parametrize("name", LIBRARIES)
def test_each_violation_of_a_committed_table_was_read_in_the_source(name: str) -> None:
    data = json.loads((REPORTS / f"{name}-sweep" / "sweep.json").read_text(encoding="utf-8"))
    broken = {row["constructor"] for row in data["audited"] if row["verdict"] == "violation"}
    assert broken == VIOLATIONS[name]
    new = (REPORTS / "NEW.md").read_text(encoding="utf-8")
    assert [constructor for constructor in broken if f"`{constructor}`" not in new] == []


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_committed_table_is_of_the_pinned_release_and_counted_in_the_readme(name: str) -> None:
    environment, left_out = LIBRARIES[name]
    data = json.loads((REPORTS / f"{name}-sweep" / "sweep.json").read_text(encoding="utf-8"))
    pins = PROJECT / "configs" / "libraries" / "environments" / f"{environment}.in"
    assert f"{environment}=={data['release']}" in pins.read_text(encoding="utf-8").split()
    assert {row["constructor"] for row in data["not audited"]} == left_out
    objects, violations = len(data["audited"]), sum(row["verdict"] == "violation" for row in data["audited"])
    readme = (REPORTS / "README.md").read_text(encoding="utf-8")
    assert f"| [{environment} {data['release']}]({name}-sweep/sweep.md) | {objects} | {violations} " in readme
