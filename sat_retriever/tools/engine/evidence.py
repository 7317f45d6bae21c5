"""The cells that an answer in words rests on: those that hold what it says, among those shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from sat_retriever.records.area import Place, area_of, column_letters
from sat_retriever.records.hits import Hit
from sat_retriever.records.sheetanswer import QueryResult
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.lexical import query_words
from sat_retriever.text.locate import QueryTerms, sequence
from sat_retriever.text.period.periods import period_of
from sat_retriever.text.period.spans import Span
from sat_retriever.text.segment import forms, stems
from sat_retriever.tools.content import SheetText
from sat_retriever.tools.readings import Said, said
from sat_retriever.tools.sql.names import SqlTable
from sat_retriever.workbook.window import CellValue

_NAMED = re.compile(r"\[\d{1,3}(?:\s*,\s*\d{1,3})*\]")
_POINT = re.compile(r"^\s*\d{1,2}[.)]\s", re.MULTILINE)
_MOST_CELLS = 12  # cited of one sheet
_EQUAL = 3  # cells of one sheet that may hold a value equally well
_TELLING = 2  # words beyond the question's that a part of a longer text must share
_LITERAL = re.compile(r"'([^']*)'|\b(\d{4})\b")
_UNSEEN = 5  # values that a note names
_MOST_TEXTS = 2_000  # that are searched for times


@dataclass(frozen=True)
class ReadSheet:
    """A sheet found, and what of it a language model was shown."""

    hit: Hit
    shown: SheetText

    @cached_property
    def headers(self) -> Mapping[int, str]:
        """Headers of the table that answers, by sheet column; none of a transposed table."""
        table = self.hit.answering
        area = area_of(table.range) if table and not table.transposed else None
        columns = table.columns if table and area else ()
        return {area.left + at: each.name for at, each in enumerate(columns)} if area else {}

    @cached_property
    def lines(self) -> Mapping[int, Mapping[int, CellValue]]:
        """The cells shown, by row, then by column."""
        found: dict[int, dict[int, CellValue]] = {}
        for (row, column), value in self.shown.cells.items():
            found.setdefault(row, {})[column] = value
        return found

    def around(self, place: Place) -> Iterator[str]:
        """Yield the texts that tell what a cell is: its row, its header, the names of its sheet."""
        yield from (str(value) for value in self.lines[place[0]].values())
        yield from filter(None, [self.headers.get(place[1])])
        yield f"{self.hit.record.workbook_name}\n{self.hit.record.sheet}"

    def cite(self, places: Iterable[Place]) -> str:
        """The citation of some of its cells, at most twelve."""
        cells = [f"{column_letters(column)}{row}" for row, column in sorted(places)]
        more = ",…" if len(cells) > _MOST_CELLS else ""
        return f"{self.hit.record.cited}!{','.join(cells[:_MOST_CELLS])}{more}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where what an answer says stands.

    Attributes:
        cells: Cells that hold it, by the place of their sheet.
        unseen: Numbers and days that no cell shown has, nor the question, as the answer has them.
    """

    cells: Mapping[int, tuple[Place, ...]]
    unseen: tuple[str, ...] = ()

    def citations(self, sheets: Sequence[ReadSheet]) -> tuple[str, ...]:
        """The cells as citations, one a sheet."""
        return tuple(sheets[at].cite(self.cells[at]) for at in sorted(self.cells))


def evidence_of(
    answer: str, question: str, sheets: Sequence[ReadSheet], named: Sequence[int] = ()
) -> Evidence:
    """Return the cells that hold what an answer says beyond its question.

    Numbers and days count, to the digits said; texts only if no cell has any of these. Of several
    cells with a value, the ones count whose row, header and sheet have most of the other words and
    values of answer and question; of equal ones those on a sheet that the answer names.

    Args:
        named: Places of the sheets that the answer names.
    """
    words = _unnumbered(answer)
    asked, values = said(question), said(words)
    new = [each for each in values if not any(each.meets(other) for other in asked)]
    holding = {each: list(_holding(each, sheets)) for each in dict.fromkeys(new)}
    context = _Context(words, question, values, sheets, frozenset(named))
    cells: dict[int, set[Place]] = {}
    for each, places in holding.items():
        for at, place in context.best(places, each):
            cells.setdefault(at, set()).add(place)
    if not cells and not new:
        for at, place in context.best(list(_quoted(words, question, sheets))):
            cells.setdefault(at, set()).add(place)
    unseen = [each for each, places in holding.items() if not places and not _told(each, sheets)]
    return Evidence(
        {at: tuple(sorted(places)) for at, places in cells.items()},
        tuple(each.text for each in unseen[:_UNSEEN]),
    )


