"""The field: claims of packages are configurations, their locks have hashes, and rows say what came out. None is installed."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from auditor.config.load import load_configuration
from benchmarks.field import __main__ as field
from benchmarks.field import pages
from benchmarks.field.claims import (
    CLAIMS,
    CLASSES,
    RELATIONS,
    SEED,
    TOPICS,
    Claim,
    Package,
    configuration_of,
    packages,
    read_package,
)

NAMES = packages()
WITH_CLAIMS = [name for name in NAMES if read_package(name).claims]


def test_there_is_a_folder_for_each_of_many_packages() -> None:
    assert len(NAMES) >= 30
    assert sum(len(read_package(name).claims) for name in NAMES) >= 150
    assert [folder.name for folder in sorted(CLAIMS.iterdir()) if folder.is_dir() and folder.name[0] != "_"] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_package_says_what_it_is_for_and_what_was_in_the_way(name: str) -> None:
    package = read_package(name)
    assert package.topic in TOPICS
    assert package.claims or package.in_the_way
    assert len({claim.name for claim in package.claims}) == len(package.claims)
    for claim in package.claims:
        assert claim.given["documented"], claim.name
        if claim.finding is not None:
            assert claim.finding["class"] in CLASSES, claim.name
            assert claim.finding["source"], claim.name


@pytest.mark.parametrize("name", WITH_CLAIMS)
def test_each_claim_is_an_audit_of_a_function_of_the_wrapper(name: str, tmp_path: Path) -> None:
    package = read_package(name)
    file = tmp_path / "package.yaml"
    file.write_text(yaml.safe_dump(configuration_of(package)), encoding="utf-8")
    plans = load_configuration(file).plans
    assert [plan.name for plan in plans] == [claim.name for claim in package.claims]
    source = (CLAIMS / name / "wrapper.py").read_text(encoding="utf-8")
    compile(source, name, "exec")
    for plan, claim in zip(plans, package.claims, strict=True):
        [signature] = re.findall(rf"^def {claim.given['mechanism']}\((.*?)\):$", source, re.MULTILINE)
        accepted = {part.split("=")[0].strip() for part in signature.split(",")} - {"data", ""}
        given = set(claim.given.get("parameters", {}))
        required = {part.strip() for part in signature.split(",") if "=" not in part} - {"data", ""}
        assert required <= {*given, "**arguments", "**more"}, claim.name
        assert given <= accepted or "**arguments" in accepted or "**more" in accepted, claim.name
        assert plan.domain.corners()


@pytest.mark.parametrize("name", NAMES)
def test_each_environment_is_pinned_with_hashes(name: str) -> None:
    pins = (CLAIMS / name / "requirements.txt").read_text(encoding="utf-8")
    requirements = re.split(r"\n(?=\S)", pins)
    assert all("==" in r.splitlines()[0] and "--hash=sha256:" in r for r in requirements if not r.startswith("#"))
    [first] = re.findall(r"^([\w.-]+)==\S+$", (CLAIMS / name / "requirements.in").read_text(), re.MULTILINE)[:1]
    assert first == name


def test_every_violation_of_the_committed_rows_was_looked_up_and_the_pages_are_of_them() -> None:
    rows = json.loads((pages.REPORTS / "field.json").read_text(encoding="utf-8"))
    assert {row["package"] for row in rows} <= set(NAMES)
    assert {row["class"] for row in rows if row["verdict"] == "violation"} <= {*CLASSES.values()}
    assert (pages.REPORTS / "TABLE.md").read_text(encoding="utf-8") == pages.table_page(rows)
    assert (pages.REPORTS / "README.md").read_text(encoding="utf-8") == pages.page(rows)


# --- Claims, written twice where the package does not say for which neighbours ---

ENTRY: dict[str, Any] = {
    "function": "mean",
    "mechanism": "mean",
    "claim": {"epsilon": 1.0},
    "documented": "README.md",
    "relation": "not stated",
    "neighbours": {"domain": "records", "record": {"low": 0, "high": 1}, "size": {"low": 1, "high": 3}},
    "violation": {"add_remove": {"class": "relation", "source": "mean.py, line 3"}},
}


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a root in which one package, ``small``, has a claim, and no report."""
    claims, reports = tmp_path / "configs", tmp_path / "reports"
    folder = claims / "small"
    folder.mkdir(parents=True)
    (folder / "claims.yaml").write_text(yaml.safe_dump({"topic": TOPICS[0], "claims": [ENTRY]}), encoding="utf-8")
    (folder / "requirements.txt").write_text("small==1.2 \\\n    --hash=sha256:0\n", encoding="utf-8")
    (folder / "wrapper.py").write_text("def mean(data):\n    return 0\n", encoding="utf-8")
    for module in (field, pages):
        monkeypatch.setattr(module, "REPORTS", reports / "field")
    for module in (field, pages, __import__("benchmarks.field.claims", fromlist=["CLAIMS"])):
        monkeypatch.setattr(module, "PROJECT", tmp_path, raising=False)
        monkeypatch.setattr(module, "CLAIMS", claims, raising=False)
    monkeypatch.setattr(pages, "PAGE", reports / "field" / "README.md")
    monkeypatch.setattr(field, "SHARED", [])
    return tmp_path


