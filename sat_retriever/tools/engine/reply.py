"""What a language model's reply holds: words, a query, numbers of sheets."""

from __future__ import annotations

import re

from sat_retriever.llm.served import REASONED, REASONING, without_reasoning
from sat_retriever.tools.engine.prompts import NO_ANSWER

# A fence of either kind. A word alone on its line names what is in it, as sql does on any line.
_FENCED = re.compile(
    r"(?P<fence>```|~~~)[ \t]*"
    r"(?P<mark>(?!(?:select|with|from)\b)[\w.+-]+(?=[ \t]*\n)|(?:sql|duckdb)\b|)"
    r"(?P<text>.*?)(?:(?P=fence)|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_SQL = re.compile(r"sql|duckdb", re.IGNORECASE)
# An introduction that ends with a colon, comments, and the first words of a query.
_BEGINS = re.compile(
    r"(?:[^\n:]{0,80}:)?(?P<query>\s*(?:--[^\n]*\n\s*|/\*(?:[^*]|\*(?!/))*\*/\s*)*\(*\s*"
    r"(?:select\s|with\s+(?:recursive\s+)?(?:\w+|\"[^\"\n]*\")\s*(?:\([^)]*\)\s*)?as\b))",
    re.IGNORECASE,
)
_MARKS = "*_`# "  # of Markdown, around words
_NO_QUERY = re.compile(r"\s*(?:no sql\b|\||\Z)", re.IGNORECASE)  # also a Markdown table
_NAMED = re.compile(r"\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]")


class WordStream:
    r"""The words of one reply that comes in pieces, without a model's reasoning at its beginning.

    Reasoning that no mark begins is shown, with the mark at its end: nobody knows before.

    Attributes:
        said: The whole reply so far.
        begun: True if there was anything to show; there is not if the reply is no answer.

    >>> stream = WordStream()
    >>> [stream.shown(piece) for piece in ("<th", "ink>Hm.</thi", "nk>\n", "Fi", "ve.")]
    ['', '', '', 'Fi', 've.']
    """

    def __init__(self) -> None:
        self.said = ""
        self.begun = False

    def shown(self, piece: str) -> str:
        """Return what can be shown now that a piece has come; empty while it is not known."""
        self.said += piece
        if self.begun:
            return piece
        words = self.said.rpartition(REASONED)[2].lstrip()
        if words.startswith(REASONING) or REASONING.startswith(words.rstrip()):
            return ""
        if is_no_answer(words) or NO_ANSWER.startswith(words.strip(_MARKS + "\n")):
            return ""
        self.begun = True
        return words


def query_of(reply: str) -> str | None:
    r"""Return the query in a reply, the last one in a fence first; None if it has none.

    A fence marked as SQL goes before others, and its statement may be of any kind: what is run is
    decided later. A reply without a fence is taken if it begins as a query does.

    >>> query_of("Here it is:\n```sql\nSELECT 1\n```\n"), query_of("select 2;"), query_of("NO SQL")
    ('SELECT 1', 'select 2;', None)
    """
    words = without_reasoning(reply)
    fenced = [
        (bool(_SQL.search(each["mark"])), each["text"].strip()) for each in _FENCED.finditer(words)
    ]
    if fenced:
        told = [each for each in reversed(fenced) if not _NO_QUERY.match(each[1])]
        return next((text for marked, text in told if marked), told[0][1] if told else None)
    begun = _BEGINS.match(words)
    return words[begun.start("query") :].strip() if begun else None


def is_no_answer(text: str) -> bool:
    """True if a model says that a result is no answer, perhaps in bold."""
    return text.lstrip(_MARKS).startswith(NO_ANSWER)


def named_sheets(text: str, count: int) -> list[int]:
    """Return the numbers in brackets that name one of some sheets, in the order of mention.

    >>> named_sheets("Five [2], or six [1, 2] [9].", 3)
    [2, 1]
    """
    numbers = (int(n) for each in _NAMED.findall(text) for n in each.split(","))
    return list(dict.fromkeys(number for number in numbers if 1 <= number <= count))
