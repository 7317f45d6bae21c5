"""What a file is, told by its first bytes and its table of contents, never by its name.

Only flat text has no signature: there the extension decides for files that a folder
walk meets, and the content alone for files named by the user.
"""

from __future__ import annotations

import os
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.limits import Limits, Refused
from sat_retriever.workbook.opening import locked, ole
from sat_retriever.workbook.opening.encoding import wide_encoding
from sat_retriever.workbook.opening.package import ZIP_ERRORS, open_archive
from sat_retriever.workbook.opening.regular import open_regular

HEAD_BYTES = 65_536
TEXT_SUFFIXES = frozenset({".csv", ".tsv", ".tab"})
SHEET_SUFFIXES = TEXT_SUFFIXES | {
    f".{kind}"
    for kind in (
        "xlsx", "xlsm", "xltx", "xltm", "xlam", "xlsb", "xls", "xlt", "xlw", "xla",
        "ods", "ots", "fods", "sxc", "numbers",
    )
}  # fmt: skip
_MAIN_TYPES = {
    b"spreadsheetml.sheet.main+xml": "xlsx",
    b"spreadsheetml.template.main+xml": "xltx",
    b"ms-excel.sheet.macroenabled.main+xml": "xlsm",
    b"ms-excel.template.macroenabled.main+xml": "xlsm",
    b"ms-excel.addin.macroenabled.main+xml": "xlsm",
    b"ms-excel.sheet.binary.macroenabled.main": "xlsb",
}
_MARKUP = re.compile(
    rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype|\?xml|html|table|head|body|meta)", re.I | re.S
)
_BIFF_STARTS = (b"\x09\x00\x04\x00", b"\x09\x02\x06\x00", b"\x09\x04\x06\x00", b"\x09\x08")
_BINARY_STARTS = (
    b"%PDF", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x1f\x8b", b"7z\xbc\xaf", b"Rar!", b"\x7fELF",
    b"MZ", b"BZh", b"\xfd7zXZ", b"{\\rtf", b"SQLite format 3", b"OggS", b"ID3", b"RIFF",
)  # fmt: skip

# What says nothing about whether a file is a workbook: then its extension decides.
_UNCLEAR = (
    SkipReason.DAMAGED,
    SkipReason.EMPTY_FILE,
    SkipReason.TOO_LARGE,
    SkipReason.UNREADABLE,
    SkipReason.UNSUPPORTED,
)


_TAR = slice(257, 262)  # where a tar archive says that it is one
_LFS_START = b"version https://git-lfs.github.com/spec/v1"


@dataclass(frozen=True, slots=True)
class Kind:
    """What a file was recognised as.

    Attributes:
        format: "xlsx", "xlsm", "xltx", "xlsb", "xls", "ods", "csv", or "" when it is
            no spreadsheet this package reads. "csv" stands for any delimited text.
        reason: Why it cannot be read as it stands; None when it can be tried.
        message: The reason as a sentence; empty without one.
    """

    format: str
    reason: SkipReason | None = None
    message: str = ""


def sniff(path: Path, *, named: bool = True, limits: Limits | None = None) -> Kind:
    """The kind of the file at `path`; reads its head and its table of contents only.

    Args:
        path: Any file; a directory, FIFO, device or missing file gives a reason.
        named: True when the user named this very file. In a folder walk (False) flat
            text counts as a spreadsheet only under .csv, .tsv or .tab, and a broken
            package only under a spreadsheet's extension.
        limits: Bounds on the file's size and number of entries.
    """
    try:
        with open_regular(path) as file:
            kind = sniff_file(file, path.name, limits or Limits())
    except Refused as refused:
        kind = Kind("", refused.reason, refused.message)
    except OSError as error:
        kind = Kind("", SkipReason.UNREADABLE, f"The file cannot be opened: {error.strerror}.")
    return kind if named else _in_folder(kind, path)


def sniff_file(file: BinaryIO, name: str, limits: Limits) -> Kind:
    """The kind of an opened file on disk; left at its start."""
    size = os.fstat(file.fileno()).st_size
    try:
        kind = _kind(file, name, limits)
    except MemoryError:
        # Some compression methods ask for a dictionary of any size the file names.
        kind = Kind("", SkipReason.ZIP_BOMB, "Its table of contents takes too much memory.")
    file.seek(0)
    if size > limits.file_bytes and kind.reason is not SkipReason.NOT_A_SPREADSHEET:
        big = f"The file has {size:,} bytes; the limit is {limits.file_bytes:,}."
        return Kind("", SkipReason.TOO_LARGE, big)
    return kind


def is_named(path: Path) -> bool:
    """True if a file is called like a spreadsheet: where it is none, that is worth naming."""
    return path.suffix.lower() in SHEET_SUFFIXES


def sniff_bytes(file: BinaryIO, limits: Limits) -> Kind:
    """The kind of an already opened file, for example a decrypted one; left at its start."""
    file.seek(0)
    kind = _kind(file, "decrypted", limits)
    file.seek(0)
    return kind


def _in_folder(kind: Kind, path: Path) -> Kind:
    suffix = path.suffix.lower()
    if kind.format == "csv" and suffix not in TEXT_SUFFIXES:
        return _other(
            "Flat text without a .csv, .tsv or .tab extension; rename it, or name the file itself."
        )
    if kind.reason in _UNCLEAR and suffix not in SHEET_SUFFIXES:
        return _other("The file is no workbook.")
    return kind


