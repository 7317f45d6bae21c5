"""An open index file: its transactions, its only writer, and the files beside it."""

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
from sat_retriever.index.store.conditions import sqlite_conditions
from sat_retriever.index.store.connection import identity_of, translated
from sat_retriever.index.store.copies import StoredCopies
from sat_retriever.index.store.links import StoredLinks
from sat_retriever.index.store.rows import FileConnection, SheetRow
from sat_retriever.index.store.store import Store
from sat_retriever.records.files import draft_of

WRITER_WAIT_S = 10.0  # time that a second writer waits for the first
_SIDE_FILES = ("-wal", "-shm")
_LOCK = ".lock"
_BESIDE = "-snapshot"
_CHUNK = 500  # values in one IN (...) list; SQLite's own limit was 999 for a long time


class StoreFile(Store):
    """Transactions on one open file; may be shared between threads.

    Readers see all of a write or none, even after a process was killed half-way. They never wait
    for a writer (WAL).

    Args:
        connection: The open file.
        path: Its path.
        writable: False refuses every write.
        identity: `identity_of` the path just before the file was opened.
    """

    path: Path
    kept_by_readers = False  # readers may lack the right to write beside the file

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
        self.links = StoredLinks(self._rows, self._in, connection.listed, self._translated)
        self.copies = StoredCopies(self._rows, self._in, sqlite_conditions)

    @property
    def own_files(self) -> frozenset[Path]:
        """The file, and the files of SQLite, of a writer and of readers beside it."""
        path = self.path.resolve()
        beside = (path.with_name(path.name + end) for end in ("", *_SIDE_FILES, _LOCK))
        return frozenset((*beside, *path.with_name(path.name + _BESIDE).rglob("*")))

    @property
    def beside(self) -> Path | None:
        return self.path.with_name(self.path.name + _BESIDE)

    def bytes(self) -> int:
        return int(self.path.stat().st_size)

    def copy_to(self, path: Path) -> None:
        with (
            draft_of(path) as draft, self._lock, translated(path),
            closing(sqlite3.connect(draft)) as target,
        ):  # fmt: skip
            draft.chmod(stat.S_IMODE(self.path.stat().st_mode) | stat.S_IWUSR)
            self._connection.backup(target)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def delete(self) -> None:
        path = self.path.resolve()
        self.close()
        try:
            # The lock last: a writer that waited for it must not find the file.
            for end in (*_SIDE_FILES, "", _LOCK):
                path.with_name(path.name + end).unlink(missing_ok=True)
        except OSError as error:
            raise IndexStorageError(f"cannot delete {self.path}: {error.strerror}") from error

    def writing_beside_others(self) -> AbstractContextManager[None]:
        return self.sole_writer()  # a file has one writer

    @contextmanager
    def sole_writer(self) -> Iterator[None]:
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
        with self._lock, self._translated():
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("ROLLBACK")

    def answering(self) -> AbstractContextManager[None]:
        return nullcontext()  # blocks cost little, and other threads must not wait for an answer

    @contextmanager
    def _writing(
        self, workbooks: Iterable[tuple[str, str]] = (), rows: Sequence[SheetRow] = ()
    ) -> Iterator[FileConnection]:
        self._check_writable()
        with self._lock, translated(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute(
                    "INSERT INTO meta VALUES ('generation', '1') ON CONFLICT (key) "
                    "DO UPDATE SET value = CAST(value AS INTEGER) + 1"
                )
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _check_writable(self) -> None:
        if not self.writable:
            raise IndexStorageError(f"{self.path} is read-only; copy it to a writable folder")

    def _translated(self) -> AbstractContextManager[None]:
        return translated(self.path)

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._lock, self._translated():
            return self._connection.execute(sql, values).fetchall()

    def _in(self, sql: str, values: Sequence[Any]) -> list[Any]:
        found: list[Any] = []
        for start in range(0, len(values), _CHUNK):
            part = values[start : start + _CHUNK]
            found.extend(self._rows(sql.format(",".join("?" * len(part))), part))
        return found
