"""Tables of sheets and workbooks as files: which ones are meant, what is written and told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sat_retriever._extras import require
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.area import Area, area_of
from sat_retriever.records.files import draft_of, portable
from sat_retriever.records.formats import without_extension
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.typedtable import ColumnKind, TypedTable
from sat_retriever.tools.excel import ExcelSheet, excel_value, link_from, titled, write_excel
from sat_retriever.tools.naming import find_sheets, named_sheet
from sat_retriever.workbook.typed import (
    FORMATS,
    defused_text,
    table_lines,
    table_place,
    unique_names,
)
from sat_retriever.workbook.values.read import MAX_TEXT

if TYPE_CHECKING:
    import pyarrow as pa

EXPORT_FORMATS = (*FORMATS, "parquet", "xlsx")
_LONGEST = 120  # characters of a file's name
_UNITS = 8  # units that a note names


@dataclass(frozen=True, slots=True)
class AskedTable:
    """A table that somebody wants: a sheet, and its place among the tables of the sheet."""

    record: SheetRecord
    place: int

    @property
    def citation(self) -> str:
        """Where it stood when the sheet was indexed."""
        return f"{self.record.cited}!{self.record.tables[self.place].range}"


def asked_tables(
    index: SheetIndex, names: Sequence[str], place: int | None = None
) -> tuple[list[AskedTable], list[str]]:
    """Return the tables that names of workbooks, sheets and ranges mean, and notes on what is none.

    Args:
        place: Only this table of each sheet, 0 for the main one; None for all.

    Raises:
        InputError: If a name means nothing, or a sheet has no such table.
    """
    found: dict[tuple[str, int], AskedTable] = {}
    notes: list[str] = []
    for name in names:
        _workbook, ids = find_sheets(index, name)
        records, cited = list(index.records(ids).values()), ""
        if not records:
            record, cited = named_sheet(index, name)
            records = [record]
        for record in records:
            every = range(len(record.tables))
            places: Sequence[int] = [table_place(record, cited)] if cited else every
            if not cited and place is not None and (place in every or len(records) == 1):
                places = [table_place(record, place)]
            elif place is not None and not cited:
                places = []
            found |= {(record.sheet_id, each): AskedTable(record, each) for each in places}
            if not cited:
                notes += _outside(record, [area_of(record.tables[each].range) for each in places])
    return list(found.values()), list(dict.fromkeys(notes))


def _outside(record: SheetRecord, areas: Sequence[Area | None]) -> Iterator[str]:
    """Yield a note if a sheet has cells that are in none of some tables."""
    used = area_of(record.range) if record.range else None
    if not areas:
        yield f"{record.cited} has no table" + (
            f"; its cells are in {record.range}." if used else "."
        )
    elif used:
        rows = {row for area in areas if area for row in range(area.top, area.bottom + 1)}
        first, last = min(a.left for a in areas if a), max(a.right for a in areas if a)
        others = [row for row in range(used.top, used.bottom + 1) if row not in rows]
        if others or used.left < first or used.right > last:
            tables = ", ".join(area.a1() for area in areas if area)
            yield f"Not exported: cells of {record.cited}!{record.range} outside {tables}."


def file_names(asked: Sequence[AskedTable], form: str) -> list[str]:
    """Names of a file for each table: workbook, sheet, and its range if the sheet has several."""
    several = [each.record.sheet_id for each in asked]
    stems = []
    for each in asked:
        names = (without_extension(each.record.workbook_name), each.record.sheet)
        stem = " ".join(dict.fromkeys(filter(None, names)))[:_LONGEST]
        if several.count(each.record.sheet_id) > 1:
            stem += f" {each.record.tables[each.place].range.replace(':', '-')}"
        stems.append(portable(stem) or "table")
    return [f"{stem}.{form}" for stem in unique_names(stems)]


def told(table: TypedTable, form: str) -> str:
    """Sentences about what a reader of an exported table must know; empty without any."""
    said = [table.note]
    units = [f"{each.name} in {each.unit}" for each in table.columns if each.unit]
    if units:
        more = f", and {len(units) - _UNITS:,} more" if len(units) > _UNITS else ""
        said.append(f"Units: {', '.join(units[:_UNITS])}{more}.")
    if table.repeated:
        said.append(f"Cells of merged labels that repeat their label: {table.repeated:,}.")
    texts = [value for each in table.columns for value in each.values if isinstance(value, str)]
    if long := sum(len(text) >= MAX_TEXT for text in texts):
        said.append(f"Texts of more than {MAX_TEXT:,} characters, cut: {long:,}.")
    if form == "csv" and (marked := sum(defused_text(each) != each for each in texts)):
        said.append(f"Texts that a spreadsheet would run, so with an apostrophe: {marked:,}.")
    mixed = [each.name for each in table.columns if each.kind is ColumnKind.MIXED]
    if form == "parquet" and mixed:
        said.append(f"Columns with values of several kinds, as text: {', '.join(mixed)}.")
    if form == "xlsx":
        values = (value for each in table.columns for value in each.values)
        if changed := sum(excel_value(value) is not value for value in values):
            said.append(f"Numbers and days that Excel does not have, as text: {changed:,}.")
    return " ".join(filter(None, said))


def write_parquet(table: TypedTable, out: Path, *, rows: bool) -> None:
    """Write a table as a Parquet file; units and the note are in its metadata.

    Raises:
        MissingExtraError: If pyarrow is not installed.
        OutputError: If it cannot be written.
    """
    parquet = require("pyarrow.parquet", "arrow")
    data: pa.Table = table.to_arrow()
    with draft_of(out) as draft:
        parquet.write_table(data if rows else data.select(range(1, data.num_columns)), draft)


def write_workbook(
    tables: Iterable[tuple[AskedTable, TypedTable]],
    places: Mapping[str, str],
    out: Path,
    *,
    rows: bool,
) -> None:
    """Write each table to a sheet of a workbook, and where they come from to its last sheet.

    Args:
        tables: Taken one after another.
        places: Path or URL of the workbook of each sheet.
    """
    write_excel(out, _sheets(tables, places, out, rows=rows))


def _sheets(
    tables: Iterable[tuple[AskedTable, TypedTable]],
    places: Mapping[str, str],
    out: Path,
    *,
    rows: bool,
) -> Iterator[ExcelSheet]:
    taken = {"sources"}
    sources = []
    for asked, table in tables:
        name = asked.record.sheet
        title = titled(name or asked.record.workbook_name, taken)
        yield ExcelSheet(title, *table_lines(table, rows=rows))
        place = places.get(table.sheet_id, "")
        link = link_from(out, place, table.citation, name, table.area.a1())
        sources.append((title, link, len(table), told(table, "xlsx")))
    yield ExcelSheet("Sources", ("Sheet", "From", "Records", "Notes"), sources, (32, 60, 10, 100))
