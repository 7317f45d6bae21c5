"""The text that a cell shows for its value, by its format code."""

from __future__ import annotations

import calendar
import datetime as dt
import math
from collections.abc import Iterator, Sequence

from sat_retriever.text.numbers import decimal_text
from sat_retriever.text.oneline import one_line
from sat_retriever.workbook.values.formatcode import FormatCode, Kind, Part, Section, format_code
from sat_retriever.workbook.values.grid import CellError, Value
from sat_retriever.workbook.values.shownnumber import number_text

_EPOCH = dt.datetime(1899, 12, 30)
_SECOND, _DAY = 1_000_000, 86_400_000_000  # microseconds
_MILLI = 1_000  # as exact as a file's days are


def shown_text(value: Value, code: str) -> str | None:
    """The text of a value in a cell with a format code; None if the code does not say.

    Marks are those of the code, whatever the reader's country: `,` between thousands, `.` before
    decimals. Spaces that only align, and colours, are left out. A value that the cell would hide
    is not said, and neither are dates with names of months in other languages than English.

    >>> shown_text(0.075, "0.0%"), shown_text(-1234.5, '#,##0.00 "€"'), shown_text(-3, "0;(0)")
    ('7.5%', '-1,234.50 €', '(3)')
    >>> shown_text(dt.date(2024, 3, 1), "d. mmm yy"), shown_text(dt.timedelta(hours=30), "[h]:mm")
    ('1. Mar 24', '30:00')
    >>> shown_text(True, "0.0"), shown_text("n.d.", "0.0"), shown_text(5, ";;;")
    (None, None, None)
    """
    found = format_code(code)
    if found is None or value is None or isinstance(value, (bool, CellError)):
        return None
    return one_line(_text(value, found) or "") or None


def _text(value: Value, code: FormatCode) -> str | None:
    if isinstance(value, str):
        return _words(code.text.parts, value) if code.text else None
    number = _number(value)
    chosen = code.for_number(number) if math.isfinite(number) else None
    if chosen is None:
        return None
    section, minus = chosen
    if section.kind is Kind.WORDS:
        text: str | None = _words(section.parts)
    elif section.kind is Kind.MOMENT:
        text = None if isinstance(value, (int, float)) else _moment_text(section, value)
    elif not isinstance(value, (int, float)):
        return None
    elif any(each.name == "general" for each in section.parts):
        text = _words(section.parts, _general(abs(number)))
    else:
        text = number_text(section, abs(number))
        minus = minus and any(letter in "123456789" for letter in text or "")
    return f"-{text}" if minus and text else text


def _number(value: Value) -> float:
    """A value as the number that decides on a section: days for dates and times."""
    if isinstance(value, (int, float)):
        return float(value) if abs(value) < 1e300 else math.inf
    return _microseconds(value) / _DAY


def _general(number: float) -> str:
    whole = number.is_integer() and number < 1e15
    return str(int(number)) if whole else decimal_text(number).upper()


def _words(parts: Sequence[Part], value: str = "") -> str:
    """The texts of a section, with a value where it has a place for one."""
    return "".join(value if each.name in ("text", "general") else each.text for each in parts)


def _microseconds(value: Value) -> int:
    """A date or time as microseconds since the first day of Excel; a time since midnight."""
    if isinstance(value, dt.timedelta):
        length = value
    elif isinstance(value, dt.time):
        length = dt.datetime.combine(_EPOCH, value.replace(tzinfo=None)) - _EPOCH
    elif isinstance(value, dt.datetime):
        length = value.replace(tzinfo=None) - _EPOCH
    elif isinstance(value, dt.date):
        length = dt.datetime(value.year, value.month, value.day) - _EPOCH
    else:
        raise TypeError(f"{type(value).__name__} is no date or time")
    return length // dt.timedelta(microseconds=1)


def _moment_text(section: Section, value: Value) -> str | None:
    """A date or a time; None for a date of which only the time is known, or names not known."""
    parts = list(_with_minutes(section.parts))
    seconds = [each for each in parts if each.text[:1] == "s" and each.name in ("time", "elapsed")]
    # Seconds are rounded to what is shown of them; longer units are cut.
    decimals = max((len(each.text.partition(".")[2]) for each in seconds), default=0)
    timed = any(each.name in ("time", "elapsed") and each.text[0] in "hns" for each in parts)
    unit = _SECOND // 10**decimals if timed else _MILLI
    micros = (_microseconds(value) + unit // 2) // unit * unit
    named = any(each.name == "half" or _names(each) for each in parts)
    dated = isinstance(value, dt.date)
    days = any(each.name == "time" and each.text[0] in "ymde" for each in parts)
    if micros < 0 or (days and not dated) or (named and not section.english):
        return None
    try:
        moment = _EPOCH + dt.timedelta(microseconds=micros)
    except OverflowError:
        return None
    twelve = any(each.name == "half" for each in parts)
    return "".join(_part_text(each, moment, micros, twelve=twelve) for each in parts)


def _with_minutes(parts: Sequence[Part]) -> Iterator[Part]:
    """The parts in small letters, with `n` for minutes: an `m` behind hours or before seconds."""
    times = [place for place, each in enumerate(parts) if each.name in ("time", "elapsed")]
    for place, each in enumerate(parts):
        text = each.text.lower() if place in times else each.text
        if each.name == "time" and text[0] == "m" and len(text) <= 2:
            at = times.index(place)
            before = parts[times[at - 1]].text[0].lower() if at else ""
            after = parts[times[at + 1]].text[0].lower() if at + 1 < len(times) else ""
            text = "n" * len(text) if before == "h" or after == "s" else text
        yield Part(each.name, text)


def _names(part: Part) -> bool:
    return part.name == "time" and part.text[0] in "md" and len(part.text) > 2


def _part_text(part: Part, moment: dt.datetime, micros: int, *, twelve: bool) -> str:
    """One part of a date or time."""
    if part.name == "half":
        half = "AM" if moment.hour < 12 else "PM"
        return half[: len(part.text) // 2]  # AM/PM, A/P
    letters, _, decimals = part.text.partition(".")
    if part.name == "elapsed":
        length = {"h": 3_600, "m": 60, "s": 1}[letters[0]] * _SECOND
        return f"{micros // length:0{len(letters)}}{_decimals(micros, len(decimals))}"
    if part.name != "time":
        return part.text
    if letters[0] in "ye":
        return (
            f"{moment.year % 100:02}"
            if len(letters) <= 2 and letters[0] == "y"
            else f"{moment.year:04}"
        )
    if _names(part):
        full = (
            calendar.month_name[moment.month]
            if letters[0] == "m"
            else calendar.day_name[moment.weekday()]
        )
        return full if len(letters) == 4 else full[: 1 if len(letters) == 5 else 3]
    hour = (moment.hour % 12 or 12) if twelve else moment.hour
    number = {"m": moment.month, "d": moment.day, "h": hour, "n": moment.minute, "s": moment.second}
    return f"{number[letters[0]]:0{min(len(letters), 2)}}{_decimals(micros, len(decimals))}"


def _decimals(micros: int, places: int) -> str:
    return f".{micros % _SECOND:06}"[: places + 1] if places else ""
