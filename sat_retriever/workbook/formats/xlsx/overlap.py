"""Scan of a large sheet in parallel with calamine, which releases Python's global lock."""

from __future__ import annotations

import threading

from sat_retriever.workbook.formats.xlsx.scan import SheetScan, scan_sheet
from sat_retriever.workbook.formats.xlsx.styles import Styles
from sat_retriever.workbook.limits import Limits, Refused
from sat_retriever.workbook.opening.package import Chunks


class BackgroundScan(threading.Thread):
    """A scan in its own thread: `start` starts it, `result` waits for it."""

    def __init__(self, chunks: Chunks, again: Chunks, limits: Limits, styles: Styles) -> None:
        super().__init__(daemon=True)
        self._chunks, self._again, self._limits, self._styles = chunks, again, limits, styles
        self._scan: SheetScan | None = None
        self._error: BaseException | None = None

    def run(self) -> None:
        """Scan; an error is kept for `result`."""
        try:
            self._scan = scan_sheet(self._chunks(), self._again(), self._limits, self._styles)
        except (Refused, MemoryError) as error:
            self._error = error

    def result(self) -> SheetScan:
        """Wait for the scan and return it.

        Raises:
            Refused: If the part declares entities or nests too deeply.
            MemoryError: If the scan ran out of memory.
        """
        self.join()
        if self._error is not None:
            raise self._error
        return self._scan or SheetScan(damage="the scan ended early")
