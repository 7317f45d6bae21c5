"""xlsx, xlsm and xltx: values, formulas and structure from a package of XML parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sat_retriever.records.jsonform import Json
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.formats.kind import FileKind, Shown, package_format
from sat_retriever.workbook.opening.encryption import ENCRYPTED

if TYPE_CHECKING:
    from sat_retriever.workbook.formats.reading import Reading


def recognise(shown: Shown) -> FileKind | None:
    """The kind of a workbook of XML parts, or of one that Office encrypted."""
    if shown.streams is not None and "encryptedpackage" in shown.streams:
        return FileKind("xlsx", SkipReason.ENCRYPTED, ENCRYPTED)
    found = package_format(shown)
    return shown.kind(found) if found in ("xlsx", "xlsm", "xltx") else None


def messages(reading: Reading) -> Iterator[Json]:
    """Yield messages about an xlsx, xlsm or xltx."""
    from sat_retriever.workbook.formats.xlsx.read import read_xlsx

    return read_xlsx(reading)
