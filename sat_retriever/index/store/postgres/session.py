"""Run statements of every store on a connection to PostgreSQL, and translate its errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

import psycopg
from psycopg.sql import SQL
from psycopg_pool import PoolClosed

from sat_retriever.errors import (
    IndexBusyError,
    IndexDamagedError,
    IndexFormatError,
    IndexStorageError,
    InputError,
    SatError,
)
from sat_retriever.index.store.packing import RowDamage
from sat_retriever.index.store.place import IndexUrl
from sat_retriever.index.store.rows import SqlType

Connection = psycopg.Connection[tuple[Any, ...]]
Cursor = psycopg.Cursor[tuple[Any, ...]]
# Beginnings of SQLSTATE, the error that each becomes, and its message; the first one counts.
_KINDS: tuple[tuple[tuple[str, ...], type[SatError], str], ...] = (
    (
        ("40", "55P03", "55006"),
        IndexBusyError,
        "{url} is being written to by others ({text}); try again later",
    ),
    (
        ("42501", "25006"),
        IndexStorageError,
        "the server refuses this at {url} ({text}); open it as a role that has the right, on a "
        "server that accepts writes",
    ),
    (
        ("3F000", "42P01", "42703"),
        IndexFormatError,
        "{url} is no complete index ({text}); index the folder anew",
    ),
    (
        ("54",),
        InputError,
        "a name is too long for PostgreSQL ({text}); shorten paths and names of sheets to 1,000 "
        "bytes",
    ),
    (
        ("22",),
        InputError,
        "PostgreSQL cannot store a value ({text}); remove it from the names",
    ),
    (
        ("08", "28", "3D", "53", "55", "57", "58", "?"),
        IndexStorageError,
        "cannot use {url}: {text}; check the server and the role",
    ),
    (("",), IndexFormatError, "{url} is not a readable index: {text}; index the folder anew"),
)
_UNSENT = "22000"  # a value that the driver itself refuses
_NO_STATE = "?"  # the server gave none: it cannot be reached, or the connection broke


@dataclass(frozen=True, slots=True)
class Table:
    """A table that an index file has as well, with the types of its columns in PostgreSQL."""

    name: str
    columns: tuple[str, ...]
    types: tuple[str, ...]

    @property
    def target(self) -> str:
        return f"{self.name} ({', '.join(self.columns)})"

    @property
    def reading(self) -> str:
        return f"SELECT {', '.join(self.columns)} FROM {self.name} ORDER BY {self.columns[0]}"


def _table(name: str, columns: str) -> Table:
    """A table from columns such as "id:int8 claim"; a column without a type is a text."""
    parts = [each.partition(":") for each in columns.split()]
    names, types = [part[0] for part in parts], [part[2] or "text" for part in parts]
    return Table(name, tuple(names), tuple(types))


META = _table("meta", "key value")
WORKBOOKS = _table(
    "workbooks",
    "id:int8 root path file size:int8 mtime_ns:int8 checked_ns:int8 content_hash skipped within "
    "version",
)
SHEETS = _table(
    "sheets",
    "id:int8 sheet_id workbook_id:int8 workbook path format visibility metadata record crc:int8",
)
TOKENS = _table(
    "tokens",
    "id:int8 words:int8 token:bytea months:int8 texts:int8 documentation:int8 main:int8 name",
)
CONTENTS = _table("contents", "id:int8 packed:bytea crc:int8")
# Each after those that it refers to.
OTHERS = (
    _table("spellings", "word reversed"),
    _table("links", "source target type origin weight:float8 evidence crc:int8"),
    _table("external_references", "rowid:int8 sheet:int8 file claim"),
    _table("periods", "sheet:int8 family claim"),
    _table("stale_families", "family"),
    _table("key_columns", "id:int8 sheet:int8 claim"),
    _table("key_blocks", "block key_column:int8"),
    _table("copies", "sheet:int8 family:int8 versions claim"),
    _table("copy_blocks", "block place sheet:int8"),
    _table("stale_copies", "sheet:int8"),
    _table("unsettled", "kind name"),
    _table("crowded_blocks", "block"),
    _table("permissions", "sheet:int8 name"),
)
# What PostgreSQL has in other columns and tables than a file.
OWN_SHEETS = Table(
    "sheets",
    ("stored", *SHEETS.columns, "role", "formulas"),
    ("int8", *SHEETS.types, "text", "text"),
)
FIELDS = _table("fields", "sheet:int8 key value number:numeric")
WORDS = _table("words", "id:int8 names:text[] contents:text[]")
VECTORS = _table("vectors", "stored:int8 token:halfvec")
TABLES = (META, WORKBOOKS, SHEETS, TOKENS, CONTENTS, *OTHERS)
TYPES = {each.name: dict(zip(each.columns, each.types, strict=True)) for each in TABLES}
"""Types of the columns of each table in PostgreSQL, by their names."""


class PostgresSession:
    """The session of a connection, whose transaction the caller owns.

    While all is read in one view, `known` are rows of statements without values; else None.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.known: dict[str, list[tuple[Any, ...]]] | None = None

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> Cursor:
        """Run one statement; results are binary, so that bytes are not read as text."""
        return self.connection.execute(statement(sql), values, binary=True)

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> Cursor:
        cursor = self.connection.cursor()
        cursor.executemany(statement(sql), rows)
        return cursor

    @staticmethod
    def listed(values: Sequence[Any], kind: SqlType = "text", /) -> tuple[str, list[Any]]:
        return f"(SELECT unnest(?::{kind}[]) AS item)", list(values)

    def insert(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], /) -> None:
        types = tuple(TYPES[table][column] for column in columns)
        self.copy(Table(table, tuple(columns), types), rows)

    def new_ids(self, table: str, count: int, /) -> list[int]:
        if not count:
            return []
        sql = f"SELECT nextval(pg_get_serial_sequence('{table}', 'id')) FROM generate_series(1, ?)"
        return sorted(row[0] for row in self.execute(sql, (count,)).fetchall())

    def copy(self, table: Table, rows: Iterable[Sequence[Any]]) -> None:
        given = iter(rows)
        first = next(given, None)
        if first is None:
            return
        with self.connection.cursor().copy(
            SQL(f"COPY {table.target} FROM STDIN (FORMAT binary)")
        ) as copying:
            copying.set_types(table.types)
            for row in chain((first,), given):
                copying.write_row(row)


