"""Change the rows of sheets in PostgreSQL; the caller owns the transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np

from sat_retriever.index.store.contents import half_floats
from sat_retriever.index.store.damage import checksum
from sat_retriever.index.store.postgres.session import PostgresSession
from sat_retriever.index.store.postgres.words import add_spellings, key_of, names_of, spellings_of
from sat_retriever.index.store.rows import SheetRow
from sat_retriever.index.store.words import spellings
from sat_retriever.index.store.write import packed_contents
from sat_retriever.period.sheet import months_of
from sat_retriever.records.contents import Role
from sat_retriever.records.jsonform import to_json
from sat_retriever.text.abbreviation import is_main
from sat_retriever.text.contents import ContentWords, content_words

_NO_WORDS = ContentWords((), ())


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of a table and their types, for COPY."""

    target: str
    types: tuple[str, ...]


SHEETS = Table(
    "sheets (id, stored, sheet_id, workbook_id, workbook, path, format, visibility, role, "
    "formulas, metadata, record, crc)",
    ("int8", "int8", "text", "int8", *["text"] * 8, "int8"),
)
FIELDS = Table("fields (sheet, key, value, number)", ("int8", "text", "text", "numeric"))
TOKENS = Table(
    "tokens (id, words, token, months, texts, documentation, main)",
    ("int8", "int8", "bytea", *["int8"] * 4),
)
CONTENTS = Table("contents (id, packed, crc)", ("int8", "bytea", "int8"))
CONTENTS_TOKENS = Table("contents_tokens (id, token)", ("int8", "bytea"))
WORDS = Table("words (id, names, contents)", ("int8", "text[]", "text[]"))


def insert_sheets(
    session: PostgresSession, rows: Sequence[tuple[int | None, SheetRow]]
) -> set[str]:
    """Add sheets with their contents, tokens and words; return the spellings that they have.

    The session has their vectors already; those of other sheets are deleted again.

    Raises:
        InputError: If the contents of a record cannot be kept.
    """
    keys = session.prepared
    left = sorted(set(keys.values()) - {keys[row.record.sheet_id] for _workbook, row in rows})
    if left:
        session.execute("DELETE FROM vectors WHERE stored = ANY(?)", (left,))
    added: set[str] = set()
    made: dict[Table, list[tuple[Any, ...]]] = {
        each: [] for each in (SHEETS, FIELDS, TOKENS, CONTENTS, CONTENTS_TOKENS, WORDS)
    }
    numbered = zip(session.new_ids("sheets", len(rows)), rows, strict=True)
    for row_id, (workbook_id, row) in numbered:
        found = content_words(row.record.contents) if row.record.contents else _NO_WORDS
        made[SHEETS].append(_sheet(row_id, keys[row.record.sheet_id], workbook_id, row))
        made[FIELDS] += fields_of(row_id, row.record.metadata)
        made[TOKENS].append(_token(row_id, row, len(found.matched)))
        inside = None
        if row.record.contents:
            data = packed_contents(row.record.sheet_id, row.record.contents)
            made[CONTENTS].append((row_id, data, checksum(data)))
            inside = [key_of(word) for word in found.matched]
            added.update(spellings(row.record, found))
        if row.contents_token is not None:
            made[CONTENTS_TOKENS].append((row_id, half_floats(row.contents_token)))
        made[WORDS].append((row_id, names_of(row.words), inside))
    for table, values in made.items():
        session.copy(table.target, table.types, values)
    add_spellings(session, added)
    return added


def _sheet(row_id: int, key: int, workbook_id: int | None, row: SheetRow) -> tuple[Any, ...]:
    record = row.record
    plain = to_json(replace(record, contents=None), compact=True)
    text = json.dumps(plain, separators=(",", ":"))
    named = (record.workbook, record.path, record.format, record.visibility.value)
    facts = (plain.get("role", Role.DATA.value), plain.get("formulas", "none"))
    metadata = json.dumps(dict(record.metadata))
    return (
        *(row_id, key, record.sheet_id, workbook_id, *named, *facts),
        *(metadata, text, checksum(text)),
    )


def _token(row_id: int, row: SheetRow, texts: int) -> tuple[Any, ...]:
    record = row.record
    length = sum(len(words) for words in row.words)
    token = np.ascontiguousarray(row.token, dtype="<f4").tobytes()
    explains = int(record.role is Role.DOCUMENTATION)
    return row_id, length, token, months_of(record), texts, explains, int(is_main(record))


def fields_of(
    row_id: int, metadata: Mapping[str, str | float]
) -> Iterable[tuple[int, str, str, Decimal | None]]:
    """Rows of a record's metadata: each field's text, and its number if it is one."""
    for key, value in metadata.items():
        yield row_id, key, text_of(value), None if isinstance(value, str) else Decimal(value)


def text_of(value: str | float) -> str:
    """A metadata value as SQLite writes it as a text.

    >>> text_of("a"), text_of(True), text_of(2024), text_of(1.0), text_of(1e20)
    ('a', '1', '2024', '1.0', '1.0e+20')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(int(value))
    mantissa, sign, exponent = f"{value:.15g}".partition("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}{sign}{exponent}"


def delete_sheets(session: PostgresSession, ids: Sequence[int]) -> set[str]:
    """Remove sheets by row id; return their spellings, which `drop_spellings` drops."""
    dropped = spellings_of(session, ids)
    session.execute("DELETE FROM sheets WHERE id = ANY(?)", (list(ids),))
    return dropped
