"""Copy a whole index between a file and PostgreSQL, each way in one transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from hashlib import blake2b
from itertools import count as count_from
from pathlib import Path
from typing import Any

import numpy as np

from sat_retriever.errors import IndexDamagedError, IndexFormatError, PermissionsError
from sat_retriever.index.store.connection import open_file
from sat_retriever.index.store.connection import translated as translated_file
from sat_retriever.index.store.damage import seal
from sat_retriever.index.store.packing import contents_of, record_of
from sat_retriever.index.store.place import IndexUrl
from sat_retriever.index.store.postgres import schema
from sat_retriever.index.store.postgres.database import connected
from sat_retriever.index.store.postgres.locks import lock_index
from sat_retriever.index.store.postgres.rowsecurity import holds_back, protect
from sat_retriever.index.store.postgres.session import (
    CONTENTS,
    FIELDS,
    META,
    OTHERS,
    OWN_SHEETS,
    SHEETS,
    TABLES,
    TOKENS,
    VECTORS,
    WORDS,
    WORKBOOKS,
    PostgresSession,
    Table,
    statement,
    translated,
)
from sat_retriever.index.store.postgres.vectors import HalfVector, index_vectors, register_vectors
from sat_retriever.index.store.postgres.write import fields_of, key_of, names_of
from sat_retriever.index.store.rows import RESTRICTED
from sat_retriever.index.store.schema import migrate
from sat_retriever.index.store.words import add_words
from sat_retriever.records.contents import Role
from sat_retriever.records.files import draft_of
from sat_retriever.records.progress import Progress
from sat_retriever.text.contents import content_words
from sat_retriever.text.lexical import sheet_words

_AT_ONCE = 1_000  # rows between two calls of the progress
_WORDS = (
    "SELECT s.id, s.record, s.crc, c.packed, c.crc FROM sheets s "
    "LEFT JOIN contents c ON c.id = s.id ORDER BY s.id"
)
_LEXICAL = "INSERT INTO lexical (rowid, workbook, sheet, headers, folder) VALUES (?, ?, ?, ?, ?)"
_IDS = {"workbooks": "id", "sheets": "id", "key_columns": "id", "external_references": "rowid"}
_OF_VALUES = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError)

Row = tuple[Any, ...]


def migrate_file(
    file: Path,
    url: IndexUrl,
    progress: Progress | None = None,
    *,
    hnsw: bool = False,
    replace: bool = False,
) -> dict[str, int]:
    """Copy an index file to a URL; see `opening.migrate_store`."""
    with (
        closing(open_file(file)) as source,
        connected(url) as connection,
        translated(url),
        connection.transaction(),
        translated_file(file),
    ):
        source.execute("BEGIN")  # one state of the file, whatever others write
        session = PostgresSession(connection)
        schema.check_server(session, url)
        if replace and schema.exists(session, url.namespace):
            lock_index(session, url.namespace)
            schema.set_path(session, url.namespace)
            schema.check(session, url, writable=True)
            schema.drop_tables(session)  # the schema stays, with what it grants on new tables
        schema.create(session, url, {})
        register_vectors(connection)
        dropped = _drop_for_loading(session, url.namespace)
        with _of_damage(file):
            counts = _copied(source, session, progress)
            [(width,)] = source.execute("SELECT value FROM meta WHERE key = 'width'").fetchall()
            numbers = int(width)
        for made_again in dropped:
            session.execute(made_again)
        if hnsw:
            index_vectors(session, numbers)
        for table in TABLES:
            session.execute(f"ANALYZE {table.name}")
        _compare(source, session, url)
        return counts


@contextmanager
def _of_damage(file: Path) -> Iterator[None]:
    """Tell rows of a file that were changed by others: their values are of any type and form."""
    try:
        yield
    except _OF_VALUES as error:
        raise IndexDamagedError(
            f"{file} has damaged rows ({str(error)[:100]}); repair them from their files with: "
            f"sat index FOLDER --verify --index {file}"
        ) from error


def _drop_for_loading(session: PostgresSession, namespace: str) -> list[str]:
    """Drop what slows a load down, all but keys; return the statements that make it again."""
    references = session.execute(
        "SELECT t.relname, c.conname, pg_get_constraintdef(c.oid) FROM pg_constraint c "
        "JOIN pg_class t ON t.oid = c.conrelid JOIN pg_namespace n ON n.oid = t.relnamespace "
        "WHERE c.contype = 'f' AND n.nspname = ? ORDER BY 1, 2",
        (namespace,),
    ).fetchall()
    indexes = session.execute(
        "SELECT k.relname, pg_get_indexdef(k.oid) FROM pg_index i "
        "JOIN pg_class k ON k.oid = i.indexrelid JOIN pg_namespace n ON n.oid = k.relnamespace "
        "WHERE NOT i.indisunique AND n.nspname = ? ORDER BY 1",
        (namespace,),
    ).fetchall()
    for table, name, _definition in references:
        session.execute(f'ALTER TABLE "{table}" DROP CONSTRAINT "{name}"')
    for name, _definition in indexes:
        session.execute(f'DROP INDEX "{name}"')
    return [
        *(definition for _name, definition in indexes),
        *(f'ALTER TABLE "{t}" ADD CONSTRAINT "{name}" {made}' for t, name, made in references),
    ]


def _copied(
    source: sqlite3.Connection, session: PostgresSession, progress: Progress | None
) -> dict[str, int]:
    count = "SELECT count(*) FROM {}"
    sizes = {x.name: int(source.execute(count.format(x.name)).fetchone()[0]) for x in TABLES}
    counted = _counting(sum(sizes.values()), progress)
    for table in (META, WORKBOOKS, TOKENS, CONTENTS, *OTHERS):
        if table is TOKENS:
            _copy_sheets(source, session, counted(_read(source, SHEETS)))
        session.copy(table, counted(_read(source, table)))
    # Words and vectors, which PostgreSQL stores in another form.
    session.copy(WORDS, _words(source))
    tokens = source.execute("SELECT id, token FROM tokens ORDER BY id")
    vectors = ((row_id, HalfVector.of(np.frombuffer(data, dtype="<f4"))) for row_id, data in tokens)
    session.copy(VECTORS, vectors)
    for name, column in _IDS.items():
        session.execute(
            f"SELECT setval(pg_get_serial_sequence('{name}', '{column}'), max({column})) "
            f"FROM {name} HAVING max({column}) IS NOT NULL"
        )
    if source.execute("SELECT 1 FROM meta WHERE key = ?", (RESTRICTED,)).fetchone():
        protect(session, schema.PROTECTED, protected=True)
    return sizes


def _counting(total: int, progress: Progress | None) -> Callable[[Iterable[Row]], Iterator[Row]]:
    """A function that passes rows on and tells their number, of all tables together."""
    numbers = count_from(1)

    def counted(rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            done = next(numbers)
            if progress and (done % _AT_ONCE == 0 or done == total):
                progress(done, total)
            yield row

    return counted


def _copy_sheets(
    source: sqlite3.Connection, session: PostgresSession, sheets: Iterator[Row]
) -> None:
    session.copy(OWN_SHEETS, ((row[0], *row, *_facts(row[-2])) for row in sheets))
    session.execute("SELECT setval('stored_keys', max(stored)) FROM sheets HAVING count(*) > 0")
    metadata = source.execute("SELECT id, metadata FROM sheets WHERE metadata != '{}'")
    fields = ((row, *field) for row, text in metadata for field in fields_of(json.loads(text)))
    session.copy(FIELDS, fields)


def _facts(text: str) -> tuple[str, str]:
    plain = json.loads(text)
    return plain.get("role", Role.DATA.value), plain.get("formulas", "none")


def _words(source: sqlite3.Connection) -> Iterator[Row]:
    for row_id, text, crc, data, data_crc in source.execute(_WORDS):
        found = None
        if data is not None:
            found = [key_of(x) for x in content_words(contents_of(data, data_crc)).matched]
        yield row_id, names_of(sheet_words(record_of(text, crc))), found


def _compare(source: sqlite3.Connection, session: PostgresSession, url: IndexUrl) -> None:
    for table in TABLES:
        there = _digest(_long(session, table.reading))
        here = _digest(_read(source, table))
        if here != there:
            raise IndexFormatError(
                f"table {table.name} has {there[0]:,} rows at {url}, and {here[0]:,} in the file, "
                "or other values; nothing was kept, run the command again"
            )


def _digest(rows: Iterable[Row]) -> tuple[int, int]:
    """Number and digest of rows, whatever their order: equal keys may come in any."""
    count = total = 0
    for row in rows:
        digest = blake2b(repr(row).encode("utf-8", "surrogatepass"), digest_size=8).digest()
        total += int.from_bytes(digest, "big")
        count += 1
    return count, total


def _read(source: sqlite3.Connection, table: Table) -> Iterator[Row]:
    return iter(source.execute(table.reading))


def export_index(url: IndexUrl, path: Path, progress: Progress | None = None) -> None:
    """Write the present state of an index to a file, whatever others write meanwhile.

    Raises `IndexFormatError` if its tables are of another version, `PermissionsError` if the role
    does not see all sheets.
    """
    with translated(url), connected(url) as connection, connection.transaction():
        session = PostgresSession(connection)
        session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        schema.set_path(session, url.namespace)
        if schema.check(session, url, writable=True):
            raise IndexFormatError(
                f"{url} was written by an older version, and only that one can write it to a file: "
                "make the backup with it, or bring the index up to date first: "
                f"sat status --index '{url}'"
            )
        if holds_back(session):
            raise PermissionsError(
                f"the role of {url} does not see all sheets; open it as its owner"
            )
        export_file(session, path, progress)


def export_file(session: PostgresSession, path: Path, progress: Progress | None = None) -> None:
    """Write the state that a transaction sees to an index file; an existing one is replaced."""
    count = "SELECT count(*) FROM {}"
    rows = sum(int(session.execute(count.format(x.name)).fetchall()[0][0]) for x in TABLES)
    counted = _counting(rows, progress)
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
            target.executemany(insert, counted(_long(session, table.reading)))
        for row_id, text, crc, data, data_crc in _long(session, _WORDS):
            names = map(" ".join, sheet_words(record_of(text, crc)))
            target.execute(_LEXICAL, (row_id, *names))
            if data is not None:
                add_words(target, row_id, content_words(contents_of(data, data_crc)).matched)
        seal(target, [row[0] for row in target.execute("SELECT id FROM workbooks").fetchall()])
        target.execute("COMMIT")


def _long(session: PostgresSession, sql: str) -> Iterator[tuple[Any, ...]]:
    with session.connection.cursor("exported", binary=True) as rows:
        yield from rows.execute(statement(sql))
