"""Nearness of two workbooks by the words of their folders and files, without times."""

from __future__ import annotations

from functools import lru_cache

from sat_retriever.records.formats import FORMAT_NAMES
from sat_retriever.text.period.spellings import spelled
from sat_retriever.text.segment import words

FAR = -2.5
"""Change of the log-odds of a join between workbooks whose names share no word."""

_TELLING = 2  # words from which on a name identifies the workbook's owner
_SHARED = 2  # common words from which on two workbooks have one owner


def nearness_odds(one: str, other: str) -> float:
    """Change of log-odds for the paths of two workbooks, from `FAR` to 0.

    A name of one word is no evidence: orders.xlsx and customers.xlsx may well belong together.

    >>> nearness_odds("acme/Attendance 2024.xlsx", "acme/Staff list.xlsx")
    -1.25
    >>> nearness_odds("Budget Acme Foods.xlsx", "Budget Blue Motors.xlsx")
    -1.25
    >>> nearness_odds("orders.xlsx", "customers.xlsx")
    0.0
    """
    mine, theirs = path_words(one), path_words(other)
    if min(len(mine), len(theirs)) < _TELLING:
        return 0.0
    return FAR * (1 - min(_SHARED, len(mine & theirs)) / _SHARED)


@lru_cache(maxsize=16_384)
def path_words(path: str) -> frozenset[str]:
    """Words of a path except times, file formats, numbers, and words of one or two letters."""
    found = (word for level in path.split("/")[-8:] for word in words(spelled(level).rest))
    return frozenset(w for w in found if len(w) > 2 and not w.isdigit() and w not in FORMAT_NAMES)
