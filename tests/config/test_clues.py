"""What `auditor init` reads in the code of a function: columns, groups, ids, values, statements of SQL, the ends of numbers."""

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from auditor.cli import main
from auditor.config.source_clues import _read_sql
from auditor.config.yaml_text import read_yaml

SHOP = """
import sqlite3
import numpy as np
import pandas as pd


def named_in_sql(rows, rng, epsilon=1.0):
    con = sqlite3.connect(":memory:")
    con.execute("CREATE TABLE visits (user INTEGER, city TEXT, amount REAL)")
    con.executemany("INSERT INTO visits VALUES (:user, :city, :amount)", rows)
    found = con.execute("SELECT city, COUNT(*) FROM visits GROUP BY city").fetchall()
    return {city: n + rng.laplace(0, 1 / epsilon) for city, n in found}


def placed_in_sql(rows, rng, epsilon=1.0):
    con = sqlite3.connect(":memory:")
    con.execute("CREATE TABLE visits (city TEXT, amount REAL)")
    con.executemany("INSERT INTO visits VALUES (?, ?)", rows)
    [(total,)] = con.execute("SELECT COALESCE(SUM(amount), 0) FROM visits WHERE city = 'rome'").fetchall()
    return total + rng.laplace(0, 10 / epsilon)


def grouped_by_user(df: pd.DataFrame, rng, epsilon=1.0):
    kept = df.groupby("user").head(2)
    return float((kept["day"] < 7).sum() + rng.laplace(0, 2 / epsilon))


def date_of_numbers(df: pd.DataFrame, rng, epsilon=1.0):
    return float((df["date"] + 1).sum() + df["wage"].sum() + rng.laplace(0, 30 / epsilon))


def dates(df: pd.DataFrame, rng, epsilon=1.0):
    return float((df["visited_at"].dt.hour > 12).sum() + rng.laplace(0, 1 / epsilon))


def compared(patients, rng, epsilon=1.0):
    return sum(p["diagnosis"] == "flu" and p.get("age", 0) > 3 for p in patients) + rng.laplace(0, 1 / epsilon)


def taken_apart(rows, rng, epsilon=1.0):
    return sum(amount for city, amount in rows if city != "x") + rng.laplace(0, 10 / epsilon)


def clamped(df: pd.DataFrame, rng, epsilon=1.0):
    return float(df["wage"].clip(0, 100).sum() + rng.laplace(0, 100 / epsilon))


def clamped_after_the_sum(df: pd.DataFrame, rng, epsilon=1.0):
    return min(max(float(df["wage"].sum()), 0.0), 100.0) + rng.laplace(0, 10 / epsilon)


def clamped_by_parameters(values, size, rng, epsilon=1.0, lower=0.0, upper=50.0):
    return np.clip(values, lower, upper).sum() + rng.laplace(0, upper / epsilon, size=size)


def promised(values, size, rng, epsilon=1.0, lower=0.0, upper=50.0):
    return values.sum() + rng.laplace(0, upper / epsilon, size=size)


def fails(df: pd.DataFrame, rng, epsilon=1.0):
    raise ValueError(sorted(df["wage"]))
"""
EXPECTED: dict[str, dict[str, Any]] = {
    "named_in_sql": {
        "as": "rows",
        "id": "user",
        "columns": {
            "city": {"type": "categorical", "choices": ["a", "b", "c"], "null": True},
            "amount": {"type": "number", "low": 0, "high": 10},
        },
    },
    "placed_in_sql": {"container": "list", "columns": [{"choices": ["rome", "a", "b", "c"]}, {"low": 0, "high": 10}]},
    "grouped_by_user": {"as": "pandas", "id": "user", "columns": {"day": {"type": "integer", "low": 0, "high": 10}}},
    "date_of_numbers": {
        "as": "pandas",
        "columns": {
            "date": {"type": "integer", "low": 0, "high": 10},
            "wage": {"type": "number", "low": 0, "high": 10},
        },
    },
    "dates": {"as": "pandas", "columns": {"visited_at": {"type": "datetime"}}},
    "compared": {
        "as": "rows",
        "columns": {
            "diagnosis": {"type": "categorical", "choices": ["flu", "a", "b"], "null": True},
            "age": {"type": "integer", "low": 0, "high": 10},
        },
    },
    "taken_apart": {"domain": "records"},
    "clamped": {"columns": {"wage": {"type": "number", "low": -50, "high": 150}}},
    "clamped_after_the_sum": {"columns": {"wage": {"type": "number", "low": -50, "high": 150}}},
    "clamped_by_parameters": {"record": {"low": -25, "high": 75}},
    "promised": {"record": {"low": 0, "high": 50}},
    "fails": {"as": "pandas", "columns": {"wage": {"type": "number", "low": 0, "high": 10}}},
}


