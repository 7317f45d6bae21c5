"""Put a complete index file in the place of another one, while others have that open."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from contextlib import closing, suppress
from pathlib import Path

from sat_retriever.errors import IndexBusyError, InputError
from sat_retriever.index.store.connection import drop_side_files, publish, translated
from sat_retriever.index.store.schema import APPLICATION_ID
from sat_retriever.index.store.sqlite import BESIDE
from sat_retriever.records.files import flush, writing

_HEADER = b"SQLite format 3\0"
_ID_AT = 68  # place of the application id in a file of SQLite
_WAIT_S = 10.0  # time that readers may take to let go of the log


def put_in_place(draft: Path, path: Path, *, replace: bool) -> None:
    """Move a complete index file to its place, in one step that a power failure does not halve.

    The caller keeps others from writing: `sole_writer_of`. Programs that have the old file open
    keep reading that until they open the index again. The new file takes over mode and owner of one
    that it replaces.

    Args:
        draft: The file, on the same disk.
        path: Its place.
        replace: True to replace an index there.

    Raises:
        InputError: If there is something already, or if that is no index.
        IndexBusyError: If another process reads the old index all the time.
        OutputError: If it cannot be moved there.
    """
    path = path.resolve()
    flush(draft)
    if replace and path.exists():
        _replace(draft, path)
    else:
        with writing(path):
            publish(draft, path)
    with writing(path):
        draft.unlink(missing_ok=True)
    flush(path.parent)


def check_index(path: Path) -> None:
    """Raise `InputError` if a file may be something else than an index of this package."""
    with writing(path), path.open("rb") as file:
        head = file.read(_ID_AT + 4)
    if not head.startswith(_HEADER) or int.from_bytes(head[_ID_AT:], "big") != APPLICATION_ID:
        raise InputError(f"{path} is no index, or too damaged to tell; move it away first")


def _replace(draft: Path, path: Path) -> None:
    check_index(path)
    _empty_log(path)
    old = path.stat()
    with writing(path):
        draft.chmod(stat.S_IMODE(old.st_mode))
        if hasattr(os, "chown"):
            with suppress(PermissionError):  # only root can give a file away
                os.chown(draft, old.st_uid, old.st_gid)
        # Before the new file: SQLite would read the log of the old one as its own. All that was
        # in it is in the old file by now, so nothing is lost if this ends here.
        drop_side_files(path)
        draft.replace(path)
    shutil.rmtree(path.with_name(path.name + BESIDE), ignore_errors=True)  # of the old state


def _empty_log(path: Path) -> None:
    """Move what the log of an index holds into its file."""
    try:
        with closing(sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None)) as old:
            busy = old.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except sqlite3.OperationalError as error:
        with translated(path):
            raise error
    except sqlite3.DatabaseError:
        return  # too damaged to be read: nothing in its log is of use
    if busy:
        raise IndexBusyError(
            f"{path} is being read by another process all the time; stop it, and try again"
        )
