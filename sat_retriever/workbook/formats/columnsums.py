"""Formulas that sum up cells of their own column, which tell rows of totals."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sat_retriever.records.area import area_of, split_ref
from sat_retriever.records.structure import RawFormula

MAX_SUMS = 50_000
_CELL = r"\$?([A-Z]{1,3})\$?([0-9]{1,7})"
_RANGE = re.compile(rf"(?<![A-Za-z0-9!$:]){_CELL}(?::{_CELL})?(?![A-Za-z0-9(:!])")
_OWN = re.compile(r"\0(?<![A-Za-z0-9!:].)(?<![A-Za-z0-9!$:]\$.)\$?[0-9]")  # \0 for the column
_SUMMING = re.compile(r"(?:SUM|SUBTOTAL|AGGREGATE|SUMIFS?)\(")
_ADDED = re.compile(r"\+?\$?[A-Z]{1,3}\$?[0-9]{1,7}(?:\+\$?[A-Z]{1,3}\$?[0-9]{1,7}){1,40}")
_OTHER = re.compile(r"[/*^-]")  # a share or a difference is no sum
_DIGITS = "0123456789"
MAX_FORMULA = 300
"""Characters of a formula that are looked at; sums of a column are short."""

Sums = dict[tuple[int, int], tuple[int, int]]
"""First and last row that a formula sums up, by its row and column; all 1-based."""


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
    """First and last row that a formula sums up in its own column; None if it does not."""
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
