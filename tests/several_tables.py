"""Real workbooks whose sheets have several tables, or a long one, and an index of them."""

from __future__ import annotations

from pathlib import Path

import openpyxl

from sat_retriever import SheetIndex
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


def transit(folder: Path, encoder: Encoder | None = None, contents: str = "all") -> Path:
    """An index of one workbook: a sheet of two tables, and one of a long table."""
    save_book(folder / "books" / "Transit.xlsx", Data=TWO_TABLES, Cities=LONG_TABLE)
    file = folder / "transit.sat"
    with SheetIndex.create(file, encoder or HashedEncoder(), contents=contents) as index:
        index.sync(folder / "books")
    return file
