"""Formulas that sum up cells of their own column, which tell rows of totals."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sat_retriever.records.area import area_of, split_ref
from sat_retriever.records.structure import RawFormula

MAX_SUMS = 50_000
_REF = r"\$?[A-Z]{1,3}\$?[0-9]{1,7}"
_RANGES = re.compile(
    rf"(?:SUM|(?:SUBTOTAL|AGGREGATE)\((?:[0-9]{{1,3}}[,;])+)\(?"
    rf"({_REF}(?::{_REF})?(?:[,;]{_REF}(?::{_REF})?){{0,40}})\)"
)
_ADDED = re.compile(rf"\+?({_REF}(?:\+{_REF}){{1,40}})")
_BETWEEN = re.compile(r"[,;+]")

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
        if len(found) >= MAX_SUMS:
            break
        span, place = _span(text, cell), split_ref(cell)
        if span is None or place is None:
            continue
        area = area_of(filled) if filled else None
        last = area.right if area is not None and area.top == area.bottom == place[0] else place[1]
        for col in range(place[1], min(last, place[1] + MAX_SUMS - len(found)) + 1):
            found[place[0], col] = span
    return found


def _span(text: str, cell: str) -> tuple[int, int] | None:
    """First and last row that a formula sums up in its own column; None if it does not."""
    if text[:1] not in "SA+$" + cell[:1]:
        return None
    match = _RANGES.fullmatch(text) or _ADDED.fullmatch(text)
    place = split_ref(cell)
    if match is None or place is None:
        return None
    areas = [area_of(each.replace("$", "")) for each in _BETWEEN.split(match[1])]
    if any(each is None or each.left != each.right or each.left != place[1] for each in areas):
        return None
    known = [each for each in areas if each is not None]
    return min(each.top for each in known), max(each.bottom for each in known)
