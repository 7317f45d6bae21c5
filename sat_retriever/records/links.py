"""Typed links between sheets."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class LinkType(StrEnum):
    """Relations between sheets that this package finds; published ones may have others."""

    FORMULA_REFERENCE = "formula_reference"
    AGGREGATION = "aggregation"
    SUMMARY_SOURCE = "summary_source"
    JOIN_KEY = "join_key"
    SIBLING_PERIOD = "sibling_period"
    SAME_WORKBOOK = "same_workbook"


@dataclass(frozen=True, slots=True)
class Link:
    """A typed, directed relation between two sheets.

    Attributes:
        source: Sheet id the link starts from (the sheet that depends).
        target: Sheet id it points to.
        type: Relation, for example "formula_reference" or "join_key".
        weight: Strength in (0, 1].
        evidence: What shows it, for example "Summary!B4 =SUM(Q1!B2:B9)".
    """

    source: str
    target: str
    type: str
    weight: float = 1.0
    evidence: str = ""
