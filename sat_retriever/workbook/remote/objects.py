"""One workbook at a URL, from what its file system tells of it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from threading import Event
from typing import Any

from sat_retriever.errors import PathNotFoundError, RemoteError
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.files import Place
from sat_retriever.workbook.limits import Limits, Refused
from sat_retriever.workbook.remote.download import temporary_copy
from sat_retriever.workbook.remote.url import joined

_VERSIONS = ("ETag", "etag", "eTag", "content_md5", "md5Hash", "md5", "checksum")
_TIMES = (
    "LastModified", "last_modified", "lastModifiedDateTime", "mtime", "updated", "modified",
    "Last-Modified", "created",
)  # fmt: skip
_LONGEST = 200  # characters of a version


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A workbook at a URL.

    Attributes:
        root: URL of the folder that its path is relative to.
        relative: Its path below that.
        size: Bytes, as the file system tells; None if it does not.
        mtime_ns: Modification time in nanoseconds since 1970; 0 if unknown.
        version: ETag or another text that changes with the content; empty if there is none.
    """

    root: str
    relative: str
    size: int | None = None
    mtime_ns: int = 0
    version: str = ""

    @property
    def url(self) -> str:
        """Its URL."""
        return joined(self.root, self.relative)

    @classmethod
    def of(cls, root: str, relative: str, told: Mapping[str, Any]) -> RemoteFile:
        """The file that a file system's answer describes."""
        more = told.get("item_info")  # SharePoint and OneDrive nest what they know
        facts = {**more, **told} if isinstance(more, Mapping) else told
        sizes = (facts.get("size"), facts.get("Size"))
        size = next((int(each) for each in sizes if isinstance(each, (int, float))), None)
        version = next((str(facts[key]) for key in _VERSIONS if facts.get(key)), "")
        times = (_nanoseconds(facts.get(key)) for key in _TIMES)
        mtime_ns = next((each for each in times if each), 0)
        return cls(root, relative, size, mtime_ns, version.strip('"')[:_LONGEST])

    @contextmanager
    def opened(self, limits: Limits, stopping: Event) -> Iterator[Place]:
        """Yield the place of a private copy, which is deleted afterwards.

        Raises:
            Refused: If it is too large, or cannot be downloaded.
        """
        try:
            with temporary_copy(
                self.root, self.relative, self.size, limits.file_bytes, stopping
            ) as copy:
                yield Place(copy, self.relative, copy)
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
    return int(zoned.timestamp()) * 1_000_000_000 + zoned.microsecond * 1000
