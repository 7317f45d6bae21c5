"""Texts of a sheet that a question matches, and the cells among them that match best."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from sat_retriever.records.contents import CellText, SheetContents, TableContents
from sat_retriever.records.sheets import SheetRecord, Table
from sat_retriever.text.locate.asked import Asked, sequence
from sat_retriever.text.segment import forms, stem

MOST_CELLS = 10
_COUNT = re.compile(r" \d{1,2} ")  # the 5 of "top 5" names no cell
_TELLING = 2  # words of the question in a text that is searched for an n-gram of it
_LEAST_SHARE = 0.25  # of the best cell's score; a cell below it says nothing


class Part(IntEnum):
    """Where on a sheet a text stands."""

    NOTE = 0
    CAPTION = 1
    HEADER = 2
    LABEL = 3
    VALUE = 4


@dataclass(frozen=True, slots=True)
class Match:
    """A text that has words of a question.

    Attributes:
        text: The text and its cell; of a header the cell is empty.
        part: Where it stands.
        table: Place of its table in `SheetRecord.tables`; -1 for a note.
        words: Words of the question that it has, as stems.
        coverage: Share of its own words that these are, in (0, 1].
        whole: True if the question has all of it word for word, or it has a quoted phrase.
        ngram: Words of the question, as stems, that follow each other in the text as they do in
            the question: three or more, of which two tell; see `Asked.shared_ngram`. Empty
            without any.
    """

    text: CellText
    part: Part
    table: int
    words: frozenset[str]
    coverage: float
    whole: bool
    ngram: tuple[str, ...] = ()

    def score(self, asked: Asked) -> float:
        """How well it matches: what its words weigh, up to half of it lost to other words.

        A text that the question has word for word counts double.
        """
        return asked.weight(self.words) * self.closeness

    @property
    def closeness(self) -> float:
        """Factor for how much of the text is asked for, in (0.5, 2]."""
        return (0.5 + 0.5 * self.coverage) * (2 if self.whole else 1)


def matches(asked: Asked, record: SheetRecord) -> list[Match]:
    """All texts of a sheet that have a word of a question: notes, headers, cells of its tables.

    Args:
        asked: The question.
        record: The sheet; without contents only its headers are looked at.
    """
    if not asked.weights:
        return []
    contents = record.contents or SheetContents()
    texts = [(text, Part.NOTE, -1) for text in contents.notes]
    for place, table in enumerate(record.tables):
        own = contents.tables[place] if place < len(contents.tables) else TableContents()
        texts += [(text, part, place) for text, part in _texts(table, own)]
    likely = asked.likely([text.text for text, _part, _table in texts])
    return [found for at in likely if (found := _match(asked, *texts[at]))]


def best_cells(asked: Asked, found: Sequence[Match], most: int = MOST_CELLS) -> tuple[Match, ...]:
    """The cells that match a question best, best first; equally good ones top down.

    A cell that has no word which better ones lack is left out, unless the question has all of it.

    Args:
        asked: The question.
        found: The matches of one sheet.
        most: Most cells.
    """
    cells = [each for each in found if each.text.cell]
    ranked = sorted(cells, key=lambda each: -each.score(asked))  # stable: ties stay top down
    kept: list[Match] = []
    seen: set[str] = set()
    for each in ranked:
        weak = kept and each.score(asked) < _LEAST_SHARE * kept[0].score(asked)
        if len(kept) == most or weak:
            break
        if each.whole or not each.words <= seen:
            kept.append(each)
            seen |= each.words
    return tuple(kept)


def _texts(table: Table, own: TableContents) -> Iterator[tuple[CellText, Part]]:
    if own.caption is not None:
        yield own.caption, Part.CAPTION
    if table.name:
        yield CellText("", table.name), Part.CAPTION
    for column in table.columns:
        yield (
            CellText("", f"{column.name} {column.unit}" if column.unit else column.name),
            Part.HEADER,
        )
    for text in own.labels:
        yield text, Part.LABEL
    for text in own.values:
        yield text, Part.VALUE


def _match(asked: Asked, text: CellText, part: Part, table: int) -> Match | None:
    read = forms(text.text)
    every = [frozenset(map(stem, each)) for each in read]
    hits = [each & asked.weights.keys() for each in every]
    words = frozenset().union(*hits)
    if not words:
        return None
    own = sequence(read)
    said = own in asked.sequence and not _COUNT.fullmatch(own)
    whole = said or any(phrase in own for phrase in asked.quoted)
    ngram = asked.shared_ngram(own.split()) if len(words) >= _TELLING else ()
    return Match(text, part, table, words, sum(map(bool, hits)) / len(every), whole, ngram)
