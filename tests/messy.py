"""A small sheet as people make them: units, headings, merged labels, subtotals, a total."""

from __future__ import annotations

from pathlib import Path

import openpyxl

from sat_retriever import SheetIndex
from sat_retriever.records.tokens import Encoder
from tests.fakes import HashedEncoder

ROWS = [
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
MERGED = ("A3:D3", "A8:D8", "A4:A6", "A9:A10")
SHEET = "messy.xlsx#Sales"
LEFT_OUT = (
    "Left out: row 2 (units), rows 3 and 8 (sections), row 7 (subtotal), row 13 (total). "
    "Kept, though it may sum up others: row 11 (total)."
)


def save_messy(folder: Path) -> Path:
    """A workbook of one such sheet, in a folder that is made."""
    book = openpyxl.Workbook()
    book.active.title = "Sales"
    for row in ROWS:
        book.active.append(row)
    for area in MERGED:
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
