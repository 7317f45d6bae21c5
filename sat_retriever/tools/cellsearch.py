"""Search for a value in the texts that the index keeps, or in all cells of some sheets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.area import Area, area_of, column_letters
from sat_retriever.records.contents import TextKind
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.system import check_wanted
from sat_retriever.text.contents import LONGEST
from sat_retriever.text.forward import ForwardIndex
from sat_retriever.text.wording import Wording
from sat_retriever.tools.context import read_sheet
from sat_retriever.tools.readings import Readings
from sat_retriever.workbook.window import CellValue

SHEETS = 200  # whose kept texts are looked through
MAX_READ = 100_000  # cells of one sheet that are read
_TOGETHER = 20  # sheets whose kept texts are in memory together
_WORDS = 32  # of a text by which sheets are chosen


@dataclass(frozen=True, slots=True)
class FoundCell:
    """A cell that holds a value.

    Attributes:
        kind: What holds it, if that is no cell: a comment, shape or chart there.
    """

    sheet: str
    cell: str
    value: CellValue
    kind: TextKind = TextKind.CELL

    @property
    def citation(self) -> str:
        """The sheet and the cell."""
        return f"{self.sheet}!{self.cell}"


@dataclass(frozen=True, slots=True)
class CellsFound:
    """The cells of some sheets that hold a value.

    Attributes:
        left: Sheets that may hold it and were not looked through.
    """

    cells: Sequence[FoundCell]
    complete: bool = True
    left: int = 0


class AskedCell:
    """A value to look for in cells, prepared once: its words, and its readings as a value.

    Args:
        text: Words of a text as the search reads them, or a number, a date, a time or a truth
            value in a usual notation.

    >>> [AskedCell(text).is_in("Zürich 田中太郎 2024-04-03") for text in ("zurich", "田中", "2024")]
    [True, True, True]
    >>> AskedCell("25%").is_in(0.25), AskedCell("03.04.2024").is_in("2024-04-03T00:00:00")
    (True, True)
    """

    def __init__(self, text: str) -> None:
        self._wording = Wording(text)
        self._readings = Readings.of(text)

    def is_in(self, value: CellValue) -> bool:
        """True if a cell holds it."""
        if isinstance(value, str) and self._wording.within(value):
            return True
        return self._readings.hold(value)

    def words(self) -> list[list[str]]:
        """Groups of words of which a sheet whose kept texts hold it has one; none if it has none.

        Words that no index keeps, as they are too long, are left out.
        """
        groups = map(dict.fromkeys, (self._wording.stems(), *self._readings.words()))
        kept = ([word for word in group if len(word) <= LONGEST] for group in groups)
        return [sorted(group, key=len, reverse=True)[:_WORDS] for group in kept if group]


def kept_cells(index: SheetIndex, asked: AskedCell, most: int) -> CellsFound:
    """The first cells of all sheets whose kept text holds what is asked for, best sheet first.

    An index keeps titles, labels, notes, comments, codes and other texts, at most so many of a
    sheet, and of a repeated text the first cell. Numbers that only measure are not among them.
    """
    groups = asked.words()
    sheet_ids, number = index.search.with_words(groups, SHEETS) if groups else ([], 0)
    found: list[FoundCell] = []
    for start in range(0, len(sheet_ids), _TOGETHER):
        check_wanted()
        part = sheet_ids[start : start + _TOGETHER]
        records, texts = index.records(part), index.search.texts(part)
        for each in part:
            if each in records:
                found += _kept(records[each], texts.get(each), asked, groups)
        if len(found) >= most:
            break
    return CellsFound(found, left=number - len(sheet_ids))


def _kept(
    record: SheetRecord, texts: ForwardIndex | None, asked: AskedCell, groups: list[list[str]]
) -> Iterator[FoundCell]:
    for table in record.tables:
        area = area_of(table.range)
        if area is not None and table.header_row is not None:
            for place, column in enumerate(table.columns, start=area.left):
                if asked.is_in(column.name):
                    cell = f"{column_letters(place)}{table.header_row}"
                    yield FoundCell(record.cited, cell, column.name)
    if texts is None:
        return
    # A text that holds it has all words of a group, and those are known without reading the text.
    for line, _words in texts.having(groups):
        if texts.has_cell(line):
            each = texts.text(line)
            if asked.is_in(each.text):
                yield FoundCell(record.cited, each.cell, each.text, each.kind)


def kept_beside(index: SheetIndex, record: SheetRecord, asked: AskedCell) -> list[FoundCell]:
    """The comments, shapes and charts of a sheet whose kept text holds what is asked for."""
    texts = index.search.texts([record.sheet_id]).get(record.sheet_id)
    kept = _kept(record, texts, asked, asked.words())
    return [each for each in kept if each.kind is not TextKind.CELL]


def read_cells(index: SheetIndex, record: SheetRecord, asked: AskedCell) -> CellsFound:
    """The cells of a sheet that hold what is asked for, read anew from its file, row by row.

    Raises:
        PathNotFoundError: If the file is gone.
        InputError: If the sheet cannot be read.
    """
    used = area_of(record.range or "")
    if used is None:
        raise InputError(f"{record.sheet_id!r} has no known range; index its workbook again")
    window = read_sheet(index.bounded_file_of(record.sheet_id), record, used, most=MAX_READ)
    area = area_of(window.range) or Area(1, 1, 1, 1)
    found = [
        FoundCell(record.cited, f"{column_letters(column)}{row}", value)
        for row, values in enumerate(window.rows, start=area.top)
        for column, value in enumerate(values, start=area.left)
        if _holds(asked, value) or _holds(asked, window.meant.get((row, column)))
    ]
    return CellsFound(found, complete=window.complete)


def _holds(asked: AskedCell, value: CellValue) -> bool:
    return value is not None and asked.is_in(value)
