"""Mechanisms as black boxes: signatures, names, failures, and data sets that a mechanism modifies."""

import functools
import math
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auditor.blackbox.canonical import from_batch, from_list
from auditor.blackbox.encoding import packed
from auditor.blackbox.mechanism import Mechanism, PythonSource
from auditor.blackbox.outputs import Outputs, concatenate
from auditor.blackbox.process import ProcessEnded
from auditor.blackbox.sample import ALWAYS, Patience
from auditor.errors import MechanismError
from auditor.foreign_code import Stopped
from auditor.neighbours.pair import Arrays, Pair, Relation

PAIR = Pair(10, 20)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def mechanism(function: Callable[..., Any], **parameters: Any) -> Mechanism:
    return PythonSource("m", parameters, function=function).drawer()


def labels(*sides: bool) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return np.array(sides, dtype=bool)


def numbers(outputs: Outputs) -> list[float]:
    column = outputs.column("output")
    assert column.codes is None or outputs.size == 0
    return column.numbers.tolist()


def told(outputs: Outputs) -> list[str]:
    """Return every output as a number or as the text of its atom."""
    column = outputs.column("output")
    codes = [-1] * outputs.size if column.codes is None else column.codes.tolist()
    return [
        f"{number:g}" if code < 0 else column.atoms[code]
        for number, code in zip(column.numbers.tolist(), codes, strict=True)
    ]


# --- Signatures ---


class Shifting:
    def __init__(self, shift: float = 1.0) -> None:
        self.shift = shift

    def __call__(self, dataset: float, size: int, rng: np.random.Generator) -> Any:
        return np.full(size, dataset + self.shift)

    def method(self, dataset: float, rng: np.random.Generator) -> Any:
        return dataset + self.shift


def one(dataset: float, rng: np.random.Generator, *, shift: float = 1.0) -> float:
    return dataset + shift


def batch(dataset: float, size: int, rng: np.random.Generator, shift: float = 1.0) -> Any:
    return np.full(size, dataset + shift)


SHAPES: list[tuple[str, Callable[..., Any], bool, bool]] = [
    ("one output a call", one, False, True),
    ("a batch a call", batch, True, True),
    ("without rng", lambda dataset: dataset + 1, False, False),
    ("a batch without rng", lambda dataset, size: [dataset + 1] * size, True, False),
    ("rng before size", lambda dataset, rng, size: [dataset + 1] * size, True, True),
    ("keywords only", lambda dataset, *, rng, size: [dataset + 1] * size, True, True),
    ("another name for the data set", lambda data, rng: data + 1, False, True),
    ("any keywords", lambda dataset, **keywords: dataset + 1, False, False),
    ("an object that can be called", Shifting(), True, True),
    ("a bound method", Shifting().method, False, True),
    ("a partial", functools.partial(one, shift=1.0), False, True),
    ("a partial of a batch", functools.partial(batch, shift=1.0), True, True),
    ("a partial of an object", functools.partial(Shifting()), True, True),
]


@pytest.mark.parametrize(("function", "batched", "takes_rng"), [s[1:] for s in SHAPES], ids=[s[0] for s in SHAPES])
def test_a_mechanism_is_called_by_its_signature(function: Callable[..., Any], batched: bool, takes_rng: bool) -> None:
    made = mechanism(function)
    assert (made.batched, made.takes_rng) == (batched, takes_rng)
    sample = made.draw(PAIR, labels(True, False, False, True, True), rng())
    assert numbers(sample.left) == [11.0] * 3
    assert numbers(sample.right) == [21.0] * 2
    assert [made.call_once(PAIR, side, rng()) for side in ("left", "right")] == [11.0, 21.0]  # type: ignore[arg-type]


