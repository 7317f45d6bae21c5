"""Replace times that count from today by years and months: "last year" by "fy 2023".

    question, today -> the same question with its times in numbers -> `question.asked_times`

Periods are calendar periods, as in sheets: "last year" is the year before this one, and
"the last three years" are the three years before this one, not the 36 months up to today. The
present year is left out because its report is not finished; "since 2021" includes it. "Year to
date" is the whole present year: a sheet of 2024 that is still being filled is the best answer,
and sheets of months to come are rare. Weeks and days become the months that contain them. For
10 May 2024:

    last year, two years ago, the year before last     2023, 2022, 2022
    the last three years, the past decade              2021 to 2023, 2014 to 2023
    last quarter, the past 12 months                   January to March 2024, May 2023 to April 2024
    last week, the last 30 days, yesterday             April to May 2024 (twice), May 2024
    next quarter, the next two years                   July to September 2024, 2025 to 2026
    this decade, year to date, quarter to date         2020 to 2029, 2024, April to June 2024
    last March, last June, this January                March 2024, June 2023, January 2024
    growth against last year, and no other time        2023 to 2024
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial

from sat_retriever.text.pattern import pattern
from sat_retriever.text.period.marks import VERBS, marks
from sat_retriever.text.period.spellings import Y4, in_arabic
from sat_retriever.text.period.timewords import (
    COUNTS,
    FIXED,
    MONTHS,
    OF_CONTEXT,
    OFTEN_ELSE,
    PLURALS,
    SIDES,
    SIDES_BEHIND,
    UNITS,
    either,
)

FIRST_YEAR, LAST_YEAR = 1900, 2099  # of years that are read in questions
LENGTHS = {"month": 1, "quarter": 3, "half": 6}  # in months
_DAYS = {"week": 7, "day": 1}


def units_from(unit: str, first: int, last: int, today: date) -> str:
    """Write the calendar units from one to another, relative to the present one, in numbers.

    A week begins on Monday. Weeks and days become the months that contain them, because
    questions are read by months. Empty outside 1900 to 2099.

    >>> units_from("year", -3, -1, date(2024, 5, 10)), units_from("week", 0, 0, date(2024, 5, 1))
    ('fy 2021 to fy 2023', '2024-04 to 2024-05')
    """
    if unit == "decade":
        start = today.year // 10 * 10
        return _years(start + 10 * first, start + 10 * last + 9)
    if unit == "year":
        return _years(today.year + first, today.year + last)
    if unit in LENGTHS:
        length = LENGTHS[unit]
        place = _month(today) // length
        return _months((place + first) * length, (place + last + 1) * length - 1)
    days = _DAYS[unit]
    start_day = today - timedelta(days=today.weekday() if unit == "week" else 0)
    try:
        begin = start_day + timedelta(days=days * first)
        end = start_day + timedelta(days=days * (last + 1) - 1)
    except OverflowError:
        return ""
    return _months(_month(begin), _month(end))


def named_month(month: int, side: int, today: date) -> str:
    """Write the nearest month of a name: over (side -1), this year's (0), or to come (1).

    >>> [named_month(5, side, date(2024, 5, 10)) for side in (-1, 0, 1)]
    ['2023-05', '2024-05', '2025-05']
    """
    year = today.year
    if side < 0 and month >= today.month:
        year -= 1
    elif side > 0 and month <= today.month:
        year += 1
    return _months(12 * year + month - 1, 12 * year + month - 1)


def _month(day: date) -> int:
    return 12 * day.year + day.month - 1


def _years(first: int, last: int) -> str:
    if not FIRST_YEAR <= first <= last <= LAST_YEAR:
        return ""
    # "fy" keeps "2023 records" from being a count. A question's fiscal years are calendar years.
    return f"fy {first}" if first == last else f"fy {first} to fy {last}"


def _months(first: int, last: int) -> str:
    if not 12 * FIRST_YEAR <= first <= last < 12 * (LAST_YEAR + 1):
        return ""
    begin, end = (f"{month // 12}-{month % 12 + 1:02}" for month in (first, last))
    return begin if first == last else f"{begin} to {end}"


Match = re.Match[str]
Read = Callable[[Match, date], str]  # returns a phrase in numbers; empty if it is no such time

_N = rf"\d{{1,3}}|{either(COUNTS)}"
_UNIT, _SIDE = f"(?:{either(UNITS)})", f"(?:{either(SIDES)})"
_KIND = r"(?:(?:fiscal|financial|calendar|business|full|complete|whole) )*"
_START = (
    r"(?:(?:beginning|start) of (?:the|this)|(?:anfang|beginn) (?:des|der|dieses)"
    r"|debut de (?:la |l'|ce |cette )?|inicio del?(?: la)?)"
)
_TIME = rf"(?:(?:fy ?)?{Y4}|fy ?\d\d|[qh] ?[1-4]|{either(MONTHS)}|{_SIDE} {_KIND}{_UNIT})"

_BOTH = pattern(
    rf"(?<!\w)(?P<one>{_SIDE})(?P<gap> ?(?:,|/|and|or|vs\.?|versus|und|oder|et|ou|y|e|o) ?)"
    rf"(?=(?:the )?{_SIDE} {_KIND}(?P<unit>{_UNIT})(?!\w))"
)
_COMPARED = pattern(
    r"(?<!\w)(?:(?:compared?|comparison|relative) (?:to|with)|vs\.?|versus|against|than|over"
    r"|gegenuber|im vergleich zu[mr]?|als|par rapport a|frente al?)(?: that of)? ?$"
)
# A part of a whole named after it: "last week of March", "the last quarter of the year".
_OF_WHOLE = pattern(rf" of (?:the|an?|each|every|any|{_TIME})(?!\w)")
# A part of a year named beside it: "last quarter sales for 2021", "2022, last quarter".
_OF_YEAR = pattern(
    r"(?: (?!(?:and|or|vs|versus|with|to|than|against|und|et|y)(?!\w))[^\W\d]+){0,3}"
    rf",? ?['(\-]?(?:fy ?)?{Y4}(?!\w)"
)
_YEAR_AHEAD = pattern(rf"(?:{Y4}|fy ?\d\d)(?:'s)?,? ?(?:in )?(?:the )?$")
_TIME_BEHIND = pattern(rf"(?: (?:to|through|as of|until|for|in|of))? ?(?:\d\d? )?{_TIME}(?!\w)")
_TIME_AHEAD = pattern(rf"(?<!\w){_TIME}(?:'s)?,? ?-? ?$")
# "What was the last year that ..." asks for the final one; "over the last year" names a time.
_THE = pattern(r"(?<!\w)(?P<of>[^\W\d_]+ )?the $")
_OF_TIME = frozenset(
    "in of for over during within throughout from since to until till through by with against "
    "before after and or vs versus".split()
)
_CLAUSE = pattern(r",? (?:that|which|where|when|who|whose|i|we|they|he|she|it|in which)(?!\w)")
_UP_TO = pattern(r"(?:-|to|through|until|till|bis) ?$")  # "2020 to today" is open already
_ANY_YEAR = pattern(rf"(?<!\w)(?:{Y4}|fy ?\d\d)(?!\w)")
_YEARS = frozenset({"year", "decade"})
_HALVES = {"year": ("month", 6), "decade": ("year", 5)}
_TO_DATE = {"qtd": "quarter", "mtd": "month"}


def each_alone(text: str) -> str:
    """Repeat the unit where two sides share one.

    >>> each_alone("this and last year")
    'this year and last year'
    """
    return _BOTH.sub(lambda both: f"{both['one']} {both['unit']}{both['gap']}", text)


def _side_unit(match: Match, today: date, *, years: bool) -> str:
    """Write "last year", "the next 3 months", "12 derniers mois" in numbers."""
    unit, side = UNITS[match["unit"]], SIDES[match["side"]]
    count = match["count"] or match["count_behind"]
    if not count and side and _is_final(match):
        return ""
    vague = not PLURALS.isdisjoint((match["unit"], match["side"])) or unit == "day"
    if (unit in _YEARS) != years or (side == 0 if count else vague) or _of_other(match, unit, side):
        return ""  # "the last years", "the last day", "these 3 years"
    return _counted_units(match, unit, side, _number(count or "1"), today)


def _is_final(match: Match) -> bool:
    """True if "the last year" means the final one of some years rather than a time."""
    the = _THE.search(match.string[: match.start()])
    if the is None or match["side"] == "past":
        return False
    behind = _CLAUSE.match(match.string[match.end() :]) is not None
    return behind or (the["of"] or "").strip() not in _OF_TIME


def _of_other(match: Match, unit: str, side: int) -> bool:
    """True if a unit is part of a time named beside it, or counts from that time."""
    before, after = match.string[: match.start()], match.string[match.end() :]
    if match[0].startswith(OF_CONTEXT) and _ANY_YEAR.search(match.string):
        return True  # "2022 and the previous year"
    if side and (_OF_WHOLE.match(after) or re.search(r"(?<!\w)first (?:and|or|to) $", before)):
        return True
    if match[0].endswith("half") and after.startswith(" of "):
        return True
    return unit not in _YEARS and bool(_OF_YEAR.match(after) or _YEAR_AHEAD.search(before))


def _counted_units(match: Match, unit: str, side: int, number: int, today: date) -> str:
    """Write a number of units before or after the present one, or the present one itself."""
    if unit == "decade" and side:  # the ten years before, not those from 2010 to 2019
        unit, number = "year", 10 * number
    if unit == "day" and side < 0:  # today is the last day
        return units_from(unit, 1 - number, 0, today)
    first, last = (0, 0) if not side else (-number, -1) if side < 0 else (1, number)
    if (first, last) == (-1, -1) and _compares(match.string[: match.start()]):
        return " and ".join(units_from(unit, place, place, today) for place in (-1, 0))
    return units_from(unit, first, last, today)


def _compares(before: str) -> bool:
    """True if the time after these words is the baseline of a comparison without another time."""
    named = _SIDE_UNIT.search(before) or next(marks(before), None)
    return named is None and _COMPARED.search(before) is not None


def _unit_side(match: Match, today: date) -> str:
    """Write "année dernière", "mes pasado" in numbers."""
    unit, side = UNITS[match["unit"]], SIDES_BEHIND[match["side"]]
    return "" if _of_other(match, unit, side) else _counted_units(match, unit, side, 1, today)


def _ago(match: Match, today: date) -> str:
    """Write "two years ago", "vor drei Monaten", "more than half a year ago" in numbers."""
    unit, number = UNITS[match["unit"]], _number(match["count"] or "1")
    if match["half"]:
        unit, number = _HALVES.get(unit, ("", 0))
        if not unit:
            return ""  # "half a quarter ago"
    elif unit == "decade":
        unit, number = "year", 10 * number
    found = units_from(unit, -number, -number, today)
    return f"before {found}" if found and match.groupdict().get("more") else found


def _fixed(match: Match, today: date) -> str:
    """Write "yesterday", "Vorjahr" in numbers."""
    unit, place = FIXED[match[0]]
    up_to = place == 0 and _UP_TO.search(match.string[: match.start()])
    if up_to or _of_other(match, unit, place):
        return ""
    return units_from(unit, place, place, today)


def _side_month(match: Match, today: date) -> str:
    """Write "last March" in numbers; empty for "this may be" and "last March 2022"."""
    name, side = match["month"], SIDES[match["side"]]
    dated = re.match(rf",? ?'?(?:{Y4}|\d\d(?!\w))", match.string[match.end() :])
    if name in OFTEN_ELSE or (side == 0 and name in VERBS) or dated:
        return ""
    return named_month(MONTHS[name], side, today)


def _to_date(match: Match, today: date) -> str:
    """Write "QTD", "so far this year" in numbers; empty for "YTD June 2024"."""
    before, after = match.string[: match.start()], match.string[match.end() :]
    if _TIME_BEHIND.match(after) or _TIME_AHEAD.search(before):
        return ""
    said = match.groupdict().get("unit", "year")
    return units_from(_TO_DATE.get(said) or UNITS.get(said, "year"), 0, 0, today)


def _number(said: str) -> int:
    """Return a count given in digits or as a word.

    >>> _number("12"), _number("three"), _number("an")
    (12, 3, 1)
    """
    return int(said) if said.isdecimal() else COUNTS.get(said, 1)


def _phrase(text: str) -> re.Pattern[str]:
    return pattern(rf"(?<![\w.\-])(?:{text})(?!\w)")


_SIDE_UNIT = _phrase(
    rf"(?:(?P<count>{_N}) )?(?P<side>{_SIDE})[ \-](?:(?P<count_behind>{_N}) )?{_KIND}"
    rf"(?P<unit>{_UNIT})"
)
EUROPEAN: tuple[tuple[re.Pattern[str], Read], ...] = (
    (
        _phrase(rf"(?P<unit>{_UNIT}) before last"),
        lambda match, today: units_from(UNITS[match["unit"]], -2, -2, today),
    ),
    (_phrase(rf"{_SIDE} {_KIND}(?P<unit>{_UNIT}) (?:so far|to date)"), _to_date),
    (_phrase(rf"so far {_SIDE} (?P<unit>{_UNIT})"), _to_date),
    (_phrase(rf"(?:since|seit|depuis le|desde el) (?:the )?{_START} ?(?P<unit>{_UNIT})"), _to_date),
    (_phrase("seit jahres(?:beginn|anfang)|jahr bis heute"), _to_date),
    (_phrase("(?P<unit>ytd|qtd|mtd)"), _to_date),
    (_phrase(r"(?P<unit>year|quarter|month)[ \-]to[ \-](?:date|today)"), _to_date),
    (
        _phrase(
            r"(?P<more>(?:more than|over) )?(?<!and )(?:(?P<half>half an?|an? half)[ \-]"
            rf"|(?P<count>an?|{_N}) )(?P<unit>{_UNIT}) (?:ago|fa|geleden)"
        ),
        _ago,
    ),
    (
        _phrase(
            r"(?:vor|il y a|hace) (?:(?P<half>einem halben|medio)"
            rf"|(?P<count>{_N})) (?P<unit>{_UNIT})"
        ),
        _ago,
    ),
    (_phrase(either(FIXED)), _fixed),
    # Years come first: "last quarter of last year" needs the year when the quarter is read.
    (_SIDE_UNIT, partial(_side_unit, years=True)),
    (_phrase(rf"(?:l')?(?P<unit>{_UNIT}) (?P<side>{either(SIDES_BEHIND)})"), _unit_side),
    (_SIDE_UNIT, partial(_side_unit, years=False)),
    (_phrase(rf"(?P<side>{_SIDE}) (?P<month>{either(MONTHS)})"), _side_month),
)
"""The patterns, in the order in which they consume pieces of a question."""


_LAST, _THIS, _NEXT = "(?:上一?[个個]?|前一[个個])", "(?:本|[这這][个個]?)", "下一?[个個]?"
_WEEKS = "(?:周|週|星期|礼拜)"
_SINGLE = (
    ("year", -2, "前年|一昨年"),
    ("year", -1, "去年|昨年"),
    ("year", 0, "今年|本年度?"),
    ("year", 1, "明年|来年"),
    ("quarter", -1, f"{_LAST}季度?"),
    ("quarter", 0, f"{_THIS}季度?"),
    ("quarter", 1, f"{_NEXT}季度?"),
    ("month", -1, f"(?<![以线線]){_LAST}月|先月"),  # excludes 以上月, 线上月 ("above", "online")
    ("month", 0, f"(?<![日样樣]){_THIS}月|今月"),
    ("month", 1, f"(?<![以线線上]){_NEXT}月|来月"),
    ("week", -1, f"{_LAST}{_WEEKS}|先週"),
    ("week", 0, f"(?<![日样樣]){_THIS}{_WEEKS}|今週"),
    ("week", 1, f"{_NEXT}{_WEEKS}|来週"),
    ("day", -1, "昨[天日]"),
    ("day", 0, "今[天日]"),
)
_CJK_COUNT = r"(?P<count>\d\d?|[一二两兩三四五六七八九十]{1,3})"
_CJK_UNIT = "(?P<unit>年|[个個]?季度|[个個]月|[ヶか]月|[周週]|[天日])"
_SO_FAR = "年初至今|(?:今年|本年)(?:以来|至今|到目前为止)"
_FEW = f"(?:最近|[过過]去|近|直近)[的の]? ?{_CJK_COUNT} ?{_CJK_UNIT}[间間]?"
_AGO = rf"(?<![\d〇零一二三四五六七八九十]){_CJK_COUNT} ?{_CJK_UNIT}[以之]?前"
_CJK_UNITS = {"年": "year", "季": "quarter", "月": "month", "周": "week", "週": "week"}
_COMPARED_BEHIND = pattern("(?:同期)?(?:相比|对比|對比|比)")


def _few(match: Match, today: date) -> str:
    """Write "过去三年", "近12个月" in numbers."""
    unit, number = _unit(match), int(in_arabic(match["count"]))
    if unit == "day":  # today is the last day
        return _apart(units_from(unit, 1 - number, 0, today))
    return _apart(units_from(unit, -number, -1, today))


def _ago_chinese(match: Match, today: date) -> str:
    """Write "两年前" in numbers."""
    number = int(in_arabic(match["count"]))
    return _apart(units_from(_unit(match), -number, -number, today))


def _single(match: Match, today: date, *, unit: str, place: int) -> str:
    """Write "去年" in numbers; add the present year for a comparison such as "比去年"."""
    before, after = match.string[: match.start()], match.string[match.end() :]
    compared = before.endswith(("比", "较", "較")) or _COMPARED_BEHIND.match(after)
    if compared and place == -1 and next(marks(before), None) is None:
        return _apart(" and ".join(units_from(unit, each, each, today) for each in (-1, 0)))
    return _apart(units_from(unit, place, place, today))


def _unit(match: Match) -> str:
    return next((name for sign, name in _CJK_UNITS.items() if sign in match["unit"]), "day")


def _apart(said: str) -> str:
    """Put spaces around a time; write a year alone as names do, so that months can follow it.

    >>> _apart("fy 2023"), _apart("2024-04")
    (' 2023 年', ' 2024-04 ')
    """
    year = re.fullmatch(rf"fy ({Y4})", said)
    return f" {year[1]} 年" if year else f" {said} " if said else ""


CHINESE: tuple[tuple[re.Pattern[str], Callable[[Match, date], str]], ...] = (
    (pattern(_SO_FAR), partial(_single, unit="year", place=0)),
    (pattern(_FEW), _few),
    (pattern(_AGO), _ago_chinese),
    *((pattern(text), partial(_single, unit=unit, place=place)) for unit, place, text in _SINGLE),
)
"""The patterns, in the order in which they consume pieces of a question."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A question with numbers in place of the words that count from today, and these words."""

    text: str
    words: tuple[str, ...] = ()


def counted(text: str, today: date) -> Counted:
    """Replace the times of a question made `plain` that count from today by numbers.

    If today is outside 1900 to 2099, the question stays unchanged.

    >>> counted("costs since last year", date(2024, 5, 10))
    Counted(text='costs since fy 2023', words=('last year',))
    >>> counted("the last 3 rows by last name", date(2024, 5, 10)).words
    ()
    """
    if not FIRST_YEAR <= today.year <= LAST_YEAR:
        return Counted(text)
    words: list[str] = []
    found = each_alone(text)
    phrases = EUROPEAN if text.isascii() else (*CHINESE, *EUROPEAN)
    for phrase, read in phrases:
        found = phrase.sub(partial(_put, read, today, words), found)
    return Counted(found, tuple(sorted(dict.fromkeys(words), key=text.find)))


def _put(
    read: Callable[[re.Match[str], date], str], today: date, words: list[str], match: re.Match[str]
) -> str:
    """Return the numbers for a phrase and record its words; the phrase itself if not a time."""
    said = read(match, today)
    if said:
        words.append(match[0].strip())
    return said or match[0]
