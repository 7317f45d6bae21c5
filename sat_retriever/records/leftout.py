"""Rows of a table that are no records: which, why, and how a reader is told."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

MAX_TOLD = 12
"""Most rows of one reason whose numbers are written out."""
SECTION = "Section"
"""Name of the column that holds the heading above each record."""


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
_WRONG = ", does not add up", ", do not add up"
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


def left_out_note(left_out: Sequence[LeftOut], doubtful: Sequence[LeftOut], number: int = 0) -> str:
    """Sentences about the rows of a table that are no records, or may be none.

    Args:
        left_out: Rows that are no records.
        doubtful: Rows that may be records or totals; those not left out are records.
        number: Number of all rows that are no records, if only the first are given.

    >>> wrong = LeftOut(9, LeftOutReason.TOTAL)
    >>> left_out_note([wrong], [wrong, LeftOut(5, LeftOutReason.TOTAL)])
    'Left out: row 9 (total, does not add up). Kept, though it may sum up others: row 5 (total).'
    """
    said = [f"Left out: {told_rows(left_out, number, doubtful)}."] if left_out else []
    if kept := only_kept(left_out, doubtful):
        they = "they" if len(kept) > 1 else "it"
        said.append(f"Kept, though {they} may sum up others: {told_rows(kept)}.")
    return " ".join(said)


def only_kept(left_out: Sequence[LeftOut], doubtful: Sequence[LeftOut]) -> list[LeftOut]:
    """The doubtful rows that are records."""
    out = set(left_out)
    return [each for each in doubtful if each not in out]


def reason_name(reason: LeftOutReason, *, doubtful: bool = False) -> str:
    """The name of a reason in words, for one row.

    Args:
        reason: The reason.
        doubtful: True if the row is a total whose numbers do not add up.
    """
    return _NAMES[reason][0] + _WRONG[0] * doubtful


def told_rows(rows: Sequence[LeftOut], number: int = 0, doubtful: Collection[LeftOut] = ()) -> str:
    """The rows by reason, in the order of the first row of each; empty without any.

    Args:
        rows: The rows.
        number: Number of all such rows, if only the first are given.
        doubtful: Totals whose numbers do not add up, perhaps among other rows.

    >>> total, sub = LeftOutReason.TOTAL, LeftOutReason.SUBTOTAL
    >>> told_rows([LeftOut(3, LeftOutReason.UNITS), LeftOut(14, sub), LeftOut(27, sub)])
    'row 3 (units), rows 14 and 27 (subtotals)'
    >>> told_rows([LeftOut(row, total) for row in range(9, 12)])
    'rows 9-11 (totals)'
    >>> told_rows([LeftOut(9, total)], number=3)
    'row 9 (total), and 2 more rows'
    """
    wrong = set(doubtful)
    by_reason: dict[tuple[LeftOutReason, bool], list[int]] = {}
    for each in rows:
        by_reason.setdefault((each.reason, each in wrong), []).append(each.row)
    parts = []
    for (reason, is_wrong), places in by_reason.items():
        several = len(places) > 1
        said = _NAMES[reason][several] + _WRONG[several] * is_wrong
        parts.append(f"row{'s' * several} {_listed(places)} ({said})")
    if parts and (more := number - len(rows)) > 0:
        parts.append(f"and {more:,} more row{'s' * (more > 1)}")
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
