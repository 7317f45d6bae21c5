"""Candidate pairs of columns for joins, and the tables that can own a key.

Candidates are found by blocks of key words instead of all pairs. Lists that describe things own
keys, not reports on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from sat_retriever.links.join.fields import Field, Match, match, within
from sat_retriever.links.join.names import KeyKind
from sat_retriever.text import segment

# Least share of columns with words or dates in a table that may be a list of things.
_PARTLY = 0.4
_LARGELY = 0.5
_LONG = 50  # least values of a list of things; a report has fewer row labels


@dataclass(frozen=True, slots=True)
class Formulas:
    """Evidence from a workbook's formulas about the owners of keys."""

    gathering: Set[str] = frozenset()  # ids of sheets that gather from other sheets
    # Pairs of ids: a sheet with lookup formulas, and the sheet that they search.
    looked_up: Set[tuple[str, str]] = frozenset()


NO_FORMULAS = Formulas()


def excluded(field: Field, owner: Field) -> bool:
    """True if two columns cannot join, regardless of their headers and values.

    They are on one sheet, are parts of one list, or the owner covers another period or only
    part of the period.
    """
    same_layout = bool(field.layout) and field.layout == owner.layout  # parts of one list
    if field.sheet_id == owner.sheet_id or same_layout:
        return True
    return not within(field.span, owner.span)


def says_little(field: Field, owner: Field) -> bool:
    """True if the headers name neither a key nor the owner's sheet."""
    plain = field.name.kind is KeyKind.NONE and owner.name.kind is KeyKind.NONE
    return plain and match(field.name.words, owner.entity) < Match.TAIL


def owns(field: Field, owner: Field, *, apart: bool) -> bool:
    """True if the owner's table can be the list that the column refers to.

    A table with more numbers than words is a report. A list with one row for each thing can only
    refer to a table that describes the things better, or that its header names.
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
    own = owner.match >= Match.TAIL and owner.name.words == field.name.words
    return own or match(field.name.words, owner.entity) >= Match.TAIL


Block = tuple[str, tuple[str, ...]]
OWNERS = 3  # owners kept per block: of many sheets with one header, few have the list
_TIMES = frozenset("date day week month quarter half year time period".split())
PAIRS = 12  # candidate owners per column


def referring_blocks(field: Field) -> list[Block]:
    """Blocks in which an owner of the column's key may be, best first; see `header_blocks`."""
    name = field.name
    words = name.words
    same = [_same(field)] if name.generic and field.values and field.place else []
    if not words:
        return same
    if name.kind is KeyKind.NONE:
        plain: list[Block] = [("plain", words)] if len(words) > 1 or not name.generic else same
        return plain + [("sheet", words[start:]) for start in range(len(words))]
    found: list[Block] = []
    for start in range(len(words)):
        found += [("key", words[start:]), ("sheet", words[start:])]
    if len(words) > 1:
        found += [("key", words[:1]), ("sheet", words[:1])]
    return [*found, ("head", words[:1]), ("part", (words[-1][:3],))]


def owning_blocks(field: Field) -> list[Block]:
    """Blocks under which the column can be found as the owner of a key."""
    name, entity = field.name, field.entity
    found: list[Block] = []
    timeless = _TIMES.isdisjoint(segment.words(field.header[:200]))
    if name.generic and field.once and not field.place and timeless:
        found.append(_same(field))
    if name.kind is not KeyKind.NONE and name.words:
        found.append(("key", name.words))
    elif not name.generic or (field.match >= Match.PART and field.place == 0):
        found.append(("plain", name.words))
    if entity and field.main:
        found.append(("sheet", entity))
        if len(entity) > 1:
            found.append(("sheet", entity[-1:]))
        found.append(("part", (entity[-1][:3],)))
    if name.kind is not KeyKind.NONE and len(name.words) > 1 and field.place == 0:
        found.append(("head", name.words[:1]))
    return found


def _same(field: Field) -> Block:
    """Block of a vague header, whose values can give evidence."""
    return "same", (" ".join(field.header.casefold().split()),)


def candidate_pairs(fields: Sequence[Field]) -> Iterator[tuple[Field, list[Field]]]:
    """Yield each column that may refer to others, with the columns that may own its key.

    Linear in the number of columns: a block keeps only its likeliest owners, a column at most
    `PAIRS` candidates.
    """
    owners: dict[Block, list[Field]] = {}
    for field in fields:
        for block in owning_blocks(field):
            owners.setdefault(block, []).append(field)
    best = {block: sorted(found, key=_order)[: OWNERS + 1] for block, found in owners.items()}
    for field in fields:
        found = _others(field, (best.get(block, []) for block in referring_blocks(field)))
        if found:
            yield field, found


def may_refer(field: Field, owner: Field) -> bool:
    """True if two columns of a workbook may join.

    The first columns of two tables do not refer to each other if their equal headers name
    neither a key nor the owner's sheet.
    """
    if excluded(field, owner):
        return False
    first = field.place == owner.place == 0
    return not (first and field.name == owner.name and says_little(field, owner))


def _others(field: Field, blocks: Iterable[list[Field]]) -> list[Field]:
    found: dict[tuple[str, str, int], Field] = {}
    for members in blocks:
        elsewhere = [owner for owner in members if may_refer(field, owner)]
        for owner in elsewhere[:OWNERS]:
            found.setdefault((owner.sheet_id, owner.header, owner.place), owner)
    return sorted(found.values(), key=lambda owner: _fit(field, owner))[:PAIRS]


def _fit(field: Field, owner: Field) -> tuple[object, ...]:
    """Sort key that puts the owner that a column most likely refers to first."""
    words = field.name.words
    named = match(words, owner.entity)
    same = words == owner.name.words and (owner.match >= Match.TAIL or len(words) > 1)
    to_key = named is Match.EXACT and owner.main
    return (not (same and owner.main), not to_key, not same, -named, *_order(owner))


def _order(field: Field) -> tuple[object, ...]:
    """Sort key that puts the likeliest owner of a key first."""
    key = field.name.kind is not KeyKind.NONE
    named = Match.EXACT if field.bare else field.match
    likeliest = (not key, -named, not field.main, -round(field.unique, 2))
    return (*likeliest, len(field.entity), field.place, field.sheet_id, field.header)
