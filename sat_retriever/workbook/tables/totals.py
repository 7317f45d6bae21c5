"""Rows of a table that sum up other rows: by formulas and arithmetic first, by words second."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sat_retriever.records.area import Area
from sat_retriever.records.sheets import LeftOutReason
from sat_retriever.text.totalwords import TotalLabel
from sat_retriever.workbook.tables.numberrows import NumberRows, is_statistic
from sat_retriever.workbook.tables.sums import PIVOTS, Agreement, RunningSums, Vector, agreement
from sat_retriever.workbook.values.cells import Cells

LAST = 64  # records above or below a row that a label of a total may be about, where no sum begins
NEAR = 3  # rows above a total of one record in which its name is looked for
ROUNDED = 1e-5  # relative rounding of numbers that have more decimals than can be told
CLOSE = 1e-8  # relative difference of sums that are compared more closely
MAX_LABELLED = 5_000  # rows with a label of a total that are looked at one by one
# Least decimal digits in which a row agrees with a sum: where nothing else speaks for a total; to
# be told as doubtful; and with a gap or a word. Few digits agree by chance: 3 is 1 + 2.
DIGITS, DIGITS_LIKELY, DIGITS_SOME = 4.0, 3.0, 1.5


@dataclass(slots=True)
class Found:
    """Rows of one table, by 0-based grid row."""

    totals: dict[int, LeftOutReason] = field(default_factory=dict)
    # Rows that look like one, and stay records; and totals by their label alone, whose numbers do
    # not add up
    doubtful: list[int] = field(default_factory=list)


def find_totals(
    cells: Cells, area: Area, data: range, others: Mapping[int, LeftOutReason]
) -> Found:
    """Totals and subtotals among a table's rows.

    A row is one if formulas in most of its numbers sum up cells of their columns, or if its numbers
    are sums of the records above: from the first one, or from a total or a heading on. Where a
    label or a gap in a column that records fill speaks for a total, half of the numbers are enough,
    and a label bears with rounding. Where neither does, all must agree, in several columns, and in
    so many digits that chance is unlikely. A label alone decides only about rows without a known
    number, and about the last ones. A row that goes on with the numbers of a column that counts the
    records is a record.

    Cost is linear in the number of cells.
    """
    if len(data) < 2:
        return Found()
    return _Search(NumberRows(cells, area, data), data.start, others).found()


class _Search:
    """One pass over the rows from top to bottom, with the sums of the records so far."""

    def __init__(self, rows: NumberRows, first: int, others: Mapping[int, LeftOutReason]) -> None:
        self.rows, self.first = rows, first
        inside = range(first, first + len(rows.filled))
        self.others = {row - first: why for row, why in others.items() if row in inside}
        self.labels: dict[int, TotalLabel] = {}
        for row, label in rows.labelled():
            self.labels.setdefault(row, label)
        present = rows.filled.any(axis=1)
        present[list(self.others)] = False
        self.present = np.flatnonzero(present).tolist()
        self.totals: dict[int, LeftOutReason] = {}
        self.doubtful: set[int] = set()

    def found(self) -> Found:
        if not self.rows.numbers.any() or len(self.present) < 2:
            return Found()
        if not self._is_likely():
            return Found()
        self._sums = RunningSums(self.rows.values, self.others)
        self._first_row()
        self._downwards()
        self._last_rows()
        wide = self.rows.filled.sum(axis=1) > 1  # a single value below may be a remark
        records = (each for each in self.present if each not in self.totals and wide[each])
        self._last_record = max(records, default=0)
        if self._last_record == 0 and self.present[0] in self.totals:
            return Found()  # a list of totals is a list of records
        totals = {self.first + row: self._reason(row) for row in sorted(self.totals)}
        return Found(totals, [self.first + row for row in sorted(self.doubtful)])

    def _is_likely(self) -> bool:
        """True if a label, a formula or a sum in one of the fullest columns speaks for a total."""
        if self.labels or self.rows.summed.any() or self.rows.gaps[self.present[0]]:
            return True
        if LeftOutReason.SECTION in self.others.values():
            return True
        values = self.rows.fullest(PIVOTS)
        sums, none = RunningSums(values, self.others), np.zeros(values.shape[1])
        row = sums.next_agreeing(0, len(values))
        while row is not None:
            found = [agreement(values[row], *each, none) for each in sums.since(row)]
            if any(each.half and self.rows.gaps[row] for each in found):
                return True
            if any(each.all and each.records > 2 and each.digits >= DIGITS_SOME for each in found):
                return True
            row = sums.next_agreeing(row + 1, len(values))
        return False

    def _first_row(self) -> None:
        """Take the first row as a total if it sums up all rows below."""
        first, *below = self.present
        label = self.labels.get(first)
        speaks = self.rows.gaps[first] or (label is not None and not label.named)
        if self.rows.counted_on[first] or not (speaks or self.rows.summed[first].any()):
            return
        values = self._sums.kept[below]
        found = self._agreement(first, values.sum(axis=0), (values != 0).sum(axis=0), label)
        if self._by_formula(first) or (found.half and found.records > 1):
            self.totals[first] = LeftOutReason.TOTAL
            self._sums.leave(first)

    def _downwards(self) -> None:
        sections = {row for row, why in self.others.items() if why is LeftOutReason.SECTION}
        labelled = list(self.labels)[:MAX_LABELLED]
        summed = np.flatnonzero(self.rows.summed.any(axis=1)).tolist()
        marked = sorted({*sections, *labelled, *summed} - self.totals.keys())
        position = 0
        for row in [*marked, len(self.rows.filled)]:
            while (flagged := self._sums.next_agreeing(position, row)) is not None:
                self._judge(flagged)
                position = flagged + 1
            if row in sections:
                self._sums.begin(row)
            elif row < len(self.rows.filled):
                self._judge(row)
            position = row + 1

    def _judge(self, row: int) -> None:
        if row in self.others or row in self.totals:
            return
        label = self.labels.get(row)
        if self._by_formula(row):
            self._take(row, label)
        elif self.rows.counted_on[row]:
            return
        elif self._adds_up(row, label):
            self._take(row, label)
        elif label is not None and not self.rows.known[row].any():
            saved = self.rows.numbers[row].any()  # formulas without a saved value
            if saved and (self.rows.gaps[row] or not (label.named or label.weak)):
                self._take(row, label)

    def _take(self, row: int, label: TotalLabel | None) -> None:
        part = label is not None and (label.part or label.named)
        self.totals[row] = LeftOutReason.SUBTOTAL if part else LeftOutReason.TOTAL
        self.doubtful.discard(row)
        self._sums.leave(row)
        self._sums.begin(row)

    def _agreement(
        self, row: int, sums: Vector, addends: Vector, label: TotalLabel | None
    ) -> Agreement:
        slack = np.zeros(len(sums))
        if label is not None:
            rounded = 0.5 * self.rows.steps * (addends + 1)
            slack = np.clip(rounded, ROUNDED * np.abs(sums), 0.01 * np.abs(sums))
        return agreement(self.rows.values[row], sums, addends, slack)

    def _adds_up(self, row: int, label: TotalLabel | None) -> bool:
        for sums, addends in self._sums.since(row):
            found = self._agreement(row, sums, addends, label)
            if label is not None and not label.statistic:
                if self._fits(row, label, found):
                    return True
            elif label is None and self._fits_alone(row, found):
                return True
        if label is None or label.statistic:
            return False
        return self._sums_near(row, label, -1) or self._sums_near(row, label, 1)

    def _fits(self, row: int, label: TotalLabel, found: Agreement) -> bool:
        """True if a row with a label of a total agrees with a sum."""
        gap = self.rows.gaps[row]
        if found.records < 2:
            last = row == self.present[-1] and not label.named
            return found.half and (gap or last or bool(self.totals) or self._is_named(row))
        few = found.columns > 0 and found.digits >= DIGITS_SOME and gap and not label.weak
        return found.half or few

    def _is_named(self, row: int) -> bool:
        """True if a label names the one record above it, or its heading: "Ana" and "Ana Total"."""
        words = {word.casefold() for text in self.rows.names(row) for word in text.split()}
        near = range(max(row - NEAR, 0), row)
        above = {text.casefold() for each in near for text in self.rows.names(each)}
        return any(set(text.split()) <= words for text in above)

    def _fits_alone(self, row: int, found: Agreement) -> bool:
        """True if a row without a label agrees with a sum more than chance would have it."""
        if self.rows.gaps[row] and found.half and found.records > 1:
            sure = self.rows.bare[row] or found.records > 2
            last = row == self.present[-1] and found.all and sure
            if last or found.digits >= DIGITS_SOME + 0.5:
                return True
        if not found.all or found.records < 3:
            return False
        if found.columns > 1 and found.digits >= DIGITS:
            return True
        if found.digits >= DIGITS_LIKELY:
            self.doubtful.add(row)
        return False

    def _sums_near(self, row: int, label: TotalLabel, step: int) -> bool:
        """True if a row sums up just some records next to it: -1 for those above, 1 below."""
        if step > 0 and (label.named and not self.rows.gaps[row]):
            return False
        values = self._sums.kept
        stop = row + step
        while 0 <= stop < len(values) and abs(stop - row) <= LAST:
            if stop in self.totals or stop in self.others or (step > 0 and stop in self.labels):
                break
            stop += step
        near = values[list(range(row + step, stop, step))]
        sums, addends = near.cumsum(axis=0), (near != 0).cumsum(axis=0)
        own = self.rows.values[row]
        known = ~np.isnan(own) & (own != 0)
        close = np.abs(np.where(known, own, 0.0) - sums) <= np.abs(sums) * CLOSE
        for place in np.flatnonzero(close[:, known].any(axis=1)).tolist():
            found = self._agreement(row, sums[place], addends[place].astype(np.float64), None)
            if found.all and found.records > 1 and found.digits >= DIGITS_SOME:
                return True
        return False

    def _by_formula(self, row: int) -> bool:
        numbers = int(self.rows.numbers[row].sum())
        summed = int(self.rows.summed[row].sum())
        return summed > 0 and 2 * summed >= numbers

    def _last_rows(self) -> None:
        """Take the last rows as totals by their labels alone; those further up are doubtful.

        A sum among them is doubtful, too: its numbers do not add up.
        """
        ended = False
        for row in reversed(self.present):
            label = self.labels.get(row)
            if row in self.totals:
                continue
            if label is None or label.named or label.weak or not self.rows.numbers[row].any():
                ended = True
            elif ended or not self._says(row, label):
                self.doubtful.add(row)
                ended = ended or not label.statistic
            else:
                self._take(row, label)
                if not label.statistic and self._is_compared(row):
                    self.doubtful.add(row)

    def _is_compared(self, row: int) -> bool:
        """True if a row has a number that could be the sum of numbers above it, not all zero."""
        own = self.rows.values[row]
        above = self._sums.kept[:row].any(axis=0)
        return bool((~np.isnan(own) & (above | (own != 0))).any())

    def _says(self, row: int, label: TotalLabel) -> bool:
        """True if a last row's label decides: it has gaps, or no other text or date."""
        if self.rows.counted_on[row]:
            return False
        if label.statistic:
            records = [each for each in self.present if each < row and each not in self.labels]
            return is_statistic(self.rows, row, records, label)
        others = int((~self.rows.numbers & self.rows.filled)[row].sum())
        return bool(self.rows.gaps[row]) or others == 1

    def _reason(self, row: int) -> LeftOutReason:
        """Total or subtotal: what is a total of all before further records only says so itself."""
        label = self.labels.get(row)
        inside = self.present[0] < row < self._last_record
        if inside and (label is None or label.named):
            return LeftOutReason.SUBTOTAL
        return self.totals[row]
