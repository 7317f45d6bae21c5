"""An answer as an Excel file: the question, the query, its rows as numbers, the cells cited."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from sat_retriever.records.area import area_of, column_letters
from sat_retriever.records.sheetanswer import QueryResult, QuerySource, ResultValue, SheetAnswer
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.typedtable import DataValue
from sat_retriever.tools.content import SheetText
from sat_retriever.tools.excel import ExcelSheet, ExcelValue, link_from, write_excel
from sat_retriever.tools.sql.names import SqlTable

_DAYS: Mapping[str, Callable[[str], DataValue]] = {
    "DATE": dt.date.fromisoformat,
    "TIME": dt.time.fromisoformat,
    "TIMESTAMP": dt.datetime.fromisoformat,
}
_CITATIONS = ("Row", "Workbook", "Sheet", "Cells", "Header", "Value")
_Line = tuple[ExcelValue, ...]


class AnswerFile:
    """What an answer rests on, to be written.

    Args:
        out: The file; links are relative to it.
        places: Path or URL of the workbook of each sheet.
        records: Records of the sheets that may be cited.
        tables: Tables that were queried.
    """

    def __init__(
        self,
        out: Path,
        places: Mapping[str, str],
        records: Sequence[SheetRecord],
        tables: Sequence[SqlTable] = (),
    ) -> None:
        self._out = out
        self._places = places
        self._records = records
        self._tables = {each.name: each for each in tables}

    def write(self, answer: SheetAnswer, read: Sequence[SheetText]) -> None:
        """Write an answer in words.

        Args:
            read: Text of each sheet found, in the order of the hits.
        """
        told = {
            "Question": answer.question,
            "Answer": answer.text,
            "From": "; ".join(answer.citations),
            "Note": answer.note,
        }
        if answer.result:
            self._write(told, answer.result)
        else:
            self._write(told, None, self._cited(answer.citations, read))

    def write_result(self, result: QueryResult) -> None:
        """Write the rows of a query."""
        self._write({"From": "; ".join(result.citations)}, result)

    def _write(
        self,
        told: Mapping[str, str],
        result: QueryResult | None,
        cited: Iterable[_Line] = (),
    ) -> None:
        if result:
            more = {"Rows": f"{len(result.rows):,}" + ("" if result.complete else ", and more")}
            noted = " ".join(dict.fromkeys(filter(None, (told.get("Note", ""), result.note))))
            told = {**told, "SQL": result.sql, **more, "Note": noted}
        lines = [(name, text) for name, text in told.items() if text]
        sheets = [ExcelSheet("Answer", ("", ""), lines, (12, 100))]
        if result:
            rows = (tuple(map(_typed, result.types, row)) for row in result.rows)
            sheets.append(ExcelSheet("Rows", result.columns, rows))
            cited = (line for source in result.sources for line in self._behind(source, result.sql))
        sheets.append(ExcelSheet("Citations", _CITATIONS, cited, (6, 40, 24, 16, 30)))
        write_excel(self._out, sheets)

    def _behind(self, source: QuerySource, sql: str) -> Iterator[_Line]:
        """Yield the cells of the records behind each row, in the columns that the query names."""
        record = next(each for each in self._records if each.sheet_id == source.sheet_id)
        area, own = source.area, self._tables[source.name].table
        if not any(source.places):
            yield self._line("", record, area.a1())
            return
        words = set(re.findall(r"\w+", sql.casefold()))
        numbers = range(len(own.columns) - (own.section is not None))
        named = [at for at in numbers if self._tables[source.name].columns[at].casefold() in words]
        rows = {place: number for number, place in enumerate(own.places)}
        width = area.bottom - area.top if own.transposed else area.right - area.left
        for number, place in enumerate(source.places, start=1):
            if place is None:
                continue
            if place not in rows or len(numbers) != width + 1:
                yield self._line(number, record, own.cite([place]).rpartition("!")[2])
                continue
            for at in named or numbers:
                cell = f"{column_letters(area.left + at)}{place}"
                if own.transposed:
                    cell = f"{column_letters(place)}{area.top + at}"
                column = own.columns[at]
                yield self._line(number, record, cell, column.name, column.values[rows[place]])

    def _cited(self, citations: Sequence[str], read: Sequence[SheetText]) -> Iterator[_Line]:
        """Yield the cells that an answer from text cites."""
        found = {each.cited: number for number, each in enumerate(self._records)}
        for citation in citations:
            sheet, _mark, ranges = citation.rpartition("!")
            number = found.get(sheet, found.get(citation))
            if number is None:
                continue
            for each in ranges.split(",") if sheet in found else [""]:
                area = area_of(each)
                value = read[number].cells.get((area.top, area.left)) if area else None
                alone = area is not None and area.top == area.bottom and area.left == area.right
                if area or not each:
                    yield self._line("", self._records[number], each, "", value if alone else None)

    def _line(
        self,
        row: int | str,
        record: SheetRecord,
        cells: str,
        header: str = "",
        value: DataValue = None,
    ) -> _Line:
        place = self._places.get(record.sheet_id, "")
        link = link_from(self._out, place, cells or record.sheet, record.sheet, cells)
        return row, record.path or record.workbook, record.sheet, link, header, value


def _typed(kind: str, value: ResultValue) -> DataValue:
    if isinstance(value, str) and kind in _DAYS:
        try:
            return _DAYS[kind](value)
        except ValueError:  # infinity, a year of five digits
            return value
    return value
