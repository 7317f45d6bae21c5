"""Store records, tokens, links and the lexical index in one SQLite file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from sat_retriever.errors import IndexStorageError
from sat_retriever.index.store.connection import (
    FileConnection,
    create_file,
    identity_of,
    is_writable,
    open_file,
)
from sat_retriever.index.store.damage import Damage, check_file, find_damage, seal
from sat_retriever.index.store.reading import StoreReader
from sat_retriever.index.store.repair import take_out
from sat_retriever.index.store.rows import RowToken, SheetRow
from sat_retriever.index.store.updating import StoreWriter, put_meta
from sat_retriever.index.store.words import check_words, drop_spellings, merge_words
from sat_retriever.index.store.write import delete_sheets, insert_sheets


class SqliteStore(StoreReader, StoreWriter[FileConnection]):
    """A reader and writer of one index file; every method that writes is one transaction."""

    @classmethod
    def create(cls, path: Path, meta: Mapping[str, str]) -> SqliteStore:
        """Create a new, empty store; the file appears whole or not at all.

        Raises:
            InputError: If there is already a file at `path`.
            IndexStorageError: If the folder is not writable.
        """
        create_file(path, meta)
        return cls.open(path)

    @classmethod
    def open(cls, path: Path, *, busy_timeout_s: float = 10.0) -> SqliteStore:
        """Open an existing store, read-only if file or folder is not writable.

        Raises:
            IndexNotFoundError: If there is no such file.
            IndexFormatError: If it is not an index, or was written by a newer version.
            IndexBusyError: If another process held it for longer than the time-out.
        """
        identity = identity_of(path)  # before it is opened: a false error does no harm
        connection = open_file(path, busy_timeout_s=busy_timeout_s)
        return cls(connection, path, writable=is_writable(path), identity=identity)

    def replace_tokens(self, tokens: Iterable[RowToken], meta: Mapping[str, str | None]) -> None:
        """Replace all tokens, and the notes about them, or nothing.

        Args:
            tokens: Row id and token of every sheet.
            meta: New values by key; None removes a key.

        Raises:
            IndexStorageError: If the file cannot be written, or there is not one token per sheet.
        """
        with self._writing() as connection:
            update, done = "UPDATE tokens SET token = ? WHERE id = ?", 0
            for row_id, token in tokens:
                done += connection.execute(update, (token, row_id)).rowcount
            sheets = connection.execute("SELECT count(*) FROM tokens").fetchone()[0]
            if done != sheets:
                raise IndexStorageError(
                    f"{done:,} new tokens do not fit the {sheets:,} sheets of {self.path}; another "
                    "program changed it meanwhile, try again"
                )
            put_meta(connection, meta)
            sealed = "SELECT id FROM workbooks WHERE seal != ''"
            seal(connection, [row[0] for row in connection.execute(sealed).fetchall()])

    def repair(self, width: int) -> Damage:
        """Delete every damaged row; reading its workbook again replaces it.

        Args:
            width: Token width d.

        Returns:
            The damage.

        Raises:
            IndexFormatError: If the file itself is broken.
        """
        with self._writing() as connection:
            check_words(connection)
            check_file(connection, self.path)
            damage = find_damage(connection, width)
            take_out(connection, damage)
        return damage

    def forget_words(self) -> None:
        """Take the words of deleted sheets out of the file, which only marks them as deleted."""
        with self._writing() as connection:
            merge_words(connection)

    def unrepaired(self, damage: Damage) -> list[tuple[str, str]]:
        """Return root and path of the damaged workbooks that were not read again since."""
        ids = [workbook_id for workbook_id, _root, _path in damage.workbooks]
        return self._in("SELECT root, path FROM workbooks WHERE seal = '' AND id IN ({})", ids)

    def _insert_sheets(
        self, connection: FileConnection, rows: Sequence[tuple[int | None, SheetRow]]
    ) -> set[str]:
        return insert_sheets(connection, rows)

    def _delete_sheets(self, connection: FileConnection, ids: Sequence[int]) -> set[str]:
        return delete_sheets(connection, ids)

    def _drop_spellings(self, connection: FileConnection, words: Iterable[str]) -> None:
        drop_spellings(connection, words)

    def _seal(self, connection: FileConnection, workbook_ids: Iterable[int]) -> None:
        seal(connection, workbook_ids)
