"""Find the times that a question asks for: years, halves, quarters, months, ranges and lists.

    text -> marks (a year; some months) -> groups (listed or from-to) -> dated spans

"last year" and the like depend on today's date and are put in numbers first; see `relative`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache
from itertools import pairwise, product
from typing import Literal

from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.pattern import pattern
from sat_retriever.text.period.marks import Marks, marks
from sat_retriever.text.period.periods import Grain, period_of
from sat_retriever.text.period.relative import counted
from sat_retriever.text.period.spans import EVER, UNDATED, QueryPeriods, Span, span_of
from sat_retriever.text.period.spellings import Y4, plain
from sat_retriever.text.period.timewords import MONTHS, either

_YEAR = pattern(rf"(?<!\d){Y4}(?!\d)")
PLACE = (  # "to the end of", "since the beginning of": these add no bound of their own
    r"(?:(?:the )?(?:very )?(?:end|beginning|start|close) of |(?:early|mid|late)[ \-]"
    r"|(?:ende|anfang|mitte) )"
)
YEAR_WORDS = r"(?:the )?(?:(?:fiscal|financial|calendar) )?(?:(?:years?|jahr|annee|ano) )?(?:of )?"
_LATER = r"(?:after|later than|newer than|nach|apres|despues de)"
_EARLIER = r"(?:before|prior to|earlier than|older than|vor|avant|antes de)"
_NEVER = r"(?:no|not|nicht|pas|no mas)"
_SINCE = pattern(
    rf"(?<!\w)(?:(?:since|seit|depuis|desde|ab|a partir d[eu]|starting|beginning|commencing"
    r"|beginnend)(?: (?:in|from|with|on|at|mit|ab|dem))*|from(?= (?:the )?(?:beginning|start))"
    rf"|{_NEVER} {_EARLIER}) {PLACE}?{YEAR_WORDS}$"
)
_AFTER = pattern(rf"(?<!\w)(?:{_LATER} (?:(?:the )?(?:end|close) of )?{YEAR_WORDS}|post[- ])$")
_BEFORE = pattern(
    rf"(?<!\w)(?:{_EARLIER} (?:(?:the )?(?:beginning|start) of )?{YEAR_WORDS}|pre[- ])$"
)
_UNTIL = pattern(
    r"(?<!\w)(?:(?:(?:up |through |thru )(?:to|until|till)|until|till|through|thru|bis"
    rf"|jusqu'(?:en|a|au)|hasta|{_NEVER} {_LATER})(?: and)?(?: including)?(?: zum?)? {PLACE}?"
    rf"|{_EARLIER} (?:the )?(?:end|close) of ){YEAR_WORDS}$"
)
_AND_BOUND = pattern(
    rf" ?,? ?(?:(?:and|but|und|et|y) )?(?:{_NEVER} )?[^\W\d_]+(?: (?:to|than|de))? ?{YEAR_WORDS}"
)
_TO_DATE = pattern(r"(?<!\w)(?:ytd|year[ -]to[ -]date)(?: (?:to|through|as of|until))? $")
_NOT_OF_NEXT = rf"(?![\w-]| (?:\d|the|fy|[qh] ?[1-4]|(?:{either(MONTHS)})\b))"
_ON = pattern(
    r" ?,? ?(?:\+(?! ?\w)|(?:and )?(?:onwards?|forwards?)\b"
    rf"|(?:and|or) (?:later|after|on|beyond|newer|up|since){_NOT_OF_NEXT}"
    r"|on\b(?![\w-]| \w)"
    r"|(?:-|up to|to|through|until|till) ?(?:the )?(?:date|today|now|present)\b"
    r"|年?(?:以[来後后]|起|之[後后]))"
)
_BACK = pattern(rf" ?,? ?(?:(?:and|or) (?:earlier|before|older|prior){_NOT_OF_NEXT}|年?以前)")
# In "2023年前的", 前 means "before"; in "2023年前三季度", 前 ("first") belongs to the quarters.
_EARLIER_BEHIND = pattern(r" ?年?之前|(?: ?年|(?<=年))前(?= ?(?:$|[的,，.。?？!！、]))")
_FROM = pattern(rf"(?<!\w)(?:from|von|ab|de|从|從) ?{PLACE}?{YEAR_WORDS}$")
_FROM_ON = pattern(r" (?:on\b(?!-)|an(?= ?$|[,.?!]))")


def open_year(text: str, group: Marks) -> Marks:
    """Open one stretch of years to the side that the adjacent words name."""
    if group.kind != "years" or len(group.spans) > 1:
        return group
    before, after, [span] = text[: group.start], text[group.end :], group.spans
    if _goes_on(before, after):
        span = replace(span, last_year=EVER[1])
    elif _BACK.match(after):
        span = replace(span, first_year=EVER[0])
    elif len(_YEAR.findall(text[group.start : group.end])) > 1:
        pass  # a range has both ends: "since 2019 until 2021"
    elif _SINCE.search(before):
        span = replace(span, last_year=EVER[1])
    elif _UNTIL.search(before):  # "no later than" before "later than"
        span = replace(span, first_year=EVER[0])
    elif _AFTER.search(before):
        span = Span(span.last_year + 1, EVER[1])
    elif _BEFORE.search(before) or _EARLIER_BEHIND.match(text, group.end):
        span = Span(EVER[0], span.first_year - 1)
    return replace(group, spans=(span,))


def _goes_on(before: str, after: str) -> bool:
    """True if a time has no end: "2021 onwards", or "from 2021 on"."""
    return bool(_ON.match(after) or (_FROM.search(before) and _FROM_ON.match(after)))


def open_date(text: str, group: Marks) -> Marks:
    """Open a part of a year in the same way: "since March 2023", "before Q2 2022"."""
    [span, *more], before, after = group.spans, text[: group.start], text[group.end :]
    if group.kind != "dated" or more or span.first_year != span.last_year:
        return group
    year, first, last = span.first_year, span.first_month, span.last_month
    earlier, later = Span(EVER[0], year - 1), Span(year + 1, EVER[1])
    found: tuple[Span, ...] = (span,)
    if _TO_DATE.search(before):
        found = (Span(year, year, 1, last),)
    elif _SINCE.search(before) or _goes_on(before, after):
        found = (Span(year, year, first, 12), later)
    elif _UNTIL.search(before) or _BACK.match(after):
        found = (earlier, Span(year, year, 1, last))
    elif _AFTER.search(before):
        found = (*([Span(year, year, last + 1, 12)] if last < 12 else []), later)
    elif _BEFORE.search(before):
        found = (earlier, *([Span(year, year, 1, first - 1)] if first > 1 else []))
    return replace(group, spans=found)


def bounded(text: str, groups: Sequence[Marks]) -> list[Marks]:
    """Intersect adjacent stretches open to opposite sides: "after 2020 and before 2023"."""
    found: list[Marks] = []
    for group in groups:
        last = found[-1] if found else None
        both: tuple[Span, ...] = ()
        if last is not None and _AND_BOUND.fullmatch(text[last.end : group.start]):
            open_ends = {_open_end(last), _open_end(group)}
            both = _common(last, group) if open_ends == {"first", "last"} else ()
        if last is not None and both:
            found[-1] = Marks(last.start, group.end, both)
        else:
            found.append(group)
    return found


def _open_end(group: Marks) -> Literal["first", "last"] | None:
    if any(span.first_year == EVER[0] for span in group.spans):
        return "first"
    return "last" if any(span.last_year == EVER[1] for span in group.spans) else None


def _common(one: Marks, other: Marks) -> tuple[Span, ...]:
    found = (
        Span(
            max(a.first_year, b.first_year), min(a.last_year, b.last_year),
            max(a.first_month, b.first_month), min(a.last_month, b.last_month),
        )
        for a, b in product(one.spans, other.spans)
    )  # fmt: skip
    return tuple(
        span
        for span in found
        if span.first_year <= span.last_year and span.first_month <= span.last_month
    )


MAX_CHARS = 1_000  # of a question that are read
_MOST = 64  # spans of a question
# Grains that only the grammar of names finds: "2024 12" is a month in a name alone.
_PARTS = frozenset({Grain.HALF, Grain.QUARTER, Grain.WEEK})
_MONTHS = frozenset({Grain.MONTH, Grain.MONTHS, Grain.DAY})

_TO = pattern(
    r" ?年? ?(?:至|到|~) ?"
    r"| ?,? ?(?:(?:all the way|right|and) )?(?:up |through |thru )?"
    r"(?:-|to|through|thru|until|till|bis|a|au|hasta|ate|fino a|(?:and )?ending(?: in| with)?)"
    rf"(?: and)?(?: including)? ?(?:zum? )?{PLACE}?{YEAR_WORDS}"
)
_ANDS = ("and", "und", "et", "y")
_AND = r"(?:\+|and|or|und|oder|et|ou|y|e|&|vs\.?|versus|with|against|compared (?:to|with))"
_LISTED = pattern(rf" ?(?:, ?(?:{_AND} )?|{_AND} )(?:(?:in|for|of) )?")
_BETWEEN = pattern(r"(?<!\w)(?:between|zwischen|entre) (?:the )?$")
_OF = pattern(
    r"(?:'s)? ?(?:,|/|-|of|in|de|del|im|des)? ?(?:the )?(?:(?:fiscal|financial|calendar) )?"
    r"(?:year )?"
)
_NOT = pattern(
    r"(?<!\w)(?:not|except|excluding|excl\.?|without|other than|apart from|ohne|sauf"
    r"|(?:all|every|any|everything)(?: [^\W\d_]+)? but)"
    r"(?: (?:for|in|of|the))* $"
)


def asked_times(text: str, today: date) -> QueryPeriods:
    """Find the times that a question's first thousand characters name, relative to a day.

    With `UNDATED`, "last year" and the like are ignored.

    >>> asked_times("sales of the last three years", date(2024, 5, 10)).label
    '2021 to 2023 (from "last three years")'
    """
    return _asked(text[:MAX_CHARS], today)


def asked_spans(text: str, today: date = UNDATED) -> tuple[Span, ...]:
    """Find the stretches of time that a question names, in its order; empty if it names none.

    A stretch is the same months of successive years. A sheet may match any stretch.

    >>> asked_spans("revenue 2019\u20132021")
    (Span(first_year=2019, last_year=2021, first_month=1, last_month=12),)
    >>> asked_spans("last two quarters of 2022"), asked_spans("it may rise")
    ((Span(first_year=2022, last_year=2022, first_month=7, last_month=12),), ())
    """
    return asked_times(text, today).spans


@lru_cache(maxsize=4_096)
def _asked(text: str, today: date) -> QueryPeriods:
    said = counted(plain(text, MAX_CHARS), today)
    spans = _spans(said.text)
    return QueryPeriods.of(text, spans, said.words)


def _spans(text: str) -> tuple[Span, ...]:
    read = list(marks(text))
    groups = _meant(text, _groups(text, read))
    found = _ranges(text, _dated(text, [open_year(text, group) for group in groups]))
    opened = [open_date(text, group) for group in found if not group.relative]
    named = (span for group in bounded(text, opened) for span in group.spans)
    spans = tuple(_merged(span for span in named if span.first_year <= span.last_year))
    return spans[:_MOST] if len(read) > 1 else _finer(text, spans)


def _groups(text: str, found: Iterable[Marks]) -> list[Marks]:
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
    """Combine two marks of one kind; empty if they are unrelated."""
    if _to(text, last, mark):
        return (*last.spans[:-1], *_from_to(last.spans[-1], mark.spans[0]))
    if _LISTED.fullmatch(text[last.end : mark.start]):
        return (*last.spans, *mark.spans)
    return ()


def _to(text: str, first: Marks, second: Marks) -> bool:
    """True if the words between two marks make them the ends of a range."""
    gap = text[first.end : second.start]
    between = gap.strip() in _ANDS and _BETWEEN.search(text[: first.start])
    return bool(_TO.fullmatch(gap) or between)


def _from_to(first: Span, last: Span) -> tuple[Span, ...]:
    """Return the time from one stretch to another in as few spans as possible."""
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
    """Return the groups without the excluded ones: "except March 2022"."""
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


def _finer(text: str, found: tuple[Span, ...]) -> tuple[Span, ...]:
    """Return a year, or the part of it that a sheet of this name would cover: "T1 2024"."""
    if len(found) != 1 or not found[0].whole_years:
        return found
    period = period_of(SheetRecord("", text))
    if period is None or (period.year, period.year) != (found[0].first_year, found[0].last_year):
        return found
    finer = _PARTS if text.isascii() else _PARTS | _MONTHS
    return (span_of(period),) if period.grain in finer else found


def _dated(text: str, groups: Sequence[Marks]) -> list[Marks]:
    """Combine months with the years beside them, or else with the nearest years."""
    years = [group for group in groups if group.kind == "years"]
    # In "2022 Q1, 2023 Q2" a year precedes its months; in "Q1 2022, Q2 2023" it follows them.
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
    beside = [group for group in years if _beside(text, months, group)]
    near = min(years, key=lambda group: abs(group.start - months.start), default=None)
    return beside[0 if before else -1] if beside else near


def _beside(text: str, one: Marks, other: Marks) -> bool:
    """True if years are next to months, or only "of" and the like is between them."""
    first, second = sorted((one, other), key=lambda group: group.start)
    return _OF.fullmatch(text[first.end : second.start]) is not None


def _ranges(text: str, groups: Sequence[Marks]) -> list[Marks]:
    """Join dated stretches that form a range: "March 2021 to June 2022"."""
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
    """Merge stretches that touch: January and February, 2021 and 2022."""
    found: list[Span] = []
    for span in spans:
        whole = span
        while (other := next((one for one in found if _union(one, whole)), None)) is not None:
            found.remove(other)
            whole = _union(other, whole) or whole
        found.append(whole)
    return found


def _union(one: Span, other: Span) -> Span | None:
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
