"""Python mechanisms as black boxes: how they are imported, what their signatures take, and how they are called."""

import copy
import functools
import hashlib
import importlib
import importlib.machinery
import importlib.util
import inspect
import os.path
import sys
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from auditor.blackbox.canonical import BatchOutputs, batch_form, from_batch
from auditor.blackbox.sample import SIDES, Drawer, Labels, Sample, Stream, calls_of, changed_form, sides_of
from auditor.errors import MechanismError, did_you_mean
from auditor.foreign_code import ForeignCode, describe_error, result_or_error
from auditor.interfaces import Truth, Wrapper
from auditor.neighbours.pair import Pair, plain, rows_of


@dataclass(frozen=True, slots=True)
class PythonSource:
    """A mechanism in Python: a name that any process can import, or a callable that is pickled by value.

    ``name`` is "module:attribute" or "path/to/file.py:attribute". ``search_path`` lists folders that are searched for
    modules before Python's own. If there is ``adapt``, the name leads to an object, from which ``adapt`` makes the
    callable. The wrappers in ``through`` are applied to the callable in the process that loads it.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    search_path: tuple[str, ...] = ()
    function: Callable[..., Any] | None = None
    adapt: Callable[[Any], Callable[..., Any]] | None = None
    through: tuple[Wrapper, ...] = ()
    is_program: ClassVar[bool] = False

    def files(self) -> list[Path]:
        """Return the file of the mechanism's module, and the files that parameters name, both found in the search path.
        Nothing is imported here, since an import may end the process.
        """
        named = named_files(self.parameters, self.search_path or ("",))
        if self.function is not None:
            return named
        place = self.name.rpartition(":")[0]
        if place.endswith(".py"):
            candidates = _candidates(place, self.search_path)
        else:
            inside, folders = place.replace(".", "/"), (*self.search_path, *sys.path)
            candidates = [Path(folder, end) for folder in folders for end in (f"{inside}/__init__.py", f"{inside}.py")]
        return [path for path in candidates if path.is_file()][:1] + named

    def drawer(self, limit: float | None = None) -> "Mechanism":
        """Import the mechanism into this process, where ``limit`` has no effect, and read its signature.

        Raises MechanismError if it cannot be imported, or cannot be called as f(dataset, rng) or f(dataset, size, rng).
        """
        return Mechanism.from_callable(self.load(), {} if self.adapt else self.parameters, self.name)

    def load(self) -> Callable[..., Any]:
        """Return the callable itself. Raises MechanismError if it cannot be imported."""
        function = self.function
        if function is None:
            loaded = (find if self.adapt else load)(self.name, self.search_path)
            function = self.adapt(loaded) if self.adapt else loaded
        for make in self.through:
            function = make(function, self.name)
        return function

    def wrapped(self, make: Wrapper) -> "PythonSource":
        """Return a source whose callable is wrapped by ``make`` as well."""
        return replace(self, through=(*self.through, make))

    def truth(self, pair: Pair) -> Truth | None:
        """Return the exact privacy loss on the pair if the callable states it. Raises MechanismError as ``load``."""
        make: Callable[..., Truth] | None = getattr(self.load(), "__truth__", None)
        return None if make is None else make(pair.dataset("left"), pair.dataset("right"), **self.parameters)

    def close(self) -> None:
        """Do nothing, since nothing was started."""


def named_files(parameters: Mapping[str, Any], folders: Sequence[str]) -> list[Path]:
    """Return the files that parameters name by paths relative to any of the folders."""
    texts = [value for value in parameters.values() if isinstance(value, str)]
    return [Path(folder, text) for text in texts for folder in folders if os.path.isfile(os.path.join(folder, text))]  # noqa: PTH113, PTH118 - a parameter may be any text


def load(name: str, search_path: tuple[str, ...]) -> Callable[..., Any]:
    """Return the callable that ``find`` finds. Raises MechanismError as ``find``, and if it cannot be called."""
    loaded = find(name, search_path)
    if not callable(loaded):
        raise MechanismError(f'mechanism "{name}" is {type(loaded).__name__}, which cannot be called')
    return loaded  # type: ignore[no-any-return]


@functools.lru_cache(maxsize=256)
def find(name: str, search_path: tuple[str, ...]) -> Any:
    """Import the object behind "module:attribute" or "file.py:attribute". Raises MechanismError that names the missing part."""
    place, colon, attribute = name.rpartition(":")
    if not colon or not place or not attribute:
        raise MechanismError(
            f'mechanism "{name}" must be written module:function or file.py:function; a program is {{command: [program, argument]}}'
        )
    for folder in reversed(search_path):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    module = result_or_error(_load_file if place.endswith(".py") else _load_module, place, search_path)
    if isinstance(module, MechanismError):
        raise module
    if isinstance(module, BaseException):
        looked = ", ".join(search_path) or "Python's own path"
        raise MechanismError(
            f'mechanism "{name}": importing {place} failed with {describe_error(module)} (looked in {looked})'
        ) from module
    value: Any = module
    for part in attribute.split("."):
        with ForeignCode(f'mechanism "{name}": {place}'):
            try:
                value = getattr(value, part)
            except AttributeError:
                names = [n for n, v in vars(module).items() if callable(v) and not n.startswith("_")]
                raise MechanismError(
                    f'mechanism "{name}": {place} has no {part}; {did_you_mean(part, names)}'
                ) from None
    return value


def _load_module(place: str, search_path: tuple[str, ...]) -> Any:
    module = importlib.import_module(place)
    # A module of the same name may have been imported before, and would be audited by mistake.
    top = place.partition(".")[0]
    wanted = importlib.machinery.PathFinder.find_spec(top, list(search_path))
    spec = sys.modules[top].__spec__
    if wanted and wanted.origin and spec and spec.origin and not Path(wanted.origin).samefile(spec.origin):
        raise MechanismError(
            f'two modules are called "{top}": {wanted.origin} is meant, but {spec.origin} was imported '
            f"earlier; rename one module, or write {Path(wanted.origin).name}:function"
        )
    return module


def _candidates(place: str, search_path: tuple[str, ...]) -> list[Path]:
    return [Path(folder) / place for folder in search_path] or [Path(place)]


_IMPORTING = threading.RLock()


def _load_file(place: str, search_path: tuple[str, ...]) -> Any:
    path = next((candidate for candidate in _candidates(place, search_path) if candidate.is_file()), None)
    if path is None:
        raise MechanismError(f"there is no file {place} (looked in {', '.join(search_path) or 'the working folder'})")
    # Each path gets a module name of its own, by which pickle finds the module again in this process.
    module_name = f"auditor_file_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]}_{path.stem}"
    # Audits run in threads. No thread may find a module that another thread is still importing.
    with _IMPORTING:
        if module_name in sys.modules:
            return sys.modules[module_name]
        spec = importlib.util.spec_from_file_location(module_name, path)
        if spec is None or spec.loader is None:
            raise MechanismError(f"{path} cannot be loaded as a Python module")
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[module_name]
            raise
        return module


def signature_of(function: Callable[..., Any], name: str) -> inspect.Signature:
    """Return the signature of a mechanism. Raises MechanismError if Python cannot read it."""
    with ForeignCode(f'the signature of mechanism "{name}"'):
        try:
            return inspect.signature(function)
        except (TypeError, ValueError):
            raise MechanismError(
                f'mechanism "{name}" has no signature Python can read; wrap it in a function of (dataset, rng)'
            ) from None


def copier(value: Any) -> Callable[[], Any]:
    """Return a function that copies a value at each call. It is faster than ``copy.deepcopy`` for numbers, arrays and their lists.

    >>> copier([[1, 2], (3,)])()
    [[1, 2], (3,)]
    """
    if _is_constant(value):
        return lambda: value
    if type(value) is np.ndarray and value.dtype.kind in "biufcSU":
        return functools.partial(value.copy, "K")
    if type(value) is list and all(map(_is_constant, value)):
        return value.copy
    return functools.partial(copy.deepcopy, value)


def _is_constant(value: Any) -> bool:
    if type(value) is tuple:
        return all(map(_is_constant, value))
    return isinstance(value, np.number) or type(value) in (int, float, bool, str, bytes, complex, type(None))


@dataclass(frozen=True, slots=True)
class Mechanism(Drawer):
    """A callable bound to its parameters. It draws outputs on the sides of a pair.

    Each call gets its own copy of the data set, and of parameters that are lists, dicts, sets or arrays, so that its
    changes do not reach other calls. ``batched`` mechanisms are called f(dataset, size, rng, **parameters), others once
    for each output f(dataset, rng, **parameters). ``takes_rng`` says whether the signature has ``rng``.
    """

    function: Callable[..., Any]
    name: str
    batched: bool
    takes_rng: bool
    copied: Mapping[str, Any] = field(default_factory=dict)  # parameters that a call could change

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters of the mechanism."""
        bound = self.function.keywords if isinstance(self.function, functools.partial) else {}
        return {**bound, **self.copied}

    @classmethod
    def from_callable(cls, function: Callable[..., Any], parameters: Mapping[str, Any], name: str) -> "Mechanism":
        """Read the signature and bind the parameters. Raises MechanismError that says why they do not fit."""
        signature = signature_of(function, name)
        takes = signature.parameters
        batched, takes_rng = "size" in takes, "rng" in takes
        default = takes["size"].default if batched else None
        if default not in (inspect.Parameter.empty, None, 1):
            raise MechanismError(
                f'mechanism "{name}" has the parameter size={default!r}: `size` is reserved for the number of outputs. If that is '
                "what it means, remove the default; otherwise rename it, or wrap the mechanism in a function of (dataset, rng)"
            )
        own = {key: None for key, wanted in (("size", batched), ("rng", takes_rng)) if wanted}
        try:
            signature.bind(None, **own, **parameters)
        except TypeError as error:
            raise MechanismError(
                f'mechanism "{name}" has the signature {signature}, which cannot be called as '
                f"f(dataset, rng, **parameters) or f(dataset, size, rng, **parameters) "
                f"with the parameters {sorted(parameters)}: {error}; the data set comes first, the generator is called `rng`, "
                f"the number of outputs is called `size`, and all else needs a default or an entry in `parameters`"
            ) from None
        changeable = (list, dict, set, bytearray, np.ndarray)
        copied = {key: value for key, value in parameters.items() if isinstance(value, changeable)}
        kept = {key: value for key, value in parameters.items() if key not in copied}
        return cls(functools.partial(function, **kept) if kept else function, name, batched, takes_rng, copied)

    def batch(self, pair: Pair, labels: Labels, rng: Stream, least: int = 1) -> Sample | BaseException:
        on_left, forms, calls = int(np.count_nonzero(labels)), set(), calls_of(labels, least)
        drawn = {True: BatchOutputs(on_left), False: BatchOutputs(len(labels) - on_left)}
        for label, dataset, size in (one for call in calls for one in sides_of(pair, call)):
            batch = result_or_error(lambda: self.function(dataset, **self._given(rng, size)))  # noqa: B023 - it is called at once
            if issubclass(type(batch), BaseException):
                return batch  # type: ignore[no-any-return]
            drawn[label].add(batch, size)
            forms.add(batch_form(batch))
        if len(forms) > 1:
            raise changed_form(*sorted(forms)[:2])
        return Sample(drawn[True].outputs(), drawn[False].outputs(), "".join(forms), len(calls))

    def each(self, pair: Pair, labels: Labels, rng: Stream) -> Generator[Any, None, None]:
        draws = {label: self._caller(dataset, rng) for label, dataset, _ in sides_of(pair, labels)}
        for label in labels.tolist():
            output = result_or_error(draws[label])  # each failure is an output, and so is sys.exit()
            if self.batched and not isinstance(output, BaseException):
                from_batch(output, 1)  # raises MechanismError if the shape is wrong
                output = output[0]
            yield output

    def _caller(self, dataset: Any, rng: Stream) -> Callable[[], Any]:
        """Return a function that draws an output on a copy of a data set."""
        function, copy_of = self.function, copier(dataset)
        if self.copied:
            return lambda: function(copy_of(), **self._given(rng, 1))
        given = self._given(rng, 1)
        if given.keys() != {"rng"}:
            return lambda: function(copy_of(), **given)
        # This is several times as fast as keywords from a dict.
        if _is_constant(dataset):
            return lambda: function(dataset, rng=rng)
        return lambda: function(copy_of(), rng=rng)

    def changes(self, pair: Pair, rng: Stream) -> bool:
        """Whether a call changes the data set that it is given, in place. An audit gives each call a copy of its own."""
        for side in SIDES:
            data = pair.dataset(side)
            before = repr(plain(rows_of(data)))
            result_or_error(self.function, data, **self._given(rng, 1))
            if repr(plain(rows_of(data))) != before:
                return True
        return False

    def _given(self, rng: Stream, size: int) -> dict[str, Any]:
        """Return the keywords of a call for a number of outputs."""
        given = {**({"size": size} if self.batched else {}), **({"rng": rng} if self.takes_rng else {})}
        return {**given, **copy.deepcopy(dict(self.copied))} if self.copied else given
