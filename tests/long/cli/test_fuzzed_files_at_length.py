"""Files of each format, corrupted at random 20,000 times."""

from pathlib import Path

import pytest
from spoilt_files import FORMATS, fuzz, make_files_to_spoil


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fuzzed")
    make_files_to_spoil(folder)
    return folder


@pytest.mark.parametrize("name", FORMATS)
def test_many_spoilt_files_are_read_or_refused(name: str, folder: Path) -> None:
    ended = fuzz(name, folder, 20_000)
    print(name, dict(ended))
    assert min(ended["read"], ended["refused"]) > 0 or name == "answer"
