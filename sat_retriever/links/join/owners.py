"""Tables that can own a key: lists that describe things, not reports on them."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from sat_retriever.links.join.fields import Field, Match, match
from sat_retriever.links.join.names import KeyKind
from sat_retriever.links.join.spans import within

# Least share of columns with words or dates in a table that may be a list of things.
_PARTLY = 0.4
_LARGELY = 0.5
_LONG = 50  # least values of a list of things; a report has fewer row labels


@dataclass(frozen=True, slots=True)
class Formulas:
    """Evidence from a workbook's formulas about the owners of keys.

    Attributes:
        gathering: Ids of sheets that gather from other sheets.
        looked_up: Pairs of ids: a sheet with lookup formulas, and the sheet that they search.
    """

    gathering: Set[str] = frozenset()
    looked_up: Set[tuple[str, str]] = frozenset()


NO_FORMULAS = Formulas()


def excluded(field: Field, owner: Field) -> bool:
    """True if two columns cannot join, regardless of their headers and values.

    They are on one sheet, are parts of one list, or the owner covers another period or only
    part of the period.
    """
    if field.sheet_id == owner.sheet_id or same_layout(field, owner):
        return True
    return not within(field.span, owner.span)


def same_layout(one: Field, other: Field) -> bool:
    """True if two columns are in tables with the same headers: parts of one list."""
    return bool(one.layout) and one.layout == other.layout


def says_little(field: Field, owner: Field) -> bool:
    """True if the headers name neither a key nor the owner's sheet."""
    plain = field.name.kind is KeyKind.NONE and owner.name.kind is KeyKind.NONE
    return plain and match(field.name.words, owner.entity) < Match.TAIL


def owns(field: Field, owner: Field, *, apart: bool) -> bool:
    """True if the owner's table can be the list that the column refers to.

    A table with more numbers than words is a report. A list with one row for each thing can only
    refer to a table that describes the things better, or that its header names.

    Args:
        field: The column that refers.
        owner: The column with the key.
        apart: True if they are in different workbooks.
    """
    if not field.values or not owner.values:
        return True
    if owner.gathers and described(owner) < _LARGELY and (owner.numbers > 1 or not owner.texts):
        return False
    if _named(field, owner):
        return True
    if field.once and not (field.wide and field.distinct >= _LONG):
        better = described(owner) >= described(field) or owner.numbers < 2
        if owner.texts <= field.texts or not better:
            return False
    return owner.numbers < 2 or described(owner) >= _PARTLY


def described(owner: Field) -> float:
    """Share of words or dates among the table's other columns with words, dates or numbers."""
    return owner.texts / max(1, owner.texts + owner.numbers)


def _named(field: Field, owner: Field) -> bool:
    """True if one of the headers names the owner's sheet."""
    own = owner.match >= Match.TAIL and owner.name.words == field.name.words
    return own or match(field.name.words, owner.entity) >= Match.TAIL
