"""Write a compiled workbook as .xlsx: styles, formulas with values, names, tables, charts."""

from __future__ import annotations

import io
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from sat_retriever._extras import require
from sat_retriever.errors import InputError
from sat_retriever.records.files import draft_of, make_folder
from sat_retriever.synth.calculate.compile import CompiledBook, CompiledSheet
from sat_retriever.synth.write.package import Parts, add_externals, add_pivots
from sat_retriever.synth.write.page import Look, write_page

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
            look = Look(workbook, compiled.book.dialect)
            pages = [workbook.add_worksheet(each.at.sheet.name) for each in compiled.sheets]
            for sheet, page in zip(compiled.sheets, pages, strict=True):
                write_page(sheet, page, look)
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
    """Hide hidden sheets, and open the workbook at the first visible sheet."""
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
