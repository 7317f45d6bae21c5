"""The data of a table, read anew from its file with typed columns, and written as text."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal, get_args

from sat_retriever.errors import InputError
from sat_retriever.records.area import MAX_COLUMN, MAX_ROW, Area, area_of
from sat_retriever.records.jsonform import left_out_from_json, table_from_json
from sat_retriever.records.sheets import SECTION, SUMS, Column, LeftOut, SheetRecord, Table
from sat_retriever.records.typedtable import (
    ROW,
    ColumnKind,
    DataValue,
    TypedColumn,
    TypedTable,
    column_name,
    value_text,
)
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.messages import Window
from sat_retriever.workbook.read import LocalFile
from sat_retriever.workbook.tables.columns import column_unit
from sat_retriever.workbook.tables.data import DURATION, ERROR, MOMENT, TIME
from sat_retriever.workbook.values.grid import CellError, Value
from sat_retriever.workbook.values.numberformat import NumberFormat
from sat_retriever.workbook.values.typed import typed
from sat_retriever.workbook.window import ask_window, why_not

MAX_TABLE_CELLS = 5_000_000
# Limits for reading one table, for which a user waits.
TABLE_LIMITS = Limits(seconds=120.0, wall_seconds=600.0)
_SHEET = Area(1, 1, MAX_ROW, MAX_COLUMN)
TableFormat = Literal["csv", "json", "jsonl", "md"]
# Signs that begin a formula, in full width too; tab and line ends lead to the next field or line.
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
# In the midst of a text: where a comma is the decimal sign, fields of a CSV file end at semicolons,
# and quotes around a field that another stands before keep neither these nor line ends from it. A
# list of items begins its lines with "-", so a sign alone counts only before a call.
_FURTHER_FORMULA = re.compile(r"([;\t\r\n][ \"]*)(?='*(?:[=@＝＠]|[-+－＋][^;\t\r\n]*[(|!]))")
_JSON_TYPES = (str, int, float, bool, type(None))
FORMATS: tuple[TableFormat, ...] = get_args(TableFormat)


@dataclass(frozen=True, slots=True)
class TableData:
    """The data of a table as it stands in its file."""

    table: Table
    # Values of each column; the saved ones where cells have formulas. Dates are `datetime`, as
    # openpyxl returns them; texts are cut to 2,000 characters.
    columns: tuple[Sequence[Value], ...]
    first_line: int  # sheet column of the first of them (sheet row if the table is transposed)
    records: tuple[int, ...]  # sheet row of each record (sheet column if transposed), ascending
    left_out: tuple[LeftOut, ...]
    # Rows that look like totals but do not add up: records, unless left out, too
    doubtful: tuple[LeftOut, ...]
    sections: tuple[str | None, ...] | None  # heading above each record; None without headings
    shown: tuple[NumberFormat, ...]
    unsaved: int  # number of empty cells with a formula, whose value the file does not hold
    repeated: int  # number of cells that a merged label covers, and whose value is that label
    complete: bool  # False if the sheet or the table was too large to be read to its end
    content_hash: str
    # Of each column of a delimited file the texts that look otherwise than their values, else None;
    # None for a column without any
    texts: tuple[Sequence[str | None] | None, ...]


def read_table_data(  # noqa: PLR0913 - a table, where it is, and how much of it
    path: str | os.PathLike[str],
    sheet: str,
    table: int = 0,
    *,
    within: Path | None = None,
    relative: str | None = None,
    encoding: str = "",
    limits: Limits = TABLE_LIMITS,
    most: int = MAX_TABLE_CELLS,
    totals: bool = False,
) -> TableData:
    """Read the records of a table: rows below its header that are not empty nor left out.

    The table is found anew, so a file that has changed gives what it holds now. Formulas are not
    computed. The sheet of a csv is called as the file is, without its extension. `table` is the
    place among the tables of the sheet, the main one first. Records after `most` cells are left
    out; `totals` keeps totals and subtotals. Raises `PathNotFoundError` if there is no such file,
    `InputError` if the file or the sheet cannot be read, or the sheet has no such table.
    """
    file = LocalFile(Path(path), within=within, called=relative)
    answers = ask_window(file, Window(sheet, _SHEET, table, most, totals), limits, encoding)
    found = answers.of("table")
    if not found:
        skipped = answers.of("skipped")
        if skipped or table == 0:
            raise InputError(why_not(file.relative, sheet, skipped))
        name = file.relative.rpartition("/")[2]
        raise InputError(f"sheet {sheet!r} of {name!r} has no table {table} now; index it again")
    return _data(found[0], answers.of("data"), answers.done["content_hash"])


def _data(
    told: Mapping[str, Any], parts: Sequence[Sequence[Mapping[str, Any]]], content_hash: str
) -> TableData:
    table = table_from_json(told["table"])
    decoded = [[_values(column) for column in part] for part in parts]
    columns = [list(chain.from_iterable(column)) for column in zip(*decoded, strict=True)]
    return TableData(
        table=table,
        columns=tuple(columns) if decoded else ((),) * len(table.columns),
        first_line=told["first_line"],
        records=tuple(told["records"]),
        left_out=tuple(map(left_out_from_json, told["left_out"])),
        doubtful=tuple(map(left_out_from_json, told["doubtful"])),
        sections=tuple(told["sections"]) if told["sections"] is not None else None,
        shown=tuple(NumberFormat(**each) for each in told["shown"]),
        unsaved=told["unsaved"],
        repeated=told["repeated"],
        complete=not (told["cut"] or told["more"]),
        content_hash=content_hash,
        texts=tuple(map(_texts, zip(*parts, strict=True))) or (None,) * len(table.columns),
    )


def _texts(parts: Sequence[Mapping[str, Any]]) -> Sequence[str | None] | None:
    """The texts of a column that look otherwise than their values; None without any."""
    if not any("texts" in part for part in parts):
        return None
    return [text for part in parts for text in part.get("texts") or [None] * len(part["values"])]


def _values(column: Mapping[str, Any]) -> Sequence[Value]:
    values: Sequence[Value] = column["values"]
    letters: str | None = column.get("letters")
    if letters is None:
        return values
    return [
        _OF_LETTER[letter](value) if letter in _OF_LETTER else value
        for value, letter in zip(values, letters, strict=True)
    ]


_OF_LETTER: Mapping[str, Callable[[Any], Value]] = {
    MOMENT: dt.datetime.fromisoformat,
    TIME: dt.time.fromisoformat,
    DURATION: lambda seconds: dt.timedelta(seconds=seconds),
    ERROR: CellError,
}


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
    """Return the data of a table as its file holds it now; see `read_table_data`.

    `table` is its place in `record.tables`, or any range that begins in it.
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
    given = [
        column.name or column_name(data.first_line + number, transposed=data.table.transposed)
        for number, column in enumerate(data.table.columns)
    ]
    names = unique_names([*given, SECTION] if data.sections is not None else given)
    columns = data.table.columns, data.columns, data.shown, data.texts
    found = list(map(_typed_column, names, *columns))
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
        repeated=data.repeated,
        complete=data.complete,
        changed=data.content_hash != record.content_hash,
        cited=record.cited,
        whole=again if any(each.reason in SUMS for each in data.left_out) else None,
    )


