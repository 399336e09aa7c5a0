"""HTML in which all text is escaped, except Markup. So no name or output can be read as HTML."""

import html
import unicodedata
from typing import TypeVar

T = TypeVar("T", bound=str)


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


VOID = frozenset({"meta", "wbr"})


def tag(name: str, /, *content: str, **attributes: str) -> Markup:
    """Return an element; what is not Markup is escaped. ``class_`` stands for class, ``aria_label`` for aria-label.

    >>> tag("p", "1 < 2 ", tag("b", "&"), class_="a\\"b")
    '<p class="a&quot;b">1 &lt; 2 <b>&amp;</b></p>'
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(visible(value))}"' for key, value in attributes.items()
    )
    start = f"<{name}{given}>"
    return Markup(start if name in VOID else f"{start}{joined(*content)}</{name}>")


def joined(*content: str) -> Markup:
    """Return several pieces in a row. What is not Markup is escaped."""
    return Markup("".join(one if isinstance(one, Markup) else html.escape(visible(one)) for one in content))


# Control characters, halves of surrogate pairs, and signs that turn the direction of writing.
_HIDDEN = frozenset({"Cc", "Cs", "Cf"})


def visible(text: str) -> str:
    """Spell out characters that cannot be seen, or cannot be written to a file; line breaks are spaces.

    >>> visible("a\\x00b\\nc\\ud800")
    'a\\\\x00b c\\\\ud800'
    """
    return "".join(
        " " if c in "\n\t" else c.encode("unicode_escape").decode() if unicodedata.category(c) in _HIDDEN else c
        for c in text
    )
