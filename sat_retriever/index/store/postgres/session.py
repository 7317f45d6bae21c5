"""Run statements with `?` for values on a connection to PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.sql import SQL

from sat_retriever.index.store.postgres.tables import TYPES
from sat_retriever.index.store.session import Kind

if TYPE_CHECKING:  # it needs words, which need a session
    from sat_retriever.index.store.postgres.packing import PackedSheet

Connection = psycopg.Connection[tuple[Any, ...]]
Cursor = psycopg.Cursor[tuple[Any, ...]]


class PostgresSession:
    """A connection whose statements are written as for every store.

    Args:
        connection: The connection; the caller owns its transaction.
        packed: Sheets that may be inserted, by sheet id.
        keys: Key of the vectors of each of them, which were inserted already.

    Attributes:
        known: Rows of statements without values, while all is read in one view; else None.
    """

    def __init__(
        self,
        connection: Connection,
        packed: Mapping[str, PackedSheet] = MappingProxyType({}),
        keys: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self.connection = connection
        self.known: dict[str, list[tuple[Any, ...]]] | None = None
        self.packed = packed
        self.keys = keys

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> Cursor:
        """Run one statement; results are binary, so that bytes are not read as text."""
        return self.connection.execute(statement(sql), values, binary=True)

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> Cursor:
        """Run one statement for each row of values, without waiting in between."""
        cursor = self.connection.cursor()
        cursor.executemany(statement(sql), rows)
        return cursor

    def listed(self, values: Sequence[Any], kind: Kind = "text", /) -> tuple[str, list[Any]]:
        """Return a subquery whose column `item` has some values, and the value of its `?`."""
        return f"(SELECT unnest(?::{kind}[]) AS item)", list(values)

    def insert(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], /) -> None:
        """Add new rows to a table that an index file has as well."""
        types = [TYPES[table][column] for column in columns]
        self.copy(f"{table} ({', '.join(columns)})", types, rows)

    def new_ids(self, table: str, count: int, /) -> list[int]:
        """Return ids for new rows of a table, ascending, after those of all its rows."""
        if not count:
            return []
        sql = f"SELECT nextval(pg_get_serial_sequence('{table}', 'id')) FROM generate_series(1, ?)"
        return sorted(row[0] for row in self.execute(sql, (count,)).fetchall())

    def copy(self, target: str, types: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
        """Insert rows by COPY, in binary, and return their number.

        Args:
            target: Table and columns, as in "words (id, names)".
            types: Types of the columns.
            rows: Their values.
        """
        given = iter(rows)
        first = next(given, None)
        if first is None:
            return 0
        done = 0
        with self.connection.cursor().copy(
            SQL(f"COPY {target} FROM STDIN (FORMAT binary)")
        ) as copying:
            copying.set_types(types)
            for row in chain((first,), given):
                copying.write_row(row)
                done += 1
        return done


@lru_cache(maxsize=1_024)
def statement(sql: str) -> SQL:
    """The statement as the driver takes it; one that has values must hold no other `?`.

    >>> statement("SELECT a FROM b WHERE c = ?").as_string(None)
    'SELECT a FROM b WHERE c = %s'
    """
    return SQL(sql.replace("%", "%%").replace("?", "%s"))
