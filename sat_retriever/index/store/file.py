"""Manage an open index file: its transactions, its only writer, and the files beside it."""

from __future__ import annotations

import sqlite3
import stat
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from sat_retriever.errors import IndexBusyError, IndexStorageError
from sat_retriever.index.store.connection import FileConnection, identity_of, translated
from sat_retriever.index.store.rows import SheetRow
from sat_retriever.records.files import draft_of

WRITER_WAIT_S = 10.0  # time that a second writer waits for the first
_SIDE_FILES = ("-wal", "-shm")
_LOCK = ".lock"
_BESIDE = "-snapshot"
_CHUNK = 500  # values in one IN (...) list; SQLite's own limit was 999 for a long time


class StoreFile:
    """Statements and transactions on one open file; may be shared between threads.

    Every write is one transaction. Readers see all of it or none, even after a process was killed
    half-way. Readers never wait for a writer (WAL).

    Args:
        connection: The open file.
        path: Its path.
        writable: False refuses every write.
        identity: `identity_of` the path just before the file was opened.
    """

    def __init__(
        self,
        connection: FileConnection,
        path: Path,
        *,
        writable: bool,
        identity: tuple[int, ...],
    ) -> None:
        self._connection = connection
        self._lock = threading.RLock()
        self.identity = identity
        self.path = path
        self.writable = writable

    @property
    def own_files(self) -> frozenset[Path]:
        """The file, and the files of SQLite, of a writer and of readers beside it."""
        path = self.path.resolve()
        beside = (path.with_name(path.name + end) for end in ("", *_SIDE_FILES, _LOCK))
        return frozenset((*beside, *path.with_name(path.name + _BESIDE).rglob("*")))

    @property
    def beside(self) -> Path | None:
        """The folder in which readers find a large index as mapped files."""
        return self.path.with_name(self.path.name + _BESIDE)

    @property
    def kept_by_readers(self) -> bool:
        """False: writers write that folder, and readers may lack the right to."""
        return False

    def bytes(self) -> int:
        """Return the size of the file."""
        return int(self.path.stat().st_size)

    def copy_to(self, path: Path) -> None:
        """Write the file's last complete state to another path, for those who may read the file.

        Raises:
            OutputError: If that path cannot be written.
        """
        with (
            draft_of(path) as draft, self._lock, translated(path),
            closing(sqlite3.connect(draft)) as target,
        ):  # fmt: skip
            draft.chmod(stat.S_IMODE(self.path.stat().st_mode) | stat.S_IWUSR)
            self._connection.backup(target)

    def close(self) -> None:
        """Release the file."""
        with self._lock:
            self._connection.close()

    def delete(self) -> None:
        """Release the file and delete it, with all files beside it.

        Raises:
            IndexStorageError: If it cannot be deleted.
        """
        path = self.path.resolve()
        self.close()
        try:
            # The lock last: a writer that waited for it must not find the file.
            for end in (*_SIDE_FILES, "", _LOCK):
                path.with_name(path.name + end).unlink(missing_ok=True)
        except OSError as error:
            raise IndexStorageError(f"cannot delete {self.path}: {error.strerror}") from error

    def writing_beside_others(self) -> AbstractContextManager[None]:
        """Keep other processes from writing until the block ends: a file has one writer."""
        return self.sole_writer()

    @contextmanager
    def sole_writer(self) -> Iterator[None]:
        """Keep other processes from writing until the block ends.

        Raises:
            IndexStorageError: If the file is read-only, or no longer at its path.
            IndexBusyError: If another process is writing to it.
        """
        self._check_writable()
        lock = FileLock(f"{self.path}{_LOCK}", timeout=WRITER_WAIT_S)
        try:
            lock.acquire()
        except Timeout as error:
            raise IndexBusyError(
                f"another process is writing to {self.path}; try again when it has finished"
            ) from error
        try:
            if identity_of(self.path) != self.identity:  # a write to it would be lost
                raise IndexStorageError(
                    f"{self.path} was deleted or replaced meanwhile; open it again, or index anew"
                )
            yield
        finally:
            lock.release()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Give everything read in the block one consistent view of the file."""
        with self._lock, self._translated():
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("ROLLBACK")

    def answering(self) -> AbstractContextManager[None]:
        """Nothing: blocks cost little here, and other threads must not wait for an answer."""
        return nullcontext()

    @contextmanager
    def _writing(
        self, workbooks: Iterable[tuple[str, str]] = (), rows: Sequence[SheetRow] = ()
    ) -> Iterator[FileConnection]:
        """Open the transaction of one write, whatever it writes."""
        self._check_writable()
        with self._lock, translated(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._bump_generation()
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _check_writable(self) -> None:
        if not self.writable:
            raise IndexStorageError(f"{self.path} is read-only; copy it to a writable folder")

    def _bump_generation(self) -> None:
        self._connection.execute(
            "INSERT INTO meta VALUES ('generation', '1') ON CONFLICT (key) "
            "DO UPDATE SET value = CAST(value AS INTEGER) + 1"
        )

    def _translated(self) -> AbstractContextManager[None]:
        return translated(self.path)

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._lock, self._translated():
            return self._connection.execute(sql, values).fetchall()

    def _in(self, sql: str, values: Sequence[Any]) -> list[Any]:
        """Return the rows of a statement whose `{}` stands for a list of values of any length."""
        found: list[Any] = []
        for start in range(0, len(values), _CHUNK):
            part = values[start : start + _CHUNK]
            found.extend(self._rows(sql.format(",".join("?" * len(part))), part))
        return found
