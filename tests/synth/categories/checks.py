"""What must hold for the workbooks of every category, and their calculated values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from sat_retriever.synth.book.model import (
    Book,
    Combine,
    Lookup,
    Own,
    Sheet,
    SheetAt,
    Take,
    Through,
    Total,
    TotalWhere,
)
from sat_retriever.synth.calculate.evaluate import Values
from sat_retriever.synth.categories import CATEGORIES, category
from sat_retriever.synth.house.house import House
from sat_retriever.synth.words.vocabulary import Vocabulary

YEARS: Mapping[str, tuple[int, ...]] = {
    name: (2021, 2022, 2023) if name in {"financial", "budget", "sales", "hr", "projects"}
    else (2022, 2023)
    for name in CATEGORIES
}  # fmt: skip
SEEDS = range(8)
Grid = Mapping[str, Sequence[Any]]


@cache
def _words() -> Vocabulary:
    return Vocabulary.load()


def house(seed: int) -> House:
    """A company of the packaged words; seeds differ in habits, names and conventions."""
    words = _words()
    return House(words.lists["companies"][seed % 20], seed, words)


@cache
def made(name: str, seed: int, years: tuple[int, ...] | None = None) -> list[Book]:
    return list(category(name).books(house(seed), years or YEARS[name]))


def grids(books: Sequence[Book]) -> dict[tuple[str, str], Grid]:
    """Calculated cells by path and tab, then column id."""
    by_path = {book.path: book for book in books}
    values = Values(by_path.get)
    found = {}
    for book in books:
        for at in values.add(book):
            cells = {column.id: values.values(at, column.id) for column in at.sheet.columns}
            found[book.path, at.sheet.name] = cells
    assert not values.missed
    return found


@cache
def calculated(name: str, seed: int) -> dict[tuple[str, str], Grid]:
    return grids(made(name, seed))


def sheets(books: Sequence[Book], kind: str) -> Iterator[tuple[Book, Sheet]]:
    """Sheets of a kind id with their workbook, in order."""
    for book in books:
        for sheet in book.sheets:
            if sheet.facts and sheet.facts.schema.split("/")[1] == kind:
                yield book, sheet


def tables(name: str, seed: int, kind: str) -> Iterator[tuple[Sheet, Grid]]:
    """The sheets of a kind with their calculated cells, in order."""
    for book, sheet in sheets(made(name, seed), kind):
        yield sheet, calculated(name, seed)[book.path, sheet.name]


def by_period(name: str, seed: int, kind: str) -> dict[tuple[int, int], Grid]:
    """Calculated cells of a kind's sheets by year and month, quarter or 0."""
    return {
        (sheet.facts.period.year, sheet.facts.period.part)
        if sheet.facts and sheet.facts.period
        else (0, 0): grid
        for sheet, grid in tables(name, seed, kind)
    }


def records(grid: Grid) -> list[dict[str, Any]]:
    """The rows of a sheet."""
    return [dict(zip(grid, row, strict=True)) for row in zip(*grid.values(), strict=True)]


def summed(grid: Grid, column: str, key: str) -> dict[Any, Any]:
    """Sums of a column by the values of another one."""
    found: dict[Any, Any] = defaultdict(int)
    for row in records(grid):
        found[row[key]] += row[column]
    return found


def check_sheets(books: Sequence[Book]) -> None:
    """Names are valid and told apart, tables are whole, facts are filled."""
    paths = [book.path.casefold() for book in books]
    assert len(set(paths)) == len(paths)
    for book in books:
        tabs = [sheet.name.casefold() for sheet in book.sheets]
        assert len(set(tabs)) == len(tabs), (book.path, tabs)
        assert any(not sheet.hidden for sheet in book.sheets)
        for sheet in book.sheets:
            _check_sheet(sheet)


def _check_sheet(sheet: Sheet) -> None:
    assert 0 < len(sheet.name) <= 31 and not set(sheet.name) & set("[]:*?/\\"), sheet.name
    assert not sheet.name.startswith("'") and not sheet.name.endswith("'")
    ids = [column.id for column in sheet.columns]
    headers = [column.header.casefold() for column in sheet.columns]
    assert len(set(ids)) == len(ids) and len(set(headers)) == len(headers), headers
    assert all(headers)
    assert {len(column.cells) for column in sheet.columns} == {sheet.num_rows}
    assert 3 <= sheet.num_rows <= 70
    for column in sheet.columns:
        if column.unique:
            assert column.key and len(set(column.cells)) == len(column.cells)
    used = [name for name, _ in sheet.totals] + [choice.column for choice in sheet.choices]
    assert set(used) <= set(ids)
    if sheet.facts:
        assert sheet.facts.kind and sheet.facts.category and sheet.facts.entity
        assert len(sheet.facts.keys) == sum(bool(column.key) for column in sheet.columns)
    else:
        assert sheet.hidden


def check_references(books: Sequence[Book]) -> int:
    """Whatever a cell takes from stands in the same workbook or an earlier one.

    Returns how many sheets of other workbooks are taken from.
    """
    earlier: dict[str, Book] = {}
    taken = set()
    for book in books:
        for sheet in book.sheets:
            for at, column in _targets(book, sheet):
                target = earlier[at.book] if at.book else book
                there = target.sheet(at.sheet)
                assert there is not None, (book.path, sheet.name, at)
                assert not column or there.column(column) is not None, (at, column)
                if at.book:
                    taken.add((at.book, at.sheet))
        earlier[book.path] = book
    return len(taken)


def _targets(book: Book, sheet: Sheet) -> Iterator[tuple[SheetAt, str]]:
    own = SheetAt(sheet.name)
    todo: list[object] = [cell for column in sheet.columns for cell in column.cells]
    while todo:
        match todo.pop():
            case Own(column):
                yield own, column
            case Combine(_, left, right):
                todo += [left, right]
            case Take(at, column, row):
                yield at, column
                if not at.book:
                    assert row < _rows(book, at)
            case Total(at, column):
                yield at, column
            case TotalWhere(at, column, where, equals):
                yield from ((at, column), (at, where), (own, equals))
            case Lookup(at, key, match, column):
                yield from ((own, key), (at, match), (at, column))
            case Through(first, last, column, row):
                yield from ((SheetAt(name), column) for name in (first, last))
                assert row < _rows(book, SheetAt(first))
    for chart in sheet.charts:
        yield from ((chart.at, chart.names), (chart.at, chart.numbers))
    for choice in sheet.choices:
        yield choice.at, choice.source
    for pivot in sheet.pivots:
        yield from ((pivot.at, pivot.rows), (pivot.at, pivot.numbers))


def _rows(book: Book, at: SheetAt) -> int:
    sheet = book.sheet(at.sheet)
    assert sheet is not None, at
    return sheet.num_rows
