"""What outputs depend on in addition to the file of a mechanism: modules that it imports, and files that it reads.

An audit hook of Python sees what a process opens. It does not see what a library opens in C, nor what other programs do.
"""

import contextlib
import contextvars
import functools
import hashlib
import importlib.metadata
import os
import shlex
import site
import stat
import sys
import sysconfig
import tempfile
import threading
import urllib.parse
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

T = TypeVar("T")

# In place of a file's digest. What changes while it is used is never as it was.
MISSING, WRITTEN, CHANGES = "missing", "written by the mechanism", "changes during a run"
# Hexadecimal digits of a file's SHA-256: enough to detect a change, few enough to read.
DIGITS = 16
# Of a larger file (bytes), size and time of the last change stand for the content, since each worker reads it once more.
LARGE = 1 << 28
# A mechanism may read a new file for each output. Past so many a run cannot be resumed.
MOST = 10_000
TOO_MANY = f"files past the first {MOST:,}"
# Before the name of an installed package.
PACKAGE = "package "
_INSTALLED = tuple(
    f"{folder}{os.sep}"
    for folder in {sysconfig.get_path(key) for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    | {site.getusersitepackages(), str(Path(__file__).parent.parent)}
)
_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_ZIP = "python{}{}.zip".format(*sys.version_info)  # Python looks for it at each import
_NO_FILES = ("/proc/", "/dev/", "/sys/")


_UNWATCHED = contextvars.ContextVar("unwatched", default=False)  # each thread has its own


class _Watch:
    """What this process has seen during one run."""

    def __init__(self) -> None:
        self.run, self.has_hook, self.lock = "", False, threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self.opened: dict[str, bool] = {}  # since it was asked; and whether to write
        self.seen: dict[str, str] = {}
        self.known: dict[str, tuple[tuple[int, int], str]] = {}  # time and size of a file, and its content then
        self.modules = (0, False)  # how many of them were looked at, and whether for packages

    def begin(self, run: str) -> None:
        with self.lock:
            if run != self.run:
                self._forget()
            self.run = run
            if run and not self.has_hook:
                sys.addaudithook(_hook)
                self.has_hook = True

    def look(self, packages: bool) -> dict[str, str]:
        with self.lock:
            while self.opened:
                path, is_written = self.opened.popitem()
                if not is_written:
                    self._add(path, self._content(path))
                elif path in self.seen or Path(path).exists():  # a temporary file is forgotten
                    self._add(path, WRITTEN)
            if (len(sys.modules), packages) != self.modules:
                self.modules = len(sys.modules), packages
                for name in {_origin(name, module) for name, module in list(sys.modules.items())} - {""}:
                    if not name.startswith(PACKAGE):
                        self._add(name, self._content(name))
                    elif packages:
                        self._add(name, "")
            return dict(self.seen)

    def note(self, seen: Mapping[str, str]) -> None:
        with self.lock:
            for name, found in seen.items():
                self._add(name, found)

    def contents(self, paths: Iterable[str]) -> dict[str, str]:
        with self.lock:
            return {path: self._content(path) for path in paths}

    def _content(self, path: str) -> str:
        try:
            status = Path(path).stat()
        except OSError:
            return MISSING
        written = status.st_mtime_ns, status.st_size
        if self.known.get(path, (None, ""))[0] != written:
            self.known[path] = written, content(path)
        return self.known[path][1]

    def _add(self, name: str, found: str) -> None:
        if found == MISSING and name not in self.seen and name.startswith(tempfile.gettempdir()):
            return
        if name in self.seen or len(self.seen) < MOST:
            self.seen[name] = merged(self.seen.get(name), found)
        elif found != WRITTEN:
            self.seen[TOO_MANY] = CHANGES


_WATCH = _Watch()


def watch(run: str) -> None:
    """Note the files that this process opens for a run from now on, and forget those of earlier runs. "" stands for no run."""
    _WATCH.begin(run)


def watched_run() -> str:
    """Return the run for which this process notes opened files, or ""."""
    return _WATCH.run


@contextlib.contextmanager
def unwatched() -> Iterator[None]:
    """Within the block, do not note files that this thread opens."""
    before = _UNWATCHED.set(True)
    try:
        yield
    finally:
        _UNWATCHED.reset(before)


def watched(run: str, packages: bool, function: Callable[..., T], *arguments: Any) -> tuple[T, Mapping[str, str]]:
    """Call a function; return its result, and all inputs that its process has seen for the run, if there is a run. Workers call
    this.
    """
    watch(run)
    return function(*arguments), inputs(packages)


def inputs(packages: bool = True) -> dict[str, str]:
    """Return the inputs of this process: the digest of each opened file by path, and the imported ``packages``.

    A process that only starts others has packages of its own, which no output depends on.
    """
    return _WATCH.look(packages) if _WATCH.run else {}


def named_files(parameters: Mapping[str, Any], folders: Iterable[str]) -> list[Path]:
    """Return the files that parameters name, with paths from any of the folders."""
    texts = [value for value in parameters.values() if isinstance(value, str)]
    return [Path(folder, text) for text in texts for folder in folders if os.path.isfile(os.path.join(folder, text))]  # noqa: PTH113, PTH118 - any text may be asked about


def contents(paths: Iterable[Path]) -> dict[str, str]:
    """Return the digests of files as they are now, if there is a run. A mechanism may open them unseen."""
    return _WATCH.contents(map(os.path.abspath, paths)) if _WATCH.run else {}


def note(seen: Mapping[str, str]) -> None:
    """Add the inputs of another process that works for this one."""
    _WATCH.note(seen)


def merged(before: str | None, now: str) -> str:
    """Return the digest to keep for a file that was opened twice."""
    if before is None or before == now:
        return now
    return WRITTEN if WRITTEN in (before, now) else CHANGES


def changes_since(before: Mapping[str, str], folder: Path) -> Iterator[str]:
    """Yield in words each difference between earlier and present inputs. Their paths begin at a folder."""
    for name, found in before.items():
        now = content(name if name.startswith(PACKAGE) else str(folder / name))
        if found not in (WRITTEN, now):
            yield f"{name}: {found}" if found == CHANGES else f"{name}: {found} before, {now} now"


def content(name: str) -> str:
    """Return a digest of a file's content, or the version of a package."""
    if name.startswith(PACKAGE):
        return _version(name.removeprefix(PACKAGE))
    try:
        status = Path(name).stat()
        if not stat.S_ISREG(status.st_mode):
            return WRITTEN  # a folder, a pipe or a socket has no content to compare
        if status.st_size > LARGE:
            return f"{status.st_size} bytes of {status.st_mtime_ns}"
        with unwatched(), Path(name).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:DIGITS]
    except (OSError, ValueError):  # a name that no file can have
        return MISSING


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not _WATCH.run or _UNWATCHED.get():
        return
    # An exception here would end what the mechanism does.
    with contextlib.suppress(Exception):
        if event == "open":
            path, _, flags = arguments
            _note_path(path, bool((flags or 0) & (os.O_WRONLY | os.O_RDWR)))
        elif event in ("sqlite3.connect", "ctypes.dlopen"):
            path = os.fsdecode(arguments[0])
            if path.startswith("file:"):  # as sqlite3.connect takes it, with options
                path = urllib.parse.unquote(urllib.parse.urlsplit(path).path)
            if Path(path).is_file():
                _note_path(path)
        elif event == "subprocess.Popen":
            program, given, folder, _ = arguments
            words = shlex.split(given) if isinstance(given, str) else given
            for path in {Path(folder or "", os.fsdecode(word)) for word in (program, *words) if word}:
                if path.is_file():
                    _note_path(str(path))


