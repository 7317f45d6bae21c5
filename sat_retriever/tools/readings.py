"""Readings of a text as a number, date, time or truth value, in every usual notation.

`Readings` reads a text that is one value, `said` finds the numbers and days in a sentence.
"""

from __future__ import annotations

import datetime as dt
import math
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from sat_retriever.text.numbers import TextNumbers, numbers_of, scaled
from sat_retriever.text.period.spellings import spelled
from sat_retriever.text.segment import stems
from sat_retriever.workbook.window import CellValue

LONGEST = 60
"""Characters of a value as a cell shows it; a longer question is looked for as a text."""
_SHOWN_ROUNDED = 2  # decimals from which a number is taken for a rounded one
_SHARES = {"%": 2, "‰": 3}  # signs of shares, and by how many decimals they move the point
_OTHER_MARKS = str.maketrans(",.", ".,")
_DECIMALS = re.compile(r"[.,](\d+)(?:[eE]([+-]?\d{1,3}))?\D*$")
_DIGITS = re.compile(r"(\()?([0-9]+)(?(1)\))")
_ACCOUNTED = re.compile(r"([^\d(]{1,4})\((.+)\)")  # $ (1,250.00)
_MONTH = re.compile(r"(\d{1,2})[./-](\d{4})|(\d{4})[./-](\d{1,2})")
_DAY = re.compile(r"(\d{1,4})\s?([./-])\s?(\d{1,2})\s?\2\s?(\d{1,4})\.?")
_TIME = re.compile(
    r"(?:^|(?<=[\sT,]))(\d{1,4}):(\d\d)(?::(\d\d))?(?:[.,]\d+)?\s?(?:([ap])\.?m\.?)?$",
    re.IGNORECASE,
)
# How cells that are dates, times or durations reach us: ISO, and Python's form of a duration.
_MOMENT = re.compile(
    r"(?:(\d{4}-\d\d-\d\d)(?:[T ]|$))?(?:(-?\d+) days?, )?"
    r"(?:(\d{1,4}):(\d\d)(?::(\d\d)(?:\.\d+)?)?)?"
)
_SAID_DAY = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./](?:\d{4}|\d\d)(?!\w)")
_SAID_NUMBER = re.compile(
    r"(?<![\w.,])[-−+]?(?:[$€£¥₽₹]\s?)?(?P<digits>\d+(?:[.,'’\u00a0\u202f]\d+)*)"
    r"(?:[eE][-+]?\d{1,3}(?!\w))?(?!\d)(?P<share>\s?[%‰])?"
)
_SCALE_BEHIND = re.compile(r"\s?[^\W\d_]+")
_WORD = re.compile(r"\w+")
_DAY_DIGITS = {3: ([1, 4], [2, 4]), 2: ([1], [2], [4])}  # of its numbers, by its words
_LEAST_DIGITS = 3  # from which a number in a sentence is taken for a rounded one
_MOST_READ = 5_000  # characters of a cell
_UNITS = (86_400, 3_600, 60, 1)  # seconds of a day, an hour, a minute, a second
_TRUTHS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Numbers:
    """A number that is looked for.

    Attributes:
        room: How far from it a number is that is shown like it.
        step: What a one in its last digit is worth; the share's, for a share.
        unit: Unit that a text with the number has, if it has any; None if any will do.
        cells: True if it may stand in a cell of numbers; 25 does not, where 25 % are looked for.
    """

    value: float
    room: float = 0.0
    step: float = 1.0
    unit: str | None = None
    cells: bool = True

    def meets(self, value: float) -> bool:
        """True if a number is shown like this one."""
        return abs(value - self.value) <= self.room


