"""Replace free text that hardly ever repeats by typed placeholders."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sat_retriever.synth.book.model import Book, Column, Sheet
from sat_retriever.workbook.tables.columns import NOTE_LENGTH

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
        replace(book, sheets=tuple(_sheet(sheet) for sheet in book.sheets)) for book in books
    )


def _sheet(sheet: Sheet) -> Sheet:
    return replace(sheet, columns=tuple(map(_column, sheet.columns)))


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
