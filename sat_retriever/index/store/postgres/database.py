"""Manage an open index in PostgreSQL: its connections, transactions and writers."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool

from sat_retriever.errors import IndexStorageError, InputError
from sat_retriever.index.store.conditions import postgres_conditions
from sat_retriever.index.store.copies import StoredCopies
from sat_retriever.index.store.links import StoredLinks
from sat_retriever.index.store.place import IndexUrl
from sat_retriever.index.store.postgres import locks, schema
from sat_retriever.index.store.postgres.session import Connection, PostgresSession, translated
from sat_retriever.index.store.postgres.vectors import insert_vectors, register_vectors
from sat_retriever.index.store.postgres.write import WritingSession, packed_sheets
from sat_retriever.index.store.rows import SheetRow
from sat_retriever.index.store.store import Store
from sat_retriever.records.files import own_folder

MOST_CONNECTIONS = 16  # of one open index; more threads wait for each other
_CONNECT_S = 10  # time that a connection may take, unless the URL says otherwise
_AGAIN_S = 2.0  # of tries to connect: a longer pause between them outlasts the server's own
_IN = 1_000  # values in one IN (...) list
_NAME = "sat-retriever"  # as the server's list of connections shows


class Database(Store):
    """Connections, transactions and writers of one index; may be shared between threads.

    Readers see one state and never wait for a writer. A thread that reads or writes several
    statements together does so on one connection, others take one of a pool for each statement.
    """

    path: IndexUrl
    kept_by_readers = True  # writers are on other hosts

    def __init__(
        self, url: IndexUrl, *, writable: bool, pool: ConnectionPool[Connection] | None = None
    ) -> None:
        self.path = url
        self.writable = writable
        self.links = StoredLinks(self._rows, self._in, PostgresSession.listed, self._translated)
        self.copies = StoredCopies(self._rows, self._in, postgres_conditions)
        self._own = threading.local()
        self.pool = pool or ConnectionPool[Connection](
            url.conninfo,
            kwargs=_options(url),
            min_size=0,
            max_size=MOST_CONNECTIONS,
            timeout=_CONNECT_S,
            reconnect_timeout=_AGAIN_S,
            configure=self._configure,
            check=ConnectionPool.check_connection,
            open=True,
        )

    @cached_property
    def beside(self) -> Path | None:
        """The folder in which readers on this host find a large index as mapped files.

        It belongs to the user, and to these tables: an index that is made anew has another one.
        None if it cannot be made.
        """
        [[table]] = self._rows("SELECT 'sat_version'::regclass::oid::bigint")
        with self._connection() as session:
            info = session.connection.info
            known = (info.host, str(info.port), info.dbname, self.path.namespace, str(table))
        name = hashlib.blake2b("\0".join(known).encode(), digest_size=16).hexdigest()
        try:
            return own_folder("indexes") / name
        except OSError:
            return None

    def _configure(self, connection: Connection) -> None:
        schema.set_path(PostgresSession(connection), self.path.namespace)
        register_vectors(connection)

    @property
    def own_files(self) -> frozenset[Path]:
        return frozenset()

    def bytes(self) -> int:
        sql = (
            "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c "
            "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = ? AND c.relkind = 'r'"
        )
        return int(self._rows(sql, (self.path.namespace,))[0][0])

    def close(self) -> None:
        self.pool.close()

    def delete(self) -> None:
        with self._transaction() as session:
            schema.drop(session, self.path.namespace)
        self.close()

    # ---- writers

    def writing_beside_others(self) -> AbstractContextManager[None]:
        return self._holding(alone=False)

    def sole_writer(self) -> AbstractContextManager[None]:
        return self._holding(alone=True)

    @contextmanager
    def _holding(self, *, alone: bool) -> Iterator[None]:
        """Hold the lock on the connection that then writes: no write can outlive it."""
        self._check_writable()
        namespace = self.path.namespace
        with translated(self.path), self._connection() as session:
            locks.hold_index(session, namespace, alone=alone)
            try:
                schema.check(session, self.path, writable=True)
                yield
            finally:
                with suppress(psycopg.Error):  # without a connection there is no lock either
                    locks.release_index(session, namespace, alone=alone)

    @contextmanager
    def _writing(
        self, workbooks: Iterable[tuple[str, str]] = (), rows: Sequence[SheetRow] = ()
    ) -> Iterator[WritingSession]:
        """Open the transaction of one write; see `locks` for what waits for what."""
        self._check_writable()
        namespace = self.path.namespace
        packed = packed_sheets(rows)  # before any lock is taken
        with self._transaction() as session:
            locks.lock_workbooks(session, namespace, workbooks)
            keys = insert_vectors(session, rows)
            prepared = WritingSession(session.connection, packed, keys)
            locks.lock_rows(session, namespace)
            yield prepared
            prepared.execute(
                "INSERT INTO meta (key, value) VALUES ('generation', '1') ON CONFLICT (key) "
                "DO UPDATE SET value = (meta.value::bigint + 1)::text"
            )

    def _check_writable(self) -> None:
        if not self.writable:
            raise IndexStorageError(
                f"{self.path} may only be read here; open it as a role that may write"
            )

    # ---- connections

    @contextmanager
    def reading(self) -> Iterator[None]:
        with translated(self.path), self._connection() as session:
            if session.connection.info.transaction_status == TransactionStatus.INTRANS:
                yield  # inside another block, whose view it has
                return
            session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            session.known = {}
            try:
                yield
            finally:
                session.known = None
                with suppress(psycopg.Error):
                    session.execute("ROLLBACK")

    def answering(self) -> AbstractContextManager[None]:
        return self.reading()  # one view: each block of its own takes two trips

    @contextmanager
    def _transaction(self) -> Iterator[PostgresSession]:
        with (
            translated(self.path),
            self._connection() as session,
            session.connection.transaction(),
        ):
            yield session

    @contextmanager
    def _connection(self) -> Iterator[PostgresSession]:
        held: PostgresSession | None = getattr(self._own, "session", None)
        if held is not None:
            yield held
            return
        with self.pool.connection() as connection:
            self._own.session = PostgresSession(connection)
            try:
                yield self._own.session
            finally:
                self._own.session = None

    def _translated(self) -> AbstractContextManager[None]:
        return translated(self.path)

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        with translated(self.path), self._connection() as session:
            if session.known is None or values:
                return session.execute(sql, values).fetchall()
            if sql not in session.known:  # in one view it has one answer
                session.known[sql] = session.execute(sql).fetchall()
            return session.known[sql]

    def _in(self, sql: str, values: Sequence[Any]) -> list[Any]:
        found: list[Any] = []
        for start in range(0, len(values), _IN):
            part = list(values[start : start + _IN])
            kind = "text" if isinstance(part[0], str) else "bigint"
            found.extend(self._rows(sql.format(f"SELECT unnest(?::{kind}[])"), (part,)))
        return found


def connected(url: IndexUrl) -> Connection:
    """Return one new connection, for what happens before an index is open."""
    try:
        psycopg.conninfo.conninfo_to_dict(url.conninfo)
    except psycopg.ProgrammingError:  # its text may quote a password
        raise InputError(
            f"the client library of PostgreSQL cannot read {url}; check its parameters, and write "
            "signs such as @ and / in names and passwords as %40 and %2F"
        ) from None
    try:
        return psycopg.connect(url.conninfo, **_options(url))
    except psycopg.OperationalError as error:
        text = str(error).strip().partition("\n")[0]
        raise IndexStorageError(
            f"cannot connect to {url}: {text}; check host, port, user, and the password in "
            "PGPASSFILE or a service file"
        ) from error


def prepare(url: IndexUrl) -> bool:
    """Check an index and bring it to the current version; True if the role may write to it."""
    with translated(url), connected(url) as connection:
        session = PostgresSession(connection)
        schema.check_server(session, url)
        writable = schema.exists(session, url.namespace) and _may_write(session, url.namespace)
        with connection.transaction():
            schema.set_path(session, url.namespace)
            if schema.check(session, url, writable=writable):
                locks.lock_index(session, url.namespace)
                schema.migrate(session)
        return writable


def exists(url: IndexUrl) -> bool:
    """True if there is an index at a URL."""
    with translated(url), connected(url) as connection:
        return schema.exists(PostgresSession(connection), url.namespace)


def create(url: IndexUrl, meta: Mapping[str, str]) -> None:
    """Make a new, empty index; it appears whole or not at all."""
    with translated(url), connected(url) as connection, connection.transaction():
        session = PostgresSession(connection)
        schema.check_server(session, url)
        schema.create(session, url, meta)


def _may_write(session: PostgresSession, namespace: str) -> bool:
    sql = (
        "SELECT has_table_privilege(t, 'INSERT') AND NOT row_security_active(t) "
        "AND NOT current_setting('transaction_read_only')::bool FROM to_regclass(?) t"
    )
    return bool(session.execute(sql, (f'"{namespace}".sheets',)).fetchall()[0][0])


def _options(url: IndexUrl) -> dict[str, Any]:
    own = psycopg.conninfo.conninfo_to_dict(url.conninfo)
    defaults = {"connect_timeout": _CONNECT_S, "application_name": _NAME}
    return {"autocommit": True, **{key: v for key, v in defaults.items() if key not in own}}
