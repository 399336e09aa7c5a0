"""Programs as mechanisms: JSON lines, failures that count as outputs, protocol errors that do not, and no process left behind."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from process_table import processes

import auditor
from auditor.blackbox import command
from auditor.blackbox.canonical import from_list
from auditor.blackbox.command import Command, Program, from_answer, value_of
from auditor.blackbox.outputs import ABSENT, Outputs
from auditor.blackbox.process import ProcessEnded, TimedOut
from auditor.cli import main
from auditor.errors import InvalidInputError, MechanismError, NoAnswerError
from auditor.neighbours.pair import Pair

PAIR = Pair(0, 1)
EXAMPLES = Path(__file__).parents[3] / "examples"

# A program that treats each output as the data set says; it starts in milliseconds.
ANSWERING = """
import json, os, random, signal, sys, time
for line in sys.stdin:
    request = json.loads(line)
    data, size, generator = request["dataset"], request["size"], random.Random(request["seed"])
    {body}
    sys.stdout.flush()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    # Programs carry the name of their folder on their command line.
    assert running(tmp_path) == []


def running(folder: Path) -> list[str]:
    return [command for number, _, command in processes() if str(folder) in command and number != os.getpid()]


def gone(folder: Path, seconds: float = 5.0) -> bool:
    until = time.monotonic() + seconds
    while running(folder) and time.monotonic() < until:
        time.sleep(0.02)
    return running(folder) == []


def program(folder: Path, body: str, limit: float | None = None, **parameters: Any) -> Program:
    file = folder / "program.py"
    file.write_text(ANSWERING.format(body=body.replace("\n", "\n    ")), encoding="utf-8")
    return Program(Command([sys.executable, "-S", str(file)], str(folder)), parameters, limit)


def draw(made: Program, size: int = 40, **how: Any) -> Any:
    labels = np.random.default_rng(1).random(size) < 0.5
    try:
        return made.draw(PAIR, labels, np.random.default_rng(2), **how)
    finally:
        made.close()


def told(outputs: Outputs) -> set[str]:
    column = outputs.column("output")
    codes = [-1] * outputs.size if column.codes is None else column.codes.tolist()
    return {f"{n:g}" if c < 0 else column.atoms[c] for n, c in zip(column.numbers.tolist(), codes, strict=True)}


# --- The protocol ---


def test_a_request_says_everything_and_each_line_is_an_output(folder: Path) -> None:
    body = 'for i in range(size): print(json.dumps({"i": i, **request}))'
    sample = draw(program(folder, body, epsilon=float("inf"), name="100 %"), 5)
    assert sample.left.size + sample.right.size == 5
    for side, data in ((sample.left, 0.0), (sample.right, 1.0)):
        assert side.column("output['dataset']").numbers.tolist() == [data] * side.size
        assert side.column("output['size']").numbers.tolist() == [side.size] * side.size
        assert side.column("output['i']").numbers.tolist() == list(range(side.size))
        assert side.column("output['parameters']['name']").atoms == ("'100 %'",)
        assert np.isinf(side.column("output['parameters']['epsilon']").numbers).all()
        assert (side.column("output['seed']").numbers < 2**53).all()


def test_the_seed_decides_the_outputs_and_is_another_for_each_request(folder: Path) -> None:
    made = program(folder, "for i in range(size): print(generator.random())")
    first, again = draw(made), draw(made)
    numbers = [side.column("output").numbers.tolist() for s in (first, again) for side in (s.left, s.right)]
    assert numbers[:2] == numbers[2:]
    assert not {*numbers[0]} & {*numbers[1]}


