"""The command line in processes: exit statuses, printed text, and report.json."""

import operator
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import ALL, BROKEN, MECHANISMS, SOUND, Folder, audit, config, parsed

from auditor.auditing.flow import carry_out
from auditor.auditing.plan import Plan, Progress, Settings
from auditor.blackbox.command import Command, Program
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.sampling import Execution
from auditor.claims import PureDP
from auditor.cli import main
from auditor.config.load import load_configuration
from auditor.neighbours.domains import Pairs


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "mechanisms_of_the_test.py").write_text(MECHANISMS, encoding="utf-8")
    yield Folder(tmp_path)


def in_a_shell(file: str, *options: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "auditor", "run", file, *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | environment)


def test_the_exit_status_reaches_the_shell(folder: Folder) -> None:
    shown = in_a_shell(folder.write("some.yaml", config(SOUND.replace("epsilon", "epsilom"))))
    assert shown.returncode == 2
    assert shown.stderr


def test_a_terminal_without_greek_letters_costs_no_result(folder: Folder) -> None:
    shown = in_a_shell(folder.write("some.yaml", config(BROKEN)), PYTHONIOENCODING="ascii")
    assert shown.returncode == 1
    assert shown.stderr == ""
    assert " ? ? " in shown.stdout
    assert not folder.report()["passed"]


def test_the_same_seed_gives_the_same_report_whatever_the_workers(folder: Folder) -> None:
    folder.run(config(*ALL))
    before = folder.report()
    shutil.rmtree(folder.path / "reports")  # next to its report, a violation would be recounted first
    folder.run(config(*ALL), "--workers", "2")
    assert folder.report() == before


@pytest.mark.parametrize(
    ("drawn", "message"), [("np.random.default_rng(0).laplace()", True), ("round(rng.random()) / 2", False)]
)
def test_check_says_that_every_call_gives_the_same_output(
    folder: Folder, capsys: pytest.CaptureFixture[str], drawn: str, message: bool
) -> None:
    folder.write("lists.py", f"import numpy as np\ndef f(records, rng):\n    return len(records) + {drawn}\n")
    assert main(["check", folder.write("some.yaml", OF_LISTS % (0, ""))]) == 0
    assert ("every call gives the same output" in capsys.readouterr().err) == message


