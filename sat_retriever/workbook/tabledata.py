"""Reading of a table's data with its types, by a process with limits."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from sat_retriever.errors import InputError
from sat_retriever.records.area import MAX_COLUMN, MAX_ROW, Area
from sat_retriever.records.contents import ContentsPolicy
from sat_retriever.records.jsonform import left_out_from_json, table_from_json
from sat_retriever.records.privacy import Privacy
from sat_retriever.records.sheets import LeftOut, Table
from sat_retriever.workbook.files import request_for
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.process.ask import ask
from sat_retriever.workbook.process.pool import borrowed_slot
from sat_retriever.workbook.request import Window
from sat_retriever.workbook.tables.data import DURATION, ERROR, MOMENT, TIME
from sat_retriever.workbook.values.grid import CellError, Value
from sat_retriever.workbook.values.numberformat import NumberFormat
from sat_retriever.workbook.window import check_exists, why_not

MAX_TABLE_CELLS = 5_000_000
TABLE_LIMITS = Limits(seconds=120.0, wall_seconds=600.0)
"""Limits for reading one table, for which a user waits."""
_SHEET = Area(1, 1, MAX_ROW, MAX_COLUMN)


@dataclass(frozen=True, slots=True)
class TableData:
    """The data of a table as it stands in its file.

    Attributes:
        table: The table, as it is found now.
        columns: Values of each column; the saved ones where cells have formulas. Dates are
            `datetime`, as openpyxl returns them; texts are cut to 2,000 characters.
        first_line: Sheet column of the first of them (sheet row if the table is transposed).
        records: Sheet row of each record (sheet column if transposed), ascending.
        left_out: Rows below the header that are no records.
        doubtful: Rows that look like totals but do not add up: records, unless left out, too.
        sections: Heading above each record; None without headings.
        shown: What the number formats of each column show.
        unsaved: Number of empty cells with a formula, whose value the file does not hold.
        complete: False if the sheet or the table was too large to be read to its end.
        content_hash: Hash of the file's bytes.
        texts: Of each column of a delimited file the texts that look otherwise than their values,
            else None; None for a column without any.
    """

    table: Table
    columns: tuple[Sequence[Value], ...]
    first_line: int
    records: tuple[int, ...]
    left_out: tuple[LeftOut, ...]
    doubtful: tuple[LeftOut, ...]
    sections: tuple[str | None, ...] | None
    shown: tuple[NumberFormat, ...]
    unsaved: int
    complete: bool
    content_hash: str
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
    computed.

    Args:
        path: The workbook.
        sheet: Name of the sheet; for a csv, the file name without its extension.
        table: Place of the table among those of the sheet, the main one first.
        within: Folder that the file must lie in, or file that it must be, after links are
            resolved; None allows every place.
        relative: As in `read_range`.
        encoding: Encoding of a delimited file, as its record names it; empty to find it.
        limits: Limits on size, memory and time.
        most: Most cells; records after them are left out.
        totals: True to keep totals and subtotals among the records.

    Raises:
        PathNotFoundError: If there is no such file.
        InputError: If the file or the sheet cannot be read, or the sheet has no such table.
    """
    path = Path(path)
    check_exists(path)
    request = replace(
        request_for(path, None, limits, within, relative),
        window=Window(sheet, _SHEET, table, most, totals),
        privacy=Privacy(ContentsPolicy.NAMES),
        links=False,
        formulas=False,
        encoding=encoding,
    )
    with borrowed_slot() as slot:
        answers = ask(request, slot)
    found = answers.of("table")
    if not found:
        skipped = answers.of("skipped")
        if skipped or table == 0:
            raise InputError(why_not(request.relative, sheet, skipped))
        name = request.relative.rpartition("/")[2]
        raise InputError(f"sheet {sheet!r} of {name!r} has no table {table} now; index it again")
    return _data(found[0], answers.of("data"), answers.done["content_hash"])


def _data(
    told: Mapping[str, Any], parts: Sequence[Sequence[Mapping[str, Any]]], content_hash: str
) -> TableData:
    """The data from the answers of a reading process."""
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
    """Some values of a column, with their types."""
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
