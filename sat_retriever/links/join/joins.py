"""Discovery of joins within a workbook, and between workbooks that share a block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from sat_retriever.links.join.confidence import (
    VALUES_ALONE,
    Overlap,
    header_odds,
    nearness_odds,
    overlap,
    sigmoid,
)
from sat_retriever.links.join.fields import UNIQUE, Field, fields_of
from sat_retriever.links.join.keys import (
    BLOCK_LIMIT,
    MIN_DISTINCT,
    KeyColumn,
    tells_by_values,
    value_blocks,
)
from sat_retriever.links.join.names import KeyKind
from sat_retriever.links.join.pairs import (
    NO_FORMULAS,
    Formulas,
    candidate_pairs,
    described,
    excluded,
    may_refer,
    owns,
    says_little,
)
from sat_retriever.links.join.sketches import containment
from sat_retriever.records.links import Link, LinkType
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.structure import ColumnProfile

MIN_CONFIDENCE = 0.25  # by cross-validation on Spider's training part: benchmarks.links.joins
MAX_OWNERS = 2  # keys that one column may refer to in its workbook
_LOOKED_AT = 9  # owners compared in a block of similar values inside a workbook
# A shared header has the same meaning less often in two workbooks than in two sheets of one.
ACROSS = -2.0
MIN_ACROSS = 0.5  # by headers alone
_WORSE = 0.2  # deficit in the share of columns with words or dates that excludes an owner
_MIN_SHARE = 0.9  # least share of values found if the headers give no evidence


@dataclass(frozen=True, slots=True)
class Join:
    """A column that refers to the key of another sheet."""

    field: Field  # the column that refers
    owner: Field  # the column with the key
    confidence: float
    values: Overlap

    @property
    def ends(self) -> tuple[str, str]:
        """Ids of the two sheets."""
        return self.field.sheet_id, self.owner.sheet_id

    def link(self) -> Link:
        """The join as a link between the two sheets."""
        evidence = _evidence(self.field, self.owner, self.values)
        return Link(*self.ends, LinkType.JOIN_KEY, self.confidence, evidence)


def workbook_joins(
    records: Sequence[SheetRecord],
    profiles: Sequence[ColumnProfile] = (),
    formulas: Formulas = NO_FORMULAS,
) -> list[Link]:
    """Links for joins between the sheets of one workbook, from the referring sheet to the owner.

    Each pair of sheets has at most one link, whose weight is the highest confidence of its
    columns. Each column has at most `MAX_OWNERS` owners.
    """
    return _one_a_pair(column_joins(records, profiles, formulas))


def column_joins(
    records: Sequence[SheetRecord],
    profiles: Sequence[ColumnProfile] = (),
    formulas: Formulas = NO_FORMULAS,
) -> list[Join]:
    """The joins of `workbook_joins` by column; a pair of columns may occur twice."""
    ordered = sorted(records, key=lambda record: record.sheet_id)
    fields = [*chain.from_iterable(fields_of(ordered, profiles, formulas.gathering))]
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
    """Links, one a pair of sheets, for verified joins of columns of two workbooks in one block.

    Each join goes from the referring column to the owner, which has the column's values and
    whose values are distinct. A join by headers alone has a lower weight.
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
        found += (
            join
            for place in partners
            if _apart(field, fields[place])
            for join in (
                *_across(field, fields[place], settled=column.settled),
                *_across(fields[place], field, settled=others[place].settled),
            )
            if join is not None
        )
    return _one_a_pair(found)


def _apart(one: Field, other: Field) -> bool:
    """True if two columns are in different workbooks; a sheet without one counts as its own."""
    if one.workbook or other.workbook:
        return one.workbook != other.workbook
    return one.sheet_id != other.sheet_id


def _by_values(fields: Sequence[Field]) -> Iterator[Join]:
    """Yield joins of columns with similar values, regardless of their headers.

    The owner must be able to lead a list, and the other column must not lead a list of the same
    things: two such lists do not refer to each other. If more than `MAX_OWNERS` sheets list
    the values, no owner can be determined.
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
    """The joins of one column without owners that describe things much less than the best."""
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
    """Yield joins of a column with a column of another workbook.

    If its own workbook has the sheet that its header names (`settled`), only values can show
    that it refers to another workbook.
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
    """The join of two columns, from log-odds before values are compared; None if too unlikely.

    If `alone`, the values alone must decide.
    """
    values = overlap(field, owner)
    if field.name.generic and values.known and values.share < _MIN_SHARE:
        return None
    if alone and (values.share < _MIN_SHARE or values.known < MIN_DISTINCT):
        return None
    confidence = round(sigmoid(odds + values.odds), 4)
    return Join(field, owner, confidence, values) if confidence >= MIN_CONFIDENCE else None


def _evidence(field: Field, owner: Field, values: Overlap) -> str:
    """Both columns, in 200 characters at most, and the number of values found."""
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
    """The joins with the highest confidence, in an order independent of the input's."""
    return sorted((join for join in joins if join is not None), key=_order)[:limit]


def _order(join: Join) -> tuple[object, ...]:
    ends = (join.owner.sheet_id, join.field.sheet_id, join.owner.header, join.field.header)
    return (-join.confidence, *ends, join.owner.place, join.field.place)


def _one_a_pair(joins: Iterable[Join]) -> list[Link]:
    best: dict[tuple[str, str], Join] = {}
    for join in sorted(joins, key=_order):
        one, other = join.field.sheet_id, join.owner.sheet_id
        best.setdefault((min(one, other), max(one, other)), join)
    links = (join.link() for join in best.values())
    return sorted(links, key=lambda link: (link.source, link.target))
