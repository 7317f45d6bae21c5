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
# Signs that begin a formula, in full width too; tab and line ends lead to the next field or line.
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
FORMATS: tuple[TableFormat, ...] = get_args(TableFormat)


def table_text(
    table: TypedTable, form: str, *, rows: bool = False, defused: bool = False
) -> Iterator[str]:
    """Yield the lines of a table as text, each with its line end.

    Args:
        form: "csv", "json" (one array of objects) or "md" (a Markdown table).
        rows: True for a first column `_row` with the sheet rows.
        defused: True to put an apostrophe before a text that a spreadsheet would take for a
            formula; False to leave it as it is.

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
    if defused:
        names = tuple(map(_defused_text, names))
        records = (tuple(map(_defused, values)) for values in records)
    yield from {"csv": _csv, "json": _json, "md": _markdown}[form](names, records)


def _defused(value: DataValue) -> DataValue:
    return _defused_text(value) if isinstance(value, str) else value


def _defused_text(text: str) -> str:
    r"""The text as a spreadsheet takes it for a text.

    >>> _defused_text("=1+1"), _defused_text(" -x"), _defused_text("a-b"), _defused_text("\tx")
    ("'=1+1", "' -x", 'a-b', "'\tx")
    """
    runs = text.lstrip(" ").startswith(_FORMULA_SIGNS)
    return f"'{text}" if runs else text


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
