"""Columns as sides of a join: header read as a key's name, sheet, and values."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache

from sat_retriever.links.join.names import KeyKind, KeyName, key_name, sheet_words
from sat_retriever.links.join.sketches import small_numbers
from sat_retriever.records.sheets import Column, ColumnType, SheetRecord
from sat_retriever.records.structure import ColumnProfile
from sat_retriever.text.period.periods import Grain, SheetPeriod, period_of
from sat_retriever.text.period.spellings import spelled

Days = tuple[int, int]
_MONTH_DAYS = 31  # days; all months have equal length, so that no calendar is needed
_YEAR_DAYS = 12 * _MONTH_DAYS


def span_of(period: SheetPeriod | None) -> Days | None:
    """First and last day of a period, counted in months of 31 days; None without one.

    A period without a year gives days of the year 0.

    >>> span_of(SheetPeriod("", Grain.QUARTER, 1, 2, "")), span_of(None)
    ((465, 557), None)
    """
    if period is None:
        return None
    first, last = _days_in_year(period)
    year = period.year * _YEAR_DAYS
    start = period.part * _YEAR_DAYS if period.grain is Grain.YEARS else year
    return start + first, year + last


def _days_in_year(period: SheetPeriod) -> Days:
    month, rest = divmod(period.part, 100)
    match period.grain:
        case Grain.HALF | Grain.QUARTER | Grain.MONTH:
            months = {Grain.HALF: 6, Grain.QUARTER: 3, Grain.MONTH: 1}[period.grain]
            return (period.part - 1) * months * _MONTH_DAYS, period.part * months * _MONTH_DAYS - 1
        case Grain.MONTHS:
            return (month - 1) * _MONTH_DAYS, rest * _MONTH_DAYS - 1
        case Grain.WEEK:
            return 7 * (period.part - 1), min(7 * period.part, _YEAR_DAYS) - 1
        case Grain.MONTH_WEEK:
            first = (month - 1) * _MONTH_DAYS + 7 * (rest - 1)
            return first, min(first + 6, month * _MONTH_DAYS - 1)
        case Grain.DAY:
            day = (month - 1) * _MONTH_DAYS + rest - 1
            return day, day
    return 0, _YEAR_DAYS - 1


def within(part: Days | None, whole: Days | None) -> bool:
    """True if a span lies within another one, or if either is None.

    >>> within((372, 743), (372, 743)), within((372, 743), (372, 402))
    (True, False)
    """
    if part is None or whole is None:
        return True
    if whole[0] < _YEAR_DAYS or part[0] < _YEAR_DAYS:  # one of them has no year
        if whole[1] - whole[0] >= _YEAR_DAYS - 1:
            return True
        part, whole = (_yearless(part), _yearless(whole))
    return whole[0] <= part[0] and part[1] <= whole[1]


def _yearless(span: Days) -> Days:
    first = span[0] % _YEAR_DAYS
    return first, first + span[1] - span[0]


MAX_COLUMNS = 256  # per table
MAX_TABLES = 8  # per sheet
_NEVER_KEYS = frozenset(
    (ColumnType.NUMBER, ColumnType.BOOLEAN, ColumnType.TIME, ColumnType.ERROR, ColumnType.EMPTY)
)
_NO_PROFILE = ColumnProfile("", 0, 0, 0, 0)
UNIQUE = 0.98  # totals and gaps make a key's values repeat occasionally
_TEXTS = frozenset((ColumnType.TEXT, ColumnType.DATE, ColumnType.TIME, ColumnType.BOOLEAN))
_NUMBERS = frozenset((ColumnType.INTEGER, ColumnType.NUMBER))
_WIDE_TABLE = 6  # columns
_LONGEST_TIME = 24  # characters
_DIGITS = re.compile(r"\d+")


class Match(IntEnum):
    """Degree to which the words of a key name a sheet."""

    NONE = 0
    PART = 1  # some word, or the start of one
    HEAD = 2  # the sheet's first words: customer in Customer_Orders
    TAIL = 3  # its last words: company in Third_Party_Companies
    EXACT = 4


@dataclass(frozen=True, slots=True)
class Field:
    """One column that may refer to another sheet, or be referred to."""

    sheet_id: str
    sheet: str
    workbook: str  # path or name of the workbook
    header: str
    place: int  # position in its table, from 0
    name: KeyName  # its header read as a key's name
    entity: tuple[str, ...]  # stems of the sheet's name
    match: Match  # how well the header names its own sheet
    main: bool = False  # True if it is the likeliest key of its own table's rows
    type: ColumnType = ColumnType.UNKNOWN
    values: int = 0  # cells with a value; 0 if they are not known
    distinct: int = 0
    sketch: tuple[int, ...] = field(default=(), repr=False)  # ascending hashes of values, bottom-k
    wide: bool = False  # True if its values are telling by themselves, which small numbers are not
    # Digest of its table's headers. Tables of one layout are parts of one list, and none of them
    # owns a key of another. Empty for a table of one column.
    layout: str = ""
    texts: int = 0  # other columns of its table that hold words or dates: they describe its rows
    numbers: int = 0  # other columns of its table that hold numbers
    # First and last day that its sheet's names give; None if they give none.
    span: Days | None = None
    gathers: bool = False  # True if formulas of its sheet gather from other sheets

    @property
    def once(self) -> bool:
        """True if its values are known and nearly all different."""
        return self.unique >= UNIQUE

    @property
    def unique(self) -> float:
        """Distinct values as a share of all; 0 if they are not known."""
        return self.distinct / self.values if self.values else 0.0

    @property
    def leads(self) -> bool:
        """True if its table may be a list of its values, judged by position or header."""
        return self.place == 0 or self.main or self.name.kind is not KeyKind.NONE

    @property
    def bare(self) -> bool:
        """True if its header is only a word for a key: "id", "Code"."""
        return not self.name.words and self.name.kind is not KeyKind.NONE


def fields_of(
    records: Iterable[SheetRecord], profiles: Iterable[ColumnProfile], gathering: Set[str]
) -> list[list[Field]]:
    """The `sheet_fields` of each sheet of a workbook; those of `gathering` gather others' rows."""
    known: dict[str, list[ColumnProfile]] = {}
    for profile in profiles:
        known.setdefault(profile.sheet, []).append(profile)
    return [
        [*sheet_fields(each, known.get(each.sheet, ()), gathers=each.sheet_id in gathering)]
        for each in records
    ]


