"""Match phrases of European languages that count from today, and write them in numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from functools import partial

from sat_retriever.text.period.counting import named_month, units_from
from sat_retriever.text.period.marks import VERBS, marks
from sat_retriever.text.period.spellings import Y4
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

_BOTH = re.compile(
    rf"(?<!\w)(?P<one>{_SIDE})(?P<gap> ?(?:,|/|and|or|vs\.?|versus|und|oder|et|ou|y|e|o) ?)"
    rf"(?=(?:the )?{_SIDE} {_KIND}(?P<unit>{_UNIT})(?!\w))"
)
_COMPARED = re.compile(
    r"(?<!\w)(?:(?:compared?|comparison|relative) (?:to|with)|vs\.?|versus|against|than|over"
    r"|gegenuber|im vergleich zu[mr]?|als|par rapport a|frente al?)(?: that of)? ?$"
)
# A part of a whole named after it: "last week of March", "the last quarter of the year".
_OF_WHOLE = re.compile(rf" of (?:the|an?|each|every|any|{_TIME})(?!\w)")
# A part of a year named beside it: "last quarter sales for 2021", "2022, last quarter".
_OF_YEAR = re.compile(
    r"(?: (?!(?:and|or|vs|versus|with|to|than|against|und|et|y)(?!\w))[^\W\d]+){0,3}"
    rf",? ?['(\-]?(?:fy ?)?{Y4}(?!\w)"
)
_YEAR_AHEAD = re.compile(rf"(?:{Y4}|fy ?\d\d)(?:'s)?,? ?(?:in )?(?:the )?$")
_TIME_BEHIND = re.compile(rf"(?: (?:to|through|as of|until|for|in|of))? ?(?:\d\d? )?{_TIME}(?!\w)")
_TIME_AHEAD = re.compile(rf"(?<!\w){_TIME}(?:'s)?,? ?-? ?$")
# "What was the last year that ..." asks for the final one; "over the last year" names a time.
_THE = re.compile(r"(?<!\w)(?P<of>[^\W\d_]+ )?the $")
_OF_TIME = frozenset(
    "in of for over during within throughout from since to until till through by with against "
    "before after and or vs versus".split()
)
_CLAUSE = re.compile(r",? (?:that|which|where|when|who|whose|i|we|they|he|she|it|in which)(?!\w)")
_UP_TO = re.compile(r"(?:-|to|through|until|till|bis) ?$")  # "2020 to today" is open already
_ANY_YEAR = re.compile(rf"(?<!\w)(?:{Y4}|fy ?\d\d)(?!\w)")
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


def _before_last(match: Match, today: date) -> str:
    """Write "year before last" in numbers."""
    return units_from(UNITS[match["unit"]], -2, -2, today)


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
    return re.compile(rf"(?<![\w.\-])(?:{text})(?!\w)")


_SIDE_UNIT = _phrase(
    rf"(?:(?P<count>{_N}) )?(?P<side>{_SIDE})[ \-](?:(?P<count_behind>{_N}) )?{_KIND}"
    rf"(?P<unit>{_UNIT})"
)
EUROPEAN: tuple[tuple[re.Pattern[str], Read], ...] = (
    (_phrase(rf"(?P<unit>{_UNIT}) before last"), _before_last),
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
