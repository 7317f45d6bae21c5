"""Write a compiled workbook as .xlsx: styles, formulas with values, names, tables, charts."""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Iterable
from datetime import date, datetime
from pathlib import Path
from typing import Any

from sat_retriever._extras import require
from sat_retriever.errors import InputError
from sat_retriever.records.files import draft_of, make_folder
from sat_retriever.synth.book.model import Column, Dialect, Function, Style, Value
from sat_retriever.synth.book.placed import Placed
from sat_retriever.synth.calculate.arithmetic import serial
from sat_retriever.synth.calculate.compile import (
    CompiledBook,
    CompiledColumn,
    CompiledSheet,
    PivotTable,
)
from sat_retriever.synth.write.package import Parts, add_externals, add_pivots

CREATED = datetime(2024, 1, 1)  # of every workbook, because the bytes must not depend on the clock
_CHART_ROWS = 16


def write_xlsx(compiled: CompiledBook, path: Path) -> None:
    """Write the workbook; equal workbooks give equal bytes, and no partial file is left."""
    content = xlsx_bytes(compiled)
    make_folder(path.parent)
    with draft_of(path) as draft:
        draft.write_bytes(content)


def xlsx_bytes(compiled: CompiledBook) -> bytes:
    """Return the bytes of the .xlsx."""
    xlsxwriter = require("xlsxwriter", "synth")
    failed = require("xlsxwriter.exceptions", "synth").XlsxWriterException
    buffer = io.BytesIO()
    try:
        with xlsxwriter.Workbook(buffer, {"in_memory": True}) as workbook:
            workbook.set_properties({"created": CREATED, "title": _title(compiled)})
            look = _Look(workbook, compiled.book.dialect)
            pages = [workbook.add_worksheet(each.at.sheet.name) for each in compiled.sheets]
            for sheet, page in zip(compiled.sheets, pages, strict=True):
                _write_page(sheet, page, look)
                for number in range(len(sheet.at.sheet.charts)):
                    _draw(compiled, sheet, number, workbook, page)
            _show_first(compiled, pages)
            for name, text in compiled.names:
                workbook.define_name(name, f"={text}")
    except failed as error:
        raise InputError(f"{compiled.book.path}: Excel does not allow this: {error}") from error
    if not compiled.externals and not any(sheet.pivots for sheet in compiled.sheets):
        return buffer.getvalue()
    package = Parts.read(buffer.getvalue())
    add_externals(package, compiled)
    add_pivots(package, compiled)
    return package.written()


def _title(compiled: CompiledBook) -> str:
    titles = (each.at.sheet.layout.titles[0] for each in compiled.sheets if each.at.place.title_row)
    return next(titles, compiled.book.category)


def _show_first(compiled: CompiledBook, pages: Iterable[Any]) -> None:
    opened = False
    for sheet, page in zip(compiled.sheets, pages, strict=True):
        if sheet.at.sheet.hidden:
            page.hide()
        elif not opened:
            page.activate()
            page.set_first_sheet()
            opened = True


def _draw(
    compiled: CompiledBook, sheet: CompiledSheet, number: int, workbook: Any, page: Any
) -> None:
    at, chart = sheet.at, sheet.at.sheet.charts[number]
    target = compiled.values.sheet(at, chart.at)
    place = target.place
    names, numbers = (
        [target.sheet.name, place.first_row - 1, col - 1, place.last_row - 1, col - 1]
        for col in (target.numbers[target.column(x).id] for x in (chart.names, chart.numbers))
    )
    drawing = workbook.add_chart({"type": "column"})
    title = target.column(chart.numbers).header
    drawing.add_series({"name": title, "categories": names, "values": numbers})
    drawing.set_title({"name": title})
    drawing.set_legend({"none": True})
    row = max(at.place.top - 1, 0) + number * _CHART_ROWS
    right = sheet.pivots[-1].area.right if sheet.pivots else at.place.right
    page.insert_chart(row, right + 1, drawing)


_NUMBERS: dict[Style, str] = {
    "text": "General",
    "integer": "0",
    "amount": "#,##0.00",
    "percent": "0.0%",
    "date": "yyyy-mm-dd",
}
_WIDTHS: dict[Style, int] = {"text": 16, "integer": 10, "amount": 14, "percent": 9, "date": 11}
_LINE = "BFBFBF"


