"""Frames, mixtures of columns and strategies in YAML, and the frames that `auditor init` guesses."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from auditor.auditing.consistent import read_report
from auditor.cli import main
from auditor.config.load import load_configuration
from auditor.errors import InvalidInputError
from auditor.neighbours.frames import Frame
from auditor.neighbours.pair import Pair

HEAD = "version: 1\nsamples: 500\nexecution: {workers: 1}\naudits:\n  - name: one\n"


def pair_of(folder: Path, neighbours: str, mechanism: str = "m.py:f") -> Pair:
    file = folder / "some.yaml"
    text = f"    mechanism: {mechanism}\n    claim: {{epsilon: 1.0}}\n    neighbours: {neighbours}\n"
    file.write_text(HEAD + text, encoding="utf-8")
    [plan] = load_configuration(file).plans
    return plan.domain.corners()[0]


def test_a_frame_has_its_keys_in_yaml(tmp_path: Path) -> None:
    column = "{type: number, low: -1, high: 1, null: true, nan: true, infinite: true, outside: true, dtype: float32}"
    neighbours = (
        f"{{domain: frame, columns: {{x: {column}, day: {{type: date, low: 2020-01-01}}}}, id: user, as: rows, order: shuffled, "
        "rows_per_person: {low: 1, high: 2}, relation: substitute, unit: row, size: {low: 1, high: 5}}"
    )
    file = tmp_path / "some.yaml"
    pair = pair_of(tmp_path, neighbours)
    assert set(pair.left[0]) == {"user", "x", "day"}
    [plan] = load_configuration(file).plans
    domain = plan.domain
    assert isinstance(domain, Frame)
    assert (domain.id, domain.unit, domain.order, domain.relation, domain.form) == (
        *("user", "row", "shuffled", "substitute"),
        "rows",
    )


@pytest.mark.parametrize(
    ("neighbours", "message"),
    [
        ("{domain: frame, columns: {x: {type: number, lo: 1}}}", "lo"),
        ("{domain: frame, columns: {x: {type: float}}}", "number"),
        ("{domain: frame, columns: {x: {type: text}}, as: arrow}", "as is 'arrow'; it is gone: write `as: polars`"),
        ("{domain: frame, columns: {x: {type: text}}, as: csv}", "as is 'csv'; it is gone: write `as: pandas`"),
        ("{domain: frame, columns: {x: {type: text}}, as: columns}", "as is 'columns'; it is gone: write `as: pandas`"),
        ("{domain: frame, columns: {x: {type: text}}, as: pndas}", 'did you mean "pandas"?'),
        ("{domain: frame, columns: [x]}", "columns is ['x']; it must be a mapping of columns by name, such as {age:"),
        (
            "{domain: frame, columns: {x: {type: date, high: 2024-02-30}}}",
            "high is '2024-02-30'; it must be of the type date",
        ),
        ("{domain: records, size: {low: 0, high: 2}}", "or record: {choices}, or columns: [{low"),
        (
            "{domain: records, columns: [{low: 0, high: 1}], record: {low: 0, high: 1}, size: {low: 0, high: 2}}",
            "not both",
        ),
        ("{domain: records, columns: [{low: 0, high: 1}], distance: 0, size: {low: 0, high: 2}}", "distance is 0"),
    ],
)
def test_a_wrong_frame_is_an_error_with_its_line(tmp_path: Path, neighbours: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=r"line 8|line 5") as raised:
        pair_of(tmp_path, neighbours)
    assert message in str(raised.value)


def test_records_may_have_columns_of_different_kinds(tmp_path: Path) -> None:
    columns = "columns: [{low: 0, high: 9, integer: true}, {choices: [a, b]}]"
    lists = pair_of(tmp_path, f"{{domain: records, {columns}, size: {{low: 0, high: 3}}, container: list}}")
    assert lists.dataset("right") == [[0, "a"]]
    array = pair_of(tmp_path, f"{{domain: records, {columns}, size: {{low: 0, high: 3}}}}")
    assert array.dataset("right").tolist() == [[0, "a"]]


STABILITY = """    mechanism: steps.py:{function}
    claim: {claim}
    neighbours: {neighbours}
"""
STEPS = """
def first_two(rows):
    return rows[:2]

def bounded(rows):
    return sum(min(row["x"], 3) for row in rows)
