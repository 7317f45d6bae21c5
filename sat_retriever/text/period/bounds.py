"""Read open and bounded times: "since 2021", "after 2020 and before 2023"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Literal

from sat_retriever.text.period.marks import Marks
from sat_retriever.text.period.spans import EVER, Span
from sat_retriever.text.period.spellings import Y4
from sat_retriever.text.period.timewords import MONTHS, either

_YEAR = re.compile(rf"(?<!\d){Y4}(?!\d)")
PLACE = (  # "to the end of", "since the beginning of": these add no bound of their own
    r"(?:(?:the )?(?:very )?(?:end|beginning|start|close) of |(?:early|mid|late)[ \-]"
    r"|(?:ende|anfang|mitte) )"
)
YEAR_WORDS = r"(?:the )?(?:(?:fiscal|financial|calendar) )?(?:(?:years?|jahr|annee|ano) )?(?:of )?"
_LATER = r"(?:after|later than|newer than|nach|apres|despues de)"
_EARLIER = r"(?:before|prior to|earlier than|older than|vor|avant|antes de)"
_NEVER = r"(?:no|not|nicht|pas|no mas)"
_SINCE = re.compile(
    rf"(?<!\w)(?:(?:since|seit|depuis|desde|ab|a partir d[eu]|starting|beginning|commencing"
    r"|beginnend)(?: (?:in|from|with|on|at|mit|ab|dem))*|from(?= (?:the )?(?:beginning|start))"
    rf"|{_NEVER} {_EARLIER}) {PLACE}?{YEAR_WORDS}$"
)
_AFTER = re.compile(rf"(?<!\w)(?:{_LATER} (?:(?:the )?(?:end|close) of )?{YEAR_WORDS}|post[- ])$")
_BEFORE = re.compile(
    rf"(?<!\w)(?:{_EARLIER} (?:(?:the )?(?:beginning|start) of )?{YEAR_WORDS}|pre[- ])$"
)
_UNTIL = re.compile(
    r"(?<!\w)(?:(?:(?:up |through |thru )(?:to|until|till)|until|till|through|thru|bis"
    rf"|jusqu'(?:en|a|au)|hasta|{_NEVER} {_LATER})(?: and)?(?: including)?(?: zum?)? {PLACE}?"
    rf"|{_EARLIER} (?:the )?(?:end|close) of ){YEAR_WORDS}$"
)
_AND_BOUND = re.compile(
    rf" ?,? ?(?:(?:and|but|und|et|y) )?(?:{_NEVER} )?[^\W\d_]+(?: (?:to|than|de))? ?{YEAR_WORDS}"
)
_TO_DATE = re.compile(r"(?<!\w)(?:ytd|year[ -]to[ -]date)(?: (?:to|through|as of|until))? $")
_NOT_OF_NEXT = rf"(?![\w-]| (?:\d|the|fy|[qh] ?[1-4]|(?:{either(MONTHS)})\b))"
_ON = re.compile(
    r" ?,? ?(?:\+(?! ?\w)|(?:and )?(?:onwards?|forwards?)\b"
    rf"|(?:and|or) (?:later|after|on|beyond|newer|up|since){_NOT_OF_NEXT}"
    r"|on\b(?![\w-]| \w)"
    r"|(?:-|up to|to|through|until|till) ?(?:the )?(?:date|today|now|present)\b"
    r"|年?(?:以[来後后]|起|之[後后]))"
)
_BACK = re.compile(rf" ?,? ?(?:(?:and|or) (?:earlier|before|older|prior){_NOT_OF_NEXT}|年?以前)")
# In "2023年前的", 前 means "before"; in "2023年前三季度", 前 ("first") belongs to the quarters.
_EARLIER_BEHIND = re.compile(r" ?年?之前|(?: ?年|(?<=年))前(?= ?(?:$|[的,，.。?？!！、]))")
_FROM = re.compile(rf"(?<!\w)(?:from|von|ab|de|从|從) ?{PLACE}?{YEAR_WORDS}$")
_FROM_ON = re.compile(r" (?:on\b(?!-)|an(?= ?$|[,.?!]))")


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
    """Return the open end of a group's stretches; None if both ends are closed."""
    if any(span.first_year == EVER[0] for span in group.spans):
        return "first"
    return "last" if any(span.last_year == EVER[1] for span in group.spans) else None


def _common(one: Marks, other: Marks) -> tuple[Span, ...]:
    """Return the months that both groups contain."""
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
