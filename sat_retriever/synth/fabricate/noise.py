"""Add noise to headers, texts and numbers, and replace free text by typed placeholders."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from sat_retriever._extras import require
from sat_retriever.synth.book.model import Book, Column, Sheet
from sat_retriever.synth.book.rewrite import Cell
from sat_retriever.synth.fabricate.split import FabricateOptions, SchemaNoise
from sat_retriever.workbook.tables.columns import NOTE_LENGTH

# Rows of keys, each with its offset to the right in key widths.
_LETTERS = (("qwertyuiop", 0.0), ("asdfghjkl", 0.25), ("zxcvbnm", 0.75))
_DIGITS = (("1234567890", 0.0),)
_REACH = 1.3  # key widths; keys within this distance touch


def _neighbours(rows: tuple[tuple[str, float], ...]) -> dict[str, str]:
    keys = {
        key: (place + shift, float(row))
        for row, (letters, shift) in enumerate(rows)
        for place, key in enumerate(letters)
    }
    return {
        key: "".join(
            other
            for other, (left, top) in keys.items()
            if other != key and (x - left) ** 2 + (y - top) ** 2 <= _REACH**2
        )
        for key, (x, y) in keys.items()
    }


NEIGHBOURS: Mapping[str, str] = MappingProxyType(_neighbours(_LETTERS) | _neighbours(_DIGITS))
"""The keys adjacent to the key of a letter or digit; letters touch letters, digits digits."""


def mistyped(text: str, probability: float, chance: random.Random) -> str:
    """Replace each letter and digit, with a probability, by an adjacent key.

    Case is kept, letters stay letters and digits digits; spaces and marks stay.

    Source: paper, appendix on pair generation, string noise with probability 0.20.

    >>> mistyped("Total 7", 0, random.Random(1)), NEIGHBOURS["a"], NEIGHBOURS["1"]
    ('Total 7', 'qwsz', '2')
    """
    letters = []
    for letter in text:
        near = NEIGHBOURS.get(letter.lower(), "")
        if near and chance.random() < probability:
            slip = chance.choice(near)
            letters.append(slip.upper() if letter.isupper() else slip)
        else:
            letters.append(letter)
    return "".join(letters)


_VOWELS = frozenset("aeiouAEIOU")
_SHORT = 4  # letters kept of a word


def noised_columns(
    sheet: Sheet, spared: Collection[str], options: FabricateOptions, chance: random.Random
) -> Sheet:
    """Add noise to all plain texts and numbers; recipes, dates and booleans stay."""
    columns = (
        column if column.id in spared else _noised(column, options, chance)
        for column in sheet.columns
    )
    return replace(sheet, columns=tuple(columns))


def _noised(column: Column, options: FabricateOptions, chance: random.Random) -> Column:
    cells: list[Cell] = list(column.cells)
    texts = [place for place, cell in enumerate(cells) if isinstance(cell, str)]
    if options.string_noise:
        for place in texts:
            cells[place] = noised_text(str(cells[place]), options.string_noise, chance)
    if options.numeric_noise is not None:
        numbers = {
            place: cell
            for place, cell in enumerate(cells)
            if isinstance(cell, int | float) and not isinstance(cell, bool)
        }
        fresh = noised_numbers([*numbers.values()], options.numeric_noise, chance)
        for place, number in zip(numbers, fresh, strict=True):
            cells[place] = number
    return replace(column, cells=tuple(cells))


def noised_text(text: str, probability: float, chance: random.Random) -> str:
    """Write a text in ASCII letters, and mistype each letter and digit with a probability.

    Source: paper, appendix on pair generation. Departs: anyascii (ISC) transliterates, not
    unidecode (GPL).

    Raises:
        MissingExtraError: If anyascii is not installed and the text is not ASCII.

    >>> noised_text("Zürich", 0, random.Random(1))
    'Zurich'
    """
    if not text.isascii():
        text = require("anyascii", "synth").anyascii(text)
    return mistyped(text, probability, chance)


def noised_numbers(
    values: Sequence[int | float], spread: tuple[float, float], chance: random.Random
) -> list[int | float]:
    """Draw as many numbers from a folded normal distribution near that of the values.

    Each number is |N(m', s'^2)| with m' = m (1 + e), s' = s (1 + f) for the values' mean m and
    standard deviation s; e and f are drawn separately, uniformly from the spread, with a random
    sign. Integers stay integers; floats get as many decimals as the values have, at most four.

    Source: paper, appendix on pair generation, numerical noise.
    """
    if not values:
        return []
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    mean *= 1 + _off(spread, chance)
    deviation *= 1 + _off(spread, chance)
    decimals = max(map(_decimals, values))
    drawn = (abs(chance.gauss(mean, deviation)) for _ in values)
    return [
        round(number) if isinstance(value, int) else round(number, decimals)
        for value, number in zip(values, drawn, strict=True)
    ]


def _off(spread: tuple[float, float], chance: random.Random) -> float:
    size = chance.uniform(*spread)
    return size if chance.random() < 0.5 else -size


def _decimals(value: float) -> int:
    return min(4, len(repr(value).partition(".")[2])) if isinstance(value, float) else 0


def noised_headers(sheet: Sheet, table: str, rules: Sequence[SchemaNoise]) -> Sheet:
    """Rename the headers by rules; a header that would no longer be unique stays.

    Source: the rules of Valentine's fabricator (Koutras et al., ICDE 2021): the table's name
    before the header, truncated words, omitted vowels.
    """
    columns: list[Column] = []
    taken = {column.header.casefold() for column in sheet.columns}
    for column in sheet.columns:
        header = column.header
        for rule in rules:
            header = noised_header(header, table, rule)
        if header.casefold() in taken:
            header = column.header
        taken.add(header.casefold())
        columns.append(replace(column, header=header))
    return replace(sheet, columns=tuple(columns))


def noised_header(header: str, table: str, rule: SchemaNoise) -> str:
    """Apply one rule to a header.

    >>> noised_header("Vendor", "Sales", "prefix"), noised_header("Vendor Name", "", "vowels")
    ('Sales_Vendor', 'Vndr Nm')
    >>> noised_header("Approved Amount", "", "abbreviate")
    'Appr Amou'
    """
    match rule:
        case "prefix":
            return f"{table}_{header}"
        case "abbreviate":
            return " ".join(word[:_SHORT] for word in header.split())
        case "vowels":
            return " ".join(
                word[:1] + "".join(letter for letter in word[1:] if letter not in _VOWELS)
                for word in header.split()
            )


_LONG = "Note"
DIGITS = 12
"""Digits of a number: with 309,000 values, the paper's most, one corpus in 20 has a collision."""


