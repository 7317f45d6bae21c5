"""Copy an index in PostgreSQL into an index file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from sat_retriever.index.store.connection import translated as translated_file
from sat_retriever.index.store.damage import contents_of, record_of, seal
from sat_retriever.index.store.postgres.session import PostgresSession, statement
from sat_retriever.index.store.postgres.tables import TABLES
from sat_retriever.index.store.schema import migrate
from sat_retriever.index.store.words import add_words
from sat_retriever.records.files import draft_of
from sat_retriever.text.contents import content_words
from sat_retriever.text.lexical import sheet_words

_WORDS = (
    "SELECT s.id, s.record, s.crc, c.packed, c.crc FROM sheets s "
    "LEFT JOIN contents c ON c.id = s.id ORDER BY s.id"
)
_LEXICAL = "INSERT INTO lexical (rowid, workbook, sheet, headers, folder) VALUES (?, ?, ?, ?, ?)"


def export_file(session: PostgresSession, path: Path) -> None:
    """Write the state that a transaction sees to an index file; an existing one is replaced.

    Raises:
        OutputError: If it cannot be written.
        RowDamage: If a row is damaged.
    """
    with (
        draft_of(path) as draft,
        translated_file(path),
        closing(sqlite3.connect(draft, isolation_level=None)) as target,
    ):
        migrate(target)
        target.execute("BEGIN")
        for table in TABLES:
            slots = ", ".join("?" * len(table.columns))
            insert = f"INSERT INTO {table.target} VALUES ({slots})"
            target.executemany(insert, _rows(session, table.reading))
        for row_id, text, crc, data, data_crc in _rows(session, _WORDS):
            names = map(" ".join, sheet_words(record_of(text, crc)))
            target.execute(_LEXICAL, (row_id, *names))
            if data is not None:
                add_words(target, row_id, content_words(contents_of(data, data_crc)).matched)
        seal(target, [row[0] for row in target.execute("SELECT id FROM workbooks").fetchall()])
        target.execute("COMMIT")


def _rows(session: PostgresSession, sql: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a long result."""
    with session.connection.cursor("exported", binary=True) as rows:
        yield from rows.execute(statement(sql))
