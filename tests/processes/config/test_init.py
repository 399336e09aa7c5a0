"""What `auditor init` infers from trial calls: columns, their types, the unit of privacy, containers; and how it
reports failures."""

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from auditor.cli import main
from auditor.config import scaffold
from auditor.config.yaml_text import read_yaml

SHOP = """
import sys
import numpy as np
import pandas as pd


def grouped_by_user(df: pd.DataFrame, rng, epsilon=1.0):
    kept = df.groupby("user").head(2)
    return float((kept["day"] < 7).sum() + rng.laplace(0, 2 / epsilon))

def two_numbers(df, rng, epsilon=1.0):
    when, wage = df["Zip Code"], df["wage"]
    return float((when * wage).sum() + rng.laplace(0, 30 / epsilon))

def dates(df: pd.DataFrame, rng, epsilon=1.0):
    return float((df["visited_at"].dt.hour > 12).sum() + rng.laplace(0, 1 / epsilon))

def attributes(df: pd.DataFrame, rng, epsilon=1.0):
    return {city: wage + rng.laplace(0, 10 / epsilon) for city, wage in df.groupby("city").wage.sum().items()}

def of_rows(rows, rng, epsilon=1.0):
    return sum(row["city"] == "a" for row in rows) + rng.laplace(0, 1 / epsilon)

def compared(patients, rng, epsilon=1.0):
    return sum(p["diagnosis"] == "flu" for p in patients) + rng.laplace(0, 1 / epsilon)

def of_polars(df, rng, epsilon=1.0):
    return {city: n + rng.laplace(0, 1 / epsilon) for city, n in sorted(df.drop_nulls().group_by("city").len().rows())}

def promised(values, size, rng, epsilon=1.0, lower=0.0, upper=50.0):
    return values.sum() + rng.laplace(0, upper / epsilon, size=size)

def of_a_matrix(data, rng, epsilon=1.0):
    return data[:, 0].sum() + rng.laplace(0, 10 / epsilon)

def of_columns_of(X, rng, epsilon=1.0):
    return X.T @ X + rng.laplace(0, 100 / epsilon, size=(X.shape[1], X.shape[1]))

def fails(df: pd.DataFrame, rng, epsilon=1.0):
    raise ValueError(sorted(df["wage"]))

def keeps_failing(df: pd.DataFrame, rng, epsilon=1.0):
    raise ValueError([df[name] for name in ("a", "b", "c", "d")])

def leaves(data, rng):
    sys.exit(0)
"""
NUMBER = {"type": "number", "low": 0, "high": 10}
TEXT = {"type": "categorical", "choices": ["a", "b", "c"], "null": True}
EXPECTED: dict[str, dict[str, Any]] = {
    "grouped_by_user": {"as": "pandas", "id": "user", "columns": {"day": NUMBER}},
    "two_numbers": {"as": "pandas", "columns": {"Zip Code": NUMBER, "wage": NUMBER}},
    "dates": {"as": "pandas", "columns": {"visited_at": {"type": "datetime"}}},
    "attributes": {"as": "pandas", "columns": {"city": TEXT, "wage": NUMBER}},
    "of_rows": {"as": "rows", "columns": {"city": TEXT}},
    "compared": {"as": "rows", "columns": {"diagnosis": TEXT}},
    "of_polars": {"as": "polars", "columns": {"city": TEXT}},
    "promised": {"record": {"low": 0, "high": 50}},
    "of_a_matrix": {"domain": "records", "columns": 2},
    "of_columns_of": {"domain": "records", "columns": 2},
}
FAILING = {
    "fails": "raises ValueError: [",
    "keeps_failing": "; write data sets that it takes under `neighbours` (kinds tried: 12)",
    "leaves": "raises SystemExit: 0",
}