"""
ONE_COLUMN = "{domain: frame, columns: {x: {type: integer, low: 0, high: 9}}, size: {low: 0, high: 6}}"


@pytest.mark.parametrize(
    ("function", "claim", "verdicts"),
    [
        ("bounded", "{sensitivity: {1: 3, 2: 5}}", ["no_violation_found", "violation"]),
        ("first_two", "{sensitivity: {1: 1, 2: 4}}", ["violation", "no_violation_found"]),
    ],
)
def test_a_sensitivity_by_distance_is_an_audit_for_each(
    tmp_path: Path, function: str, claim: str, verdicts: list[str]
) -> None:
    (tmp_path / "steps.py").write_text(STEPS, encoding="utf-8")
    file = tmp_path / "some.yaml"
    file.write_text(HEAD + STABILITY.format(function=function, claim=claim, neighbours=ONE_COLUMN), encoding="utf-8")
    main(["run", str(file), "--out", str(tmp_path / "out"), "--quiet", "--samples", "1000"])
    audits = read_report(next((tmp_path / "out").rglob("report.json"))).audits
    assert [audit.verdict for audit in audits] == verdicts
    assert [audit.name for audit in audits] == [f"one, distance {i}" for i in range(1, len(verdicts) + 1)]


@pytest.mark.parametrize(
    ("claim", "neighbours", "message"),
    [
        ("{sensitivity: {0: 1}}", ONE_COLUMN, "numbers by distance"),
        ("{sensitivity: {1: many}}", ONE_COLUMN, "sensitivity is 'many'"),
        ("{sensitivity: {1: 1}, norm: l3}", ONE_COLUMN, "allowed: l1, l2, linf"),
        ("{sensitivity: {1: 1}}", "{domain: value, values: [0, 1]}", "the domain records or frame"),
        ("{sensitivity: {1: 1}}", ONE_COLUMN[:-1] + ", distance: 2}", "without a `distance`"),
    ],
)
def test_a_wrong_sensitivity_by_distance_is_an_error_with_its_line(
    tmp_path: Path, claim: str, neighbours: str, message: str
) -> None:
    file = tmp_path / "some.yaml"
    file.write_text(HEAD + STABILITY.format(function="bounded", claim=claim, neighbours=neighbours), encoding="utf-8")
    with pytest.raises(InvalidInputError, match="line 7") as raised:
        load_configuration(file)
    assert message in str(raised.value)


def test_a_program_receives_rows_and_no_frames_of_a_library(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    program = tmp_path / "program.py"
    program.write_text(
        "import json, random, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    rows = sum(row['x'] is not None for row in asked['dataset'])\n"
        "    print(*(json.dumps(rows) for _ in range(asked['size'])), sep='\\n', flush=True)\n"
    )
    for form, status in (("rows", 0), ("pandas", 2)):
        text = f"""    mechanism: {{command: [python3, program.py]}}
    claim: {{epsilon: 1.0}}
    neighbours: {{domain: frame, columns: {{x: {{type: number, low: 0, high: 1, null: true}}}}, as: {form}}}
"""
        (tmp_path / "some.yaml").write_text(HEAD + text, encoding="utf-8")
        assert (main(["check", str(tmp_path / "some.yaml")]) != 0) is (status != 0)


@pytest.mark.parametrize(("answer", "verdict"), [("rows[:1]", "no_violation_found"), ("rows + rows[:3]", "violation")])
def test_a_program_is_a_query_that_answers_with_rows(tmp_path: Path, answer: str, verdict: str) -> None:
    (tmp_path / "step.py").write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    rows = json.loads(line)['dataset']\n"
        f"    print(json.dumps({answer}), flush=True)\n",
        encoding="utf-8",
    )
    text = f"""    mechanism: {{command: [python3, step.py]}}
    claim: {{sensitivity: 2}}
    neighbours: {ONE_COLUMN}
"""
    file = tmp_path / "some.yaml"
    file.write_text(HEAD + text, encoding="utf-8")
    main(["run", str(file), "--out", str(tmp_path / "out"), "--quiet", "--samples", "400"])
    [audit] = read_report(next((tmp_path / "out").rglob("report.json"))).audits
    assert audit.verdict == verdict


def test_a_program_that_answers_by_its_seed_is_no_query(tmp_path: Path) -> None:
    (tmp_path / "step.py").write_text(
        "import json, sys\nfor line in sys.stdin:\n    print(json.loads(line)['seed'], flush=True)\n", encoding="utf-8"
    )
    text = (
        f"    mechanism: {{command: [python3, step.py]}}\n    claim: {{sensitivity: 2}}\n    neighbours: {ONE_COLUMN}\n"
    )
    file = tmp_path / "some.yaml"
    file.write_text(HEAD + text, encoding="utf-8")
    main(["run", str(file), "--out", str(tmp_path / "out"), "--quiet"])
    [audit] = read_report(next((tmp_path / "out").rglob("report.json"))).audits
    assert audit.verdict == "inconclusive"
    assert "and then" in str(audit.stop_reason)


# --- auditor init ---

COUNTS = """
import math
{imports}

