"""Turns of phrase that a reader stumbles over stay out of what people read: the package and the documents."""

import re

import pytest
from pages import PROJECT

# What to write instead, by the turn that is banned.
BANNED = {
    r"so (?:many|much|few|little)\b[^.;:]{0,60}?\bas\b": "the quantity, such as: this number of outputs",
    r"told\b|_told|told_": "reported, said, or message",
    r"mend(?:s|ed|ing)?\b": "fix",
    r"afar\b": "at a distance, or at distance k",
    r"oftener\b": "more often",
    # The key of report.json stays.
    r"(?<!highest_log_)capitals?\b": "wealth",
}
FILES = [
    *sorted((PROJECT / "auditor").rglob("*.py")),
    *sorted((PROJECT / "docs").rglob("*.md")),
    PROJECT / "docs" / "made.py",
    *sorted(PROJECT.glob("*.md")),
    *sorted((PROJECT / "examples").rglob("*.md")),
    PROJECT / "tests" / "README.md",
]


def found(text: str) -> list[tuple[int, str, str]]:
    """Return line, turn and what to write instead, for each banned turn in a text; a turn may go over a line break."""
    return [
        (text.count("\n", 0, match.start()) + 1, " ".join(match[0].split()), instead)
        for turn, instead in BANNED.items()
        for match in re.finditer(rf"(?<![a-z]){turn}", text, re.IGNORECASE)
    ]


def test_no_banned_turn_is_in_the_package_or_the_documents() -> None:
    places = [
        f"{file.relative_to(PROJECT)}, line {line}: “{turn}”; write {instead}"
        for file in FILES
        for line, turn, instead in found(file.read_text(encoding="utf-8"))
    ]
    assert not places, "\n".join(places)


@pytest.mark.parametrize(
    "text",
    [
        "with so many outputs as asked for",
        "so much noise\nas is needed",
        "so few as two",
        "told = message",
        "what_is_told",
        "as the user was told",
        "mend that first",
        "looked at from afar",
        "no oftener than before",
        "the capital reaches 1/α",
        "log_capital",
    ],
)
def test_this_file_notices(text: str) -> None:
    assert len(found(text)) == 1


def test_other_words_pass() -> None:
    assert found("highest_log_capital, amended, recommend, so many outputs. As before, capitalise(), foretold") == []
