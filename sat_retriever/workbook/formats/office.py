"""Recognition of the formats of Microsoft Office workbooks in ZIP packages."""

from __future__ import annotations

from sat_retriever.workbook.formats.kind import Shown

_MAIN_TYPES = {
    b"spreadsheetml.sheet.main+xml": "xlsx",
    b"spreadsheetml.template.main+xml": "xltx",
    b"ms-excel.sheet.macroenabled.main+xml": "xlsm",
    b"ms-excel.template.macroenabled.main+xml": "xlsm",
    b"ms-excel.addin.macroenabled.main+xml": "xlsm",
    b"ms-excel.sheet.binary.macroenabled.main": "xlsb",
}
_MAIN_PARTS = {"xl/workbook.bin": "xlsb", "xl/workbook.xml": "xlsx"}


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
