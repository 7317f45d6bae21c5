"""Contents of real workbooks made by a second, simpler reader, and put into an index."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import openpyxl

from sat_retriever import SheetIndex, SheetRecord
from sat_retriever.index.store.contents import packed
from sat_retriever.index.store.damage import checksum
from sat_retriever.records.area import area_of
from sat_retriever.records.contents import CellText, SheetContents, TableContents
from sat_retriever.records.tokens import Encoder
from tests.fakes import HashedEncoder

TWO_TABLES = [
    ["Ridership by operator"],
    ["Operator", "Trips"],
    ["MTA New York City Transit", 3],
    ["Metro North", 4],
    ["LIRR", 9],
    [],
    [],
    ["Vehicle costs"],
    ["Model", "Cost"],
    *[[name, 1] for name in ("Bus", "Tram", "Ferry", "Subway car")],
]
LONG_TABLE = [["Code", "City", "People"], *[[f"C-{n:04}", f"Town {n}", n] for n in range(600)]]


def save_book(path: Path, **sheets: list[list[object]]) -> Path:
    """A workbook of some sheets, each given row by row."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    path.parent.mkdir(parents=True, exist_ok=True)
    book.save(path)
    return path


def contents_of(record: SheetRecord, path: Path) -> SheetContents:
    """Texts of a sheet: labels are the first text column, a caption is the text right above."""
    sheet = openpyxl.load_workbook(path)[record.sheet]
    texts = {
        (cell.row, cell.column): CellText(cell.coordinate, cell.value)
        for row in sheet.iter_rows()
        for cell in row
        if isinstance(cell.value, str)
    }
    tables = []
    for table in record.tables:
        area = area_of(table.range)
        caption = texts.pop((area.top - 1, area.left), None)
        own = {place: texts.pop(place) for place in list(texts) if area.holds(*place)}
        first = area.top + table.header_height
        data = {place: text for place, text in own.items() if place[0] >= first}
        column = min((place[1] for place in data), default=0)
        labels = distinct(text for place, text in sorted(data.items()) if place[1] == column)
        values = distinct(text for place, text in sorted(data.items()) if place[1] != column)
        tables.append(TableContents(caption, labels, values))
    return SheetContents(tuple(texts.values()), tuple(tables))


def distinct(texts) -> tuple[CellText, ...]:
    """The first cell of each text."""
    found: dict[str, CellText] = {}
    for each in texts:
        found.setdefault(each.text, each)
    return tuple(found.values())


def indexed(folder: Path, file: Path, encoder: Encoder | None = None) -> Path:
    """An index of a folder whose sheets have contents."""
    with SheetIndex.create(file, encoder or HashedEncoder()) as index:
        index.sync(folder)
        records = index.records(index.sheet_ids()).values()
    with closing(sqlite3.connect(file)) as opened, opened:
        for record in records:
            data = packed(contents_of(record, folder / record.path))
            sql = "INSERT OR REPLACE INTO contents SELECT id, ?, ? FROM sheets WHERE sheet_id = ?"
            opened.execute(sql, (data, checksum(data), record.sheet_id))
    return file


def transit(folder: Path, encoder: Encoder | None = None) -> Path:
    """An index of one workbook: a sheet of two tables, and one of a long table."""
    save_book(folder / "books" / "Transit.xlsx", Data=TWO_TABLES, Cities=LONG_TABLE)
    return indexed(folder / "books", folder / "transit.sat", encoder)
