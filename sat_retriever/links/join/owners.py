"""Which tables can own a key: lists that describe things, and no reports on them."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from sat_retriever.links.join.fields import Field, Match, match
from sat_retriever.links.join.names import KeyKind
from sat_retriever.links.join.spans import within

# Share of a table's columns with words or dates, from which on it may be a list of things.
_PARTLY = 0.4
_LARGELY = 0.5
_LONG = 50  # values of a list of things; the row labels of a report are fewer


@dataclass(frozen=True, slots=True)
class Formulas:
    """What the formulas of a workbook say about who owns a key.

    Attributes:
        gathering: Ids of sheets that gather from other sheets.
        looked_up: Ids of a sheet that looks something up and of the sheet it does so in.
    """

    gathering: Set[str] = frozenset()
    looked_up: Set[tuple[str, str]] = frozenset()


NO_FORMULAS = Formulas()


def excluded(field: Field, owner: Field) -> bool:
    """True if two columns cannot join, whatever their headers and values are.

    They are of one sheet; parts of one list; or the owner is about another time, or about
    a part of the time only.
    """
    if field.sheet_id == owner.sheet_id or same_layout(field, owner):
        return True
    return not within(field.span, owner.span)


def same_layout(one: Field, other: Field) -> bool:
    """True if two columns stand in tables of the same headers: parts of one list."""
    return bool(one.layout) and one.layout == other.layout


def says_little(field: Field, owner: Field) -> bool:
    """True if the headers name neither a key nor the owner's sheet."""
    plain = field.name.kind is KeyKind.NONE and owner.name.kind is KeyKind.NONE
    return plain and match(field.name.words, owner.entity) < Match.TAIL


def owns(field: Field, owner: Field, *, apart: bool) -> bool:
    """True if the owner's table can be the list that a column with its values refers to.

    A table that says more in numbers than in words reports on things. A list with one row
    for each thing refers to one that describes them better, or whose name it has.

    Args:
        field: The column that refers.
        owner: The column with the key.
        apart: Whether they are of different workbooks.
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
    """Share of the other columns of a table that hold words or dates, and no numbers."""
    return owner.texts / max(1, owner.texts + owner.numbers)


def _named(field: Field, owner: Field) -> bool:
    """True if a header says of whose sheet it is the key, the column's or the owner's."""
    own = owner.match >= Match.TAIL and owner.name.words == field.name.words
    return own or match(field.name.words, owner.entity) >= Match.TAIL
