"""How near two workbooks are by their names: words of folders and files, times left out."""

from __future__ import annotations

from functools import lru_cache

from sat_retriever.period.spellings import spelled
from sat_retriever.records.formats import FORMAT_NAMES
from sat_retriever.text.segment import words

FAR = -2.5
"""Change of the log-odds of a join between workbooks whose names have nothing in common."""

_TELLING = 2  # words of a name, from which on it says whose the workbook is
_SHARED = 2  # words in common that make two workbooks one's own


def nearness_odds(one: str, other: str) -> float:
    """Change of log-odds by the paths of two workbooks, from `FAR` to 0.

    A name of one word says nothing: orders.xlsx and customers.xlsx may well belong together.

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
    """Words of a path that name no time and no file format, without numbers and letters."""
    found = (word for level in path.split("/")[-8:] for word in words(spelled(level).rest))
    return frozenset(w for w in found if len(w) > 2 and not w.isdigit() and w not in FORMAT_NAMES)