def test_many_outputs_are_asked_for_in_pieces_and_come_in_order(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auditor.blackbox.command.LARGEST", 10)
    made = program(folder, "for i in range(size): print(size * 1000 + i)")
    sample = made.draw(PAIR, np.arange(32) < 25, np.random.default_rng(0))
    made.close()
    pieces = [1000 * size + i for size in (10, 10, 5) for i in range(size)]
    assert sample.left.column("output").numbers.tolist() == pieces
    assert sample.right.column("output").numbers.tolist() == [7000 + i for i in range(7)]


@pytest.mark.parametrize("size", [1, 20_000])
def test_large_requests_and_answers_block_nobody(folder: Path, size: int) -> None:
    """A data set and a standard error stream that fill every pipe, from a program that writes before it reads."""
    made = program(folder, 'sys.stderr.write("x" * 300000)\nfor i in range(size): print(len(data))', 20.0)
    sample = made.draw(Pair([0] * 200_000, [0]), np.ones(size, bool), np.random.default_rng(0))
    assert made.repeats_itself(Pair([0] * 200_000, [0]))
    made.close()
    assert (sample.left.size, told(sample.left)) == (size, {"200000"})


@pytest.mark.parametrize(("own", "repeats"), [("random.random()", False), ("generator.random()", True), ("1", True)])
def test_whether_a_program_uses_its_seed_is_found_out(folder: Path, own: str, repeats: bool) -> None:
    assert program(folder, f"for i in range(size): print({own})").repeats_itself(PAIR) is repeats


# --- Outputs that are failures ---

FAILURES = [
    ("sys.exit(3)", "raises ProcessEnded", "'ended with exit status 3'"),
    ("sys.exit(0)", "raises ProcessEnded", "'ended with exit status 0'"),
    ("os.kill(os.getpid(), signal.SIGSEGV)", "raises ProcessEnded", "'killed by SIGSEGV'"),
    ("os.close(1); time.sleep(60)", "raises ProcessEnded", "'closed its standard output'"),
    (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)",
        "raises TimedOut",
        "'no answer within the time limit'",
    ),
]


@pytest.mark.parametrize(("end", "output", "message"), FAILURES, ids=[f[0] for f in FAILURES])
def test_a_program_that_ends_or_hangs_is_an_output_and_is_started_again(
    folder: Path, end: str, output: str, message: str
) -> None:
    """If a batch fails, it is unknown which of its outputs failed, so all of them count as failed; drawn singly, it is known."""
    made = program(folder, f"if data == 0: {end}\nfor i in range(size): print(i)", 0.5)
    batch, each = draw(made, 20), draw(made, 4, one_by_one=True)
    assert told(batch.left) == told(batch.right) == {output}
    assert batch.left.column("message of output").atoms == (message,)
    assert (told(each.left), told(each.right)) == ({output}, {"0"})
    assert each.failures == each.left.size > 0


def test_a_failure_that_is_reported_is_an_output_of_its_own(folder: Path) -> None:
    body = 'for i in range(size): print(json.dumps({"error": "no such key"} if data == 0 else {"error": 1, "more": 2}))'
    sample = draw(program(folder, body))
    assert told(sample.left) == {"raises MechanismFailure"}
    assert sample.right.column("output['more']").numbers.tolist() == [2.0] * sample.right.size


def test_standard_error_is_told_with_a_failure_and_is_no_part_of_the_output(folder: Path) -> None:
    made = program(folder, 'sys.stderr.write("a reason"); sys.exit(1)')
    failure = made.call_once(PAIR, "left", np.random.default_rng(0))
    assert isinstance(failure, ProcessEnded)
    assert "a reason" in failure.message()
    assert "a reason" not in str(failure)


# --- Protocol errors are errors ---


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ('for i in range(size): print("hello")', r"line 1 of the program's answer is not JSON: 'hello'"),
        ('print("[1]\\n" * (size - 1) + "[1],[2]")', r"is not JSON: '\[1\],\[2\]'"),
        ('print("1\\n" * (size + 1), end="")', r"wrote more than \d+ lines"),
        ('os.write(1, b"\\xff\\n" * size)', r"line 1 of the program's answer is not JSON"),
    ],
)
def test_what_breaks_the_protocol_is_an_error_with_the_line(folder: Path, body: str, why: str) -> None:
    with pytest.raises(MechanismError, match=why):
        draw(program(folder, body, 5.0))


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("for i in range(size - 1): print(i)", '62 lines.*a request is one line, ."dataset": '),
        ("print(1)", "2 lines"),
        ("for i in range(99): print(i)", "198 lines"),
        ("os.read(0, 1)", "0 lines"),  # it would keep the audit waiting for ever
        ('print("INFO"); print("\\n".join(map(str, range(size))))', "66 lines: 'INFO' is not a JSON value; a request"),
    ],
)
def test_a_wrong_number_of_lines_is_told_before_an_audit_waits_for_more(folder: Path, body: str, told: str) -> None:
    with pytest.raises(MechanismError, match=f"answered two requests of size 32 with {told}"):
        program(folder, body, 0.3).repeats_itself(PAIR)


def test_a_program_that_does_not_flush_is_told(folder: Path) -> None:
    made = program(folder, "import atexit; atexit.register(print, '1\\n' * size, end='')", 0.3)
    with pytest.raises(MechanismError, match=r"gave 0 of 64 lines in 0.3 s.*it must flush its standard output"):
        made.repeats_itself(PAIR)


