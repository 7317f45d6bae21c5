"""Typed placeholders, which an encoder reads in place of free text that hardly ever repeats."""

from __future__ import annotations

import re
from collections.abc import Sequence

NOTE_LENGTH = 120
"""A longer text is a note in any column (paper: over 120 characters)."""
DISTINCT_RATIO = 0.9
"""Least share of distinct values of a high-cardinality text column."""
MIN_VALUES = 8
"""Least number of values for a judgement about a column's cardinality."""
MIN_FREE_LENGTH = 12.0
"""Least mean characters of free text, as opposed to short codes or words."""
MAX_TYPE_LENGTH = 24

_WORD = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_DETAIL = frozenset(
    "name names title titles id ids no nr number code text string full first last of the a an "
    "and or in for by description value field column".split()
)
_NOTES = frozenset(
    "note notes comment comments remark remarks description descriptions text body message "
    "content abstract summary details explanation review".split()
)


def is_free_text(values: Sequence[str]) -> bool:
    """True if sampled texts of one column are high-cardinality free text.

    That means at least eight values, at least 90 % of them distinct, twelve or more characters
    on average, and a space in at least half of them: names, titles and sentences, but neither
    codes nor categories.

    >>> is_free_text([f"Alan Smithee the {n}th" for n in range(20)])
    True
    >>> is_free_text(["north", "south"] * 10)
    False
    """
    if len(values) < MIN_VALUES or len(set(values)) < DISTINCT_RATIO * len(values):
        return False
    spaced = sum(" " in value for value in values)
    return 2 * spaced >= len(values) and sum(map(len, values)) >= MIN_FREE_LENGTH * len(values)


def placeholder(header: str, text: str, *, number: int = 1) -> str:
    """The typed placeholder for a text of a column with this header.

    The type is the header's most telling word: the last one except details such as "name" or
    "id". It is `Note` for texts over 120 characters and for headers such as note, comment or
    description, and `Text` if the header has no word.

    Source: paper, appendix on corpus construction (`Movie_0001`, `Note_…`).
    Departs: the paper's types belong to a fixed list of headers, here any header has one.

    >>> placeholder("movie_title", "Alien"), placeholder("AuthorName", "Ann Lee", number=7)
    ('Movie_0001', 'Author_0007')
    >>> placeholder("Remarks", "fine"), placeholder("", "x"), placeholder("Title", "x")
    ('Note_0001', 'Text_0001', 'Title_0001')
    """
    return f"{_type_of(header, text)}_{number:04d}"


def _type_of(header: str, text: str) -> str:
    if len(text) > NOTE_LENGTH:
        return "Note"
    last_part = header.rsplit(" / ", 1)[-1]
    words: list[str] = [word.lower() for word in _WORD.findall(_CAMEL.sub(" ", last_part))]
    telling = [word for word in words if word not in _DETAIL]
    if any(word in _NOTES for word in words) and not [w for w in telling if w not in _NOTES]:
        return "Note"
    word: str = (telling or words or ["text"])[-1]
    return word[:MAX_TYPE_LENGTH].capitalize()
