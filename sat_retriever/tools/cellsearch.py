"""Where a value stands: in the texts that the index keeps, or in all cells of some sheets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.area import Area, area_of, column_letters
from sat_retriever.records.contents import SheetContents
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.contents import holds
from sat_retriever.text.numbers import numbers_of
from sat_retriever.workbook.window import CellValue, read_range

SHEETS = 200  # whose kept texts are looked through
MAX_READ = 100_000  # cells of one sheet that are read


@dataclass(frozen=True, slots=True)
class FoundCell:
    """A cell that holds a value.

    Attributes:
        sheet: Its sheet as a citation calls it.
        cell: Its address.
        value: What it holds.
    """

    sheet: str
    cell: str
    value: CellValue

    @property
    def citation(self) -> str:
        """The sheet and the cell."""
        return f"{self.sheet}!{self.cell}"


def kept_cells(index: SheetIndex, text: str) -> Iterator[FoundCell]:
    """Yield cells of all sheets whose kept text has a text, word for word, best sheet first.

    An index keeps titles, labels, notes, codes and other texts, at most so many of a sheet, and of
    a repeated text the first cell. Numbers are not among them.

    Args:
        index: The index.
        text: What the cells hold.
    """
    plain = text.replace('"', " ").strip()
    candidates = index.candidates(index.question(f'"{plain}"'), SHEETS)
    holding = [each.sheet_id for each in candidates if each.phrase]
    records = index.records(holding, contents=True)
    for sheet_id in holding:
        if sheet_id in records:
            yield from _kept(records[sheet_id], plain)


def _kept(record: SheetRecord, text: str) -> Iterator[FoundCell]:
    contents = record.contents or SheetContents()
    for table in record.tables:
        area = area_of(table.range)
        if area is not None and table.header_row is not None:
            for place, column in enumerate(table.columns, start=area.left):
                if holds([column.name], text):
                    cell = f"{column_letters(place)}{table.header_row}"
                    yield FoundCell(record.cited, cell, column.name)
    texts = (*contents.notes, *(each for table in contents.tables for each in table))
    for each in texts:
        if holds([each.text], text):
            yield FoundCell(record.cited, each.cell, each.text)


@dataclass(frozen=True, slots=True)
class ReadCells:
    """The cells of one sheet that hold a value.

    Attributes:
        cells: The cells, row by row.
        complete: False if the sheet has more cells than are read.
    """

    cells: Sequence[FoundCell]
    complete: bool


def read_cells(index: SheetIndex, record: SheetRecord, text: str) -> ReadCells:
    """Return the cells of a sheet that hold a text or a number, read anew from its file.

    Args:
        index: The index that knows the sheet.
        record: The sheet.
        text: What the cells hold: words of a text, a number in any notation, a date as 2024-01-31.

    Raises:
        PathNotFoundError: If the file is gone.
        InputError: If the sheet cannot be read.
    """
    file, within = index.bounded_file_of(record.sheet_id)
    used = area_of(record.range or "")
    if used is None:
        raise InputError(f"{record.sheet_id!r} has no known range; index its workbook again")
    number = numbers_of([text])
    wanted = number.values[0] if number else None
    found: list[FoundCell] = []
    read, top = 0, used.top
    while read < MAX_READ:
        part = Area(top, used.left, used.bottom, used.right)
        window = read_range(
            file,
            record.sheet,
            part,
            within=within,
            relative=record.path or None,
            encoding=record.encoding,
        )
        area = area_of(window.range)
        if area is None:
            return ReadCells(found, complete=not window.cut)
        found += (
            FoundCell(record.cited, f"{column_letters(column)}{row}", value)
            for row, values in enumerate(window.rows, start=area.top)
            for column, value in enumerate(values, start=area.left)
            if _is(value, text, wanted) or _is(window.meant.get((row, column)), text, wanted)
        )
        if window.complete or window.cut:
            return ReadCells(found, complete=window.complete)
        read += len(window.rows) * (area.right - area.left + 1)
        top = area.bottom + 1
    return ReadCells(found, complete=False)


def _is(value: CellValue, text: str, number: float | None) -> bool:
    """True if a cell holds a text, or a number."""
    if isinstance(value, str):
        return holds([value], text)
    return number is not None and not isinstance(value, bool) and value == number
