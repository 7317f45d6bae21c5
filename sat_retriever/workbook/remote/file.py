"""One workbook at a URL: what its file system tells of it, and its download within limits."""

from __future__ import annotations

import datetime as dt
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from threading import Event
from typing import Any

from sat_retriever._extras import require
from sat_retriever.errors import PathNotFoundError, RemoteError
from sat_retriever.records.formats import extension_of
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.limits import Limits, Refused
from sat_retriever.workbook.read import LocalFile
from sat_retriever.workbook.remote.downloads import downloads_folder
from sat_retriever.workbook.remote.systems import EXTRA, file_system, translated
from sat_retriever.workbook.remote.url import joined

_VERSIONS = ("ETag", "etag", "content_md5", "md5Hash", "md5", "checksum")
_TIMES = (
    "LastModified", "last_modified", "mtime", "updated", "modified",
    "Last-Modified", "created",
)  # fmt: skip
_LONGEST = 200  # characters of a version


def too_large(size: int, most: int) -> Refused:
    """The refusal of a file that has more bytes than allowed."""
    big = f"The file has {size:,} bytes; the limit is {most:,}."
    return Refused(SkipReason.TOO_LARGE, big)


@contextmanager
def temporary_copy(
    root: str, relative: str, size: int | None, most: int, stopping: Event | None = None
) -> Iterator[Path]:
    """Yield a private copy of a file at a URL, deleted when the block ends.

    Its name is random; only a known extension of a spreadsheet is kept. It should have `size`
    bytes, if known. `stopping` ends the download once it is set.
    """
    descriptor, name = tempfile.mkstemp(suffix_of(relative), "sat-", downloads_folder())
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


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A workbook at a URL."""

    root: str
    relative: str
    size: int | None = None
    mtime_ns: int = 0  # modification time in nanoseconds since 1970; 0 if unknown
    version: str = ""  # ETag or another text that changes with the content; empty if there is none

    @property
    def url(self) -> str:
        """Its URL."""
        return joined(self.root, self.relative)

    @classmethod
    def of(cls, root: str, relative: str, told: Mapping[str, Any]) -> RemoteFile:
        """The file that a file system's answer describes."""
        sizes = (told.get("size"), told.get("Size"))
        size = next((int(each) for each in sizes if isinstance(each, (int, float))), None)
        version = next((str(told[key]) for key in _VERSIONS if told.get(key)), "")
        times = (_nanoseconds(told.get(key)) for key in _TIMES)
        mtime_ns = next((each for each in times if each), 0)
        return cls(root, relative, size, mtime_ns, version.strip('"')[:_LONGEST])

    @contextmanager
    def opened(self, limits: Limits, stopping: Event) -> Iterator[LocalFile]:
        """Yield a private copy, deleted afterwards; `Refused` if too large or not to be had."""
        try:
            with temporary_copy(
                self.root, self.relative, self.size, limits.file_bytes, stopping
            ) as copy:
                yield LocalFile(copy, within=copy, called=self.relative)
        except PathNotFoundError as error:
            gone = "The file is gone from its URL."
            raise Refused(SkipReason.UNREADABLE, gone) from error
        except RemoteError as error:
            raise Refused(SkipReason.UNREADABLE, f"The download failed: {error}.") from error


def _nanoseconds(told: object) -> int:
    """A time as a file system tells it, in nanoseconds since 1970; 0 if it is none."""
    moment: dt.datetime | None = None
    if isinstance(told, dt.datetime):
        moment = told
    elif isinstance(told, (int, float)) and 0 < told < 1e11:
        return int(told * 1_000_000_000)
    elif isinstance(told, str):
        for read in (dt.datetime.fromisoformat, parsedate_to_datetime):
            try:
                moment = read(told)
                break
            except ValueError:
                continue
    if moment is None:
        return 0
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    found = int(zoned.timestamp()) * 1_000_000_000 + zoned.microsecond * 1000
    return found if 0 < found < 1 << 63 else 0  # what an index can store; servers can tell any year
