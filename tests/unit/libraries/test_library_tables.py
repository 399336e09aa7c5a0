"""The tables of libraries that are swept: the settings of their examples are settings of audits."""

from pathlib import Path

import pytest

from auditor.auditing.plan import Settings
from auditor.libraries.library_table import HERE, load_table

TABLES = sorted(path.stem for path in HERE.glob("*.yaml"))


@pytest.mark.parametrize("name", TABLES)
def test_the_settings_of_examples_are_settings_of_audits(name: str) -> None:
    """A sweep writes them into a configuration, which is refused as a whole if one of them is not valid."""
    examples = [example for of_name in load_table(name).examples.values() for example in of_name]
    for example in examples:
        given = example.model_dump(include={"samples", "search", "planted"}, exclude_none=True)
        assert Settings.of(given)


def test_tables_are_found() -> None:
    assert {"diffprivlib", "opendp", "snsql"} <= set(TABLES)
    assert Path(HERE / "snsql.yaml").is_file()