def _note_path(path: Any, is_written: bool = False) -> None:
    if not isinstance(path, str | bytes):
        return
    path = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - a link is an input itself: it may point to another file later
    if not (path.endswith((".pyc", _ZIP)) or _is_installed(path) or path.startswith(_NO_FILES)):
        _WATCH.opened[path] = is_written or _WATCH.opened.get(path, False)


def _is_installed(path: str) -> bool:
    return path.startswith(_INSTALLED) or any(part in path for part in _PACKAGES)


def _origin(name: str, module: object) -> str:
    """Return the file of a module, or the package that it is of; nothing if it is Python's or the auditor's."""
    file = vars(module).get("__file__") if isinstance(module, ModuleType) else None
    if not isinstance(file, str):
        return ""
    if any(part in file for part in _PACKAGES) and name.startswith("_"):
        return ""
    if any(part in file for part in _PACKAGES):
        return PACKAGE + name.partition(".")[0]
    path = Path(file).absolute()
    while not path.exists() and path != path.parent:  # a module within an archive
        path = path.parent
    return "" if _is_installed(str(path)) else str(path)


def _version(package: str) -> str:
    with unwatched():
        try:
            return importlib.metadata.version(package)
        except (importlib.metadata.PackageNotFoundError, ValueError):  # the latter for an empty name
            found = sorted(set(_distributions().get(package, ())))
            return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in found) or MISSING


@functools.cache
def _distributions() -> Mapping[str, list[str]]:
    return importlib.metadata.packages_distributions()
