"""Make two workbooks from one: a source and a target that share rows and columns."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Literal

from sat_retriever.synth.book.build import with_schema
from sat_retriever.synth.book.model import Book, Column, Lookup, Recipe, Sheet, SheetAt, TotalWhere
from sat_retriever.synth.book.restrict import Keep, Tab, restricted, with_values
from sat_retriever.synth.book.rewrite import leaves, pointed, whose
from sat_retriever.synth.calculate.evaluate import RECIPES
from sat_retriever.synth.fabricate.noise import noised_columns, noised_headers
from sat_retriever.synth.fabricate.split import (
    ColumnSplit,
    FabricateOptions,
    RowSplit,
    horizontal,
    vertical,
)

Side = Literal["source", "target"]

_SEPARATORS = "_- ."


def side_path(path: str, side: Side) -> str:
    """Append "source" or "target" to the name of a path's file, in the style of the name.

    >>> side_path("Sales/Sales_2024_Q3.xlsx", "source"), side_path("a/sales-2024.xlsx", "target")
    ('Sales/Sales_2024_Q3_source.xlsx', 'a/sales-2024-target.xlsx')
    >>> side_path("Net Sales 2024.xlsx", "target"), side_path("NetSales2024.xlsx", "source")
    ('Net Sales 2024 Target.xlsx', 'NetSales2024Source.xlsx')
    """
    file = PurePosixPath(path)
    return str(file.with_name(f"{file.stem}{_ending(file.stem, side)}{file.suffix}"))


def _ending(stem: str, side: Side) -> str:
    # The most frequent separator; max keeps the first of equals.
    separator = max(_SEPARATORS, key=stem.count)
    if separator not in stem:
        separator = "" if _is_title(stem) else "_"
    if stem.isupper():
        return separator + side.upper()
    if separator == "_" or not _is_title(stem):
        return separator + side  # "_source", "_target" are the published endings
    return separator + side.capitalize()


def _is_title(stem: str) -> bool:
    return stem[:1].isupper() and not stem.isupper()


@dataclass(frozen=True, slots=True)
class AlignedColumn:
    """One column that is in both halves."""

    id: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Alignment:
    """The columns that one sheet of a source shares with the target's sheet of that name.

    Attributes:
        sheet: Name of the tab in both workbooks.
        columns: Shared columns in the order of the source.
    """

    sheet: str
    columns: tuple[AlignedColumn, ...]


def aligned(source: Book, target: Book) -> tuple[Alignment, ...]:
    """Align each sheet of the source, in tab order."""
    return tuple(
        Alignment(
            sheet.name,
            tuple(
                AlignedColumn(column.id, column.header, same.header)
                for column in sheet.columns
                if other is not None and (same := other.column(column.id)) is not None
            ),
        )
        for sheet in source.sheets
        for other in (target.sheet(sheet.name),)
    )


Chance = Callable[..., random.Random]
"""A function from a purpose to random numbers, like `House.chance`."""


@dataclass(frozen=True, slots=True)
class Fabricated:
    """A pair of workbooks made from one.

    Attributes:
        source: The half with noise in its cells.
        target: The half with noise in its headers, if any.
    """

    stem: str
    source: Book
    target: Book
    alignments: tuple[Alignment, ...]


def fabricated(book: Book, options: FabricateOptions, chance: Chance) -> Fabricated:
    """Make the pair of a workbook that takes from no other."""
    return fabricated_unit([book], options, chance)[0]


def fabricated_unit(
    books: Sequence[Book], options: FabricateOptions, chance: Chance
) -> tuple[Fabricated, ...]:
    """Make the pairs of all workbooks that take from each other, in their order.

    Sources take from sources and targets from targets. Recipes that need a part missing in a
    half become plain values; all others are recalculated, in the source from noised cells.
    Each sheet is cut by rows and by columns. Sheets of one workbook with equal columns and
    equally many rows are cut alike, so that 3-D sums can stay. Facts are those of the original,
    except for schema, lost keys and the family of periods.

    Source: paper, appendix on pair generation; Valentine (Koutras et al., ICDE 2021).
    Departs: whole workbooks are cut instead of single tables; the tabs of source and target
    keep their names.

    Raises:
        ValueError: If a recipe takes from a workbook that is not among these, or cannot be
            calculated.
        MissingExtraError: If anyascii is needed and not installed.
    """
    sources: dict[Tab, Keep] = {}
    targets: dict[Tab, Keep] = {}
    for book in books:
        for sheet in book.sheets:
            columns, rows = _split(book, sheet, options, chance)
            tab = book.path, sheet.name
            sources[tab] = Keep(frozenset(columns.source), rows.source)
            targets[tab] = Keep(frozenset(columns.target), rows.target)
    halves = zip(
        books,
        _noised_source(restricted(books, sources), options, chance),
        restricted(books, targets),
        strict=True,
    )
    return tuple(_pair(stem, halves, options, chance) for stem, *halves in halves)


def _split(
    book: Book, sheet: Sheet, options: FabricateOptions, chance: Chance
) -> tuple[ColumnSplit, RowSplit]:
    ids = tuple(column.id for column in sheet.columns)
    keys = {column.id for column in sheet.columns if column.key}
    draw = chance("fabricate", "split", book.path, *ids, sheet.num_rows)
    columns, rows = ColumnSplit(ids, ids), RowSplit(*[tuple(range(sheet.num_rows))] * 2)
    if options.columns is not None:
        columns = vertical(ids, keys, options.column_overlap(len(ids), draw), draw)
    if options.rows is not None and sheet.num_rows:
        rows = horizontal(sheet.num_rows, options.rows, draw)
    return columns, rows


def _noised_source(
    books: Sequence[Book], options: FabricateOptions, chance: Chance
) -> tuple[Book, ...]:
    spared: Mapping[Tab, set[str]] = {}
    if options.noised_keys:
        books = tuple(_unkeyed(book) for book in with_values(books, _matches))
    else:
        spared = _matched(books)
    return tuple(
        replace(
            book,
            sheets=tuple(
                noised_columns(
                    sheet,
                    spared.get((book.path, sheet.name), ()),
                    options,
                    chance("fabricate", "noise", book.path, sheet.name),
                )
                for sheet in book.sheets
            ),
        )
        for book in books
    )


def _matches(book: Book, sheet: Sheet, leaf: Recipe) -> bool:
    return isinstance(leaf, TotalWhere | Lookup)


def _unkeyed(book: Book) -> Book:
    """Return a workbook whose columns are not keys and may have any text."""
    sheets = (
        replace(
            sheet,
            columns=tuple(replace(column, key="", unique=False) for column in sheet.columns),
            choices=(),
        )
        for sheet in book.sheets
    )
    return replace(book, sheets=tuple(sheets))


def _matched(books: Sequence[Book]) -> dict[Tab, set[str]]:
    """Return by sheet the columns that are keys, lookup keys, choices or conditions."""
    found: dict[Tab, set[str]] = {}
    for book in books:
        for sheet in book.sheets:
            own = found.setdefault((book.path, sheet.name), set())
            own.update(column.id for column in sheet.columns if column.key)
            for choice in sheet.choices:
                own.add(choice.column)
                found.setdefault(whose(book, choice.at), set()).add(choice.source)
            for leaf in _leaves(sheet.columns):
                match leaf:
                    case TotalWhere(at, _, match, equals) | Lookup(at, equals, match, _):
                        own.add(equals)
                        found.setdefault(whose(book, at), set()).add(match)
    return found


def _leaves(columns: Sequence[Column]) -> list[Recipe]:
    recipes = (cell for column in columns for cell in column.cells if isinstance(cell, RECIPES))
    return [leaf for recipe in recipes for leaf in leaves(recipe)]


def _pair(
    stem: Book, halves: Sequence[Book], options: FabricateOptions, chance: Chance
) -> Fabricated:
    source, target = _of_side(halves[0], "source"), _of_side(halves[1], "target")
    target = _renamed_headers(target, stem, options, chance)
    return Fabricated(stem.path, source, target, aligned(source, target))


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


def _renamed_headers(book: Book, stem: Book, options: FabricateOptions, chance: Chance) -> Book:
    table = "".join(filter(str.isalnum, (stem.category.split() or ["Table"])[0]))
    sheets = []
    for sheet in book.sheets:
        draw = chance("fabricate", "headers", stem.path, sheet.name).random()
        noised = sheet
        if options.schema_noise and draw < options.schema_share:
            noised = noised_headers(sheet, table, options.schema_noise)
            if noised.facts is not None:
                noised = replace(noised, facts=with_schema(noised.facts, noised.columns))
        sheets.append(noised)
    return replace(book, sheets=tuple(sheets))
