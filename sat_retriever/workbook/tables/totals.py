"""Rows of a table that sum up other rows: by formulas and arithmetic first, by words second."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.area import Area
from sat_retriever.records.leftout import LeftOutReason
from sat_retriever.text.totalwords import TotalLabel, total_label
from sat_retriever.workbook.tables.sums import AGREEING, PIVOTS, RunningSums, Vector, agreeing
from sat_retriever.workbook.values.cells import Cells, Kind
from sat_retriever.workbook.values.grid import Value

MAX_NUMBERS = 4_000_000
"""Numbers of a table that are added up; columns with fewer numbers are left out first."""
LARGEST = 1e200
LABELS = 4
"""First columns in which a row's label is looked for."""
LAST = 64
"""Last records that the label of a total may be about, where no sum begins."""
FILLED = 0.5
"""Least share of rows that fill a column whose gap then speaks for a total."""
ROUNDED = 0.005
"""Relative error of a mean, which is often rounded."""
MAX_LABELLED = 5_000
"""Rows with a label of a total that are looked at one by one."""
DIGITS, DIGITS_GAP, DIGITS_LAST = 4.0, 2.0, 1.5
"""Least decimal digits in which sums agree with a row: without anything else that speaks for it,
with a gap, and in the last row if three records or more add up to it. Few digits agree by chance:
3 is 1 + 2."""


@dataclass(slots=True)
class Found:
    """Rows of one table, by 0-based grid row.

    Attributes:
        totals: Rows that are totals or subtotals.
        doubtful: Rows that look like one but do not add up, and stay records.
    """

    totals: dict[int, LeftOutReason] = field(default_factory=dict)
    doubtful: list[int] = field(default_factory=list)


def find_totals(
    cells: Cells, area: Area, data: range, others: Mapping[int, LeftOutReason]
) -> Found:
    """Totals and subtotals among a table's rows.

    A row is one if formulas in most of its numbers sum up cells above, or if the numbers are sums
    of the records above: from the first one, or from a total or a section on. Where a label or a
    gap in a column that records fill speaks for a total, half of the numbers are enough. Where
    neither does, all must agree, in so many digits that chance is unlikely. A label alone decides
    only about rows without a known number, and about the last ones.

    Cost is linear in the number of cells.

    Args:
        cells: The sheet.
        area: The table.
        data: Its grid rows below the header.
        others: Rows that are no records for another reason.
    """
    rows = _Rows(cells, area, data)
    return _Search(rows, others).found() if len(data) > 1 else Found()


