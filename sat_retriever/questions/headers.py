"""Make questions about columns: the sheets that have both of two headers."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sat_retriever.datasets.labels.query import Query
from sat_retriever.questions.generate import Made
from sat_retriever.questions.spokennames import says_something
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.period.spellings import spelled
from sat_retriever.text.segment import stem, words

MAX_POSITIVES = 20
_MOST = 1_000  # sheets that may have the rarer of two headers
_MAX_SHARE = 0.25  # of the corpus that may have the rarer header; more is not informative
_TRIES = 20  # sheets read for each requested question
_MAX_WORDS = 5
_MAX_CHARS = 40
_MAX_HEADERS = 64  # of a sheet

_REMARK = re.compile(r"\s*(?:\([^()]*\)|\[[^][]*\])\s*$")
_ODD = re.compile(r"[\d:;/|=*\"{}<>]|\.\.")  # numbers, several rows in one header, remarks, code
# The question names the headers, so that only sheets with both columns answer it.
_ASKED = (
    'Which sheet has both "{0}" and "{1}"?',
    "Find the sheets with the columns {0} and {1}",
    "I need a sheet that lists {0} as well as {1}",
    "Where do we keep {0} together with {1}?",
    "sheet with {0} and {1}",
    "Show me every table that has {0} and also {1}",
    "{0} and {1} on one sheet",
    "Is there a worksheet with a column {0} next to {1}?",
)


Stems = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Headers:
    """The headers of sheets, and the sheets of headers.

    Attributes:
        of: Headers usable in questions, by sheet id.
        said: Text of a header in a question.
        sheets: Sheet ids by the stems of the full header.
        with_word: Full headers by each stem in them.
    """

    of: Mapping[str, Sequence[Stems]]
    said: Mapping[Stems, str]
    sheets: Mapping[Stems, Sequence[str]]
    with_word: Mapping[str, Sequence[Stems]]

    def having(self, header: Stems) -> set[str]:
        """Return the sheets with a header that has all the words of this one."""
        rarest = min(header, key=lambda word: (len(self.with_word[word]), word))
        wanted = set(header)
        covering = (each for each in self.with_word[rarest] if wanted <= set(each))
        return {sheet for each in covering for sheet in self.sheets[each]}


def header_queries(
    records: Iterable[SheetRecord],
    number: int,
    chance: random.Random,
    about: frozenset[str] | None = None,
) -> list[Made]:
    """Make at most `number` questions for two headers, each with every sheet that has both.

    A rewording must keep the two headers.

    Source: beyond the paper, whose queries do not name headers. No cell value is used.
    """
    headers = _read(records)
    limit = max(MAX_POSITIVES, min(_MOST, int(_MAX_SHARE * len(headers.of))))
    asked = headers.of.keys() if about is None else headers.of.keys() & about
    sheets = sorted(sheet for sheet in asked if len(headers.of[sheet]) > 1)
    chance.shuffle(sheets)
    found: dict[frozenset[Stems], Made] = {}
    covered: set[str] = set()
    for sheet in sheets[: _TRIES * number]:
        if len(found) >= number:
            break
        pair = chance.sample(headers.of[sheet], 2)
        if sheet in covered or set(pair[0]) & set(pair[1]):
            continue
        if min(len(headers.sheets.get(each, ())) for each in pair) > limit:
            continue
        positives = headers.having(pair[0]) & headers.having(pair[1])
        if len(positives) <= MAX_POSITIVES and positives <= asked:
            covered |= positives
            said = tuple(headers.said[each] for each in pair)
            query = Query(
                text=chance.choice(_ASKED).format(*said),
                positives=tuple(sorted(positives)),
                query_type="semantic_lookup",
                dependency_type="none",
            )
            found[frozenset(pair)] = Made(query, said)
    return list(found.values())


def _read(records: Iterable[SheetRecord]) -> _Headers:
    of: dict[str, Sequence[Stems]] = {}
    said: dict[Stems, str] = {}
    sheets: dict[Stems, list[str]] = {}
    with_word: dict[str, list[Stems]] = {}
    for record in records:
        tables = [table.columns for table in record.tables] or [record.columns]
        names = [column.name for columns in tables for column in columns][:_MAX_HEADERS]
        own: dict[Stems, None] = {}
        sayable: dict[Stems, None] = {}
        for name in names:
            own.setdefault(_stems(name))
            spoken = said_header(name)
            stems = _stems(spoken)
            if stems and sayable_header(spoken):
                sayable.setdefault(stems)
                said.setdefault(stems, spoken)
        for stems in filter(None, own):
            if stems not in sheets:
                for word in dict.fromkeys(stems):
                    with_word.setdefault(word, []).append(stems)
            sheets.setdefault(stems, []).append(record.sheet_id)
        of[record.sheet_id] = tuple(sayable)
    return _Headers(of, said, sheets, with_word)


@lru_cache(maxsize=65_536)
def _stems(header: str) -> Stems:
    return tuple(stem(word) for word in words(header[:200]))


@lru_cache(maxsize=65_536)
def said_header(header: str) -> str:
    """Return a header as people say it: without a unit or remark in brackets at its end.

    >>> said_header("Net_profit (kEUR)"), said_header("GROSS PAY")
    ('Net profit', 'gross pay')
    """
    flat = " ".join(_REMARK.sub("", header).replace("_", " ").split())
    return flat.lower() if flat.isascii() and flat.isupper() and len(flat) > 4 else flat


@lru_cache(maxsize=65_536)
def sayable_header(header: str) -> bool:
    """True if people would name this header: words, no number, no period, not too long.

    >>> [sayable_header(text) for text in ("Overtime hours", "2024", "Q1 2024", "num4", "a" * 90)]
    [True, False, False, False, False]
    """
    if not 1 < len(header) <= _MAX_CHARS or _ODD.search(header):
        return False
    found = spelled(header)
    few = len(header.split()) <= _MAX_WORDS
    return few and not found.units and says_something(found.rest.split())