def sheet_fields(
    record: SheetRecord, profiles: Sequence[ColumnProfile] = (), *, gathers: bool = False
) -> Iterator[Field]:
    """The columns of a sheet that have a header and may be keys by type, main table first.

    If values were read, a column without a profile has long texts or a single value. It is a key
    only if its header names one.
    """
    span, entity = span_of(period_of(record)), sheet_words(record.sheet)
    known = {(profile.table, profile.column): profile for profile in profiles}
    tables = [table.columns for table in record.tables[:MAX_TABLES]] or [record.columns]
    for number, all_columns in enumerate(tables):
        columns = all_columns[:MAX_COLUMNS]
        main, layout = _main_key(columns, entity), _layout(columns)
        kinds = Counter(column.type for column in columns)
        texts, numbers = (sum(kinds[kind] for kind in group) for group in (_TEXTS, _NUMBERS))
        for place, column in enumerate(columns):
            profile = known.get((number, place), _NO_PROFILE)
            if column.type in _NEVER_KEYS or not _may_name_key(column.name):
                continue
            name = key_name(column.name)
            if name.kind is KeyKind.NONE and known and not profile.values:
                continue
            yield Field(
                sheet_id=record.sheet_id,
                sheet=record.sheet,
                workbook=record.path or record.workbook,
                header=column.name,
                place=place,
                name=name,
                entity=entity,
                match=match(name.words, entity),
                main=place == main,
                type=column.type,
                values=profile.values,
                distinct=profile.distinct,
                sketch=profile.sketch,
                wide=bool(profile.sketch) and not small_numbers(profile.sketch),
                layout=layout,
                texts=texts - (column.type in _TEXTS),
                numbers=numbers - (column.type in _NUMBERS),
                span=span,
                gathers=gathers,
            )


@lru_cache(maxsize=65_536)
def _may_name_key(header: str) -> bool:
    """True if a header is not blank and not only a time: 2022, Jan, Q1 2024."""
    if not header.strip() or len(header) > _LONGEST_TIME:
        return bool(header.strip())
    found = spelled(header)
    return bool(found.rest or not found.units)


def _layout(columns: Sequence[Column]) -> str:
    """Digest of the headers in their order, ignoring numbers, for example years.

    The first header of a wide table is ignored, because it names the table's content.
    """
    named = [each.name for each in columns if each.name.strip()]
    if len(named) < 2:
        return ""
    kept = named[1:] if len(named) >= _WIDE_TABLE else named
    headers = dict.fromkeys(" ".join(_DIGITS.sub(" ", name.casefold()).split()) for name in kept)
    text = "\n".join(headers)
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()


def _main_key(columns: Sequence[Column], entity: tuple[str, ...]) -> int:
    """Position of the column that most likely identifies the rows of a sheet.

    It is an id that is bare or names the sheet; else a first column that is any key; else a
    code that is bare or names the sheet; else the first column.
    """
    ranked = []
    for place, column in enumerate(columns):
        name = key_name(column.name)
        own = not name.words or match(name.words, entity) >= Match.TAIL
        rank = 3
        if name.kind is KeyKind.ID and own:
            rank = 0
        elif name.kind is not KeyKind.NONE and place == 0:
            rank = 1
        elif name.kind is KeyKind.CODE and own:
            rank = 2
        ranked.append((rank, place))
    return min(ranked, default=(0, 0))[1]


@lru_cache(maxsize=65_536)
def match(key: tuple[str, ...], entity: tuple[str, ...]) -> Match:
    """The degree to which the words of a key name a sheet.

    >>> match(("item",), ("item",)), match(("item",), ("item", "list")).name
    (<Match.EXACT: 4>, 'HEAD')
    """
    if not key or not entity:
        return Match.NONE
    if key == entity or "".join(key) == "".join(entity):
        return Match.EXACT
    shorter, longer = sorted((key, entity), key=len)
    if longer[len(longer) - len(shorter) :] == shorter:
        return Match.TAIL
    if longer[: len(shorter)] == shorter:
        return Match.HEAD
    if any(word in entity for word in key) or _abbreviates("".join(key), entity):
        return Match.PART
    return Match.NONE


def _abbreviates(key: str, entity: Sequence[str]) -> bool:
    """True if a key is the start of one of the words, or their first letters."""
    if "".join(word[0] for word in entity) == key and len(key) > 1:
        return True
    return len(key) > 2 and any(word.startswith(key) for word in entity)
