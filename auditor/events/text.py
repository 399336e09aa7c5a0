"""Features of texts and of whole numbers: what two outputs that are never equal may have in common.

An atom that nearly every output has to itself says nothing as a category. But a reader can look at its letters, its
parts, and the numbers in it. Likewise a large integer has remainders. What these features cannot see is in ``unread``.
"""

import ast
import functools
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.blackbox.digests import DIGEST, UNREADABLE
from auditor.blackbox.number_text import number_leaves
from auditor.blackbox.outputs import ABSENT, NUMBER, OutputColumn, Outputs
from auditor.foreign_code import result_or_error
from auditor.interfaces import Feature

# A column is read as text if the outputs looked at have more than CATEGORIES different atoms. Fewer are categories.
CATEGORIES = 16
# The letters, parts and numbers of a text that are features of their own, from either end; fewer for few outputs.
LETTERS_READ, PARTS_READ, NUMBERS_READ, FEW_LETTERS, FEW_PARTS = 40, 8, 32, 8, 3
# Letters and words that are counted: the most frequent ones. A word is counted if this share of the outputs has it.
COUNTED, WORDS, OFTEN = 40, 16, 0.05
FEW_TEXTS = 200
# A number in a text is compared with so many of those before it.
STEPS_BACK = 3
# Whole numbers with a wide range of values have remainders that are features; those of a narrower range have few.
NARROW, WIDE = 32, 200
MODULI = (*range(2, 65), 97, 100, 128, 256, 1000, 1024)
FEW_MODULI = (2, 3, 5, 7, 10, 16, 100)
# Powers of two, whose remainders show every bit of an integer.
BITS = tuple(2**bit for bit in range(11, 64))
# A minute, an hour, a day and a week, in seconds and in the finer units in which times are counted.
CLOCK = tuple(span * unit for unit in (1, 10**3, 10**6, 10**9) for span in (60, 3_600, 86_400, 604_800))
# So many different whole numbers among the first ones show that there are many.
MANY, FIRST_NUMBERS = 32, 1_000
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?")
_WORD = re.compile(r"[^\W_]+")
NONE = "none"  # the atom of a text that has no such part
# A part or a template is a category of its own if this share of the outputs has it, and several have. Among thousands
# of rare categories the luckiest would hide what other features show.
FREQUENT, SEVERAL, ANOTHER = 0.005, 4, "another"


def text_of(atom: str) -> str:
    """Return the text that an atom spells, with a character for each byte of bytes. Other atoms stand for themselves.

    >>> text_of("'a@b.org'"), text_of(repr(b"\\xff!")), text_of("raises ValueError")
    ('a@b.org', 'ÿ!', 'raises ValueError')
    """
    if not atom.startswith(("'", '"', "b'", 'b"')):
        return atom
    if atom[0] != "b" and "\\" not in atom:
        return atom[1:-1]
    value = result_or_error(ast.literal_eval, atom)
    return value.decode("latin-1") if isinstance(value, bytes) else value if isinstance(value, str) else atom


@functools.lru_cache(maxsize=4)
def _texts(atoms: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(text_of, atoms))


@functools.lru_cache(maxsize=4)
def _letters(atoms: tuple[str, ...], from_end: bool) -> NDArray[np.uint32]:
    """Return the first or the last LETTERS_READ characters of each text, as numbers; 0 beyond its end."""
    cut = [text[: -LETTERS_READ - 1 : -1] if from_end else text[:LETTERS_READ] for text in _texts(atoms)]
    return np.array(cut or [""], f"U{LETTERS_READ}").view(np.uint32).reshape(-1, LETTERS_READ)


@functools.lru_cache(maxsize=4)
def _words(atoms: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(_WORD.findall(text)) for text in _texts(atoms))


@functools.lru_cache(maxsize=4)
def _numbers(atoms: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(_NUMBER.findall(text)) for text in _texts(atoms))


