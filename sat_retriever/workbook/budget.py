"""Work budget for the reader of one file: counts, and processor time as a guard."""

from __future__ import annotations

import time
from collections.abc import Iterator

from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.limits import Limits

PARSED = 6  # cost of parsing XML relative to a byte search over it
# Share of the processor time after which no work begins, so that results can still be sent.
_SHARE = 0.75
SMALL = 8  # bytes of sheets' XML for each of comments, drawings and charts
_LEAST = 4_000  # cells of a sheet that are read even if the budget is used up


class CutShort(Exception):  # noqa: N818 - a signal, caught where reading goes on
    """Signal that reading stops before the end; results so far remain valid.

    Attributes:
        reason: `TOO_LARGE` for the work, `TIMEOUT` for the processor time.
    """

    def __init__(self, reason: SkipReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


class Budget:
    """Work budget of one file.

    All counts depend only on the file's content, so that the same file is cut at the same place
    on any machine. The limit on processor time, which varies between runs, is far above the
    time that the counts allow.

    Attributes:
        limits: Limits that it started with.
        xml_bytes: Bytes of XML that may still be scanned.
        small_bytes: Bytes of comments, drawings and charts that may still be parsed. They are
            counted apart, so that no drawing costs a cell.
        cells: Cells that may still be read.
        formulas: Formulas that may still be parsed.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.xml_bytes = limits.xml_bytes
        self.small_bytes = limits.xml_bytes // SMALL
        self.cells = limits.workbook_cells
        self.formulas = limits.formulas
        self._since = time.process_time()

    def late(self, part: float = 1.0) -> bool:
        """True if the processor time of this process, in all threads, is used up.

        Args:
            part: Part of the time that may pass until now; below 1 if the work that follows on
                what is read costs more than the reading.
        """
        return time.process_time() - self._since > part * _SHARE * self.limits.seconds

    def spent(self) -> bool:
        """True if no more XML may be scanned."""
        return self.xml_bytes <= 0 or self.late()

    def room(self, price: int = 1) -> int:
        """Number of cells of the next sheet that may be held.

        Args:
            price: Cost of a cell.
        """
        return min(self.limits.cells, max(_LEAST, self.cells // price))

    def metered(self, chunks: Iterator[bytes], price: int = 1) -> Iterator[bytes]:
        """Yield the chunks that fit the budget, but at least one.

        Args:
            chunks: Pieces of one part.
            price: Cost of a byte.

        Raises:
            CutShort: Before a chunk that does not fit.
        """
        for number, chunk in enumerate(chunks):
            if number and self.xml_bytes <= 0:
                raise CutShort(SkipReason.TOO_LARGE)
            if number and self.late():
                raise CutShort(SkipReason.TIMEOUT)
            self.xml_bytes -= price * len(chunk)
            yield chunk
