"""Texts of workbooks as they are shown: on one line, and cut."""

from __future__ import annotations

_CHARS = 60  # most characters of a header or an example


def one_line(text: str) -> str:
    r"""The text with each run of whitespace replaced by one blank.

    >>> one_line(" Q3\u00a0 2024\n")
    'Q3 2024'
    """
    return " ".join(text.split())


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
