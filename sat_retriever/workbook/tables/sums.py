"""Sums of the records above each row of a table, and formulas that sum up their own column."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.area import area_of, split_ref
from sat_retriever.records.structure import RawFormula

PIVOTS = 4  # columns of numbers in which every row is compared with the sum of the rows above
# Last totals and sections from which a sum may begin, beside the table's first record.
BOUNDARIES = 8
# Least share of a row's numbers that must be sums if a word or a gap speaks for a total, too.
AGREEING = 0.5
EXACT = 1e-9  # relative error of sums of floats
# Most rows of which every column of numbers is compared; `PIVOTS` of them in longer tables.
ALL = 2_000

Vector = NDArray[np.float64]
MAX_SUMS = 50_000
_CELL = r"\$?([A-Z]{1,3})\$?([0-9]{1,7})"
_RANGE = re.compile(rf"(?<![A-Za-z0-9!$:]){_CELL}(?::{_CELL})?(?![A-Za-z0-9(:!])")
_OWN = re.compile(r"\0(?<![A-Za-z0-9!:].)(?<![A-Za-z0-9!$:]\$.)\$?[0-9]")  # \0 for the column
_SUMMING = re.compile(r"(?:SUM|SUBTOTAL|AGGREGATE|SUMIFS?)\(")
_ADDED = re.compile(r"\+?\$?[A-Z]{1,3}\$?[0-9]{1,7}(?:\+\$?[A-Z]{1,3}\$?[0-9]{1,7}){1,40}")
_OTHER = re.compile(r"[/*^-]")  # a share or a difference is no sum
_DIGITS = "0123456789"
MAX_FORMULA = 300  # characters of a formula that are looked at; sums of a column are short

# First and last row that a formula sums up, by its row and column; all 1-based.
Sums = dict[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Start:
    """A place from which a sum may begin: sums and counts of records above it, by column."""

    sums: Vector
    numbers: Vector


class RunningSums:
    """Sums of the records above each row, from every place where a sum may begin.

    `values` are the numbers, (rows, columns), NaN for other cells; `kept` has zeros for these, and
    for rows that are no records.
    """

    def __init__(self, values: Vector, others: Collection[int]) -> None:
        self.values = values
        self.kept = np.nan_to_num(values)
        self.kept[list(others)] = 0.0
        rows, columns = values.shape
        self._sums = np.zeros((rows + 1, columns))  # of all rows above, totals too
        np.cumsum(self.kept, axis=0, out=self._sums[1:])
        self._numbers = np.zeros((rows + 1, columns))
        known = self.kept != 0  # zeros make no sum
        np.cumsum(known, axis=0, dtype=np.float64, out=self._numbers[1:])
        self._left = Start(self._sums[0], self._numbers[0])  # of the totals among them
        self._starts = [self._left]
        fullest = np.argsort(-self._numbers[-1], kind="stable")
        few = rows <= ALL or columns <= PIVOTS
        self._pivots = pivots = slice(None) if few else fullest[:PIVOTS]
        self._compared = values[:, pivots], self._sums[:, pivots], self._numbers[:, pivots]
        self._skipped = np.zeros(len(values), dtype=np.bool_)
        self._skipped[list(others)] = True

    def leave(self, row: int) -> None:
        """Count a row as a total: records below do not include it."""
        own = self.values[row]
        self._left = Start(
            self._left.sums + np.nan_to_num(own),
            self._left.numbers + (np.nan_to_num(own) != 0),
        )

    def begin(self, row: int) -> None:
        """Let sums begin below a row."""
        start = Start(
            self._sums[row + 1] - self._left.sums, self._numbers[row + 1] - self._left.numbers
        )
        self._starts = [self._starts[0], *self._starts[1:][1 - BOUNDARIES :], start]

    def since(self, row: int) -> Iterator[tuple[Vector, Vector]]:
        """Yield sums and numbers of the records above a row, the latest beginning first."""
        sums, numbers = self._sums[row] - self._left.sums, self._numbers[row] - self._left.numbers
        for start in reversed(self._starts):
            yield sums - start.sums, numbers - start.numbers

    def next_agreeing(self, start: int, stop: int) -> int | None:
        """The next row of some with a number that is one of the sums above it; None without one."""
        values, all_sums, all_numbers = self._compared
        left, left_numbers = self._left.sums[self._pivots], self._left.numbers[self._pivots]
        width = 64
        while start < stop:
            end = min(stop, start + width)
            own, above = values[start:end], all_sums[start:end] - left
            hit = np.zeros(end - start, dtype=np.bool_)
            for each in self._starts:
                sums = above - each.sums[self._pivots]
                close = np.abs(own - sums) <= np.maximum(np.abs(sums), 1e-12) * EXACT
                if close.any():
                    numbers = all_numbers[start:end] - left_numbers - each.numbers[self._pivots]
                    hit |= (close & (numbers > 1) & (own != 0)).any(axis=1)
            hit &= ~self._skipped[start:end]
            if hit.any():
                return start + int(hit.argmax())
            start, width = end, 2 * width
        return None


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the numbers of a row agree with sums."""

    half: bool = False  # True if half of them or more do
    all: bool = False  # True if all do
    columns: int = 0  # number of them that do
    records: int = 0  # most records that one of these sums adds up; zeros do not count
    digits: float = 0.0  # decimal digits of the numbers that agree


