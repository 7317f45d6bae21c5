"""The kind of a file, recognised by its first bytes and table of contents, not by its name.

Only flat text has no signature. For it, the extension decides about files found in a folder
walk, and the content about files that the user names.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol, cast

from sat_retriever.records.formats import (
    FLAT_EXTENSIONS,
    FORMATS,
    Format,
    extension_of,
    format_named,
)
from sat_retriever.records.jsonform import Json
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.limits import Limits, Refused
from sat_retriever.workbook.opening.encoding import wide_encoding
from sat_retriever.workbook.opening.ole import MAGIC, Container
from sat_retriever.workbook.opening.package import ZIP_ERRORS, open_archive, part_key
from sat_retriever.workbook.opening.regular import open_regular

if TYPE_CHECKING:
    from sat_retriever.workbook.formats.reading import Reading

_HEAD_BYTES = 65_536
_SMALL_BYTES = 4 << 20
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
OLE_DOCUMENTS = frozenset(
    {"worddocument", "powerpoint document", "visiodocument", "__properties_version1.0"}
)
_MARKUP = re.compile(
    rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype|\?xml|html|table|head|body|meta)", re.I | re.S
)
_BINARY_STARTS = (
    b"%PDF", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x1f\x8b", b"7z\xbc\xaf", b"Rar!", b"\x7fELF",
    b"MZ", b"BZh", b"\xfd7zXZ", b"{\\rtf", b"SQLite format 3", b"OggS", b"ID3", b"RIFF",
)  # fmt: skip
_TAR = slice(257, 262)  # place of a tar archive's signature
_LFS_START = b"version https://git-lfs.github.com/spec/v1"
_CONTROLS = [bytes([code]) for code in range(32) if code not in (9, 10, 12, 13, 26, 27)]
_MAIN_TYPES = {
    b"spreadsheetml.sheet.main+xml": "xlsx",
    b"spreadsheetml.template.main+xml": "xltx",
    b"ms-excel.sheet.macroenabled.main+xml": "xlsm",
    b"ms-excel.template.macroenabled.main+xml": "xlsm",
    b"ms-excel.addin.macroenabled.main+xml": "xlsm",
    b"ms-excel.sheet.binary.macroenabled.main": "xlsb",
}
_MAIN_PARTS = {"xl/workbook.bin": "xlsb", "xl/workbook.xml": "xlsx"}
_OWNER_BYTES = 165
# Reasons that leave open whether a file is a workbook: the extension then decides.
_UNCLEAR = (
    SkipReason.DAMAGED,
    SkipReason.EMPTY_FILE,
    SkipReason.TOO_LARGE,
    SkipReason.UNREADABLE,
    SkipReason.UNSUPPORTED,
)


@dataclass(frozen=True, slots=True)
class FileKind:
    """The format of a file, and the reason if it cannot be read."""

    # One of `FORMAT_NAMES`, or "" if this package cannot read it. "csv" stands for any delimited
    # text.
    format: str
    # Reason why it cannot be read as it is; None if reading can be tried
    reason: SkipReason | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """The beginning of a file, and the table of contents of a container."""

    name: str
    head: bytes  # its first 64 KiB
    # Entries of a ZIP archive by name, in lower case and with forward slashes. None for any other
    # file, and for an archive whose table of contents is damaged.
    entries: dict[str, zipfile.ZipInfo] | None = None
    # Reason why a ZIP archive's table of contents cannot be read; None if it can
    damage: Refused | None = None
    # Streams and storages of an OLE2 container, in lower case; None for any other file
    streams: frozenset[str] | None = None
    _archive: zipfile.ZipFile | None = field(default=None, repr=False)

    @classmethod
    def of(cls, file: BinaryIO, name: str, limits: Limits) -> Shown:
        """Read the beginning of an opened file."""
        head = file.read(_HEAD_BYTES)
        if head.startswith(MAGIC):
            return cls(name, head, streams=Container(file, limits.file_bytes).names)
        if not head.startswith(_ZIP_STARTS):
            return cls(name, head)
        try:
            archive = open_archive(file, limits)
        except Refused as refused:
            if refused.reason is not SkipReason.DAMAGED:
                raise
            return cls(name, head, damage=refused)
        entries = {part_key(info.filename): info for info in archive.infolist()}
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

    def kind(self, name: str) -> FileKind:
        """The kind of a file of format `name`: damaged if its table of contents is."""
        if self.damage is None:
            return FileKind(name)
        return FileKind(name, self.damage.reason, self.damage.message)


def not_a_spreadsheet(message: str) -> FileKind:
    """The kind of a file that is not a spreadsheet, with a reason."""
    return FileKind("", SkipReason.NOT_A_SPREADSHEET, message)


_LFS_POINTER = not_a_spreadsheet(
    "A Git LFS pointer without its content; fetch it with git lfs pull, and index again."
)


def foreign(shown: Shown) -> FileKind | None:
    """The kind of a file without a known format's signature; None if it may be flat text."""
    if shown.entries is not None:
        return _foreign_package(shown, shown.entries.keys())
    if shown.streams is not None:
        if shown.streams & OLE_DOCUMENTS:
            return not_a_spreadsheet("An OLE2 document that is not a workbook.")
        return not_a_spreadsheet("An OLE2 container without a workbook stream.")
    if shown.head.startswith(_BINARY_STARTS):
        return not_a_spreadsheet("The file has the signature of another kind of document.")
    return _foreign_text(shown.head)


