"""Opening a workbook file: a regular one, and none that a link leads to outside its place."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.limits import Refused

OUTSIDE = (
    "A link to a file outside the indexed folders; index its folder, too, or follow such links "
    "(sat index --follow-links)."
)
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def open_regular(path: Path, within: Path | None = None) -> BinaryIO:
    """The opened file, if it is a regular one; never waits on a FIFO or device.

    Args:
        path: The file.
        within: Folder or file that it really must lie in, or be; None allows every place.
            The opened file is looked at, not its name, which may be another's by then.

    Raises:
        Refused: If it is a directory, FIFO, socket or device, or lies elsewhere.
        OSError: If it cannot be opened.
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
    what = "a folder" if stat.S_ISDIR(mode) else "no regular file"
    raise Refused(SkipReason.UNREADABLE, f"The path is {what}; name a workbook file.")


def real_path(path: Path) -> Path:
    """The path without links; of a circle of links, or where nothing is, some such path."""
    return Path(os.path.realpath(path))  # unlike `resolve` it never raises


def is_within(real: Path, place: Path) -> bool:
    """True if a path without links is the given file, or lies in the given folder.

    A folder that was moved, with a link left where it was, is still the same place; a file
    that was replaced by a link is not.
    """
    bound = real_path(place) if place.is_dir() else real_path(place.parent) / place.name
    return real.is_relative_to(bound)


def by_descriptor(file: BinaryIO) -> Path | None:
    """A path of the opened file that no renaming changes.

    None for a file in memory, and where the system has no such paths.
    """
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
