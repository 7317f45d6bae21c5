"""Read the times that a name spells out: years, quarters, months, days and more."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache, lru_cache, partial
from types import MappingProxyType

from sat_retriever.text.pattern import pattern
from sat_retriever.text.period.timewords import (
    MONTHS,
    NOT_AFTER,
    NOT_BEFORE,
    OFTEN_ELSE,
    ORDINALS,
    either,
)

SIDES = {"上": "1", "下": "2"}
"""The halves of a year: the character for the first and for the second."""

Y4 = r"(?:19|20)\d\d"
_OF_YEAR = rf"(?:(?P<year>{Y4}|\d\d) ?年度?[ \-]*|(?P<year_>{Y4})[ \-]*)"
_CJK_QUARTERS = r"(?:季度|四半期|季(?=報|报|$|\W))"
UNSPACED = (
    ("month", rf"{_OF_YEAR}?(?P<number>\d\d?) ?月? ?[-~至到] ?(?P<last_month>\d\d?) ?月份?"),
    ("day", rf"{_OF_YEAR}?(?P<month>\d\d?) ?月 ?(?P<number>\d\d?) ?[日号號]"),
    ("month", rf"{_OF_YEAR}?(?P<number>\d\d?) ?月份?"),
    (
        "quarter",
        rf"(?:{_OF_YEAR}?第? ?q?(?P<number>[1-4]) ?{_CJK_QUARTERS}|第 ?(?P<number_>[1-4]) ?季)",
    ),
    ("quarter", rf"{_OF_YEAR}第? ?(?P<number>[1-4]) ?季"),
    ("half", rf"{_OF_YEAR}?(?P<side>[上下12]) ?半 ?年度?"),
    ("half", rf"{_OF_YEAR}(?P<side>[上下]) ?(?:半?期)"),
    ("week", rf"{_OF_YEAR}?第 ?(?P<number>\d\d?) ?[周週]"),
    ("fiscal", rf"(?P<number>{Y4}) ?[财財]政?年度?"),
    ("year", rf"(?P<number>{Y4}) ?年度?"),
)
"""The unit of the group "number", and the spelling; longer spellings come first."""

# Chinese numbers before a unit of time, and years spelled digit by digit: 十二月, 二〇二四年.
_CJK_COUNTED = pattern(
    r"(?<![〇零一二三四五六七八九十百千万])(?:三十一?|二?十[一二三四五六七八九]?|[一二三四五六七八九])"
    r"(?= ?(?:月|[日号號]|季|四半期|[周週]))"
)
_SPELLED_YEAR = pattern(r"(?<![〇零一二三四五六七八九十])[〇零一二三四五六七八九]{4}(?= ?年)")
_DIGITS = {sign: str(n) for n, sign in enumerate("〇一二三四五六七八九")} | {
    "零": "0",
    "两": "2",
    "兩": "2",
}
_SCRIPTS = pattern(  # the border between Chinese or Japanese and other words
    r"(?<=[a-z0-9])(?=[\u3040-\u30ff\u3400-\u9fff])|(?<=[\u3040-\u30ff\u3400-\u9fff])(?=[a-z0-9])"
)


def in_digits(text: str) -> str:
    """Return the text with the Chinese numbers of times as Arabic digits.

    >>> in_digits("二〇二四年十二月"), in_digits("一般 十月三十一日")
    ('2024年12月', '一般 10月31日')
    """
    return _CJK_COUNTED.sub(_arabic, _SPELLED_YEAR.sub(_arabic, text))


def apart(text: str) -> str:
    """Insert a space between Chinese or Japanese and other words of a case-folded text.

    >>> apart("销售q1报表")
    '销售 q1 报表'
    """
    return _SCRIPTS.sub(" ", text)


def _arabic(match: re.Match[str]) -> str:
    return in_arabic(match[0])


def in_arabic(number: str) -> str:
    """Return a number up to 99, or a year spelled digit by digit, in Arabic digits.

    >>> in_arabic("十二"), in_arabic("两"), in_arabic("二〇二四"), in_arabic("36")
    ('12', '2', '2024', '36')
    """
    tens, ten, ones = number.partition("十")
    if not ten:
        return "".join(_DIGITS.get(sign, sign) for sign in number)
    return _DIGITS.get(tens, "1") + _DIGITS.get(ones, "0")


MAX_CHARS = 300  # a sheet's name has at most 31, a file's 255
_YEARS = ("fiscal", "span", "season", "year")
LIMITS = {"half": 2, "quarter": 4, "month": 12, "week": 53, "day": 31}

# Borders between words joined in one name. A single letter keeps its number: A2024B.
_HUMP = pattern(
    r"(?<=[a-z])(?=[A-Z])|(?<=[^\W\d_]{2})(?=(?:19|20)\d\d(?!\d))|(?<=(?<!\w)\d{4})(?=[^\W\d_])"
)
_DASH = pattern("[\u2010-\u2015\u2212]")
_GAP = pattern(r"[\s_]+")
_ACCENTS = pattern(r"(?<=[a-z])[\u0300-\u036f]+")
_NOT_WORD = pattern(r"\W+")
_NUMBER_GOES_ON = pattern(r"[-.](?!(?:19|20)\d\d(?!\d))\d{3}")  # 2021-555-1234, 2023-0012
_PROGRAM = pattern(r"(?:^|(?<!\w)(?:ms|microsoft|open|libre)[ \-]?)office[ .#\-]*$")
_PHONE = pattern(r"\+\d[\d /-]*$")
_MAYBE = pattern(r"\d|[^\W\d_]{3}")
_ANY_YEAR = pattern(rf"(?<!\w){Y4}(?!\w)")


_NAME = rf"(?P<name>{either(MONTHS)})\.?"
Y4 = r"(?:19|20)\d\d"
_YEAR = rf"(?P<year>{Y4})"
_MM, _DD = r"(?P<month>0[1-9]|1[0-2])", r"(?P<day>0[1-9]|[12]\d|3[01])"
_DAY = r"(?P<day>\d\d?)(?:st|nd|rd|th|er)?\.?"
_S = r"[ ,./'\-]{0,3}"
_FY = r"(?:fy|fiscal year|financial year|exercice|ejercicio|geschaftsjahr|gj)"
_THEN_YEAR = rf"(?:{_S}(?:of |de |fy ?)?(?P<year>{Y4}|\d\d))?"
_YEAR_THEN = rf"(?:(?:fy ?(?P<year_>{Y4}|\d\d)|(?P<year__>{Y4})){_S})?"
_NTH = rf"(?:(?P<number_>[1-4])(?:st|nd|rd|th|er|e|eme|o|\.)?|(?P<ordinal>{either(ORDINALS)}))"
_QUARTER = "(?:quarter|qtr|quartal|trimestre|trim)"
HALF = "(?:half ?year|half|halbjahr|semestre|semester|hy|hj)"
_WEEK = "(?:calendar week|week no|week|kalenderwoche|kw|wk|cw|woche|semaine|semana)"

# The unit of the group "number", and the spelling. The first that matches consumes its piece of
# the text, so longer spellings come first. Ambiguous single letters (w, t, s) need a year.
_SPACED = (
    ("day", rf"{_YEAR}(?P<sep>[-. ])(?P<month>\d\d?)(?P=sep)(?P<number>\d\d?)"),  # 2024-03-31
    ("", rf"{_YEAR}{_MM}{_DD}"),  # 20240331
    ("", rf"{_DD}{_MM}{_YEAR}"),  # 31032024
    ("", rf"(?P<year>1[5-9]|2\d|3[0-5]){_MM}{_DD}"),  # 240331
    ("", rf"(?P<day>\d\d?)(?P<sep>[-. /])(?P<month>\d\d?)(?P=sep){_YEAR}"),  # 31.03.2024
    ("", r"(?P<day>\d\d?)(?P<sep>[-.])(?P<month>\d\d?)(?P=sep)(?P<year>\d\d)"),  # 31.03.24
    ("", rf"{_DAY}[ .\-]?(?:de |of )?{_NAME}{_S}(?:de |of )?{_YEAR}"),  # 31 March 2024
    ("", rf"{_NAME}[ \-]?{_DAY}[ ,\-]{{1,2}}{_YEAR}"),  # March 31, 2024
    ("", rf"{_YEAR}[ \-]?{_NAME}[ \-]?{_DAY}"),  # 2024-Mar-31
    ("", rf"{_YEAR_THEN}{_NAME} ?(?:-|to|bis|a|au) ?(?P<last>{either(MONTHS)}){_THEN_YEAR}"),
    ("quarter", rf"{_YEAR_THEN}(?:q(?P<number>[1-4])|(?P<number_>[1-4])q){_THEN_YEAR}"),
    ("quarter", rf"{_YEAR_THEN}(?:{_QUARTER} ?(?P<number>[1-4])|{_NTH} ?{_QUARTER}){_THEN_YEAR}"),
    ("half", rf"{_YEAR_THEN}(?:h|{HALF} ?)(?P<number>[12]){_THEN_YEAR}"),
    ("half", rf"{_YEAR_THEN}{_NTH} ?{HALF}{_THEN_YEAR}"),
    ("half", rf"{_YEAR}{_S}(?P<number>[12])h|(?P<number_>[12])h{_S}(?:fy ?)?(?P<year_>{Y4}|\d\d)"),
    ("week", rf"{_YEAR_THEN}{_WEEK}[ .\-]*(?P<number>\d\d?)(?:{_S}{_YEAR})?"),
    ("week", rf"{_YEAR}{_S}w ?(?P<number>\d\d?)"),
    ("week", rf"w ?(?P<number>\d\d?){_S}{_YEAR}"),
    ("quarter", rf"{_YEAR}{_S}(?:t(?P<number>[1-4])|(?P<number_>[1-4])t)"),
    ("quarter", rf"(?:t(?P<number>[1-4])|(?P<number_>[1-4])t){_S}{_YEAR}"),
    ("half", rf"{_YEAR}{_S}(?:s(?P<number>[12])|(?P<number_>[12])s)"),
    ("half", rf"(?:s(?P<number>[12])|(?P<number_>[12])s){_S}{_YEAR}"),
    ("fiscal", rf"{_FY}{_S}(?P<first>{Y4}|\d\d)[-/ .](?P<number>{Y4}|\d\d)"),  # FY23-24
    ("fiscal", rf"{_FY}{_S}(?P<number>{Y4}|\d\d)"),
    ("fiscal", rf"(?P<number>{Y4}){_S}{_FY}"),
    ("", rf"{_YEAR}{_S}(?:{_MM}{_S})?{_NAME}"),  # 2024-03 March
    ("", rf"(?:{_DAY}[ .\-]*)?{_NAME}{_THEN_YEAR}"),  # 03 March, Mar-24
    ("", rf"{_YEAR}[-. ]?{_MM}"),  # 2024-03, 202403
    ("span", rf"(?P<first>{Y4})(?:[-/](?P<number>{Y4}|\d\d)| (?P<number_>{Y4}))"),  # 2019-23
    ("season", rf"(?P<first>{Y4}) (?P<number>\d\d)"),  # 2023_24
    ("", rf"{_MM}[-. ]{_YEAR}|(?P<month_>[1-9])[-./](?P<year_>{Y4})"),  # 03-2024
    ("", r"^(?P<year>1[5-9]|2\d|3[0-5])[-.](?P<month>0[1-9]|1[0-2])$"),  # 24-03 alone
    ("year", rf"(?P<number>{Y4})"),
)


@cache
def _spellings(*, unspaced: bool) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return units and patterns; on request, those of scripts without spaces come first."""
    first = ((unit, rf"(?<!\d)(?:{text})") for unit, text in UNSPACED if unspaced)
    alone = r"(?<!\w)(?<!\d[.,])(?:{})(?!\w)(?![.,]\d)"
    spaced = ((unit, alone.replace("{}", text)) for unit, text in _SPACED)
    return tuple((unit, pattern(text)) for unit, text in (*first, *spaced))


