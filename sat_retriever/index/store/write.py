"""Pack sheets for any store; write and delete them in an index file, in a transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from sat_retriever.index.store.packing import checksum, packed_contents, packed_record, stored_name
from sat_retriever.index.store.rows import SheetRow
from sat_retriever.index.store.words import add_spellings, add_words, drop_words, spellings
from sat_retriever.records.contents import Role
from sat_retriever.text.contents import ContentWords, content_words
from sat_retriever.text.lexical import sheet_words
from sat_retriever.text.period.relation import months_of
from sat_retriever.text.segment import read_chunks
from sat_retriever.text.spelling import is_main

_NO_WORDS = ContentWords((), ())


@dataclass(frozen=True, slots=True)
class PackedSheet:
    """The columns of a sheet's rows in the tables of every store, without row ids."""

    sheet: tuple[Any, ...]  # id, workbook, path, format, visibility, metadata, record, crc
    token: tuple[Any, ...]  # words, token, months, texts, documentation, main, name
    contents: tuple[bytes, int] | None  # packed, crc; None without contents
    names: tuple[Sequence[str], ...]  # words of each lexical field, as in `LEXICAL_FIELDS`
    words: Sequence[str]  # that find the sheet by its contents
    spellings: Sequence[str]  # words that misspelt ones may mean


def packed_sheet(row: SheetRow) -> PackedSheet:
    """A sheet as it is stored; raises `InputError` if its contents cannot be."""
    record, kept, names = row.record, row.record.contents, sheet_words(row.record)
    text = packed_record(record)
    read = cache(read_chunks)  # the words of texts are needed twice
    words = content_words(kept, read) if kept else _NO_WORDS
    data = packed_contents(record, read) if kept else None
    return PackedSheet(
        sheet=(
            *(record.sheet_id, record.workbook, record.path, record.format),
            *(record.visibility.value, json.dumps(dict(record.metadata)), text, checksum(text)),
        ),
        token=(
            sum(map(len, names)),
            np.ascontiguousarray(row.token, dtype="<f4").tobytes(),
            months_of(record),
            len(words.matched),
            int(record.role is Role.DOCUMENTATION),
            int(is_main(record)),
            stored_name(record),
        ),
        contents=None if data is None else (data, checksum(data)),
        names=names,
        words=words.matched,
        spellings=spellings(record, words) if kept else (),
    )


def insert_sheets(
    connection: sqlite3.Connection, rows: Iterable[tuple[int | None, SheetRow]]
) -> set[str]:
    """Add sheets, each with the id of its workbook, if any; return the spellings that they have."""
    added: set[str] = set()
    for workbook_id, row in rows:
        each = packed_sheet(row)
        row_id = connection.execute(
            "INSERT INTO sheets (workbook_id, sheet_id, workbook, path, format, visibility, "
            "metadata, record, crc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (workbook_id, *each.sheet),
        ).lastrowid
        if each.contents:
            connection.execute(
                "INSERT INTO contents (id, packed, crc) VALUES (?, ?, ?)", (row_id, *each.contents)
            )
            add_words(connection, int(row_id or 0), each.words)
            added.update(each.spellings)
        connection.execute(
            "INSERT INTO tokens (id, words, token, months, texts, documentation, main, name) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (row_id, *each.token),
        )
        connection.execute(
            "INSERT INTO lexical (rowid, workbook, sheet, headers, folder) VALUES (?, ?, ?, ?, ?)",
            (row_id, *(" ".join(words) for words in each.names)),
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
