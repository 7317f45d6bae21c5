"""Create and open the store of an index; this module alone chooses its kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from sat_retriever._extras import require
from sat_retriever.errors import InputError
from sat_retriever.index.store.connection import copy_as_it_is
from sat_retriever.index.store.place import IndexUrl, Place
from sat_retriever.index.store.restricted import RestrictedFile, UnrestrictedFile
from sat_retriever.index.store.sqlite import SqliteStore
from sat_retriever.index.store.store import Store
from sat_retriever.records.progress import Progress


def create_store(place: Place, meta: Mapping[str, str]) -> Store:
    """Create a new, empty store with notes about the index; it appears whole or not at all.

    Raises `InputError` if there is already something at `place`, `IndexStorageError` if it cannot
    be written to, `MissingExtraError` for a URL without the extra `[postgres]`.
    """
    if isinstance(place, IndexUrl):
        made: Store = _postgres("store").PostgresStore.create(place, meta)
        return made
    return SqliteStore.create(place, meta)


def open_store(place: Place) -> Store:
    """Open an existing store, read-only if file, folder or role does not allow to write.

    Raises `IndexNotFoundError`; `IndexFormatError` if it is no index, or of a newer version;
    `IndexBusyError` if another process holds it for too long; `IndexStorageError` if a server
    refuses or cannot be reached; `MissingExtraError` for a URL without the extra `[postgres]`.
    """
    if isinstance(place, IndexUrl):
        opened: Store = _postgres("store").PostgresStore.open(place)
        return opened
    return SqliteStore.open(place)


def restricted_store(store: Store, principals: Sequence[str]) -> Store:
    """Open a store of all sheets anew, for reading what some groups, and everyone, may see."""
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


def migrate_store(
    file: Path,
    url: IndexUrl,
    progress: Progress | None = None,
    *,
    hnsw: bool = False,
    replace: bool = False,
) -> dict[str, int]:
    """Copy an index file into PostgreSQL, whole or not at all; return its rows by table.

    Every row is checked by its checksum while it is read. In the end each table is read back and
    compared. With `hnsw`, tokens get an index for statements of others. The file stays as it is.
    With `replace` an index at the URL is replaced in the same transaction; searches wait for it.
    Raises what `open_store` does; `IndexDamagedError` if a row
    is damaged; `InputError` if there is already an index at the URL, or a text cannot be stored
    there; `IndexFormatError` also if the copy differs from the file.
    """
    copied: dict[str, int] = _postgres("migrating").migrate_file(
        file, url, progress, hnsw=hnsw, replace=replace
    )
    return copied


def save_store(place: Place, file: Path, progress: Progress | None = None) -> None:
    """Write the last complete state of an index to a new index file, while others write to it.

    A file keeps its schema. PostgreSQL is read in one transaction. Raises what `open_store` does,
    and changes nothing.
    """
    if isinstance(place, IndexUrl):
        _postgres("migrating").export_index(place, file, progress)
    else:
        copy_as_it_is(place, file, progress)


def check_free(place: Place) -> None:
    """Raise `InputError` if there is something at a place."""
    if store_exists(place):
        raise InputError(f"{place} exists already; open it, or choose another place")


def _postgres(module: str) -> Any:
    for each in ("psycopg", "psycopg_pool"):
        require(each, "postgres")
    return import_module(f"{__package__}.postgres.{module}")
