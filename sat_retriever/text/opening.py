"""The text of a sheet's contents, which the Sheet Encoder reads as a second token."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from sat_retriever.records.area import split_ref
from sat_retriever.records.contents import CellText, TableContents, TextKind
from sat_retriever.records.sheets import Column, SheetRecord

# More texts of later rows find no more, on held-out tables of WikiTableQuestions' training part
# and EPS's development questions (benchmarks/LOG.md): values are found by their words.
_LINES = 4  # notes, and rows
_MOST_HEADERS = 12
# Characters of each part, so that encoders, which read some 250 pieces, read all of it.
_LONGEST_HEAD = 240
_LONGEST_LINE = 160
_WORD = re.compile(r"[^\W\d_]")  # a header of digits, such as a year, says little of a sheet


def contents_text(record: SheetRecord) -> str | None:
    """The first notes of a sheet, headers and first rows of its first table; None without contents.

    What a row said before, contents do not repeat, so a row here has its new texts alone. Names
    are left out: they have a token of their own.

    >>> from sat_retriever.records.contents import CellText, SheetContents, TableContents
    >>> table = TableContents(None, (CellText("A2", "Oslo"),), (CellText("B2", "Norway"),))
    >>> contents_text(SheetRecord("a", "Q1", columns=(Column("City"), Column("Country")),
    ...                           contents=SheetContents((CellText("A9", "Census"),), (table,))))
    'Census ; City | Country ; Oslo | Norway'

    Args:
        record: The sheet, with its contents.
    """
    contents = record.contents
    if not contents:
        return None
    notes = [each.text[:_LONGEST_LINE] for each in _first_notes(contents.notes)]
    at = next((n for n, table in enumerate(contents.tables) if any(True for _ in table)), None)
    table = () if at is None else _of_table(record, contents.tables[at], at)
    return " ; ".join(filter(None, (*notes, *table)))


def _first_notes(notes: Sequence[CellText]) -> list[CellText]:
    """The first notes of a sheet; those that no cell holds get half, or what cells leave."""
    cells = sum(each.kind is TextKind.CELL for each in notes)
    beside = max(_LINES // 2, _LINES - cells)
    found: list[CellText] = []
    for each in notes:
        is_cell = each.kind is TextKind.CELL
        if len(found) < _LINES and (is_cell or beside):
            beside -= not is_cell
            found.append(each)
    return found


def _of_table(record: SheetRecord, table: TableContents, at: int) -> Iterator[str]:
    """Caption and headers of one of a sheet's tables, and its first rows."""
    known = record.tables[at] if at < len(record.tables) else None
    caption = table.caption.text if table.caption else ""
    headers = _headers(record.columns if known is None else known.columns)
    yield " ; ".join(filter(None, (caption, headers)))[:_LONGEST_HEAD]
    for line in _lines(table, transposed=known is not None and known.transposed)[:_LINES]:
        yield " | ".join(each.text for each in line)[:_LONGEST_LINE]


def _lines(table: TableContents, *, transposed: bool) -> Sequence[Sequence[CellText]]:
    """Texts of a table by the row they stand in (column of a transposed one), in its order."""
    found: dict[int, list[tuple[int, CellText]]] = {}
    for each in chain(table.labels, table.values):
        row, col = split_ref(each.cell) or (0, 0)
        line, place = (col, row) if transposed else (row, col)
        found.setdefault(line, []).append((place, each))
    return [[each for _, each in sorted(found[n], key=lambda x: x[0])] for n in sorted(found)]


def _headers(columns: Iterable[Column]) -> str:
    """The first headers that have a letter."""
    names = (" ".join(column.name.split()) for column in columns)
    return " | ".join(islice(filter(_WORD.search, names), _MOST_HEADERS))
