"""Make indexes of many rows at once, after these are there."""

from __future__ import annotations

import psycopg

from sat_retriever.index.store.postgres.session import PostgresSession

MAX_INDEXED = 4_000  # numbers of a token that an index of pgvector takes
LEAST_INDEXED = 1_000  # vectors from which on they are indexed; fewer are compared one by one
_NEIGHBOURS_BYTES = 1_024  # of an index for each vector while it is made, beside the vector
_MOST_MEMORY_KIB = 1 << 20  # that making an index takes, unless the server is set to more


def lacks_vector_index(session: PostgresSession, namespace: str) -> bool:
    """True if there are enough vectors for an index, none yet, and the role may make it."""
    sql = (
        "SELECT pg_has_role(c.relowner, 'USAGE') "
        "AND (SELECT count(*) FROM (SELECT 1 FROM vectors LIMIT ?) x) = ? "
        "AND NOT EXISTS (SELECT FROM pg_index i JOIN pg_class k ON k.oid = i.indexrelid "
        "JOIN pg_am a ON a.oid = k.relam WHERE i.indrelid = c.oid AND a.amname = 'hnsw') "
        "FROM pg_class c WHERE c.oid = to_regclass(?)"
    )
    values = (LEAST_INDEXED, LEAST_INDEXED, f'"{namespace}".vectors')
    [(lacking,)] = session.execute(sql, values).fetchall()
    return bool(lacking)


def index_vectors(session: PostgresSession, width: int, table: str = "vectors") -> None:
    """Make the index of vectors of a width; few vectors, and wider ones, need or get none.

    That is several times as fast for many vectors at once as adding them to an index one by one,
    if the server may keep the index in memory meanwhile.
    """
    [(count,)] = session.execute(f"SELECT count(*) FROM {table}").fetchall()
    if width > MAX_INDEXED or count < LEAST_INDEXED:
        return
    _allow_memory(session, count * (2 * width + _NEIGHBOURS_BYTES) >> 10)
    create = f"CREATE INDEX ON {table} USING hnsw ((token::halfvec({width})) halfvec_ip_ops)"
    try:
        with session.connection.transaction():
            session.execute(create)
    except (psycopg.errors.DiskFull, psycopg.errors.OutOfMemory):
        # Several processes share memory, of which containers often have little.
        session.execute("SELECT set_config('max_parallel_maintenance_workers', '0', true)")
        session.execute(create)


def _allow_memory(session: PostgresSession, needed_kib: int) -> None:
    """Let an index take memory while it is made, until the transaction ends."""
    session.execute(
        "SELECT set_config('maintenance_work_mem', greatest(least(?::bigint, ?), setting::bigint) "
        "|| 'kB', true) FROM pg_settings WHERE name = 'maintenance_work_mem'",
        (needed_kib, _MOST_MEMORY_KIB),
    )


def drop_for_loading(session: PostgresSession, namespace: str) -> list[str]:
    """Drop what slows a load down: indexes that are no keys, and references between tables.

    Returns:
        Statements that make all of it again.
    """
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
