"""Sessions in YAML: questions, refusals, and the dialogue in every form of a report."""

from pathlib import Path

import pytest
from telling_sessions import ASK, AUDIT, HEAD, MECHANISM, written

import auditor
from auditor.cli import main
from auditor.config import scaffold
from auditor.config.load import load_configuration
from auditor.errors import InvalidInputError
from auditor.neighbours.scripts import read_script
from auditor.sessions.dialogues import Dialogues


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path)


def with_ask(file: Path, ask: str) -> Path:
    file.write_text(HEAD + AUDIT + ask, encoding="utf-8")
    return file


def test_what_is_asked_becomes_a_domain_around_the_neighbours(file: Path) -> None:
    [plan] = load_configuration(with_ask(file, ASK + "    sessions: 2\n")).plans
    assert isinstance(plan.domain, Dialogues)
    assert (plan.domain.rounds, plan.domain.sessions) == (3, 2)
    assert plan.domain.questions.first() == ["mean", "sum"]
    [plan] = load_configuration(with_ask(file, "    ask: {script: [{ask: mean}, {ask: sum, if: {above: 2}}]}\n")).plans
    assert isinstance(plan.domain, Dialogues)
    assert plan.domain.fixed == read_script([{"ask": "mean"}, {"ask": "sum", "if": {"above": 2}}])


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        ("    rounds: 3\n", "line 10: rounds: a session needs the key `ask`"),
        ("    ask: 3\n", "line 10: audits.0.ask is 3; "),
        ("    ask: []\n", "line 10: ask: choices is []; "),
        ("    ask: {choice: [1]}\n", 'line 10: ask has the key "choice"; did you mean "choices"?'),
        ("    ask: {script: [{question: mean}]}\n", 'has the key "question"'),
    ],
)
def test_what_cannot_be_asked_is_named_by_file_and_line(file: Path, ask: str, message: str) -> None:
    with pytest.raises(InvalidInputError) as error:
        load_configuration(with_ask(file, ask))
    assert message in str(error.value)


def test_a_call_in_python_shows_the_violation_again(file: Path, tmp_path: Path) -> None:
    namespace: dict[str, object] = {}
    exec(MECHANISM, namespace)
    people = auditor.Records((0.0, 1.0), size=(0, 2))
    asked = auditor.Dialogues(people, ["mean"], rounds=3)
    result = auditor.audit(
        namespace["Tells"], auditor.PureDP(1.0), asked, samples=2_000, workers=1, isolate=False, planted=0, name="x"
    )
    assert result.reproduce is not None
    assert "auditor.Dialogues([(numpy.array(" in result.reproduce
    names = {"auditor": auditor, "numpy": __import__("numpy"), "Tells": namespace["Tells"], "PureDP": auditor.PureDP}
    again = eval(result.reproduce[:-1] + ", workers=1, isolate=False)", names)
    assert again.verdict == "violation"


def test_check_and_the_command_line_take_sessions(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(file)]) == 0
    assert "asked" not in capsys.readouterr().err
    assert main(["run", str(file), "--out", str(file.parent / "out")]) == 1
    assert "1. " in capsys.readouterr().out


def test_init_sees_a_session(file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaffold, "MOST_KINDS", 8)
    source = """
class Session:
    def __init__(self, dataset, rng, epsilon=1.0):
        self.n, self.rng, self.epsilon = len(dataset), rng, epsilon

    def __call__(self, question):
        if question == "count":
            return self.n + self.rng.laplace(0, 1 / self.epsilon)
        return {"half": 0.5, "two words": 2.0}[question]


class Mechanism:
    def __init__(self, epsilon):
        self.epsilon = epsilon

    def __call__(self, dataset, rng):
        return 1


class Indices:
    def __init__(self, dataset, rng):
        self.dataset, self.rng = dataset, rng

    def __call__(self, question):
        return self.dataset[question + 1] + self.rng.laplace()


def factory(dataset, rng):
    return lambda question: 1
"""
    module, made = file.with_name("made.py"), file.with_name("first.yaml")
    module.write_text(source, encoding="utf-8")
    assert main(["init", f"{module}:Session", "-o", str(made)]) == 0
    text = made.read_text(encoding="utf-8")
    assert "ask: [count]  # a guess: set it\n    rounds: 4" in text
    assert "claim: {epsilon: 1.0}\n" in text
    [plan] = load_configuration(made).plans
    assert isinstance(plan.domain, Dialogues)
    capsys.readouterr()
    main(["init", f"{module}:Mechanism", "-o", str(file.with_name("second.yaml"))])
    assert "is a class; make an instance" in capsys.readouterr().err
    assert main(["init", f"{module}:Indices", "-o", str(file.with_name("indices.yaml"))]) == 0
    assert "pairs that were tried: check what `ask` asks of the session" in capsys.readouterr().out
    main(["init", f"{module}:factory", "-o", str(file.with_name("third.yaml"))])
    assert "if it is a session that is asked questions, say which with `ask`" in file.with_name("third.yaml").read_text(
        "utf-8"
    )