MISFITS: list[tuple[str, Callable[..., Any], dict[str, Any], str]] = [
    ("another name for the generator", lambda dataset, generator: 0, {}, "the generator is called `rng`"),
    ("an argument too many", lambda dataset, rng, scale: 0, {}, "missing a required argument: 'scale'"),
    ("an unknown parameter", one, {"epsilon": 1.0}, "unexpected keyword argument 'epsilon'"),
    ("no argument", lambda: 0, {}, "too many positional arguments"),
    ("no data set", lambda *, dataset, rng: 0, {}, "too many positional arguments"),
    ("a parameter that is the data set", one, {"dataset": 1}, "dataset"),
    ("a parameter that is the generator", one, {"rng": 1}, "rng"),
    ("a parameter that is the size", batch, {"size": 1}, "size"),
    ("a function without a signature", max, {}, "has no signature"),
]


@pytest.mark.parametrize(("function", "parameters", "why"), [m[1:] for m in MISFITS], ids=[m[0] for m in MISFITS])
def test_a_signature_that_does_not_fit_is_told_with_what_is_wrong(
    function: Callable[..., Any], parameters: dict[str, Any], why: str
) -> None:
    with pytest.raises(MechanismError) as caught:
        mechanism(function, **parameters)
    assert 'mechanism "m"' in str(caught.value)
    assert why in str(caught.value)


def test_a_misfit_shows_the_signature_and_both_shapes() -> None:
    with pytest.raises(MechanismError) as caught:
        mechanism(one, epsilon=1.0)
    for part in ("shift: float = 1.0", "f(dataset, rng, **parameters)", "f(dataset, size, rng", "['epsilon']"):
        assert part in str(caught.value)


# --- Names ---


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of modules, whose imports are forgotten afterwards."""
    before = set(sys.modules)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file is not None and Path(file).is_relative_to(tmp_path):
            del sys.modules[name]


def source(name: str, *search_path: Path) -> PythonSource:
    return PythonSource(name, {}, tuple(map(str, search_path)))


def value_of(name: str, *search_path: Path) -> float:
    """Return the only output of a mechanism that is found by name."""
    return float(source(name, *search_path).drawer().call_once(PAIR, "left", rng()))


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


CONSTANT = "def f(dataset, rng):\n    return {}\n"


def test_a_mechanism_is_found_in_a_module_of_the_search_path(folder: Path) -> None:
    write(folder / "constant_module.py", CONSTANT.format(1))
    write(folder / "constant_package" / "inside.py", CONSTANT.format(2))
    assert value_of("constant_module:f", folder) == 1
    assert value_of("constant_package.inside:f", folder) == 2


def test_a_mechanism_is_found_in_a_file_of_the_search_path(folder: Path) -> None:
    write(folder / "some-file.py", CONSTANT.format(1))
    absolute = write(folder / "deep" / "er.py", CONSTANT.format(2))
    assert value_of("some-file.py:f", folder / "nowhere", folder) == 1
    assert value_of("deep/er.py:f", folder) == 2
    assert value_of(f"{absolute}:f") == 2


def test_a_mechanism_may_be_an_attribute_of_an_attribute(folder: Path) -> None:
    write(folder / "nested.py", "class C:\n    @staticmethod\n    def f(dataset, rng):\n        return 3\n")
    assert value_of("nested.py:C.f", folder) == 3


def test_audits_in_threads_that_come_to_a_file_together_all_find_its_mechanism(folder: Path) -> None:
    """Otherwise a thread that arrives during another's import would find a module without the mechanism."""
    write(folder / "slow.py", "import time\ntime.sleep(0.3)\n" + CONSTANT.format(4))
    together = threading.Barrier(4)

    def found(_: int) -> Any:
        together.wait()
        return value_of("slow.py:f", folder)

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(found, range(4))) == [4] * 4


def test_two_files_whose_paths_look_alike_are_two_modules(folder: Path) -> None:
    write(folder / "a" / "b.py", CONSTANT.format(1))
    write(folder / "a_b.py", CONSTANT.format(2))
    write(folder / "a" / "b_.py", CONSTANT.format(3))
    assert [value_of(f"{name}.py:f", folder) for name in ("a/b", "a_b", "a/b_")] == [1, 2, 3]


