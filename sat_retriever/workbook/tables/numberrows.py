"""The rows of a table as arrays of numbers, labels and gaps."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.area import Area
from sat_retriever.text.numbers import numbers_of
from sat_retriever.text.totalwords import TotalLabel, total_label
from sat_retriever.workbook.tables.sums import PIVOTS, Vector
from sat_retriever.workbook.values.cells import Cells, Kind
from sat_retriever.workbook.values.grid import Value

MAX_NUMBERS = 4_000_000
"""Numbers of a table that are added up; columns with fewer numbers are left out first."""
LARGEST = 1e200
LABELS = 8
"""First columns in which a row's label is looked for."""
FILLED = 0.5
"""Least share of rows that fill a column whose gap then speaks for a total."""
COUNTING = 0.8
"""Least share of steps by one of a column that numbers its rows."""
MAX_DECIMALS = 4
"""Most decimals of a column whose sums may differ by what rounding takes."""

Mask = NDArray[np.bool_]


class NumberRows:
    """The rows of a table below its header; rows and columns count from the first of its data.

    Attributes:
        known: Mask of cells with a known number, (rows, columns).
        numbers: The same with formulas whose value is not saved.
        filled: Mask of cells with a value, or covered by a merged label.
        summed: Mask of formulas that sum up other rows of the table.
    """

    def __init__(self, cells: Cells, area: Area, data: range) -> None:
        self._cells, self._area, self._data = cells, area, data
        part = cells.kinds[data.start : data.stop, area.left : area.right + 1]
        self.known = np.isin(part, (Kind.INTEGER, Kind.NUMBER, Kind.TIME))
        self.texts = part == Kind.TEXT
        self._written: dict[int, Sequence[float]] = {}
        for col in range(1, part.shape[1]):
            self._read_texts(col)
        self.numbers = self.known | (part == Kind.UNKNOWN)
        self.filled = (part != Kind.EMPTY) | self._covered(part.shape)
        self.summed = np.zeros(part.shape, dtype=np.bool_)
        for (row, col), span in cells.sums.items():
            if row in data and area.left <= col <= area.right and _inside(span, row, area, data):
                self.summed[row - data.start, col - area.left] = True

    def _read_texts(self, col: int) -> None:
        """Take the texts of a column as numbers if all of them are."""
        rows = np.flatnonzero(self.texts[:, col])
        if len(rows) < 2 or self.known[:, col].any():
            return
        texts = [str(self._value(row, col)) for row in rows.tolist()]
        found = numbers_of(texts)
        if found is not None:
            values = np.full(len(self.texts), math.nan)
            values[rows] = list(map(_bounded, found.values))
            self._written[col] = values.tolist()
            self.known[rows, col], self.texts[rows, col] = True, False

    def _covered(self, shape: tuple[int, ...]) -> Mask:
        """Mask of cells that a filled merged area covers."""
        covered = np.zeros(shape, dtype=np.bool_)
        columns = range(self._area.left, self._area.right + 1)
        row, col, top, left = self._cells.merged_in(self._data, columns).T
        held = self._cells.kinds[top, left] != Kind.EMPTY
        covered[row - self._data.start, col - self._area.left] = held
        return covered

    def _value(self, row: int, col: int) -> Value:
        return self._cells.value(self._data.start + row, self._area.left + col)

    @cached_property
    def of_numbers(self) -> Mask:
        """Mask of the columns with more numbers than other values."""
        counts = self.numbers.sum(axis=0)
        return np.asarray((counts > 0) & (2 * counts > self.filled.sum(axis=0)))

    @cached_property
    def keys(self) -> Mask:
        """Mask of the columns of texts or dates that most rows fill, and of those that count."""
        rows = max(int(self.filled.any(axis=1).sum()), 1)
        keys = ~self.of_numbers & (self.filled.sum(axis=0) >= FILLED * rows)
        keys[self._counting] = True
        return np.asarray(keys)

    @cached_property
    def gaps(self) -> Mask:
        """Mask of rows with numbers that leave a key column empty."""
        return np.asarray((~self.filled[:, self.keys]).any(axis=1) & self.numbers.any(axis=1))

    @cached_property
    def bare(self) -> Mask:
        """Mask of rows with numbers and nothing else, in a table with key columns."""
        others = (self.filled & ~self.numbers).any(axis=1)
        return np.asarray(self.numbers.any(axis=1) & ~others & self.keys.any())

    @cached_property
    def counted_on(self) -> Mask:
        """Mask of rows that begin or go on with the numbers of a column that counts the rows."""
        going = np.zeros(len(self.known), dtype=np.bool_)
        for col in self._counting:
            rows = np.flatnonzero(self.known[:, col])
            numbers = np.array(self._column(col, rows))
            ones = np.diff(numbers) == 1
            going[rows[1:][ones]] = True
            going[rows[:1]] |= ones[:1]
        return going

    @cached_property
    def _counting(self) -> list[int]:
        """Columns whose numbers go up by one from row to row."""
        found = []
        for col in np.flatnonzero(self.of_numbers).tolist():
            rows = np.flatnonzero(self.known[:, col])
            if len(rows) < 3:
                continue
            steps = np.diff(np.array(self._column(col, rows)))
            if (steps == 1).sum() >= COUNTING * len(steps):
                found.append(col)
        return found

    @cached_property
    def values(self) -> Vector:
        """Numbers of the fullest columns of numbers, (rows, columns); NaN for other cells.

        Columns that count the rows are left out, since nobody adds them up.
        """
        most = max(PIVOTS, MAX_NUMBERS // len(self._data))
        chosen = self.of_numbers.copy()
        chosen[self._counting] = False
        order = np.argsort(-self.known.sum(axis=0) * chosen, kind="stable")
        columns = np.sort(order[: min(most, int(chosen.sum()))])
        found = np.full((len(self._data), len(columns)), np.nan)
        for place, col in enumerate(columns.tolist()):
            rows = np.flatnonzero(self.known[:, col])
            found[rows, place] = self._column(col, rows)
        return found

    @cached_property
    def steps(self) -> Vector:
        """The smallest step of each column of `values`, such as .01; 0 for more than 4 decimals."""
        found = np.zeros(self.values.shape[1])
        for place in range(self.values.shape[1]):
            numbers = self.values[:, place]
            numbers = numbers[~np.isnan(numbers)]
            for decimals in range(MAX_DECIMALS + 1):
                if np.array_equal(np.round(numbers, decimals), numbers):
                    found[place] = 10.0**-decimals
                    break
        return found

    def _column(self, col: int, rows: NDArray[np.intp]) -> list[float]:
        if col in self._written:
            return [self._written[col][row] for row in rows.tolist()]
        start = self._data.start - self._cells.start[0]
        right = self._area.left + col - self._cells.start[1]
        lines = self._cells.rows
        return [_bounded(lines[row + start][right]) for row in rows.tolist()]

    def names(self, row: int) -> Iterator[str]:
        """Yield the texts of a row."""
        for col in np.flatnonzero(self.texts[row]).tolist():
            text = self._value(row, col)
            if isinstance(text, str) and text.strip():
                yield text.strip()

    def labelled(self) -> Iterator[tuple[int, TotalLabel]]:
        """Yield rows whose label, in one of the first columns, speaks of a total.

        A statistic is named by the first text of its row alone. A text that stands in the next row,
        too, is a category.
        """
        first = self.texts.argmax(axis=1)
        for col in range(min(LABELS, self.texts.shape[1])):
            for row in np.flatnonzero(self.texts[:, col]).tolist():
                text = self._value(row, col)
                label = total_label(text.strip()) if isinstance(text, str) else None
                if label is None or (label.statistic and first[row] != col):
                    continue
                near = (each for each in (row - 1, row + 1) if 0 <= each < len(self.texts))
                if all(self._value(each, col) != text for each in near):
                    yield row, label


def _bounded(value: Value) -> float:
    """A number, or the seconds of a duration; NaN for one so large that sums would overflow."""
    if isinstance(value, dt.timedelta):
        return value.total_seconds()
    if isinstance(value, (int, float)) and -LARGEST < value < LARGEST:
        return float(value)
    return math.nan


def _inside(span: tuple[int, int], row: int, area: Area, data: range) -> bool:
    """True if a formula in a row sums up other rows of the same table, perhaps its header, too."""
    top, bottom = span
    return (
        area.top <= top <= bottom < data.stop and bottom >= data.start and not top <= row <= bottom
    )
