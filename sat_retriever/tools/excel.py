"""Excel files that are written: numbers and dates as such, texts that stay texts, links."""

from __future__ import annotations

import datetime as dt
import math
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Alignment, Font
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.hyperlink import Hyperlink

from sat_retriever.errors import InputError
from sat_retriever.records.area import MAX_COLUMN, MAX_ROW
from sat_retriever.records.files import draft_of
from sat_retriever.records.typedtable import DataValue, value_text
from sat_retriever.workbook.typed import runs_in_spreadsheet

_FIRST_DAY = dt.date(1900, 3, 1)  # before it Excel's days are off by one, or none at all
_EXACT = 1 << 53  # whole numbers up to it are exact in Excel, which has 64-bit floats alone
_MOST_TEXT = 32_767  # characters of a cell
_LONGEST_TITLE = 31
_NOT_IN_TITLES = re.compile(r"[\[\]:*?/\\\x00-\x1f]+")
# Characters that XML has not, or reads as others, and what looks as if it stood for one.
_ESCAPED = re.compile(r"[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")


@dataclass(frozen=True, slots=True)
class Link:
    """A cell that leads to a place in a file.

    Attributes:
        target: Address of the file, percent-encoded.
        place: Place in it, such as `'Q1'!A1:B2`; empty for none.
    """

    text: str
    target: str
    place: str = ""


ExcelValue: TypeAlias = DataValue | Link


@dataclass(frozen=True, slots=True)
class ExcelSheet:
    """A worksheet to be written: a line of names, and rows below it.

    Attributes:
        title: As `titled` gives it.
        widths: Of its first columns, in characters; texts in columns with a width are wrapped.
    """

    title: str
    names: Sequence[str]
    rows: Iterable[Sequence[ExcelValue]]
    widths: Sequence[int] = ()


def titled(text: str, taken: set[str]) -> str:
    """A worksheet's title made of a text, unlike those taken, to which it is added.

    >>> taken = set()
    >>> titled("Plan: Q1/Q2", taken), titled("plan Q1 Q2", taken)
    ('Plan Q1 Q2', 'plan Q1 Q2 2')
    """
    plain = " ".join(_NOT_IN_TITLES.sub(" ", text).split()).strip("'") or "Sheet"
    title, number = plain[:_LONGEST_TITLE], 1
    while title.casefold() in taken | {"history"}:  # Excel keeps that name for itself
        number += 1
        title = f"{plain[: _LONGEST_TITLE - len(str(number)) - 1]} {number}"
    taken.add(title.casefold())
    return title


def link_from(out: Path, place: str, text: str, sheet: str, range_: str) -> ExcelValue:
    """A link from a file to cells of a workbook, relative to that file; the text without one.

    A relative address tells nothing of the machine, and lives on if both files are moved.

    Args:
        place: Path of the workbook; one at a URL gets no link.
    """
    try:
        to = os.path.relpath(Path(place).resolve(), out.resolve().parent)
    except ValueError:  # on another drive of Windows
        return text
    if "://" in place:
        return text
    quoted = sheet.replace("'", "''")
    return Link(text, quote(Path(to).as_posix()), f"'{quoted}'!{range_}" if range_ else "")


def write_excel(path: Path, sheets: Iterable[ExcelSheet]) -> None:
    """Write a workbook, whole or not at all; each sheet is taken when those before are written.

    Args:
        path: Replaced if it exists.

    Raises:
        InputError: If a sheet has more rows or columns than Excel takes.
        OutputError: If it cannot be written.
    """
    with draft_of(path) as draft:
        book = Workbook(write_only=True)
        try:
            for each in sheets:
                _write(book, each)
            book.save(draft)
        except BaseException:
            for sheet in book.worksheets:  # else Python ends it at a bad moment, and complains
                with suppress(Exception):
                    sheet.close()
            raise


def _write(book: Any, given: ExcelSheet) -> None:
    if len(given.names) > MAX_COLUMN:
        raise InputError(f"{given.title!r} has {len(given.names):,} columns, too many for Excel")
    sheet = book.create_sheet(given.title)
    sheet.freeze_panes = "A2"
    for column, width in enumerate(given.widths, start=1):
        sheet.column_dimensions[get_column_letter(column)].width = width
    head = [_cell(sheet, name) for name in given.names]
    for cell in head:
        cell.font = Font(bold=True)
    sheet.append(head)
    for number, row in enumerate(given.rows, start=2):
        if number > MAX_ROW:
            raise InputError(
                f"{given.title!r} has more rows than a sheet of Excel takes; choose another format"
            )
        cells = [_cell(sheet, value) for value in row]
        for column, (cell, value) in enumerate(zip(cells, row, strict=True), start=1):
            if isinstance(value, Link):
                at = f"{get_column_letter(column)}{number}"
                cell.hyperlink = Hyperlink(
                    ref=at, target=value.target, location=value.place or None
                )
                cell.font = Font(color="0563C1", underline="single")
            elif isinstance(value, str) and column <= len(given.widths):
                cell.alignment = Alignment(wrap_text=True, vertical="top")
        sheet.append(cells)


def excel_value(value: ExcelValue) -> ExcelValue:
    """A value as a cell can hold it: what Excel has no exact number or day for becomes a text.

    >>> excel_value(2**53 + 1), excel_value(dt.date(1815, 12, 10)), excel_value(0.1)
    ('9007199254740993', '1815-12-10', 0.1)
    """
    match value:
        case bool() | None:
            fits = True
        case int():
            fits = abs(value) <= _EXACT or (abs(value) < 1 << 1023 and int(float(value)) == value)
        case float():
            fits = math.isfinite(value)
        case dt.datetime():
            fits = value.date() >= _FIRST_DAY and value.microsecond % 1000 == 0
        case dt.date():
            fits = value >= _FIRST_DAY
        case dt.timedelta():
            fits = value >= dt.timedelta()
        case _:
            return value
    return value if fits else value_text(value)


def _cell(sheet: Any, given: ExcelValue) -> Any:
    """A cell that holds a value exactly; openpyxl itself rounds numbers to 16 digits.

    A text is a text, whatever it begins with; the mark of a quoted text keeps it one when somebody
    edits the cell.
    """
    cell = WriteOnlyCell(sheet)
    value = excel_value(given)
    if isinstance(value, Link):
        value = value.text
    if isinstance(value, str):
        cell._value, cell.data_type = _ESCAPED.sub(_escape, value[:_MOST_TEXT]), "s"
        cell.quotePrefix = runs_in_spreadsheet(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        cell._value, cell.data_type = repr(value), "n"
    else:
        if isinstance(value, dt.datetime) and value.time() == dt.time():
            value = value.date()  # shown without a time
        cell.value = value
    return cell


def _escape(found: re.Match[str]) -> str:
    return f"_x{ord(found[0]):04X}_"
