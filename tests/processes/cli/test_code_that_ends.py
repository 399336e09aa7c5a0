"""User code at every place where it is called: whatever it raises, no command exits with success because of it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from honest_files import PROVE

import auditor
from auditor.cli import main
from auditor.config import scaffold
from auditor.foreign_code import Stopped
from auditor.report import formats
from auditor.results.files import write_whole

CODE = """
import builtins
import os

import auditor
from auditor.interfaces import Domain


def noisy(dataset, size, rng):
    return rng.laplace(0, 1, size)


def made(dataset, rng):
    return rng.laplace(0, 1, len(dataset))


class Error(Exception):
    def __str__(self):
        raise SystemExit(0)


def ends(*given, **keywords):
    kind = os.environ.get("RAISED", "SystemExit")
    raise (Error if kind == "Error" else getattr(builtins, kind))(0)


def yields():
    yield 0, 1
    ends()


class Ending:
    def __init__(self, value):
        self.value = value

    __deepcopy__ = __repr__ = __len__ = __iter__ = __array__ = __reduce_ex__ = __eq__ = __float__ = ends
    __hash__ = None


def returns_data():
    return [(Ending(0), Ending(1))]


def spells(dataset, rng):
    return Ending(0)


class Signed:
    __signature__ = property(ends)

    def __call__(self, dataset, rng):
        return 0


signed = Signed()


class Session:
    remaining = property(ends)

    def ask(self, question):
        ends()


def session(dataset, rng):
    return Session()


def no_session(dataset, rng):
    ends()


class Custom(Domain):
    relation = "substitute"

    def __init__(self, ending):
        self.inside, self.ending = auditor.Value(range=[0, 5]), ending

    def _call(self, name, *given):
        return ends() if name == self.ending else getattr(self.inside, name)(*given)

    def __str__(self):
        return "custom"

    def corners(self):
        return self._call("corners")

    def random(self, rng):
        return self._call("random", rng)

    def mutate(self, pair, rng):
        return self.inside.mutate(pair, rng)

    def simpler(self, pair):
        return self.inside.simpler(pair)

    def simplest(self):
        return self._call("simplest")


def corners():
    return Custom("corners")


def random():
    return Custom("random")


def simplest():
    return Custom("simplest")
