"""Typed placeholders in place of free text that nearly never repeats."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sat_retriever.synth.model import Book, Column, Sheet
from sat_retriever.workbook.placeholders import NOTE_LENGTH, is_free_text, placeholder

DIGITS = 12
"""Digits of a number: among 309,000 values, the paper's most, two meet once in 20 corpora."""


def with_placeholders(books: Sequence[Book], *, detect: bool = False) -> tuple[Book, ...]:
    """The workbooks with high-cardinality text as `Movie_004815162342`, long text as `Note_…`.

    Equal texts get equal placeholders in every sheet of every corpus: what was equal joins
    as before. Columns that say their noun are replaced, and any text over 120 characters.

    Source: paper, appendix on corpus construction (`Movie_0001`). Departs: the number is a
    digest of the text and no counter, which would depend on what was made before.

    Args:
        books: Workbooks.
        detect: Whether columns without a noun are replaced too where they hold
            high-cardinality free text by the rule for records, and are no key; their noun
            is a word of their header.
    """
    return tuple(
        replace(book, sheets=tuple(_sheet(sheet, detect=detect) for sheet in book.sheets))
        for book in books
    )


def _sheet(sheet: Sheet, *, detect: bool) -> Sheet:
    return replace(sheet, columns=tuple(_column(c, detect=detect) for c in sheet.columns))


def _column(column: Column, *, detect: bool) -> Column:
    texts = [cell for cell in column.cells if isinstance(cell, str)]
    free = detect and not column.key and is_free_text(texts)
    names: Mapping[str, str] = {
        text: _name(column, text)
        for text in texts
        if column.placeholder or free or len(text) > NOTE_LENGTH
    }
    if not names:
        return column
    cells = tuple(names.get(c, c) if isinstance(c, str) else c for c in column.cells)
    return replace(column, cells=cells)


def _name(column: Column, text: str) -> str:
    if column.placeholder and len(text) <= NOTE_LENGTH:
        noun = column.placeholder
    else:
        noun = placeholder(column.header, text).rpartition("_")[0]
    digest = hashlib.sha256(f"{noun}\x1f{text}".encode()).digest()
    return f"{noun}_{int.from_bytes(digest[:8], 'big') % 10**DIGITS:0{DIGITS}d}"
