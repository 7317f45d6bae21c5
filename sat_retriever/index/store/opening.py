"""Making and opening the store of an index: the one place that chooses its kind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from sat_retriever.index.store.connection import SQLITE_VERSION
from sat_retriever.index.store.sqlite import SqliteStore

Store: TypeAlias = SqliteStore


def create_store(path: Path, meta: Mapping[str, str]) -> Store:
    """A new, empty store; the file appears whole or not at all.

    Args:
        path: Its file.
        meta: What is noted about the index as a whole, by key.

    Raises:
        InputError: If there is a file at `path` already.
        IndexStorageError: If the folder cannot be written to.
    """
    return SqliteStore.create(path, meta)


def open_store(path: Path) -> Store:
    """An existing store; read-only where its file or folder cannot be written to.

    Raises:
        IndexNotFoundError: If there is no such file.
        IndexFormatError: If it is not an index, or was written by a newer version.
        IndexBusyError: If another process holds it for too long.
    """
    return SqliteStore.open(path)


def store_version() -> str:
    """Version of the database library that keeps the files.

    >>> store_version().count(".") >= 1
    True
    """
    return SQLITE_VERSION