def _kind(file: BinaryIO, name: str, limits: Limits) -> Kind:  # noqa: PLR0911 - a ladder
    head = file.read(HEAD_BYTES)
    if not head:
        return Kind("", SkipReason.EMPTY_FILE, "The file has no bytes.")
    if name.startswith("~$") and len(head) == 165:
        return _other("An owner file that Excel leaves beside an open workbook.")
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_kind(file, head, limits)
    if head.startswith(ole.MAGIC):
        return _ole_kind(file, limits)
    if head.startswith(_BIFF_STARTS):
        old = "A bare BIFF stream as Excel 2 to 5 wrote it; save it again as .xlsx."
        return Kind("xls", SkipReason.UNSUPPORTED, old)
    if head.startswith(_BINARY_STARTS):
        return _other("The file's signature is that of another kind of document.")
    return _text_kind(head)


def _text_kind(head: bytes) -> Kind:  # noqa: PLR0911 - a ladder
    if head.startswith(_LFS_START):
        return _LFS_POINTER
    if head[_TAR] == b"ustar":
        return _other("A tar archive that is no spreadsheet.")
    wide = wide_encoding(head)
    text = head.decode(wide, "ignore").encode("utf-8", "ignore") if wide else head
    # Zero bytes in text are left by writers that broke off, or by fields of a fixed length.
    plain = text.replace(b"\x00", b"").removeprefix(b"\xef\xbb\xbf")
    if not plain:
        return Kind("", SkipReason.EMPTY_FILE, "The file has no bytes but zeros.")
    if _MARKUP.match(plain):
        page = "HTML or XML under a spreadsheet's name; open it in Excel and save it as .xlsx."
        return Kind("", SkipReason.UNSUPPORTED, page)
    if plain.lstrip().startswith(b"MIME-Version:"):
        web = "A web archive (MHTML) as Excel exports it; save it again as .xlsx."
        return Kind("", SkipReason.UNSUPPORTED, web)
    controls = sum(plain.count(code) for code in _CONTROLS)
    if controls * 100 > len(plain):
        return _other("Binary content that is no known spreadsheet format.")
    return Kind("csv")


_CONTROLS = [bytes([code]) for code in range(32) if code not in (9, 10, 12, 13, 26, 27)]


def _ole_kind(file: BinaryIO, limits: Limits) -> Kind:
    names = ole.Container(file, limits.file_bytes).names
    if "encryptedpackage" in names:
        return Kind("xlsx", SkipReason.ENCRYPTED, locked.MESSAGE)
    if names.intersection(ole.WORKBOOK_STREAMS):
        return Kind("xls")
    if names & {"worddocument", "powerpoint document", "visiodocument", "__properties_version1.0"}:
        return _other("An OLE2 document that is no workbook.")
    if any(name.startswith("root") for name in names):
        return _other("An OLE2 container without a workbook stream.")
    return Kind("xls", SkipReason.DAMAGED, "The OLE2 container's directory cannot be read.")


def _zip_kind(file: BinaryIO, head: bytes, limits: Limits) -> Kind:
    try:
        with open_archive(file, limits) as archive:
            return package_kind(archive)
    except Refused as refused:
        damaged = refused.reason is SkipReason.DAMAGED
        return Kind(_guess(head) if damaged else "", refused.reason, refused.message)


def _guess(head: bytes) -> str:
    if b"opendocument.spreadsheet" in head:
        return "ods"
    return "xlsb" if b"workbook.bin" in head else "xlsx"


def package_kind(archive: zipfile.ZipFile) -> Kind:  # noqa: PLR0911 - a ladder
    """The kind of an opened ZIP package, by its mimetype entry or its content types."""
    entries = {_key(info.filename): info for info in archive.infolist()}
    if "mimetype" in entries:
        return _opendocument_kind(archive, entries)
    types = _small(archive, entries.get("[content_types].xml")).lower().replace(b"\x00", b"")
    for marker, found in _MAIN_TYPES.items():
        if marker in types:
            return Kind(found)
    if "xl/workbook.bin" in entries:
        return Kind("xlsb")
    if "xl/workbook.xml" in entries:
        return Kind("xlsx")
    if any(name.startswith(("word/", "ppt/", "visio/")) for name in entries):
        return _other("An Office document that is no workbook.")
    if "content.xml" in entries:
        return Kind("ods")
    if any(name.startswith("index/") and name.endswith(".iwa") for name in entries):
        numbers = "An Apple iWork document; export a spreadsheet from Numbers as .xlsx."
        return Kind("", SkipReason.UNSUPPORTED, numbers)
    return _other("A ZIP archive that is no workbook.")


def _opendocument_kind(archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo]) -> Kind:
    mimetype = _small(archive, entries["mimetype"])
    if mimetype and b"opendocument.spreadsheet" not in mimetype:
        return _other("An OpenDocument file or e-book that is no spreadsheet.")
    if b"encryption-data" in _small(archive, entries.get("meta-inf/manifest.xml")):
        message = "The OpenDocument file is encrypted, which is not supported; save it without."
        return Kind("ods", SkipReason.ENCRYPTED, message)
    return Kind("ods")


def _small(archive: zipfile.ZipFile, info: zipfile.ZipInfo | None) -> bytes:
    """An entry's first 4 MiB; what can be read of it if it is damaged, maybe nothing."""
    if info is None:
        return b""
    try:
        with archive.open(info) as entry:
            return entry.read(4 << 20)
    except ZIP_ERRORS:
        return b""


def _key(name: str) -> str:
    return name.lower().replace("\\", "/").lstrip("/")


def _other(message: str) -> Kind:
    return Kind("", SkipReason.NOT_A_SPREADSHEET, message)


_LFS_POINTER = _other(
    "A Git LFS pointer, its content was not fetched; fetch it with git lfs pull, and index again."
)
