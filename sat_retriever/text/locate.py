"""Locate the answer on a sheet: the cells that match a question, the table, and its rows.

The terms of a question → each text of a sheet against them → the table that answers, and the range
to cite.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum

from sat_retriever.records.area import Area, area_of, split_ref
from sat_retriever.records.contents import CellText
from sat_retriever.records.sheets import SheetRecord, Table
from sat_retriever.text.forward import ForwardIndex, Part
from sat_retriever.text.lexical import query_words, sheet_words
from sat_retriever.text.segment import ALSO, forms, stem

_QUOTED = re.compile(r"[\"“”„«»]([^\"“”„«»]{2,200})[\"“”„«»]")
_MOST_QUOTED = 20
MIN_NGRAM = 3
"""Words of an n-gram that a text shares with a question, at least."""
_MOST_PLACES = 8  # of one word in a question


@dataclass(frozen=True)
class QueryTerms:
    """The words and quoted phrases of a question, with their weights."""

    weights: Mapping[str, float]  # how much each of its words tells, as stems, all above 0
    sequence: str  # all its words as stems in order, each between blanks
    quoted: tuple[str, ...] = ()  # the phrases in quotation marks, written in the same way

    @classmethod
    def of(cls, question: str, idf: Mapping[str, float] | None = None) -> QueryTerms:
        """Read a question.

        `idf` says how rare words are, as stems. A word without one weighs as much as the rarest,
        since no sheet's name has it. None: all weigh the same.

        >>> terms = QueryTerms.of('fares of "New York"', {"fare": 2.0, "new": 0.5})
        >>> terms.weights, terms.sequence, terms.quoted
        ({'fare': 2.0, 'new': 0.5, 'york': 2.0}, ' fare of new york ', (' new york ',))
        """
        known = idf or {}
        most = max(known.values(), default=0.0) or 1.0
        weights = {word: known.get(word) or most for word in query_words(question)}
        phrases = _QUOTED.findall(question)[:_MOST_QUOTED]
        quoted = tuple(
            dict.fromkeys(found for each in phrases if (found := sequence(forms(each))).strip())
        )
        return cls(weights, sequence(forms(question)), quoted)

    @cached_property
    def total(self) -> float:
        """Weight of all its words."""
        return self.weight(self.weights)

    def weight(self, words: Iterable[str]) -> float:
        """Weight of some words, each once; words that the question lacks weigh nothing."""
        return fsum(self.weights.get(word, 0.0) for word in set(words))  # in any order

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """The first eight places of each word in the question."""
        found: dict[str, list[int]] = {}
        for place, word in enumerate(self.sequence.split()):
            own = found.setdefault(word, [])
            if len(own) < _MOST_PLACES:
                own.append(place)
        return found

    def shared_ngram(self, text: Sequence[str]) -> tuple[str, ...]:
        """The words, as stems, that follow each other in a text and in the question, three or more.

        Of several such n-grams the heaviest counts; a word weighs each time it occurs. Of a word
        that the question repeats, its first eight places count. Empty if there is none.

        >>> asked = QueryTerms.of("where is it written: tons of coal from Ashgrove")
        >>> asked.shared_ngram(["25", "ton", "of", "coal", "left", "ashgrov"])
        ('ton', 'of', 'coal')
        """
        best, last = (0.0, 0), 0  # weight and length of an n-gram, and where it ends
        ending: dict[int, tuple[float, int]] = {}  # those that end at each place of the question
        for end, word in enumerate(text, start=1):
            weight, before = self.weights.get(word, 0.0), ending
            ending = {}
            for place in self._places.get(word, ()):
                said, length = before.get(place - 1, (0.0, 0))
                ending[place] = (said + weight, length + 1)
            longest = max(ending.values(), default=best)
            if longest > best and longest[1] >= MIN_NGRAM:
                best, last = longest, end
        return tuple(text[last - best[1] : last])


def sequence(words: Iterable[tuple[str, ...]]) -> str:
    """The words of a text, given as `forms` returns them, as stems in order, each between blanks.

    >>> sequence(forms("MTA: New York City"))
    ' mta new york citi '
    """
    return f" {' '.join(stem(each[0]) for each in words)} "


MOST_CELLS = 10
_COUNT = re.compile(r" \d{1,2} ")  # the 5 of "top 5" names no cell
_WORD = re.compile(rf"\S+(?: \{ALSO} \S+)*")
_TELLING = 2  # words of the question in a text that is searched for an n-gram of it
_LEAST_SHARE = 0.25  # of the best cell's score; a cell below it says nothing


@dataclass(frozen=True, slots=True)
class Match:
    """A text that has words of a question."""

    line: int  # of the forward index of its sheet
    part: Part
    table: int  # place of its table in `SheetRecord.tables`; -1 for a note
    words: frozenset[str]  # words of the question that it has, as stems
    coverage: float  # share of its own words that these are, in (0, 1]
    whole: bool  # True if the question has all of it word for word, or it has a quoted phrase
    # Words of the question, as stems, that follow each other in the text as they do in the
    # question: three or more, of which two tell; see `QueryTerms.shared_ngram`. Empty without any.
    ngram: tuple[str, ...] = ()

    def score(self, asked: QueryTerms) -> float:
        """How well it matches: what its words weigh, up to half of it lost to other words.

        A text that the question has word for word counts double.
        """
        return asked.weight(self.words) * self.closeness

    @property
    def closeness(self) -> float:
        """Factor for how much of the text is asked for, in (0.5, 2]."""
        return (0.5 + 0.5 * self.coverage) * (2 if self.whole else 1)


def matches(asked: QueryTerms, texts: ForwardIndex) -> list[Match]:
    """All texts of a sheet that have a word of a question, in their order."""
    asking = ([word] for word in asked.weights)
    return [_match(asked, own, line, *texts.part(line)) for line, own in texts.having(asking)]


def best_cells(
    asked: QueryTerms, found: Sequence[Match], texts: ForwardIndex, most: int = MOST_CELLS
) -> list[tuple[Match, CellText]]:
    """The cells that match a question best, best first; equally good ones top down.

    A cell that has no word which better ones lack is left out, unless the question has all of it.
    """
    scored = [(each.score(asked), each) for each in found if texts.has_cell(each.line)]
    scored.sort(key=lambda pair: -pair[0])  # stable: ties stay top down
    kept: list[tuple[Match, CellText]] = []
    seen: set[str] = set()
    for score, each in scored:
        if len(kept) == most or score < _LEAST_SHARE * scored[0][0]:
            break
        if each.whole or not each.words <= seen:
            kept.append((each, texts.text(each.line)))
            seen |= each.words
    return kept


def _match(asked: QueryTerms, own: str, line: int, part: Part, table: int) -> Match:
    read = own.split()
    every = [[word] for word in read]
    if ALSO in read:
        every = [each.split(f" {ALSO} ") for each in _WORD.findall(own)]
        own = f" {' '.join(each[0] for each in every)} "
    hits = [each for each in every if not asked.weights.keys().isdisjoint(each)]
    words = frozenset(word for each in hits for word in each) & asked.weights.keys()
    said = own in asked.sequence and not _COUNT.fullmatch(own)
    whole = said or any(phrase in own for phrase in asked.quoted)
    ngram = asked.shared_ngram(own.split()) if len(words) >= _TELLING else ()
    return Match(line, part, table, words, len(hits) / len(every), whole, ngram)


LONG = 100  # rows; of a longer table the rows around the matched cells are cited
_AROUND = 10  # rows cited above and below the matched ones
_TELLING_ROWS = (Part.LABEL, Part.VALUE)
_MIN_NGRAM = 0.5  # share of a question that an n-gram of it makes, at least
_SPREAD = 0.25  # of the rows: up to here half of a column's new texts stand if it repeats itself


@dataclass(frozen=True, slots=True)
class Place:
    """Where on a sheet a question is answered."""

    table: int = 0  # place in `SheetRecord.tables`; 0 without tables
    # A1 range of the rows that answer, if the table is long; None for all of it.
    part: str | None = None
    cells: tuple[CellText, ...] = ()  # cells that match the question, best first
    # Words of the question that any of its known cells holds, as stems.
    words: frozenset[str] = frozenset()


def place_of(
    asked: QueryTerms, tables: Sequence[Table], texts: ForwardIndex, found: Sequence[Match]
) -> Place:
    """Where on a sheet with `matches` a question is answered."""
    cells = best_cells(asked, found, texts)
    shares = table_shares(asked, texts.tables, found)
    table = max(range(len(shares)), key=shares.__getitem__, default=0)  # of equal ones the first
    part = None
    if table < len(tables):
        own = [each for each in cells if each[0].table == table]
        part = _rows(tables[table], own, texts.cells(table))
    words = frozenset[str]().union(*(each.words for each in found if texts.has_cell(each.line)))
    return Place(table, part, tuple(text for _match, text in cells), words)


def table_shares(asked: QueryTerms, tables: int, found: Sequence[Match]) -> list[float]:
    """Share of a question that each table of a sheet states, in [0, 1]; 1: in one cell, verbatim.

    Each word of the question counts once a table, by the best of its texts that has it: what the
    word weighs, times how close the text is to the question, up to half of it lost if the text
    has few of the question's other words. Captions, headers and cells count alike: weights for
    them changed nothing (benchmarks/LOG.md).
    """
    best: list[dict[str, float]] = [{} for _ in range(tables)]
    for each in found:
        if each.part is not Part.NOTE:
            share = asked.weight(each.words) / asked.total
            own, score = best[each.table], each.closeness * (0.5 + 0.5 * share)
            for word in each.words:
                own[word] = max(own.get(word, 0.0), score)
    # Of what a text gives that the question has word for word; a question such as "?" has no word.
    most = 2 * asked.total or 1.0
    # Not `sum`, whose last bit depends on the order of a set.
    return [fsum(asked.weights[word] * own[word] for word in own) / most for own in best]


def long_ngrams(asked: QueryTerms, found: Sequence[Match]) -> set[tuple[str, ...]]:
    """The n-grams of a question in texts of a sheet that make at least half of the question."""
    ngrams = {each.ngram for each in found if each.ngram and each.part is not Part.HEADER}
    return {each for each in ngrams if asked.weight(each) >= _MIN_NGRAM * asked.total}


def ngram_share(asked: QueryTerms, long: Iterable[tuple[str, ...]], record: SheetRecord) -> float:
    """Share of a question that one of the long n-grams of a sheet states, in [0, 1].

    Of each only the words that the sheet's names lack count: a title that repeats the workbook's
    name tells nothing new.
    """
    named = {word for words in sheet_words(record) for word in words}
    return max((asked.weight(set(each) - named) for each in long), default=0.0) / asked.total


def _rows(
    table: Table, cells: Sequence[tuple[Match, CellText]], known: Iterable[str]
) -> str | None:
    """The range of the rows that answer within a long table; None if that cannot be told.

    Only a cell that the question has word for word tells rows, and only in a column whose texts
    do not repeat: a text stands for its first cell, and others below may hold it again. `known`
    are the cells of all its texts.
    """
    area = area_of(table.range)
    if area is None or table.transposed or area.bottom - area.top < LONG:
        return None
    first = area.top + table.header_height
    asked = [
        place
        for each, text in cells
        if each.whole and each.part in _TELLING_ROWS and (place := split_ref(text.cell))
    ]
    if not asked:
        return None
    columns: dict[int, set[int]] = {}
    for place in filter(None, map(split_ref, known)):
        columns.setdefault(place[1], set()).add(place[0])
    spans = [_span(row, sorted(columns[column]), first, area.bottom) for row, column in asked]
    found = [span for span in spans if span is not None]
    if not found:
        return None
    top, bottom = min(span[0] for span in found), max(span[1] for span in found)
    top, bottom = max(first, top - _AROUND), min(area.bottom, bottom + _AROUND)
    return Area(top, area.left, bottom, area.right).a1()


def _span(row: int, known: Sequence[int], first: int, last: int) -> tuple[int, int] | None:
    """Rows from a text's first cell to the next other text; None if the column repeats itself."""
    middle = known[len(known) // 2]
    if middle - first < _SPREAD * (last - first):
        return None
    later = [each for each in known if each > row]
    return row, (later[0] - 1 if later else last)
