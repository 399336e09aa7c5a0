"""Pages of the documents whose examples take long do what they show."""

from pathlib import Path

import pytest
from pages import LONG, does_what_it_shows


@pytest.mark.parametrize("name", sorted(LONG))
def test_a_page_does_what_it_shows(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    does_what_it_shows(name, tmp_path, monkeypatch)