@lru_cache(maxsize=1_024)
def statement(sql: str) -> SQL:
    """The statement as the driver takes it; one that has values must hold no other `?`.

    >>> statement("SELECT a FROM b WHERE c = ?").as_string(None)
    'SELECT a FROM b WHERE c = %s'
    """
    return SQL(sql.replace("%", "%%").replace("?", "%s"))


@contextmanager
def translated(url: IndexUrl) -> Iterator[None]:
    """Turn errors of the database and of damaged rows into this package's."""
    try:
        yield
    except (psycopg.Error, PoolClosed) as error:
        raise as_own(error, url) from error
    except RowDamage as error:
        raise IndexDamagedError(
            f"{url} has damaged rows ({error}); repair them from their files with: "
            f"sat index FOLDER --verify --index '{url}'"
        ) from error


def as_own(error: Exception, url: IndexUrl) -> SatError:
    """This package's error for one of the driver's; its text has no value of a row, no password."""
    if isinstance(error, PoolClosed):
        return IndexFormatError(f"{url} was closed; open it again")
    state = getattr(error, "sqlstate", None)
    if state is None:
        state = _UNSENT if isinstance(error, psycopg.DataError) else _NO_STATE
    kind, message = next((kind, text) for starts, kind, text in _KINDS if state.startswith(starts))
    primary = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    text = (primary or str(error) or type(error).__name__).strip()
    return kind(message.format(url=url, text=text.partition("\n")[0]))  # details could quote rows