def agreement(own: Vector, sums: Vector, addends: Vector, slack: Vector) -> Agreement:
    """How far a row agrees with sums; columns that are all zero say nothing.

    Its `own` numbers are (columns,), NaN for other cells; `slack` is beside differences of floats.
    """
    compared = ~np.isnan(own) & ((own != 0) | (sums != 0))
    error = np.maximum(np.abs(sums), 1e-12) * EXACT + slack
    close = compared & (np.abs(own - sums) <= error)
    count, of = int(close.sum()), int(compared.sum())
    if not count:
        return Agreement()
    digits = sum(map(_digits, own[close].tolist()))
    return Agreement(count >= AGREEING * of, count == of, count, int(addends[close].max()), digits)


def _digits(value: float) -> float:
    """Decimal digits of a number without zeros at its ends, to 15 digits.

    >>> round(_digits(180.0), 2), round(_digits(-12.25), 2)
    (1.28, 3.09)
    """
    mantissa = f"{abs(value):.14e}".partition("e")[0].replace(".", "").rstrip("0")
    return math.log10(int(mantissa or "0") + 1)


def column_sums(formulas: Sequence[RawFormula]) -> Sums:
    """Cells whose formula sums up cells of their own column: SUM, SUBTOTAL, AGGREGATE, or `+`.

    A shared formula that fills a row counts for each of its cells.

    >>> column_sums([("C4", "SUBTOTAL(9,C2:C3)", None, "normal"), ("C9", "C4+C8", None, "normal")])
    {(4, 3): (2, 3), (9, 3): (4, 8)}
    >>> column_sums([("D4", "SUM(A4:C4)", None, "normal"), ("D5", "SUM(C2:C3)", None, "normal")])
    {}
    """
    found: Sums = {}
    for cell, text, filled, _ in formulas:
        summing = "SUM" in text or "SUBTOTAL(" in text or "AGGREGATE(" in text
        if not summing and ("+" not in text or "(" in text):
            continue  # most formulas
        column = cell.rstrip(_DIGITS)
        if len(text) > MAX_FORMULA or not _OWN.search(text.replace(column, "\0")):
            continue
        span, place = _span(text, column), split_ref(cell)
        if span is None or place is None:
            continue
        if len(found) >= MAX_SUMS:
            break
        area = area_of(filled) if filled else None
        last = area.right if area is not None and area.top == area.bottom == place[0] else place[1]
        for col in range(place[1], min(last, place[1] + MAX_SUMS - len(found)) + 1):
            found[place[0], col] = span
    return found


def _span(text: str, column: str) -> tuple[int, int] | None:
    added = "(" not in text and "+" in text and _ADDED.fullmatch(text)
    if not (added or _SUMMING.search(text)) or _OTHER.search(text):
        return None
    spans = [
        (int(top), int(bottom or top))
        for left, top, right, bottom in _RANGE.findall(text)
        if left == column and right in ("", column)
    ]
    if not spans or (len(spans) == 1 and spans[0][0] == spans[0][1]):
        return None
    rows = [row for span in spans for row in span]
    return min(rows), max(rows)
