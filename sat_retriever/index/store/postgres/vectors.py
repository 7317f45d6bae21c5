"""Tokens in half precision, as pgvector stores and searches them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types import TypeInfo

from sat_retriever.index.store.postgres.session import Connection, PostgresSession
from sat_retriever.index.store.rows import SheetRow
from sat_retriever.records.tokens import FloatArray

VECTORS = ("vectors (stored, token)", ("int8", "halfvec"))  # the table, and types of its columns


@dataclass(frozen=True, slots=True)
class HalfVector:
    """A token as pgvector's `halfvec` in binary: its width, 0, and its numbers.

    >>> HalfVector.of(np.float32([1, -2])).data.hex()
    '000200003c00c000'
    """

    data: bytes

    @classmethod
    def of(cls, token: FloatArray) -> HalfVector:
        """A token (d,) in half precision."""
        numbers = np.ascontiguousarray(token, dtype=">f2")
        return cls(np.array([len(numbers), 0], dtype=">u2").tobytes() + numbers.tobytes())


def register_vectors(connection: Connection) -> None:
    """Let a connection write `HalfVector`; pgvector must be on its search path."""
    info = TypeInfo.fetch(connection, "halfvec")
    if info is None:
        return  # no index is there, which is found out later
    info.register(connection)
    number = info.oid

    class HalfVectorDumper(Dumper):
        """Writes the bytes as they are."""

        format = Format.BINARY
        oid = number

        def dump(self, obj: HalfVector) -> bytes:
            return obj.data

    connection.adapters.register_dumper(HalfVector, HalfVectorDumper)


def insert_vectors(session: PostgresSession, rows: Sequence[SheetRow]) -> dict[str, int]:
    """Insert the vectors of sheets before these; return the key of each, by sheet id.

    Inserting into the index of vectors takes the most time of a write, and needs nothing of other
    sheets. The transaction fails in its end unless `sheets` gets a row of each key.
    """
    if not rows:
        return {}
    keys = new_keys(session, len(rows))
    session.copy(
        *VECTORS, ((key, HalfVector.of(row.token)) for key, row in zip(keys, rows, strict=True))
    )
    return {row.record.sheet_id: key for key, row in zip(keys, rows, strict=True)}


def new_keys(session: PostgresSession, count: int) -> list[int]:
    """Return new keys of vectors."""
    sql = "SELECT nextval('stored_keys') FROM generate_series(1, ?)"
    return [row[0] for row in session.execute(sql, (count,)).fetchall()]
