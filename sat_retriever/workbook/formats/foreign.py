"""Kinds of files that no format reads, with advice on what to do."""

from __future__ import annotations

import re
from collections.abc import Collection

from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.formats.kind import Kind, Shown
from sat_retriever.workbook.opening.encoding import wide_encoding

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


def not_a_spreadsheet(message: str) -> Kind:
    """The kind of a file that is not a spreadsheet, with a reason."""
    return Kind("", SkipReason.NOT_A_SPREADSHEET, message)


_LFS_POINTER = not_a_spreadsheet(
    "A Git LFS pointer without its content; fetch it with git lfs pull, and index again."
)


def foreign(shown: Shown) -> Kind | None:
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


def _foreign_package(shown: Shown, names: Collection[str]) -> Kind:
    if "mimetype" in names:
        return not_a_spreadsheet("An OpenDocument file or e-book that is not a spreadsheet.")
    if is_office_document(shown):
        return not_a_spreadsheet("An Office document that is not a workbook.")
    if any(name.startswith("index/") and name.endswith(".iwa") for name in names):
        numbers = "An Apple iWork document; export a spreadsheet from Numbers as .xlsx."
        return Kind("", SkipReason.UNSUPPORTED, numbers)
    return not_a_spreadsheet("A ZIP archive that is not a workbook.")


def _foreign_text(head: bytes) -> Kind | None:  # noqa: PLR0911 - a ladder
    if head.startswith(_LFS_START):
        return _LFS_POINTER
    if head[_TAR] == b"ustar":
        return not_a_spreadsheet("A tar archive that is not a spreadsheet.")
    wide = wide_encoding(head)
    text = head.decode(wide, "ignore").encode("utf-8", "ignore") if wide else head
    # Zero bytes in text come from interrupted writers, or from fields of fixed length.
    plain = text.replace(b"\x00", b"").removeprefix(b"\xef\xbb\xbf")
    if not plain:
        return Kind("", SkipReason.EMPTY_FILE, "The file has only zero bytes.")
    if _MARKUP.match(plain):
        page = "HTML or XML under a spreadsheet's name; open it in Excel and save it as .xlsx."
        return Kind("", SkipReason.UNSUPPORTED, page)
    if plain.lstrip().startswith(b"MIME-Version:"):
        web = "A web archive (MHTML) as Excel exports it; save it again as .xlsx."
        return Kind("", SkipReason.UNSUPPORTED, web)
    controls = sum(plain.count(code) for code in _CONTROLS)
    if controls * 100 > len(plain):
        return not_a_spreadsheet("Binary content that is not in a known spreadsheet format.")
    return None
