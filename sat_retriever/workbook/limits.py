"""Limits on reading a file, the work budget within them, and the error of a refused file."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sat_retriever.errors import InputError
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.share import Share, Tell

MIB = 1 << 20
PARSED = 6  # cost of parsing XML relative to a byte search over it
# Share of the processor time after which no work begins, so that results can still be sent.
_SHARE = 0.75
SMALL = 8  # bytes of sheets' XML for each of comments, drawings and charts
_LEAST_CELLS = 4_000  # cells of a sheet that are read even if the budget is used up


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on the cost of reading one file.

    Counts of work determine how much of a file is read, so that a busy machine reads the same as
    an idle one. The limit on processor time stops the reading of a file that costs far more than
    its counts suggest. The limit on wall-clock time is a last guard against a reader that hangs.

    Attributes:
        file_bytes: Size of the file on disk.
        unpacked_bytes: Total declared size of all entries of a ZIP package.
        ratio: Unpacked bytes per packed byte; checked from 64 MiB unpacked on.
        entries: Entries of a ZIP package.
        sheets: Sheets of one workbook; the rest are skipped.
        xml_bytes: Bytes of XML of one workbook that are scanned for formulas and used ranges;
            an eighth as many more of its comments, drawings and charts.
            Unusual XML counts once for the part that the fast scan reads, and six times for
            the slow scan.
        cells: Cells of one sheet that are held for header detection. A longer sheet
            gives a record from its first rows, with the true shape.
        area: Largest used range in cells, including empty ones, that is read as one dense
            block.
        workbook_cells: Cells of one workbook that are read; sheets after that give records
            from their first rows.
        formulas: Formulas of one workbook that are kept and used to find links.
        xml_depth: Nesting of XML elements.
        memory_mb: Address space that the worker may use for one file, in MiB (Linux).
        seconds: Processor time of the reading process for one attempt at a file. A file that
            crashes its process is tried a second time, with another reader.
        wall_seconds: Wall-clock time for one attempt.
    """

    file_bytes: int = 256 * MIB
    unpacked_bytes: int = 4096 * MIB
    ratio: int = 250
    entries: int = 50_000
    sheets: int = 10_000
    xml_bytes: int = 1024 * MIB
    cells: int = 5_000_000
    area: int = 12_000_000
    workbook_cells: int = 25_000_000
    formulas: int = 1_000_000
    xml_depth: int = 256
    memory_mb: int = 2048
    seconds: float = 180.0
    wall_seconds: float = 1800.0

    @classmethod
    def parse(cls, text: str) -> Limits:
        """Parse text such as a command-line option; other limits keep their defaults.

        Args:
            text: One or more of `seconds=…` (processor time per file), `memory=…` (MiB per
                file) and `cells=…` (per sheet; a workbook may have five times as many),
                separated by commas.

        Raises:
            InputError: If a name is unknown, or a value is not a number above 0 and at most a
                billion.

        >>> Limits.parse("seconds=60,cells=1000").workbook_cells
        5000
        """
        limits = cls()
        for part in text.split(","):
            name, _, value = (each.strip() for each in part.partition("="))
            if name not in _NAMED:
                raise InputError(
                    f"there is no limit {name!r}; choose from {', '.join(_NAMED)}, as in "
                    "seconds=300,memory=4096,cells=20000000"
                )
            number = _positive(name, value)
            if name == "seconds":
                limits = replace(limits, seconds=number, wall_seconds=min(10 * number, _MOST))
            elif name == "memory":
                limits = replace(limits, memory_mb=math.ceil(number))
            else:
                cells = math.ceil(number)
                area = max(cells, limits.area)
                limits = replace(limits, cells=cells, area=area, workbook_cells=5 * cells)
        return limits

    def why_cut(self, reason: SkipReason) -> str:
        """The limit that ended the reading of XML, as the second half of a sentence.

        >>> Limits().why_cut(SkipReason.TOO_LARGE)
        'the limit is 1,024 MiB of XML per workbook'
        """
        if reason is SkipReason.TIMEOUT:
            return f"its {self.seconds:g} seconds of processor time were used up"
        return f"the limit is {self.xml_bytes // MIB:,} MiB of XML per workbook"


_NAMED = ("seconds", "memory", "cells")
_MOST = 1e9


def _positive(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= _MOST:
        raise InputError(
            f"the limit {name} is {text!r}; give a number above 0, at most {_MOST:,.0f}"
        )
    return number


class Refused(Exception):  # noqa: N818 - never leaves the workbook package
    """A file or sheet is refused; becomes a `Skipped`."""

    def __init__(self, reason: SkipReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


class CutShort(Exception):  # noqa: N818 - a signal, caught where reading goes on
    """Signal of too much work (`TOO_LARGE`) or time (`TIMEOUT`); results so far remain valid."""

    def __init__(self, reason: SkipReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


class Budget:
    """Work budget of one file.

    All counts depend only on the file's content, so that the same file is cut at the same place on
    any machine. The limit on processor time, which varies between runs, is far above the time that
    the counts allow. `small_bytes` of comments, drawings and charts may still be parsed; they are
    counted apart, so that no drawing costs a cell. `tell` is given the share of the file that was
    read.
    """

    def __init__(self, limits: Limits, tell: Tell | None = None) -> None:
        self.limits = limits
        self.share = Share(tell)
        self.xml_bytes = limits.xml_bytes
        self.small_bytes = limits.xml_bytes // SMALL
        self.cells = limits.workbook_cells
        self.formulas = limits.formulas
        self._since = time.process_time()

    def late(self, part: float = 1.0) -> bool:
        """True if the processor time of this process, in all threads, is used up.

        A `part` below 1 is the share that may pass until now, if later work costs more than the
        reading.
        """
        return time.process_time() - self._since > part * _SHARE * self.limits.seconds

    def spent(self) -> bool:
        """True if no more XML may be scanned."""
        return self.xml_bytes <= 0 or self.late()

    def room(self, price: int = 1) -> int:
        """Number of cells of the next sheet that may be held."""
        return min(self.limits.cells, max(_LEAST_CELLS, self.cells // price))

    def metered(self, chunks: Iterator[bytes], price: int = 1) -> Iterator[bytes]:
        """Yield the chunks that fit the budget, at least one; raises `CutShort` before another."""
        for number, chunk in enumerate(chunks):
            if number and self.xml_bytes <= 0:
                raise CutShort(SkipReason.TOO_LARGE)
            if number and self.late():
                raise CutShort(SkipReason.TIMEOUT)
            self.xml_bytes -= price * len(chunk)
            yield chunk
            self.share.scanned(len(chunk))
