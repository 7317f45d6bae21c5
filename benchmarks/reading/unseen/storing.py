"""Store a book as a workbook or as csv."""

from __future__ import annotations

import csv
import datetime as dt
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xlsxwriter

if TYPE_CHECKING:
    from benchmarks.reading.unseen.book import Book
    from benchmarks.reading.unseen.values import Cell

MADE = dt.datetime(2024, 1, 1)
FORMS = {
    dt.datetime: "yyyy-mm-dd hh:mm",
    dt.date: "yyyy-mm-dd",
    dt.time: "hh:mm",
    dt.timedelta: "[h]:mm",
}


def store(book: Book, path: Path) -> None:
    """Write the file of a book."""
    if book.delimiter:
        path.write_bytes(_csv_text(book).encode(book.encoding))
    else:
        _store_workbook(book, path)


def _csv_text(book: Book) -> str:
    """The text of a csv file; a blank row is an empty line."""
    page = book.pages[0]
    width = max(column for _, column in page.cells)
    out = io.StringIO()
    ending = "\n" if book.encoding == "utf-8" else "\r\n"
    writer = csv.writer(out, delimiter=book.delimiter, lineterminator=ending)
    for row in range(1, max(row for row, _ in page.cells) + 1):
        found = [page.cells.get((row, column)) for column in range(1, width + 1)]
        writer.writerow(
            ["" if each is None else each.written for each in found] if any(found) else []
        )
    return out.getvalue()


def _store_workbook(book: Book, path: Path) -> None:
    """Write an xlsx file; the saved values of formulas are ours."""
    with xlsxwriter.Workbook(path) as workbook:
        workbook.set_properties({"created": MADE})
        dresses: dict[tuple[str, bool], Any] = {}
        for page in book.pages:
            sheet = workbook.add_worksheet(page.name)
            for first_row, first, last_row, last in page.merges:
                sheet.merge_range(first_row - 1, first - 1, last_row - 1, last - 1, "")
            for place, each in page.cells.items():
                form = each.form or FORMS.get(type(each.written), "")
                dress = dresses.get((form, each.bold))
                if dress is None and (form or each.bold):
                    dress = workbook.add_format(
                        {"num_format": form or "General", "bold": each.bold}
                    )
                    dresses[form, each.bold] = dress
                _write(sheet, place, each, dress)


def _write(sheet: Any, place: tuple[int, int], each: Cell, dress: Any) -> None:
    """Write one cell by its type."""
    row, column = place[0] - 1, place[1] - 1
    value = each.written
    if each.formula:
        sheet.write_formula(row, column, each.formula, dress, value)
    elif isinstance(value, bool):
        sheet.write_boolean(row, column, value, dress)
    elif isinstance(value, str):
        sheet.write_string(row, column, value, dress)
    elif isinstance(value, int | float):
        sheet.write_number(row, column, value, dress)
    else:
        sheet.write_datetime(row, column, value, dress)
