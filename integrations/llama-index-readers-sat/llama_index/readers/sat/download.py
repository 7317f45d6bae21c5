"""Copy a file of another file system to a local one while it is read."""

from __future__ import annotations

import posixpath
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from sat_retriever import InputError, PathNotFoundError
from sat_retriever.index.sync.local_plan import is_passed_over
from sat_retriever.records.formats import extension_of

_CHUNK = 1 << 20


class FileSystem(Protocol):
    """The part of `fsspec.AbstractFileSystem` that is used."""

    def open(self, path: str, mode: str = "rb") -> Any:
        """Open the file at a path, for reading."""
        ...

    def isdir(self, path: str) -> bool:
        """Return True if there is a folder at a path."""
        ...

    def find(self, path: str) -> list[str]:
        """Return all files below a folder."""
        ...


def files_in(fs: FileSystem, named: str) -> list[tuple[str, PurePosixPath]]:
    """Return a file, or the workbooks below a folder in order, each with its path in the folder.

    Raises:
        InputError: If the file system cannot be read.
    """
    alone = [(named, PurePosixPath(PurePosixPath(posixpath.normpath(named)).name))]
    if extension_of(alone[0][1].name):  # spares a server the question
        return alone
    try:
        if not fs.isdir(named):
            return alone
        found = sorted(fs.find(named))
    except OSError as error:
        raise InputError(f"{named!r} cannot be listed: {error}") from error
    folder = posixpath.normpath(named.rpartition("://")[2]).strip("/")
    below = [(file, PurePosixPath(posixpath.relpath(file.strip("/"), folder))) for file in found]
    return [(file, path) for file, path in below if _is_workbook(path)]


def _is_workbook(path: PurePosixPath) -> bool:
    return bool(extension_of(path.name)) and not any(map(is_passed_over, path.parts))


@contextmanager
def downloaded(fs: FileSystem, file: str, relative: PurePosixPath, most: int) -> Iterator[Path]:
    """Yield a folder with the file at its relative path; delete it after the block.

    At most `most` + 1 bytes are written, whatever size the file system reports; the extra byte
    makes the reader refuse the file as too large.

    Raises:
        PathNotFoundError: If there is no such file.
        InputError: If the path names no file, or the file system cannot be read.
    """
    if not relative.name or ".." in relative.parts:
        raise InputError(f"{file!r} names no file; give the path of a workbook")
    with tempfile.TemporaryDirectory(prefix="sat-") as folder:
        local = Path(folder, *relative.parts)
        local.parent.mkdir(parents=True, exist_ok=True)
        try:
            with fs.open(file, "rb") as source, local.open("wb") as target:
                left = most + 1
                while left and (part := source.read(min(_CHUNK, left))):
                    target.write(part)
                    left -= len(part)
        except FileNotFoundError as error:
            raise PathNotFoundError(f"there is no file {file!r}; check the path") from error
        except OSError as error:
            raise InputError(f"{file!r} cannot be fetched: {error}") from error
        yield Path(folder)
