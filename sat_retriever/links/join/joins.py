"""Columns that join: within a workbook, and between workbooks that share a block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sat_retriever.links.join.confidence import VALUES_ALONE, Overlap, header_odds, overlap, sigmoid
from sat_retriever.links.join.fields import UNIQUE, Field, sheet_fields
from sat_retriever.links.join.keys import (
    BLOCK_LIMIT,
    MIN_DISTINCT,
    KeyColumn,
    tells_by_values,
    value_blocks,
)
from sat_retriever.links.join.names import KeyKind
from sat_retriever.links.join.nearness import nearness_odds
from sat_retriever.links.join.owners import (
    NO_FORMULAS,
    Formulas,
    described,
    excluded,
    owns,
    says_little,
)
from sat_retriever.links.join.pairs import candidate_pairs, may_refer
from sat_retriever.links.join.sketches import containment
from sat_retriever.records.links import Link, LinkType
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.structure import ColumnProfile

MIN_CONFIDENCE = 0.25  # by cross-validation on Spider's training part: benchmarks.links.joins
MAX_OWNERS = 2  # keys that one column of a workbook refers to
MAX_LINKS = 64  # of one column with other workbooks
_LOOKED_AT = 9  # owners in a block of like values inside a workbook
# Two workbooks that use one header mean the same by it less often than two sheets of one do.
ACROSS = -2.0
MIN_ACROSS = 0.5  # by headers alone
_WORSE = 0.2  # share of columns with words or dates that an owner has less than another
_MIN_SHARE = 0.9  # of values found, where the headers say nothing


@dataclass(frozen=True, slots=True)
class Join:
    """A column that refers to the key of another sheet.

    Attributes:
        field: The column that refers.
        owner: The column with the key.
        confidence: How sure that is, in (0, 1).
        values: What their values say.
    """

    field: Field
    owner: Field
    confidence: float
    values: Overlap

    @property
    def ends(self) -> tuple[str, str]:
        """Ids of the two sheets."""
        return self.field.sheet_id, self.owner.sheet_id

    def link(self) -> Link:
        """The join as a link of the two sheets."""
        evidence = _evidence(self.field, self.owner, self.values)
        return Link(*self.ends, LinkType.JOIN_KEY, self.confidence, evidence)


def workbook_joins(
    records: Sequence[SheetRecord],
    profiles: Sequence[ColumnProfile] = (),
    formulas: Formulas = NO_FORMULAS,
) -> list[Link]:
    """Joins between the sheets of one workbook, from the sheet that refers to the key's owner.

    At most one link for each two sheets, with the confidence of the surest two columns as
    its weight; at most `MAX_OWNERS` for each column.

    Args:
        records: Sheets of one workbook.
        profiles: Of their columns; without them headers alone decide.
        formulas: What its formulas say; without them nothing is known of them.
    """
    return _one_a_pair(column_joins(records, profiles, formulas))


def column_joins(
    records: Sequence[SheetRecord],
    profiles: Sequence[ColumnProfile] = (),
    formulas: Formulas = NO_FORMULAS,
) -> list[Join]:
    """The joins of `workbook_joins`, column by column; one pair of columns may come twice."""
    known: dict[str, list[ColumnProfile]] = {}
    for profile in profiles:
        known.setdefault(profile.sheet, []).append(profile)
    ordered = sorted(records, key=lambda record: record.sheet_id)
    fields = [
        field
        for each in ordered
        for field in sheet_fields(
            each, known.get(each.sheet, ()), gathers=each.sheet_id in formulas.gathering
        )
    ]
    found: list[Join] = []
    for field, owners in candidate_pairs(fields):
        joins = (
            _join(field, owner, header_odds(field, owner, n))
            for n, owner in enumerate(owners)
            if not (says_little(field, owner) and _same_list(field, owner))
            and owns(field, owner, apart=False)
        )
        found += _best(_lists(joins), MAX_OWNERS)
    return [
        join
        for join in (*found, *_by_values(fields))
        if not (join.field.once and join.ends[::-1] in formulas.looked_up)
    ]


def joins_between(columns: Sequence[KeyColumn], others: Sequence[KeyColumn]) -> list[Link]:
    """Joins between columns of different workbooks that share a block, verified.

    Each goes from the column whose values are held to the one that holds them and whose
    values are all different; by headers alone with a lower weight.

    Args:
        columns: Columns to find partners for.
        others: Columns that share blocks with them; more may be given.

    Returns:
        One link for each two sheets; at most `MAX_LINKS` for each of `columns`.
    """
    wanted = {block for column in columns for block in column.blocks}
    blocks: dict[str, list[int]] = {}
    for place, other in enumerate(others):
        for block in other.blocks:
            if block in wanted:
                blocks.setdefault(block, []).append(place)
    rare = {block: places for block, places in blocks.items() if len(places) <= BLOCK_LIMIT}
    fields = {n: others[n].field() for n in sorted({n for few in rare.values() for n in few})}
    found: list[Join] = []
    for column in columns:
        field = column.field()
        partners = sorted({place for block in column.blocks for place in rare.get(block, ())})
        joins = (
            join
            for place in partners
            if _apart(field, fields[place])
            for join in (
                *_across(field, fields[place], settled=column.settled),
                *_across(fields[place], field, settled=others[place].settled),
            )
        )
        found += _best(joins, MAX_LINKS)
    return _one_a_pair(found)


def _apart(one: Field, other: Field) -> bool:
    """True if two columns are of different workbooks; sheets without one stand alone."""
    if one.workbook or other.workbook:
        return one.workbook != other.workbook
    return one.sheet_id != other.sheet_id


def _by_values(fields: Sequence[Field]) -> Iterator[Join]:
    """Joins of columns with like values whatever their headers are.

    The owner has to be able to lead a list, and the other column to be none of the
    same: of two lists of the same things neither refers to the other. What more than
    `MAX_OWNERS` sheets list has no owner that values could tell.
    """
    telling = [(field, value_blocks(field)) for field in fields if tells_by_values(field)]
    blocks: dict[str, list[Field]] = {}
    for field, own in telling:
        if field.unique >= UNIQUE and field.leads:
            for block in own:
                blocks.setdefault(block, []).append(field)
    for field, own in telling:
        owners = {
            (owner.sheet_id, owner.header): owner
            for block in own
            for owner in blocks.get(block, ())[:_LOOKED_AT]
            if may_refer(field, owner)
            and not _same_list(field, owner)
            and owns(field, owner, apart=False)
        }
        joins = [_join(field, owner, VALUES_ALONE, alone=True) for owner in owners.values()]
        sheets = {join.owner.sheet_id for join in joins if join is not None}
        if len(sheets) <= MAX_OWNERS:
            yield from _best(_lists(joins), MAX_OWNERS)


def _lists(joins: Iterable[Join | None]) -> list[Join]:
    """The joins of one column without those to owners that describe things much worse."""
    found = [join for join in joins if join is not None]
    best = max((described(join.owner) for join in found if join.values.known), default=0.0)
    return [
        join for join in found if not join.values.known or described(join.owner) >= best - _WORSE
    ]


def _same_list(field: Field, owner: Field) -> bool:
    """True if both columns lead a list of nearly the same things."""
    if not field.leads or field.unique < UNIQUE:
        return False
    return containment(owner.sketch, field.sketch, field.distinct)[0] >= _MIN_SHARE


def _across(field: Field, owner: Field, *, settled: bool) -> Iterator[Join | None]:
    """Joins of a column with one of another workbook.

    Where its own workbook has the sheet that its header names, only values can show that
    it refers to another one.
    """
    if excluded(field, owner) or not owns(field, owner, apart=True):
        return
    near = nearness_odds(field.workbook, owner.workbook)
    by_header = _join(field, owner, header_odds(field, owner, 0) + ACROSS + near)
    if by_header is not None:
        sure = by_header.confidence >= MIN_ACROSS and not settled
        if by_header.values.known or sure:
            yield by_header
    named = KeyKind.NONE not in (field.name.kind, owner.name.kind)
    telling = tells_by_values(field) and owner.unique >= UNIQUE and owner.leads
    if telling and (named or not _same_list(field, owner)):
        yield _join(field, owner, VALUES_ALONE + near, alone=True)


def _join(field: Field, owner: Field, odds: float, *, alone: bool = False) -> Join | None:
    """The join of two columns; None if it is too unsure.

    Args:
        field: The column that refers.
        owner: The column with the key.
        odds: Log-odds before the values are compared.
        alone: Whether the values have to decide alone.
    """
    values = overlap(field, owner)
    if field.name.generic and values.known and values.share < _MIN_SHARE:
        return None
    if alone and (values.share < _MIN_SHARE or values.known < MIN_DISTINCT):
        return None
    confidence = round(sigmoid(odds + values.odds), 4)
    return Join(field, owner, confidence, values) if confidence >= MIN_CONFIDENCE else None


def _evidence(field: Field, owner: Field, values: Overlap) -> str:
    """Both columns, and how many values are found.

    Names are cut, so that it has at most 200 characters.
    """
    if not values.known:
        shown = "headers"
    elif values.known == field.distinct:
        shown = f"{round(values.share * values.known)} of {values.known} values"
    else:
        shown = f"about {values.share:.0%} of {field.distinct} values"
    ends = (f"{_short(each.sheet)}.{_short(each.header)}" for each in (field, owner))
    return f"{' = '.join(ends)} ({shown})"


def _short(name: str) -> str:
    flat = " ".join(name.split())
    return flat if len(flat) <= 35 else f"{flat[:34]}…"


def _best(joins: Iterable[Join | None], limit: int) -> list[Join]:
    """The surest joins, in an order that depends on nothing else."""
    return sorted((join for join in joins if join is not None), key=_order)[:limit]


def _order(join: Join) -> tuple[object, ...]:
    ends = (join.owner.sheet_id, join.field.sheet_id, join.owner.header, join.field.header)
    return (-join.confidence, *ends, join.owner.place, join.field.place)


def _one_a_pair(joins: Iterable[Join]) -> list[Link]:
    """A link for the surest join of each two sheets, in the order of their ids."""
    best: dict[tuple[str, str], Join] = {}
    for join in sorted(joins, key=_order):
        one, other = join.field.sheet_id, join.owner.sheet_id
        best.setdefault((min(one, other), max(one, other)), join)
    links = (join.link() for join in best.values())
    return sorted(links, key=lambda link: (link.source, link.target))