def counts(df: {kind}, rng, epsilon=1.0, delta=1e-5):
    \"\"\"Persons per city, in the first city of each. Cities with few are left out.\"\"\"
    threshold = 1 + math.log(1 / (2 * delta)) / epsilon
{body}
"""
PANDAS = {
    "distinct rows": """
    rows = df[["user", "city", "day"]].drop_duplicates().groupby("city").size()
    persons = df.drop_duplicates("user").groupby("city").size()
    released = [city for city, n in rows.items() if n + rng.laplace(0, 1 / epsilon) > threshold]
    return {city: round(persons.get(city, 0) + rng.laplace(0, 1 / epsilon)) for city in released}
""",
}
POLARS = {
    "a null group": """
    persons = df.unique("user", keep="first").group_by("city").len()
    noisy = {city: n + rng.laplace(0, 1 / epsilon) for city, n in sorted(persons.rows(), key=repr)}
    return {str(city): round(n) for city, n in noisy.items() if n > threshold or city is None}
""",
}
LIBRARIES: dict[str, tuple[str, str, dict[str, str]]] = {
    "pandas": ("import pandas as pd", "pd.DataFrame", PANDAS),
    "polars": ("import polars as pl", "pl.DataFrame", POLARS),
}
EVERY = [("pandas", "distinct rows"), ("polars", "a null group")]


def started(folder: Path, library: str, body: str) -> Path:
    """Write the function, and let `auditor init` write its configuration."""
    pytest.importorskip(library)
    imports, kind, bodies = LIBRARIES[library]
    (folder / "counts.py").write_text(COUNTS.format(imports=imports, kind=kind, body=bodies[body]), encoding="utf-8")
    file = folder / "audit.yaml"
    assert main(["init", f"{folder / 'counts.py'}:counts", "-o", str(file)]) == 0
    return file


@pytest.mark.parametrize(("library", "body"), EVERY)
def test_init_finds_the_columns_that_a_function_reads(tmp_path: Path, library: str, body: str) -> None:
    text = started(tmp_path, library, body).read_text(encoding="utf-8")
    assert f"as: {library}}}" in text
    assert "id: user, rows_per_person: {low: 1, high: 3}" in text
    assert "city: {type: categorical, choices: [a, b, c], null: true}" in text
    assert ("day: {type: categorical" in text) is (body == "distinct rows")


def test_init_learns_columns_from_errors(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    (tmp_path / "hidden.py").write_text(
        "import pandas as pd\n"
        "NAMES = ['age', 'wage']\n"
        "def f(df: pd.DataFrame, rng, epsilon=1.0):\n"
        "    return sum(df[name].sum() for name in NAMES) + rng.laplace(0, 20 / epsilon)\n"
    )
    assert main(["init", f"{tmp_path / 'hidden.py'}:f", "-o", str(tmp_path / "audit.yaml")]) == 0
    columns = re.findall(r"(\w+): \{type: (?:number|integer)", (tmp_path / "audit.yaml").read_text(encoding="utf-8"))
    assert columns == ["age", "wage"]


def test_a_bug_with_frames_is_found_without_code(tmp_path: Path) -> None:
    """As `auditor init` writes it, but with fewer outputs, and in this process. tests/long has pandas, and sound twins."""
    file = started(tmp_path, "polars", "a null group")
    smaller = "samples: 2_000\nexecution: {workers: 1, isolate: false}"
    file.write_text(file.read_text(encoding="utf-8").replace("samples: 100_000", smaller), encoding="utf-8")
    main(["run", str(file), "--out", str(tmp_path / "out"), "--quiet"])
    report = tmp_path / "out" / "audit" / "report.json"
    [audit] = read_report(report).audits
    assert audit.verdict == "violation"
    assert audit.pair is not None
    stored: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))["audits"][0]["pair"]
    assert all(set(row) >= {"user", "city"} for side in ("left", "right") for row in stored[side])
