"""Opening an index file, and SQLite's errors as this package's."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from sat_retriever.errors import (
    IndexBusyError,
    IndexFormatError,
    IndexNotFoundError,
    IndexStorageError,
    SheetIndexError,
)
from sat_retriever.store.schema import migrate

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_STORAGE = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY}


def create_file(path: Path, meta: Mapping[str, str]) -> None:
    """Write a new, empty index; the file appears whole or not at all.

    Raises:
        IndexStorageError: If the folder cannot be written to.
    """
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise IndexStorageError(
            f"cannot create {path}: {error.strerror}; choose a folder that can be written to"
        ) from error
    os.close(handle)
    try:
        with translated(path), closing(sqlite3.connect(name, isolation_level=None)) as connection:
            migrate(connection, path)
            connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def is_writable(path: Path) -> bool:
    """Whether an index file, and the folder for its side files, can be written to."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def connect(path: Path, *, busy_timeout_s: float) -> sqlite3.Connection:
    """An open index file of the current schema; read-only where it cannot be written to.

    Raises:
        IndexNotFoundError: If there is no such file.
        IndexFormatError: If it is not an index, or was written by a newer version.
        IndexBusyError: If another process held it for longer than the time-out.
    """
    if not path.is_file():
        raise IndexNotFoundError(
            f"no index at {path}; make one with: sat index FOLDER --index {path}"
        )
    writable = is_writable(path)
    # On read-only media there is no place for WAL's side files; nobody can write
    # there either, so the file may be taken as immutable.
    mode = "mode=rw" if writable else "mode=ro&immutable=1"
    with translated(path):
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?{mode}",
            uri=True,
            timeout=busy_timeout_s,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            if writable:
                migrate(connection, path)
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("SELECT count(*) FROM meta").fetchone()
        except BaseException:
            connection.close()
            raise
    return connection


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """SQLite's errors as this package's."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translate(error, path) from error


def _translate(error: sqlite3.Error, path: Path) -> SheetIndexError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _BUSY:
        return IndexBusyError(f"{path} is being written to by another process; try again later")
    if code in _STORAGE:
        return IndexStorageError(f"cannot write {path}: {error}; check space and permissions")
    return IndexFormatError(f"{path} is not a readable index: {error}; index the folder anew")