def is_office_document(shown: Shown) -> bool:
    """True for a package of Word, PowerPoint or Visio."""
    return any(name.startswith(("word/", "ppt/", "visio/")) for name in shown.entries or ())


def _foreign_package(shown: Shown, names: Collection[str]) -> FileKind:
    if "mimetype" in names:
        return not_a_spreadsheet("An OpenDocument file or e-book that is not a spreadsheet.")
    if is_office_document(shown):
        return not_a_spreadsheet("An Office document that is not a workbook.")
    if any(name.startswith("index/") and name.endswith(".iwa") for name in names):
        numbers = "An Apple iWork document; export a spreadsheet from Numbers as .xlsx."
        return FileKind("", SkipReason.UNSUPPORTED, numbers)
    return not_a_spreadsheet("A ZIP archive that is not a workbook.")


def _foreign_text(head: bytes) -> FileKind | None:  # noqa: PLR0911 - a ladder
    if head.startswith(_LFS_START):
        return _LFS_POINTER
    if head[_TAR] == b"ustar":
        return not_a_spreadsheet("A tar archive that is not a spreadsheet.")
    wide = wide_encoding(head)
    text = head.decode(wide, "ignore").encode("utf-8", "ignore") if wide else head
    # Zero bytes in text come from interrupted writers, or from fields of fixed length.
    plain = text.replace(b"\x00", b"").removeprefix(b"\xef\xbb\xbf")
    if not plain:
        return FileKind("", SkipReason.EMPTY_FILE, "The file has only zero bytes.")
    if _MARKUP.match(plain):
        page = "HTML or XML under a spreadsheet's name; open it in Excel and save it as .xlsx."
        return FileKind("", SkipReason.UNSUPPORTED, page)
    if plain.lstrip().startswith(b"MIME-Version:"):
        web = "A web archive (MHTML) as Excel exports it; save it again as .xlsx."
        return FileKind("", SkipReason.UNSUPPORTED, web)
    controls = sum(plain.count(code) for code in _CONTROLS)
    if controls * 100 > len(plain):
        return not_a_spreadsheet("Binary content that is not in a known spreadsheet format.")
    return None


def package_format(shown: Shown) -> str:
    """The format of a package by its content types, else by its parts; "" for any other file.

    An archive with a damaged table of contents counts as an Office workbook, unless it begins
    like an OpenDocument file.
    """
    if shown.damage is not None:
        if b"opendocument.spreadsheet" in shown.head:
            return ""
        return "xlsb" if b"workbook.bin" in shown.head else "xlsx"
    if shown.entries is None or "mimetype" in shown.entries:
        return ""
    types = shown.entry("[content_types].xml").lower().replace(b"\x00", b"")
    declared = (found for marker, found in _MAIN_TYPES.items() if marker in types)
    held = (found for part, found in _MAIN_PARTS.items() if part in shown.entries)
    return next(declared, None) or next(held, "")