class _Look:
    def __init__(self, workbook: Any, dialect: Dialect) -> None:
        def made(**properties: Any) -> Any:
            return workbook.add_format({"font_name": dialect.font, **properties})

        fill = {"bg_color": f"#{dialect.colour}", "bold": True, "border": 1}
        lines = {"border": 1, "border_color": f"#{_LINE}"}
        self.title = made(bold=True, font_size=14)
        self.subtitle = made(italic=True, font_color="#595959")
        self.note = made(italic=True, font_size=9)
        self.header = made(**fill, text_wrap=True, valign="vcenter")
        self.group = made(**fill, align="center")
        self.unit = made(**lines, italic=True, font_color="#595959", align="center")
        self.data = {style: made(**lines, num_format=text) for style, text in _NUMBERS.items()}
        self.total = {
            style: made(bold=True, top=1, bottom=6, num_format=text)
            for style, text in _NUMBERS.items()
        }

    @staticmethod
    def width(style: Style) -> int:
        return _WIDTHS[style]


_TOTALS = {  # of table objects: name, and number in SUBTOTAL
    "SUM": ("sum", 109),
    "AVERAGE": ("average", 101),
    "COUNT": ("count_nums", 102),
    "MAX": ("max", 104),
    "MIN": ("min", 105),
}
_SPECIAL = re.compile(r"[\[\]#']")  # characters to escape in the name of a table's column
_MAX_WIDTH = 36
_BOLD, _CAPITAL = 1.1, 0.25


def _write_page(sheet: CompiledSheet, page: Any, look: _Look) -> None:
    at = sheet.at
    place, layout = at.place, at.sheet.layout
    left = place.left - 1
    for index, title in enumerate(layout.titles):
        _write_title(page, place.title_row - 1 + index, left, place.width, title, look, index)
    for index, note in enumerate(layout.notes):
        page.write_string(place.notes_row - 1 + index, left, note, look.note)
    if not place.width:
        return
    _write_groups(at, page, look)
    if place.table:
        _write_table(sheet, page, look)
    for index, column in enumerate(at.sheet.columns):
        if not place.table:
            page.write_string(place.header_row - 1, left + index, column.header, look.header)
        if place.units_row and not column.unit:
            page.write_blank(place.units_row - 1, left + index, None, look.unit)
        elif place.units_row:
            page.write_string(place.units_row - 1, left + index, column.unit, look.unit)
        _write_column(sheet, index, page, look)
        width = _width(column, sheet.columns[index], look)
        page.set_column(left + index, left + index, width)
    if place.totals_row:
        _write_totals(sheet, page, look)
    for pivot in sheet.pivots:
        _write_pivot(pivot, page, look)
    page.freeze_panes(place.first_row - 1, left + 1)
    _write_choices(sheet, page)


def _width(column: Column, cells: CompiledColumn, look: _Look) -> float:
    """Return the width in characters at which header, unit and texts are visible, up to a limit."""
    texts = (_shown(value) for value in cells.values if isinstance(value, str))
    head = _BOLD * _shown(column.header) + 2
    widest = max(head, _shown(column.unit) + 2, look.width(column.style), *texts)
    return round(min(widest, _MAX_WIDTH), 1)


