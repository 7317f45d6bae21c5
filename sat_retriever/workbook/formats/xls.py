"""xls: values from the binary records of Excel 5 to 2003 in an OLE2 container."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sat_retriever.records.jsonform import Json
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.formats.foreign import OLE_DOCUMENTS
from sat_retriever.workbook.formats.kind import Kind, Shown
from sat_retriever.workbook.opening import ole

if TYPE_CHECKING:
    from sat_retriever.workbook.formats.reading import Reading

_BARE_STARTS = (b"\x09\x00\x04\x00", b"\x09\x02\x06\x00", b"\x09\x04\x06\x00", b"\x09\x08")


def recognise(shown: Shown) -> Kind | None:
    """The kind of a workbook of binary records, with or without its container."""
    if shown.head.startswith(_BARE_STARTS):
        old = "A bare BIFF stream as Excel 2 to 5 wrote it; save it again as .xlsx."
        return Kind("xls", SkipReason.UNSUPPORTED, old)
    if shown.streams is None:
        return None
    if shown.streams.intersection(ole.WORKBOOK_STREAMS):
        return Kind("xls")
    if shown.streams & OLE_DOCUMENTS or any(name.startswith("root") for name in shown.streams):
        return None
    return Kind("xls", SkipReason.DAMAGED, "The OLE2 container's directory cannot be read.")


def messages(reading: Reading) -> Iterator[Json]:
    """Yield messages about an xls."""
    from sat_retriever.workbook.formats.byvalue import read_by_value

    return read_by_value(reading)
