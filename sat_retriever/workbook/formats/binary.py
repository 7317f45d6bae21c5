"""xlsb and xls: values alone, from a package of binary parts or records in an OLE2 container."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sat_retriever.records.jsonform import Json
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.formats.kind import OLE_DOCUMENTS, FileKind, Shown, package_format
from sat_retriever.workbook.opening.ole import WORKBOOK_STREAMS

if TYPE_CHECKING:
    from sat_retriever.workbook.formats.reading import Reading

_BARE_STARTS = (b"\x09\x00\x04\x00", b"\x09\x02\x06\x00", b"\x09\x04\x06\x00", b"\x09\x08")


def recognise(shown: Shown) -> FileKind | None:
    """The kind of an xlsb, or of an xls with or without its container; None for any other."""
    if package_format(shown) == "xlsb":
        return shown.kind("xlsb")
    if shown.head.startswith(_BARE_STARTS):
        old = "A bare BIFF stream as Excel 2 to 5 wrote it; save it again as .xlsx."
        return FileKind("xls", SkipReason.UNSUPPORTED, old)
    if shown.streams is None:
        return None
    if shown.streams.intersection(WORKBOOK_STREAMS):
        return FileKind("xls")
    if shown.streams & OLE_DOCUMENTS or any(name.startswith("root") for name in shown.streams):
        return None
    return FileKind("xls", SkipReason.DAMAGED, "The OLE2 container's directory cannot be read.")


def messages(reading: Reading) -> Iterator[Json]:
    """Yield messages about an xlsb or xls."""
    from sat_retriever.workbook.formats.sheets import read_by_value

    return read_by_value(reading)
