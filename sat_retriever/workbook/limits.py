"""How much of a file is read at most, and the refusal that says which bound it broke."""

from __future__ import annotations

from dataclasses import dataclass

from sat_retriever.types import SkipReason

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that keep one file from costing more than its share.

    Attributes:
        file_bytes: Size of the file on disk.
        unpacked_bytes: Declared size of all entries of a ZIP package together.
        ratio: Unpacked bytes for one packed byte; looked at from 64 MiB unpacked on.
        entries: Entries of a ZIP package.
        sheets: Sheets of one workbook; the rest is skipped.
        cells: Cells of one sheet that are held for header detection. A longer sheet
            gives a record from its first rows, with the true shape.
        area: Cells of a used range, empty ones included, up to which a sheet is
            read as one dense block.
        formulas: Formulas kept of one workbook.
        xml_depth: Nesting of XML elements.
        memory_mb: Address space the worker may take for one file, MiB (Linux).
        seconds: Wall time for one file, both attempts together.
    """

    file_bytes: int = 256 * MIB
    unpacked_bytes: int = 4096 * MIB
    ratio: int = 250
    entries: int = 20_000
    sheets: int = 4_000
    cells: int = 5_000_000
    area: int = 12_000_000
    formulas: int = 1_000_000
    xml_depth: int = 256
    memory_mb: int = 2048
    seconds: float = 25.0


class Refused(Exception):  # noqa: N818 - never leaves the workbook package
    """A file or sheet is not read on purpose; becomes a `Skipped`."""

    def __init__(self, reason: SkipReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