def _shown(text: str) -> float:
    """Return a text's width in digits; capitals and East Asian characters are wider."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide + _CAPITAL * sum(map(str.isupper, text))


def _write_title(
    page: Any, row: int, left: int, width: int, title: str, look: _Look, index: int
) -> None:
    style = look.title if index == 0 else look.subtitle
    if index == 0 and width > 1:
        page.merge_range(row, left, row, left + width - 1, title, style)
    else:
        page.write_string(row, left, title, style)


def _write_groups(at: Placed, page: Any, look: _Look) -> None:
    place = at.place
    if not place.group_row:
        return
    groups = [column.group for column in at.sheet.columns]
    start = 0
    for end in range(1, len(groups) + 1):
        if end < len(groups) and groups[end] == groups[start]:
            continue
        row, first, last = place.group_row - 1, place.left - 1 + start, place.left - 2 + end
        if not groups[start]:
            pass
        elif first == last:
            page.write_string(row, first, groups[start], look.group)
        else:
            page.merge_range(row, first, row, last, groups[start], look.group)
        start = end


def _write_column(sheet: CompiledSheet, index: int, page: Any, look: _Look) -> None:
    place = sheet.at.place
    style = look.data[sheet.at.sheet.columns[index].style]
    cells = sheet.columns[index]
    row, col = place.first_row - 1, place.left - 1 + index
    for value, formula in zip(cells.values, cells.formulas, strict=True):
        if formula:
            page.write_formula(row, col, f"={formula}", style, _plain(value))
        elif isinstance(value, bool):
            page.write_boolean(row, col, value, style)
        elif isinstance(value, str) and value:
            page.write_string(row, col, value, style)
        elif isinstance(value, date):
            page.write_number(row, col, serial(value), look.data["date"])
        elif value is None or value == "":
            page.write_blank(row, col, None, style)
        else:
            page.write_number(row, col, value, style)
        row += 1


def _plain(value: Value) -> Value:
    return serial(value) if isinstance(value, date) else value


def _write_table(sheet: CompiledSheet, page: Any, look: _Look) -> None:
    """Write the table object with its headers and totals; its data are written as cells."""
    at, place = sheet.at, sheet.at.place
    columns: list[dict[str, Any]] = []
    for index, (column, cells) in enumerate(zip(at.sheet.columns, sheet.columns, strict=True)):
        entry: dict[str, Any] = {"header": column.header.strip(), "header_format": look.header}
        if place.totals_row and index == 0:
            entry |= {"total_string": at.sheet.total_label}
        elif cells.function:
            entry |= {"total_function": _TOTALS[cells.function][0]}
        columns.append(entry)
    options = {
        "name": at.sheet.table_name,
        "columns": columns,
        "total_row": bool(place.totals_row),
        "style": "Table Style Light 9",
    }
    bottom = place.totals_row or place.last_row
    page.add_table(place.header_row - 1, place.left - 1, bottom - 1, place.right - 1, options)


def _write_totals(sheet: CompiledSheet, page: Any, look: _Look) -> None:
    at, place = sheet.at, sheet.at.place
    row = place.totals_row - 1
    for index, (column, cells) in enumerate(zip(at.sheet.columns, sheet.columns, strict=True)):
        col = place.left - 1 + index
        if index == 0:
            page.write_string(row, col, at.sheet.total_label, look.total["text"])
        elif cells.function and place.num_rows:
            text = f"={_total_text(at, column, cells.function)}"
            page.write_formula(row, col, text, look.total[column.style], cells.total)
        else:
            page.write_blank(row, col, None, look.total[column.style])


def _total_text(at: Placed, column: Column, function: Function) -> str:
    """Return a total's formula: over the cells above, or over the column of a table object."""
    if at.place.table:
        header = _SPECIAL.sub(r"'\g<0>", column.header.strip())
        return f"SUBTOTAL({_TOTALS[function][1]},{at.sheet.table_name}[{header}])"
    letters = at.letters(column.id)
    return f"{function}({letters}{at.place.first_row}:{letters}{at.place.last_row})"


def _write_choices(sheet: CompiledSheet, page: Any) -> None:
    place = sheet.at.place
    for column, source in sheet.choices:
        col = sheet.at.numbers[column] - 1
        rule = {"validate": "list", "source": f"={source}", "error_type": "warning"}
        page.data_validation(place.first_row - 1, col, max(place.last_row, 1) - 1, col, rule)


def _write_pivot(pivot: PivotTable, page: Any, look: _Look) -> None:
    top, left = pivot.area.top - 1, pivot.area.left - 1
    last = len(pivot.items) + 1
    for row, line in enumerate(pivot.lines()):
        style = look.header if row == 0 else look.total["text"] if row == last else None
        for col, value in enumerate(line):
            page.write(top + row, left + col, value, style)
    page.set_column(left, left, look.width("text"))
    page.set_column(left + 1, left + 1, look.width("amount"))
