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
    """A header or an example on one line, cut to `_CHARS` characters."""
    line = one_line(text)
    return line if len(line) <= _CHARS else f"{line[: _CHARS - 1]}…"