class _Rows:
    """The rows of a table as arrays; indices count from the first row and column of its data."""

    def __init__(self, cells: Cells, area: Area, data: range) -> None:
        self.cells, self.area, self.data = cells, area, data
        part = cells.kinds[data.start : data.stop, area.left : area.right + 1]
        self.known = (part == Kind.INTEGER) | (part == Kind.NUMBER)
        self.numbers = self.known | (part == Kind.UNKNOWN)
        self.texts = part == Kind.TEXT
        self.filled = (part != Kind.EMPTY) | self._covered(part.shape)
        self.summed = np.zeros(part.shape, dtype=np.bool_)
        for (row, col), span in cells.sums.items():
            if row in data and area.left <= col <= area.right and _inside(span, row, data):
                self.summed[row - data.start, col - area.left] = True

    def _covered(self, shape: tuple[int, ...]) -> NDArray[np.bool_]:
        """Mask of cells that a filled merged area covers."""
        covered = np.zeros(shape, dtype=np.bool_)
        columns = range(self.area.left, self.area.right + 1)
        row, col, top, left = self.cells.merged_in(self.data, columns).T
        held = self.cells.kinds[top, left] != Kind.EMPTY
        covered[row - self.data.start, col - self.area.left] = held
        return covered

    @cached_property
    def of_numbers(self) -> NDArray[np.bool_]:
        """Mask of the columns with more numbers than other values."""
        counts = self.numbers.sum(axis=0)
        return np.asarray((counts > 0) & (2 * counts > self.filled.sum(axis=0)))

    @cached_property
    def gaps(self) -> NDArray[np.bool_]:
        """Mask of rows with numbers that leave a column of texts or dates empty that most fill."""
        rows = max(int(self.filled.any(axis=1).sum()), 1)
        keys = ~self.of_numbers & (self.filled.sum(axis=0) >= FILLED * rows)
        return np.asarray((~self.filled[:, keys]).any(axis=1) & self.numbers.any(axis=1))

    @cached_property
    def values(self) -> Vector:
        """Numbers of the fullest columns of numbers, (rows, columns); NaN for other cells."""
        most = max(PIVOTS, MAX_NUMBERS // len(self.data))
        order = np.argsort(-self.known.sum(axis=0) * self.of_numbers, kind="stable")
        columns = np.sort(order[: min(most, int(self.of_numbers.sum()))]) + self.area.left
        found = np.full((len(self.data), len(columns)), np.nan)
        for place, col in enumerate(columns.tolist()):
            rows = np.flatnonzero(self.known[:, col - self.area.left])
            found[rows, place] = self._column(col, rows)
        return found

    def _column(self, col: int, rows: NDArray[np.intp]) -> list[float]:
        start, right = self.data.start - self.cells.start[0], col - self.cells.start[1]
        lines = self.cells.rows
        return [_bounded(lines[row + start][right]) for row in rows.tolist()]

    def label(self, row: int) -> str:
        """The first text of a row."""
        for col in np.flatnonzero(self.texts[row]).tolist():
            text = self.cells.value(self.data.start + row, self.area.left + col)
            if isinstance(text, str) and text.strip():
                return text.strip()
        return ""

    def labelled(self) -> Iterator[tuple[int, TotalLabel]]:
        """Yield rows whose label, in one of the first columns, speaks of a total."""
        for col in range(min(LABELS, self.texts.shape[1])):
            for row in np.flatnonzero(self.texts[:, col]).tolist():
                text = self.cells.value(self.data.start + row, self.area.left + col)
                label = total_label(text.strip()) if isinstance(text, str) else None
                if label is not None:
                    yield row, label


def _bounded(value: Value) -> float:
    """A number; NaN for one so large that sums would overflow."""
    if isinstance(value, (int, float)) and -LARGEST < value < LARGEST:
        return float(value)
    return math.nan


def _inside(span: tuple[int, int], row: int, data: range) -> bool:
    """True if a formula in a row sums up other rows of the same table."""
    top, bottom = span
    return data.start <= top <= bottom < data.stop and not top <= row <= bottom


class _Search:
    """One pass over the rows from top to bottom, with the sums of the records so far."""

    def __init__(self, rows: _Rows, others: Mapping[int, LeftOutReason]) -> None:
        first = rows.data.start
        self.rows = rows
        self.others = {row - first: reason for row, reason in others.items() if row in rows.data}
        self.labels: dict[int, TotalLabel] = {}
        for row, label in rows.labelled():
            self.labels.setdefault(row, label)
        present = rows.filled.any(axis=1)
        present[list(self.others)] = False
        self.present = np.flatnonzero(present).tolist()
        self.totals: dict[int, LeftOutReason] = {}
        self.doubtful: list[int] = []

    def found(self) -> Found:
        """The totals, and what is doubtful, as grid rows."""
        if not self.rows.of_numbers.any() or len(self.present) < 2:
            return Found()
        self._sums = RunningSums(self.rows.values, self.others)
        self._first_row()
        self._downwards()
        self._last_rows()
        start = self.rows.data.start
        records = (each for each in self.present if each not in self.totals)
        self._last_record = max(records, default=0)
        totals = {start + row: self._reason(row) for row in sorted(self.totals)}
        return Found(totals, [start + row for row in sorted(set(self.doubtful))])

    def _first_row(self) -> None:
        """Take the first row as a total if it sums up all rows below."""
        first, *below = self.present
        label = self.labels.get(first)
        speaks = self.rows.gaps[first] or (label is not None and not label.named)
        if not speaks and not self.rows.summed[first].any():
            return
        values = np.nan_to_num(self.rows.values[below])
        agrees, _, count, _ = agreeing(
            self.rows.values[first], values.sum(axis=0), (values != 0).sum(axis=0)
        )
        if self._by_formula(first) or (agrees and count > 1):
            self.totals[first] = LeftOutReason.TOTAL
            self._sums.leave(first)

    def _downwards(self) -> None:
        """Compare each row that may be a total with the sums of the records above it."""
        sections = {row for row, why in self.others.items() if why is LeftOutReason.SECTION}
        marked = sorted({*sections, *self._candidates()} - self.totals.keys())
        position = 0
        for row in [*marked, len(self.rows.data)]:
            while (flagged := self._sums.next_agreeing(position, row)) is not None:
                self._judge(flagged)
                position = flagged + 1
            if row in sections:
                self._sums.begin(row)
            elif row < len(self.rows.data):
                self._judge(row)
            position = row + 1

    def _candidates(self) -> Iterator[int]:
        """Yield rows whose label or formulas speak of a total."""
        yield from list(self.labels)[:MAX_LABELLED]
        yield from np.flatnonzero(self.rows.summed.any(axis=1)).tolist()

    def _judge(self, row: int) -> None:
        """Decide about one row, by formulas, sums and its label."""
        if row in self.others or row in self.totals:
            return
        label = self.labels.get(row)
        if self._by_formula(row) or self._adds_up(row, label):
            self._take(row, label)
        elif label is not None and not self.rows.known[row].any():
            saved = self.rows.numbers[row].any()  # formulas without a saved value
            if saved and (self.rows.gaps[row] or not (label.named or label.weak)):
                self._take(row, label)

    def _take(self, row: int, label: TotalLabel | None) -> None:
        part = label is not None and (label.part or label.named)
        self.totals[row] = LeftOutReason.SUBTOTAL if part else LeftOutReason.TOTAL
        self._sums.leave(row)
        self._sums.begin(row)

    def _adds_up(self, row: int, label: TotalLabel | None) -> bool:
        own = self.rows.values[row]
        for sums, addends in self._sums.since(row):
            agrees, all_agree, count, digits = agreeing(own, sums, addends)
            if label is not None and agrees and not label.statistic:
                return True
            if agrees and self.rows.gaps[row] and count > 1 and digits >= DIGITS_GAP:
                return True
            if all_agree and count > 2 and digits >= DIGITS:
                return True
            last = row == self.present[-1] and count > 2 and digits >= DIGITS_LAST
            if all_agree and last and self._sums.from_first():
                return True
        return label is not None and not label.statistic and self._sums_last(row)

    def _sums_last(self, row: int) -> bool:
        """True if a row sums up just the last records above it, as in statements."""
        values = self._sums.kept
        sums, addends = np.zeros(values.shape[1]), np.zeros(values.shape[1])
        for above in range(row - 1, max(row - LAST, 0) - 1, -1):
            if above in self.totals or above in self.others:
                break
            sums, addends = sums + values[above], addends + (values[above] != 0)
            _, all_agree, count, digits = agreeing(self.rows.values[row], sums, addends)
            if all_agree and count > 1 and digits >= DIGITS_GAP:
                return True
        return False

    def _by_formula(self, row: int) -> bool:
        numbers = int(self.rows.numbers[row].sum())
        return self.rows.summed[row].any() and 2 * int(self.rows.summed[row].sum()) >= numbers

    def _last_rows(self) -> None:
        """Take the last rows as totals by their labels alone; those further up are doubtful."""
        ended = False
        for row in reversed(self.present):
            label = self.labels.get(row)
            if row in self.totals:
                continue
            if label is None:
                ended = True
            elif not (label.named or label.weak) and self.rows.numbers[row].any():
                if ended or not self._says(row, label):
                    self.doubtful.append(row)
                else:
                    self._take(row, label)
            else:
                ended = True

    def _says(self, row: int, label: TotalLabel) -> bool:
        """True if a last row's label decides: it has gaps, or nothing but the label."""
        if label.statistic:
            return self._is_statistic(row)
        return (
            bool(self.rows.gaps[row])
            or int((~self.rows.numbers & self.rows.filled)[row].sum()) == 1
        )

    def _is_statistic(self, row: int) -> bool:
        """True if most of a row's numbers are the mean, largest or smallest of the records."""
        records = [each for each in self.present if each != row and each not in self.totals]
        values, own = self.rows.values[records], self.rows.values[row]
        columns = ~np.isnan(own) & ~np.isnan(values).all(axis=0)
        if not columns.any():
            return not self.rows.known[row].any()
        values, own = values[:, columns], own[columns]
        known = (np.nanmean(values, axis=0), np.nanmax(values, axis=0), np.nanmin(values, axis=0))
        close = [np.abs(own - each) <= ROUNDED * np.abs(each) for each in known]
        return bool(max(float(each.mean()) for each in close) >= AGREEING)

    def _reason(self, row: int) -> LeftOutReason:
        """Total or subtotal: what is a total of all before further records only says so itself."""
        reason, label = self.totals[row], self.labels.get(row)
        inside = self.present[0] < row < self._last_record
        if inside and (label is None or label.named):
            return LeftOutReason.SUBTOTAL
        return reason
