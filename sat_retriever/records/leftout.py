"""Rows of a table that are no records: which, why, and how a reader is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

MAX_TOLD = 12
"""Most rows of one reason whose numbers are written out."""


class LeftOutReason(StrEnum):
    """Reason why a row of a table is no record."""

    UNITS = "units"
    TOTAL = "total"
    """It sums up all records, or all of a kind (an average, a maximum)."""
    SUBTOTAL = "subtotal"
    """It sums up some of the records."""
    REPEATED_HEADER = "repeated_header"
    SECTION = "section"
    """It is a heading; its text belongs to the records below."""


_NAMES: Mapping[LeftOutReason, tuple[str, str]] = {
    LeftOutReason.UNITS: ("units", "units"),
    LeftOutReason.TOTAL: ("total", "totals"),
    LeftOutReason.SUBTOTAL: ("subtotal", "subtotals"),
    LeftOutReason.REPEATED_HEADER: ("repeated header", "repeated headers"),
    LeftOutReason.SECTION: ("section", "sections"),
}
SUMS = frozenset({LeftOutReason.TOTAL, LeftOutReason.SUBTOTAL})
"""Reasons of rows that `totals=True` brings back."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One row of a table that is no record, or that may be none.

    Attributes:
        row: Row of the sheet, 1-based.
        reason: Why.
        text: Its first text, at most 60 characters; empty without one, or if it is not kept.
    """

    row: int
    reason: LeftOutReason
    text: str = ""


def told_rows(rows: Sequence[LeftOut]) -> str:
    """The rows by reason, in the order of the first row of each; empty without any.

    >>> total, sub = LeftOutReason.TOTAL, LeftOutReason.SUBTOTAL
    >>> told_rows([LeftOut(3, LeftOutReason.UNITS), LeftOut(14, sub), LeftOut(27, sub)])
    'row 3 (units), rows 14 and 27 (subtotals)'
    >>> told_rows([LeftOut(row, total) for row in range(9, 12)])
    'rows 9-11 (totals)'
    """
    by_reason: dict[LeftOutReason, list[int]] = {}
    for each in rows:
        by_reason.setdefault(each.reason, []).append(each.row)
    parts = []
    for reason, places in by_reason.items():
        one, many = _NAMES[reason]
        several = len(places) > 1
        parts.append(f"row{'s' * several} {_listed(places)} ({many if several else one})")
    return ", ".join(parts)


def _listed(places: Iterable[int]) -> str:
    """Numbers of rows, runs of three or more joined: "3, 5-9 and 12"."""
    numbered = enumerate(sorted(places))
    runs = [[row for _, row in run] for _, run in groupby(numbered, lambda each: each[1] - each[0])]
    texts: list[str] = []
    for run in runs:
        texts += [f"{run[0]}-{run[-1]}"] if len(run) > 2 else map(str, run)
    if len(texts) > MAX_TOLD:
        shown = texts[: MAX_TOLD - 1]
        return f"{', '.join(shown)} and {len(texts) - len(shown):,} more"
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))
