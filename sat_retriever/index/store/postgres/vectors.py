"""Tokens in half precision, as pgvector stores and searches them, and the index over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types import TypeInfo

from sat_retriever.errors import InputError
from sat_retriever.index.store.postgres.session import VECTORS, Connection, PostgresSession
from sat_retriever.index.store.rows import SheetRow
from sat_retriever.records.tokens import FloatArray

MAX_INDEXED = 4_000  # numbers of a token that an index of pgvector takes
_NEIGHBOURS_BYTES = 1_024  # of an index for each vector while it is made, beside the vector
_MOST_MEMORY_KIB = 1 << 20  # that making an index takes, unless the server is set to more

_EXTENSION = (
    "pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
)


@dataclass(frozen=True, slots=True)
class HalfVector:
    """A token as pgvector's `halfvec` in binary: its width, 0, and its numbers.

    >>> HalfVector.of(np.float32([1, -2])).data.hex()
    '000200003c00c000'
    """

    data: bytes

    @classmethod
    def of(cls, token: FloatArray) -> HalfVector:
        numbers = np.ascontiguousarray(token, dtype=">f2")
        return cls(np.array([len(numbers), 0], dtype=">u2").tobytes() + numbers.tobytes())


def name_vectors(session: PostgresSession) -> None:
    """Let statements name pgvector's types until the transaction ends."""
    session.execute(
        "SELECT set_config('search_path', current_setting('search_path') || ', ' || "
        f"quote_ident(nspname), true) FROM {_EXTENSION}"
    )


def register_vectors(connection: Connection) -> None:
    """Let a connection write `HalfVector`."""
    found = connection.execute(f"SELECT quote_ident(nspname) FROM {_EXTENSION}").fetchone()
    info = found and TypeInfo.fetch(connection, f"{found[0]}.halfvec")
    if not info:
        return  # no index is there, which is found out later
    info.register(connection)
    number = info.oid

    class HalfVectorDumper(Dumper):
        format = Format.BINARY
        oid = number

        def dump(self, obj: HalfVector) -> bytes:
            return obj.data

    connection.adapters.register_dumper(HalfVector, HalfVectorDumper)


def insert_vectors(session: PostgresSession, rows: Sequence[SheetRow]) -> dict[str, int]:
    """Insert the vectors of sheets before these; return the key of each, by sheet id.

    Inserting into an index of vectors, if there is one, takes the most time of a write, and needs
    nothing of other sheets. The transaction fails in its end unless `sheets` gets a row of each
    key.
    """
    if not rows:
        return {}
    sql = "SELECT nextval('stored_keys') FROM generate_series(1, ?)"
    keys = [row[0] for row in session.execute(sql, (len(rows),)).fetchall()]
    keyed = list(zip(keys, rows, strict=True))
    session.copy(VECTORS, ((key, HalfVector.of(row.token)) for key, row in keyed))
    return {row.record.sheet_id: key for key, row in keyed}


def has_vector_index(session: PostgresSession) -> bool:
    """True if the vectors have an HNSW index."""
    sql = (
        "SELECT EXISTS (SELECT FROM pg_index i JOIN pg_class k ON k.oid = i.indexrelid "
        "JOIN pg_am a ON a.oid = k.relam "
        "WHERE i.indrelid = 'vectors'::regclass AND a.amname = 'hnsw')"
    )
    return bool(session.execute(sql).fetchall()[0][0])


def index_vectors(session: PostgresSession, width: int, table: str = "vectors") -> None:
    """Make an HNSW index of vectors of a width, at most 4,000; no search of this package needs it.

    That is several times as fast for many vectors at once as adding them to an index one by one,
    if the server may keep the index in memory meanwhile.
    """
    if width > MAX_INDEXED:
        raise InputError(
            f"an HNSW index takes vectors of {MAX_INDEXED:,} numbers at most, and these have "
            f"{width:,}: leave the index out, as search needs none"
        )
    name_vectors(session)
    [(count,)] = session.execute(f"SELECT count(*) FROM {table}").fetchall()
    session.execute(  # until the transaction ends
        "SELECT set_config('maintenance_work_mem', greatest(least(?::bigint, ?), setting::bigint) "
        "|| 'kB', true) FROM pg_settings WHERE name = 'maintenance_work_mem'",
        (count * (2 * width + _NEIGHBOURS_BYTES) >> 10, _MOST_MEMORY_KIB),
    )
    create = f"CREATE INDEX ON {table} USING hnsw ((token::halfvec({width})) halfvec_ip_ops)"
    try:
        with session.connection.transaction():
            session.execute(create)
    except (psycopg.errors.DiskFull, psycopg.errors.OutOfMemory):
        # Several processes share memory, of which containers often have little.
        session.execute("SELECT set_config('max_parallel_maintenance_workers', '0', true)")
        session.execute(create)