@pytest.mark.parametrize(
    ("code", "limit", "told"),
    [
        ("import sys; sys.exit(len(sys.stdin.read()) > 0)", 0.3, "nothing in 0.3 s, and ended when its input did"),
        ("import time; time.sleep(60)", None, "nothing in 0.2 s, nor after its input ended"),
    ],
)
def test_a_program_that_answers_nothing_is_told_what_it_must_do(
    folder: Path, monkeypatch: pytest.MonkeyPatch, code: str, limit: float | None, told: str
) -> None:
    monkeypatch.setattr(command, "TRIAL_SECONDS", 0.2)
    made = Program(Command([sys.executable, "-c", code, str(folder)]), {}, limit)
    with pytest.raises(
        NoAnswerError, match=rf"{told}: .* not wait for the end .* set `execution: {{timeout: seconds}}`"
    ):
        made.repeats_itself(PAIR)


def test_a_program_that_is_silent_on_one_side_or_under_a_limit_is_audited_as_that(folder: Path) -> None:
    one_side = program(folder, "if data == 0: sys.exit(len(sys.stdin.read()))\nfor i in range(size): print(1)", 1.0)
    assert one_side.repeats_itself(PAIR)
    assert not program(folder, "time.sleep(60)", 0.1).repeats_itself(PAIR)
    fails = program(folder, "sys.exit(3 if data else len(sys.stdin.read()))", 0.3)
    assert not fails.repeats_itself(PAIR)


def test_lines_that_come_between_requests_are_told(folder: Path) -> None:
    made = program(folder, "for i in range(size): print(i)\nsys.stdout.flush(); time.sleep(0.05); print(7)")
    with pytest.raises(MechanismError, match="wrote more lines than it was asked for"):
        for _ in range(2):
            made.draw(PAIR, np.ones(3, bool), np.random.default_rng(0))
            time.sleep(0.3)
    made.close()


@pytest.mark.parametrize("arguments", [[], [""], "node x.js", [1]])
def test_a_command_that_cannot_be_meant_is_told(arguments: Any) -> None:
    with pytest.raises(InvalidInputError, match="it must be a list of the program and its arguments"):
        Command(arguments)


