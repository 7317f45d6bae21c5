"""Fabricate a source and a target workbook from one, with noise, as data for matchers.

Source: paper, appendix on pair generation; Valentine (Koutras et al., ICDE 2021). The numbers are
the paper's parameters. Departs: whole workbooks are cut instead of single tables, and their tabs
keep their names; columns keep their order (in the release the shared ones come first, in random
order), and keys are always shared.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Literal

from sat_retriever._extras import require
from sat_retriever.synth.book.model import Book, Column, Lookup, Sheet, SheetAt, TotalWhere
from sat_retriever.synth.book.restrict import Keep, Tab, restricted, with_values
from sat_retriever.synth.book.rewrite import Cell, pointed, with_schema
from sat_retriever.workbook.tables.columns import NOTE_LENGTH

Side = Literal["source", "target"]
Chance = Callable[..., random.Random]
"""A function from a purpose to random numbers, like `House.chance`."""
Halves = tuple[tuple[str, ...], tuple[str, ...]]

_ROWS = 0.5  # of the source's rows are also in the target
_NARROW, _SHARED, _SHARED_OF_NARROW = 5, 0.5, 0.7  # columns, and shares that are in both halves
_RENAMED = 0.36  # of the tables have a target with other headers: 181 of 501 released pairs
_STRING_NOISE = 0.20  # of the letters and digits of a source
_NUMERIC_NOISE = (0.1, 0.5)  # shares by which mean and deviation of a source's numbers change


@dataclass(frozen=True, slots=True)
class Fabricated:
    """A pair made from the workbook `stem`: noisy source cells, other headers in some targets."""

    stem: str
    source: Book
    target: Book


def fabricate(books: Sequence[Book], chance: Chance) -> tuple[Fabricated, ...]:
    """Make the pairs of all workbooks that take from each other, in their order.

    Sources take from sources and targets from targets. Recipes that need a part missing in a
    half become plain values; all others are recalculated, in the source from noisy cells. Noisy
    keys identify nothing, so lookups by them become plain values too. Sheets of one workbook with
    equal columns and equally many rows are cut alike, so that 3-D sums can stay. Facts are those
    of the original, except for schema, lost keys and the family of periods.
    """
    keep: tuple[dict[Tab, Keep], dict[Tab, Keep]] = ({}, {})
    for book in books:
        for sheet in book.sheets:
            ids = tuple(column.id for column in sheet.columns)
            keys = {column.id for column in sheet.columns if column.key}
            draw = chance("fabricate", "split", book.path, *ids, sheet.num_rows)
            share = _SHARED_OF_NARROW if len(ids) <= _NARROW else _SHARED
            columns = cut_columns(ids, keys, share, draw)
            rows = cut_rows(sheet.num_rows, _ROWS, draw) if sheet.num_rows else ((), ())
            for half, some, numbers in zip(keep, columns, rows, strict=True):
                half[book.path, sheet.name] = Keep(frozenset(some), numbers)
    sources, targets = (restricted(books, half) for half in keep)
    sources = with_values(
        sources, lambda _book, _sheet, leaf: isinstance(leaf, TotalWhere | Lookup)
    )
    return tuple(
        Fabricated(
            stem.path,
            _of_side(_noised(source, chance), "source"),
            _renamed(_of_side(target, "target"), stem, chance),
        )
        for stem, source, target in zip(books, sources, targets, strict=True)
    )


def cut_columns(
    columns: Sequence[str], keys: Collection[str], overlap: float, chance: random.Random
) -> Halves:
    """Cut columns into source and target, which share the part `overlap` of all columns.

    Of n columns, floor(overlap * n) are in both halves, but at least two if there are three,
    and all keys; the rest is distributed evenly, an odd one to the target.

    Source: the released pairs (`train.json`): all 501 follow this rule with 0.5, or with 0.7
    for up to five columns.
    """
    least = min(2, max(1, len(columns) - 1))
    # The small addend prevents 0.7 * 10 from becoming 6.
    count = max(math.floor(overlap * len(columns) + 1e-9), least)
    kept = [column for column in columns if column in keys]
    others = [column for column in columns if column not in keys]
    chance.shuffle(others)
    free = max(0, min(count - len(kept), len(others)))
    shared, rest = {*kept, *others[:free]}, others[free:]
    half = len(rest) // 2
    source, target = shared | set(rest[:half]), shared | set(rest[half:])
    return (
        tuple(column for column in columns if column in source),
        tuple(column for column in columns if column in target),
    )


def cut_rows(
    count: int, overlap: float, chance: random.Random
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Cut rows into source and target; the share `overlap` of the source's is also in the target.

    Of n rows the source has floor(n / 2), at least one; the target has all others and
    floor(overlap * floor(n / 2)) of the source's. No half is empty, and no row is lost.

    Source: the released pairs: the numbers of rows of all 501 follow this rule with 0.5.

    >>> source, target = cut_rows(25, 0.5, random.Random(1))
    >>> len(source), len(target), len({*source} & {*target})
    (12, 19, 6)
    """
    rows = list(range(count))
    chance.shuffle(rows)
    half = max(1, count // 2)
    shared = math.floor(overlap * half + 1e-9) if count > 1 else half
    return tuple(sorted(rows[:half])), tuple(sorted([*rows[:shared], *rows[half:]]))


def _of_side(book: Book, side: Side) -> Book:
    """Move a workbook and its references to its side's paths, and adapt its facts."""

    def moved(at: SheetAt) -> SheetAt:
        return replace(at, book=side_path(at.book, side)) if at.book else at

    sheets = []
    for sheet in book.sheets:
        facts = sheet.facts
        if facts is not None and facts.period is not None:
            period = replace(facts.period, family=f"{facts.period.family}/{side}")
            facts = replace(facts, period=period)
        sheets.append(replace(pointed(sheet, moved), facts=facts))
    return replace(book, path=side_path(book.path, side), sheets=tuple(sheets))


def side_path(path: str, side: Side) -> str:
    """Append "source" or "target" to the name of a path's file, in the style of the name.

    >>> side_path("Sales/Sales_2024_Q3.xlsx", "source"), side_path("a/sales-2024.xlsx", "target")
    ('Sales/Sales_2024_Q3_source.xlsx', 'a/sales-2024-target.xlsx')
    >>> side_path("Net Sales 2024.xlsx", "target"), side_path("NetSales2024.xlsx", "source")
    ('Net Sales 2024 Target.xlsx', 'NetSales2024Source.xlsx')
    """
    file = PurePosixPath(path)
    stem, ending = file.stem, str(side)
    is_title = stem[:1].isupper() and not stem.isupper()
    separator = max("_- .", key=stem.count)  # the most frequent, or the first of equals
    if separator not in stem:
        separator = "" if is_title else "_"
    if stem.isupper():
        ending = side.upper()
    elif separator != "_" and is_title:  # "_source", "_target" are the published endings
        ending = side.capitalize()
    return str(file.with_name(f"{stem}{separator}{ending}{file.suffix}"))


def _renamed(book: Book, stem: Book, chance: Chance) -> Book:
    """Put the table's name before headers of some sheets, as Valentine does; they stay unique."""
    table = "".join(filter(str.isalnum, (stem.category.split() or ["Table"])[0]))
    sheets = []
    for sheet in book.sheets:
        if chance("fabricate", "headers", stem.path, sheet.name).random() < _RENAMED:
            taken = {column.header.casefold() for column in sheet.columns}
            columns = []
            for column in sheet.columns:
                header = f"{table}_{column.header}"
                header = column.header if header.casefold() in taken else header
                taken.add(header.casefold())
                columns.append(replace(column, header=header))
            facts = sheet.facts and with_schema(sheet.facts, columns)
            sheet = replace(sheet, columns=tuple(columns), facts=facts)  # noqa: PLW2901
        sheets.append(sheet)
    return replace(book, sheets=tuple(sheets))


def _noised(book: Book, chance: Chance) -> Book:
    """Add noise to all plain texts and numbers; no column is a key then, and any text may stand."""
    sheets = []
    for sheet in book.sheets:
        draw = chance("fabricate", "noise", book.path, sheet.name)
        columns = tuple(
            replace(noised_column(column, draw), key="", unique=False) for column in sheet.columns
        )
        sheets.append(replace(sheet, columns=columns, choices=()))
    return replace(book, sheets=tuple(sheets))


def noised_column(column: Column, chance: random.Random) -> Column:
    """Add noise to the plain texts and numbers; recipes, dates and booleans stay."""
    cells: list[Cell] = list(column.cells)
    for place, cell in enumerate(cells):
        if isinstance(cell, str):
            cells[place] = noised_text(cell, _STRING_NOISE, chance)
    numbers = {
        place: cell
        for place, cell in enumerate(cells)
        if isinstance(cell, int | float) and not isinstance(cell, bool)
    }
    fresh = noised_numbers([*numbers.values()], _NUMERIC_NOISE, chance)
    for place, number in zip(numbers, fresh, strict=True):
        cells[place] = number
    return replace(column, cells=tuple(cells))


def noised_text(text: str, probability: float, chance: random.Random) -> str:
    """Write a text in ASCII, and replace each letter and digit, with a probability, by a near key.

    Case is kept, letters stay letters and digits digits; spaces and marks stay.

    Source: as above, string noise. Departs: anyascii (ISC) transliterates, not unidecode (GPL).

    >>> noised_text("Zürich 7", 0, random.Random(1)), NEIGHBOURS["a"], NEIGHBOURS["1"]
    ('Zurich 7', 'qwsz', '2')
    """
    if not text.isascii():
        text = require("anyascii", "synth").anyascii(text)
    letters = []
    for letter in text:
        near = NEIGHBOURS.get(letter.lower(), "")
        if near and chance.random() < probability:
            slip = chance.choice(near)
            letters.append(slip.upper() if letter.isupper() else slip)
        else:
            letters.append(letter)
    return "".join(letters)


def _neighbours(rows: tuple[tuple[str, float], ...]) -> dict[str, str]:
    """Return the adjacent keys, given rows of keys, each with its offset to the right."""
    keys = {
        key: (place + shift, float(row))
        for row, (letters, shift) in enumerate(rows)
        for place, key in enumerate(letters)
    }
    reach = 1.3  # key widths; keys within this distance touch
    return {
        key: "".join(
            other
            for other, (left, top) in keys.items()
            if other != key and (x - left) ** 2 + (y - top) ** 2 <= reach**2
        )
        for key, (x, y) in keys.items()
    }


NEIGHBOURS: Mapping[str, str] = MappingProxyType(
    _neighbours((("qwertyuiop", 0.0), ("asdfghjkl", 0.25), ("zxcvbnm", 0.75)))
    | _neighbours((("1234567890", 0.0),))
)
"""The keys adjacent to the key of a letter or digit; letters touch letters, digits digits."""


def noised_numbers(
    values: Sequence[int | float], spread: tuple[float, float], chance: random.Random
) -> list[int | float]:
    """Draw as many numbers from a folded normal distribution near that of the values.

    Each number is |N(m', s'^2)| with m' = m (1 + e), s' = s (1 + f) for the values' mean m and
    standard deviation s; e and f are drawn separately, uniformly from the spread, with a random
    sign. Integers stay integers; floats get as many decimals as the values have, at most four.

    Source: as above, numerical noise.
    """
    if not values:
        return []
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    mean *= 1 + _off(spread, chance)
    deviation *= 1 + _off(spread, chance)
    decimals = max(
        min(4, len(repr(value).partition(".")[2])) if isinstance(value, float) else 0
        for value in values
    )
    drawn = (abs(chance.gauss(mean, deviation)) for _ in values)
    return [
        round(number) if isinstance(value, int) else round(number, decimals)
        for value, number in zip(values, drawn, strict=True)
    ]


def _off(spread: tuple[float, float], chance: random.Random) -> float:
    size = chance.uniform(*spread)
    return size if chance.random() < 0.5 else -size


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

    def cell(column: Column, text: Cell) -> Cell:
        if not isinstance(text, str) or not (column.placeholder or len(text) > NOTE_LENGTH):
            return text
        noun = column.placeholder if len(text) <= NOTE_LENGTH else _LONG
        digest = hashlib.sha256(f"{noun}\x1f{text}".encode()).digest()
        return f"{noun}_{int.from_bytes(digest[:8], 'big') % 10**DIGITS:0{DIGITS}d}"

    def sheet(plain: Sheet) -> Sheet:
        columns = (
            replace(c, cells=tuple(cell(c, each) for each in c.cells)) for c in plain.columns
        )
        return replace(plain, columns=tuple(columns))

    return tuple(replace(book, sheets=tuple(map(sheet, book.sheets))) for book in books)
