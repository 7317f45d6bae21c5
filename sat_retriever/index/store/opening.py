"""Create and open the store of an index; this module alone chooses its kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from sat_retriever._extras import require
from sat_retriever.errors import InputError
from sat_retriever.index.store.place import IndexUrl, Place
from sat_retriever.index.store.restricted import RestrictedFile, UnrestrictedFile
from sat_retriever.index.store.sqlite import SqliteStore
from sat_retriever.index.store.store import Store
from sat_retriever.records.progress import Progress


def create_store(place: Place, meta: Mapping[str, str]) -> Store:
    """Create a new, empty store with notes about the index; it appears whole or not at all.

    Raises:
        InputError: If there is already something at `place`.
        IndexStorageError: If it cannot be written to, or the server refuses.
        MissingExtraError: If a URL is named without the extra `[postgres]`.
    """
    if isinstance(place, IndexUrl):
        made: Store = _postgres("store").PostgresStore.create(place, meta)
        return made
    return SqliteStore.create(place, meta)


def open_store(place: Place) -> Store:
    """Open an existing store, read-only if file, folder or role does not allow to write.

    Raises:
        IndexNotFoundError: If there is none.
        IndexFormatError: If it is not an index, or was written by a newer version.
        IndexBusyError: If another process holds it for too long.
        IndexStorageError: If a server cannot be reached, or refuses.
        MissingExtraError: If a URL is named without the extra `[postgres]`.
    """
    if isinstance(place, IndexUrl):
        opened: Store = _postgres("store").PostgresStore.open(place)
        return opened
    return SqliteStore.open(place)


def restricted_store(store: Store, principals: Sequence[str]) -> Store:
    """Open a store of all sheets anew, for reading what some groups may see.

    Args:
        store: The store.
        principals: The groups; everyone's need not be named.
    """
    if isinstance(store, SqliteStore):
        return RestrictedFile.of(store, principals)
    restricted: Store = _postgres("restricted").RestrictedDatabase.of(store, principals)
    return restricted


def unrestricted_store(store: Store) -> Store:
    """A reader of an open store that refuses to read once there are permissions."""
    if isinstance(store, SqliteStore):
        return UnrestrictedFile.of(store)
    reader: Store = _postgres("restricted").UnrestrictedDatabase.of(store)
    return reader


def store_exists(place: Place) -> bool:
    """True if there is a file at a path, or an index at a URL."""
    if isinstance(place, IndexUrl):
        return bool(_postgres("database").exists(place))
    return place.exists() or place.is_symlink()


def migrate_store(file: Path, url: IndexUrl, progress: Progress | None = None) -> dict[str, int]:
    """Copy an index file into PostgreSQL, whole or not at all; return its rows by table.

    Every row is checked by its checksum while it is read. In the end each table is read back and
    compared. The file stays as it is.

    Raises:
        IndexNotFoundError: If there is no such file.
        IndexDamagedError: If a row of it is damaged.
        InputError: If there is already an index at the URL, or a text cannot be stored there.
        IndexStorageError: If the server cannot be reached, or refuses.
        IndexFormatError: If the file is no index, or the copy differs from it.
        MissingExtraError: If the extra `[postgres]` is not installed.
    """
    copied: dict[str, int] = _postgres("migrating").migrate_file(file, url, progress)
    return copied


def check_free(place: Place) -> None:
    """Raise `InputError` if there is something at a place."""
    if store_exists(place):
        raise InputError(f"{place} exists already; open it, or choose another place")


def _postgres(module: str) -> Any:
    for each in ("psycopg", "psycopg_pool"):
        require(each, "postgres")
    return import_module(f"{__package__}.postgres.{module}")
