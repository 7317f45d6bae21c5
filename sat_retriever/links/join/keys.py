"""Key columns to look up in other workbooks, and the blocks to look them up by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from sat_retriever.links.join.fields import UNIQUE, Field, Match, fields_of, match
from sat_retriever.links.join.names import KeyKind, key_name, sheet_words
from sat_retriever.links.join.sketches import bands, pack, unpack
from sat_retriever.records.sheets import ColumnType, SheetRecord
from sat_retriever.records.structure import ColumnProfile

BLOCK_LIMIT = 32
"""Largest number of columns of a block; a larger block is too common to be evidence."""

MAX_KEYS = 8  # columns per sheet
MAX_HEADER_BLOCKS = 4
MAX_BLOCK = 80
KEPT_HASHES = 64  # per sketch: containment with a standard error of .06, 344 characters
MIN_DISTINCT = 8  # fewer distinct values are no evidence by themselves
_NO_KEYS = (
    ColumnType.BOOLEAN,
    ColumnType.ERROR,
    ColumnType.EMPTY,
    ColumnType.DATE,
    ColumnType.TIME,
)


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """A column that may join with one of another workbook: values of a `Field`, safe to store."""

    sheet_id: str
    sheet: str
    workbook: str
    name: str
    place: int = 0
    main: bool = False
    type: ColumnType = ColumnType.UNKNOWN
    values: int = 0
    distinct: int = 0
    sketch: str = ""  # its smallest hashes, packed as text
    wide: bool = False
    settled: bool = False  # True if its own workbook has the sheet whose key its header names
    layout: str = ""
    texts: int = 0
    numbers: int = 0
    first: int = -1  # first day of its sheet's period, as in `Field.span`; -1 without a period
    last: int = -1  # last day of that period; -1 without one
    gathers: bool = False
    blocks: tuple[str, ...] = ()  # lookup keys that it shares with columns that it may join with

    def field(self) -> Field:
        """The column as one side of a join."""
        name, entity = key_name(self.name), sheet_words(self.sheet)
        return Field(
            **{each: getattr(self, each) for each in _OF_FIELDS},
            header=self.name,
            name=name,
            entity=entity,
            match=match(name.words, entity),
            type=ColumnType(self.type),
            sketch=unpack(self.sketch),
            span=(self.first, self.last) if self.first >= 0 else None,
        )


# Fields that a key column has as `Field` has them.
_OF_FIELDS = (
    "sheet_id sheet workbook place main values distinct wide layout texts numbers gathers".split()
)


def workbook_keys(
    records: Sequence[SheetRecord],
    profiles: Sequence[ColumnProfile] = (),
    gathering: Set[str] = frozenset(),
) -> list[KeyColumn]:
    """The columns that may join with other workbooks: likeliest first, `MAX_KEYS` a sheet at most.

    A column qualifies by a header that names a key, or by values that are nearly all distinct
    and do not merely count.
    """
    sheets = fields_of(records, profiles, gathering)
    owned: dict[tuple[str, str], set[str]] = {}  # sheets that own a key, by workbook and block
    for fields in sheets:
        for field in fields:
            if field.main and (field.bare or field.match >= Match.TAIL):
                for block in header_blocks(field)[:1]:
                    owned.setdefault((_home(field), block), set()).add(field.sheet_id)
    return [_key_column(f, settled=_settled(f, owned)) for each in sheets for f in _chosen(each)]


def _chosen(fields: Iterable[Field]) -> list[Field]:
    ranked = sorted(
        filter(_may_be_key, fields), key=lambda field: (-_promise(field), field.place, field.header)
    )
    return list({(field.header, field.place): field for field in ranked}.values())[:MAX_KEYS]


def _settled(field: Field, owned: Mapping[tuple[str, str], set[str]]) -> bool:
    """True if another sheet of the workbook owns a key that the header may name."""
    owners = (owned.get((_home(field), block), set()) for block in header_blocks(field))
    return any(len(each) > (field.sheet_id in each) for each in owners)


def _home(field: Field) -> str:
    """The workbook of a column, or its sheet if there is none."""
    return field.workbook or field.sheet_id


def header_blocks(field: Field) -> tuple[str, ...]:
    """Blocks of the entities whose key a header, with its sheet's name, may be.

    `contact_staff_id` may be a key of contact staff, or of staff; `id` in the sheet
    Customers is a customer id.
    """
    if field.bare:
        names: Iterable[tuple[str, ...]] = (field.entity, field.entity[-1:])
    elif field.name.kind is KeyKind.NONE:
        names = () if field.name.generic else (field.name.words,)
    else:
        words = field.name.words
        names = (words[start:] for start in range(len(words)))
    blocks = dict.fromkeys(f"h:{' '.join(words)}"[:MAX_BLOCK] for words in names if words)
    return tuple(blocks)[:MAX_HEADER_BLOCKS]


def tells_by_values(field: Field) -> bool:
    """True if the values of a column are evidence without its header."""
    return field.wide and field.distinct >= MIN_DISTINCT and field.type not in _NO_KEYS


def value_blocks(field: Field) -> tuple[str, ...]:
    """Blocks that columns with similar values share; none if the values are no evidence."""
    return tuple(f"v:{band}" for band in bands(field.sketch)) if tells_by_values(field) else ()


def _may_be_key(field: Field) -> bool:
    if field.type in _NO_KEYS:
        return False
    if field.name.kind is not KeyKind.NONE:
        return bool(field.name.words or field.entity)
    if tells_by_values(field) and field.unique >= UNIQUE:
        return True
    if field.wide and not field.once and field.type is ColumnType.TEXT and not field.name.generic:
        return True
    return not field.values and not field.name.generic and field.match >= Match.TAIL


def _promise(field: Field) -> float:
    named = {KeyKind.ID: 2.0, KeyKind.CODE: 1.5, KeyKind.NONE: 0.0}[field.name.kind]
    return named + field.unique + 0.5 * (field.place == 0) + 0.1 * field.match


def _key_column(field: Field, *, settled: bool) -> KeyColumn:
    first, last = field.span or (-1, -1)
    return KeyColumn(
        **{each: getattr(field, each) for each in _OF_FIELDS},
        name=field.header[:200],
        type=field.type,
        sketch=pack(field.sketch, KEPT_HASHES),
        settled=settled,
        first=first,
        last=last,
        blocks=header_blocks(field) + value_blocks(field),
    )