@pytest.fixture(scope="module")
def audits(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The audits that one call of `auditor init` writes for all functions of the shop."""
    pytest.importorskip("pandas")
    folder = tmp_path_factory.mktemp("shop")
    (folder / "shop.py").write_text(SHOP, encoding="utf-8")
    names = [f"{folder / 'shop.py'}:{name}" for name in EXPECTED]
    assert main(["init", *names, "-o", str(folder / "audit.yaml")]) == 2  # one of them fails on all data sets
    text = (folder / "audit.yaml").read_text(encoding="utf-8")
    audits = read_yaml(text, "audit.yaml").data["audits"]
    parts = re.split(r"^  - name: ", text, flags=re.MULTILINE)[1:]
    yield {audit["name"]: {**audit, "text": part} for audit, part in zip(audits, parts, strict=True)}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_data_sets_are_those_that_the_code_takes(audits: dict[str, Any], name: str) -> None:
    written = audits[name]["neighbours"]
    assert {key: written.get(key) for key in EXPECTED[name]} == EXPECTED[name]


def test_what_was_drawn_is_in_the_file(audits: dict[str, Any]) -> None:
    assert re.search(
        r"^    # \[\] gives \{\}, 3 rows of user, city, amount gives \{'a': ", audits["named_in_sql"]["text"], re.M
    )
    assert (
        "# with other data sets: on a first data set the mechanism raises TypeError"
        in audits["date_of_numbers"]["text"]
    )
    assert (
        "# it does not pass `auditor check` yet: on a first data set the mechanism raises ValueError"
        in audits["fails"]["text"]
    )


def test_samples_are_those_of_each_function(audits: dict[str, Any]) -> None:
    assert audits["promised"]["samples"] == 1_000_000
    assert "samples" not in audits["clamped"]


@pytest.mark.parametrize(
    ("text", "columns", "groups"),
    [
        ("SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY n", {"city"}, ["city"]),
        ("select avg(pay) from visits v where v.kind = 'x' group by v.city, day", {"pay", "kind", "city", "day"}, ["city", "day"]),
        ("SELECT DISTINCT user FROM t WHERE day BETWEEN 1 AND 2", {"user", "day"}, []),
        ("INSERT INTO t (user, amount) VALUES (?, ?)", {"user", "amount"}, []),
        ("INSERT INTO t VALUES (:user, @amount)", {"user", "amount"}, []),
        ("SELECT AVG(CASE WHEN pay > 9 THEN 9 ELSE pay END) FROM t", {"pay"}, []),
    ],
)  # fmt: skip
def test_columns_of_a_query_are_neither_words_nor_functions_nor_tables(
    text: str, columns: set[str], groups: list[str]
) -> None:
    declared, read, grouped = _read_sql(text)
    assert (declared, set(read), grouped) == ({}, columns, groups)


def test_an_object_of_a_library_says_claim_and_data_sets_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By an adapter from outside, as a package may bring one."""
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
    monkeypatch.setattr("auditor.adapters.found", lambda group: {"thing": thing})
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
