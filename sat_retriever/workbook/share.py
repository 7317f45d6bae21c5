"""The share of a workbook that was read, told in hundredths while it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

Tell = Callable[[float], None]
Row = TypeVar("Row")
_ROWS = 2_000  # between two looks at the share


class Share:
    """The share of a file that was read, by the sizes of its sheets.

    One half of a sheet is the scan of its bytes, the other is its rows. It is told at most a
    hundred times, each time it has grown by a hundredth, so that telling costs next to nothing and
    depends on the file alone.

    >>> told = []
    >>> share = Share(told.append)
    >>> share.sizes = [300, 100]
    >>> share.begin(0, 2); share.scanned(200); [*share.rows("ab", 2)]; share.begin(1, 2)
    ['a', 'b']
    >>> told
    [0.25, 0.62, 0.75]
    """

    def __init__(self, tell: Tell | None = None) -> None:
        self.sizes: Sequence[int] = ()  # bytes of each sheet; empty counts all alike
        self._tell = tell
        self._total = self._before = self._size = self._scanned = self._percent = 0
        self._rows = 0.0

    def begin(self, place: int, of: int) -> None:
        """Note that the sheets before a place were read."""
        if not place:
            self.sizes = self.sizes or [1] * of
            self._total = max(sum(self.sizes), 1)
        self._before += self._size
        self._size = self.sizes[place]
        self._scanned, self._rows = 0, 0.0
        self._say()

    def scanned(self, size: int) -> None:
        """Note that so many more bytes of the sheet were scanned."""
        self._scanned = min(self._size, self._scanned + size)
        self._say()

    def rows(self, rows: Iterator[Row], height: int) -> Iterator[Row]:
        """Yield the rows of the sheet, of which there are so many, and note how far they are."""
        rows = iter(rows)
        for start in range(0, height, _ROWS):
            yield from islice(rows, _ROWS)
            self._rows = min(1.0, (start + _ROWS) / height)
            self._say()
        yield from rows

    def _say(self) -> None:
        if self._tell is None or not self._total:
            return
        done = self._before + (self._scanned + self._rows * self._size) / 2
        percent = int(100 * done / self._total)
        if percent > self._percent:
            self._percent = percent
            self._tell(percent / 100)
