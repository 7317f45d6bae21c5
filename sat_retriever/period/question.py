"""The times that a question asks for: years, halves, quarters and months, ranges and lists of them.

    text -> marks (a year; some months) -> groups (listed or from-to) -> months of years

"last year" and the like, which need today's date, say nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise, product

from sat_retriever.period.spans import Span
from sat_retriever.period.spellings import full_year, plain
from sat_retriever.period.timewords import MONTHS, NOT_BEFORE, OFTEN_ELSE, ORDINALS, either

MAX_CHARS = 1_000  # of a question that are looked at
EVER = (1900, 2100)  # first and last year of "before 2018" and "since 2020"
_MOST = 64  # stretches of a question

_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "eight": 8, "nine": 9, "ten": 10}
_Y4 = r"(?:19|20)\d\d"
_FISCAL = r"(?:fy|fiscal year|financial year|fiscal|exercice|ejercicio|geschaftsjahr|gj)"
_QUARTER = r"(?:quarters?|qtr|quartal|trimestre|trim)"
_HALF = r"(?:half ?year|half|halbjahr|semestre|semester|hy|hj)"
_NTH = rf"(?:(?P<{{0}}d>[1-4])(?:st|nd|rd|th|er|e|eme|\.)?|(?P<{{0}}o>{either(ORDINALS)}))"
_SHORT = r"(?:q ?(?P<q>[1-4])|(?P<qq>[1-4])q|h ?(?P<h>[12])|(?P<hh>[12])h)"
_SPELLINGS = (
    rf"(?P<ymd>{_Y4})[-/.](?P<ymdm>0[1-9]|1[0-2])(?:[-/.](?:0[1-9]|[12]\d|3[01]))?",
    rf"(?P<d>\d\d?)(?P<sep>[-/.])(?P<dm>\d\d?)(?P=sep)(?P<dmy>{_Y4})",
    rf"(?P<m>0?[1-9]|1[0-2])[-/.](?P<my>{_Y4})",
    rf"(?P<range>{_Y4})[-/](?P<until>\d\d)",
    rf"{_FISCAL} ?'?(?:(?:{_Y4}|\d\d)[-/])?(?P<fy>{_Y4}|\d\d)",
    rf"(?P<year>{_Y4})",
    rf"{_SHORT}(?:[ '/-]{{0,2}}(?P<yy>\d\d))?",
    rf"{_NTH.format('qn')} {_QUARTER}",
    rf"{_QUARTER} (?P<qt>[1-4])",
    rf"{_NTH.format('hn')} {_HALF}",
    rf"(?P<side>first|last|final) (?P<count>{either(_COUNTS)}|[2-9]|1[0-2]) "
    r"(?P<unit>quarters|months)",
    r"(?P<end>last|final) (?P<part>quarter|half)",
    rf"(?P<month>{either(MONTHS)})\.?(?:(?: ?'|-)(?P<month_yy>\d\d))?",
)  # the first that fits takes its piece of the text
_MARK = re.compile(rf"(?<![\w.])(?:{'|'.join(_SPELLINGS)})(?![\w])(?![.,]\d)")
_TO = re.compile(r" ?(?:-|to|through|thru|until|till|bis|a|au|hasta|ate|fino a) ?")
_AND = r"(?:and|or|und|oder|et|ou|y|e|&|vs\.?|versus|with|against|compared (?:to|with))"
_LISTED = re.compile(rf" ?(?:, ?(?:{_AND} )?|{_AND} )(?:(?:in|for|of) )?")
_BETWEEN = re.compile(r"(?:between|zwischen|entre) (?:the )?$")
_OF = re.compile(
    r" ?(?:,|/|-|of|in|de|del|im|des)? ?(?:the )?(?:(?:fiscal|financial|calendar) )?(?:year )?"
)
_SINCE = re.compile(r"(?:since|seit|depuis|desde|ab)(?: (?:the )?year)? $")
_AFTER = re.compile(r"(?:after|later than|nach|apres|despues de) $")
_BEFORE = re.compile(r"(?:before|prior to|earlier than|vor|avant|antes de) $")
_UNTIL = re.compile(r"(?:until|up to|till|through|bis|jusqu'en|hasta) $")
_ON = re.compile(r" ?(?:onwards?|and (?:later|after|on)|or later|on(?! \w))")
# What stands before a month and not before the verb "may" or the verb "march".
_MONTH_AFTER = re.compile(
    r"(?:\b(?:in|of|for|and|or|to|through|since|by|during|between|from|until|each|every|vs|im|en)"
    r"|[,\-(]) ?$"
)
_MONTH_BEFORE = re.compile(rf" ?(?:-|,|and\b|to\b|{_Y4}|$|'?\d\d\b|of\b|sheets?\b)")
_VERBS = frozenset({"may", "march", "mars", "mar"})


@dataclass(frozen=True, slots=True)
class _Marks:
    """Marks of one kind in a row: "Q1 and Q2", "2019 to 2021".

    Attributes:
        start: Where they begin in the text.
        end: Where they end.
        spans: What they say; of months alone the years are 0.
        relative: Whether they say nothing without a year: "last quarter".
    """

    start: int
    end: int
    spans: tuple[Span, ...]
    relative: bool = False

    @property
    def kind(self) -> str:
        """Years, months, or both."""
        first = self.spans[0]
        return "months" if not first.first_year else "years" if first.whole_years else "dated"


@lru_cache(maxsize=4_096)
def asked_spans(text: str) -> tuple[Span, ...]:
    """The stretches of time that a question names, in its order; none if it names none.

    A stretch is the same months of successive years. Sheets of any of them are meant.

    Args:
        text: The question; at most the first thousand characters are looked at.

    >>> asked_spans("revenue 2019\u20132021")
    (Span(first_year=2019, last_year=2021, first_month=1, last_month=12),)
    >>> asked_spans("last two quarters of 2022"), asked_spans("it may rise")
    ((Span(first_year=2022, last_year=2022, first_month=7, last_month=12),), ())
    """
    text = plain(text, MAX_CHARS)
    found = _ranges(text, _dated(text, _qualified(text, _groups(text, _marks(text)))))
    spans = (span for group in found for span in group.spans if not group.relative)
    return tuple(dict.fromkeys(spans))[:_MOST]


def _marks(text: str) -> Iterator[_Marks]:
    """Every year and every part of a year, one by one."""
    for match in _MARK.finditer(text):
        span = _span(match)
        if span is None or _something_else(text, match):
            continue
        relative = "last" in match[0] or "final" in match[0]
        yield _Marks(match.start(), match.end(), (span,), relative)


def _span(match: re.Match[str]) -> Span | None:
    """What one mark says."""
    groups = match.groupdict()
    if groups["range"]:
        first = int(groups["range"])
        last = first // 100 * 100 + int(groups["until"])
        return Span(first, last) if first < last <= first + 50 else None
    if groups["fy"] or groups["year"]:
        year = full_year(int(groups["fy"] or groups["year"]))
        return Span(year, year) if year else None
    return _month_in_digits(groups) or _part_of_year(groups)


def _month_in_digits(groups: Mapping[str, str]) -> Span | None:
    """The month of "2024-03", "03/2024" and "31.03.2024"; the day first, unless it cannot be."""
    for year, months in (("ymd", ("ymdm",)), ("my", ("m",)), ("dmy", ("dm", "d"))):
        if groups[year]:
            numbers = [int(groups[name]) for name in months]
            month = next((number for number in numbers if 1 <= number <= 12), None)
            return None if month is None else _months_of(int(groups[year]), month)
    return None


def _part_of_year(groups: Mapping[str, str]) -> Span | None:
    """A part of a year, of that in two digits behind it if there is one."""
    part, short = _part(groups), groups["yy"] or groups["month_yy"]
    if part is None or short is None:
        return part
    year = full_year(int(short))
    return replace(part, first_year=year, last_year=year)


def _part(groups: Mapping[str, str]) -> Span | None:
    """The part of a year that a mark says."""
    if groups["month"]:
        return _months_of(0, MONTHS[groups["month"]])
    if groups["side"]:
        count = groups["count"]
        length = _COUNTS.get(count) or int(count)
        length *= 3 if groups["unit"] == "quarters" else 1
        if not 0 < length <= 12:
            return None
        return Span(0, 0, 1, length) if groups["side"] == "first" else Span(0, 0, 13 - length, 12)
    if groups["end"]:
        return Span(0, 0, 10 if groups["part"] == "quarter" else 7, 12)
    for length, names in ((3, ("q", "qq", "qt", "qnd", "qno")), (6, ("h", "hh", "hnd", "hno"))):
        said = next((groups[name] for name in names if groups[name]), None)
        if said is not None:
            number = ORDINALS.get(said) or int(said)
            if number * length <= 12:
                return Span(0, 0, (number - 1) * length + 1, number * length)
    return None


def _something_else(text: str, match: re.Match[str]) -> bool:
    """Whether a mark only looks like one: "may" the verb, "2000 items", "ago"."""
    before, after = text[: match.start()], text[match.end() :]
    name = match["month"]
    if name in OFTEN_ELSE:
        return not re.match(rf" ?{_Y4}", after)
    if name in _VERBS:
        return not (_MONTH_AFTER.search(before) or _MONTH_BEFORE.match(after))
    if match["year"]:
        following = re.match(r" ?([^\W\d_]+)", after)
        return following is not None and following[1] in NOT_BEFORE - {"months", "weeks", "days"}
    return False


def _groups(text: str, marks: Iterator[_Marks]) -> list[_Marks]:
    """Marks of one kind that are listed, or go from one to the other, as one."""
    found: list[_Marks] = []
    for mark in marks:
        last = found[-1] if found else None
        if last is None or last.kind != mark.kind:
            found.append(mark)
            continue
        gap = text[last.end : mark.start]
        between = _BETWEEN.search(text[: last.start]) and gap.strip() in ("and", "und", "et", "y")
        if _TO.fullmatch(gap) or between:
            spans = (*last.spans[:-1], *_from_to(last.spans[-1], mark.spans[0]))
        elif _LISTED.fullmatch(gap):
            spans = (*last.spans, *mark.spans)
        else:
            found.append(mark)
            continue
        found[-1] = replace(last, end=mark.end, spans=spans)
    return found


def _from_to(first: Span, last: Span) -> tuple[Span, ...]:
    """All from one stretch to another, in as few as it takes."""
    if first.whole_years and last.whole_years:
        years = sorted((first.first_year, last.last_year))
        return (Span(years[0], years[1]),)
    start, end = first.first_month, last.last_month
    if first.last_year == last.first_year:
        if start <= end:
            return (replace(first, last_month=end),)
        return (replace(first, last_month=12), replace(first, first_month=1, last_month=end))
    if first.last_year > last.first_year:
        return (first, last)
    middle = Span(first.last_year + 1, last.first_year - 1)
    parts = [replace(first, last_month=12), middle, replace(last, first_month=1)]
    return tuple(part for part in parts if part.first_year <= part.last_year)


def _qualified(text: str, groups: Sequence[_Marks]) -> list[_Marks]:
    """Groups with what "since", "before" and the like make of a year."""
    return [
        replace(group, spans=(_open(text, group),))
        if group.kind == "years" and len(group.spans) == 1
        else group
        for group in groups
    ]


def _open(text: str, group: _Marks) -> Span:
    """One stretch of years, open to the side that the words beside it say."""
    before, after, [span] = text[: group.start], text[group.end :], group.spans
    if _SINCE.search(before) or _ON.match(after):
        return replace(span, last_year=EVER[1])
    if _AFTER.search(before):
        return Span(span.last_year + 1, EVER[1])
    if _BEFORE.search(before):
        return Span(EVER[0], span.first_year - 1)
    if _UNTIL.search(before):
        return replace(span, first_year=EVER[0])
    return span


def _dated(text: str, groups: Sequence[_Marks]) -> list[_Marks]:
    """Months with the years that they are of: those beside them, or else the nearest."""
    years = [group for group in groups if group.kind == "years"]
    # In "2022 Q1, 2023 Q2" a year goes before its months, else behind: "Q1 2022, Q2 2023".
    first = groups[:2]
    before = [group.kind for group in first] == ["years", "months"] and _beside(text, *first)
    found, taken = [], set()
    for months in groups:
        if months.kind == "years":
            continue
        of = _years_of(text, months, years, before=before) if months.kind == "months" else None
        if of is None:
            found.append(months)
            continue
        taken.add(of.start)
        spans = tuple(
            Span(year.first_year, year.last_year, part.first_month, part.last_month)
            for year, part in product(of.spans, months.spans)
        )
        ends = (of,) if _beside(text, months, of) else ()
        start = min(each.start for each in (months, *ends))
        found.append(_Marks(start, max(each.end for each in (months, *ends)), spans))
    left = [group for group in years if group.start not in taken]
    return sorted([*found, *left], key=lambda group: group.start)


def _years_of(text: str, months: _Marks, years: Sequence[_Marks], *, before: bool) -> _Marks | None:
    """The years that months belong to, if there are any."""
    beside = [group for group in years if _beside(text, months, group)]
    near = min(years, key=lambda group: abs(group.start - months.start), default=None)
    return beside[0 if before else -1] if beside else near


def _beside(text: str, one: _Marks, other: _Marks) -> bool:
    """Whether years stand next to months, or "of" and the like alone between them."""
    first, second = sorted((one, other), key=lambda group: group.start)
    return _OF.fullmatch(text[first.end : second.start]) is not None


def _ranges(text: str, groups: Sequence[_Marks]) -> list[_Marks]:
    """Dated stretches from one to another as one: "March 2021 to June 2022"."""
    found = list(groups[:1])
    for _, group in pairwise(groups):
        last = found[-1]
        both = last.kind == group.kind == "dated" and len(last.spans) == len(group.spans) == 1
        if both and _TO.fullmatch(text[last.end : group.start]):
            found[-1] = replace(last, end=group.end, spans=_from_to(last.spans[0], group.spans[0]))
        else:
            found.append(group)
    return found


def _months_of(year: int, month: int) -> Span:
    return Span(year, year, month, month)
