"""Safe opening of workbook files: regular ones within a given place; their paths and digests."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path, PurePath
from typing import BinaryIO

from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.limits import Refused

OUTSIDE = (
    "A link to a file outside the indexed folders; index its folder, too, or follow such links "
    "(sat index --follow-links)."
)
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def open_regular(path: Path, within: Path | None = None) -> BinaryIO:
    """Open a regular file, without ever waiting on a FIFO or device.

    It must be `within`, or lie in that folder, after links are resolved; None allows every place.
    The opened file is checked, not its name, which may belong to another file by then. Raises
    `Refused` for any other file, `OSError` if it cannot be opened.
    """
    mode = path.stat().st_mode
    if stat.S_ISREG(mode):
        descriptor = os.open(path, _FLAGS | getattr(os, "O_CLOEXEC", 0))
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            file = os.fdopen(descriptor, "rb")
            if within is None or _is_really_within(file, path, within):
                return file
            file.close()
            raise Refused(SkipReason.OUTSIDE_LINK, OUTSIDE)
        os.close(descriptor)
    what = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
    raise Refused(SkipReason.UNREADABLE, f"The path is {what}; name a workbook file.")


def real_path(path: Path) -> Path:
    """The path with links resolved as far as possible, even in a loop or to a missing file."""
    return Path(os.path.realpath(path))  # unlike `resolve` it never raises


def is_within(real: Path, place: Path) -> bool:
    """True if a path without links is the given file, or lies in the given folder.

    A folder that was moved and replaced by a link is still the same place; a file that was
    replaced by a link is not.
    """
    bound = real_path(place) if place.is_dir() else real_path(place.parent) / place.name
    return real.is_relative_to(bound)


def by_descriptor(file: BinaryIO) -> Path | None:
    """A path of the opened file that outlives renaming; None in memory and without such paths."""
    try:
        held = Path(f"/proc/self/fd/{file.fileno()}")
    except OSError:
        return None
    return held if held.exists() else None


def _is_really_within(file: BinaryIO, path: Path, within: Path) -> bool:
    held = by_descriptor(file)
    now = os.fstat(file.fileno())
    if held is not None:
        name = str(held.readlink())
        real = Path(name if now.st_nlink else name.removesuffix(" (deleted)"))
        return is_within(real, within)
    real = real_path(path)
    return os.path.samestat(now, real.lstat()) and is_within(real, within)


def printable(path: PurePath) -> str:
    r"""The POSIX form of a path; bytes that are not Unicode become escapes.

    >>> from pathlib import PurePosixPath
    >>> printable(PurePosixPath("a", "caf\udce9.csv"))
    'a/caf\\xe9.csv'
    """
    raw = path.as_posix().encode("utf-8", "surrogateescape")
    return raw.decode("utf-8", "backslashreplace")


def content_hash(file: BinaryIO) -> str:
    """BLAKE2b of the file's bytes, 32 hex digits; the file is left at its start.

    >>> import io
    >>> content_hash(io.BytesIO(b"a,b")) == content_hash(io.BytesIO(b"a,c"))
    False
    """
    file.seek(0)
    digest = hashlib.blake2b(digest_size=16)
    while chunk := file.read(1 << 20):
        digest.update(chunk)
    file.seek(0)
    return digest.hexdigest()
