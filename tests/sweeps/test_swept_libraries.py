"""What of real libraries can be audited without a wrapper, where `make libraries` has installed them. Nothing is drawn here.

Each library is looked at in a process that has its own environment first, as `make sweeps` does.
"""

import functools
import json
import os
import subprocess
import sys
from typing import Any

import pytest
from adapters.libraries import ENVIRONMENTS

SCRIPT = """
import json, sys
from auditor.sweeps.building import SweptObject, swept_objects
from auditor.sweeps.library_table import table_of

if __name__ == "__main__":
    table = table_of(sys.argv[1])
    modules = table.found()
    built = list(swept_objects(table))
    audited = [one for one in built if isinstance(one, SweptObject)]
    print(json.dumps({
        "audited": [modules[name] for name in dict.fromkeys(one.constructor for one in audited)],
        "left out": {one.constructor: one.reason for one in built if not isinstance(one, SweptObject)},
    }))
"""
# Each with its environment, and the constructors that are not audited. Everything else that a pattern finds is audited.
LIBRARIES = {
    "opendp": (
        "opendp",
        {
            *("make_private_expr", "make_stable_expr", "make_cdf", "make_consistent_b_ary_tree", "make_proof_link"),
            *("make_quantiles_from_counts", "make_fully_adaptive_composition", "make_population_amplification"),
        },
    ),
    "pure_ldp": ("pure-ldp", {"FreqOracleClient"}),
    "diffprivlib": ("diffprivlib", {"DPMachine", "DPMechanism", "TruncationAndFoldingMixin", "Vector"}),
    "pydp": ("python-dp", {"NumericalMechanism"}),
}


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
        ("diffprivlib", "diffprivlib.mechanisms", 19),
        ("diffprivlib", "diffprivlib.tools", 15),
        ("diffprivlib", "diffprivlib.models", 8),
        ("pydp", "pydp.algorithms.laplacian", 9),
    ],
)
def test_the_constructors_that_are_audited_are_counted(name: str, module: str, least: int) -> None:
    assert built(name)["audited"].count(module) >= least