@dataclass(frozen=True, slots=True)
class Readings:
    """Values that a text may stand for.

    Attributes:
        days: Days as ISO writes them, or a part of that: a month (2024-04), a day of any year
            (-04-03).
        seconds: A time of day or a duration, in seconds; None for none.
        minutes: True if that time is told in minutes alone.
    """

    numbers: tuple[Numbers, ...] = ()
    days: frozenset[str] = frozenset()
    seconds: int | None = None
    minutes: bool = False
    truth: bool | None = None

    @classmethod
    def of(cls, question: str) -> Readings:
        """Read a question in every usual notation; nothing if it is longer than any value.

        >>> [each.value for each in Readings.of("1.250,00 €").numbers], Readings.of("TRUE").truth
        ([1250.0], True)
        >>> sorted(Readings.of("03.04.2024").days), Readings.of("2:30 PM").seconds
        (['2024-03-04', '2024-04-03'], 52200)
        """
        text = question.strip()
        if len(text) > LONGEST:
            return cls()
        time = _TIME.search(text)
        seconds = _seconds(time) if time else None
        rest = text if seconds is None or time is None else text[: time.start()].rstrip(" ,T")
        days = frozenset(_days(rest)) if rest else frozenset[str]()
        if seconds is not None and rest and not days:
            return cls()
        minutes = time is not None and time[3] is None
        truth = _TRUTHS.get(text.casefold())
        return cls(tuple(dict.fromkeys(_numbers(text))), days, seconds, minutes, truth)

    def hold(self, value: CellValue) -> bool:
        """True if a cell has one of the values."""
        if isinstance(value, bool):
            return value is self.truth
        if isinstance(value, str):
            return self._in_text(value)
        return value is not None and any(x.cells and x.meets(value) for x in self.numbers)

    def _in_text(self, text: str) -> bool:
        if (self.days or self.seconds is not None) and text and (moment := _MOMENT.fullmatch(text)):
            return self._is_moment(moment)
        if not self.numbers or len(text) > LONGEST or not any(map(str.isdigit, text)):
            return False
        own = numbers_of([text])
        return own is not None and any(_agree(own, each) for each in self.numbers)

    def _is_moment(self, moment: re.Match[str]) -> bool:
        """True for a day, a time or both that are looked for."""
        day = moment[1] or ""
        if self.days and not (day and any(_is_part(each, day) for each in self.days)):
            return False
        if self.seconds is None or (not self.days and moment[3] is None):
            return self.seconds is None
        own = sum(int(moment[n] or 0) * unit for n, unit in zip((2, 3, 4, 5), _UNITS, strict=True))
        return own // 60 == self.seconds // 60 if self.minutes else own == self.seconds

    def words(self) -> list[list[str]]:
        """The words that texts of an index have for the values, as stems: some for each value."""
        found = [stems(each) for each in sorted(self.days)]
        for each in self.numbers:
            whole = float(each.value).is_integer()
            found.append(stems(str(int(each.value) if whole else each.value)))
        return found


@dataclass(frozen=True, slots=True)
class Said:
    """A number or a day in a sentence.

    Attributes:
        text: As the sentence writes it.
        days: Parts of days as ISO writes them; empty for a number.
    """

    text: str
    readings: Readings

    def is_in(self, value: CellValue) -> bool:
        """True if a cell has it, also among the words of a longer text.

        A cell may have it below zero, as a sentence says of a loss, and the day of a year.
        """
        if self.readings.hold(value):
            return True
        if isinstance(value, str):
            return any(self.meets(each) for each in _said_once(value))
        return value is not None and value < 0 and self.readings.hold(-value)

    def meets(self, other: Said) -> bool:
        """True if another sentence says the same, perhaps in more digits, or with a sign."""
        mine, others = self.readings, other.readings
        if mine.days:
            return any(_is_part(asked, day) for asked in mine.days for day in others.days)
        if others.days:
            years = {day[:4] for day in others.days}
            return any(str(each.value) in years for each in mine.numbers)
        return any(
            one.meets(two.value) or one.meets(abs(two.value))
            for one in mine.numbers
            for two in others.numbers
        )


def said(sentence: str) -> list[Said]:
    """Return the numbers and days that a text says, in its order.

    A number of three digits or more stands for all that are rounded to it; a scale behind it
    counts. Days are written in figures, or with the name of the month. Digits that letters stand
    before, as in CO2, are no number.

    >>> [each.text for each in said("CO2 fell to 12.2 % (2 January 2024), by $8.4 million in Q3.")]
    ['12.2 %', '2 January 2024', '$8.4 million']
    >>> [number] = said("some 12.2 years")
    >>> number.is_in(12.1666), number.is_in("lasts 12.17 years"), number.is_in(12.4)
    (True, True, False)
    """
    found = list(_said_days(sentence))
    taken = [span for span, _ in found]
    for match in _SAID_NUMBER.finditer(sentence):
        start, end = match.span()
        if end - start <= LONGEST and not _overlaps((start, end), taken):
            behind = None if match["share"] else _SCALE_BEHIND.match(sentence, end)
            written = match[0].strip()
            if behind and scaled(f"{written}{behind[0]}").power:
                written += behind[0]
            numbers = tuple(_said_numbers(written, match["digits"]))
            found += [((start, end), Said(written, Readings(numbers)))] if numbers else []
    return [each for _, each in sorted(found, key=lambda each: each[0])]


@lru_cache(2_000)
def _said_once(text: str) -> tuple[Said, ...]:
    """Return what a cell says; each value of an answer is looked for in the same cells."""
    return tuple(said(text[:_MOST_READ]))


def _said_numbers(written: str, digits: str) -> Iterator[Numbers]:
    """Yield what a number in a sentence may stand for, as rounded as it is written."""
    part = scaled(written)
    figures = re.sub(r"\D", "", digits).lstrip("0")
    for each in _numbers(part.number):
        room = each.room
        if len(figures) >= _LEAST_DIGITS:
            room = max(room, 0.5 * each.step)
        yield replace(each, room=room)
        if part.power:
            scale = 10.0**part.power
            yield replace(each, value=each.value * scale, room=room * scale)


