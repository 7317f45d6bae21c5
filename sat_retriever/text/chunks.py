"""Texts of a sheet's contents, which the Sheet Encoder reads as one further token."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain, islice

from sat_retriever.records.area import split_ref
from sat_retriever.records.contents import CellText, SheetContents, TableContents
from sat_retriever.records.sheets import Column, SheetRecord

# Chosen on held-out tables of WikiTableQuestions' training part (benchmarks/LOG.md).
MOST_CHUNKS = 4
_LINES = 4  # of one chunk
_MOST_HEADERS = 12
# Characters of one chunk's parts, so that encoders, which read some 250 pieces, read all of it.
_LONGEST_HEAD = 240
_LONGEST_LINE = 160

_WORD = re.compile(r"[^\W\d_]")  # a header of digits, such as a year, says little of a sheet

Lines = Sequence[Sequence[CellText]]


def contents_chunks(record: SheetRecord) -> tuple[str, ...]:
    """One to four texts of a sheet's contents; none without contents.

    Each has the headers of a table and four of its rows, spread evenly over all rows. What a
    row said before, contents do not repeat, so a row here has its new texts alone. Notes take
    one of the four texts, or all without rows. Names are left out: they have a token of their own.

    >>> from sat_retriever.records.contents import CellText, SheetContents, TableContents
    >>> table = TableContents(None, (CellText("A2", "Oslo"),), (CellText("B2", "Norway"),))
    >>> contents_chunks(SheetRecord("a", "Q1", columns=(Column("City"), Column("Country")),
    ...                             contents=SheetContents((CellText("A9", "Census"),), (table,))))
    ('Census', 'City | Country ; Oslo | Norway')

    Args:
        record: The sheet, with its contents.
    """
    contents = record.contents
    if not contents:
        return ()
    rows = [
        chunk for at in range(len(contents.tables)) for chunk in _of_table(record, contents, at)
    ]
    notes = [("", part) for part in _parts([[note] for note in contents.notes])]
    kept = _spread(notes, 1 if rows else MOST_CHUNKS)
    kept += _spread(rows, MOST_CHUNKS - len(kept))
    return tuple(_text(head, lines) for head, lines in kept)


def _of_table(record: SheetRecord, contents: SheetContents, at: int) -> Iterable[tuple[str, Lines]]:
    """Head and lines of each chunk of one table."""
    table = contents.tables[at]
    known = record.tables[at] if at < len(record.tables) else None
    columns = record.columns if known is None else known.columns
    lines = _lines(table, transposed=known is not None and known.transposed)
    head = _head(table.caption, columns)
    if not lines and table.caption is not None:
        return [(head, ())]
    return [(head, part) for part in _parts(lines)]


def _lines(table: TableContents, *, transposed: bool) -> Lines:
    """Texts of a table by the row they stand in (column of a transposed one), in its order."""
    found: dict[int, list[tuple[int, CellText]]] = {}
    for each in chain(table.labels, table.values):
        row, col = split_ref(each.cell) or (0, 0)
        line, place = (col, row) if transposed else (row, col)
        found.setdefault(line, []).append((place, each))
    return [[each for _, each in sorted(found[n], key=lambda x: x[0])] for n in sorted(found)]


def _head(caption: CellText | None, columns: Sequence[Column]) -> str:
    """Caption and the first headers of a table that have a letter."""
    named = (" ".join(column.name.split()) for column in columns)
    headers = " | ".join(islice((name for name in named if _WORD.search(name)), _MOST_HEADERS))
    parts = (caption.text if caption else "", headers)
    return " ; ".join(filter(None, parts))


def _parts(lines: Lines) -> list[Lines]:
    return [lines[start : start + _LINES] for start in range(0, len(lines), _LINES)]


def _spread(chunks: Sequence[tuple[str, Lines]], most: int) -> list[tuple[str, Lines]]:
    """Some of the chunks, the first and the last among them, evenly apart."""
    if len(chunks) <= most:
        return list(chunks)
    return [chunks[round(n * (len(chunks) - 1) / max(most - 1, 1))] for n in range(most)]


def _text(head: str, lines: Lines) -> str:
    told = (" | ".join(each.text for each in line)[:_LONGEST_LINE] for line in lines)
    return " ; ".join(filter(None, (head[:_LONGEST_HEAD], *told)))