def table_place(record: SheetRecord, table: int | str) -> int:
    """Return a table's place, given or found by a range; raises `InputError` without one."""
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


def _typed_column(
    name: str,
    column: Column,
    cells: Sequence[Value],
    shown: NumberFormat,
    texts: Sequence[str | None] | None,
) -> TypedColumn:
    found = typed(cells, shown)
    as_text = found.kind in (ColumnKind.TEXT, ColumnKind.MIXED)
    types = set(map(type, cells)) - {type(None)}
    clocks = found.kind in (ColumnKind.TIME, ColumnKind.DURATION) and len(types) > 1
    stored = cells if found.errors or clocks or (not as_text and str in types) else None
    if texts is not None:
        stored = [cell if text is None else text for text, cell in zip(texts, cells, strict=True)]
    unit = column_unit(found, shown, column.unit, column.name)
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


def table_lines(
    table: TypedTable, *, rows: bool
) -> tuple[tuple[str, ...], Iterator[tuple[DataValue, ...]]]:
    """Return the names of a table's columns, and its records; `rows` puts sheet rows first."""
    if not rows:
        return table.names, table.rows()
    records = ((place, *each) for place, each in zip(table.places, table.rows(), strict=True))
    return tuple(unique_names([ROW, *table.names])), records


def table_text(
    table: TypedTable, form: str, *, rows: bool = False, defused: bool = False
) -> Iterator[str]:
    """Yield the lines of a table as text, each with its line end.

    A form is "csv", "json" (one array of objects), "jsonl" (an object a line) or "md" (a Markdown
    table), else `InputError`. `rows` adds a first column `_row` with the sheet rows. `defused`
    puts an apostrophe before what a spreadsheet would take for a formula, at the start of a text or
    behind a semicolon, tab or line end in it, and before apostrophes that stand before such: each
    can be told from the other.
    """
    if form not in FORMATS:
        raise InputError(f"unknown format {form!r}; choose one of: {', '.join(FORMATS)}")
    names, records = table_lines(table, rows=rows)
    if defused:
        names = tuple(map(defused_text, names))
        records = (tuple(map(_defused, values)) for values in records)
    yield from {"csv": _csv, "json": _json, "jsonl": _json_lines, "md": _markdown}[form](
        names, records
    )


