"""The beginning of a file, by which its format is recognised, and the recognised kind."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass, field
from typing import BinaryIO

from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.limits import Limits, Refused
from sat_retriever.workbook.opening import ole
from sat_retriever.workbook.opening.package import ZIP_ERRORS, open_archive

_HEAD_BYTES = 65_536
_SMALL_BYTES = 4 << 20
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")


@dataclass(frozen=True, slots=True)
class Kind:
    """The format of a file, and the reason if it cannot be read.

    Attributes:
        format: One of `FORMAT_NAMES`, or "" if this package cannot read it. "csv" stands for
            any delimited text.
        reason: Reason why it cannot be read as it is; None if reading can be tried.
        message: The reason as a sentence; empty without one.
    """

    format: str
    reason: SkipReason | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """The beginning of a file, and the table of contents of a container.

    Attributes:
        name: File name.
        head: Its first 64 KiB.
        entries: Entries of a ZIP archive by name, in lower case and with forward slashes.
            None for any other file, and for an archive whose table of contents is damaged.
        damage: Reason why a ZIP archive's table of contents cannot be read; None if it can.
        streams: Streams and storages of an OLE2 container, in lower case; None for any other
            file.
    """

    name: str
    head: bytes
    entries: dict[str, zipfile.ZipInfo] | None = None
    damage: Refused | None = None
    streams: frozenset[str] | None = None
    _archive: zipfile.ZipFile | None = field(default=None, repr=False)

    @classmethod
    def of(cls, file: BinaryIO, name: str, limits: Limits) -> Shown:
        """Read the beginning of an opened file.

        Raises:
            Refused: If a ZIP archive lists too many entries.
        """
        head = file.read(_HEAD_BYTES)
        if head.startswith(ole.MAGIC):
            return cls(name, head, streams=ole.Container(file, limits.file_bytes).names)
        if not head.startswith(_ZIP_STARTS):
            return cls(name, head)
        try:
            archive = open_archive(file, limits)
        except Refused as refused:
            if refused.reason is not SkipReason.DAMAGED:
                raise
            return cls(name, head, damage=refused)
        entries = {_key(info.filename): info for info in archive.infolist()}
        return cls(name, head, entries, _archive=archive)

    def entry(self, name: str) -> bytes:
        """The first 4 MiB of an entry; empty if it is missing or damaged."""
        info = (self.entries or {}).get(name)
        if info is None or self._archive is None:
            return b""
        try:
            with self._archive.open(info) as entry:
                return entry.read(_SMALL_BYTES)
        except ZIP_ERRORS:
            return b""

    def kind(self, name: str) -> Kind:
        """The kind of a file of format `name`: damaged if its table of contents is."""
        if self.damage is None:
            return Kind(name)
        return Kind(name, self.damage.reason, self.damage.message)


def _key(name: str) -> str:
    return name.lower().replace("\\", "/").lstrip("/")
