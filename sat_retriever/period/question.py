"""The times that a question asks for: years, halves, quarters and months, ranges and lists of them.

    text -> marks (a year; some months) -> groups (listed or from-to) -> months of years

"last year" and the like, which need today's date, say nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise, product

from sat_retriever.period.marks import Marks, marks
from sat_retriever.period.spans import Span
from sat_retriever.period.spellings import plain

MAX_CHARS = 1_000  # of a question that are looked at
EVER = (1900, 2100)  # first and last year of "before 2018" and "since 2020"
_MOST = 64  # stretches of a question

_TO = re.compile(r" ?(?:-|to|through|thru|until|till|bis|a|au|hasta|ate|fino a) ?")
_ANDS = ("and", "und", "et", "y")
_AND = r"(?:\+|and|or|und|oder|et|ou|y|e|&|vs\.?|versus|with|against|compared (?:to|with))"
_LISTED = re.compile(rf" ?(?:, ?(?:{_AND} )?|{_AND} )(?:(?:in|for|of) )?")
_BETWEEN = re.compile(r"(?<!\w)(?:between|zwischen|entre) (?:the )?$")
_OF = re.compile(
    r" ?(?:,|/|-|of|in|de|del|im|des)? ?(?:the )?(?:(?:fiscal|financial|calendar) )?(?:year )?"
)
_SINCE = re.compile(r"(?<!\w)(?:since|seit|depuis|desde|ab)(?: (?:the )?year)? $")
_AFTER = re.compile(r"(?<!\w)(?:(?:after|later than|nach|apres|despues de) |post[- ])$")
_BEFORE = re.compile(r"(?<!\w)(?:(?:before|prior to|earlier than|vor|avant|antes de) |pre[- ])$")
_UNTIL = re.compile(r"(?<!\w)(?:until|up to|till|through|bis|jusqu'en|hasta) $")
_TO_DATE = re.compile(r"(?<!\w)(?:ytd|year[ -]to[ -]date)(?: (?:to|through|as of|until))? $")
_ON = re.compile(
    r" ?(?:\+(?! ?\w)|onwards?\b|and (?:later|after|on|beyond|newer)\b(?![\w-])"
    r"|or (?:later|newer)\b"
    r"|on\b(?![\w-]| \w)|(?:-|to|until|till) ?(?:date|today|now|present)\b)"
)
_NOT = re.compile(
    r"(?<!\w)(?:not|except|excluding|excl\.?|without|other than|apart from|ohne|sauf)"
    r"(?: (?:for|in|of|the))* $"
)


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
    return _asked(text[:MAX_CHARS])


@lru_cache(maxsize=4_096)
def _asked(text: str) -> tuple[Span, ...]:
    text = plain(text, MAX_CHARS)
    groups = _meant(text, _groups(text, marks(text)))
    found = _ranges(text, _dated(text, [_open_year(text, group) for group in groups]))
    dated = (_open_date(text, group) for group in found if not group.relative)
    return tuple(_merged(span for group in dated for span in group.spans))[:_MOST]


def _groups(text: str, found: Iterable[Marks]) -> list[Marks]:
    """Marks of one kind that are listed, or go from one to the other, as one."""
    groups: list[Marks] = []
    for mark in found:
        last = groups[-1] if groups else None
        if last is None or last.kind != mark.kind or not (joined := _joined(text, last, mark)):
            groups.append(mark)
        else:
            relative = last.relative and mark.relative
            groups[-1] = Marks(last.start, mark.end, joined, relative)
    return groups


def _joined(text: str, last: Marks, mark: Marks) -> tuple[Span, ...]:
    """What two marks of one kind say together; nothing if they have nothing to do."""
    if _to(text, last, mark):
        return (*last.spans[:-1], *_from_to(last.spans[-1], mark.spans[0]))
    if _LISTED.fullmatch(text[last.end : mark.start]):
        return (*last.spans, *mark.spans)
    return ()


def _to(text: str, first: Marks, second: Marks) -> bool:
    """Whether the words between two marks make them the ends of a range."""
    gap = text[first.end : second.start]
    between = gap.strip() in _ANDS and _BETWEEN.search(text[: first.start])
    return bool(_TO.fullmatch(gap) or between)


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


def _meant(text: str, groups: Sequence[Marks]) -> list[Marks]:
    """Groups without those that are to be left out: "except March 2022"."""
    kept: list[Marks] = []
    out: Marks | None = None
    for group in groups:
        months = out is not None and out.kind == "months" and group.kind == "years"
        if _NOT.search(text[: group.start]) or (months and out and _beside(text, out, group)):
            out = group
        else:
            out = None
            kept.append(group)
    return kept


def _open_year(text: str, group: Marks) -> Marks:
    """One stretch of years, open to the side that the words beside it say."""
    if group.kind != "years" or len(group.spans) > 1:
        return group
    before, after, [span] = text[: group.start], text[group.end :], group.spans
    if _SINCE.search(before) or _ON.match(after):
        span = replace(span, last_year=EVER[1])
    elif _AFTER.search(before):
        span = Span(span.last_year + 1, EVER[1])
    elif _BEFORE.search(before):
        span = Span(EVER[0], span.first_year - 1)
    elif _UNTIL.search(before):
        span = replace(span, first_year=EVER[0])
    return replace(group, spans=(span,))


def _open_date(text: str, group: Marks) -> Marks:
    """The same for a part of a year: "since March 2023", "before Q2 2022"."""
    [span, *more], before, after = group.spans, text[: group.start], text[group.end :]
    if group.kind != "dated" or more or span.first_year != span.last_year:
        return group
    year, first, last = span.first_year, span.first_month, span.last_month
    earlier, later = Span(EVER[0], year - 1), Span(year + 1, EVER[1])
    found: tuple[Span, ...] = (span,)
    if _TO_DATE.search(before):
        found = (Span(year, year, 1, last),)
    elif _SINCE.search(before) or _ON.match(after):
        found = (Span(year, year, first, 12), later)
    elif _AFTER.search(before):
        found = (*([Span(year, year, last + 1, 12)] if last < 12 else []), later)
    elif _BEFORE.search(before):
        found = (earlier, *([Span(year, year, 1, first - 1)] if first > 1 else []))
    elif _UNTIL.search(before):
        found = (earlier, Span(year, year, 1, last))
    return replace(group, spans=found)


def _dated(text: str, groups: Sequence[Marks]) -> list[Marks]:
    """Months with the years that they are of: those beside them, or else the nearest."""
    years = [group for group in groups if group.kind == "years"]
    # In "2022 Q1, 2023 Q2" a year goes before its months, else behind: "Q1 2022, Q2 2023".
    first = groups[:2]
    before = [group.kind for group in first] == ["years", "months"] and _beside(text, *first)
    before = before and "," not in text[first[0].end : first[1].start]
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
        found.append(Marks(start, max(each.end for each in (months, *ends)), spans))
    left = [group for group in years if group.start not in taken]
    return sorted([*found, *left], key=lambda group: group.start)


def _years_of(text: str, months: Marks, years: Sequence[Marks], *, before: bool) -> Marks | None:
    """The years that months belong to, if there are any."""
    beside = [group for group in years if _beside(text, months, group)]
    near = min(years, key=lambda group: abs(group.start - months.start), default=None)
    return beside[0 if before else -1] if beside else near


def _beside(text: str, one: Marks, other: Marks) -> bool:
    """Whether years stand next to months, or "of" and the like alone between them."""
    first, second = sorted((one, other), key=lambda group: group.start)
    return _OF.fullmatch(text[first.end : second.start]) is not None


def _ranges(text: str, groups: Sequence[Marks]) -> list[Marks]:
    """Dated stretches from one to another as one: "March 2021 to June 2022"."""
    found = list(groups[:1])
    for _, group in pairwise(groups):
        last = found[-1]
        kinds = {last.kind, group.kind}
        single = len(last.spans) == len(group.spans) == 1
        if "dated" in kinds and "months" not in kinds and single and _to(text, last, group):
            spans = _from_to(last.spans[0], group.spans[0])
            found[-1] = Marks(last.start, group.end, spans)
        else:
            found.append(group)
    return found


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Stretches that touch as one: January and February, 2021 and 2022."""
    found: list[Span] = []
    for span in spans:
        whole = span
        while (other := next((one for one in found if _union(one, whole)), None)) is not None:
            found.remove(other)
            whole = _union(other, whole) or whole
        found.append(whole)
    return found


def _union(one: Span, other: Span) -> Span | None:
    """Both as one stretch; None if they are not."""
    years = (min(one.first_year, other.first_year), max(one.last_year, other.last_year))
    months = (min(one.first_month, other.first_month), max(one.last_month, other.last_month))
    same_years = (one.first_year, one.last_year) == (other.first_year, other.last_year)
    same_months = (one.first_month, one.last_month) == (other.first_month, other.last_month)
    if same_years and max(one.first_month, other.first_month) <= 1 + min(
        one.last_month, other.last_month
    ):
        return Span(*years, *months)
    dated = bool(one.first_year and other.first_year)
    if (
        same_months
        and dated
        and max(one.first_year, other.first_year) <= 1 + min(one.last_year, other.last_year)
    ):
        return Span(*years, *months)
    return None