@dataclass(frozen=True, slots=True)
class Spelled:
    """The times and the other words of one name."""

    # Numbers by unit: year, half, quarter, month, week, day; "fiscal" is 1 for a fiscal year,
    # "since" is the first year and "until" the last month of a span.
    units: Mapping[str, int]
    rest: str  # the other words of the name, case-folded, without accents


@lru_cache(maxsize=4_096)
def spelled(text: str, *, dated: bool = False) -> Spelled:
    """Read the time units in a text, and its other words.

    The first value of each unit counts; all are removed from the rest. If the year is known from
    elsewhere (`dated`), "Stock Apr final" names a month.

    >>> found = spelled("Sales_Q1 2024 (net)")
    >>> dict(found.units), found.rest
    ({'year': 2024, 'quarter': 1}, 'sales net')
    >>> dict(spelled("Table 12").units)
    {}
    """
    text = plain(text)
    units: dict[str, int] = {}
    if _MAYBE.search(text):
        for unit, words in _spellings(unspaced=not text.isascii()):
            text = words.sub(partial(_take, unit, units, dated), text)
    return Spelled(MappingProxyType(units), " ".join(_NOT_WORD.split(text)).strip())


def plain(text: str, most: int = MAX_CHARS) -> str:
    """Case-fold a name, remove its accents and separate its words.

    >>> plain("Ventes_Février2024"), plain("FY 2023\u201324")
    ('ventes fevrier 2024', 'fy 2023-24')
    """
    text = unicodedata.normalize("NFKC", text[:most])
    if not text.isascii():
        text = in_digits(text)
    text = _DASH.sub("-", _HUMP.sub(" ", text)).casefold()
    text = _ACCENTS.sub("", unicodedata.normalize("NFD", text))
    text = unicodedata.normalize("NFC", text)
    if not text.isascii():
        text = apart(text)
    return _GAP.sub(" ", text).strip()


