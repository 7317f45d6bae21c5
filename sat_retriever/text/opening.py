"""The text of a sheet's names and first cells, which the Sheet Encoder reads as a second token."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby, islice

from sat_retriever.records.area import split_ref
from sat_retriever.records.contents import CellText, TableContents
from sat_retriever.records.sheets import Column, SheetRecord

# Some 250 word pieces, which is what an encoder learns to read. Values further down are found by
# their words (benchmarks/LOG.md).
_MOST = 1_000  # characters
_LONGEST_NOTE = 160
_LONGEST_CELL = 40
_MOST_HEADERS, _LONGEST_HEAD = 12, 240
_WORD = re.compile(r"[^\W\d_]")  # a header of digits, such as a year, says little of a sheet

Placed = tuple[float, int, str]  # row, column and text


def contents_text(record: SheetRecord) -> str | None:
    """The names of a sheet and its texts as they stand, top down; None without contents.

    What a row said before, contents do not repeat, so a row here has its new texts alone. Notes,
    captions and headers of every table stand at their places among them.

    >>> from sat_retriever.records.contents import CellText, SheetContents, TableContents
    >>> table = TableContents(None, (CellText("A4", "Oslo"),), (CellText("B4", "Norway"),))
    >>> print(contents_text(SheetRecord("a", "Q1", columns=(Column("City"), Column("Country")),
    ...                           contents=SheetContents((CellText("A1", "Census"),), (table,)))))
    name: Q1 ; Census
    City | Country
    Oslo | Norway

    Args:
        record: The sheet, with its contents.
    """
    contents = record.contents
    if not contents:
        return None
    placed = [_placed(each, _LONGEST_NOTE) for each in contents.notes]
    for at, table in enumerate(contents.tables):
        placed += _of_table(record, table, at)
    name = f"name: {record.name} ; " if record.name else ""
    return name + "\n".join(_lines(placed))[:_MOST]


def _of_table(record: SheetRecord, table: TableContents, at: int) -> Iterator[Placed]:
    """Caption, headers and cells of one of a sheet's tables, the headers above its first row."""
    caption = [] if table.caption is None else [_placed(table.caption, _LONGEST_NOTE)]
    cells = [_placed(each, _LONGEST_CELL) for each in (*table.labels, *table.values)]
    yield from caption
    if cells or caption:
        row, col, _ = min(cells or caption)
        known = at < len(record.tables)
        headers = _headers(record.tables[at].columns if known else record.columns)
        yield row - 0.5 if cells else row + 0.5, col, headers
    yield from cells


def _placed(text: CellText, longest: int) -> Placed:
    return *(split_ref(text.cell) or (0, 0)), text.text[:longest]


def _lines(placed: Iterable[Placed]) -> Iterator[str]:
    """The texts of each row, in the order of the sheet."""
    for _, line in groupby(sorted(placed), key=lambda each: each[0]):
        if text := " | ".join(text for _, _, text in line if text):
            yield text


def _headers(columns: Iterable[Column]) -> str:
    """The first headers that have a letter."""
    names = (" ".join(column.name.split()) for column in columns)
    return " | ".join(islice(filter(_WORD.search, names), _MOST_HEADERS))[:_LONGEST_HEAD]
