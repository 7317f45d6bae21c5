"""Results of the worker from JSON objects; nothing is pickled.

`sat_retriever.types.to_json` writes them, fields at their default left out.
"""

from __future__ import annotations

from typing import Any

from sat_retriever.types import Skipped, SkipReason
from sat_retriever.workbook.grid import Area, TableObject
from sat_retriever.workbook.structure import (
    DefinedName,
    External,
    HiddenParts,
    PivotSource,
    SheetTable,
    Structure,
)

Json = dict[str, Any]


def skipped_from_json(data: Json) -> Skipped:
    """The skipped part that `to_json` wrote."""
    return Skipped(**{**data, "reason": SkipReason(data["reason"])})


def structure_from_json(data: Json) -> Structure:
    """The structure that `to_json` wrote.

    >>> structure_from_json({"names": [{"name": "rate", "text": "Sheet1!$A$1"}]}).names[0].name
    'rate'
    """
    return Structure(
        names=tuple(DefinedName(**each) for each in data.get("names", ())),
        tables=tuple(_sheet_table(each) for each in data.get("tables", ())),
        pivots=tuple(PivotSource(**each) for each in data.get("pivots", ())),
        externals=tuple(External(**each) for each in data.get("externals", ())),
        hidden=tuple(_hidden(each) for each in data.get("hidden", ())),
        date_1904=data.get("date_1904", False),
    )


def _sheet_table(data: Json) -> SheetTable:
    table = data["table"]
    area, columns = Area(**table["area"]), tuple(table.get("columns", ()))
    return SheetTable(data["sheet"], TableObject(**{**table, "area": area, "columns": columns}))


def _hidden(data: Json) -> HiddenParts:
    return HiddenParts(data["sheet"], _spans(data.get("rows", ())), _spans(data.get("cols", ())))


def _spans(data: list[list[int]] | tuple[()]) -> tuple[tuple[int, int], ...]:
    return tuple((first, last) for first, last in data)
