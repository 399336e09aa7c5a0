"""Side outputs of a call: each kind is observed, and the process is left unchanged."""

import contextlib
import logging
import os
import sys
import warnings
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import auditor
from auditor.blackbox.canonical import row_of
from auditor.blackbox.command import Program
from auditor.blackbox.mechanism import Mechanism, PythonSource
from auditor.blackbox.observing import OBSERVERS, ObservedCall, observing
from auditor.defaults import ObserveKind
from auditor.foreign_code import Stopped

ALL = get_args(ObserveKind)


def seen(function: Any, *what: str, dataset: Any = 3, **given: Any) -> dict[str, Any]:
    return ObservedCall(function, "f", tuple(what))(dataset, **given)  # type: ignore[arg-type]


class Fitted:
    """An estimator: its attributes show more than its text."""

    def __init__(self, low: float) -> None:
        self.low, self.nested, self._hidden = low, Inner(), [np.float64(2), {"a": Inner()}]

    def __repr__(self) -> str:
        return "Fitted()"


class Inner:
    def __init__(self) -> None:
        self.x = 1


def writes(dataset: Any) -> Any:
    sys.stdout.write(f"out {dataset}")
    print("error", file=sys.stderr)
    logging.getLogger("some.library").debug("secret %s", dataset)
    warnings.warn("careful", UserWarning, stacklevel=1)
    return dataset


def test_what_a_call_writes_is_part_of_the_output() -> None:
    assert seen(writes, "stdout", "log", "warnings") == {
        "output": 3,
        "stdout": "out 3error\n",
        "log": ["DEBUG some.library: secret 3"],
        "warnings": ["UserWarning: careful"],
    }


def test_files_are_read_after_the_call(tmp_path: Path) -> None:
    def saves(dataset: Any) -> int:
        (tmp_path / "kept.txt").write_text(f"{dataset} ü", encoding="utf-8")
        (tmp_path / "gone.txt").write_text("x", encoding="utf-8")
        (tmp_path / "gone.txt").unlink()
        (tmp_path / "kept.txt").read_text(encoding="utf-8")
        os.chdir(tmp_path)
        return 0

    here = Path.cwd()
    observed = seen(saves, "files")["files"]
    assert observed == [
        {"name": "kept.txt", "content": "3 ü", "bytes": 4, "mode": (tmp_path / "kept.txt").stat().st_mode},
        {"name": "gone.txt", "content": None, "bytes": None, "mode": None},
    ]
    assert Path.cwd() == here
    assert seen(lambda dataset: dataset, "files")["files"] == []


