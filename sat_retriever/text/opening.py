"""The text of a sheet's names and contents, which the Sheet Encoder reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import nsmallest
from itertools import chain, groupby, islice
from typing import NamedTuple

from sat_retriever.records.area import area_of, split_ref
from sat_retriever.records.contents import CellText, SheetContents
from sat_retriever.records.sheets import Column, SheetRecord

# Characters. Encoders read some 250 pieces, which are about as many.
_LONGEST = 1_000
_LONGEST_LINE = 240
# Of texts, none is shorter than one character and what parts it from the next.
_MOST_TEXTS = _LONGEST // 2
_MOST_IN_LINE = _LONGEST_LINE // 2
_MOST_READ = 20_000  # in tables; of a read workbook's sheet there are some 5,000 at most
_HEADERS, _CELLS, _OVER_CELLS = range(3)  # lines of one row of a sheet


class _Placed(NamedTuple):
    """A text and where it comes: the sheet's row, which of the row's lines, the column."""

    row: int
    line: int
    col: int
    text: str


def contents_text(record: SheetRecord) -> str | None:
    """A sheet's names, then its texts in the order of the sheet; None without contents.

    A line is a row of the sheet, whatever tables it crosses, or the headers of a table, or the
    shapes and charts over a row. What a row said before, contents do not repeat, so a row here has
    its new texts alone.

    >>> from sat_retriever.records.contents import TableContents
    >>> table = TableContents(None, (CellText("A2", "Oslo"),), (CellText("B2", "Norway"),))
    >>> record = SheetRecord("a", "Q1", "a.xlsx", columns=(Column("City"), Column("Country")),
    ...                      contents=SheetContents((CellText("A9", "Census"),), (table,)))
    >>> print(contents_text(record))
    a.xlsx | Q1
    City | Country
    Oslo | Norway
    Census

    Args:
        record: The sheet, with its contents.
    """
    contents = record.contents
    if not contents:
        return None
    texts = chain(_headers(record), _texts(contents))
    first = nsmallest(_MOST_TEXTS, texts, key=lambda each: each[:3])
    lines = [_line(each.text for each in line) for _, line in groupby(first, lambda x: x[:2])]
    names = _line(dict.fromkeys((record.path, record.workbook, record.sheet)))
    return "\n".join(filter(None, (names, *lines)))[:_LONGEST]


def _texts(contents: SheetContents) -> Iterator[_Placed]:
    """The texts of a sheet in no order, but a cell's own before its comment."""
    in_tables = islice(chain.from_iterable(contents.tables), _MOST_READ)
    return map(_placed, chain(in_tables, contents.notes[:_MOST_TEXTS]))  # these are top down


def _placed(text: CellText) -> _Placed:
    row, col = split_ref(text.cell) or (0, 0)
    return _Placed(row, _CELLS if text.is_on_cell else _OVER_CELLS, col, text.text)


def _headers(record: SheetRecord) -> Iterator[_Placed]:
    """The headers of each table, where it begins; those of a record without tables come first."""
    for table in record.tables[:_MOST_TEXTS]:
        area = area_of(table.range)
        row, col = (area.top, area.left) if area else (0, 0)
        yield _Placed(row, _HEADERS, col, _names(table.columns))
    if not record.tables:
        yield _Placed(0, _HEADERS, 0, _names(record.columns))


def _names(columns: Iterable[Column]) -> str:
    return _line(column.name for column in columns)


def _line(texts: Iterable[str]) -> str:
    """Texts beside each other, on one line and within its length."""
    found = (" ".join(text[:_LONGEST_LINE].split()) for text in islice(texts, _MOST_IN_LINE))
    return " | ".join(filter(None, found))[:_LONGEST_LINE]
