"""Find the period of a sheet and its family: sheets with the same content for other times."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from sat_retriever.records.formats import without_extension
from sat_retriever.records.links import Link, LinkType
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.period.spellings import LIMITS, plain, spelled

MAX_FAMILY = 240
_UNITS = ("year", "half", "quarter", "month", "week", "day")  # coarse to fine
_WITH_YEAR = ("fiscal", "since")
# Whole names that name a time only below a name with a year, or with a month as well.
_BELOW_YEAR = (
    ("month", re.compile(r"(0[1-9]|1[0-2])")),
    ("quarter", re.compile(r"t?([1-4])t?(?<=t.|.t)")),
    ("half", re.compile(r"s?([12])s?(?<=s.|.s)")),
    ("week", re.compile(r"w ?(\d\d?)")),
)
_BELOW_MONTH = (
    ("day", re.compile(r"(?:day |tag |jour |dia )?(\d\d?)(?:st|nd|rd|th)?")),
    ("week", re.compile(r"w ?(\d)")),
)


class Grain(StrEnum):
    """The length of a period."""

    YEAR = "year"
    YEARS = "years"
    HALF = "half"
    QUARTER = "quarter"
    MONTHS = "months"
    MONTH = "month"
    WEEK = "week"
    MONTH_WEEK = "month_week"
    DAY = "day"


@dataclass(frozen=True, slots=True)
class SheetPeriod:
    """The time of a sheet, read from its name and from its file's and folders' names."""

    # Names of folders, file and sheet without the words for the period, case-folded; sheets of one
    # family have the same content for different times.
    family: str
    grain: Grain  # length of the period; only periods of equal length are put in order
    year: int  # year; the last year of a span or fiscal year; 0 if none is named
    # Position in the year, ascending: the number of the half, quarter, month or ISO week; month *
    # 100 + day; month * 100 + week of the month; first month * 100 + last month; 0 for YEAR, the
    # first year for YEARS.
    part: int
    label: str  # the period as text, for example "2024 Q1" or "2024-03"


def period_of(record: SheetRecord) -> SheetPeriod | None:
    """Read the period in a sheet's names, and the sheet's family; None if they name no period.

    The sheet's name takes precedence over the file's, and the file's over the nearest folder's.
    A sheet of a month in a workbook of a year is that month of that year.

    >>> record = SheetRecord("", "Jan", workbook="Budget 2024.xlsx", path="hr/Budget 2024.xlsx")
    >>> period = period_of(record)
    >>> period.family, period.label, period.part
    ('hr/budget#', '2024-01', 1)
    """
    path = record.path or record.workbook
    *folders, file = path.split("/")
    levels = [*folders[-16:], without_extension(file), record.sheet]
    units: Mapping[str, int] = {}
    rests = []
    for level in levels:
        found, rest = _read_level(level, units)
        units = _below(units, found)
        rests.append(rest)
    shape = _shape(units)
    if shape is None:
        return None
    *upper, name = rests
    family = f"{'/'.join(rest for rest in upper if rest)}#{name}"
    return SheetPeriod(family[-MAX_FAMILY:], *shape)


def sibling_links(
    members: Sequence[tuple[str, SheetPeriod]], *, alike: Callable[[str, str], float] | None = None
) -> list[Link]:
    """Link each sheet to the same sheet of earlier periods, with at most two links a sheet.

    One link goes to the period before it, one to the same part of the nearest earlier year. The
    weight is 1 / distance, in periods of that length or in years. If several sheets share a
    period, each is linked to one sheet of the same rank. Family and grain must be equal.

    Members may be of several families, in any order. The weight is multiplied by `alike`, the
    similarity in [0, 1] of two sheets; a link of weight 0 is left out.
    """
    families: dict[tuple[str, Grain, bool], dict[tuple[int, int], list[tuple[str, str]]]] = {}
    for sheet, period in sorted(members, key=lambda member: member[0]):
        key = (period.family, period.grain, period.year > 0)
        times = families.setdefault(key, {})
        times.setdefault((period.year, period.part), []).append((sheet, period.label))
    links = []
    for (_, grain, _), times in sorted(families.items()):
        for later, earlier, weight in _neighbours(sorted(times), grain):
            for place, (sheet, label) in enumerate(times[later]):
                other, other_label = times[earlier][place % len(times[earlier])]
                strength = round(weight * (alike(sheet, other) if alike else 1.0), 4)
                if strength > 0:
                    evidence = f"{label} -> {other_label}"
                    links.append(
                        Link(sheet, other, LinkType.SIBLING_PERIOD.value, strength, evidence)
                    )
    return links


def _neighbours(
    times: Sequence[tuple[int, int]], grain: Grain
) -> Iterator[tuple[tuple[int, int], tuple[int, int], float]]:
    """Yield a later time, an earlier time and the weight for each pair of ascending times."""
    last_with: dict[int, tuple[int, int]] = {}
    for place, time in enumerate(times):
        year, part = time
        before = times[place - 1] if place else None
        if before is not None:
            steps = max(1, _ordinal(time, grain) - _ordinal(before, grain))
            yield time, before, 1 / steps
        same = last_with.get(part)
        if same is not None and same != before:
            yield time, same, 1 / (year - same[0])
        last_with[part] = time


def _ordinal(time: tuple[int, int], grain: Grain) -> int:
    """Return the number of a period, counted in its own length."""
    year, part = time
    match grain:
        case Grain.HALF | Grain.QUARTER | Grain.MONTH | Grain.WEEK:
            return year * LIMITS[grain.value] + part
        case Grain.MONTHS:
            return year * 12 + part // 100
        case Grain.MONTH_WEEK:
            return (year * 12 + part // 100) * 5 + part % 100
        case Grain.DAY:  # counted from the month's first day: older indexes have a 30th of February
            month, day = divmod(part, 100)
            return date(year or 2000, month, 1).toordinal() + day - 1
    return year


def _read_level(name: str, above: Mapping[str, int]) -> tuple[Mapping[str, int], str]:
    found = spelled(name, dated="year" in above)
    if found.units or "year" not in above:
        return found.units, found.rest
    text = plain(name)
    for unit, pattern in _BELOW_MONTH if "month" in above else _BELOW_YEAR:
        match = pattern.fullmatch(text)
        if match and 1 <= int(match[1]) <= LIMITS[unit]:
            return {unit: int(match[1])}, ""
    return found.units, found.rest


def _below(above: Mapping[str, int], found: Mapping[str, int]) -> Mapping[str, int]:
    """Complete the units of a name with the coarser units of the names above it."""
    coarsest = next((unit for unit in _UNITS if unit in found), None)
    if coarsest is None:
        return above
    kept = _UNITS[: _UNITS.index(coarsest)]
    if "year" in kept:
        kept += _WITH_YEAR
    return {unit: above[unit] for unit in kept if unit in above} | dict(found)


def _shape(units: Mapping[str, int]) -> tuple[Grain, int, int, str] | None:
    year, month = units.get("year", 0), units.get("month", 0)
    named = f"{'FY' * units.get('fiscal', 0)}{year}" if year else ""
    if month:
        return _within_month(units, named, year, month)
    for unit, grain, letter in _PARTS:
        if unit in units:
            label = f"{letter}{units[unit]}"
            return grain, year, units[unit], f"{named} {label}".strip()
    if not year:
        return None
    if "since" in units:
        return Grain.YEARS, year, units["since"], f"{units['since']}-{year}"
    return Grain.YEAR, year, 0, named


_PARTS = (("week", Grain.WEEK, "W"), ("quarter", Grain.QUARTER, "Q"), ("half", Grain.HALF, "H"))
_WHOLE = {
    (1, 12): (Grain.YEAR, 0, ""),
    **{(6 * n - 5, 6 * n): (Grain.HALF, n, f"H{n}") for n in (1, 2)},
    **{(3 * n - 2, 3 * n): (Grain.QUARTER, n, f"Q{n}") for n in (1, 2, 3, 4)},
}


def _within_month(
    units: Mapping[str, int], named: str, year: int, month: int
) -> tuple[Grain, int, int, str]:
    last = units.get("until")
    if last is not None:
        if (month, last) in _WHOLE and (named or last - month < 11):
            grain, part, label = _WHOLE[month, last]
            return grain, year, part, f"{named} {label}".strip()
        label = f"{month:02d}..{last:02d}"
        return Grain.MONTHS, year, month * 100 + last, f"{named}-{label}".strip("-")
    label = f"{named}-{month:02d}" if named else f"month {month:02d}"
    if "day" in units and units["day"] <= monthrange(year or 2000, month)[1]:
        return Grain.DAY, year, month * 100 + units["day"], f"{label}-{units['day']:02d}"
    if "week" in units:
        return Grain.MONTH_WEEK, year, month * 100 + units["week"], f"{label} W{units['week']}"
    return Grain.MONTH, year, month, label
