"""Open an index file, and translate SQLite's errors to this package's."""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from operator import attrgetter
from pathlib import Path
from typing import Any

from sat_retriever.errors import (
    IndexBusyError,
    IndexFormatError,
    IndexNotFoundError,
    IndexStorageError,
    InputError,
    SheetIndexError,
)
from sat_retriever.index.store.damage import damaged
from sat_retriever.index.store.packing import RowDamage, register
from sat_retriever.index.store.rows import FileConnection
from sat_retriever.index.store.schema import check, migrate
from sat_retriever.records.progress import Progress

SQLITE_VERSION = sqlite3.sqlite_version
_BUSY_S = 10.0  # time that another writer of the file may take
_PAGES = 2_048  # that are copied between two calls of the progress
SIDE_FILES = ("-wal", "-shm")  # SQLite's own, beside the file
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_STORAGE = {
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
}
# SQLite's messages about the content of a row in an otherwise intact file.
_ROW_SIGNS = ("malformed JSON", "Could not decode to UTF-8")


class _Unlocked(FileConnection):
    """A connection to a file that it cannot lock, which reads the state at its opening."""

    path: Path
    opened: tuple[int, ...]  # `_state` of the file at its opening

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """Run a statement unless the file was changed, since old and new pages must not mix."""
        if _state(self.path) != self.opened:
            raise IndexStorageError(
                f"{self.path} was written to since it was opened for reading only: open it again"
            )
        return super().execute(sql, parameters)


def create_file(path: Path, meta: Mapping[str, str]) -> None:
    """Write a new, empty index; the file appears whole or not at all."""
    partial = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}")
    try:
        # Not with tempfile's mode 0600: an index may be shared like any other file.
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666))
    except OSError as error:
        raise IndexStorageError(
            f"cannot create {path}: {error.strerror}; choose a folder that can be written to"
        ) from error
    try:
        with translated(path), closing(sqlite3.connect(partial, isolation_level=None)) as made:
            migrate(made)
            made.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
        publish(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def publish(partial: Path, path: Path) -> None:
    """Give a complete file the name of an index; `InputError` if there is one already."""
    if path.exists():
        raise InputError(f"{path} exists already; open it, or choose another file")
    # Left by a writer that was killed before its index was deleted: SQLite would read their old
    # pages as the new file's.
    drop_side_files(path)
    try:
        os.link(partial, path)  # unlike a rename it never replaces another index
    except FileExistsError as error:
        raise InputError(f"{path} exists already; open it, or choose another file") from error
    except OSError:  # a file system without links
        partial.rename(path)


def drop_side_files(path: Path) -> None:
    """Remove the side files of an index file that is no longer there, or is about to go."""
    for suffix in SIDE_FILES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def is_writable(path: Path) -> bool:
    """True if an index file and its folder, which holds its side files, are writable."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def open_file(path: Path) -> FileConnection:
    """Open an index file and bring it to the current schema; read-only if it is not writable."""
    if not _is_file(path):
        raise IndexNotFoundError(
            f"no index at {path}; make one with: sat index FOLDER --index {path}"
        )
    writable = is_writable(path)
    with translated(path):
        connection = _open(path, "rw" if writable else "ro")
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            register(connection)
            check(connection, path, writable=writable)
            if writable:
                # Deleted rows are overwritten: not every build of SQLite does so by itself.
                connection.execute("PRAGMA secure_delete = ON")
                migrate(connection)
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            connection.close()
            raise
    return connection


def open_as_it_is(path: Path) -> FileConnection:
    """Open an index file of this or an older schema for reading, and leave its schema."""
    if not _is_file(path):
        raise IndexNotFoundError(f"no index at {path}; check the path")
    with translated(path):
        connection = _open(path, "rw" if is_writable(path) else "ro")
        try:
            check(connection, path, writable=True)
        except BaseException:
            connection.close()
            raise
    return connection


def copy_as_it_is(path: Path, target: Path, progress: Progress | None = None) -> None:
    """Copy the last complete state of an index file to a new file, whatever others write.

    Its schema stays. `progress` counts pages.
    """

    def told(_status: int, left: int, total: int) -> None:
        if progress is not None:
            progress(total - left, total)

    with (
        closing(open_as_it_is(path)) as source,
        translated(target),
        closing(sqlite3.connect(target, isolation_level=None)) as made,
    ):
        # One view for all steps: without it each write of others would start the copy anew.
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM meta").fetchone()
        source.backup(made, pages=_PAGES, progress=told)


def open_reader(path: Path) -> FileConnection:
    """Open a second connection to a file that `open_file` has checked, for reading alone."""
    with translated(path):
        connection = _open(path, "rw" if is_writable(path) else "ro")
        connection.execute("PRAGMA temp_store = MEMORY")
    return connection


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name longer than the system allows
        return False


def _open(path: Path, mode: str) -> FileConnection:
    """Open a connection that can read.

    A reader without write access to the folder needs WAL's side files to exist. If they do not,
    nobody writes, and the file may be treated as immutable while it stays the same. It may not if
    there is a log, whose pages would be missed.
    """
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    settings: dict[str, Any] = {
        "uri": True,
        "timeout": _BUSY_S,
        "isolation_level": None,
        "check_same_thread": False,
    }
    opened = _state(path)
    connection = sqlite3.connect(uri, factory=FileConnection, **settings)
    try:
        connection.execute("PRAGMA application_id").fetchone()
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        log = path.with_name(f"{path.name}-wal")
        if mode == "rw" or not _lacks_side_files(error) or (log.exists() and log.stat().st_size):
            raise
        unlocked = sqlite3.connect(f"{uri}&immutable=1", factory=_Unlocked, **settings)
        unlocked.path, unlocked.opened = path, opened
        return unlocked
    except BaseException:
        connection.close()
        raise
    return connection


def _lacks_side_files(error: sqlite3.Error) -> bool:
    """True if a reader failed because WAL's side files are missing and cannot be made."""
    # Read-only media give the first error, a missing permission the second.
    return (
        error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CANTOPEN
        or error.sqlite_errorcode == sqlite3.SQLITE_READONLY_DIRECTORY
    )


def _state(path: Path) -> tuple[int, ...]:
    """Number, size and time of a file, which change with its content; empty if missing."""
    return _facts(path, "st_ino st_size st_mtime_ns")


def identity_of(path: Path) -> tuple[int, ...]:
    """Device and number of a file, unique while it is open; empty if it is missing."""
    return _facts(path, "st_dev st_ino")


def _facts(path: Path, names: str) -> tuple[int, ...]:
    try:
        return attrgetter(*names.split())(path.stat())
    except OSError:
        return ()


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of damaged rows into this package's."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translate(error, path) from error
    except RowDamage as error:
        raise damaged(path) from error


def _translate(error: sqlite3.Error, path: Path) -> SheetIndexError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _BUSY:
        return IndexBusyError(f"{path} is being written to by another process; try again later")
    if code in _STORAGE:
        return IndexStorageError(f"cannot use {path}: {error}; check space and permissions")
    words = getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_CORRUPT_VTAB
    if words or any(sign in str(error) for sign in _ROW_SIGNS):
        return damaged(path)
    return IndexFormatError(f"{path} is not a readable index: {error}; index the folder anew")