@pytest.fixture(scope="module")
def audits(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The audits that one call of `auditor init` writes for all functions of the shop."""
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    folder = tmp_path_factory.mktemp("shop")
    (folder / "shop.py").write_text(SHOP, encoding="utf-8")
    names = [f"{folder / 'shop.py'}:{name}" for name in (*EXPECTED, *FAILING)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scaffold, "MOST_KINDS", 12)
        assert main(["init", *names, "-o", str(folder / "audit.yaml")]) == 2  # some of them fail on all data sets
    text = (folder / "audit.yaml").read_text(encoding="utf-8")
    audits = read_yaml(text, "audit.yaml").data["audits"]
    parts = re.split(r"^  - name: ", text, flags=re.MULTILINE)[1:]
    yield {audit["name"]: {**audit, "text": part} for audit, part in zip(audits, parts, strict=True)}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_data_sets_are_those_that_the_code_takes(audits: dict[str, Any], name: str) -> None:
    written = audits[name]["neighbours"]
    assert {key: written.get(key) for key in EXPECTED[name]} == EXPECTED[name]
    assert "does not pass" not in audits[name]["text"]


@pytest.mark.parametrize("name", FAILING)
def test_a_mechanism_that_fails_on_all_is_written_with_the_reason(audits: dict[str, Any], name: str) -> None:
    assert "# it does not pass `auditor check` yet: " in audits[name]["text"]
    assert FAILING[name] in audits[name]["text"]


def test_what_was_drawn_is_in_the_file(audits: dict[str, Any]) -> None:
    assert re.search(r"^    # \[\] gives 2\.1\d*, \[\{'city': 'a'\}\] gives 3\.1", audits["of_rows"]["text"], re.M)
    assert (
        "# with other data sets: on a first data set the mechanism raises AttributeError" in audits["of_polars"]["text"]
    )
    assert "# look at this: with the same seed, outputs were identical on both data sets" in audits["compared"]["text"]


def test_samples_are_those_of_each_function(audits: dict[str, Any]) -> None:
    assert audits["promised"]["samples"] == 1_000_000
    assert "samples" not in audits["dates"]


OUTPUTS = {
    **{
        name: f"np.{name}(abs(n))"
        for name in ("int8", "uint64", "float16", "float32", "longdouble", "complex64", "bool_")
    },
    "array without dimensions": "np.asarray(n)",
    "such arrays in a list": "[np.asarray(n)]",
    "ragged lists": "[[1.0], [1.0, n]]",
    "an array for each record": "np.asarray(data) + n",
    "a date": "np.datetime64('2020-01-01') + int(n)",
    "a tuple": "(n, 'a', None)",
    "a dict": "{'a': n, 2: [n, (n,)], None: {}}",
    "a frame": "__import__('pandas').DataFrame({'a': [n, 1.0]})",
    "a text": "str(n)",
    "nothing": "None",
    "a number that Python does not write": "[10**5000, n, {10**5000: 1}]",
    "after a change of the data": "data.fill(0) or n",
    "after much printing": "print('x' * 100_000) or n",
}


def test_check_takes_what_is_written_for_any_kind_of_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "import numpy as np\nHELD = []\nHELD.append(HELD)\n"  # defaults that YAML cannot express
    defaults = "epsilon=1.0, lower=10**5000, held=HELD, half='\\ud800'"
    for i, output in enumerate(OUTPUTS.values()):
        text += f"def f{i}(data, rng, {defaults}):\n    n = len(data) + rng.laplace()\n    return {output}\n"
    (tmp_path / "outputs.py").write_text(text, encoding="utf-8")
    file = tmp_path / "audit.yaml"
    assert main(["init", *(f"{tmp_path / 'outputs.py'}:f{i}" for i in range(len(OUTPUTS))), "-o", str(file)]) == 0
    assert main(["check", str(file)]) == 0
    assert {each.name for each in tmp_path.iterdir()} <= {"outputs.py", "audit.yaml", "__pycache__"}
    printed = capsys.readouterr().out
    names = [name for i, name in enumerate(OUTPUTS) if f"  f{i}: look at this" in printed]
    assert set(names) == {"after much printing", "bool_", "nothing"}


def test_an_object_of_a_library_says_claim_and_data_sets_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An adapter from outside, as a package may have one, states the claim and the data sets."""
    (tmp_path / "thing.py").write_text(
        "import auditor\n"
        "from auditor.extending import Adapted\n"
        "class Count:\n"
        "    def __call__(self, data, rng):\n"
        "        return len(data) + rng.laplace()\n"
        "def adapt(thing, parameters):\n"
        "    if not isinstance(thing, Count):\n"
        "        return None\n"
        "    data = auditor.Records((0, 1), size=(0, 3))\n"
        "    return Adapted(thing, auditor.PureDP(1.0), data, ('size was chosen: 3',))\n"
        "count = Count()\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    thing = importlib.import_module("thing")
    monkeypatch.setattr("auditor.adapters.entry_points_of", lambda group: {"thing": thing})
    assert main(["init", "thing:count"]) == 0
    text = Path("audit.yaml").read_text(encoding="utf-8")
    [audit] = read_yaml(text, "audit.yaml").data["audits"]
    assert set(audit) == {"name", "mechanism"}
    assert audit["mechanism"] == {"object": "thing:count"}
    assert "# its promise: ε = 1" in text
    assert "# size was chosen: 3" in text
    assert "guessed" not in capsys.readouterr().out


def test_functions_and_a_command_do_not_go_together(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "shop.py:clamped", "node", "-o", "nowhere.yaml"]) == 2
    assert '"node" is no function; after a function, name others only' in capsys.readouterr().err


def test_arguments_of_a_command_stay_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["init", "node", "hist.js", "--skip-empty", "5", "-o", "first.yaml"])
    assert "auditor init -- node hist.js --skip-empty 5" in capsys.readouterr().err
