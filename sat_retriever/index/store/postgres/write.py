"""Change the rows of sheets in PostgreSQL; the caller owns the transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sat_retriever.index.store.postgres.packing import PackedSheet
from sat_retriever.index.store.postgres.session import PostgresSession
from sat_retriever.index.store.postgres.words import add_spellings, spellings_of
from sat_retriever.index.store.rows import SheetRow

Target = tuple[str, tuple[str, ...]]  # a table with its columns, and the types of these

SHEETS: Target = (
    "sheets (id, stored, workbook_id, sheet_id, workbook, path, format, visibility, role, "
    "formulas, metadata, record, crc)",
    ("int8", "int8", "int8", *["text"] * 9, "int8"),
)
FIELDS: Target = ("fields (sheet, key, value, number)", ("int8", "text", "text", "numeric"))
TOKENS: Target = (
    "tokens (id, words, token, months, texts, documentation, main)",
    ("int8", "int8", "bytea", *["int8"] * 4),
)
CONTENTS: Target = ("contents (id, packed, crc)", ("int8", "bytea", "int8"))
WORDS: Target = ("words (id, names, contents)", ("int8", "text[]", "text[]"))


def insert_sheets(
    session: PostgresSession, rows: Sequence[tuple[int | None, SheetRow]]
) -> set[str]:
    """Add sheets with their contents, tokens and words; return the spellings that they have.

    The session has their vectors already; those of other sheets are deleted again.

    Args:
        session: An index in the transaction of a write of these rows.
        rows: Id of the workbook, if any, and sheet.
    """
    packed = [(workbook, session.packed[row.record.sheet_id]) for workbook, row in rows]
    keys = session.keys
    left = keys.keys() - {row.record.sheet_id for _workbook, row in rows}
    if left:
        stored = [keys[sheet_id] for sheet_id in left]
        session.execute("DELETE FROM vectors WHERE stored = ANY(?)", (stored,))
    numbered = list(zip(session.new_ids("sheets", len(packed)), packed, strict=True))
    sheets = [
        (row_id, keys[each.row.record.sheet_id], workbook, *each.sheet)
        for row_id, (workbook, each) in numbered
    ]
    parts = [(row_id, each) for row_id, (_workbook, each) in numbered]
    for (target, types), values in ((SHEETS, sheets), *_parts(parts)):
        session.copy(target, types, values)
    added = {word for _row_id, each in parts for word in each.spellings}
    add_spellings(session, added)
    return added


def _parts(
    parts: Sequence[tuple[int, PackedSheet]],
) -> list[tuple[Target, list[tuple[Any, ...]]]]:
    """Rows of the tables that refer to sheets, by table."""
    return [
        (FIELDS, [(row_id, *field) for row_id, each in parts for field in each.fields]),
        (TOKENS, [(row_id, *each.token) for row_id, each in parts]),
        (CONTENTS, [(row_id, *each.contents) for row_id, each in parts if each.contents]),
        (WORDS, [(row_id, *each.words) for row_id, each in parts]),
    ]


def delete_sheets(session: PostgresSession, ids: Sequence[int]) -> set[str]:
    """Remove sheets by row id; return their spellings, which `drop_spellings` drops."""
    dropped = spellings_of(session, ids)
    session.execute("DELETE FROM sheets WHERE id = ANY(?)", (list(ids),))
    return dropped
