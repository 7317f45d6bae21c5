"""A folder for downloads that ends with its process, also with one that is killed."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import finalize

if TYPE_CHECKING:
    from filelock import BaseFileLock

_PREFIX, _LOCK = "sat-downloads-", ".lock"


def downloads_folder() -> Path:
    """Return this process's own folder, with mode 0700, in the system's folder for such files.

    Those of processes that were killed are deleted when another process of the user makes its own.

    Raises:
        OSError: If it cannot be made.
    """
    # A forked process has its own; whatever cleans the system's folder may have deleted this one.
    found = _folder_in(Path(tempfile.gettempdir()), os.getpid())
    found.mkdir(mode=0o700, exist_ok=True)
    return found


@cache
def _folder_in(home: Path, process: int) -> Path:
    _delete_left(home)
    folder = home / f"{_PREFIX}{secrets.token_hex(8)}"
    lock = _locked(_lock_of(folder))  # before the folder: one without a lock is in use by nobody
    finalize(_folder_in, _delete, folder, lock, process)  # at the end of the process
    return folder


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}{_LOCK}")


def _locked(file: Path) -> BaseFileLock:
    """Hold a lock that the system lets go with its process; `Timeout` if another one holds it."""
    from filelock import FileLock

    lock = FileLock(file, timeout=0, mode=0o600, thread_local=False)
    lock.acquire()
    return lock


def _delete(folder: Path, lock: BaseFileLock, process: int) -> None:
    if os.getpid() == process:  # a forked process ends before the one that it was made of
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            _lock_of(folder).unlink()
        lock.release()


def _delete_left(home: Path) -> None:
    """Delete the folders of this user whose process is gone."""
    from filelock import Timeout

    for file in home.glob(f"{_PREFIX}*{_LOCK}"):
        with suppress(OSError, Timeout):
            own = not hasattr(os, "getuid") or file.lstat().st_uid == os.getuid()
            if own and not file.is_symlink():
                _delete(file.with_suffix(""), _locked(file), os.getpid())
