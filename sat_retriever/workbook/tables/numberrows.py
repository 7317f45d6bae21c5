"""The rows of a table as arrays of numbers, labels and gaps, and their statistics."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.area import Area
from sat_retriever.text.numbers import is_number, numbers_of
from sat_retriever.text.totalwords import Statistic, TotalLabel, total_label
from sat_retriever.workbook.tables.sums import PIVOTS, Vector
from sat_retriever.workbook.values.cells import Cells, Kind
from sat_retriever.workbook.values.grid import Value

# Numbers of a table that are added up; columns with fewer numbers are left out first.
MAX_NUMBERS = 4_000_000
LARGEST = 1e200
FEW = 4  # first texts of a column that tell whether it may hold numbers
LABELS = 8  # first columns in which a row's label is looked for
FILLED = 0.5  # least share of rows that fill a column whose gap then speaks for a total
COUNTERS = 4  # first columns of a table that may count its rows
COUNTING = 0.8  # least share of steps by one of a column that numbers its rows
MAX_DECIMALS = 6  # most decimals of a column whose sums may differ by what rounding takes

Mask = NDArray[np.bool_]
_IS_NUMBER = np.isin(np.arange(len(Kind)), (Kind.INTEGER, Kind.NUMBER, Kind.TIME))
ROUGHLY = 0.005  # relative error of a statistic, which is often rounded
AGREEING = 0.5
LEAST = 3  # least records of which a row is a statistic


class NumberRows:
    """The rows of a table below its header; rows and columns count from the first of its data.

    Masks are (rows, columns): cells with a number that is `known`; the same with formulas whose
    value is not saved (`numbers`); cells with a value, or covered by a merged label (`filled`);
    formulas that sum up other rows of the table (`summed`).
    """

    def __init__(self, cells: Cells, area: Area, data: range) -> None:
        self._cells, self._area, self._data = cells, area, data
        part = cells.kinds[data.start : data.stop, area.left : area.right + 1]
        self.known = _IS_NUMBER[part]
        self.texts = part == Kind.TEXT
        self._read: dict[int, Vector] = {}
        written = (self.texts.sum(axis=0) > 1) & ~self.known.any(axis=0)
        for col in np.flatnonzero(written[1:]).tolist():
            self._read_texts(col + 1)
        self.numbers = self.known | (part == Kind.UNKNOWN)
        self.filled = (part != Kind.EMPTY) | self._covered(part.shape)
        self.summed = np.zeros(part.shape, dtype=np.bool_)
        for (row, col), span in cells.sums.items():
            if row in data and area.left <= col <= area.right and _inside(span, row, area, data):
                self.summed[row - data.start, col - area.left] = True

    def _read_texts(self, col: int) -> None:
        """Take the texts of a column as numbers if all of them are."""
        rows = np.flatnonzero(self.texts[:, col])
        if not all(is_number(str(text)) for text in self._held(col, rows[:FEW])):
            return  # most columns of texts
        texts = list(map(str, self._held(col, rows)))
        found = numbers_of(texts)
        if found is not None:
            self._read[col] = np.array(list(map(_bounded, found.values)))
            self.known[rows, col], self.texts[rows, col] = True, False

    def _covered(self, shape: tuple[int, ...]) -> Mask:
        covered = np.zeros(shape, dtype=np.bool_)
        columns = self._area.columns
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
            ones = np.diff(self._column(col)) == 1
            going[rows[1:][ones]] = True
            going[rows[:1]] |= ones[:1]
        return going

    @cached_property
    def _counting(self) -> list[int]:
        found = []
        for col in np.flatnonzero(self.of_numbers[:COUNTERS]).tolist():
            steps = np.diff(self._column(col))
            if len(steps) > 1 and (steps == 1).sum() >= COUNTING * len(steps):
                found.append(col)
        return found

    @cached_property
    def values(self) -> Vector:
        """Numbers of the fullest columns of numbers, (rows, columns); NaN for other cells.

        Columns that count the rows are left out, since nobody adds them up.
        """
        return self.fullest(max(PIVOTS, MAX_NUMBERS // len(self._data)))

    def fullest(self, most: int) -> Vector:
        """The same of at most some columns."""
        chosen = self.of_numbers.copy()
        chosen[self._counting] = False
        order = np.argsort(-self.known.sum(axis=0) * chosen, kind="stable")
        columns = np.sort(order[: min(most, int(chosen.sum()))])
        found = np.full((len(self._data), len(columns)), np.nan)
        for place, col in enumerate(columns.tolist()):
            found[self.known[:, col], place] = self._column(col)
        return found

    @cached_property
    def steps(self) -> Vector:
        """The smallest step of each column of `values`, such as .01; 0 for more than 4 decimals."""
        found = np.zeros(self.values.shape[1])
        left = np.arange(len(found))
        numbers = np.nan_to_num(self.values)
        for decimals in range(MAX_DECIMALS + 1):
            whole = (np.round(numbers, decimals) == numbers).all(axis=0)
            found[left[whole]] = 10.0**-decimals
            left, numbers = left[~whole], numbers[:, ~whole]
        return found

    def _column(self, col: int) -> Vector:
        if col not in self._read:
            held = self._held(col, np.flatnonzero(self.known[:, col]))
            try:
                numbers = np.array(held, dtype=np.float64)
            except (TypeError, ValueError, OverflowError):  # durations, times, huge integers
                numbers = np.array(list(map(_bounded, held)))
            self._read[col] = np.where(np.abs(numbers) < LARGEST, numbers, np.nan)
        return self._read[col]

    def _held(self, col: int, rows: NDArray[np.intp]) -> list[Value]:
        start = self._data.start - self._cells.start[0]
        right = self._area.left + col - self._cells.start[1]
        lines = self._cells.rows
        return [lines[row + start][right] for row in rows.tolist()]

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
        for col in np.flatnonzero(self.texts[:, :LABELS].any(axis=0)).tolist():
            rows = np.flatnonzero(self.texts[:, col])
            texts = self._held(col, rows)
            said = {text: total_label(text) for text in set(texts) if isinstance(text, str)}
            if not any(said.values()):
                continue  # most columns
            for row, text in zip(rows.tolist(), texts, strict=True):
                label = said[text] if isinstance(text, str) else None
                if label is None or (label.statistic and self.texts[row, :col].any()):
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


def is_statistic(rows: NumberRows, row: int, records: Sequence[int], label: TotalLabel) -> bool:
    """True if most of a row's numbers are the statistic of the records that its label names.

    The largest and the smallest value are those of a record, too, so such a row needs a gap, or two
    columns that agree.
    """
    if not rows.known[row].any():
        return bool(rows.numbers[row].any())  # formulas without a saved value
    values, own = rows.values[records], rows.values[row]
    if len(records) < LEAST:
        return False
    columns = ~np.isnan(own) & ~np.isnan(values).all(axis=0)
    if not columns.any():
        return False
    values, own = values[:, columns], own[columns]
    told = _statistic(values, label.kind)
    close = np.abs(own - told) <= np.maximum(ROUGHLY * np.abs(told), 0.5 * rows.steps[columns])
    extreme = label.kind in (Statistic.LARGEST, Statistic.SMALLEST)
    enough = not extreme or bool(rows.gaps[row]) or int(close.sum()) > 1
    return bool(close.mean() >= AGREEING) and enough


def _statistic(values: Vector, kind: Statistic | None) -> Vector:
    with np.errstate(invalid="ignore", over="ignore"):
        match kind:
            case Statistic.MEDIAN:
                found = np.nanmedian(values, axis=0)
            case Statistic.LARGEST:
                found = np.nanmax(values, axis=0)
            case Statistic.SMALLEST:
                found = np.nanmin(values, axis=0)
            case Statistic.COUNT:
                found = (~np.isnan(values)).sum(axis=0).astype(np.float64)
            case Statistic.DEVIATION:
                found = np.nanstd(values, axis=0, ddof=min(1, len(values) - 1))
            case _:
                found = np.nanmean(values, axis=0)
    return np.asarray(found, dtype=np.float64)
