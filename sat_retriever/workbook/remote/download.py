"""Downloads of one file into a private one, with its bytes counted as they come."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

from sat_retriever._extras import require
from sat_retriever.records.formats import extension_of
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.limits import Refused
from sat_retriever.workbook.remote.failures import translated
from sat_retriever.workbook.remote.systems import EXTRA, file_system
from sat_retriever.workbook.remote.url import joined


def too_large(size: int, most: int) -> Refused:
    """The refusal of a file that has more bytes than allowed."""
    big = f"The file has {size:,} bytes; the limit is {most:,}."
    return Refused(SkipReason.TOO_LARGE, big)


@contextmanager
def temporary_copy(
    root: str, relative: str, size: int | None, most: int, stopping: Event | None = None
) -> Iterator[Path]:
    """Yield a private copy of a file at a URL, deleted when the block ends.

    Its name is random; only a known extension of a spreadsheet is kept.

    Args:
        root: URL of a folder.
        relative: Path of the file below it.
        size: Bytes that it should have; None if unknown.
        most: Most bytes.
        stopping: Ends the download once it is set.

    Raises:
        PathNotFoundError: If there is no such file.
        RemoteError: If it cannot be downloaded.
        Refused: If it has more bytes than allowed, or not those that it should have.
    """
    descriptor, name = tempfile.mkstemp(suffix=suffix_of(relative), prefix="sat-")
    os.close(descriptor)
    copy = Path(name)
    try:
        download(root, relative, copy, size, most, stopping)
        yield copy
    finally:
        copy.unlink(missing_ok=True)


def download(
    root: str,
    relative: str,
    target: Path,
    size: int | None,
    most: int,
    stopping: Event | None = None,
) -> None:
    """Download a file at a URL into an existing, private file; see `temporary_copy`."""
    if size is not None and size > most:
        raise too_large(size, most)
    url = joined(root, relative)
    with translated(url):
        system, base = file_system(root)
        system.get_file(f"{base}/{relative}", str(target), callback=_counter(most, stopping))
    come = target.stat().st_size
    if come > most:
        raise too_large(come, most)
    if size is not None and come != size:
        raise Refused(
            SkipReason.UNREADABLE,
            f"{come:,} bytes came instead of {size:,}: the file changed, or the download was cut.",
        )


def suffix_of(relative: str) -> str:
    """The extension of a spreadsheet that a name ends with; empty for any other.

    >>> suffix_of("2024/Sales.XLSX"), suffix_of("a.xlsx/../../etc/passwd")
    ('.xlsx', '')
    """
    found = extension_of(relative.rpartition("/")[2])
    return f".{found}" if found else ""


def _counter(most: int, stopping: Event | None) -> Any:
    """A callback of fsspec that ends a download beyond a number of bytes."""
    callbacks = require("fsspec.callbacks", EXTRA)

    class Counter(callbacks.Callback):  # type: ignore[name-defined,misc]
        def set_size(self, size: int | None) -> None:
            if size is not None and size > most:
                raise too_large(size, most)

        def relative_update(self, inc: int = 1) -> None:
            self.absolute_update(self.value + inc)

        def absolute_update(self, value: int) -> None:
            self.value = value
            if value > most:
                raise too_large(value, most)
            if stopping is not None and stopping.is_set():
                raise Refused(SkipReason.UNREADABLE, "Reading was interrupted.")

    return Counter()
