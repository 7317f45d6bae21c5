"""Create and open the store of an index; this module alone chooses its kind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from sat_retriever.index.store.connection import SQLITE_VERSION
from sat_retriever.index.store.sqlite import SqliteStore

Store: TypeAlias = SqliteStore


def create_store(path: Path, meta: Mapping[str, str]) -> Store:
    """Create a new, empty store; the file appears whole or not at all.

    Args:
        path: Its file.
        meta: Notes about the index as a whole, by key.

    Raises:
        InputError: If there is already a file at `path`.
        IndexStorageError: If the folder is not writable.
    """
    return SqliteStore.create(path, meta)


def open_store(path: Path) -> Store:
    """Open an existing store, read-only if its file or folder is not writable.

    Raises:
        IndexNotFoundError: If there is no such file.
        IndexFormatError: If it is not an index, or was written by a newer version.
        IndexBusyError: If another process holds it for too long.
    """
    return SqliteStore.open(path)


def store_version() -> str:
    """Return the version of the database library that stores the files.

    >>> store_version().count(".") >= 1
    True
    """
    return SQLITE_VERSION
