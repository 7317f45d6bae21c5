"""Find the single words and numbers of a question that name a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sat_retriever.text.pattern import pattern
from sat_retriever.text.period.spans import Span
from sat_retriever.text.period.spellings import HALF, Y4, full_year, last_word, names_program
from sat_retriever.text.period.timewords import (
    MONTHS,
    NOT_AFTER,
    NOT_BEFORE,
    OFTEN_ELSE,
    ORDINALS,
    either,
)

_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "eight": 8, "nine": 9, "ten": 10}
_FISCAL = r"(?:fy|fiscal year|financial year|fiscal|exercice|ejercicio|geschaftsjahr|gj)"
_QUARTER = r"(?:quarters?|qtr|quartal|trimestre|trim)"
_ORDINAL = rf"(?:{either(ORDINALS)}|1st|2nd|3rd|4th)"
_NTH = rf"(?:(?P<{{0}}d>[1-4])(?:st|nd|rd|th|er|e|eme|\.)?|(?P<{{0}}o>{either(ORDINALS)}))"
_SHORT = r"(?:q ?(?P<q>[1-4])|(?P<qq>[1-4])q|h ?(?P<h>[12])|(?P<hh>[12])h)"
_YEAR_BEHIND = r"(?: ?['/-] ?(?P<yy>\d\d)|(?<=[qh])(?P<yyy>\d\d)| (?P<yyyy>\d\d)(?! \w))?"
_JOIN = r"(?: ?, ?(?:and |or )?| (?:and|or|to|through|vs\.?|versus) | ?[-&/] ?)"
_DAY = r"(?:3[01]|[12]?\d)(?:st|nd|rd|th)?"
_SPELLINGS = (
    rf"(?P<ymd>{Y4})[-/.](?P<ymdm>0[1-9]|1[0-2])(?:[-/.](?:0[1-9]|[12]\d|3[01]))?",
    rf"(?P<d>\d\d?)(?P<sep>[-/.])(?P<dm>\d\d?)(?P=sep)(?P<dmy>{Y4})",
    rf"(?P<m>0?[1-9]|1[0-2])[-/.](?P<my>{Y4})",
    rf"(?P<range>{Y4})[-/](?P<until>\d\d)",
    rf"{_FISCAL} ?'?(?:(?P<fy_from>{Y4}|\d\d)[-/])?(?P<fy>{Y4}|\d\d)",
    r"(?P<decade>(?:19|20)\d0) ?s",
    rf"(?P<year>{Y4})",
    rf"(?:q|{_QUARTER}) ?(?P<q_from>[1-4]) ?(?:-|to) ?(?P<q_to>[1-4])(?!\d)",
    rf"{_SHORT}{_YEAR_BEHIND}",
    rf"(?P<q_listed>{_ORDINAL})(?=(?:{_JOIN}{_ORDINAL}){{1,3}} {_QUARTER})",
    rf"(?P<h_listed>{_ORDINAL})(?={_JOIN}{_ORDINAL} {HALF})",
    rf"(?![1-4] quarters){_NTH.format('qn')} {_QUARTER}",  # "4 quarters" counts them
    rf"{_QUARTER} (?P<qt>[1-4])",
    rf"(?![12] half){_NTH.format('hn')} {HALF}",
    rf"(?P<side>first|last|final) (?P<count>{either(_COUNTS)}|[2-9]|1[0-2]) "
    r"(?P<unit>quarters|months)",
    r"(?P<end>last|final) (?P<part>quarter|half)",
    rf"(?:{_DAY}\.? (?:of )?)?(?P<month>{either(MONTHS)})\.?(?! ?'s)"
    rf"(?: {_DAY}(?=,? {Y4}))?(?:(?: ?'|-)(?P<month_yy>\d\d))?",
)  # the first spelling that matches consumes its piece of the text
_MARK = pattern(rf"(?<![\w.])(?:{'|'.join(_SPELLINGS)})(?![\w])(?![.,]\d)")
_MONEY = pattern(r"(?:[$\u20ac\u00a3\u00a5]|\d:) ?$")
# Words before and after the name of a month, but not around a verb or a planet.
_MONTH_AFTER = pattern(
    r"(?:\b(?:in|of|for|through|since|by|during|between|from|until|each|every|vs|im|en)|[\-(]) ?$"
    rf"|(?:\b(?:{either(MONTHS)})\.?|{Y4}|\bq[1-4]) ?,? ?(?:and|or|to)? ?$"
)
_MONTH_BEFORE = pattern(rf" ?(?:-|,|and (?!\w+ing)|to\b|(?:fy ?)?{Y4}|$|'?\d\d\b|of\b|sheets?\b)")
VERBS = frozenset({"may", "march", "mars", "mar"})
_COUNTED = NOT_BEFORE - {"months", "weeks", "days"}


@dataclass(frozen=True, slots=True)
class Marks:
    """The adjacent marks of one kind: "Q1 and Q2", "2019 to 2021"."""

    start: int
    end: int
    spans: tuple[Span, ...]  # the spans that they name; the years of months alone are 0
    relative: bool = False  # True if they need a year to name a time: "last quarter", "H2"

    @property
    def kind(self) -> str:
        """The kind: "years", "months", or "dated" for both."""
        first = self.spans[0]
        return "months" if not first.first_year else "years" if first.whole_years else "dated"


def marks(text: str) -> Iterator[Marks]:
    """Yield every year and every part of a year in a question made `plain`, one by one."""
    for match in _MARK.finditer(text):
        spans = _spans(match.groupdict())
        if not spans or _something_else(text, match):
            continue
        yield Marks(match.start(), match.end(), spans, _relative(match) and not spans[0].first_year)


def _relative(match: re.Match[str]) -> bool:
    """True if a mark needs a year to name a time: "last two quarters", "2h", "second half"."""
    last = match["end"] or match["side"] in ("last", "final")
    return bool(last or match["h"] or match["hh"] or match["hnd"] or match["hno"])


def _spans(groups: Mapping[str, str]) -> tuple[Span, ...]:
    if groups["dmy"]:
        numbers = dict.fromkeys((int(groups["dm"]), int(groups["d"])))
        months = [number for number in numbers if 1 <= number <= 12]
        return tuple(month_of(int(groups["dmy"]), month) for month in months)
    found = _years(groups) or _month_in_digits(groups) or _part_of_year(groups)
    return () if found is None else (found,)


def _years(groups: Mapping[str, str]) -> Span | None:
    if groups["range"]:
        first = int(groups["range"])
        last = first // 100 * 100 + int(groups["until"])
        return Span(first, last) if first < last <= first + 50 else None
    if groups["decade"]:
        return Span(int(groups["decade"]), int(groups["decade"]) + 9)
    if not groups["fy"] and not groups["year"]:
        return None
    last = full_year(int(groups["fy"] or groups["year"]))
    first = full_year(int(groups["fy_from"])) if groups["fy_from"] else last
    # "FY2023/24" is the year that ends in 2024; "FY2021-2024" is four years.
    return Span(first if first and first + 1 < last else last, last) if last else None


def _month_in_digits(groups: Mapping[str, str]) -> Span | None:
    """Return the month of "2024-03", "2024-03-31" and "03/2024"."""
    for year, month in (("ymd", "ymdm"), ("my", "m")):
        if groups[year]:
            return month_of(int(groups[year]), int(groups[month]))
    return None


def _part_of_year(groups: Mapping[str, str]) -> Span | None:
    """Return a part of a year, with the two-digit year after it if there is one."""
    part = _part(groups)
    short = groups["yy"] or groups["yyy"] or groups["yyyy"] or groups["month_yy"]
    year = full_year(int(short)) if short else 0
    return replace(part, first_year=year, last_year=year) if part and year else part


def _part(groups: Mapping[str, str]) -> Span | None:
    if groups["month"]:
        return month_of(0, MONTHS[groups["month"]])
    if groups["side"]:
        return _side(groups)
    if groups["end"]:
        return Span(0, 0, 10 if groups["part"] == "quarter" else 7, 12)
    if groups["q_from"]:
        first, last = int(groups["q_from"]), int(groups["q_to"])
        return Span(0, 0, 3 * first - 2, 3 * last) if first < last else None
    for length, names in (
        (3, ("q", "qq", "qt", "qnd", "qno", "q_listed")),
        (6, ("h", "hh", "hnd", "hno", "h_listed")),
    ):
        said = next((groups[name] for name in names if groups[name]), None)
        if said is not None:
            number = ORDINALS.get(said) or int(said[0])
            first = (number - 1) * length + 1
            return Span(0, 0, first, number * length) if number * length <= 12 else None
    return None


def _side(groups: Mapping[str, str]) -> Span | None:
    count = groups["count"]
    length = (_COUNTS.get(count) or int(count)) * (3 if groups["unit"] == "quarters" else 1)
    if length > 12:
        return None
    return Span(0, 0, 1, length) if groups["side"] == "first" else Span(0, 0, 13 - length, 12)


def _something_else(text: str, match: re.Match[str]) -> bool:
    """True if a mark only looks like a time: the verb "may", "2000 items", "$2000"."""
    before, after = text[: match.start()], text[match.end() :]
    name = match["month"]
    if name in OFTEN_ELSE:
        return not re.match(rf" ?{Y4}", after)
    if name in VERBS:
        return not (_MONTH_AFTER.search(before) or _MONTH_BEFORE.match(after))
    if match["year"]:
        if _MONEY.search(before) or names_program(before) or last_word(before) in NOT_AFTER:
            return True
        if last_word(before) == "top":
            return True
        following = re.match(r" ?([^\W\d_]+)", after)
        return following is not None and following[1] in _COUNTED
    return False


def month_of(year: int, month: int) -> Span:
    """Return one month as a span."""
    return Span(year, year, month, month)