def test_check_and_run_say_how_long_it_takes(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    folder.write("lists.py", "import time\ndef f(records, rng):\n    time.sleep(0.01)\n    return [rng.random()] * 3\n")
    file = folder.write("some.yaml", OF_LISTS % (0, "") + "    samples: 1000\n    execution: {workers: 1}\n")
    assert main(["check", file]) == 0
    printed = re.search(
        r"an output takes 0\.01\d* s and holds 3 values; the audit may take about (\d+) s", capsys.readouterr().out
    )
    assert printed
    assert 15 < int(printed[1]) < 35
    [plan] = load_configuration(Path(file)).plans
    assert 15 < first_told(plan).seconds < 35


def first_told(plan: Plan) -> Progress:
    """Return the first progress message of an audit, and end the audit."""
    heard = list[Progress]()

    def listen(progress: Progress) -> None:
        heard.append(progress)
        raise KeyError("enough")

    with pytest.raises(KeyError):
        carry_out(plan, listen)
    return heard[0]


CALLS = {
    "with rng": "def f(data, rng):\n    wait({s})\n    return data + rng.random()\n",
    "without": "def f(data):\n    wait({s})\n    return data + time.time()\n",
    "a program": "import sys\nfor line in sys.stdin:\n    for _ in range(json.loads(line)['size']):\n"
    "        wait({s})\n        print(time.time(), flush=True)\n",
}


@pytest.mark.parametrize(
    ("kind", "seconds"),
    [("with rng", 0.05), ("without", 0.6), ("a program", 0.2)],
)
def test_how_long_it_takes_is_told_after_few_calls_however_slow(
    folder: Folder, kind: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("auditor.blackbox.batches.LONG_CALL", 0.5)
    calls = folder.path / "calls"
    timed = (
        "import json, time\ndef wait(s):\n    began = time.monotonic()\n    time.sleep(s)\n"
        f"    print(time.monotonic() - began, file=open({str(calls)!r}, 'a'))\n"
    )
    (folder.path / "slow.py").write_text(timed + CALLS[kind].format(s=seconds), encoding="utf-8")
    source = PythonSource(f"{folder.path}/slow.py:f")
    program = Program(Command([sys.executable, "slow.py"], str(folder.path)))
    settings = Settings(samples=1000, execution=Execution(workers=1))
    chosen = program if kind == "a program" else source
    forecast = first_told(Plan("slow", chosen, PureDP(1.0), Pairs([(0, 1)]), 0.001, settings)).seconds
    taken = [float(line) for line in calls.read_text().splitlines()]  # a busy machine sleeps longer
    assert 0.5 * min(taken) <= forecast / 1641 <= 1.5 * max(taken) + 0.02
    assert len(taken) <= (2 if seconds > 0.5 else 3)


def test_check_writes_long_outputs_short(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    (folder.path / "long.py").write_text("def f(data, rng):\n    return rng.normal(size=1000)\n", encoding="utf-8")
    text = config(audit("long", "laplace", parameters="{}").replace("mechanisms_of_the_test.py:laplace", "long.py:f"))
    (folder.path / "some.yaml").write_text(text, encoding="utf-8")
    assert main(["check", str(folder.path / "some.yaml")]) == 0
    line, _ = capsys.readouterr().out.splitlines()
    assert line.count("(1,000 in all)") == 2
    assert len(line) < 400


def test_what_a_mechanism_prints_is_no_part_of_the_json(folder: Folder) -> None:
    folder.write(
        "loud.py", "def laplace(dataset, size, rng):\n    print('hello')\n    return rng.laplace(dataset, 1.0, size)\n"
    )
    text = config(SOUND, workers=2).replace("mechanisms_of_the_test.py", "loud.py")
    shown = in_a_shell(folder.write("some.yaml", text), "--json", "-")
    assert shown.returncode == 0
    assert parsed(shown.stdout) == folder.report()


# --- The other commands ---


OF_LISTS = """
version: 1
audits:
  - name: some
    mechanism: lists.py:f
    claim: {epsilon: 1.0}
    neighbours: {domain: records, record: {low: 0, high: 9}, size: {low: %d, high: 4}%s}
"""


@pytest.mark.parametrize(
    ("body", "domain", "status", "message", "doubt"),
    [
        ("len(records) if records else 0", (0, ""), 0, "array [] raises ValueError: …, array [0.0] gives 0", "one of two"),
        ("len(records) if records else 0", (0, ", container: list"), 0, "[0.0] gives 1; relation add_remove (one record or", ""),
        ("records.count(1)", (1, ""), 3, "array [0.0] raises AttributeError: …, array [0.0, 0.0] raises", "on both"),
        ("None", (0, ""), 0, "array [] gives None, array [0.0] gives None", "check that the mechanism returns its result"),
        ("[len(records)][len(records) > 2:]", (1, ""), 0, "array [0.0] gives [1], array [0.0, 0.0] gives [2]", ""),
        ("min(2, len(records))", (2, ""), 0, "array [0.0, 0.0] gives 2, array [0.0, 0.0, 0.0] gives 2", "were identical on both"),
        ("open('gone.csv')", (0, ""), 3, "array [] raises FileNotFoundError", "the audit is inconclusive\n"),
        ("records[1]", (0, ", container: list"), 0, "[0.0, 0.0, 0.0] gives 0.0, [0.0 × 4] gives 0.0", ""),
    ],
)  # fmt: skip
def test_check_says_what_arrives_and_doubts_exceptions(
    folder: Folder,
    capsys: pytest.CaptureFixture[str],
    body: str,
    domain: tuple[int, str],
    status: int,
    message: str,
    doubt: str,
) -> None:
    folder.write("lists.py", f"def f(records, rng):\n    return {body}\n")
    assert main(["check", folder.write("some.yaml", OF_LISTS % domain)]) == status
    shown = capsys.readouterr()
    assert re.search(re.escape(message).replace("…", ".*"), shown.out), shown.out
    assert doubt in shown.err
    assert bool(shown.err) == bool(doubt)
    if "…" in message:
        assert shown.err.endswith(
            "; data sets arrive as NumPy arrays, on which it fails; on lists it works: write `container: list`\n"
        )


@pytest.mark.parametrize(
    ("code", "doubt"),
    [
        (
            "def f(records, rng):\n    return len(records) + np.random.default_rng().laplace()\n",
            "two calls with the same `rng`",
        ),
        ("def f(records, rng):\n    return len(records) + random.random()\n", "two calls with the same `rng`"),
        ("def f(records, rng):\n    return len(records) + rng.laplace()\n", ""),
        # Without `rng` a mechanism is not expected to be reproducible.
        ("def f(records):\n    return len(records) + random.random()\n", ""),
        (
            "def f(records, size, rng):\n    return np.full(size, len(records) + rng.laplace())\n",
            "draw it anew for each of the `size` outputs",
        ),
        ("def f(records, size, rng):\n    return len(records) + rng.laplace(size=size)\n", ""),
        ("def f(records, rng):\n    return len(records) + 0.5\n", "every call gives the same output"),
        *(
            (
                f"def f(records, rng):\n    {shows}\n    return len(records) + rng.laplace()\n",
                "a call prints “total is ",
            )
            for shows in (
                "print('total is', len(records))",
                "import os; os.write(2, b'total is %d' % len(records))",
                "import logging; logging.getLogger('theirs').warning('total is %d', len(records))",
                "import subprocess; subprocess.run(['echo', f'total is {len(records)}'], check=True)",
            )
        ),
        (
            "def f(records, size, rng):\n    print('total is', len(records))\n    return len(records) + rng.laplace(size=size)\n",
            "add `observe: [stdout]`",
        ),
        (
            "def f(records, rng):\n    records.sort()\n    records += 1\n    return records.sum() + rng.laplace()\n",
            "in place",
        ),
        ("def f(records, rng):\n    return np.sort(records).sum() + rng.laplace()\n", ""),
        ("def f(records, rng):\n    return records['x'].sum() + rng.laplace()\n", "`domain: frame` with `as: pandas`"),
        (
            "def f(records, rng):\n    return records.groupby('x').sum() + rng.laplace()\n",
            "`domain: frame` with `as: pandas`",
        ),
    ],
)
def test_check_names_the_likely_mistake(
    folder: Folder, capsys: pytest.CaptureFixture[str], code: str, doubt: str
) -> None:
    folder.write("lists.py", f"import random\n\nimport numpy as np\n\n\n{code}")
    main(["check", folder.write("some.yaml", OF_LISTS % (0, ""))])
    errors = capsys.readouterr().err
    assert doubt in errors
    assert bool(errors) == bool(doubt)


def test_check_takes_the_time_of_first_calls_apart(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    """The first two calls take a second, as compilation does, and later ones hardly any time, so no million seconds
    are forecast."""
    folder.write(
        "lists.py",
        "import time\n\ncalls = []\n\n\ndef f(records, size, rng):\n    calls.append(1)\n"
        "    time.sleep(1.0 if len(calls) <= 2 else 0.05)\n    return len(records) + rng.laplace(size=size)\n",
    )
    assert main(["check", folder.write("some.yaml", OF_LISTS % (0, ""))]) == 0
    seconds = re.search(r"an output takes ([0-9.e-]+) s", capsys.readouterr().out)
    assert seconds is not None
    assert float(seconds[1]) < 0.01  # a call of fifty milliseconds gives all outputs of the trial


@pytest.mark.parametrize(
    "arguments",
    [["--print-completion", "bash"], ["show", str(Path(__file__).parents[3] / "reports" / "classics")]],
    ids=operator.itemgetter(0),
)
def test_output_that_nobody_reads_to_its_end_is_no_defect(arguments: list[str]) -> None:
    called = subprocess.Popen(
        [sys.executable, "-m", "auditor", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pipesize=4096,
    )
    assert called.stdout is not None
    assert called.stderr is not None
    called.stdout.read(1)
    called.stdout.close()
    assert called.stderr.read() == b""
    called.stderr.close()
    assert called.wait() == 141