def _take(unit: str, units: dict[str, int], dated: bool, match: re.Match[str]) -> str:
    """Replace a match by a space and record its units; keep the match if it is not a period."""
    found = _units(match, unit)
    if found is None or not _believed(match, unit, dated=dated or bool(units)):
        return match[0]
    if not any(key in units for key in found):  # "2024 vs 2023": the first one counts
        units.update(found)
    elif "year" in found:
        units.setdefault("year", found["year"])
    return " "


def _believed(match: re.Match[str], unit: str, *, dated: bool) -> bool:
    before, after = match.string[: match.start()], match.string[match.end() :]
    if unit == "year":
        if _NUMBER_GOES_ON.match(after) or _PHONE.search(before) or names_program(before):
            return False
        following = re.match(r"[ \-]*([^\W\d_]+)", after)
        counts = following is not None and following[1] in NOT_BEFORE
        return last_word(before) not in NOT_AFTER and not counts
    groups = match.groupdict()
    if groups.get("name") in OFTEN_ELSE:
        return _first(groups, "year") is not None or match[0] == match.string
    if groups.get("name") and _first(groups, "year") is None and groups.get("day") is None:
        # "what may happen" names no month; "Budget May", "May", "May final 2024" do.
        return (
            not before.strip()
            or not after.strip()
            or dated
            or _ANY_YEAR.search(match.string) is not None
        )
    return True