def test_a_claim_without_a_relation_is_audited_under_both(folders: Path) -> None:
    package = read_package("small")
    assert package == Package("small", "1.2", TOPICS[0], "", package.claims)
    assert [claim.given["neighbours"]["relation"] for claim in package.claims] == [*RELATIONS]
    assert [claim.finding is None for claim in package.claims] == [False, True]
    expected = [audit.get("expect") for audit in configuration_of(package)["audits"]]
    assert expected == ["violation", None]


def test_a_package_that_does_not_install_has_a_row_that_says_why(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(field, "install", lambda package: "does not install: error: no wheel")
    assert field.main([]) == 0
    [row, other] = json.loads((folders / "reports" / "field" / "field.json").read_text(encoding="utf-8"))
    assert row["verdict"] == other["verdict"] == "not run"
    assert row["why"] == "does not install: error: no wheel"
    assert "does not install: error: no wheel" in (folders / "reports" / "field" / "TABLE.md").read_text()


def test_what_is_made_of_this_lock_and_these_claims_is_not_made_again(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(field, "install", lambda package: asked.append(package.name) or "does not install: no wheel")
    for names, times in (([], 1), ([], 1), (["small"], 2)):
        assert field.main(names) == 0
        assert len(asked) == times
    lock = folders / "configs" / "small" / "requirements.txt"
    lock.write_text(lock.read_text() + "\n", encoding="utf-8")
    assert field.main([]) == 0
    assert len(asked) == 3


def test_a_run_that_did_not_end_in_time_goes_on_with_the_next(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = []

    def never_ends(command: list[str], **_: Any) -> None:
        commands.append(command)
        raise field.subprocess.TimeoutExpired(command, 1)

    monkeypatch.setattr(field, "install", lambda package: "")
    monkeypatch.setattr(field, "BUILD", folders / "build")
    monkeypatch.setattr(field.subprocess, "run", never_ends)
    kept = folders / "reports" / "field" / "small" / "runs.sqlite"
    kept.parent.mkdir(parents=True)
    kept.write_text("", encoding="utf-8")
    assert field.main([]) == field.main([]) == 0
    assert ["--resume" in command for command in commands] == [False, True]
    assert kept.exists()


@dataclass(frozen=True)
class Audited:
    """What a report says of an audit, as far as more seeds are concerned."""

    name: str
    verdict: str


@pytest.fixture
def repeated(folders: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, list[str]]]:
    """Return the seeds and claims that are audited; ``mean, substitute`` has no violation until the last seed."""
    rows = [row(function="mean, add/remove"), row(function="mean, substitute", verdict=SOUND, **{"class": "–"})]
    monkeypatch.setattr(field, "rows_of", lambda package: rows)
    monkeypatch.setattr(field, "install", lambda package: "")
    monkeypatch.setattr(field, "BUILD", folders / "build")
    asked: list[tuple[int, list[str]]] = []

    def run(package: Package, seed: int, out: Path) -> dict[str, Any]:
        asked.append((seed, [claim.name for claim in package.claims]))
        return {"failure": ""}

    def read(file: Path) -> Any:
        seed, names = asked[-1]
        verdict = "violation" if seed == field.MORE_SEEDS[-1] else "no_violation_found"
        return SimpleNamespace(audits=[Audited(name, verdict) for name in names])

    monkeypatch.setattr(field, "run", run)
    monkeypatch.setattr(field, "read_report", read)
    kept = folders / "reports" / "field" / "small"
    kept.mkdir(parents=True)
    (kept / "made.json").write_text(json.dumps({"build": "1", "lock": "2", "claims": "3"}), encoding="utf-8")
    return asked


def test_rows_without_a_violation_are_audited_at_more_seeds_and_no_others(
    folders: Path, repeated: list[tuple[int, list[str]]]
) -> None:
    field.main(["--seeds", "small"])
    assert repeated == [(seed, ["mean, substitute"]) for seed in field.MORE_SEEDS]
    assert len({*field.MORE_SEEDS, SEED}) == 3
    seeds = json.loads((folders / "reports" / "field" / "small" / "seeds.json").read_text(encoding="utf-8"))
    first, second = map(str, field.MORE_SEEDS)
    assert seeds["verdicts"] == {"mean, substitute": {first: "no_violation_found", second: "violation"}}


def test_what_did_not_end_at_a_seed_is_not_counted_as_repeated(
    folders: Path, repeated: list[tuple[int, list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(field, "run", lambda package, seed, out: {"failure": field.CUT})
    field.main(["--seeds", "small"])
    assert not (folders / "reports" / "field" / "small" / "seeds.json").exists()


@pytest.mark.parametrize(("lock", "counted"), [("2", True), ("4", False)])
def test_verdicts_at_more_seeds_are_those_of_the_same_lock_and_claims(
    folders: Path, repeated: list[tuple[int, list[str]]], lock: str, counted: bool
) -> None:
    field.main(["--seeds", "small"])
    made = {"build": "5", "lock": lock, "claims": "3"}
    (folders / "reports" / "field" / "small" / "made.json").write_text(json.dumps(made), encoding="utf-8")
    assert ["more_seeds" in r for r in pages.rows_of(read_package("small"))] == [False, counted]


def test_a_row_that_is_refuted_at_another_seed_is_an_error_and_stands_on_the_page(
    folders: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = {"verdict": SOUND, "class": "–"}
    rows = [row(**kept), row(**kept, more_seeds={"1": "no_violation_found", "2": "no_violation_found"})]
    monkeypatch.setattr(pages, "rows_of", lambda package: rows)
    assert pages.write_pages() == 0
    rows.append(row(**kept, more_seeds={"1": "no_violation_found", "2": "violation"}))
    assert pages.write_pages() == 1
    assert "at seed 2" in capsys.readouterr().out
    text = " ".join((folders / "reports" / "field" / "README.md").read_text(encoding="utf-8").split())
    assert "Of the 3 claims for which no violation was found, 2 were audited at two more seeds" in text
    assert "with the same outcome for 1." in text


def test_a_run_that_is_cut_after_its_last_audit_has_its_rows(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ends_late(command: list[str], **_: Any) -> None:
        junit = field.BUILD / "small.xml"
        junit.write_text('<testsuite><testcase name="mean, add/remove" time="2.5"/></testsuite>', encoding="utf-8")
        raise field.subprocess.TimeoutExpired(command, 1)

    monkeypatch.setattr(field, "install", lambda package: "")
    monkeypatch.setattr(field, "BUILD", folders / "build")
    monkeypatch.setattr(field.subprocess, "run", ends_late)
    report = folders / "reports" / "field" / "small" / "report.json"
    report.parent.mkdir(parents=True)
    report.write_text("{}", encoding="utf-8")
    field.make("small")
    assert field.made("small")["seconds"] == {"mean, add/remove": 2.5}
    assert report.exists()
    assert not field.is_cut("small")


def test_a_name_that_is_no_package_is_refused(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert field.main(["smal"]) == 2
    assert "smal; there are small" in capsys.readouterr().out


SOUND = "no violation found, weak"


def row(**changed: Any) -> dict[str, Any]:
    named = {"package": "small", "version": "1", "topic": TOPICS[0], "function": "f", "claim": "ε = 1", "relation": "x"}
    found = {"verdict": "violation", "bound": "epsilon ≥ 2", "pair": "", "event": "", "class": "broken by the line"}
    return {**named, **found, "documented": "", "why": "", "seconds": 1.0, "in_the_way": "", **changed}


def test_what_is_known_and_was_not_found_is_counted_apart() -> None:
    rows = [row(), row(verdict="no violation found"), row(verdict="no violation found", **{"class": "–"})]
    found, missed = pages.counted(rows)
    assert (found["broken by the line"], missed["broken by the line"]) == (1, 1)
    assert "| broken by the line | 1 | 1 |" in pages.page(rows)


@pytest.mark.parametrize("without", ["not run", "inconclusive"])
def test_an_audit_without_an_answer_counts_as_a_claim_without_a_verdict(without: str) -> None:
    words = pages.page([row(), row(verdict="no violation found"), row(verdict=without)]).replace("\n", " ")
    assert "3 claims, of which 2 have a verdict" in words


def test_a_violation_that_nobody_looked_up_is_an_error(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "rows_of", lambda package: [row(**{"class": pages.NOT_LOOKED_UP})])
    assert pages.write_pages() == 1
    assert "| not looked up | 1 | 0 |" in (folders / "reports" / "field" / "README.md").read_text(encoding="utf-8")


def test_marks_of_markdown_in_a_cell_are_text() -> None:
    table = pages.table_page([row(pair="a|b", event="x_1 * 2")])
    assert "| a\\|b | x\\_1 \\* 2 |" in table


def test_a_known_violation_is_named_by_its_claim() -> None:
    claim = Claim("f", {**ENTRY}, "substitute", {"class": "ours", "source": "wrapper.py"})
    package = Package("small", "1", TOPICS[0], "", [claim])
    assert configuration_of(package)["audits"][0]["expect"] == "violation"