"""
LISTED = "neighbours: {pairs: [{left: 0, right: 1}]}"
CANARIES = "method: one-run\n    neighbours: {domain: canaries, "
EPSILON = "claim: {epsilon: 1}"
NOISY = f"mechanism: own.py:noisy\n    {EPSILON}"
# Code that is called when a configuration is read.
READ = {
    "claim": "mechanism: own.py:noisy\n    claim: {from: own.py:ends}\n    " + LISTED,
    "valid": f"{NOISY}\n    valid: own.py:ends\n    "
    "neighbours: {domain: records, record: {low: 0, high: 1}, size: {low: 0, high: 2}}",
    "generator": f"{NOISY}\n    neighbours: {{generator: own.py:ends}}",
    "generator, later": f"{NOISY}\n    neighbours: {{generator: own.py:yields}}",
    "its data": f"{NOISY}\n    neighbours: {{generator: own.py:returns_data, relation: substitute}}",
    "canaries": f"mechanism: own.py:made\n    {EPSILON}\n    {CANARIES}canaries: own.py:ends, score: own.py:ends}}",
    "records": f"mechanism: own.py:made\n    {EPSILON}\n    {CANARIES}canaries: [1], records: own.py:ends, "
    "score: own.py:ends}",
    "object": f"mechanism: {{object: ending.py:thing}}\n    {EPSILON}",
    "module": f"mechanism: own.py:noisy\n    claim: {{from: ending.py:thing}}\n    {LISTED}",
}
# Code that is called before a mechanism draws.
BEFORE = {
    "import": f"mechanism: ending.py:thing\n    {EPSILON}\n    {LISTED}",
    "signature": f"mechanism: own.py:signed\n    {EPSILON}\n    {LISTED}",
}
# Code that is called while outputs are drawn, or makes an output: each in an audit of its own.
DRAWN = {
    "mechanism": f"mechanism: own.py:ends\n    {EPSILON}\n    {LISTED}",
    "output": f"mechanism: own.py:spells\n    {EPSILON}\n    {LISTED}",
    "session": f"mechanism: own.py:session\n    {EPSILON}\n    ask: [1, 2]\n    {LISTED}",
    "factory": f"mechanism: own.py:no_session\n    {EPSILON}\n    ask: [1, 2]\n    {LISTED}",
    "score": f"mechanism: own.py:made\n    {EPSILON}\n    {CANARIES}canaries: [1, 2], score: own.py:ends}}",
    "query": f"mechanism: own.py:ends\n    claim: {{sensitivity: 1}}\n    {LISTED}",
    **{name: f"{NOISY}\n    neighbours: {{generator: own.py:{name}}}" for name in ("corners", "random", "simplest")},
}
KINDS = (
    *("SystemExit", "KeyboardInterrupt", "GeneratorExit", "RecursionError", "MemoryError", "StopIteration"),
    *("AssertionError", "OSError", "BaseException", "Error", "EOFError", "BrokenPipeError"),
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAISED", "SystemExit")
    Path("own.py").write_text(CODE, encoding="utf-8")
    Path("ending.py").write_text("import sys\nsys.exit(0)\n", encoding="utf-8")
    return tmp_path


def configured(*audits: str, settings: str = "execution: {workers: 1}") -> str:
    text = f"version: 1\nsamples: 2_000\n{settings}\naudits:\n"
    for name, audit in zip(("one", *"abcdefghi"), audits, strict=False):
        text += f"  - name: {name}\n    {audit}\n"
    text += f"  - name: other\n    {NOISY}\n    {LISTED}\n"
    Path("own.yaml").write_text(text, encoding="utf-8")
    return "own.yaml"


@pytest.mark.parametrize("place", READ)
def test_what_a_file_reads_is_an_error_of_use(folder: Path, capsys: pytest.CaptureFixture[str], place: str) -> None:
    assert main(["check", configured(READ[place])]) == 2
    errors = capsys.readouterr().err
    assert "SystemExit: 0" in errors
    assert "own.yaml, line " in errors


@pytest.mark.parametrize("command", ["run", "plan", *PROVE])
def test_whatever_the_command(folder: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert main([command, configured(READ["generator, later"])]) == 2
    assert "SystemExit: 0" in capsys.readouterr().err


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", ["claim", "its data"])
def test_whatever_it_raises(
    folder: Path, capsys: pytest.CaptureFixture[str], place: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAISED", kind)
    assert main(["check", configured(READ[place])]) == 2
    errors = capsys.readouterr().err
    assert kind in errors
    assert "own.yaml, line " in errors
    assert "own.py, line " in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize("place", BEFORE)
@pytest.mark.parametrize("command", ["check", "run", *PROVE])
def test_what_a_mechanism_is_asked_first_is_an_error_of_use(
    folder: Path, capsys: pytest.CaptureFixture[str], place: str, command: str
) -> None:
    assert main([command, configured(BEFORE[place])]) == 2
    assert re.search(r'own\.yaml, line \d+, audit "one"', errors := capsys.readouterr().err)
    assert "SystemExit: 0" in errors or "it ended" in errors


@pytest.mark.parametrize("isolate", ["true", "false"])
def test_no_run_ends_with_success_and_no_other_audit_is_lost(folder: Path, isolate: str) -> None:
    assert main(["run", configured(*DRAWN.values(), settings=f"execution: {{workers: 1, isolate: {isolate}}}")]) == 3
    report = json.loads(Path("reports/own/report.json").read_text(encoding="utf-8"))
    assert [audit["verdict"] for audit in report["audits"]] == ["inconclusive"] * len(DRAWN) + ["no_violation_found"]


@pytest.mark.parametrize("kind", KINDS)
def test_auditor_audit_raises_no_exit(folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAISED", kind)
    space: dict[str, Any] = {}
    exec(CODE, space)
    domain = space["corners"]()
    with pytest.raises(Exception) as caught:
        auditor.audit(space["noisy"], auditor.PureDP(1.0), domain, samples=2_000, workers=1, isolate=False)
    assert isinstance(caught.value, auditor.AuditorError) or kind == type(caught.value).__name__
    ended = auditor.audit(space["ends"], auditor.PureDP(1.0), [(0, 1)], samples=2_000, workers=1, isolate=False)
    assert ended.verdict is auditor.Verdict.INCONCLUSIVE


@pytest.mark.parametrize("name", ["spells", "session", "signed"])
def test_init_writes_nothing_that_passes(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaffold, "MOST_KINDS", 2)
    assert main(["init", f"own.py:{name}"]) == 2


def test_a_replay_is_no_success(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = configured(f"{NOISY}\n    neighbours: {{generator: own.py:returns_data}}")
    Path("own.py").write_text(CODE.replace("[(Ending(0), Ending(1))]", "[(0, 1)]"), encoding="utf-8")
    assert main(["run", text, "--record", "kept"]) == 0
    Path("again").mkdir()
    for file in Path().glob("*.py"):
        file.rename(Path("again") / file.name)
    (Path("again") / "own.py").write_text(CODE, encoding="utf-8")
    os.chdir("again")
    status = main(["replay", "../kept", "--run-code"])
    assert status in (2, 3)


class Prover:
    CLAIMS = (auditor.PureDP,)

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def attempt(self, *given: object) -> object:
        raise self.error

    def checked(self, *given: object) -> str:
        raise self.error


@pytest.mark.parametrize("error", [SystemExit(0), KeyboardInterrupt(), ValueError("no")])
def test_a_prover_costs_no_verdict(
    folder: Path, error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("auditor.auditing.proof_job.prover", lambda: Prover(error))
    monkeypatch.setattr("auditor.cli.common.prover", lambda: Prover(error))
    text = configured(f"{NOISY}\n    prove: true\n    {LISTED}", settings="execution: {workers: 1, isolate: false}")
    assert main(["run", text]) == 0
    report = json.loads(Path("reports/own/report.json").read_text(encoding="utf-8"))
    assert "the attempt ended in an error" in report["audits"][0]["proof"]["reason"]
    assert main(["prove", text]) == 1
    assert "the attempt ended in an error" in capsys.readouterr().out.replace("\n", " ")


def test_a_prover_that_cannot_be_had_costs_no_verdict(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auditor.auditing.proof_job.prover", lambda: sys.exit(0))
    assert main(["run", configured(f"{NOISY}\n    prove: true\n    {LISTED}")]) == 0


@pytest.mark.parametrize("error", [SystemExit(0), KeyboardInterrupt(), ValueError("no")])
def test_a_form_of_a_report_costs_no_report(
    folder: Path, error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def write(result: object) -> str:
        raise error

    monkeypatch.setattr(formats, "FORMATS", [formats.Format("mine", "a form", write, "mine.txt"), *formats.FORMATS])
    Path("reports/own").mkdir(parents=True)
    Path("reports/own/mine.txt").write_text("of an earlier run", encoding="utf-8")
    assert main(["run", configured(f"{NOISY}\n    {LISTED}")]) == 3
    assert "mine.txt is missing: what makes a form raised" in capsys.readouterr().err
    assert {path.name for path in Path("reports/own").iterdir()} >= {"report.json", "report.html", "summary.md"}
    assert not Path("reports/own/mine.txt").exists()


CATCHES = """
import time