@pytest.mark.parametrize(
    ("name", "why"),
    [("nodde-", "was not found on the PATH"), ("./x", "was not found in"), ("./data", "is not executable")],
)
def test_a_program_that_is_not_there_is_told(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(MechanismError, match=why):
        Command([name], str(tmp_path)).find()


# --- From lines to the table ---


def table(outputs: Outputs) -> dict[str, list[Any]]:
    """Return every column as a list of its cells; a column that is ABSENT throughout counts as missing."""
    cells = {}
    for column in outputs.columns:
        codes = [-1] * outputs.size if column.codes is None else column.codes.tolist()
        cells[column.name] = [
            n if c < 0 else column.atoms[c] for n, c in zip(column.numbers.tolist(), codes, strict=True)
        ]
    return {name: column for name, column in cells.items() if set(column) != {ABSENT}}


number = st.one_of(st.floats(), st.integers(-(2**70), 2**70), st.integers(-3, 3))
anything = st.recursive(
    st.one_of(st.none(), st.booleans(), number, st.text(max_size=3), st.sampled_from(["NaN", "-Infinity"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
)


def values_of(lines: list[bytes]) -> list[Any]:
    return [value_of(line, number) for number, line in enumerate(lines, start=1)]


@given(
    st.one_of(
        st.lists(number, min_size=1),
        st.lists(st.floats(), min_size=1),
        st.integers(0, 3).flatmap(lambda k: st.lists(st.lists(number, min_size=k, max_size=k), min_size=1)),
        st.lists(anything, min_size=1),
    )
)
def test_what_stands_in_a_row_depends_on_its_line_alone(values: list[Any]) -> None:
    """The fast paths give the same table as reading line by line: the composition of a batch must not show."""
    lines = [json.dumps(value).encode() for value in values]
    fast = table(from_answer(b"\n".join(lines) + b"\n", len(lines)))
    assert fast == table(from_list(values_of(lines)))
    for i, line in enumerate(lines):
        alone = table(from_answer(line + b"\n", 1))
        assert alone == {name: [column[i]] for name, column in fast.items() if column[i] != ABSENT}


spelled = st.one_of(
    st.integers(-(2**54), 2**54).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.from_regex(r"-?(0|[1-9][0-9]{0,3})(\.[0-9]{1,20})?([eE][-+]?[0-9]{1,3})?", fullmatch=True),
    st.text("0123456789.-+eE, \tNn", max_size=6),
)


def read(lines: list[str], by: Any) -> dict[str, list[Any]] | str:
    """Return the table made from an answer, or the error with the line that is not JSON."""
    try:
        return table(by([line.encode() for line in lines]))
    except MechanismError as error:
        return str(error)


def at_once(lines: list[bytes]) -> Outputs:
    return from_answer(b"\n".join(lines) + b"\n", len(lines))


def one_by_one(lines: list[bytes]) -> Outputs:
    return from_list(values_of(lines))


@given(st.lists(spelled, min_size=1, max_size=6))
def test_numbers_are_read_as_json_reads_them_or_refused(lines: list[str]) -> None:
    assert read(lines, at_once) == read(lines, one_by_one)


def test_one_and_one_point_nought_are_told_apart_and_words_for_numbers_are_read() -> None:
    outputs = from_answer(b'1\n1.0\n"NaN"\nNaN\n"-Infinity"\n-0.0\n', 6)
    assert table(outputs) == {
        "output": [1.0, 1.0, "NaN", "NaN", -np.inf, 0.0],
        "type": ["int", "float", "float", "float", "float", "float"],
        "sign of output": [ABSENT] * 5 + ["-0.0"],
    }


# --- Nothing is left behind ---


def test_a_program_does_not_outlive_an_auditor_that_is_killed(folder: Path) -> None:
    """This includes a program that never reads the end of its input."""
    file = folder / "endless.py"
    file.write_text("while True: pass")
    script = (
        "import sys, numpy as np; from auditor.blackbox.command import *; from auditor.neighbours.pair import Pair\n"
        "Program(Command(sys.argv[1:]), {}).call_once(Pair(0, 1), 'left', np.random.default_rng(0))"
    )
    parent = subprocess.Popen([sys.executable, "-c", script, sys.executable, "-S", str(file)])
    try:
        until = time.monotonic() + 200
        while len(running(folder)) < 2 and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(0.2)  # its guard is there a moment later
        assert len(running(folder)) == 2, "the auditor, and the program"
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert gone(folder)


def test_a_program_s_own_children_end_with_it(folder: Path) -> None:
    made = program(folder, "import subprocess; subprocess.run([sys.executable, '-c', 'while 1: pass', __file__])", 0.5)
    failure = made.call_once(PAIR, "left", np.random.default_rng(0))
    assert isinstance(failure, TimedOut)
    assert gone(folder)


# --- Whole audits ---

COUNTING = (
    "while read -r line; do n=${line#*'\"size\": '}; n=${n%%%%,*}; case $line in *'\"dataset\": 0'*) %s;; esac; "
    'while [ "$n" -gt 0 ]; do echo 1; n=$((n - 1)); done; done'
)


@pytest.mark.parametrize(
    ("end", "verdict", "workers", "backend"),
    [
        ("exit 3", "violation", 1, "threading"),
        ("exit 3", "violation", 2, "loky"),
        ("kill -s SEGV $$", "violation", 2, "threading"),
        (":", "inconclusive", 1, "loky"),
    ],
)
def test_a_death_on_one_side_is_a_violation_whatever_draws(end: str, verdict: str, workers: int, backend: str) -> None:
    command = Command(["sh", "-c", COUNTING % end])
    result = auditor.audit(
        command, auditor.PureDP(1.0), [(0, 1)], samples=200, seed=1, workers=workers, backend=backend, batch=50
    )
    assert result.verdict == verdict
    assert result.reproducible


def test_the_numbers_do_not_depend_on_workers(folder: Path) -> None:
    made = program(folder, "for i in range(size): print(data + generator.expovariate(1))")
    bounds = {
        auditor.audit(made.command, auditor.PureDP(1.0), [(0, 1)], samples=2000, workers=w, batch=200).to_dict()[
            "bound"
        ]["value"]
        for w in (1, 2)
    }
    assert len(bounds) == 1


# --- The examples ---


def example(name: str, tmp_path: Path) -> int:
    shutil.copytree(EXAMPLES / name, tmp_path / name, ignore=shutil.ignore_patterns(".venv", "randomised_response"))
    if name == "c":
        subprocess.run(
            ["cc", "-O2", "-o", "randomised_response", "randomised_response.c"], cwd=tmp_path / name, check=True
        )
    if name == "python_environment":
        (tmp_path / name / ".venv" / "bin").mkdir(parents=True)
        (tmp_path / name / ".venv" / "bin" / "python").symlink_to(sys.executable)
    file = str(tmp_path / name / "audit.yaml")
    assert main(["check", file]) == 0
    return main(["run", file, "--out", str(tmp_path / "reports"), "--samples", "10000"])


@pytest.mark.parametrize(
    ("name", "needs"), [("node", "node"), ("c", "cc"), ("awk", "awk"), ("python_environment", "sh")]
)
def test_the_examples_end_as_their_configurations_expect(name: str, needs: str, tmp_path: Path) -> None:
    if shutil.which(needs) is None:
        pytest.skip(f"{needs} is not installed")
    assert example(name, tmp_path) == 0
    report = json.loads((tmp_path / "reports" / "audit" / "report.json").read_text(encoding="utf-8"))
    assert all(audit["reproducible"] for audit in report["audits"])


# --- Programs that break every bound ---


def message_of(sample: Any) -> tuple[str, ...]:
    side = sample.left if sample.left.size else sample.right
    return side.column("message of output").atoms


def test_a_line_that_never_ends_and_lines_without_end_are_cut(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auditor.blackbox.process.LONGEST_LINE", 1 << 20)
    one_line = program(folder, "while True: sys.stdout.write('1' * 65536)", 30.0)
    failure = draw(one_line, 1)
    assert message_of(failure) == ("'killed, since it wrote a line of over 1,048,576 bytes'",)
    monkeypatch.setattr("auditor.blackbox.process.LONGEST_ANSWER", 1 << 21)
    long_lines = program(folder, "for i in range(size): print('1' * 500_000)", 30.0)
    failure = draw(long_lines, 9)
    assert message_of(failure) == ("'killed, since it wrote an answer of over 2,097,152 bytes'",)
    lines = program(folder, "while True: print(1)", 30.0)
    with pytest.raises(MechanismError, match="answered two requests of size"):
        lines.repeats_itself(PAIR)


@pytest.mark.parametrize(
    ("body", "limit", "why"),
    [
        (
            "while True: sys.stdout.write('1'); sys.stdout.flush(); time.sleep(0.01)",
            0.2,
            "no answer within the time limit",
        ),
        ("while True: os.write(1, b'1')", 0.2, "no answer within the time limit"),
        (
            "while True: os.write(1, b'1\\n' if time.sleep(0.1) is None else b'')",
            0.2,
            "no answer within the time limit",
        ),
        ("while True: os.write(2, b'x' * 65536)", 0.2, "no answer within the time limit"),
        ("os.write(1, b'1'); time.sleep(60)", 0.2, "no answer within the time limit"),
        ("os.write(1, b'1'); os._exit(0)", 5.0, "ended with exit status 0"),
        ("os.kill(os.getpid(), signal.SIGSTOP)", 0.2, "no answer within the time limit"),
    ],
)
def test_a_batch_has_one_deadline_whatever_is_written(folder: Path, body: str, limit: float, why: str) -> None:
    begun = time.monotonic()
    assert message_of(draw(program(folder, body, limit), 9)) == (repr(why),)
    assert time.monotonic() - begun < 10


def test_a_program_that_writes_before_it_is_asked_is_told(folder: Path) -> None:
    file = folder / "banner.py"
    body = "for i in range(size): print(i)"
    file.write_text("print('Welcome', flush=True)\n" + ANSWERING.format(body=body), encoding="utf-8")
    made = Program(Command([sys.executable, str(file)]), {}, 5.0)
    with pytest.raises(MechanismError, match="answered two requests of size 32 with 65 lines"):
        made.repeats_itself(PAIR)


def test_a_key_that_appears_twice_is_refused() -> None:
    with pytest.raises(MechanismError, match='the key "a" appears twice in one object'):
        value_of(b'{"a": 1, "a": 2}', 1)


@pytest.mark.parametrize("line", ["[" * 200 + "]" * 200, '{"a":' * 101 + "1" + "}" * 101, "[" * 300_000])
def test_a_value_that_is_nested_too_deeply_is_refused(line: str) -> None:
    with pytest.raises(MechanismError, match=r"is not JSON: .*lists and objects are nested more than"):
        value_of(line.encode(), 1)


NO_NUMBERS = [
    *("", "1 2", "1\x0b", "1.2.3", "1e5e5", "01", "-01", "+1", ".5", "5."),
    *("-", "1-2", "1,2", "nan", "Inf", "0x1", "1_0"),
]
EDGES = ["1e400", "-1e400", "NaN", "-Infinity", "-0", "5e-324", "0e999", "9" * 400, "1\r", " 1\t"]


@pytest.mark.parametrize("line", NO_NUMBERS + EDGES)
def test_numbers_at_the_edge_are_read_as_json_reads_them_or_refused_with_their_line(line: str) -> None:
    told = read(["1.5", line, "7"], at_once)
    assert ("line 2 of the program's answer is not JSON" in told) == (line in NO_NUMBERS)
    assert told == read(["1.5", line, "7"], one_by_one)