def _of_atoms(name: str, column: OutputColumn, values: Sequence[float | str]) -> OutputColumn:
    """Return the column with a number or an atom in place of each atom. Numbers stay as they are."""
    if column.codes is None:
        return OutputColumn(name, column.numbers)
    atoms = dict[str, int]()
    codes = [NUMBER if isinstance(value, float) else atoms.setdefault(value, len(atoms)) for value in values]
    numbers = [value if isinstance(value, float) else 0.0 for value in values]
    of_code = np.array([*codes, NUMBER], np.int32)  # the code of a number, which is -1, finds the last entry
    inside = np.array([*numbers, 0.0])
    is_number = column.codes == NUMBER
    return OutputColumn(
        name, np.where(is_number, column.numbers, inside[column.codes]), of_code[column.codes], tuple(atoms)
    )


def _ordinal(at: int, what: str) -> str:
    """Say which part is meant, from the beginning, or for negative numbers from the end.

    >>> _ordinal(0, "letter"), _ordinal(-1, "letter"), _ordinal(-2, "part")
    ('letter 1', 'last letter', 'part 2 from the end')
    """
    return f"{what} {at + 1}" if at >= 0 else f"last {what}" if at == -1 else f"{what} {-at} from the end"


@dataclass(frozen=True, slots=True)
class Letter:
    """The character at a position of a text; a negative position counts from the end."""

    place: str
    at: int

    @property
    def name(self) -> str:
        return f"{_ordinal(self.at, 'letter')} of {self.place}"

    def extract(self, outputs: Outputs) -> OutputColumn:
        column = outputs.column(self.place)
        if not column.atoms:
            return _of_atoms(self.name, column, ())
        letters = _letters(column.atoms, self.at < 0)[:, self.at if self.at >= 0 else -1 - self.at]
        spelled = {code: repr(chr(code)) if code else NONE for code in np.unique(letters).tolist()}
        return _of_atoms(self.name, column, [spelled[code] for code in letters.tolist()])


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a text between characters that are neither letters nor digits. A part that spells a number is one.

    Other parts than the ``frequent`` ones are one category.
    """

    place: str
    at: int
    frequent: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{_ordinal(self.at, 'part')} of {self.place}"

    def extract(self, outputs: Outputs) -> OutputColumn:
        column = outputs.column(self.place)
        return _of_atoms(
            self.name, column, _known([_as_read(part) for part in _at(_words(column.atoms), self.at)], self)
        )


@dataclass(frozen=True, slots=True)
class NumberInText:
    """A number that is written in a text: the first, the second, …, or counted from the end."""

    place: str
    at: int

    @property
    def name(self) -> str:
        return f"{_ordinal(self.at, 'number')} in {self.place}"

    def extract(self, outputs: Outputs) -> OutputColumn:
        column = outputs.column(self.place)
        return _of_atoms(self.name, column, [_as_read(part) for part in _at(_numbers(column.atoms), self.at)])


@dataclass(frozen=True, slots=True)
class StepInText:
    """A number that is written in a text, minus one of those before it, such as the end of something minus its start."""

    place: str
    at: int
    back: int = 1

    @property
    def name(self) -> str:
        before = "the one before" if self.back == 1 else f"that {self.back} before"
        return f"{_ordinal(self.at, 'number')} minus {before} in {self.place}"

    def extract(self, outputs: Outputs) -> OutputColumn:
        column = outputs.column(self.place)
        numbers = _numbers(column.atoms)
        parts = zip(_at(numbers, self.at), _at(numbers, self.at - self.back), strict=True)
        steps = [_step(_as_read(part), _as_read(before)) for part, before in parts]
        return _of_atoms(self.name, column, steps)


def _step(number: float | str, before: float | str) -> float | str:
    is_known = isinstance(number, float) and isinstance(before, float)
    return number - before if is_known and math.isfinite(number - before) else NONE  # type: ignore[operator]


def _at(parts: Sequence[Sequence[str]], at: int) -> list[str | None]:
    least = at + 1 if at >= 0 else -at
    return [some[at] if len(some) >= least else None for some in parts]


@functools.lru_cache(maxsize=2**16)  # several features read the same number
def _as_read(part: str | None) -> float | str:
    if part is None:
        return NONE
    leaves = number_leaves("", part)
    return float(leaves[""]) if leaves else repr(part)


@dataclass(frozen=True, slots=True)
class Template:
    """A text with a sign in place of each number. It and the numbers are the whole text, but for how they are written.

    Other templates than the ``frequent`` ones are one category.
    """

    place: str
    frequent: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.place} without its numbers"

    def extract(self, outputs: Outputs) -> OutputColumn:
        column = outputs.column(self.place)
        return _of_atoms(self.name, column, _known(_templates(column.atoms), self))


def _templates(atoms: tuple[str, ...]) -> list[float | str]:
    return [repr(_NUMBER.sub("#", text)) for text in _texts(atoms)]


def _known(values: Sequence[float | str], feature: "TextPart | Template") -> list[float | str]:
    frequent = {*feature.frequent, NONE}
    return [value if isinstance(value, float) or value in frequent else ANOTHER for value in values]


def _frequent(values: Sequence[float | str]) -> tuple[str, ...]:
    """Return the atoms that are frequent among the values of different texts."""
    least = max(SEVERAL, FREQUENT * len(values))
    return tuple(atom for atom, times in Counter(values).most_common() if isinstance(atom, str) and times >= least)


def _count_of(*letters: Callable[[str], bool]) -> Callable[[str], float]:
    return lambda text: float(sum(map(letters[0], text)))


# What may be counted in a text, by name.
TEXT_COUNTERS: dict[str, Callable[[str], float]] = {
    "capitals": _count_of(str.isupper),
    "digits": _count_of(str.isdigit),
    "spaces": _count_of(str.isspace),
    "signs": _count_of(lambda letter: not (letter.isalnum() or letter.isspace())),
    "letters equal to the one before": lambda text: float(sum(a == b for a, b in itertools.pairwise(text))),
    "letters below the one before": lambda text: float(sum(a > b for a, b in itertools.pairwise(text))),
}


@dataclass(frozen=True, slots=True)
class TextCount:
    """How often something ``of`` the kinds in TEXT_COUNTERS, a ``letter``, or a ``word`` occurs in a text."""

    place: str
    of: str = ""
    letter: str = ""
    word: str = ""

    @property
    def name(self) -> str:
        return f"count of {self.of or repr(self.letter or self.word)} in {self.place}"

    def extract(self, outputs: Outputs) -> OutputColumn:
        column = outputs.column(self.place)
        if self.word:
            return _of_atoms(self.name, column, [float(words.count(self.word)) for words in _words(column.atoms)])
        count = TEXT_COUNTERS[self.of] if self.of else lambda text: float(text.count(self.letter))
        return _of_atoms(self.name, column, [*map(count, _texts(column.atoms))])


@dataclass(frozen=True, slots=True)
class Remainder:
    """The remainder of a whole number. Of an integer beyond 2⁵³, what the float lacks is at the place of the rounding."""

    place: str
    modulus: int

    @property
    def name(self) -> str:
        return f"{self.place} modulo {self.modulus}"

    def extract(self, outputs: Outputs) -> OutputColumn:
        """Return the remainder of each whole number. Other numbers, and atoms, become one atom."""
        column, lacks = outputs.column(self.place), outputs.column(f"rounded off {self.place}")
        whole = column.is_finite & (column.numbers == np.rint(column.numbers))
        if lacks.only_atom != ABSENT:
            is_known = (
                lacks.is_finite if lacks.codes is None else lacks.is_finite | (lacks.codes == _code_of(lacks, ABSENT))
            )
            whole &= is_known
        rest = np.where(lacks.is_finite, lacks.numbers, 0.0)
        numbers = np.where(whole, column.numbers, 0.0)
        remainders = np.mod(np.mod(numbers, self.modulus) + np.mod(rest, self.modulus), self.modulus)
        codes = None if whole.all() else np.where(whole, NUMBER, 0).astype(np.int32)
        return OutputColumn(
            self.name, np.where(whole, remainders, 0.0) + 0.0, codes, () if codes is None else ("no whole number",)
        )


def _code_of(column: OutputColumn, atom: str) -> int:
    """Return the code of an atom; a code that no cell has if no cell holds the atom."""
    return column.atoms.index(atom) if atom in column.atoms else NUMBER - 1


def features_of_texts(outputs: Outputs, places: Sequence[str]) -> Iterator[Feature]:
    """Yield the features of texts, and of whole numbers, at those of the places where hardly two outputs are equal."""
    few = outputs.size < FEW_TEXTS
    for place in places:
        column = outputs.column(place)
        if place.startswith("type"):
            continue
        yield from (Remainder(place, modulus) for modulus in _moduli(column, few))
        if len(column.atoms) > CATEGORIES:
            yield from _of_one_text(place, column.atoms, few)


def _moduli(column: OutputColumn, few: bool) -> Sequence[int]:
    """Return the moduli for the whole numbers in a column, which may hold other numbers and atoms, too."""
    numbers = column.numbers[:FIRST_NUMBERS][column.is_finite[:FIRST_NUMBERS]]
    # A float above 2⁶⁴ is whole by its size alone.
    whole = numbers[(numbers == np.rint(numbers)) & (np.abs(numbers) < 2.0**64)]
    reach = np.ptp(whole) if whole.size else 0.0
    if reach < NARROW or len(np.unique(whole)) <= min(MANY, len(numbers) / 2):
        return ()
    return (
        FEW_MODULI
        if few or reach < WIDE
        else (*MODULI, *(span for span in (*BITS, *CLOCK) if 2 * span <= reach and span not in MODULI))
    )


def _of_one_text(place: str, atoms: tuple[str, ...], few: bool) -> Iterator[Feature]:
    texts, words, numbers = _texts(atoms), _words(atoms), _numbers(atoms)
    if any(numbers):
        yield Template(place, _frequent(_templates(atoms)))
        varied = _varied(numbers)[:NUMBERS_READ]
        yield from (NumberInText(place, at) for at in varied)
        pairs = itertools.product(() if few else varied, range(1, STEPS_BACK + 1))
        yield from (StepInText(place, at, back) for at, back in pairs if at - back in varied)
    for at in _ends(words, FEW_PARTS if few else PARTS_READ):
        yield TextPart(place, at, _frequent([_as_read(part) for part in _at(words, at)]))
    yield from (Letter(place, at) for at in _ends(texts, FEW_LETTERS if few else LETTERS_READ))
    yield from (TextCount(place, of=kind) for kind in TEXT_COUNTERS)
    if few:
        return
    letters = Counter(itertools.chain.from_iterable(map(set, texts))).most_common(COUNTED)
    yield from (TextCount(place, letter=letter) for letter, _ in letters)
    frequent_words = Counter(itertools.chain.from_iterable(map(set, words))).most_common(WORDS)
    yield from (TextCount(place, word=word) for word, times in frequent_words if times >= OFTEN * len(texts))


def _varied(numbers: Sequence[Sequence[str]]) -> list[int]:
    """Return the positions of numbers that differ from text to text, counted from the end where texts have more or fewer.

    Texts without a number, such as the atom of outputs that lack the place, have none at any position.
    """
    with_some = [*filter(None, numbers)]
    lengths = {*map(len, with_some)}
    least = min(lengths, default=0)
    ends = range(-1, -1 - least, -1) if len(lengths) > 1 else ()
    return [at for at in (*range(least), *ends) if len({some[at] for some in with_some}) > 1]


def _ends(parts: Sequence[Sequence[Any]], most: int) -> list[int]:
    """Return the positions that some have, from the beginning, and from the end if their lengths differ."""
    lengths = {*map(len, parts)}
    reach = min(most, max(lengths, default=0))
    from_end = range(-1, -1 - reach, -1) if len(lengths) > 1 or max(lengths, default=0) > most else ()
    return [*range(reach), *from_end]


# --- What no feature looks at ---

# A column of atoms is read as categories if each has READ outputs on average: then rules can tell its atoms apart.
READ = 8
# A number of three digits or more that begins with a zero is a code, which holds more than its size; a day or an hour
# has two. CODES is a share of outputs.
_LEADING_ZERO = re.compile(r"(?<![\d.])0\d\d")
CODES = 0.02
# If each atom occurs in READ outputs on average, few outputs have an atom that occurs so rarely.
SEEN_RARELY = 2
# Beside categories, texts that are longer than what is read of them are named if this share of the outputs has one to itself.
RARE = 0.001


DIFFERS_BY_CALL = "differs from call to call and was not read as a whole"
DIFFER = "differ from call to call and were not read as a code"


def unread(outputs: Outputs) -> list[str]:
    """Say which parts of outputs differ from call to call, and were not read as a whole: a clause for each.

    Such a part is a text that nearly every output has to itself, and that is more than a fixed text with numbers; a
    number that is written as a code; places, such as the keys of a dict, that hardly two outputs share; or what is known by
    a digest only. What cannot be read at all is named too, since nobody knows whether it differs.
    """
    named, lonely = dict[str, None](), Counter[str]()
    for column in outputs.columns:
        if column.codes is None:
            continue
        if any(UNREADABLE in atom for atom in column.atoms):
            named[f"`{column.name}` {UNREADABLE}"] = None
        if column.only_atom is not None:
            continue
        there = np.count_nonzero(column.codes != _code_of(column, ABSENT))
        if there < READ:
            if place := _place_of(column.name):
                lonely[place] += 1
        elif column.name.startswith("form of "):
            codes = sum(
                np.count_nonzero(column.codes == code) for code, atom in enumerate(column.atoms) if atom[:2] == "00"
            )
            if codes >= CODES * outputs.size:
                named[f"the digits of `{column.name.removeprefix('form of ')}` {DIFFER}"] = None
        elif not _is_read(column):
            named[f"{'' if ' of ' in column.name else 'the text of '}`{column.name}` {DIFFERS_BY_CALL}"] = None
    many = [place for place, times in lonely.items() if times > 4 * CATEGORIES]
    return [*named, *(f"what `{place}` holds at places that few outputs have {DIFFERS_BY_CALL}" for place in many)]


def _place_of(name: str) -> str:
    """Return the container of a place that few outputs have.

    >>> _place_of("type of output[1]['x']"), _place_of("'a' in output[1]"), _place_of("item 3 of output")
    ('output[1]', 'output[1]', 'output')
    """
    inside, separator, container = name.rpartition(" in ")
    if (separator and inside.startswith(("'", '"'))) or inside.lstrip("-").isdigit():
        return container
    if match := re.fullmatch(r"(?:.* of )?(?:item|number) \d+ of (.*)", name):
        return match[1]
    return re.sub(r"^.* of ", "", name).rpartition("[")[0]


def _is_read(column: OutputColumn) -> bool:
    assert column.codes is not None
    codes = column.codes[column.codes >= 0]
    times, some = np.bincount(codes, minlength=len(column.atoms)), column.atoms
    if len(some) <= CATEGORIES or _are_categories(times, len(column.codes)):
        some = tuple(
            atom for atom, seen in zip(some, times.tolist(), strict=True) if seen <= SEEN_RARELY and _is_far(atom)
        )
        if len(some) < max(SEVERAL, RARE * len(column.codes)):
            return True
    some = some[:: max(1, len(some) // 2_000)]
    texts, numbers = _texts(some), _numbers(some)
    if any(DIGEST in text for text in texts) or sum(bool(_LEADING_ZERO.search(text)) for text in texts) >= CODES * len(
        some
    ):
        return False
    # Each number that varies is looked at by its size. If there are more, or a number moves, some are not.
    if len({*map(len, filter(None, numbers))}) > 1 or len(_varied(numbers)) > NUMBERS_READ:
        return False
    templates = _templates(some)
    seen = Counter(templates)
    far = sum(seen[template] <= SEEN_RARELY and _is_far(str(template)) for template in templates)
    if far >= max(SEVERAL, RARE * len(some)):
        return False
    return len(seen) <= CATEGORIES or _are_categories(np.array([*seen.values()]), len(some))


def _is_far(atom: str) -> bool:
    """Whether an atom holds more than its letters from either end show."""
    return DIGEST in atom or len(atom) > 2 * LETTERS_READ


def _are_categories(times: NDArray[np.int_], size: int) -> bool:
    """Whether things that occur this often in ``size`` outputs can be categories: hardly any output has one to itself."""
    rare = times[times <= SEEN_RARELY].sum()
    return bool(READ * len(times) <= times.sum() and rare <= CODES * size)