def test_a_module_of_the_same_name_from_another_folder_is_never_audited_instead(folder: Path) -> None:
    for name, value in (("one", 1), ("two", 2)):
        write(folder / name / "same_name.py", CONSTANT.format(value))
    assert value_of("same_name:f", folder / "one") == 1
    with pytest.raises(MechanismError, match=r'two modules are called "same_name": .*two.*one.*rename'):
        value_of("same_name:f", folder / "two")
    assert value_of("same_name.py:f", folder / "two") == 2
    assert value_of("same_name:f", folder / "one") == 1


def test_a_file_that_is_named_like_a_module_of_python_s_own_is_told(folder: Path) -> None:
    write(folder / "statistics.py", CONSTANT.format(1))
    import statistics  # noqa: F401 - was imported before the user's

    with pytest.raises(MechanismError, match='two modules are called "statistics"'):
        value_of("statistics:f", folder)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("import no_such_library_anywhere", "ModuleNotFoundError: No module named 'no_such_library_anywhere'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def f(:", "SyntaxError"),
        ("import sys; sys.exit(0)", "SystemExit: 0"),
    ],
    ids=["import", "division", "syntax", "exit"],
)
@pytest.mark.parametrize("form", ["file", "module"])
def test_a_module_that_fails_on_import_is_told_with_the_reason(folder: Path, body: str, why: str, form: str) -> None:
    write(folder / f"fails_{form}.py", body)
    name = f"fails_{form}.py:f" if form == "file" else f"fails_{form}:f"
    for _ in range(2):  # the second time as well
        with pytest.raises(MechanismError) as caught:
            source(name, folder).drawer()
        assert f'mechanism "{name}": importing' in str(caught.value)
        assert why in str(caught.value)
        assert str(folder) in str(caught.value)


@pytest.mark.parametrize("name", ["typo.py:laplase", "typo:laplase"])
def test_a_misspelt_function_is_told_with_the_nearest(folder: Path, name: str) -> None:
    write(folder / "typo.py", "def laplace(dataset, rng):\n    return 0\ndef gauss(dataset, rng):\n    return 0\n")
    with pytest.raises(MechanismError, match=r'has no laplase; did you mean "laplace"\? Allowed: gauss, laplace'):
        source(name, folder).drawer()


@pytest.mark.parametrize("name", ["laplace", ":f", "module:", ""])
def test_a_name_of_the_wrong_form_is_told_with_the_right_one(name: str) -> None:
    with pytest.raises(MechanismError, match=r"module:function or file\.py:function"):
        source(name).drawer()


def test_what_is_missing_or_cannot_be_called_is_told(folder: Path) -> None:
    write(folder / "number.py", "f = 3\n")
    with pytest.raises(MechanismError, match="is int, which cannot be called"):
        source("number.py:f", folder).drawer()
    with pytest.raises(MechanismError, match=r"there is no file nowhere\.py"):
        source("nowhere.py:f", folder).drawer()
    with pytest.raises(MechanismError, match="No module named 'no_such_module_anywhere'"):
        source("no_such_module_anywhere:f", folder).drawer()


# --- Outputs that are failures ---


class OwnError(BaseException):
    """A base exception that is no Exception."""


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(0), OwnError("own"), MemoryError(), StopIteration()])
@pytest.mark.parametrize("batched", [False, True])
def test_whatever_a_mechanism_raises_is_an_output(error: BaseException, batched: bool) -> None:
    """A mechanism that calls sys.exit(0) must not end the audit with the exit status of success."""

    def single(dataset: Any, rng: Any) -> Any:
        raise error

    def many(dataset: Any, size: int, rng: Any) -> Any:
        raise error

    sample = mechanism(many if batched else single).draw(PAIR, labels(True, True, False), rng())
    assert told(sample.left) == [f"raises {type(error).__name__}"] * 2
    assert sample.right.failure() is not None


def test_a_stop_is_no_output() -> None:
    def stopped(dataset: Any, rng: Any) -> Any:
        raise Stopped

    with pytest.raises(Stopped):
        mechanism(stopped).draw(PAIR, labels(True), rng())