def _defused(value: DataValue) -> DataValue:
    return defused_text(value) if isinstance(value, str) else value


def defused_text(text: str) -> str:
    r"""The text as a spreadsheet takes it for a text, also one that ends a field at a semicolon.

    >>> defused_text("=1+1"), defused_text(" -x"), defused_text("a-b"), defused_text("'=1")
    ("'=1+1", "' -x", 'a-b', "''=1")
    >>> defused_text("a; =b()"), defused_text("a\n- b")
    ("a; '=b()", 'a\n- b')
    """
    whole = f"'{text}" if runs_in_spreadsheet(text.lstrip("'")) else text
    return _FURTHER_FORMULA.sub(r"\1'", whole)


def runs_in_spreadsheet(text: str) -> bool:
    """True if a spreadsheet takes a text for a formula."""
    return text.lstrip(" ").startswith(_FORMULA_SIGNS)


def _csv(names: tuple[str, ...], records: Iterator[tuple[DataValue, ...]]) -> Iterator[str]:
    line = io.StringIO()
    write = csv.writer(line, lineterminator="\r\n").writerow  # so that both are put in quotes
    for record in chain([names], records):
        line.seek(0)
        line.truncate()
        write([value_text(value) for value in record])
        yield f"{line.getvalue()[:-2]}\n"


def _json(names: tuple[str, ...], records: Iterator[tuple[DataValue, ...]]) -> Iterator[str]:
    before = "["
    for line in _json_lines(names, records):
        yield f"{before}\n{line[:-1]}"
        before = ","
    yield "[]\n" if before == "[" else "\n]\n"


def _json_lines(names: tuple[str, ...], records: Iterator[tuple[DataValue, ...]]) -> Iterator[str]:
    for record in records:
        values = (
            value if isinstance(value, _JSON_TYPES) else value_text(value) for value in record
        )
        yield f"{json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False)}\n"


def _markdown(names: tuple[str, ...], records: Iterator[tuple[DataValue, ...]]) -> Iterator[str]:
    yield _line(names)
    yield f"|{'---|' * len(names)}\n"
    for record in records:
        yield _line(tuple(value_text(value) or "" for value in record))


def _line(cells: tuple[str, ...]) -> str:
    plain = (" ".join(cell.split()).replace("\\", "\\\\").replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(plain)} |\n"
