"""Derive the records of a made workbook, which reading it must give, from its layout alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from pathlib import PurePosixPath

from sat_retriever.records.area import Area, column_letters
from sat_retriever.records.contents import CellText, SheetContents, TableContents
from sat_retriever.records.formats import FormulaState
from sat_retriever.records.sheets import (
    Column,
    ColumnType,
    LeftOut,
    LeftOutReason,
    SheetRecord,
    Table,
    Visibility,
)
from sat_retriever.synth.book.model import Value
from sat_retriever.synth.calculate.compile import (
    ALL,
    LABELS,
    CompiledBook,
    CompiledColumn,
    CompiledSheet,
    PivotTable,
)
from sat_retriever.text.numbers import decimal_text
from sat_retriever.workbook.values.numberformat import FRACTION

_EXAMPLE = 60  # characters
_NOTE = 120
_SEEN = 200  # cells of a column that determine its type and example


def true_records(compiled: CompiledBook) -> list[SheetRecord]:
    """Return one record per sheet in tab order, as `read_workbook` must return them.

    Left empty are the content hash, and the example of a column of free text, of which an encoder
    reads a typed placeholder.
    """
    return [_record(compiled, sheet) for sheet in compiled.sheets]


def sheet_id(path: str, sheet: str) -> str:
    """Return the id of a sheet of the workbook at a path in the corpus's folder."""
    return f"{path}#{sheet}"


def _record(compiled: CompiledBook, compiled_sheet: CompiledSheet) -> SheetRecord:
    sheet, place = compiled_sheet.at.sheet, compiled_sheet.at.place
    path = compiled.book.path
    tables = [_main_table(compiled_sheet) if place.width else _lines(compiled_sheet)]
    tables += (_pivot(pivot) for pivot in compiled_sheet.pivots)
    used = _used(compiled_sheet)
    return SheetRecord(
        sheet_id=sheet_id(path, sheet.name),
        sheet=sheet.name,
        workbook=PurePosixPath(path).name,
        path=path,
        columns=tables[0].columns,
        num_rows=used.bottom - used.top + 1,
        num_cols=used.right - used.left + 1,
        range=used.a1(),
        header_row=tables[0].header_row,
        visibility=Visibility.HIDDEN if sheet.hidden else Visibility.VISIBLE,
        format="xlsx",
        tables=tuple(tables),
        formulas=FormulaState.READ,
    )


def _used(sheet: CompiledSheet) -> Area:
    place, layout = sheet.at.place, sheet.at.sheet.layout
    top = place.title_row or place.top or place.notes_row
    bottom = _table_area(sheet).bottom if place.width else place.title_row + len(layout.titles) - 1
    if place.notes_row:
        bottom = place.notes_row + len(layout.notes) - 1
    pivots = [pivot.area for pivot in sheet.pivots]
    bottom = max(bottom, *(area.bottom for area in pivots), 0)
    right = max(place.right, place.left, *(area.right for area in pivots), 0)
    return Area(top, place.left, bottom, right)


def _pivot(pivot: PivotTable) -> Table:
    names, sums = (tuple(item[place] for item in pivot.items) for place in (0, 1))
    columns = (
        Column(LABELS, example(names), column_type(names)),
        Column(pivot.caption, example(sums), column_type(sums)),
    )
    area = pivot.area
    total = LeftOut(area.bottom, LeftOutReason.TOTAL, ALL)
    return Table(
        area.a1(), area.top, 1, False, len(pivot.items), columns, left_out=(total,), num_left_out=1
    )


def _main_table(sheet: CompiledSheet) -> Table:
    place = sheet.at.place
    units = next((each.unit for each in sheet.at.sheet.columns if each.unit), "")
    left_out = tuple(
        LeftOut(row, reason, text)
        for row, reason, text in (
            (place.units_row, LeftOutReason.UNITS, units),
            (place.totals_row, LeftOutReason.TOTAL, sheet.at.sheet.total_label),
        )
        if row
    )
    columns = tuple(
        Column(
            f"{column.group} / {column.header}"
            if column.group not in ("", column.header)
            else column.header,
            example(stored(cells)),
            column_type(stored(cells)),
            column.unit or (FRACTION if column.style == "percent" else None),
        )
        for column, cells in zip(sheet.at.sheet.columns, sheet.columns, strict=True)
    )
    return Table(
        range=_table_area(sheet).a1(),
        header_row=place.top,
        header_height=2 if place.group_row else 1,
        transposed=False,
        num_rows=len(_filled_rows(sheet)),
        columns=columns,
        name=sheet.at.sheet.table_name if place.table else None,
        left_out=left_out,
        num_left_out=len(left_out),
    )


def _table_area(sheet: CompiledSheet) -> Area:
    """Return the area from the topmost header to the last filled row; whole for table objects."""
    place = sheet.at.place
    whole, filled = place.whole(), _filled_rows(sheet)
    if place.table or place.totals_row or not place.num_rows:
        return whole
    last = filled[-1] if filled else -1
    return replace(whole, bottom=max(place.first_row + last, place.units_row, place.header_row))


def _filled_rows(sheet: CompiledSheet) -> list[int]:
    rows = range(sheet.at.place.num_rows)
    return [row for row in rows if any(c.values[row] not in (None, "") for c in sheet.columns)]


