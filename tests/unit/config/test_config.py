"""Configurations: valid ones are read, and invalid ones are reported with file, line, key and nearest key."""

import json
import math
import re
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
import yaml
from folders import PROJECT
from hypothesis import given
from hypothesis import strategies as st

from auditor.auditing.plan import Settings
from auditor.blackbox.sampling import Execution
from auditor.claims import PureDP
from auditor.cli.options import all_commands
from auditor.config.load import Configuration, load_configuration, search_path
from auditor.config.schema import wants_integers
from auditor.config.yaml_text import read_yaml
from auditor.errors import InvalidInputError
from auditor.verdict import Verdict

# Each key has a line of its own, so that a test can state the line.
PLAIN = """\
version: 1
seed: 5
confidence: 0.9
samples: 1000
method: fixed
execution:
  workers: 1
search:
  500
audits:
  - name: first
    mechanism: somewhere:f
    parameters:
      scale: 2
    claim:
      epsilon: 1.0
    neighbours:
      domain: totals
      contributions: [[1, 1], [0, 1]]
      people:
        low: 0
        high: 20
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "some.yaml"


def load(file: Path, text: str, **overrides: Any) -> Configuration:
    file.write_text(text, encoding="utf-8")
    return load_configuration(file, **overrides)


def error(file: Path, text: str) -> str:
    with pytest.raises(InvalidInputError) as caught:
        load(file, text)
    return str(caught.value)


def changed(old: str, new: str) -> str:
    assert PLAIN.count(old) == 1, old
    return PLAIN.replace(old, new)


def with_neighbours(text: str) -> str:
    return PLAIN[: PLAIN.index("    neighbours:")] + f"    neighbours: {text}\n"


# --- What a configuration means ---


def test_a_configuration_says_everything_a_plan_needs(file: Path) -> None:
    configuration = load(file, PLAIN)
    [plan] = configuration.plans
    assert (configuration.name, configuration.file, configuration.confidence) == ("some", file, 0.9)
    assert (plan.name, plan.source.name, plan.source.parameters) == ("first", "somewhere:f", {"scale": 2})
    assert (plan.claim, plan.expect) == (PureDP(1.0), Verdict.NO_VIOLATION_FOUND)
    execution = Execution(workers=1)
    assert plan.settings == Settings(1000, "fixed", search=500, prove="briefly", seed=5, execution=execution)
    assert plan.alpha == pytest.approx(0.1)


def test_defaults_are_those_of_the_contract(file: Path) -> None:
    kept = [
        line for line in PLAIN.splitlines() if line.split(":")[0] not in {"seed", "confidence", "samples", "method"}
    ]
    text = "\n".join(kept).replace("execution:\n  workers: 1\nsearch:\n  500\n", "")
    configuration = load(file, text)
    [plan] = configuration.plans
    assert configuration.confidence == 0.999
    assert plan.settings == Settings(1_000_000, "fixed", search=None, prove="briefly")
    assert plan.settings.execution == Execution("loky", -1, 262_144, None)


@pytest.mark.parametrize(
    "neighbours",
    [
        "{domain: value, values: [a, no, 1, null]}",
        "{domain: value, range: [0, 10]}",
        "{domain: value, range: [0.5, 1e3]}",
        "{domain: totals, contributions: [[1, 1], [0, 1]], people: {low: 0, high: 9}, relation: substitute}",
        "{domain: totals, cells: 3, values: {low: 0, high: 9}, contribution: {l1: 2}}",
        "{domain: totals, cells: 3, values: {low: 0, high: 9}, contribution: {linf: 0.5}, integer: false}",
        "{domain: records, record: {low: 0, high: 1}, size: {low: 0, high: 9}}",
        "{domain: records, record: {choices: [a, b]}, size: {low: 1, high: 9}, columns: 2, relation: substitute}",
        "{domain: records, record: {low: 0, high: 9, integer: true}, size: {low: 0, high: 9}, distance: 3}",
        "{pairs: [{left: [0], right: [1]}, {left: {a: 1}, right: text}]}",
        "{pairs: [{left: [0, 1], right: [1]}], relation: add_remove}",
        # A range may be a list, and keys of other forms may be null.
        "{domain: totals, cells: 2, values: [-5, 5], contribution: {l1: 1}}",
        "{domain: null, pairs: [{left: 0, right: 1}], generator: null}",
        "{domain: value, values: [0, 1], pairs: null, size: null}",
        "{domain: records, record: {choices: null, low: 0, high: 1}, size: {low: 0, high: 5}, cells: null}",
        "{domain: records, record: {choices: [a, b], low: null, high: null}, size: {low: 0, high: 5}}",
    ],
)
def test_every_kind_of_neighbours_of_the_contract_is_read(file: Path, neighbours: str) -> None:
    [plan] = load(file, with_neighbours(neighbours)).plans
    assert plan.domain.corners()


@pytest.mark.parametrize(
    "claim",
    [
        "{epsilon: 1}",
        "{epsilon: 1, delta: 1e-6}",
        "{order: 2, epsilon: 1}",
        "{rho: 0.5}",
        "{mu: 1}",
        "{sensitivity: 2}",
        "{monotone: true}",
        "{probability: 0.1, at_most: true}",
        "{probability: 0.1, at_least: true}",
    ],
)
def test_every_claim_of_the_contract_is_read(file: Path, claim: str) -> None:
    [plan] = load(file, changed("    claim:\n      epsilon: 1.0\n", f"    claim: {claim}\n")).plans
    assert plan.claim.to_dict() == read_yaml(claim, "").data


def test_an_audit_may_set_the_file_s_keys_anew(file: Path) -> None:
    own = "samples: 200\n    seed: 9\n    method: two-intervals\n    search: 0\n    execution: {batch: 7, workers: 2}"
    second = (
        PLAIN[PLAIN.index("  - name") :].replace("first", "second").replace("parameters:", f"{own}\n    parameters:")
    )
    first_plan, second_plan = load(file, PLAIN + second).plans
    execution = Execution(workers=1)
    assert first_plan.settings == Settings(1000, "fixed", search=500, prove="briefly", seed=5, execution=execution)
    execution = Execution(batch=7, workers=2)
    assert second_plan.settings == Settings(
        200, "two-intervals", search=0, prove="briefly", seed=9, execution=execution
    )
    assert first_plan.alpha == second_plan.alpha == pytest.approx(0.05)


def test_the_command_line_overrules_the_file_and_the_audit(file: Path) -> None:
    text = changed("    parameters:", "    samples: 300\n    seed: 8\n    parameters:")
    [plan] = load(file, text, samples=400, seed=0, workers=3, backend="threading").plans
    assert (plan.settings.samples, plan.settings.seed) == (400, 0)
    assert plan.settings.execution == Execution("threading", 3)


def test_mechanisms_are_not_imported_while_loading(file: Path) -> None:
    assert load(file, PLAIN.replace("somewhere:f", "no_such_module:f")).plans


@pytest.mark.parametrize("file", sorted((PROJECT / "configs").glob("*.yaml")), ids=lambda file: file.stem)
def test_every_committed_configuration_loads_and_its_mechanisms_can_be_built(file: Path) -> None:
    configuration = load_configuration(file)
    assert configuration.plans
    for plan in configuration.plans:
        plan.source.drawer()


def test_mechanisms_are_looked_for_beside_the_file_then_up_to_the_project_then_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, here = tmp_path / "project", tmp_path / "project" / "a" / "b"
    elsewhere = tmp_path / "elsewhere"
    for folder in (here, elsewhere):
        folder.mkdir(parents=True)
    (project / "pyproject.toml").touch()
    monkeypatch.chdir(elsewhere)
    assert search_path(here / "x.yaml") == tuple(map(str, (here, project / "a", project, elsewhere)))
    (project / "pyproject.toml").unlink()
    assert search_path(here / "x.yaml") == (str(here), str(elsewhere))


# --- YAML as its author means it ---


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-5", 1e-5),
        ("1.0E+5", 1e5),
        ("1_000_000", 1_000_000),
        ("1_0.5", 10.5),
        ("010", 10),
        ("0x10", 16),
        ("0o17", 15),
        (".inf", math.inf),
        ("true", True),
        ("null", None),
        ("~", None),
        ("", None),
        ("no", "no"),
        ("2024-01-01", "2024-01-01"),
        ("1:30", "1:30"),
        ('"010"', "010"),
        ("0xfg", "0xfg"),
        ("._", "._"),
        ("-", "-"),
        ("[1, [a, {b: 2}]]", [1, ["a", {"b": 2}]]),
        ("{a: &x [1], b: *x}", {"a": [1], "b": [1]}),
        ("|\n  12\n", "12\n"),
    ],
)
def test_yaml_is_read_as_it_is_meant(text: str, value: Any) -> None:
    read = read_yaml(f"key: {text}" if not text.startswith("-\n") else text, "x").data if text != "-" else {"key": "-"}
    assert read == {"key": value}
    assert type(read["key"]) is type(value)


def test_nan_is_read_as_a_number() -> None:
    assert math.isnan(read_yaml(".nan", "x").data)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(max_codepoint=0xD7FF), max_size=10),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(max_codepoint=0xD7FF), max_size=10), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON)
def test_json_is_read_as_json(data: Any) -> None:
    assert read_yaml(json.dumps(data), "x").data == data
    assert repr(read_yaml(json.dumps(data, indent=1), "x").data) == repr(data)


@given(st.text(alphabet="01.eE+-_xo:~n ", max_size=8))
def test_no_plain_text_is_a_crash(text: str) -> None:
    try:
        read_yaml(f"[{text}]", "x")
    except InvalidInputError as told:
        assert "this is not YAML" in str(told) or "appears twice" in str(told) or "must be a word" in str(told)


def test_lines_are_those_of_the_file() -> None:
    document = read_yaml("a: 1\n\n# comment\nb:\n  - c: 2\n  -\n    d: 3\n", "x")
    lines = [document.line(path) for path in [("a",), ("b",), ("b", 0, "c"), ("b", 1), ("b", 1, "d")]]
    assert lines == [1, 4, 5, 7, 7]
    assert document.line(("b", 1, "nowhere", "below")) == 7


# --- Errors ---

UNKNOWN: list[tuple[str, str, int, str, str]] = [
    # the original text, its replacement, the line, the key, the nearest key
    ("samples: 1000", "sampels: 1000", 4, "sampels", "samples"),
    ("  workers: 1", "  wokers: 1", 7, "wokers", "workers"),
    ("    mechanism: somewhere:f", "    mechanism: somewhere:f\n    expct: violation", 13, "expct", "expect"),
    ("      epsilon: 1.0", "      epsilom: 1.0", 15, "epsilom", "epsilon"),
    ("      contributions:", "      contribution_s:", 19, "contribution_s", "contributions"),
    ("        low: 0", "        lo: 0", 21, "lo", "low"),
]


@pytest.mark.parametrize(("old", "new", "line", "key", "nearest"), UNKNOWN, ids=[key for *_, key, _ in UNKNOWN])
def test_an_unknown_key_is_told_with_its_place_and_the_nearest_known_one(
    file: Path, old: str, new: str, line: int, key: str, nearest: str
) -> None:
    message = error(file, changed(old, new))
    assert f"{file}, line {line}: " in message
    assert f'unknown key "{key}"' in message
    assert f'did you mean "{nearest}"' in message


def test_every_unknown_key_is_told_at_once(file: Path) -> None:
    message = error(
        file, PLAIN.replace("samples:", "sampels:").replace("epsilon", "epsilon").replace("  low:", "  lo:")
    )
    assert '"sampels"' in message
    assert '"lo"' in message


@pytest.mark.parametrize(
    ("missing", "line", "parent"),
    [
        ("version: 1\n", 1, "the file"),
        ("    mechanism: somewhere:f\n", 11, "audits"),
        ("        high: 20\n", 20, "people"),
    ],
)
def test_a_missing_key_is_told_with_its_place(file: Path, missing: str, line: int, parent: str) -> None:
    message = error(file, changed(missing, ""))
    key = missing.partition(":")[0].strip()
    assert f'{file}, line {line}: {parent} needs the key "{key}"' in message


def test_a_missing_key_is_told_with_what_may_be_written(file: Path) -> None:
    frame = "{domain: frame, columns: {age: {low: 0, high: 9}}}"
    message = error(file, re.sub(r"(?ms)^    neighbours:.*", f"    neighbours: {frame}\n", PLAIN))
    assert 'age needs the key "type"; allowed: number, integer, categorical, boolean, date, datetime, text' in message
    none = error(file, re.sub(r"(?ms)^    neighbours:.*", "", PLAIN))
    assert 'needs the key "neighbours"; it must say which data sets are neighbours, such as {domain: records' in none


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("-1", "-1"),
        (".inf", "inf"),
        ("true", "True"),
        ("'1'", "'1'"),
        ("1" + "0" * 400, "1000"),
    ],
    ids=lambda text: text[:8],
)
def test_an_epsilon_that_is_none_is_told_with_file_line_and_value(file: Path, text: str, shown: str) -> None:
    message = error(file, changed("epsilon: 1.0", f"epsilon: {text}"))
    assert message.startswith(f"{file}, line 15: epsilon is {shown}")
    assert "it must be a finite number of at least 0" in message


@pytest.mark.parametrize("text", ["1e4", "1.0e4", "1E+4", "1e+4", "0.1e5", "10_000", "10000.0"])
def test_an_integer_may_be_written_with_an_exponent(file: Path, text: str) -> None:
    [plan] = load(file, changed("samples: 1000", f"samples: {text}").replace("high: 20", "high: 2e1")).plans
    assert (plan.settings.samples, type(plan.settings.samples)) == (10_000, int)
    asked = all_commands().parse_args(["run", "a.yaml", "--samples", text])
    assert (asked.samples, type(asked.samples)) == (10_000, int)


@pytest.mark.parametrize("text", ["1e-2", "1.5", "inf", "nan", "many", "1e400", ""])
def test_an_option_that_is_no_integer_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        all_commands().parse_args(["run", "a.yaml", f"--samples={text}"])
    assert f"invalid int value: {text!r}" in capsys.readouterr().err


def test_only_integers_are_read_as_integers() -> None:
    assert wants_integers(int | None)
    assert wants_integers(int | list[int])
    assert not wants_integers(float | int)
    assert not wants_integers(list[float])
    assert not wants_integers(Any)


WRONG: list[tuple[str, str, int, str]] = [
    # the original text, its replacement, the line (0 if the audit's line is named), and a part of the message
    ("version: 1", "version: 2", 1, "version is 2; it must be 1"),
    ("confidence: 0.9", "confidence: 1", 3, "confidence is 1.0; it must lie strictly between 0 and 1"),
    ("confidence: 0.9", "confidence: 1e-300", 3, "confidence is 1e-300; it must be at least 0.5, such as 0.999"),
    ("samples: 1000", "samples: 1e2.5", 4, "samples is '1e2.5'; it must be a valid integer"),
    ("samples: 1000", "samples: 1.5e-1", 4, "samples is 0.15; it must be a valid integer"),
    ("samples: 1000", "samples: 1e400", 4, "samples is inf; it must be a valid integer"),
    (
        "samples: 1000",
        "samples: 1e16",
        0,
        "samples is 10,000,000,000,000,000; at most 1,000,000,000,000,000 outputs can be",
    ),
    ("samples: 1000", "planted: 1000000000", 0, "planted is 1,000,000,000; it must be at most 10,000, such as 40"),
    ("method: fixed", "method: fixd", 5, "method is 'fixd'; did you mean \"fixed\""),
    ("workers: 1", "workers: 0", 0, "workers is 0; it must be at least 1, or −1"),
    ("workers: 1", "backend: lokey", 7, "'lokey'; did you mean \"loky\""),
    ("  500\n", "  -1\n", 0, "search is -1; it must be an integer of at least 0"),
    ("name: first", "name: 5", 11, "audits.0.name is 5; it must be text: write it in quotes"),
    ("mechanism: somewhere:f", "mechanism:", 12, "mechanism is None"),
    ("domain: totals", "domain: total", 18, "'total'; did you mean \"totals\""),
    (
        "domain: totals",
        "domain: value",
        19,
        'unknown key "contributions" in neighbours (value); allowed: domain, range, values',
    ),
    ("    claim:\n      epsilon: 1.0", "    claim: hello", 15, "claim is 'hello'"),
    (
        "    claim:\n      epsilon: 1.0",
        "    claim: 1.0",
        15,
        "audits.0.claim is 1.0; it must state the promise, such as {epsilon: 1.0}",
    ),
    (
        "mechanism: somewhere:f",
        "mechanism: {command: node x.js}",
        12,
        "is 'node x.js'; it must be a list of the program and its",
    ),
    ("      epsilon: 1.0", "      delta: 1.0", 15, "claim has the keys ['delta']"),
    ("      scale: 2", "      1: 2", 14, "it must be text"),
]


@pytest.mark.parametrize(("old", "new", "line", "why"), WRONG, ids=[f"{new.strip()}" for _, new, *_ in WRONG])
def test_a_value_that_cannot_be_meant_is_told_with_its_place_and_what_is_allowed(
    file: Path, old: str, new: str, line: int, why: str
) -> None:
    message = error(file, changed(old, new))
    assert why in f"{message}\n"
    assert str(file) in message
    assert f", line {line or 11}: " in message


@pytest.mark.parametrize(
    ("neighbours", "why"),
    [
        (
            "{}",
            "it must be a mapping with a domain (value, number, records, vectors, epoch, totals, frame, canaries), pairs: [{",
        ),
        ("{domain: value, values: {low: 0, high: 10}}", "it must be a list, such as [0, 10]"),
        ("{pairs: [[1, 2]]}", "it must be a mapping with the keys left, right"),
        ("{pairs: [{left: 1, right: 2}, {left: 1, rigth: 2}]}", 'unknown key "rigth" in pairs; did you mean "right"'),
        ("{domain: records, record: {lowest: 0, high: 1}, size: {low: 0, high: 1}}", 'unknown key "lowest"'),
        (
            "{domain: totals, cells: 2, values: [1, 2, 3], contribution: {l1: 1}}",
            "it must be a mapping with the keys low, high",
        ),
        ("{domain: totals, cells: 2, values: {low: 0, high: 3}, contribution: {l3: 1}}", "allowed: l0, l1, l2, linf"),
        ("{domain: totals, keys: [a, b]}", "totals by key take keys, values and contribution"),
        ("{domain: records, size: {low: 0, high: 1}}", "or record: {choices}, or columns: [{low"),
        ("{domain: records, record: {low: 0}, size: {low: 0, high: 1}}", 'record needs the key "high"'),
        ("{domain: records, record: [0, 100], size: {low: 0, high: 1}}", "write {low: 0, high: 100}"),
        ("{domain: records, record: {low: 0, high: 1}, size: [0, 20]}", "write {low: 0, high: 20}"),
        (
            "{domain: records, record: {low: 0, choices: [a]}, size: {low: 0, high: 1}}",
            'unknown key "low" in record (one of choices); allowed: choices',
        ),
        ("{pairs: [{left: [1, 2], right: [3, 4]}], relation: substitute}", "[1, 2] and [3, 4] is not neighbouring"),
        ("{pairs: [{left: 1, right: 2}], relation: substituted}", 'did you mean "substitute"'),
        (
            "hello",
            "'hello'; it must be a mapping with a domain (value, number, records, vectors, epoch, totals, frame, canaries), pairs",
        ),
    ],
)
def test_neighbours_that_cannot_be_meant_are_told_with_their_place(file: Path, neighbours: str, why: str) -> None:
    message = error(file, with_neighbours(neighbours))
    assert f"{file}, line 17: " in message
    assert why in message


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("version: [1\naudits: 3", "line 2: this is not YAML"),
        ("version: 1\n\taudits: 1", "line 2: this is not YAML: the line begins with a tab; indent with spaces"),
        ("audits:\n  - name: a\n   mechanism: b\n", "; check the indent: keys of one mapping begin in one column"),
        ("version: \x01", "this is not YAML"),
        (
            PLAIN.replace("seed: 5", "seed: !!python/object:os.system 1"),
            "line 2: the tag 'tag:yaml.org,2002:python/object:os.system'; leave",
        ),
        (PLAIN + "---\n" + PLAIN, "line 23: this is not YAML: but found another document"),
        ("a: &x [*x]", "an alias contains itself"),
        ("[" * 5000, "nested too deeply"),
        ("{a: " * 5000, "nested too deeply"),
        ("- " * 3000, "nested too deeply"),
        ("", "a configuration is a mapping"),
        ("# nothing but a comment\n", "a configuration is a mapping"),
        (PLAIN + "1.5: x\n", "line 23: a key must be a word"),
        (PLAIN + "? [a]\n: x\n", "line 23: a key must be a word"),
        (PLAIN + PLAIN[PLAIN.index("  - name") :], 'line 23: two audits are called "first"; names must differ'),
        (PLAIN + "seed: 6\n", 'line 23: the key "seed" appears twice'),
        (changed("  low: 0", "  low: 0\n        low: 1"), 'line 22: the key "low" appears twice'),
        ("version: 1\naudits: []\n", "line 2: audits is []; it needs 1 or more"),
        ("version: 1\naudits:\n", "line 2: audits is None"),
        (
            "version: 1\naudits: [hello]\n",
            "line 2: audits.0 is 'hello'; it must be a mapping with some of the keys name",
        ),
    ],
    ids=lambda text: text[-12:],
)
def test_what_is_no_configuration_at_all_is_told(file: Path, text: str, why: str) -> None:
    message = error(file, text)
    assert str(file) in message
    assert why in message


def test_a_limit_on_nesting_by_the_parser_is_told_as_our_own(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # PyYAML 6.0.4 raises this where earlier versions raise RecursionError.
    mark = yaml.Mark("<unicode string>", 0, 2, 7, "", 0)
    limit = yaml.scanner.ScannerError("while increasing flow level", mark, "exceeded maximum nesting depth", mark)
    monkeypatch.setattr(yaml, "compose", MagicMock(side_effect=limit))
    assert "line 3: this is not YAML: it is nested too deeply to be read" in error(file, PLAIN)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"there is no file .*nowhere\.yaml"):
        load_configuration(tmp_path / "nowhere.yaml")
    with pytest.raises(InvalidInputError, match="cannot be read"):
        load_configuration(tmp_path)
    latin = tmp_path / "latin.yaml"
    latin.write_bytes(b"name: \xe9\n")
    with pytest.raises(InvalidInputError, match="cannot be read"):
        load_configuration(latin)


def test_aliases_of_aliases_are_counted_in_full(file: Path) -> None:
    doubled = "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
    text = f"version: 1\na0: &a0 [1, 1]\n{doubled}{PLAIN.removeprefix('version: 1')}"
    assert "over 200,000 values, aliases counted in full" in error(file, text)