class FormatModule(Protocol):
    """The two functions that the module of a format defines.

    Every program that walks a folder imports the module. So it imports the libraries that read
    the file only inside `messages`.
    """

    def recognise(self, shown: Shown) -> FileKind | None:
        """The kind of a file of this format; None for a file of any other."""

    def messages(self, reading: Reading) -> Iterator[Json]:
        """Yield messages about a file of this format; raises `Refused` if no part can be read."""


@cache
def module_of(entry: Format) -> FormatModule:
    """The module that recognises and reads the files of an entry."""
    return cast(FormatModule, import_module(f"{__package__}.{entry.module}"))


def sniff(path: Path, *, named: bool = True, limits: Limits | None = None) -> FileKind:
    """The kind of the file at `path`, from its head and its table of contents only.

    Unless the user named the file, flat text counts as a spreadsheet only with one of its own
    extensions, and a broken package only with a spreadsheet's extension.
    """
    try:
        with open_regular(path) as file:
            kind = sniff_file(file, path.name, limits or Limits())
    except Refused as refused:
        kind = FileKind("", refused.reason, refused.message)
    except OSError as error:
        kind = FileKind("", SkipReason.UNREADABLE, f"The file cannot be opened: {error.strerror}.")
    return kind if named else _in_folder(kind, path)


def sniff_file(file: BinaryIO, name: str, limits: Limits) -> FileKind:
    """The kind of an opened file on disk; the file is left at its start."""
    size = os.fstat(file.fileno()).st_size
    try:
        kind = _kind(file, name, limits)
    except MemoryError:
        # Some compression methods allocate a dictionary of whatever size the file states.
        kind = FileKind("", SkipReason.ZIP_BOMB, "Its table of contents needs too much memory.")
    file.seek(0)
    if size > limits.file_bytes and kind.reason is not SkipReason.NOT_A_SPREADSHEET:
        big = f"The file has {size:,} bytes; the limit is {limits.file_bytes:,}."
        return FileKind("", SkipReason.TOO_LARGE, big)
    return kind


def sniff_bytes(file: BinaryIO, limits: Limits) -> FileKind:
    """The kind of a decrypted file; the file is left at its start."""
    file.seek(0)
    kind = _kind(file, "decrypted", limits)
    file.seek(0)
    return kind


def is_named(path: Path) -> bool:
    """True if a file has a spreadsheet's extension; if it is not one, the user is told so."""
    return bool(extension_of(path.name))


def _kind(file: BinaryIO, name: str, limits: Limits) -> FileKind:
    try:
        shown = Shown.of(file, name, limits)
    except Refused as refused:
        return FileKind("", refused.reason, refused.message)
    if not shown.head:
        return FileKind("", SkipReason.EMPTY_FILE, "The file has no bytes.")
    if name.startswith("~$") and len(shown.head) == _OWNER_BYTES:
        return not_a_spreadsheet("An owner file that Excel leaves beside an open workbook.")
    kinds = (module_of(each).recognise(shown) for each in FORMATS)
    return next(kind for kind in kinds if kind is not None)  # the last format accepts every file


def _in_folder(kind: FileKind, path: Path) -> FileKind:
    extension = extension_of(path.name)
    if kind.format and format_named(kind.format).flat and extension not in FLAT_EXTENSIONS:
        *others, last = (f".{each}" for each in FLAT_EXTENSIONS)
        return not_a_spreadsheet(
            f"Flat text without a {', '.join(others)} or {last} extension; rename it, or name "
            "the file itself."
        )
    if kind.reason in _UNCLEAR and not extension:
        return not_a_spreadsheet("The file is not a workbook.")
    return kind
