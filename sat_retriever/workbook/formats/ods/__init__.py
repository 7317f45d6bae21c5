"""ods: values, formulas and structure of an OpenDocument spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sat_retriever.records.jsonform import Json
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.formats.kind import FileKind, Shown, is_office_document

if TYPE_CHECKING:
    from sat_retriever.workbook.formats.reading import Reading

_MARK = b"opendocument.spreadsheet"


def recognise(shown: Shown) -> FileKind | None:
    """The kind of an OpenDocument spreadsheet, by its mimetype entry or its content part."""
    if shown.damage is not None:
        return shown.kind("ods") if _MARK in shown.head else None
    if shown.entries is None:
        return None
    if "mimetype" not in shown.entries:
        held = "content.xml" in shown.entries and not is_office_document(shown)
        return FileKind("ods") if held else None
    mimetype = shown.entry("mimetype")
    if mimetype and _MARK not in mimetype:
        return None
    if b"encryption-data" in shown.entry("meta-inf/manifest.xml"):
        message = "An encrypted OpenDocument file is not supported; save it without a password."
        return FileKind("ods", SkipReason.ENCRYPTED, message)
    return FileKind("ods")


def messages(reading: Reading) -> Iterator[Json]:
    """Messages about an ods."""
    from sat_retriever.workbook.formats.ods.read import read_ods

    return read_ods(reading)
