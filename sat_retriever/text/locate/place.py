"""The table of a sheet that answers a question, and the range to cite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from sat_retriever.records.area import Area, area_of, split_ref
from sat_retriever.records.contents import CellText, SheetContents
from sat_retriever.records.sheets import SheetRecord, Table
from sat_retriever.text.lexical import sheet_words
from sat_retriever.text.locate.asked import Asked
from sat_retriever.text.locate.matches import Match, Part, best_cells, matches

LONG = 100  # rows; of a longer table the rows around the matched cells are cited
_AROUND = 10  # rows cited above and below the matched ones
_MIN_NGRAM = 0.5  # share of a question that an n-gram of it makes, at least
_SPREAD = 0.25  # of the rows: up to here half of a column's new texts stand if it repeats itself


@dataclass(frozen=True, slots=True)
class Place:
    """Where on a sheet a question is answered.

    Attributes:
        table: Place in `SheetRecord.tables`; 0 without tables.
        part: A1 range of the rows that answer, if the table is long; None for all of it.
        cells: Cells that match the question, best first.
        words: Words of the question that any of its known cells holds, as stems.
    """

    table: int = 0
    part: str | None = None
    cells: tuple[CellText, ...] = ()
    words: frozenset[str] = frozenset()


def place_of(asked: Asked, record: SheetRecord) -> Place:
    """Where on a sheet a question is answered; its main table if it has no contents.

    Args:
        asked: The question.
        record: The sheet, with its contents.
    """
    if record.contents is None:
        return Place()
    found = matches(asked, record)
    cells = best_cells(asked, found)
    table = answering_table(asked, record, found)
    part = None
    if record.tables:
        own = [each for each in cells if each.table == table]
        part = _rows(record.tables[table], own, _column_rows(record.contents, table))
    words = frozenset[str]().union(*(each.words for each in found if each.text.cell))
    return Place(table, part, tuple(each.text for each in cells), words)


def answering_table(asked: Asked, record: SheetRecord, found: Sequence[Match]) -> int:
    """Place of the table that matches a question best; of equal ones the first."""
    shares = table_shares(asked, record, found)
    return max(range(len(shares)), key=lambda place: shares[place], default=0)


def table_shares(asked: Asked, record: SheetRecord, found: Sequence[Match]) -> list[float]:
    """How much of a question each table of a sheet says, in [0, 1]; 1: word for word, in one cell.

    Each word of the question counts once a table, by the best of its texts that has it: what the
    word weighs, times how close the text is to the question, up to half of it lost if the text
    has few of the question's other words. Captions, headers and cells count alike: weights for
    them changed nothing (benchmarks/LOG.md).

    Args:
        asked: The question.
        record: The sheet.
        found: Its matches.
    """
    best: list[dict[str, float]] = [{} for _ in record.tables]
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


def ngram_share(asked: Asked, record: SheetRecord, found: Sequence[Match]) -> float:
    """How much of a question one text of a sheet says word after word, in [0, 1].

    Only an n-gram that makes at least half of the question counts, and of it only the words that
    the sheet's names lack: a title that repeats the workbook's name tells nothing new.

    Args:
        asked: The question.
        record: The sheet.
        found: Its matches.
    """
    ngrams = {each.ngram for each in found if each.ngram and each.part is not Part.HEADER}
    long = [each for each in ngrams if asked.weight(each) >= _MIN_NGRAM * asked.total]
    named = {word for words in sheet_words(record) for word in words} if long else set()
    return max((asked.weight(set(each) - named) for each in long), default=0.0) / asked.total


def _column_rows(contents: SheetContents, table: int) -> dict[int, list[int]]:
    """Rows of the known texts of each column of a table, ascending."""
    if table >= len(contents.tables):
        return {}
    own, found = contents.tables[table], dict[int, set[int]]()
    for text in (*own.labels, *own.values):
        if place := split_ref(text.cell):
            found.setdefault(place[1], set()).add(place[0])
    return {column: sorted(rows) for column, rows in found.items()}


def _rows(table: Table, cells: Sequence[Match], columns: dict[int, list[int]]) -> str | None:
    """The range of the rows that answer within a long table; None if that cannot be told.

    Only a cell that the question has word for word tells rows, and only in a column whose texts
    do not repeat: a text stands for its first cell, and others below may hold it again.
    """
    area = area_of(table.range)
    if area is None or table.transposed or area.bottom - area.top < LONG:
        return None
    first = area.top + table.header_height
    spans: list[tuple[int, int]] = []
    for each in cells:
        place = split_ref(each.text.cell)
        if place and each.whole and each.part in (Part.LABEL, Part.VALUE):
            span = _span(place[0], columns[place[1]], first, area.bottom)
            if span is not None:
                spans.append(span)
    if not spans:
        return None
    top, bottom = min(span[0] for span in spans), max(span[1] for span in spans)
    top, bottom = max(first, top - _AROUND), min(area.bottom, bottom + _AROUND)
    return Area(top, area.left, bottom, area.right).a1()


def _span(row: int, known: Sequence[int], first: int, last: int) -> tuple[int, int] | None:
    """Rows from a text to the next other one of its column; None if the column repeats itself.

    Args:
        row: Of the text's first cell.
        known: Rows in which other texts of the column stand first, and its own, ascending.
        first: First row of data.
        last: Last row of the table.
    """
    middle = known[len(known) // 2]
    if middle - first < _SPREAD * (last - first):
        return None
    later = [each for each in known if each > row]
    return row, (later[0] - 1 if later else last)
