"""Store records, tokens, links and words in a schema of a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

import numpy as np

from sat_retriever.errors import IndexBusyError, IndexStorageError
from sat_retriever.index.store.damage import Damage
from sat_retriever.index.store.place import IndexUrl
from sat_retriever.index.store.postgres import database, indexes, locks
from sat_retriever.index.store.postgres.damage import find_damage, take_out
from sat_retriever.index.store.postgres.errors import translated
from sat_retriever.index.store.postgres.reading import PostgresReader
from sat_retriever.index.store.postgres.rowsecurity import protect, protect_vectors
from sat_retriever.index.store.postgres.schema import PROTECTED
from sat_retriever.index.store.postgres.session import PostgresSession
from sat_retriever.index.store.postgres.vectors import HalfVector
from sat_retriever.index.store.postgres.words import drop_spellings
from sat_retriever.index.store.postgres.write import delete_sheets, insert_sheets
from sat_retriever.index.store.rows import RowToken, SheetRow
from sat_retriever.index.store.updating import StoreWriter, put_meta

MANY = 1_000  # notes of a second pass from which on its joins are planned with fresh statistics
_SOME = (
    "(SELECT 1 FROM unsettled OFFSET ? LIMIT 1) UNION (SELECT 1 FROM stale_copies OFFSET ? LIMIT 1)"
)
_JOINED = (
    "sheets, workbooks, links, external_references, key_columns, key_blocks, crowded_blocks, "
    "unsettled, copies, copy_blocks, stale_copies"
)


class PostgresStore(PostgresReader, StoreWriter[PostgresSession]):
    """A reader and writer of one index; every method that writes is one transaction."""

    @classmethod
    def create(cls, url: IndexUrl, meta: Mapping[str, str]) -> PostgresStore:
        """Create a new, empty store; it appears whole or not at all.

        Raises:
            InputError: If there is already an index.
            IndexStorageError: If the role may not make it, or the server lacks pgvector.
        """
        database.create(url, meta)
        return cls.open(url)

    @classmethod
    def open(cls, url: IndexUrl) -> PostgresStore:
        """Open an existing store, read-only if the role may not write.

        Raises:
            IndexNotFoundError: If there is none.
            IndexFormatError: If it was written by a newer version.
            IndexStorageError: If the server cannot be reached, or refuses.
        """
        return cls(url, writable=database.prepare(url))

    def replace_tokens(self, tokens: Iterable[RowToken], meta: Mapping[str, str | None]) -> None:
        """Replace all tokens, and the notes about them, or nothing.

        Args:
            tokens: Row id and token of every sheet.
            meta: New values by key; None removes a key.

        Raises:
            IndexStorageError: If the index cannot be written, or there is not one token per sheet.
        """
        with self._writing() as session:
            session.execute(
                "CREATE TEMP TABLE fresh (id bigint PRIMARY KEY, token bytea NOT NULL, "
                "vector halfvec NOT NULL) ON COMMIT DROP"
            )
            session.copy(
                "fresh (id, token, vector)",
                ("int8", "bytea", "halfvec"),
                (
                    (row_id, token, HalfVector.of(np.frombuffer(token, dtype="<f4")))
                    for row_id, token in tokens
                ),
            )
            update = "UPDATE tokens t SET token = f.token FROM fresh f WHERE f.id = t.id"
            done = session.execute(update).rowcount
            sheets = session.execute("SELECT count(*) FROM tokens").fetchall()[0][0]
            if done != sheets:
                raise IndexStorageError(
                    f"{done:,} new tokens do not fit the {sheets:,} sheets of {self.path}; another "
                    "program changed it meanwhile, try again"
                )
            _replace_vectors(session, meta["width"])
            put_meta(session, meta)

    def settle(self) -> None:
        """Find the links and groups of copies of all that changes touched, page by page.

        After the first large write, the vectors get their index.
        """
        if self._rows(_SOME, (MANY, MANY)):  # the server has no idea of new rows until it looks
            with suppress(IndexBusyError), self._transaction() as session:
                session.execute(f"ANALYZE {_JOINED}")
        super().settle()
        width, namespace = int(self.meta().get("width", 0)), self.path.namespace
        if not 0 < width <= indexes.MAX_INDEXED:
            return
        with translated(self.path), self._connection() as session:
            lacking = indexes.lacks_vector_index(session, namespace)
        if lacking:
            with suppress(IndexBusyError):  # the last of those that write makes it
                self._index_vectors(width)

    def _index_vectors(self, width: int) -> None:
        with self._transaction() as session:
            locks.wait(session, locks.WRITER_WAIT_S)
            session.execute("LOCK TABLE vectors IN SHARE ROW EXCLUSIVE MODE")  # readers go on
            if indexes.lacks_vector_index(session, self.path.namespace):
                indexes.index_vectors(session, width)

    def repair(self, width: int) -> Damage:
        """Delete every damaged row; reading its workbook again replaces it.

        Args:
            width: Token width d.

        Returns:
            The damage.
        """
        with self._writing() as session:
            damage = find_damage(session, width)
            take_out(session, damage)
        return damage

    def forget_words(self) -> None:
        """Do nothing: the server takes deleted words out by itself (VACUUM)."""

    def unrepaired(self, damage: Damage) -> list[tuple[str, str]]:
        """Return root and path of the damaged workbooks that were not read again since."""
        ids = [workbook_id for workbook_id, _root, _path in damage.workbooks]
        return self._in("SELECT root, path FROM workbooks WHERE id IN ({})", ids)

    def _insert_sheets(
        self, connection: PostgresSession, rows: Sequence[tuple[int | None, SheetRow]]
    ) -> set[str]:
        return insert_sheets(connection, rows)

    def _delete_sheets(self, connection: PostgresSession, ids: Sequence[int]) -> set[str]:
        return delete_sheets(connection, ids)

    def _protect(self, connection: PostgresSession, *, protected: bool) -> None:
        protect(connection, PROTECTED, protected=protected)

    def _drop_spellings(self, connection: PostgresSession, words: Iterable[str]) -> None:
        drop_spellings(connection, words)


def _replace_vectors(session: PostgresSession, width: str | None) -> None:
    """Fill another table, which takes the place of the old one at once: readers hardly wait."""
    session.execute("CREATE TABLE new_vectors (LIKE vectors)")
    session.execute(
        "INSERT INTO new_vectors (stored, token) SELECT s.stored, f.vector "
        "FROM fresh f JOIN sheets s ON s.id = f.id"
    )
    session.execute(
        "ALTER TABLE new_vectors ADD PRIMARY KEY (stored), ADD FOREIGN KEY (stored) "
        "REFERENCES sheets (stored) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"
    )
    if width is not None:
        indexes.index_vectors(session, int(width), "new_vectors")
    session.execute("DROP TABLE vectors")
    session.execute("ALTER TABLE new_vectors RENAME TO vectors")
    protect_vectors(session)