def _lines(sheet: CompiledSheet) -> Table:
    layout = sheet.at.sheet.layout
    lines = (*layout.titles, *layout.notes)
    used = _used(sheet)
    text = Column("", example(lines), ColumnType.TEXT)
    return Table(used.a1(), None, 0, False, len(lines), (text,))


def stored(cells: CompiledColumn) -> list[Value]:
    """Return the values as the file has them: typed-in numbers with 16 digits, results with all."""
    return [
        float(f"{value:.16g}") if isinstance(value, float) and not formula else value
        for value, formula in zip(cells.values, cells.formulas, strict=True)
    ]


def column_type(values: Sequence[Value]) -> ColumnType:
    """Return the type of more than half of a column's first 200 filled cells.

    Integers and other numbers count together; a column of both is of numbers. Without a
    majority the type is text if any cell is text, else unknown.
    """
    filled = _filled(values)
    kinds = [_kind(value) for value in filled]
    if not kinds:
        return ColumnType.EMPTY
    numbers = [value for value in filled if _kind(value) is ColumnType.NUMBER]
    if 2 * len(numbers) > len(kinds):
        whole = all(
            float(value).is_integer() for value in numbers if isinstance(value, int | float)
        )
        return ColumnType.INTEGER if whole else ColumnType.NUMBER
    for kind in (ColumnType.TEXT, ColumnType.DATE, ColumnType.BOOLEAN):
        if 2 * kinds.count(kind) > len(kinds):
            return kind
    return ColumnType.TEXT if ColumnType.TEXT in kinds else ColumnType.UNKNOWN


def example(values: Sequence[Value]) -> str | None:
    """Return the first filled cell as text of at most 60 characters; None for free text."""
    filled = _filled(values)
    first = filled[0] if filled else None
    if first is None:
        return None
    if isinstance(first, str):
        return None if _is_free_text(filled, first) else _cut(" ".join(first.split()))
    if isinstance(first, bool):
        return str(first).lower()
    if isinstance(first, date):
        return first.isoformat()
    if isinstance(first, float) and not first.is_integer():
        return decimal_text(first)
    return str(int(first))


def _cut(text: str) -> str:
    return text if len(text) <= _EXAMPLE else f"{text[: _EXAMPLE - 1].rstrip()}…"


def _is_free_text(filled: Sequence[Value], first: str) -> bool:
    """True for long texts, and for eight or more texts of words that hardly repeat."""
    texts = [value for value in filled if isinstance(value, str)]
    if len(first) > _NOTE:
        return True
    return (
        2 * len(texts) > len(filled)
        and len(texts) >= 8
        and len(set(texts)) >= 0.9 * len(texts)
        and 2 * sum(" " in text for text in texts) >= len(texts)
        and sum(map(len, texts)) >= 12 * len(texts)
    )


def _filled(values: Sequence[Value]) -> list[Value]:
    filled: list[Value] = [value for value in values if value is not None and value != ""]
    return filled[:_SEEN]


def _kind(value: Value) -> ColumnType:
    if isinstance(value, bool):
        return ColumnType.BOOLEAN
    if isinstance(value, str):
        return ColumnType.TEXT
    return ColumnType.DATE if isinstance(value, date) else ColumnType.NUMBER


def true_contents(sheet: CompiledSheet) -> SheetContents:
    """Return every text of a sheet outside headers and units, each where it stands first.

    The first column of texts has the labels, and that of totals; all others have values. Unlike
    a reader's, these contents have no bounds. A sheet of lines has notes alone.
    """
    place, layout = sheet.at.place, sheet.at.sheet.layout
    titles = _text_cells(layout.titles, place.title_row, place.left)
    notes = _text_cells(layout.notes, place.notes_row, place.left)
    if not place.width:
        return SheetContents((*titles, *notes))
    columns = [
        _texts(column.values, place.first_row, place.left + at)
        for at, column in enumerate(sheet.columns)
    ]
    first = next((at for at, texts in enumerate(columns) if texts), 0)
    values = tuple(each for at, texts in enumerate(columns) if at != first for each in texts)
    total = _text_cells(
        (sheet.at.sheet.total_label,) if place.totals_row else (), place.totals_row, place.left
    )
    table = TableContents(titles[0] if titles else None, (*columns[first], *total), values)
    pivots = (
        TableContents(
            labels=tuple(
                _texts((name for name, _ in pivot.items), pivot.area.top + 1, pivot.area.left)
            )
        )
        for pivot in sheet.pivots
    )
    return SheetContents((*titles[1:], *notes), (table, *pivots))


def _text_cells(lines: Sequence[str], row: int, column: int) -> tuple[CellText, ...]:
    letters = column_letters(column)
    return tuple(CellText(f"{letters}{row + at}", line) for at, line in enumerate(lines))


def _texts(cells: Iterable[Value], row: int, column: int) -> list[CellText]:
    letters, found = column_letters(column), dict[str, CellText]()
    for at, value in enumerate(cells):
        if isinstance(value, str) and value.strip():
            found.setdefault(value, CellText(f"{letters}{row + at}", value))
    return list(found.values())
