"""Work left for the reader of one file: counts, and processor time as a guard."""

from __future__ import annotations

import time
from collections.abc import Iterator

from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.limits import Limits

PARSED = 6  # times the work of a byte search that parsing the same XML takes
# Of the processor time: begin nothing more after it, so that what was read can be told.
_SHARE = 0.75
_LEAST = 4_000  # cells of a sheet that are read however little is left


class CutShort(Exception):  # noqa: N818 - a signal, caught where reading goes on
    """Reading stops before the end; what was read until then stands.

    Attributes:
        reason: `TOO_LARGE` for the work, `TIMEOUT` for the processor time.
    """

    def __init__(self, reason: SkipReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


class Budget:
    """Work left for one file.

    Every count is taken from what stands in the file, so that the same file is cut at the
    same place on any machine. The processor time, which is not the same each time, is far
    above what the counts allow.

    Attributes:
        limits: What it began with.
        xml_bytes: Bytes of XML that may still be scanned.
        cells: Cells that may still be read.
        formulas: Formulas that may still be taken apart.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.xml_bytes = limits.xml_bytes
        self.cells = limits.workbook_cells
        self.formulas = limits.formulas
        self._until = time.process_time() + _SHARE * limits.seconds

    def late(self) -> bool:
        """True if the processor time is used up. It counts all threads of this process."""
        return time.process_time() > self._until

    def spent(self) -> bool:
        """True if no more XML may be scanned."""
        return self.xml_bytes <= 0 or self.late()

    def room(self, price: int = 1) -> int:
        """Cells of the next sheet that may be held.

        Args:
            price: What a cell counts.
        """
        return min(self.limits.cells, max(_LEAST, self.cells // price))

    def metered(self, chunks: Iterator[bytes], price: int = 1) -> Iterator[bytes]:
        """The chunks that the budget has room for, and one in any case.

        Args:
            chunks: Pieces of one part.
            price: What a byte counts.

        Raises:
            CutShort: Before a chunk for which there is no room.
        """
        for number, chunk in enumerate(chunks):
            if number and self.xml_bytes <= 0:
                raise CutShort(SkipReason.TOO_LARGE)
            if number and self.late():
                raise CutShort(SkipReason.TIMEOUT)
            self.xml_bytes -= price * len(chunk)
            yield chunk
