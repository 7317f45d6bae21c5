"""The scan of a large sheet beside calamine, which works without Python's lock."""

from __future__ import annotations

import threading

from sat_retriever.workbook.formats.xlsx.scan import SheetScan, scan_sheet
from sat_retriever.workbook.limits import Limits, Refused
from sat_retriever.workbook.opening.package import Chunks


class BackgroundScan(threading.Thread):
    """A scan in a thread of its own: started with `start`, awaited with `result`."""

    def __init__(self, chunks: Chunks, again: Chunks, limits: Limits) -> None:
        super().__init__(daemon=True)
        self._chunks, self._again, self._limits = chunks, again, limits
        self._scan: SheetScan | None = None
        self._error: BaseException | None = None

    def run(self) -> None:
        """Scan; what goes wrong waits for `result`."""
        try:
            self._scan = scan_sheet(self._chunks(), self._again(), self._limits)
        except (Refused, MemoryError) as error:
            self._error = error

    def result(self) -> SheetScan:
        """The finished scan.

        Raises:
            Refused: If the part declares entities or nests too deeply.
            MemoryError: If the scan ran out of it.
        """
        self.join()
        if self._error is not None:
            raise self._error
        return self._scan or SheetScan(damage="the scan ended early")