def _said_days(sentence: str) -> Iterator[tuple[tuple[int, int], Said]]:
    """Yield the days of a sentence, each with its place: in figures, then with a month's name."""
    taken: list[tuple[int, int]] = []
    for match in _SAID_DAY.finditer(sentence):
        if days := Readings.of(match[0]).days:
            taken.append(match.span())
            yield match.span(), Said(match[0], Readings(days=days))
    words = [match.span() for match in _WORD.finditer(sentence)]
    for size in (3, 2):
        for first, last in zip(words, words[size - 1 :], strict=False):
            text, span = sentence[first[0] : last[1]], (first[0], last[1])
            digits = sorted(map(len, re.findall(r"\d+", text)))
            if _overlaps(span, taken) or digits not in _DAY_DIGITS[size]:
                continue
            if days := Readings.of(text).days:
                taken.append(span)
                yield span, Said(text, Readings(days=days))


def _overlaps(span: tuple[int, int], taken: Iterable[tuple[int, int]]) -> bool:
    return any(first < span[1] and span[0] < last for first, last in taken)


def _is_part(asked: str, day: str) -> bool:
    return day.endswith(asked) if asked.startswith("-") else day.startswith(asked)


def _agree(own: TextNumbers, asked: Numbers) -> bool:
    """True if a text writes a number that is looked for, or the share that it is."""
    value, shift = own.values[0], _SHARES.get(own.unit or "")
    if shift and asked.unit is None:
        return asked.meets(value / 10**shift)
    units = {each.casefold() for each in (own.unit, asked.unit) if each}
    return asked.meets(value) and len(units) < 2


def _numbers(text: str) -> Iterator[Numbers]:
    text = _ACCOUNTED.sub(r"(\1\2)", text)
    if digits := _DIGITS.fullmatch(text):  # 01001 is shown of 1001, (1) of -1
        yield Numbers(-int(digits[2]) if digits[1] else int(digits[2]))
    for written in (text, text.translate(_OTHER_MARKS)):
        read = numbers_of([written])
        if read is None or not math.isfinite(read.values[0]):
            continue
        value, unit = read.values[0], read.unit
        match = _DECIMALS.search(written) if isinstance(value, float) else None
        shown, exponent = (len(match[1]), int(match[2] or 0)) if match else (0, 0)
        shift = _SHARES.get(unit or "", 0)
        step = 10.0 ** min(exponent - shown, sys.float_info.max_10_exp)
        yield Numbers(value, _room(value, shown, exponent), step, unit, cells=not shift)
        if shift:
            share = value / 10**shift
            room = _room(share, shown + shift, exponent)
            yield Numbers(share, room, step / 10**shift, unit)


def _room(value: float, shown: int, exponent: int) -> float:
    """How far a number is from what is shown like it: as a float is exact, or is rounded.

    Args:
        shown: Decimals that are shown; none of an integer, which is exact.
        exponent: Power of ten behind them.
    """
    if isinstance(value, int):
        return 0.0
    is_rounded = shown >= _SHOWN_ROUNDED and abs(exponent) < sys.float_info.max_10_exp
    rounded = 0.5 * 10.0 ** (exponent - shown) if is_rounded else 0.0
    return rounded + 2 * math.ulp(value)


def _days(text: str) -> Iterator[str]:
    """The days that a text may name, in ISO's form; see `Readings.days`."""
    match = _DAY.fullmatch(text)
    if match:
        first, second, third = match[1], match[3], match[4]
        orders = [(third, second, first), (third, first, second)]
        for year, month, day in [(first, second, third)] if len(first) == 4 else orders:
            yield from _valid(year, month, day)
        return
    if match := _MONTH.fullmatch(text):
        month, year = int(match[1] or match[4]), match[2] or match[3]
        yield from ([f"{year}-{month:02}"] if 1 <= month <= 12 else [])
        return
    units = spelled(text)
    found = units.units
    if units.rest or not found.keys() <= {"year", "month", "day"} or "month" not in found:
        return
    if "day" not in found:
        yield from ([f"{found['year']:04}-{found['month']:02}"] if "year" in found else [])
    elif "year" in found:
        yield f"{found['year']:04}-{found['month']:02}-{found['day']:02}"
    else:
        yield f"-{found['month']:02}-{found['day']:02}"


def _valid(year: str, month: str, day: str) -> Iterator[str]:
    """A day in ISO's form, of either century if its year has two digits; none if there is none."""
    if len(year) not in (2, 4) or len(day) > 2 or len(month) > 2:
        return
    for full in [int(year)] if len(year) == 4 else [1900 + int(year), 2000 + int(year)]:
        try:
            yield dt.date(full, int(month), int(day)).isoformat()
        except ValueError:  # the 30th of February
            continue


def _seconds(time: re.Match[str]) -> int | None:
    """Seconds of a time of day or a duration; None if there is no such time."""
    hours, minutes, seconds = (int(time[n] or 0) for n in (1, 2, 3))
    if minutes > 59 or seconds > 59 or (time[4] and not 1 <= hours <= 12):
        return None
    if time[4]:
        hours = hours % 12 + (12 if time[4] in "pP" else 0)
    return hours * 3_600 + minutes * 60 + seconds
