"""Writing a configuration: the JSON Schema agrees with the loader, `auditor init` writes what `auditor check` takes."""

import copy
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from folders import PROJECT

from auditor.cli import main
from auditor.config import scaffold
from auditor.config.load import load_configuration
from auditor.config.schema import json_schema
from auditor.config.yaml_text import read_yaml
from auditor.errors import AuditorError

CONFIGS = sorted([*(PROJECT / "configs").glob("*.yaml"), *(PROJECT / "examples").glob("*/*.yaml")])
SCHEMA = json_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


# --- The schema ---


def test_the_schema_is_valid_in_its_dialect() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_command_prints_the_schema_that_is_committed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert capsys.readouterr().out == (PROJECT / "configs" / "schema.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("file", CONFIGS, ids=[f"{file.parent.name}/{file.name}" for file in CONFIGS])
def test_every_configuration_of_the_project_is_valid(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert [error.message for error in VALIDATOR.iter_errors(read_yaml(text, file.name).data)] == []
    if file.parent.name == "configs":
        assert text.startswith("# yaml-language-server: $schema=schema.json\n")


def test_every_key_is_described() -> None:
    def properties(schema: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(schema, dict):
            yield from schema.get("properties", {}).items()
            for value in schema.values():
                yield from properties(value)
        elif isinstance(schema, list):
            for item in schema:
                yield from properties(item)

    claims = SCHEMA["$defs"]["Claim"]
    whole = {**SCHEMA, "$defs": {name: part for name, part in SCHEMA["$defs"].items() if name != "Claim"}}
    assert {key for key, value in properties(whole) if not value.get("description")} == set()
    assert all(form["description"] for form in claims["anyOf"])


GOOD: dict[str, Any] = {
    "version": 1,
    "samples": 1000,
    "audits": [
        {
            "name": "one",
            "mechanism": "m:f",
            "claim": {"epsilon": 1.0, "delta": 1e-5},
            "neighbours": {"domain": "records", "record": {"low": 0, "high": 1}, "size": {"low": 1, "high": 2}},
        }
    ],
}
ENDS = {"low": 0, "high": 9}
KEYED = {"domain": "totals", "keys": ["a"], "values": ENDS, "contribution": {"l0": 1, "linf": 1}}


def changed(*path: Any, value: Any) -> dict[str, Any]:
    made = copy.deepcopy(GOOD)
    place = made
    for step in path[:-1]:
        place = place[step]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return made


AUDIT = ("audits", 0)
UNCLAIMED = {key: value for key, value in GOOD["audits"][0].items() if key != "claim"}
FINE = {
    "as it is": GOOD,
    "without a claim": changed(*AUDIT, value=UNCLAIMED),
    "a profile": changed(*AUDIT, "claim", value={"profile": [[1, 0.1], [2, 1e-5]]}),
    "a program": changed(*AUDIT, "mechanism", value={"command": ["node", "x.js"]}),
    "an object that says less": changed(*AUDIT, "mechanism", value={"object": "own.py:thing"}),
    "a number": changed(*AUDIT, "neighbours", value={"domain": "number", "range": [0, 9], "distance": 2}),
    "keys of totals": changed(*AUDIT, "neighbours", value=KEYED),
    "cells in L2": changed(*AUDIT, "neighbours", value={"domain": "totals", "cells": 3, "values": ENDS, "contribution": {"l2": 2}}),
    "lists": changed(*AUDIT, "neighbours", "container", value="list"),
    "null": changed("search", value=None),
    "no search": changed("search", value=0),
}  # fmt: skip
BROKEN = {
    "no version": changed("version", value=...),
    "another version": changed("version", value=2),
    "no audits": changed("audits", value=[]),
    "an unknown key": changed("sampels", value=1000),
    "an unknown key of an audit": changed(*AUDIT, "expects", value="violation"),
    "an unknown word": changed(*AUDIT, "expect", value="inconclusive"),
    "an unknown method": changed("method", value="fast"),
    "too few outputs": changed("samples", value=10),
    "text for a number": changed("samples", value="many"),
    "a confidence that is none": changed("confidence", value=1),
    "a claim of no kind": changed(*AUDIT, "claim", value={"delta": 0.1}),
    "a claim out of range": changed(*AUDIT, "claim", value={"epsilon": -1}),
    "an order that is none": changed(*AUDIT, "claim", value={"order": 1, "epsilon": 1}),
    "a misspelt claim": changed(*AUDIT, "claim", value={"epsilom": 1}),
    "a probability of no side": changed(*AUDIT, "claim", value={"probability": 0.5}),
    "an end without a claim": changed(*AUDIT, value={**UNCLAIMED, "expect": "violation"}),
    "a function without neighbours": changed(*AUDIT, "neighbours", value=...),
    "a number without a distance": changed(*AUDIT, "neighbours", value={"domain": "number", "range": [0, 9]}),
    "no neighbours": changed(*AUDIT, "neighbours", value={}),
    "keys that do not go together": changed(*AUDIT, "neighbours", "people", value={"low": 0, "high": 1}),
    "an unknown domain": changed(*AUDIT, "neighbours", "domain", value="rows"),
    "an unknown container": changed(*AUDIT, "neighbours", "container", value="frame"),
    "half a range": changed(*AUDIT, "neighbours", "size", value={"low": 1}),
    "a pair of one": changed(*AUDIT, "neighbours", value={"pairs": [{"left": 0}]}),
    "a search that is no number": changed("search", value={"outputs": 5}),
    "an empty program": changed(*AUDIT, "mechanism", value={"command": []}),
}


@pytest.mark.parametrize("data", FINE.values(), ids=FINE)
def test_what_the_loader_takes_the_schema_takes(data: dict[str, Any], tmp_path: Path) -> None:
    load(data, tmp_path)
    assert [error.message for error in VALIDATOR.iter_errors(data)] == []


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_what_the_loader_refuses_the_schema_refuses(data: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(AuditorError):
        load(data, tmp_path)
    assert not VALIDATOR.is_valid(data)


def test_the_schema_lets_an_object_say_claim_and_neighbours() -> None:
    alone = changed(*AUDIT, value={"name": "one", "mechanism": {"object": "own.py:thing"}})
    assert VALIDATOR.is_valid(alone)


def load(data: dict[str, Any], folder: Path) -> None:
    file = folder / "some.yaml"
    file.write_text(json.dumps(data), encoding="utf-8")
    load_configuration(file)


def test_a_number_with_underscores_which_editors_take_for_text_is_valid() -> None:
    assert VALIDATOR.is_valid({**GOOD, "samples": "1_000_000"})


# --- init ---

MECHANISMS = '''
import math
import numpy as np


def count(records, rng, epsilon):
    return len(records) + rng.laplace(scale=1 / epsilon)

def total(data, size, rng, epsilon=0.5, delta=1e-6, sensitivity=10, mode="fast", extra=None, shape=(1, 2), far=math.inf):
    assert (mode, extra, far) == ("fast", None, math.inf)
    return data.sum() + rng.laplace(scale=sensitivity / epsilon, size=size)

def pure(data, size, rng, *, epsilon=1.0, delta=0):
    return len(data) + rng.laplace(scale=1 / epsilon, size=size)

def response(bit, size, rng, eps):
    return bit ^ (rng.random(size) < 1 / (1 + math.exp(eps)))

def noisy(x: float, size: int, rng: np.random.Generator, rho: float) -> np.ndarray:
    return x + rng.normal(scale=1 / math.sqrt(2 * rho), size=size)

def gaussian(number: "float", rng, mu, clip: int):
    return float(number) + rng.normal(scale=1 / mu) if clip == 3 else None

def renyi(records, rng, epsilon, order):
    return float(np.sum(records) + rng.normal())

def own_entropy(records):
    return len(records) + np.random.default_rng().laplace()

def query(records, sensitivity):
    return float(sum(records))

def local(answers, rng):
    return [answer + rng.laplace() for answer in answers]

def of_lists(records: list, rng):
    return records.count(1) + rng.laplace()

def of_totals(totals, rng):
    a, b = totals.tolist()
    return a / max(1, b) + rng.laplace()

class Counter:
    def __call__(self, records, rng):
        return len(records) + rng.laplace()

    def method(self, records, rng):
        return len(records) + rng.laplace()

counter = Counter()
'''  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("mechanisms_to_begin.py").write_text(MECHANISMS, encoding="utf-8")
    yield tmp_path


Look = Callable[[dict[str, Any]], bool]
TYPICAL: list[tuple[str, dict[str, Any], Look]] = [
    ("count", {"epsilon": 1.0}, lambda audit: audit["parameters"] == {"epsilon": 1.0}),
    ("total", {"epsilon": 0.5, "delta": 1e-6}, lambda audit: "far" not in audit["parameters"]),
    ("pure", {"epsilon": 1.0}, lambda audit: audit["parameters"]["delta"] == 0),
    ("response", {"epsilon": 1.0}, lambda audit: audit["neighbours"]["domain"] == "value"),
    ("noisy", {"rho": 0.5}, lambda audit: audit["neighbours"]["domain"] == "value"),
    ("gaussian", {"mu": 1.0}, lambda audit: audit["parameters"]["clip"] == 3),
    ("renyi", {"order": 2.0, "epsilon": 1.0}, lambda audit: audit["neighbours"]["domain"] == "records"),
    ("own_entropy", {"epsilon": 1.0}, lambda audit: "parameters" not in audit),
    ("query", {"sensitivity": 1.0}, lambda audit: audit["neighbours"]["domain"] == "records"),
    ("of_lists", {"epsilon": 1.0}, lambda audit: audit["neighbours"]["container"] == "list"),
    ("of_totals", {"epsilon": 1.0}, lambda audit: audit["neighbours"]["domain"] == "totals"),
    ("counter", {"epsilon": 1.0}, lambda audit: "parameters" not in audit),
]


@pytest.mark.parametrize(("function", "claim", "look"), TYPICAL, ids=[case[0] for case in TYPICAL])
def test_what_init_writes_passes_check_and_the_schema(
    folder: Path, capsys: pytest.CaptureFixture[str], function: str, claim: dict[str, Any], look: Look
) -> None:
    place = "mechanisms_to_begin.py" if function != "count" else "mechanisms_to_begin"
    assert main(["init", f"{place}:{function}", "-o", "first.yaml"]) == 0
    text = Path("first.yaml").read_text(encoding="utf-8")
    data = read_yaml(text, "first.yaml").data
    [audit] = data["audits"]
    assert audit["claim"] == claim
    assert look(audit)
    assert [error.message for error in VALIDATOR.iter_errors(data)] == []
    assert "next: auditor run first.yaml" in capsys.readouterr().out
    assert main(["check", "first.yaml"]) == 0
    assert [file.name for file in folder.iterdir() if file.name.startswith(".first")] == []


def test_a_mechanism_that_answers_each_record_is_given_data_sets_of_one_length(folder: Path) -> None:
    assert main(["init", "mechanisms_to_begin.py:local"]) == 0
    assert "size: {low: 5, high: 5}, relation: substitute" in Path("audit.yaml").read_text(encoding="utf-8")


def test_a_forgotten_factor_is_not_hidden_by_a_guess_of_1(folder: Path) -> None:
    Path("sums.py").write_text(
        "def f(records, size, rng, epsilon, clip):\n"
        "    return records.clip(0, clip).sum() + rng.laplace(scale=1 / epsilon, size=size)\n",
        encoding="utf-8",
    )
    assert main(["init", "sums.py:f"]) == 0
    assert main(["run", "audit.yaml", "--samples", "20000"]) == 1


def test_no_file_is_written_over_unless_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("audit.yaml").write_text("mine", encoding="utf-8")
    assert main(["init", "mechanisms_to_begin.py:count"]) == 2
    assert "audit.yaml exists already" in capsys.readouterr().err
    assert Path("audit.yaml").read_text(encoding="utf-8") == "mine"
    assert main(["init", "mechanisms_to_begin.py:count", "--force"]) == 0
    assert "mine" not in Path("audit.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mechanisms_to_begin.py:cuont"], 'did you mean "count"?'),
        (["mechanisms_to_begin.py"], "say which function of it is the mechanism: mechanisms_to_begin.py:function"),
        (["no_such_file.py:f"], "there is no file no_such_file.py"),
        (
            ["mechanisms_to_begin.py:count", "-o", "nowhere/first.yaml"],
            "the folder nowhere for first.yaml does not exist",
        ),
        (["mechanisms_to_begin.py:count", "-o", "/proc/first.yaml"], "/proc/first.yaml cannot be written"),
        (["mechanisms_to_begin.py:MECHANISM"], "has no MECHANISM"),
    ],
)
def test_what_cannot_be_looked_at_is_an_error_and_writes_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["init", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert list(folder.glob("**/*.yaml")) == []


def test_a_mechanism_that_takes_none_of_the_data_sets_is_written_with_what_is_missing(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scaffold, "MOST_KINDS", 3)
    Path("odd.py").write_text("def f(cube, rng):\n    return len(cube.faces.edges)\n", encoding="utf-8")
    assert main(["init", "odd.py:f"]) == 2
    assert "it does not pass `auditor check` yet: on a first data set the mechanism raises" in capsys.readouterr().out
    assert Path("audit.yaml").is_file()


def test_a_mechanism_that_never_answers_is_told_with_the_limit_and_tried_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in (sys.modules["auditor.auditing.check"], scaffold):
        monkeypatch.setattr(module, "CHECK_SECONDS", 0.4)
    Path("slow.py").write_text(
        # The process that runs it may have been started in another folder.
        f"import time\ndef f(records, rng):\n    open({str(Path('calls').resolve())!r}, 'a').write('x')\n    time.sleep(60)\n",
        encoding="utf-8",
    )
    assert main(["init", "slow.py:f"]) == 2
    text = "on a first data set the mechanism gave no answer in 0.4 s; if it only needs longer, set `execution: {timeout: seconds}`"
    assert text in capsys.readouterr().out
    assert len(Path("calls").read_text(encoding="utf-8")) <= 2  # of one pair
    assert main(["check", "audit.yaml"]) == 3
    assert "; the limit was 0.4 s; `execution: {timeout: seconds}` sets another" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_a_program_gets_a_configuration_too(folder: Path) -> None:
    shutil.copy(PROJECT / "examples" / "node" / "laplace.js", folder)
    assert main(["init", "node", "laplace.js"]) == 0
    assert main(["check", "audit.yaml"]) == 0


# --- Completion ---


def test_bash_completes_commands_options_and_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--print-completion", "bash"])
    script = capsys.readouterr().out

    def completed(*words: str) -> set[str]:
        line = " ".join(f"'{word}'" for word in words)
        call = f'COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _shtab_auditor; echo "${{COMPREPLY[@]}}"'
        done = subprocess.run(["bash", "-c", f"{script}\n{call}"], capture_output=True, text=True, check=True)
        return set(done.stdout.split())

    assert completed("auditor", "co") == {"compare"}
    assert {"--baseline", "--backend"} == completed("auditor", "run", "--ba")
    assert "mechanisms_to_begin.py" in completed("auditor", "run", "mechanisms_to")


def test_what_is_a_guess_is_marked_and_what_was_read_is_not(folder: Path) -> None:
    main(["init", "mechanisms_to_begin.py:count"])
    lines = Path("audit.yaml").read_text(encoding="utf-8").splitlines()
    marked = [line.split(":")[0].strip() for line in lines if line.endswith("a guess: set it")]
    assert marked == ["epsilon", "neighbours"]
    main(["init", "mechanisms_to_begin.py:own_entropy", "-o", "own.yaml"])
    text = Path("own.yaml").read_text(encoding="utf-8")
    assert "no `rng` parameter: runs are not reproducible" in text
    assert "claim: {epsilon: 1.0}  # a guess: set it" in text


def test_a_file_is_written_into_another_folder_with_the_way_to_the_mechanism(folder: Path) -> None:
    Path("audits").mkdir()
    assert main(["init", "mechanisms_to_begin.py:count", "-o", "audits/first.yaml"]) == 0
    assert '"../mechanisms_to_begin.py:count"' in Path("audits/first.yaml").read_text(encoding="utf-8")
    assert main(["check", "audits/first.yaml"]) == 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion_names_every_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--print-completion", shell])
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    assert [c for c in ("run", "check", "compare", "init", "schema") if c not in printed] == []


def test_a_class_is_told_to_be_none_and_what_to_name_instead(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("classes.py").write_text(
        "class Count:\n    def __call__(self, data, rng):\n        return 1\n", encoding="utf-8"
    )
    assert main(["init", "classes.py:Count"]) == 2
    assert "is a class; make an instance in its module, such as mechanism = Count(...)" in capsys.readouterr().err
    assert not Path("audit.yaml").exists()


def test_a_coroutine_is_told_how_to_be_waited_for(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scaffold, "MOST_KINDS", 3)
    Path("later.py").write_text("async def count(data, rng):\n    return 1\n", encoding="utf-8")
    assert main(["init", "later.py:count"]) == 2
    assert (
        "the mechanism is asynchronous: wrap it in a function that returns asyncio.run(...)" in capsys.readouterr().out
    )
