"""Texts of workbooks as they are shown: on one line, and cut."""

from __future__ import annotations

import json

_CHARS = 60  # most characters of a header or an example


def one_line(text: str) -> str:
    r"""The text with each run of whitespace replaced by one blank.

    >>> one_line(" Q3\u00a0 2024\n")
    'Q3 2024'
    """
    return " ".join(text.split())


def escaped(text: str) -> str:
    r"""The text with escapes of JSON in place of line ends, controls and bidi marks.

    >>> escaped("a\nb\x9b31m\u202e\U000e0001")
    'a\\nb\\u009b31m\\u202e\\udb40\\udc01'
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in text)


def short(text: str) -> str:
    """A header or an example on one line, of at most `_CHARS` characters, cut between words.

    Half a word would be highlighted as a whole one. A text without blanks is cut anywhere.

    >>> short("Total emissions of all the plants of the northern half, estimated for 2024")
    'Total emissions of all the plants of the northern half,…'
    """
    line = one_line(text)
    if len(line) <= _CHARS:
        return line
    cut = line[: _CHARS - 1]
    if line[_CHARS - 1] != " ":
        end = cut.rfind(" ", _CHARS // 2)
        cut = cut[:end] if end > 0 else cut
    return f"{cut.rstrip()}…"
