"""Any file gives a run or a usage error: no configuration, however odd, ends in a traceback.

Configurations are generated from the schema, and valid ones are corrupted in a few places. HYPOTHESIS=explore tries thousands.
"""

import contextlib
import copy
import functools
import io
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st
from plain_data import places

from auditor.cli import main
from auditor.config.schema import json_schema

SCHEMA = json_schema()
# Values for each key; the later mechanisms and generators do not exist.
NAMES = {
    "mechanism": [
        *("fuzzed.py:count", "fuzzed.py:batch", "fuzzed.py:total", "mechanisms.local_model:kary_randomised_response"),
        *(
            "fuzzed.py:raising",
            "fuzzed.py:constant",
            "os:getcwd",
            "builtins:len",
            "fuzzed.py:nothing",
            "nowhere:f",
            "?",
        ),
    ],
    "generator": [
        *("fuzzed.py:pairs", "fuzzed.py:domain", "fuzzed.py:fails", "fuzzed.py:needs_more", "os:system", "os:getcwd"),
        *("builtins:object", "builtins:int", "builtins:exit", "?"),
    ],
    "backend": ["loky", "threading"],
    "address": ["tcp://localhost:1"],
}
ODD = [-1, 0.5, 10, 1e-9, 1e9, 10**13, 10**400, 1e308, -1e308, float("inf"), float("nan"), 2**63]
NUMBERS = st.integers(0, 3) | st.sampled_from(ODD)
WORDS = st.sampled_from(["epsilon", "k", "x", "size", "rng"]) | st.text(max_size=4)
JUNK: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), NUMBERS, WORDS, st.sampled_from([[], {}, [[1, [2]]], {"a": [1]}, [0, 1]])
)


def made_from(schema: dict[str, Any], key: str = "") -> st.SearchStrategy[Any]:
    """Draw what a schema allows below a key."""
    if key in NAMES:
        return st.sampled_from(NAMES[key])
    if "$ref" in schema:
        steps = schema["$ref"].removeprefix("#/").split("/")
        return made_from(functools.reduce(lambda part, step: part[step], steps, SCHEMA), steps[-1])
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return st.one_of([made_from(choice, key) for choice in choices])
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kinds = schema.get("type", "anything")
    match kinds if isinstance(kinds, str) else kinds[0]:
        case "object" if "properties" in schema:
            parts = {name: made_from(part, name) for name, part in schema["properties"].items()}
            needed = {name: parts.pop(name) for name in schema.get("required", [])}
            return st.fixed_dictionaries(needed, optional=parts)
        case "object":
            return st.dictionaries(WORDS, NUMBERS, max_size=2)
        case "array" if "prefixItems" in schema:
            return st.tuples(*map(made_from, schema["prefixItems"])).map(list)
        case "array":
            least = schema.get("minItems", 1)
            return st.lists(made_from(schema.get("items", {})), min_size=least, max_size=least + 1)
        case "integer" | "number":
            return NUMBERS
        case "boolean":
            return st.booleans()
        case "string":
            return WORDS
    return JUNK


RANGE = {"low": 0, "high": 3}
RIGHT = {
    "records": {"domain": "records", "record": {**RANGE, "integer": True}, "size": RANGE, "distance": 1, "container": "list"},
    "choices": {"domain": "records", "record": {"choices": [0, 1]}, "size": RANGE, "columns": 1, "relation": "substitute"},
    "people": {"domain": "totals", "contributions": [[1, 1], [0, 1]], "people": RANGE},
    "cells": {"domain": "totals", "cells": 2, "values": RANGE, "contribution": {"linf": 1}, "integer": True},
    "value": {"domain": "value", "values": [0, 1]},
    "range": {"domain": "value", "range": [0, 1]},
    "pairs": {"pairs": [{"left": [1], "right": [1, 2]}], "relation": "add_remove"},
    "generated": {"generator": "fuzzed.py:pairs"},
}  # fmt: skip
CLAIMS = [
    {"epsilon": 1.0},
    {"epsilon": 1, "delta": 1e-5},
    {"rho": 0.5},
    {"mu": 1},
    {"sensitivity": 1},
    {"monotone": True},
]


@st.composite
def spoilt(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a valid configuration, and replace up to three of its values."""
    audit: dict[str, Any] = {
        "name": "a",
        "mechanism": draw(st.sampled_from(NAMES["mechanism"][:5])),
        "parameters": {},
        "claim": copy.deepcopy(draw(st.sampled_from(CLAIMS))),
        "neighbours": copy.deepcopy(draw(st.sampled_from([*RIGHT.values()]))),
        "method": draw(st.sampled_from(["fixed", "two-intervals"])),
    }
    how = {"isolate": False, "batch": 100}  # starting a process per mechanism would take most of the time
    made: dict[str, Any] = {"version": 1, "confidence": 0.9, "seed": 1, "execution": how, "audits": [audit]}
    for _ in range(draw(st.integers(0, 2))):
        spots = [*places(made)]
        data, key = spots[draw(st.integers(0, len(spots) - 1))]
        named = key in NAMES and draw(st.booleans())
        data[key] = copy.deepcopy(draw(st.sampled_from(NAMES[key]) if named else JUNK))
    return made


def audited(claim: Any = None, **neighbours: Any) -> dict[str, Any]:
    audit = {"name": "a", "mechanism": "fuzzed.py:count", "claim": claim or {"epsilon": 1}, "neighbours": neighbours}
    return {"version": 1, "audits": [audit]}


FOLDER = Path(__file__).parents[2] / "helpers"
LISTS = {"domain": "records", "record": {"low": 0, "high": 3, "integer": True}, "size": {"low": 0, "high": 3}}


def run(data: Any, folder: Path) -> tuple[int, str]:
    """Run a configuration; return the exit status and the text on standard error."""
    file = folder / "fuzz.yaml"
    file.write_text(yaml.safe_dump(data), encoding="utf-8")
    (folder / "fuzzed.py").write_text((FOLDER / "fuzzed.py").read_text(encoding="utf-8"), encoding="utf-8")
    small = ["--samples", "100", "--search", "100", "--seconds", "5", "--workers", "1", "--backend", "loky"]
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        status = main(["run", str(file), *small, "--quiet", "--out", str(folder / "reports")])
    return status, said.getvalue()


FROM_SCHEMA = made_from(SCHEMA)


@st.composite
def configurations(draw: st.DrawFn) -> Any:
    return draw(FROM_SCHEMA) if draw(st.integers(0, 3)) == 3 else draw(spoilt())


@given(data=configurations())
@example(audited(generator="os:system"))
@example(audited(domain="records", record={"low": 0, "high": 1}, size={"low": 0, "high": 10**13}))
@example(audited(claim={"epsilon": 0}, domain="records", record={"choices": [-1]}, size={"low": 0, "high": 2}))
@example(audited(claim={"epsilon": 1e300}, **LISTS))
@example(audited(claim={"rho": 1e300}, **LISTS))
@example(audited(domain="totals", cells=10**13, values=RANGE, contribution={"l1": 1}))
@settings(
    max_examples=max(100, settings().max_examples * (settings().max_examples > 1000)),
    suppress_health_check=[*HealthCheck],
)
def test_any_configuration_gives_a_run_or_an_error_of_use(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("auditor.cli.report_runs.write_reports", lambda result, folder: (folder / "report.json", []))
        status, said = run(data, tmp_path_factory.getbasetemp())
    event(f"exit status {status}")
    assert status in (0, 1, 2, 3), said
    assert "Traceback" not in said, said
    assert "internal error" not in said, said
    assert status != 2 or said.startswith("auditor: "), said
