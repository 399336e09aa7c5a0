"""Samples as bytes and back, in several threads at once."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from auditor.blackbox.canonical import from_list
from auditor.blackbox.encoding import decode, encode
from auditor.blackbox.sample import Sample


def test_threads_read_samples_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy parses an array's header with Python's parser, which counts its depth for all threads together. If garbage
    were collected meanwhile, another thread would end in a SystemError, and a resumed run would report a changed file."""
    load, reading, most = np.load, 0, 0
    counting = threading.Lock()

    class Archive:
        """An archive that takes a moment to read, and counts its readers."""

        def __init__(self, *given: Any, **more: Any) -> None:
            self.archive = load(*given, **more)

        def __enter__(self) -> Any:
            nonlocal reading, most
            with counting:
                reading += 1
                most = max(most, reading)
            time.sleep(0.01)
            return self.archive.__enter__()

        def __exit__(self, *error: Any) -> None:
            nonlocal reading
            with counting:
                reading -= 1
            self.archive.__exit__(*error)

    monkeypatch.setattr(np, "load", Archive)
    sides = [from_list([(0.5, i, str(i)) for i in range(size)]) for size in (20, 30)]
    content = encode(Sample(*sides))
    with ThreadPoolExecutor(4) as threads:
        samples = list(threads.map(decode, [content] * 8))
    assert [sample.size for sample in samples] == [50] * 8
    assert most == 1
