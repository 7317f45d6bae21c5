"""Add noise to headers, texts and numbers."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Sequence
from dataclasses import replace

from sat_retriever._extras import require
from sat_retriever.synth.book.model import Column, Sheet
from sat_retriever.synth.book.rewrite import Cell
from sat_retriever.synth.fabricate.keyboard import mistyped
from sat_retriever.synth.fabricate.options import FabricateOptions, SchemaNoise

_VOWELS = frozenset("aeiouAEIOU")
_SHORT = 4  # letters kept of a word


def noised_columns(
    sheet: Sheet, spared: Collection[str], options: FabricateOptions, chance: random.Random
) -> Sheet:
    """Add noise to all plain texts and numbers; recipes, dates and booleans stay.

    Args:
        sheet: A sheet of a source workbook.
        spared: Ids of columns that stay unchanged.
        options: Amount of noise.
        chance: Random numbers for the noise.
    """
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

    Args:
        values: Numbers of one column.
        spread: Smallest and largest absolute value of e and f.
        chance: Source of random numbers.
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

    Args:
        sheet: A sheet.
        table: Word that the rule "prefix" puts before headers.
        rules: Rules to apply, in this order.
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