def test_files_that_are_renamed_made_or_changed_in_their_mode_are_seen(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("1", encoding="utf-8")

    def changes(dataset: Any) -> int:
        with (tmp_path / "log").open("a", encoding="utf-8") as file:
            file.write("2")
        (tmp_path / "log").rename(tmp_path / f"{dataset} records")
        (tmp_path / f"{dataset} records").chmod(0o640)
        (tmp_path / "folder").mkdir()
        return 0

    observed = seen(changes, "files")["files"]
    assert [(one["name"], one["content"], (one["mode"] or 0) & 0o777) for one in observed][:2] == [
        ("log", None, 0),
        ("3 records", "12", 0o640),
    ]
    assert observed[2]["name"] == "folder"


def test_a_logger_that_does_not_pass_on_and_its_lower_levels_are_seen() -> None:
    logger = logging.getLogger("alone")
    logger.propagate = False
    logger.setLevel(logging.ERROR)
    assert seen(lambda dataset: logger.debug("%s records", dataset), "log")["log"] == ["DEBUG alone: 3 records"]
    assert not logger.isEnabledFor(logging.DEBUG)


def test_an_exception_shows_its_attributes_and_what_it_was_raised_from() -> None:
    def fails(dataset: Any) -> None:
        error = ValueError("no", dataset)
        error.records = dataset  # type: ignore[attr-defined]
        raise error from KeyError("inside")

    shown = seen(fails, "attributes")["attributes"]
    assert (shown["args"], shown["records"], shown["__cause__"]["text"]) == (("no", 3), 3, "'inside'")


def test_attributes_of_an_object_are_outputs_by_name() -> None:
    observed = seen(Fitted, "attributes")
    assert observed["output"] == "Fitted"
    shown = observed["attributes"]
    assert (shown["low"], shown["nested"]["x"], shown["_hidden"][1]["a"]["x"]) == (3, 1, 1)
    assert shown["repr"] == "Fitted()"
    assert shown["nested"]["repr"] == "Inner"
    assert row_of(observed)["output['attributes']['low']"] == 3.0
    assert list(shown) == ["low", "nested", "_hidden", "repr"]  # in the order in which the object received them
    assert seen(lambda dataset: 5, "attributes") == {"output": 5, "attributes": {}}


def test_an_exception_is_an_output_with_what_it_left() -> None:
    def fails(dataset: Any) -> None:
        sys.stdout.write("before")
        raise ValueError("no")

    observed = seen(fails, "stdout")
    assert isinstance(observed["output"], ValueError)
    assert observed["stdout"] == "before"
    with pytest.raises(Stopped):
        seen(lambda dataset: (_ for _ in ()).throw(Stopped()), "stdout")


def test_a_batched_mechanism_makes_one_output_at_a_time() -> None:
    def many(dataset: float, size: int, rng: np.random.Generator) -> Any:
        sys.stdout.write(f"{size} outputs")
        return dataset + rng.random(size)

    mechanism = Mechanism.from_callable(ObservedCall(many, "many", ("stdout",)), {}, "many")
    assert not mechanism.batched
    assert mechanism.takes_rng
    outputs = mechanism.function(1.0, rng=np.random.default_rng(2))
    assert outputs["stdout"] == "1 outputs"
    assert 1 <= outputs["output"] < 2


def test_nothing_is_left_behind() -> None:
    root = logging.getLogger()
    before = sys.stdout, sys.getprofile(), root.level, list(root.handlers), list(warnings.filters)
    with contextlib.suppress(ValueError):
        seen(writes, *ALL)
    assert (sys.stdout, sys.getprofile(), root.level, list(root.handlers), list(warnings.filters)) == before


def test_every_kind_but_attributes_has_an_observer() -> None:
    assert set(OBSERVERS) == set(ALL) - {"attributes"}


def test_a_program_cannot_be_observed() -> None:
    program = Program(auditor.Command(["python"]), {})
    assert observing(program, ()) is program
    with pytest.raises(auditor.InvalidInputError, match="a program cannot be observed"):
        observing(program, ("stdout",))
    made = observing(PythonSource("f", function=writes), ("stdout",))
    assert isinstance(made, PythonSource)
    assert isinstance(made.load(), ObservedCall)


@pytest.mark.parametrize("unknown", ["logs", "draws", "calls", "time"])
def test_what_cannot_be_observed_is_named(unknown: Any) -> None:
    with pytest.raises(auditor.InvalidInputError, match=f'observe has "{unknown}"'):
        auditor.audit(writes, auditor.PureDP(1.0), [(0, 1)], observe=[unknown])


def test_a_claim_about_a_query_observes_nothing() -> None:
    with pytest.raises(auditor.InvalidInputError, match="`observe` needs a privacy claim on pairs of neighbours"):
        auditor.audit(writes, auditor.Sensitivity(1.0), [(0, 1)], observe=["stdout"])


class Texted(list[int]):
    """A list whose text is one for all."""

    def __repr__(self) -> str:
        return "Texted"


class Numbered(float):
    def __repr__(self) -> str:
        return "Numbered"


class Keyed(dict[str, int]):
    def __repr__(self) -> str:
        return "Keyed"


@pytest.mark.parametrize("make", [lambda v: Texted([v]), Numbered, lambda v: Keyed(a=v)], ids=["list", "float", "dict"])
def test_the_items_of_an_object_with_attributes_are_observed(make: Any) -> None:
    assert row_of(seen(make, "attributes", dataset=1)) != row_of(seen(make, "attributes", dataset=2))


def test_the_exception_and_the_fields_of_a_log_record_are_observed() -> None:
    def logs(dataset: int) -> None:
        try:
            raise ValueError(f"{dataset} records")
        except ValueError:
            logging.getLogger("alone").exception("failed")
        logging.getLogger("alone").info("done", extra={"user": dataset})
        logging.getLogger("alone").error("no exception", exc_info=True)

    failed, done, plain = seen(logs, "log")["log"]
    assert failed["message"] == "ERROR alone: failed"
    assert repr(failed["exception"]) == "ValueError('3 records')"
    assert done == {"message": "INFO alone: done", "user": 3}
    assert plain == "ERROR alone: no exception"
