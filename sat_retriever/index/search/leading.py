"""Sheets that count for the others of their workbooks: documentation, and main sheets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.tokens import FloatArray

Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Leading:
    """Leading sheets of workbooks, and the sheets beside them.

    Attributes:
        rows: Positions of the leading sheets, ascending.
        others: Positions of the other sheets of their workbooks, ascending.
    """

    rows: Rows
    others: Rows
    _own: Rows  # those of `rows` that have a workbook file
    _book_of_own: Rows
    _book_of_others: Rows
    _books: int

    @classmethod
    def of(cls, rows: Rows, workbooks: NDArray[np.int64]) -> Leading:
        """Find the other sheets.

        Args:
            rows: Positions of the leading sheets, ascending.
            workbooks: Number of each sheet's workbook file, (n,); 0 without one.
        """
        own = rows[workbooks[rows] > 0]
        books, book_of_own = np.unique(workbooks[own], return_inverse=True)
        others = np.setdiff1d(np.flatnonzero(np.isin(workbooks, books)), rows, assume_unique=True)
        place = np.searchsorted(books, workbooks[others])
        return cls(rows, others, own, book_of_own, place, len(books))

    def __bool__(self) -> bool:
        """True if a sheet leads."""
        return len(self.rows) > 0

    def leaders_of(self, rows: Rows) -> Rows:
        """Leading sheets of the workbooks of those of some sheets that are among the others.

        Args:
            rows: Positions of sheets.
        """
        if not len(self.others):
            return rows[:0]
        at = np.searchsorted(self.others, rows).clip(max=len(self.others) - 1)
        books = self._book_of_others[at[self.others[at] == rows]]
        return self._own[self._marked(books)[self._book_of_own]]

    def led_by(self, rows: Rows) -> Rows:
        """The others of the workbooks of those of some sheets that lead.

        Args:
            rows: Positions of sheets.
        """
        books = self._book_of_own[np.isin(self._own, rows)]
        return self.others[self._marked(books)[self._book_of_others]]

    def _marked(self, books: Rows) -> NDArray[np.bool_]:
        """True for some of the workbooks, by their number."""
        marked = np.zeros(self._books, dtype=np.bool_)
        marked[books] = True
        return marked

    def best(self, scores: FloatArray) -> FloatArray:
        """For each of the others, the best score of its workbook's leading sheets, (len(others),).

        Args:
            scores: Scores of all sheets, (n,), 0 or more.
        """
        best = np.zeros(self._books, dtype=np.float32)
        np.maximum.at(best, self._book_of_own, scores[self._own])
        found: FloatArray = best[self._book_of_others]
        return found
