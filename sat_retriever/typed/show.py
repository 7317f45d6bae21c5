"""Write the data of a table as text: CSV, JSON, Markdown."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Literal, get_args

from sat_retriever.errors import InputError
from sat_retriever.records.typedtable import ROW, DataValue, TypedTable, value_text

TableFormat = Literal["csv", "json", "md"]
FORMATS: tuple[TableFormat, ...] = get_args(TableFormat)


def table_text(table: TypedTable, form: str, *, rows: bool = False) -> Iterator[str]:
    """Yield the lines of a table as text, each with its line end.

    A text that a spreadsheet would take for a formula stays as it is.

    Args:
        table: The table.
        form: "csv", "json" (one array of objects) or "md" (a Markdown table).
        rows: True for a first column `_row` with the sheet rows.

    Raises:
        InputError: If the form is unknown.
    """
    if form not in FORMATS:
        raise InputError(f"unknown format {form!r}; choose one of: {', '.join(FORMATS)}")
    names = (*([ROW] if rows else ()), *table.names)
    records = (
        (place, *values) if rows else values
        for place, values in zip(table.places, table.rows(), strict=True)
    )
    yield from {"csv": _csv, "json": _json, "md": _markdown}[form](names, records)


def _csv(names: tuple[str, ...], records: Iterator[tuple[DataValue, ...]]) -> Iterator[str]:
    line = io.StringIO()
    write = csv.writer(line, lineterminator="\n").writerow
    write(names)
    yield line.getvalue()
    for record in records:
        line.seek(0)
        line.truncate()
        write([value_text(value) for value in record])
        yield line.getvalue()


def _json(names: tuple[str, ...], records: Iterator[tuple[DataValue, ...]]) -> Iterator[str]:
    before = "["
    for record in records:
        values = (value if _is_plain(value) else value_text(value) for value in record)
        text = json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False)
        yield f"{before}\n{text}"
        before = ","
    yield "[]\n" if before == "[" else "\n]\n"


def _is_plain(value: DataValue) -> bool:
    return value is None or isinstance(value, str | bool | int | float)


def _markdown(names: tuple[str, ...], records: Iterator[tuple[DataValue, ...]]) -> Iterator[str]:
    yield _line(names)
    yield f"|{'---|' * len(names)}\n"
    for record in records:
        yield _line(tuple(value_text(value) or "" for value in record))


def _line(cells: tuple[str, ...]) -> str:
    plain = (" ".join(cell.split()).replace("\\", "\\\\").replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(plain)} |\n"