def unseen_in(answer: str, question: str, result: QueryResult) -> tuple[str, ...]:
    """Return the numbers and days that neither a query, its rows nor the question have, as said."""
    asked = said(question)
    new = [
        each for each in said(_unnumbered(answer)) if not any(each.meets(other) for other in asked)
    ]
    cells = [cell for row in result.rows for cell in row if cell is not None]
    known = [*cells, len(result.rows), *result.columns, result.sql, result.note]
    unseen = [each.text for each in new if not any(map(each.is_in, known))]
    return tuple(dict.fromkeys(unseen))[:_UNSEEN]


def _unnumbered(answer: str) -> str:
    """Return an answer without the numbers of sheets, and without those of its points, if many."""
    words = _NAMED.sub(" ", answer)
    return _POINT.sub(" ", words) if len(_POINT.findall(words)) > 1 else words


def _holding(value: Said, sheets: Sequence[ReadSheet]) -> Iterator[tuple[int, Place]]:
    for at, sheet in enumerate(sheets):
        for place, cell in sheet.shown.cells.items():
            if value.is_in(cell):
                yield at, place


def _told(value: Said, sheets: Sequence[ReadSheet]) -> bool:
    """True if a header, a comment, a shape or a chart has a value, or a text without cells."""
    return any(
        value.is_in(text)
        for sheet in sheets
        for text in (
            *sheet.headers.values(),
            *(each.text for each in sheet.hit.why.cells if not each.is_on_cell),
            *(() if sheet.shown.cells else (sheet.shown.text,)),
        )
    )


def _quoted(answer: str, question: str, sheets: Sequence[ReadSheet]) -> Iterator[tuple[int, Place]]:
    """Yield the cells whose text the answer has, or a part of three words in a row.

    One of the words must be new, of a part two: what the question has as well tells nothing.
    """
    terms, known = QueryTerms.of(answer), set(stems(question))
    new = {word for word in terms.weights if word not in known and not word.isdigit()}
    for at, sheet in enumerate(sheets):
        for place, value in sheet.shown.cells.items():
            if not isinstance(value, str):
                continue
            own = sequence(forms(value))
            words = own.split()
            if words and own in terms.sequence:
                if new.intersection(words):
                    yield at, place
            elif len(new.intersection(terms.shared_ngram(words))) >= _TELLING:
                yield at, place


@dataclass(frozen=True)
class _Context:
    """What tells cells with the same value apart."""

    answer: str
    question: str
    values: Sequence[Said]
    sheets: Sequence[ReadSheet]
    named: frozenset[int]

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(query_words(f"{self.question}\n{self.answer}"))

    def best(
        self, places: Sequence[tuple[int, Place]], value: Said | None = None
    ) -> Sequence[tuple[int, Place]]:
        """Return the cells that fit best, of one sheet if a value is looked for."""
        scores = {each: self._score(*each, value) for each in places}
        most = max(scores.values(), default=0.0)
        fitting = [each for each, score in scores.items() if score == most]
        if value is None:
            return fitting[:_MOST_CELLS]
        first = [each for each in fitting if each[0] == fitting[0][0]]
        return first if len(first) <= _EQUAL else first[:1]

    def _score(self, at: int, place: Place, value: Said | None) -> float:
        texts = list(self.sheets[at].around(place))
        words = {word for text in texts for word in stems(text)}
        row = self.sheets[at].lines[place[0]].values()
        others = [each for each in self.values if each is not value]
        shared = len(self._words & words) + sum(any(map(each.is_in, row)) for each in others)
        return shared + 0.5 * (at in self.named)


def holds_times(texts: Iterable[str], spans: Sequence[Span]) -> bool:
    """True if each of some spans has a time that one of the texts writes.

    >>> holds_times(["8.86", "2008-06-30"], [Span(2008, 2008)]), holds_times(["20080"], [])
    (True, False)
    """
    found = [period_of(SheetRecord("", text)) for text in islice(texts, _MOST_TEXTS)]
    own = [each for each in found if each is not None]
    return bool(spans) and all(any(span.covers(each) for each in own) for span in spans)


def texts_read(sheets: Sequence[ReadSheet], found: Evidence) -> Iterator[str]:
    """Yield the texts in the rows and above the columns of the cells that an answer rests on."""
    for at, places in found.cells.items():
        for place in places:
            yield from (str(value) for value in sheets[at].lines[place[0]].values())
            yield from filter(None, [sheets[at].headers.get(place[1])])


def texts_queried(result: QueryResult, tables: Sequence[SqlTable]) -> Iterator[str]:
    """Yield the texts of a result, of the records behind it, and of what its query names."""
    yield from result.columns
    yield from (str(cell) for row in result.rows for cell in row if cell is not None)
    yield from (text or year for text, year in _LITERAL.findall(result.sql))
    words = set(re.findall(r"\w+", result.sql.casefold()))
    places = {source.name: set(source.places) for source in result.sources}
    for each in tables:
        if each.name in places:
            named = zip(each.columns, each.table.names, strict=True)
            yield from (header for name, header in named if name in words)
            for place, record in zip(each.table.places, each.table.rows(), strict=True):
                if place in places[each.name]:
                    yield from (str(value) for value in record if value is not None)
