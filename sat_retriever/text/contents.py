"""Words of a sheet's contents, by which the texts of its cells and a query are matched."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from sat_retriever.records.contents import SheetContents
from sat_retriever.text.lexical import MAX_QUERY_WORDS, query_words
from sat_retriever.text.segment import ReadText, read_chunks, stems

MAX_WORDS = 20_000  # of one sheet
LONGEST = 64  # characters of a word; a longer one is a hash or a damaged text
_MAX_PHRASES = 4
# A code may be written with signs at which words come apart: 2023-0815, x_1042, a:17.
# Possessive, from the start of a word on: a text of one long word takes no squared time.
_CODE = re.compile(r"(?<![^\W_])[^\W_]++(?:[-./_:#][^\W_]++)+")
_QUOTED = re.compile(r'"([^"]{2,200})"|“([^”]{2,200})”|„([^“”]{2,200})[“”]|«([^»]{2,200})»')
SPELLED = re.compile(r"[^\W\d_]{5,24}")
# Words that ask for the sheets which explain others.
_EXPLAINING = frozenset(
    "readme note documentation document definition source about description methodology "
    "explanation assumption glossary legend metadata disclaimer reference".split()
)


@dataclass(frozen=True, slots=True)
class ContentWords:
    """Distinct stems, codes and whole words of contents, in order, at most 20,000 of each kind."""

    matched: tuple[str, ...]
    spelled: tuple[str, ...]


def content_words(contents: SheetContents, read: ReadText = read_chunks) -> ContentWords:
    """The words of all texts of a sheet, each read by `read`.

    >>> from sat_retriever.records.contents import CellText
    >>> content_words(SheetContents((CellText("A1", "Fares of 2023-0815"),)))
    ContentWords(matched=('fare', 'of', '2023', '0815', '2023-0815'), spelled=('fares',))
    """
    matched: list[str] = []
    whole: list[str] = []
    for text in content_texts(contents):
        for chunk in read(text):
            matched += chunk.stems
            whole += chunk.words
        matched += _codes(text)
    short = (word for word in dict.fromkeys(matched) if len(word) <= LONGEST)
    return ContentWords(tuple(islice(short, MAX_WORDS)), spelled_words(whole))


def asked_words(query: str) -> tuple[str, ...]:
    """Distinct words of a query that contents are searched for: those that count, and codes.

    >>> asked_words("Which row has order 2023-0815?")
    ('row', 'order', '2023', '0815', '2023-0815')
    """
    found = dict.fromkeys((*query_words(query), *_codes(query)))
    return tuple(word for word in found if len(word) <= LONGEST)[:MAX_QUERY_WORDS]


def content_texts(contents: SheetContents) -> Iterator[str]:
    """All texts of a sheet: its notes, then caption, labels and values of each table."""
    for each in contents.notes:
        yield each.text
    for table in contents.tables:
        for each in table:
            yield each.text


def spelled_words(some: Iterable[str]) -> tuple[str, ...]:
    """Those of some words that a misspelt one may mean: distinct, of 5 to 24 letters.

    >>> spelled_words(["uberland", "fares", "4th", "uberland"])
    ('uberland', 'fares')
    """
    return tuple(islice(filter(SPELLED.fullmatch, dict.fromkeys(some)), MAX_WORDS))


def phrases(query: str) -> tuple[str, ...]:
    """The phrases in quotation marks in a query, at most four.

    >>> phrases('ridership of "MTA New York City Transit" by year')
    ('MTA New York City Transit',)
    """
    found = (next(filter(None, groups), "") for groups in _QUOTED.findall(query))
    return tuple(each for each in found if each.strip())[:_MAX_PHRASES]


def holds(texts: Iterable[str], phrase: str) -> bool:
    """True if one of some texts has a phrase, whatever the case and the white space.

    >>> holds(["MTA  New York"], "new york"), holds(["Newport"], "new")
    (True, False)
    """
    wanted = r"\s+".join(map(re.escape, phrase.casefold().split()))
    pattern = re.compile(rf"(?<!\w){wanted}(?!\w)")
    return any(pattern.search(text.casefold()) for text in texts)


def asks_for_documentation(query: str) -> bool:
    """True if a query asks for notes, sources, definitions and the like.

    >>> asks_for_documentation("Sources of fuel prices"), asks_for_documentation("Fuel prices")
    (True, False)
    """
    return not _EXPLAINING_STEMS.isdisjoint(stems(query))


def _codes(text: str) -> Iterator[str]:
    for found in _CODE.findall(text):
        if len(found) <= LONGEST and any(map(str.isdigit, found)):
            yield found.casefold()


_EXPLAINING_STEMS = frozenset(form for word in _EXPLAINING for form in stems(word))