def catches(dataset, rng):
    open("begun", "w").close()
    try:
        time.sleep(60)
    except BaseException:
        pass
    return 0.0
"""


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_person_ends_a_run_whose_code_catches_everything(folder: Path, number: int, status: int) -> None:
    Path("own.py").write_text(CODE + CATCHES, encoding="utf-8")
    text = configured(
        f"mechanism: own.py:catches\n    {EPSILON}\n    {LISTED}", settings="execution: {workers: 1, isolate: false}"
    )
    run = subprocess.Popen([sys.executable, "-m", "auditor", "run", text], stderr=subprocess.PIPE)
    while not Path("begun").exists():
        assert run.poll() is None
        time.sleep(0.1)
    run.send_signal(number)
    _, message = run.communicate(timeout=60)
    assert run.returncode == status, message


def test_a_stop_passes_every_call_of_foreign_code() -> None:
    from auditor.foreign_code import ForeignCode, result_or_error

    def stopped() -> None:
        raise Stopped

    with pytest.raises(Stopped), ForeignCode("this"):
        stopped()
    with pytest.raises(Stopped):
        result_or_error(stopped)


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("import os; os._exit(0)", 2),
        ("import os; os.execv(sys.executable, [sys.executable, '-c', ''])", 2),
        ("import os; pid = os.fork() or os._exit(0); os.waitpid(pid, 0)", 1),  # a child process may end like this
        ("import atexit, os; atexit.register(lambda: os._exit(0))", 1),
        ("sys.stdout.close()", 3),
        ("import os; os.mkdir('elsewhere'); os.chdir('elsewhere')", 1),
    ],
)
def test_no_code_ends_the_program_with_the_status_of_success(folder: Path, end: str, status: int) -> None:
    code = f"def pairs():\n    import sys\n    {end}\n    yield 0, 1\n\n\ndef told(dataset, rng):\n    return dataset\n"
    Path("ending.py").write_text(code, encoding="utf-8")
    audit = "mechanism: ending.py:told\n    claim: {epsilon: 1}\n    neighbours: {generator: ending.py:pairs}"
    arguments = [sys.executable, "-m", "auditor", "run", configured(audit), "--junit", "junit.xml"]
    ended = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert ended.returncode == status, ended.stderr
    assert (folder / "junit.xml").exists() == (folder / "reports/own/report.json").exists() == (status == 1)


@pytest.mark.parametrize("target", ["own.yaml", "reports/own/report.json", "reports/own/runs.sqlite", "."])
@pytest.mark.parametrize("option", ["--json", "--junit"])
def test_no_file_of_a_run_is_written_over_another(folder: Path, option: str, target: str) -> None:
    file = configured(f"{NOISY}\n    {LISTED}")
    before = Path(file).read_bytes()
    assert main(["run", file, option, target]) == 2
    assert main(["run", file, "--json", "both", "--junit", "both"]) == 2
    assert Path(file).read_bytes() == before


def test_a_device_is_written_to_and_not_replaced(folder: Path) -> None:
    os.mkfifo(pipe := folder / "pipe")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, "text")
    assert os.read(reader, 10) == b"text"
    assert pipe.is_fifo()
    os.close(reader)


def test_a_file_that_cannot_be_written_takes_back_no_verdict(folder: Path) -> None:
    Path("ending.py").write_text("def told(dataset, rng):\n    return dataset\n", encoding="utf-8")
    audit = f"mechanism: ending.py:told\n    claim: {{epsilon: 1}}\n    {LISTED}"
    assert main(["run", configured(audit), "--junit", "/dev/full"]) == 1
    assert main(["run", configured(audit), "--only", "other", "--junit", "/dev/full"]) == 3
