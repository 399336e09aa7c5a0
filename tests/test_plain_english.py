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
    r"one\s+and\s+the\s+same\b": "identical",
    r"proved\s+all\s+the\s+same\b": "weaker bound proved",
    r"by\s+which\s+no\b": "too few …, however large …",
    r"would\s+do\s+without\b": "without …, nothing can …",
    r"would\s+have\s+been\s+caught\b": "the audit detects",
}
# The readers of the source still say these.
BANNED_OUTSIDE_PROOFS = {
    r"as\s+what\b": "how something is passed",
    r"beside\b": "next to, or in addition to",
}
FILES = [
    *sorted((PROJECT / "auditor").rglob("*.py")),
    *sorted((PROJECT / "auditor").rglob("*.jinja")),
    *sorted((PROJECT / "docs").rglob("*.md")),
    PROJECT / "docs" / "made.py",
    *sorted(PROJECT.glob("*.md")),
    *sorted((PROJECT / "examples").rglob("*.md")),
    PROJECT / "tests" / "README.md",
]


def found(text: str, banned: dict[str, str] = BANNED | BANNED_OUTSIDE_PROOFS) -> list[tuple[int, str, str]]:
    """Return line, turn and what to write instead, for each banned turn in a text; a turn may go over a line break."""
    return [
        (text.count("\n", 0, match.start()) + 1, " ".join(match[0].split()), instead)
        for turn, instead in banned.items()
        for match in re.finditer(rf"(?<![a-z]){turn}", text, re.IGNORECASE)
    ]


def test_no_banned_turn_is_in_the_package_or_the_documents() -> None:
    places = [
        f"{file.relative_to(PROJECT)}, line {line}: “{turn}”; write {instead}"
        for file in FILES
        for line, turn, instead in found(
            file.read_text(encoding="utf-8"),
            BANNED if file.parent.name == "proofs" else BANNED | BANNED_OUTSIDE_PROOFS,
        )
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
        "outputs are one\nand the same",
        "Proved all the same: ε ≤ 2",
        "by which no violation refutes it",
        "no number of canaries would do without apart",
        "a violation would have been caught",
        "As what it arrives",
        "the file beside the report",
    ],
)
def test_this_file_notices(text: str) -> None:
    assert len(found(text)) == 1


def test_other_words_pass() -> None:
    assert (
        found("highest_log_capital, amended, recommend, so many outputs. As before, capitalise(), foretold, besides")
        == []
    )
