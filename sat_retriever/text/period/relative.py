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
from datetime import date
from functools import partial

from sat_retriever.text.period.counting import FIRST_YEAR, LAST_YEAR
from sat_retriever.text.period.relativechinese import CHINESE
from sat_retriever.text.period.relativewords import EUROPEAN, each_alone


@dataclass(frozen=True, slots=True)
class Counted:
    """A question whose times need no date.

    Attributes:
        text: The question, with years and months in place of words that count from today.
        words: The replaced words, in their order.
    """

    text: str
    words: tuple[str, ...] = ()


def counted(text: str, today: date) -> Counted:
    """Replace the times of a question that count from today by numbers.

    Args:
        text: The question, as `spellings.plain` makes it.
        today: The day to count from; outside 1900 to 2099 the question stays unchanged.

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
    for pattern, read in phrases:
        found = pattern.sub(partial(_put, read, today, words), found)
    return Counted(found, tuple(sorted(dict.fromkeys(words), key=text.find)))


def _put(
    read: Callable[[re.Match[str], date], str], today: date, words: list[str], match: re.Match[str]
) -> str:
    """Return the numbers for a phrase and record its words; the phrase itself if not a time."""
    said = read(match, today)
    if said:
        words.append(match[0].strip())
    return said or match[0]
