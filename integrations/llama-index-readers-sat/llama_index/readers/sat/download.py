"""Copy a file of another file system to a local one while it is read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from sat_retriever import InputError, PathNotFoundError

_CHUNK = 1 << 20


class FileSystem(Protocol):
    """The part of `fsspec.AbstractFileSystem` that is used."""

    def open(self, path: str, mode: str = "rb") -> Any:
        """Open the file at a path, for reading."""
        ...


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
