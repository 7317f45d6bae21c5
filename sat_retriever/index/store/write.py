"""Write and delete the rows of sheets in an index file; the caller owns the transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from sat_retriever.index.store.packing import checksum, packed_contents
from sat_retriever.index.store.rows import SheetRow
from sat_retriever.index.store.words import add_spellings, add_words, drop_words, spellings
from sat_retriever.records.contents import Role
from sat_retriever.records.jsonform import to_json
from sat_retriever.text.abbreviation import is_main
from sat_retriever.text.contents import content_words
from sat_retriever.text.period.sheet import months_of


def insert_sheets(
    connection: sqlite3.Connection, rows: Iterable[tuple[int | None, SheetRow]]
) -> set[str]:
    """Add sheets, each with the id of its workbook, if any; return the spellings that they have.

    Raises:
        InputError: If the contents of a record cannot be kept.
    """
    added: set[str] = set()
    for workbook_id, row in rows:
        record = row.record
        plain = to_json(replace(record, contents=None), compact=True)
        text = json.dumps(plain, separators=(",", ":"))
        row_id = connection.execute(
            "INSERT INTO sheets (sheet_id, workbook_id, workbook, path, format, visibility, "
            "metadata, record, crc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                record.sheet_id,
                workbook_id,
                record.workbook,
                record.path,
                record.format,
                record.visibility.value,
                json.dumps(dict(record.metadata)),
                text,
                checksum(text),
            ),
        ).lastrowid
        texts = 0
        if record.contents:
            data = packed_contents(record.sheet_id, record.contents)
            connection.execute(
                "INSERT INTO contents (id, packed, crc) VALUES (?, ?, ?)",
                (row_id, data, checksum(data)),
            )
            found = content_words(record.contents)
            add_words(connection, int(row_id or 0), found.matched)
            added.update(spellings(record, found))
            texts = len(found.matched)
        length = sum(len(words) for words in row.words)
        token = np.ascontiguousarray(row.token, dtype="<f4").tobytes()
        connection.execute(
            "INSERT INTO tokens (id, words, token, months, texts, documentation, main) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                row_id,
                length,
                token,
                months_of(record),
                texts,
                record.role is Role.DOCUMENTATION,
                is_main(record),
            ),
        )
        connection.execute(
            "INSERT INTO lexical (rowid, workbook, sheet, headers, folder) VALUES (?, ?, ?, ?, ?)",
            (row_id, *(" ".join(words) for words in row.words)),
        )
    add_spellings(connection, added)
    return added


def delete_sheets(connection: sqlite3.Connection, ids: Sequence[int]) -> set[str]:
    """Remove sheets by row id; return their spellings, which `drop_spellings` drops."""
    # FTS5 has no foreign keys, so its rows are deleted here; tokens and contents are deleted by
    # cascade.
    dropped = drop_words(connection, ids)
    values = [(row_id,) for row_id in ids]
    connection.executemany("DELETE FROM lexical WHERE rowid = ?", values)
    connection.executemany("DELETE FROM sheets WHERE id = ?", values)
    return dropped