def with_placeholders(books: Sequence[Book]) -> tuple[Book, ...]:
    """Replace high-cardinality text by `Movie_004815162342` and long text by `Note_…`.

    Equal texts get equal placeholders in every sheet of every corpus, so they still join.
    Columns with a placeholder noun are replaced, and any text over 120 characters.

    Source: paper, appendix on corpus construction (`Movie_0001`). Departs: the number is a
    digest of the text, not a counter, which would depend on the texts made before.
    """
    return tuple(
        replace(
            book,
            sheets=tuple(
                replace(sheet, columns=tuple(map(_column, sheet.columns))) for sheet in book.sheets
            ),
        )
        for book in books
    )


def _column(column: Column) -> Column:
    names: Mapping[str, str] = {
        text: _name(column, text)
        for text in column.cells
        if isinstance(text, str) and (column.placeholder or len(text) > NOTE_LENGTH)
    }
    if not names:
        return column
    cells = tuple(names.get(c, c) if isinstance(c, str) else c for c in column.cells)
    return replace(column, cells=cells)


def _name(column: Column, text: str) -> str:
    noun = column.placeholder if len(text) <= NOTE_LENGTH else _LONG
    digest = hashlib.sha256(f"{noun}\x1f{text}".encode()).digest()
    return f"{noun}_{int.from_bytes(digest[:8], 'big') % 10**DIGITS:0{DIGITS}d}"
