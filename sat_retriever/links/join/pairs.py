"""Candidate pairs of columns for joins, found by blocks of key words instead of all pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sat_retriever.links.join.fields import Field, Match, match
from sat_retriever.links.join.names import KeyKind
from sat_retriever.links.join.owners import excluded, says_little
from sat_retriever.text import segment

Block = tuple[str, tuple[str, ...]]
OWNERS = 3  # owners kept per block: of many sheets with one header, few have the list
_TIMES = frozenset("date day week month quarter half year time period".split())
PAIRS = 12  # candidate owners per column


def referring_blocks(field: Field) -> list[Block]:
    """Blocks in which an owner of the column's key may be found, best first.

    `contact_staff_id` may refer to a key named contact staff or staff, or to the key of a
    sheet with such a name.
    """
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
    if name.generic and field.once and not field.place and not _names_time(field):
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


def _names_time(field: Field) -> bool:
    return not _TIMES.isdisjoint(segment.words(field.header[:200]))


def _same(field: Field) -> Block:
    """Block of a vague header, whose values can give evidence."""
    return "same", (" ".join(field.header.casefold().split()),)


def owner_rank(field: Field) -> tuple[bool, int, bool, float, int, int]:
    """Sort key that puts the likeliest owner of a key first."""
    key = field.name.kind is not KeyKind.NONE
    named = Match.EXACT if field.bare else field.match
    unique = round(field.unique, 2)
    return (not key, -named, not field.main, -unique, len(field.entity), field.place)


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
    """Distinct owners on other sheets, at most `OWNERS` per block."""
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
    return (*owner_rank(field), field.sheet_id, field.header)