def now_and_then(dataset: float, size: int, rng: np.random.Generator) -> Any:
    if (rng.random(size) < 0.5).any():
        raise ValueError(dataset)
    return np.full(size, dataset)


def test_a_batch_that_raises_is_an_exception_for_every_output_on_both_sides() -> None:
    sample = mechanism(now_and_then).draw(PAIR, labels(*[True] * 20, *[False] * 10), rng())
    assert set(told(sample.left)) == set(told(sample.right)) == {"raises ValueError"}
    assert (sample.left.size, sample.right.size) == (20, 10)
    assert sample.raised()


def test_one_by_one_each_output_is_a_value_or_an_exception_of_its_own() -> None:
    """500 batches of one output, p = 0.5; the limits are exceeded by chance with probability below 1e-6."""
    sample = mechanism(now_and_then).draw(PAIR, labels(*[True] * 500), rng(), one_by_one=True)
    assert set(told(sample.left)) == {"10", "raises ValueError"}
    assert 190 <= told(sample.left).count("raises ValueError") <= 310


def of_many_shapes(dataset: int, rng: np.random.Generator) -> Any:
    made = [dataset + rng.normal(), None, "text", [1, "two"], {"a": 1.5, "b": [0] * int(rng.integers(3))}]
    return made[rng.integers(len(made))]


