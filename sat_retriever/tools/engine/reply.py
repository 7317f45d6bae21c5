"""What a language model's reply holds: words, a query, numbers of sheets."""

from __future__ import annotations

import re

from sat_retriever.tools.engine.prompts import NO_ANSWER

_THOUGHTS = re.compile(r"\A\s*<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_THINK, _THOUGHT = "<think>", "</think>"
_FENCED = re.compile(r"```[ \t]*(sql\b|duckdb\b|)(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
_BEGINS = re.compile(
    r"\s*(?:--[^\n]*\n\s*|/\*.*?\*/\s*)*\(*\s*"
    r"(?:select\s|with\s+(?:recursive\s+)?\w+\s*(?:\([^)]*\)\s*)?as\b)",
    re.DOTALL | re.IGNORECASE,
)
_NO_QUERY = re.compile(r"\s*(?:no sql\b|\||\Z)", re.IGNORECASE)  # also a Markdown table
_NAMED = re.compile(r"\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]")


def words_of(reply: str) -> str:
    r"""Return a reply without a reasoning model's thoughts at its beginning.

    >>> words_of("<think>\nHm.\n</think>\nFive.")
    'Five.'
    """
    return _THOUGHTS.sub("", reply, count=1).strip()


class WordStream:
    r"""The words of one reply that comes in pieces, without thoughts at its beginning.

    Attributes:
        begun: True if there was anything to show; there is not if the reply is no answer.

    >>> stream = WordStream()
    >>> [stream.shown(piece) for piece in ("<th", "ink>Hm.</thi", "nk>\n", "Fi", "ve.")]
    ['', '', '', 'Fi', 've.']
    """

    def __init__(self) -> None:
        self._held = ""
        self.begun = False

    def shown(self, piece: str) -> str:
        """Return what can be shown now that a piece has come; empty while it is not known."""
        if self.begun:
            return piece
        self._held += piece
        start = self._held.lstrip().lower()
        if _THINK.startswith(start) or (start.startswith(_THINK) and _THOUGHT not in start):
            return ""
        words = _THOUGHTS.sub("", self._held, count=1).lstrip()
        if words.startswith(NO_ANSWER) or NO_ANSWER.startswith(words.rstrip()):
            return ""
        self.begun = bool(words)
        return words


def query_of(reply: str) -> str | None:
    r"""Return the query in a reply, the last one in a fence first; None if it has none.

    A fence marked as SQL goes before others, and its statement may be of any kind: what is run is
    decided later. A reply without a fence is taken if it begins as a query does.

    >>> query_of("Here it is:\n```sql\nSELECT 1\n```\n"), query_of("select 2;"), query_of("NO SQL")
    ('SELECT 1', 'select 2;', None)
    """
    words = words_of(reply)
    fenced = [(bool(mark), text.strip()) for mark, text in _FENCED.findall(words)]
    if fenced:
        told = [each for each in reversed(fenced) if not _NO_QUERY.match(each[1])]
        return next((text for marked, text in told if marked), told[0][1] if told else None)
    return words if _BEGINS.match(words) else None


def named_sheets(text: str, count: int) -> list[int]:
    """Return the numbers in brackets that name one of some sheets, in the order of mention.

    >>> named_sheets("Five [2], or six [1, 2] [9].", 3)
    [2, 1]
    """
    numbers = (int(n) for each in _NAMED.findall(text) for n in each.split(","))
    return list(dict.fromkeys(number for number in numbers if 1 <= number <= count))
