"""Load the data of a sheet's table from its file, with typed columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sat_retriever.errors import InputError
from sat_retriever.records.area import area_of
from sat_retriever.records.sheets import SECTION, SUMS, Column, SheetRecord
from sat_retriever.records.typedtable import ColumnKind, TypedColumn, TypedTable, column_name
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.tabledata import MAX_TABLE_CELLS, TABLE_LIMITS, read_table_data
from sat_retriever.workbook.tables.columns import column_unit
from sat_retriever.workbook.values.grid import Value
from sat_retriever.workbook.values.numberformat import NumberFormat
from sat_retriever.workbook.values.typed import typed


def load_table(
    file: Path,
    record: SheetRecord,
    table: int | str = 0,
    *,
    within: Path | None = None,
    limits: Limits = TABLE_LIMITS,
    most: int = MAX_TABLE_CELLS,
    totals: bool = False,
) -> TypedTable:
    """Return the data of a table as its file holds it now.

    Args:
        file: The workbook.
        record: The sheet.
        table: Place of the table in `record.tables`, or any range that begins in it.
        within: Folder that the file must lie in, or file that it must be, after links are
            resolved; None allows every place.
        limits: Limits on size, memory and time.
        most: Most cells; records after them are left out.
        totals: True to keep totals and subtotals among the records.

    Raises:
        PathNotFoundError: If the file is gone.
        InputError: If it cannot be read, or there is no such table.
    """
    place = table_place(record, table)
    data = read_table_data(
        file,
        record.sheet,
        place,
        within=within,
        relative=record.path or None,
        encoding=record.encoding,
        limits=limits,
        most=most,
        totals=totals,
    )
    area = area_of(data.table.range)
    assert area is not None
    names = unique_names(
        (
            *(
                column.name
                or column_name(data.first_line + number, transposed=data.table.transposed)
                for number, column in enumerate(data.table.columns)
            ),
            *([SECTION] if data.sections is not None else ()),
        )
    )
    held = map(_Held, data.columns, data.shown, data.texts)
    columns = zip(names, data.table.columns, held, strict=False)
    found = [_column(*each) for each in columns]
    if data.sections is not None:
        found.append(TypedColumn(names[-1], ColumnKind.TEXT, data.sections))
    again = partial(
        load_table, file, record, place, within=within, limits=limits, most=most, totals=True
    )
    return TypedTable(
        sheet_id=record.sheet_id,
        area=area,
        columns=tuple(found),
        places=data.records,
        transposed=data.table.transposed,
        left_out=data.left_out,
        doubtful=data.doubtful,
        unsaved=data.unsaved,
        complete=data.complete,
        changed=data.content_hash != record.content_hash,
        cited=record.cited,
        whole=again if any(each.reason in SUMS for each in data.left_out) else None,
    )


def table_place(record: SheetRecord, table: int | str) -> int:
    """Return the place of a table among those of a sheet.

    Args:
        record: The sheet.
        table: The place itself, or a range that begins in the table.

    Raises:
        InputError: If there is no such table.
    """
    ranges = [each.range for each in record.tables]
    if isinstance(table, int):
        if 0 <= table < max(1, len(ranges)):
            return table
    elif wanted := area_of(table.strip().upper()):
        areas = enumerate(map(area_of, ranges))
        found = [place for place, area in areas if area and area.holds(wanted.top, wanted.left)]
        if found:
            return found[0]
    known = ", ".join(f"{place} ({range_})" for place, range_ in enumerate(ranges)) or "none"
    raise InputError(f"{record.sheet_id!r} has no table {table!r}; its tables: {known}")


@dataclass(frozen=True, slots=True)
class _Held:
    """The cells of a column: values, what their formats show, and texts of a delimited file."""

    cells: Sequence[Value]
    shown: NumberFormat
    texts: Sequence[str | None] | None


def _column(name: str, column: Column, held: _Held) -> TypedColumn:
    cells, texts = held.cells, held.texts
    found = typed(cells, held.shown)
    as_text = found.kind in (ColumnKind.TEXT, ColumnKind.MIXED)
    types = set(map(type, cells)) - {type(None)}
    clocks = found.kind in (ColumnKind.TIME, ColumnKind.DURATION) and len(types) > 1
    stored = cells if found.errors or clocks or (not as_text and str in types) else None
    if texts is not None:
        stored = [cell if text is None else text for text, cell in zip(texts, cells, strict=True)]
    unit = column_unit(found, held.shown, column.unit, column.name)
    return TypedColumn(name, found.kind, found.values, unit, stored, found.errors, found.words)


def unique_names(names: Iterable[str]) -> list[str]:
    """Return names made unique, whatever their case: the second `Cost` is `Cost_2`.

    >>> unique_names(["Cost", "cost", "Cost_2"])
    ['Cost', 'cost_2', 'Cost_2_2']
    """
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        shown = name
        while seen[shown.casefold()]:
            seen[name.casefold()] += 1
            shown = f"{name}_{seen[name.casefold()]}"
        seen[shown.casefold()] += 1
        found.append(shown)
    return found
