"""Workbooks and indexes of a few lines, as most tests need them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openpyxl

from sat_retriever import SheetIndex
from sat_retriever.records.tokens import Encoder
from tests.fakes import HashedEncoder


def save_book(path: Path, **sheets: Sequence[Sequence[Any]]) -> Path:
    """A workbook of some sheets, each given row by row, in a folder that is made."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    path.parent.mkdir(parents=True, exist_ok=True)
    book.save(path)
    return path


@contextmanager
def indexed(folder: Path, file: Path, **options: Any) -> Iterator[SheetIndex]:
    """A new index of a folder, by `HashedEncoder`."""
    with SheetIndex.create(file, HashedEncoder(), **options) as index:
        index.sync(folder)
        yield index


# ---- a sheet of two tables, and one of a long table

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


def transit(folder: Path, encoder: Encoder | None = None, contents: str = "all") -> Path:
    """An index of one workbook: a sheet of two tables, and one of a long table."""
    save_book(folder / "books" / "Transit.xlsx", Data=TWO_TABLES, Cities=LONG_TABLE)
    file = folder / "transit.sat"
    with SheetIndex.create(file, encoder or HashedEncoder(), contents=contents) as index:
        index.sync(folder / "books")
    return file


# ---- a small sheet as people make them: units, headings, merged labels, subtotals, a total

MESSY_ROWS = [
    ["Region", "Product", "Units", "Revenue"],
    [None, None, "pcs", "EUR"],
    ["Retail"],
    ["North", "Apples", 12, 120.5],
    [None, "Pears", 7, 71.25],
    [None, "Plums", 5, 40],
    ["Subtotal", None, 24, 231.75],
    ["Wholesale"],
    ["South", "Apples", 30, 250.5],
    [None, "Pears", 11, 99.25],
    ["Total", None, 99, 1000.5],
    ["East", "Plums", 3, 20.5],
    ["Grand total", None, 167, 1602.5],
]
MESSY_MERGED = ("A3:D3", "A8:D8", "A4:A6", "A9:A10")
MESSY = "messy.xlsx#Sales"
LEFT_OUT = (
    "Left out: row 2 (units), rows 3 and 8 (sections), row 7 (subtotal), row 13 (total). "
    "Kept, though it may sum up others: row 11 (total)."
)


def save_messy(folder: Path) -> Path:
    """A workbook of one such sheet, in a folder that is made."""
    book = openpyxl.Workbook()
    book.active.title = "Sales"
    for row in MESSY_ROWS:
        book.active.append(row)
    for area in MESSY_MERGED:
        book.active.merge_cells(area)
    folder.mkdir(parents=True, exist_ok=True)
    book.save(folder / "messy.xlsx")
    return folder


def messy_index(folder: Path, encoder: Encoder | None = None, contents: str = "all") -> Path:
    """An index of the workbook."""
    file = folder / "messy.sat"
    with SheetIndex.create(file, encoder or HashedEncoder(), contents=contents) as index:
        index.sync(save_messy(folder / "books"))
    return file