@pytest.mark.parametrize("piece", [1, 7, 64])
def test_how_many_outputs_are_taken_apart_at_once_changes_nothing(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sides = labels(*(rng().random(200) < 0.5).tolist())
    whole = mechanism(of_many_shapes).draw(PAIR, sides, rng(1))
    monkeypatch.setattr("auditor.blackbox.sample.PIECE", piece)
    assert packed(mechanism(of_many_shapes).draw(PAIR, sides, rng(1))) == packed(whole)


def ends_at_times(dataset: int, rng: np.random.Generator) -> float:
    if rng.random() < 0.2:
        raise ProcessEnded("the process ended")
    return 0.0


def always_ends(dataset: int, rng: np.random.Generator) -> float:
    raise ProcessEnded("the process ended")


@pytest.mark.parametrize("piece", [1, 7, 4_096])
def test_drawing_ends_after_enough_failures_though_answers_came_before_them(
    piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("auditor.blackbox.sample.PIECE", piece)
    sides = labels(*[True, False] * 200)
    some = mechanism(ends_at_times).draw(PAIR, sides, rng(), patience=Patience(30))
    assert (some.failures, some.size < 400) == (30, True)
    none = mechanism(always_ends).draw(PAIR, sides, rng(), patience=Patience(30))
    assert (none.failures, none.size) == (2 * ALWAYS, 2 * ALWAYS)
    assert mechanism(always_ends).draw(PAIR, sides, rng()).failures == 400


@pytest.mark.parametrize("wrong", [np.zeros(4), [1.0], 1.0, None, {"a": 1}, "abcde"])
def test_a_batch_of_the_wrong_size_is_an_error_with_a_name(wrong: Any) -> None:
    made = mechanism(lambda dataset, size, rng: wrong)
    with pytest.raises(MechanismError, match="for a batch of 5"):
        made.draw(PAIR, labels(*[True] * 5), rng())
    with pytest.raises(MechanismError, match="for a batch of 1"):
        mechanism(lambda dataset, size, rng: np.zeros(size + 1)).call_once(PAIR, "left", rng())


# --- What a mechanism receives, and may modify ---


@pytest.mark.parametrize("first", [True, False])
def test_a_batch_mechanism_is_asked_first_on_the_side_of_the_first_label(first: bool) -> None:
    """The side that comes first is a coin too, so that a mechanism with a memory cannot infer the sides from their order."""
    asked: list[float] = []

    def remembering(dataset: float, size: int, rng: Any) -> Any:
        asked.append(dataset)
        return np.zeros(size)

    mechanism(remembering).draw(PAIR, labels(first, not first, True, False), rng())
    assert asked == ([10, 20] if first else [20, 10])


def test_a_mechanism_of_single_outputs_is_asked_in_the_order_of_the_labels() -> None:
    asked: list[float] = []
    mechanism(lambda dataset, rng: asked.append(dataset)).draw(PAIR, labels(True, False, False, True), rng())
    assert asked == [10, 20, 20, 10]


SPOILT = [
    Pair([1, 2, 3], [1, 2]),
    Pair({"a": [1, 2, 3]}, {"a": [1, 2]}),
    Pair((1, 2, 3), (1, 2), Relation.ADD_REMOVE, Arrays()),
]


def spoil(dataset: Any) -> float:
    """Return the data set's content, and modify the data set."""
    inner = dataset["a"] if isinstance(dataset, dict) else dataset
    total = float(sum(inner))
    inner[0] += 100
    return total


@pytest.mark.parametrize("pair", SPOILT, ids=["list", "dict", "array"])
@pytest.mark.parametrize("shape", ["one output a call", "a batch a call", "a batch that raises"])
def test_a_mechanism_that_spoils_its_data_set_spoils_it_for_no_other_call(pair: Pair, shape: str) -> None:
    def many(dataset: Any, size: int, rng: Any) -> Any:
        total = spoil(dataset)
        if shape == "a batch that raises" and size > 1:
            raise ValueError
        return [total] * size

    made = mechanism((lambda dataset, rng: spoil(dataset)) if shape == "one output a call" else many)
    for _ in range(2):
        sample = made.draw(pair, labels(True, False, True, False, True), rng())
        if shape != "a batch that raises":
            assert numbers(sample.left) == [6.0] * 3
            assert numbers(sample.right) == [3.0] * 2
        assert made.call_once(pair, "left", rng()) == 6.0


@pytest.mark.parametrize("batched", [False, True])
def test_a_mechanism_that_spoils_a_parameter_spoils_it_for_no_other_call(batched: bool) -> None:
    def single(dataset: Any, rng: Any, weights: list[float]) -> float:
        weights[0] += 100
        return float(sum(weights))

    def many(dataset: Any, size: int, rng: Any, weights: list[float]) -> Any:
        return [single(dataset, rng, weights)] * size

    made = mechanism(many if batched else single, weights=[1.0, 2.0])
    for _ in range(2):
        assert numbers(made.draw(PAIR, labels(True, False, True), rng()).left) == [103.0] * 2
        assert made.call_once(PAIR, "left", rng()) == 103.0


# --- Arrays of a batch, which several calls return ---

# Values that a copy, a sum or a comparison may change, at the ends of a call and inside it.
PECULIAR = [-0.0, 0.0, np.nan, np.inf, -np.inf, 5e-324, 2.0**53 + 2, 1.5]
MADE: dict[str, Callable[[int, int], Any]] = {
    "floats": lambda n, call: np.resize(PECULIAR, n) if call % 2 else np.full(n, float(call)),
    "only the last call is peculiar": lambda n, call: np.resize(PECULIAR, n) if call == 7 else np.full(n, 1.0),
    "minus zeros": lambda n, call: np.resize([-0.0, 1.5, 0.0], n) * (-1) ** call,
    "wide integers": lambda n, call: np.arange(n) + 2**53 + call,
    "unsigned integers": lambda n, call: (np.arange(n) + call).astype(np.uint64) + np.uint64(2**63),
    "truths": lambda n, call: np.arange(n) % 2 == call % 2,
    "the other order of bytes": lambda n, call: np.resize(PECULIAR, n).astype(">f8") + call,
    "half precision": lambda n, call: np.resize([-0.0, np.nan, 1.5], n).astype(np.float16) + np.float16(call),
    "integers, then floats": lambda n, call: np.arange(n) + (call if call < 5 else call / 3),
    "one order of bytes, then the other": lambda n, call: np.full(n, call / 3, ">f8" if call % 3 else "<f8"),
    "vectors": lambda n, call: np.resize(PECULIAR, (n, 3)) + call,
    "matrices in Fortran's order": lambda n, call: np.asfortranarray(np.arange(n * 4).reshape(n, 2, 2) / (call + 1)),
    "vectors of another length": lambda n, call: np.full((n, 2 + call // 4), float(call)),
    "empty vectors": lambda n, call: np.zeros((n, 0)),
    "every other number": lambda n, call: np.arange(2 * n, dtype=float)[::2] * call,
    "one number for all": lambda n, call: np.broadcast_to(np.float64(call), (n,)),
    "objects": lambda n, call: np.array([None if i % 3 else call for i in range(n)], dtype=object),
    "lists": lambda n, call: [[float(call), None][i % 2] for i in range(n)],
}


def leaves(outputs: Outputs) -> list[dict[str, Any]]:
    names = [column.name for column in outputs.columns]
    cells = [
        [
            number.hex() if code < 0 else column.atoms[code]
            for number, code in zip(
                column.numbers.tolist(),
                [-1] * outputs.size if column.codes is None else column.codes.tolist(),
                strict=True,
            )
        ]
        for column in outputs.columns
    ]
    return [dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)]


@pytest.mark.parametrize("kind", MADE)
def test_the_arrays_of_several_calls_are_read_as_each_alone(kind: str) -> None:
    """The mechanism spoils what it returned before, in the memory that it returned it in, at each further call."""
    returned, expected = list[Any](), {True: list[Outputs](), False: list[Outputs]()}
    sides = np.random.default_rng(1).random(300) < 0.5

    def draw(left: bool, size: int) -> Any:
        for earlier in returned:
            if isinstance(earlier, np.ndarray) and earlier.flags.writeable:
                earlier[...] = 77
        batch = MADE[kind](size, len(returned))
        expected[left].append(from_batch(batch, size))
        returned.append(batch)
        return batch

    drawn = mechanism(draw).draw(Pair(True, False), sides, rng())
    assert len(returned) == 8
    for side, outputs in ((True, drawn.left), (False, drawn.right)):
        whole = concatenate(expected[side])
        assert [column.name for column in outputs.columns] == [column.name for column in whole.columns]
        assert leaves(outputs) == leaves(whole)


@pytest.mark.parametrize(
    "values", [[-0.0, 1.5, 0.0], [math.nan, 1.5], [math.inf, -math.inf, 0.0], PECULIAR, [2**53 + 1, 3]]
)
def test_numbers_of_an_array_are_read_as_in_a_list(values: list[float]) -> None:
    """With `size`, alone and in vectors: all but the types, which belong to the array."""

    def draw(dataset: Any, size: int, vectors: bool = False) -> Any:
        made = np.array((values * size)[:size])
        return made.reshape(size, 1) if vectors else made

    labels_of_one_call = labels(*[True] * 16)
    alone, vectors = (mechanism(draw, vectors=how).draw(PAIR, labels_of_one_call, rng()).left for how in (False, True))
    for outputs, in_list in ((alone, values), (vectors, [[value] for value in values])):
        expected = leaves(from_list((in_list * 16)[:16]))
        of_array = ("type", "shape", "length")
        for row, other in zip(leaves(outputs), expected, strict=True):
            kept = [{k: v for k, v in r.items() if not k.startswith(of_array)} for r in (row, other)]
            assert kept[0] == kept[1]


def test_a_mechanism_may_return_one_array_again_and_again() -> None:
    memory = np.empty(1_000)

    def draw(value: float, size: int, rng: np.random.Generator) -> Any:
        memory[:size] = rng.normal(value, 1e-3, size)
        return memory[:size]

    sides = np.random.default_rng(1).random(300) < 0.5
    sample = mechanism(draw).draw(PAIR, sides, rng())
    for outputs, value in ((sample.left, 10), (sample.right, 20)):
        drawn = numbers(outputs)
        assert np.allclose(drawn, value, atol=0.1)
        assert len(set(drawn)) == len(drawn)
