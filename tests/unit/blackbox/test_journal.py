"""The outputs that a host enters in memory which the auditor shares, read from the other side at any moment."""

import itertools
import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auditor.blackbox import journal as journals
from auditor.blackbox.journal import ROOM, Journal
from auditor.errors import MachineError


@pytest.fixture
def both() -> Iterator[tuple[Journal, Journal]]:
    """The journal of the auditor, and that of the host."""
    of_auditor = Journal.create()
    of_host = Journal(of_auditor.path)
    of_auditor.unlink()
    of_auditor.clear()
    yield of_auditor, of_host


def enter(journal: Journal, outputs: Sequence[Any]) -> list[tuple[list[Any], bool]]:
    return list(journal.enter(iter(outputs), timed=True))


def test_what_was_entered_is_read_with_its_exact_type(both: tuple[Journal, Journal]) -> None:
    of_auditor, of_host = both
    outputs = [0.5, -0.0, math.nan, math.inf, np.float64(0.5), np.float64(-0.0), np.float32(0.5), 1, True, 2**70]
    outputs += ["a", None, (1, 2.0), {"a": [np.float64(1.0)]}, np.array([1, 2]), np.longdouble(1) / 3, b"b"]
    enter(of_host, outputs)
    read = of_auditor.outputs(0)
    assert [*map(repr, read)] == [*map(repr, outputs)]
    assert [*map(type, read)] == [*map(type, outputs)]
    assert math.copysign(1.0, read[1]) == math.copysign(1.0, read[5]) == -1.0


def test_each_output_is_there_before_the_next_is_drawn(both: tuple[Journal, Journal]) -> None:
    of_auditor, of_host = both
    kept = [0.0]

    def drawn() -> Iterator[Any]:
        for n in range(5):
            assert [of_auditor.outputs(0), of_auditor.progress[0]] == [[[float(m)] for m in range(n)], n]
            kept[0] = float(n)
            yield kept

    [(made, goes_on)] = of_host.enter(drawn(), timed=False)
    assert not goes_on
    assert len(made) == 5


def test_what_was_sent_is_not_read_again(both: tuple[Journal, Journal]) -> None:
    """Whenever the host dies, the auditor has heard of the messages 0 to n−1, and reads only the outputs of message n."""
    of_auditor, of_host = both
    enter(of_host, [1.0, 2.0])
    assert of_auditor.outputs(0) == [1.0, 2.0], "the host died before it sent the message"
    assert of_auditor.outputs(1) == [], "it died after"
    enter(of_host, [3.0])
    assert (of_auditor.outputs(1), of_auditor.outputs(2)) == ([3.0], [])
    of_auditor.clear()
    assert [of_auditor.outputs(message) for message in range(4)] == [[]] * 4, "it died when it was asked again"
    of_host.restart()
    enter(of_host, [4.0])
    assert of_auditor.outputs(0) == [4.0]


def test_outputs_without_room_are_sent_with_all_before_them(both: tuple[Journal, Journal]) -> None:
    of_auditor, of_host = both
    outputs = [
        0.5,
        bytes(ROOM // 2),
        "a",
        bytes(ROOM // 2 + 1),
        bytes(ROOM + 1),
        1.5,
        bytes(ROOM + 1),
        bytes(ROOM // 2),
        2.5,
    ]
    messages, read = list[Any](), list[Any]()
    for number, (made, goes_on) in enumerate(of_host.enter(iter(outputs), timed=False)):
        messages.append(len(made))
        last = of_auditor.outputs(number)
        # The last output of a message that goes on had no room, and is in no danger: it is sent at once.
        assert last == (made[:-1] if goes_on else made)
        read += made
    assert read == outputs
    assert messages == [4, 1, 2, 2]


def test_only_the_time_of_the_mechanism_counts(both: tuple[Journal, Journal]) -> None:
    """The clock says when the last output came. While the host makes outputs canonical, and sends them, it stands at infinity."""
    of_auditor, of_host = both

    def drawn() -> Iterator[Any]:
        for output in (1.0, bytes(ROOM), 2.0):
            before, clock = time.monotonic(), of_auditor.progress[1]
            assert before - 1 < clock <= before
            time.sleep(0.01)
            yield output
        assert of_auditor.progress[1] > before + 0.01

    for _ in of_host.enter(drawn(), timed=True):
        assert of_auditor.progress[1] == math.inf


def test_a_journal_leaves_no_file_and_says_where_there_is_no_room(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(journals, "FOLDERS", (str(tmp_path / "none"), str(tmp_path)))
    made = Journal.create()
    assert len([*tmp_path.iterdir()]) == 1
    made.unlink()
    assert [*tmp_path.iterdir()] == []
    monkeypatch.setattr(journals, "FOLDERS", (str(tmp_path / "none"),))
    with pytest.raises(MachineError, match=r"cannot share memory \(.*none: No such file or directory\)"):
        Journal.create()


def test_a_reader_stops_at_the_count_it_has_seen(both: tuple[Journal, Journal]) -> None:
    of_auditor, of_host = both
    for n, _ in zip(itertools.count(), of_host.enter(iter([1.0, "a", 2.0]), timed=False), strict=False):
        assert n == 0
    assert of_auditor.outputs(0, 2) == [1.0, "a"]