def names_program(text: str) -> bool:
    """True if a text ends with the name of a program that has years as versions."""
    return _PROGRAM.search(text) is not None


def last_word(text: str) -> str:
    """Return the word that a text ends with; empty for none."""
    found = re.search(r"([^\W\d_]+)[ .#\-]*$", text)
    return found[1] if found else ""


def _units(match: re.Match[str], unit: str) -> dict[str, int] | None:
    groups = match.groupdict()
    found: dict[str, int] = {}
    for key in ("year", "month", "day"):
        value = _first(groups, key)
        if value is not None:
            found[key] = int(value)
    if groups.get("name"):
        found["month"] = MONTHS[groups["name"]]
    number, ordinal = _first(groups, "number"), groups.get("ordinal")
    if groups.get("side"):
        number = SIDES.get(str(groups["side"]), groups["side"])
    if unit:
        found["year" if unit in _YEARS else unit] = (
            int(number) if number is not None else ORDINALS[str(ordinal)]
        )
    if "year" in found:
        found["year"] = full_year(found["year"])
    if groups.get("last"):
        found["until"] = MONTHS[groups["last"]]
    if groups.get("last_month"):
        found["until"] = int(groups["last_month"])
    if "year" in found and (unit == "fiscal" or "fy" in match[0]):
        found["fiscal"] = 1
    if groups.get("first"):
        found["since"] = full_year(int(groups["first"]))
    if unit == "season" and found["year"] != found["since"] + 1:
        return None
    return _checked(found)


def _checked(found: dict[str, int]) -> dict[str, int] | None:
    """Return the units without redundant ones; None if there can be no such time."""
    since, until = found.get("since"), found.get("until")
    if since is not None:
        if not since < found["year"] <= since + 50:
            return None
        if found["year"] == since + 1:  # a season, a school year: as good as fiscal
            del found["since"]
            found["fiscal"] = 1
    if until is not None and not found["month"] < until <= LIMITS["month"]:
        return None
    if found.get("month", 0) > 12 and found.get("day", 99) <= 12:  # 03-31-2024
        found["month"], found["day"] = found["day"], found["month"]
    if not 1900 <= found.get("year", 2000) <= 2099:
        return None
    if any(not 1 <= found.get(unit, 1) <= limit for unit, limit in LIMITS.items()):
        return None
    if "day" in found:
        return _checked_day(found)
    return found


def _checked_day(found: dict[str, int]) -> dict[str, int] | None:
    if "year" not in found and found["day"] == found["month"]:  # "03 March": a numbered month
        del found["day"]
        return found
    try:
        date(found.get("year", 2000), found["month"], found["day"])
    except ValueError:
        return None
    return found


def _first(groups: Mapping[str, str | None], key: str) -> str | None:
    """Return the matched group of a name; alternatives have underscores at the end."""
    return next((groups[k] for k in (key, key + "_", key + "__") if groups.get(k)), None)


def full_year(year: int) -> int:
    """Return a year in four digits; 0 for two digits from 40 to 79.

    >>> full_year(24), full_year(98), full_year(2024), full_year(64)
    (2024, 1998, 2024, 0)
    """
    if year >= 100:
        return year
    return 2000 + year if year < 40 else 1900 + year if year >= 80 else 0
