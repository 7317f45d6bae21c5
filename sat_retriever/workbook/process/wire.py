"""Results of the worker to JSON objects and back; nothing is pickled.

Records, skipped parts and structure are written by `sat_retriever.types.to_json`,
fields at their default left out. Formulas, of which there can be a million, have a
form of their own: a list a field, and the few that are not plain by their position.
References and profiles of a sheet are rows of their fields after the sheet.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from itertools import repeat
from typing import Any

from sat_retriever.records.area import Area
from sat_retriever.records.jsonform import Json
from sat_retriever.records.sheets import Formula
from sat_retriever.records.structure import (
    ColumnProfile,
    DataSource,
    DefinedName,
    External,
    HiddenParts,
    RawFormula,
    Reference,
    SheetTable,
    SourceKind,
    Structure,
    TableObject,
    Use,
)
from sat_retriever.workbook.process.request import MAX_CELLS
from sat_retriever.workbook.values.grid import Grid, Value

_WHOLE = 1e15  # floats below this without a fraction are whole numbers
_REFERENCE = ("cell", "formula", "cells", "workbook", "first", "last", "name", "area")


def formulas_to_json(sheet: str, formulas: Sequence[RawFormula]) -> list[Any]:
    """A batch of one sheet's formulas, (cell, text, range, kind) each.

    >>> formulas_to_json("S", [("A1", "B1", None, "normal"), ("A2", "B2", "A2:A9", "shared")])
    ['S', ['A1', 'A2'], ['B1', 'B2'], [[1, 'A2:A9', 'shared']]]
    """
    filled = [[i, f[2], f[3]] for i, f in enumerate(formulas) if f[3] != "normal"]
    return [sheet, [f[0] for f in formulas], [f[1] for f in formulas], filled]


def formulas_from_json(data: list[Any]) -> list[Formula]:
    """The batch that `formulas_to_json` wrote.

    >>> formulas_from_json(["S", ["A1"], ["B1"], []])
    [Formula(sheet='S', cell='A1', text='B1', range=None, kind='normal')]
    """
    sheet, cells, texts, filled = data
    formulas = list(map(Formula, repeat(sheet), cells, texts))
    for index, area, kind in filled:
        formulas[index] = Formula(sheet, cells[index], texts[index], area, kind)
    return formulas


def references_to_json(sheet: str, references: Sequence[Reference]) -> list[Any]:
    """What one sheet's formulas refer to.

    >>> references_to_json("S", [Reference("S", Use.VALUE, "A1", "Q1!B1", first="Q1", area="B1")])
    ['S', ['value', 'A1', 'Q1!B1', 1, '', 'Q1', '', '', 'B1']]
    """
    rows = ([each.use.value, *(getattr(each, name) for name in _REFERENCE)] for each in references)
    return [sheet, *rows]


def references_from_json(data: list[Any]) -> list[Reference]:
    """The references that `references_to_json` wrote."""
    sheet, *rows = data
    return [Reference(sheet, Use(use), *rest) for use, *rest in rows]


def cells_to_json(grid: Grid, wanted: Area, used: Area, *, cut: bool) -> Json:
    """The wanted cells of a sheet, as far as its used range goes; at most `MAX_CELLS` of them.

    Dates and times become ISO text, errors such as `#DIV/0!` their own text, durations text as
    Python writes it.

    Args:
        grid: Values of the sheet.
        wanted: The cells.
        used: The sheet's used range.
        cut: Whether the grid ends before the sheet does; there are no cells after it then.

    >>> grid = Grid([["a", 1.0], [None]], first_row=2)
    >>> cells_to_json(grid, Area(1, 1, 9, 9), Area(2, 1, 3, 2), cut=False)["rows"]
    [['a', 1], [None, None]]
    """
    top, left = max(wanted.top, used.top), max(wanted.left, used.left)
    bottom, right = min(wanted.bottom, used.bottom), min(wanted.right, used.right)
    if cut:
        bottom = min(bottom, grid.first_row + len(grid.rows) - 1)
    most = max(1, MAX_CELLS // max(1, right - left + 1))  # rows
    more = bottom - top + 1 > most
    bottom = min(bottom, top + most - 1)
    rows = []
    for row in range(top, bottom + 1):
        at = row - grid.first_row
        held = grid.rows[at] if 0 <= at < len(grid.rows) else []
        places = (col - grid.first_col for col in range(left, right + 1))
        rows.append([_plain(held[p]) if 0 <= p < len(held) else None for p in places])
    return {"top": top, "left": left, "rows": rows, "used": used.a1(), "cut": cut, "more": more}


def _plain(value: Value) -> str | int | float | bool | None:
    """A cell's value as JSON has it."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            return str(value)
        return int(value) if value.is_integer() and abs(value) < _WHOLE else value
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        return value.isoformat()
    return str(value)


def profiles_to_json(sheet: str, profiles: Sequence[ColumnProfile]) -> list[Any]:
    """Profiles of one sheet's columns.

    >>> profiles_to_json("S", [ColumnProfile("S", 0, 3, 9, 2, (5, 7))])
    ['S', [0, 3, 9, 2, 5, 7]]
    """
    rows = (
        [each.table, each.column, each.values, each.distinct, *each.sketch] for each in profiles
    )
    return [sheet, *rows]


def profiles_from_json(data: list[Any]) -> list[ColumnProfile]:
    """The profiles that `profiles_to_json` wrote.

    >>> profiles_from_json(["S", [0, 3, 9, 2, 5, 7]])[0].sketch
    (5, 7)
    """
    sheet, *rows = data
    return [
        ColumnProfile(sheet, table, column, values, distinct, tuple(sketch))
        for table, column, values, distinct, *sketch in rows
    ]


def structure_from_json(data: Json) -> Structure:
    """The structure that `to_json` wrote.

    >>> structure_from_json({"names": [{"name": "rate", "text": "Sheet1!$A$1"}]}).names[0].name
    'rate'
    """
    return Structure(
        names=tuple(DefinedName(**each) for each in data.get("names", ())),
        tables=tuple(_sheet_table(each) for each in data.get("tables", ())),
        sources=tuple(_source(each) for each in data.get("sources", ())),
        externals=tuple(External(**each) for each in data.get("externals", ())),
        hidden=tuple(_hidden(each) for each in data.get("hidden", ())),
        date_1904=data.get("date_1904", False),
        tabs=tuple(data.get("tabs", ())),
    )


def _sheet_table(data: Json) -> SheetTable:
    table = data["table"]
    area, columns = Area(**table["area"]), tuple(table.get("columns", ()))
    return SheetTable(data["sheet"], TableObject(**{**table, "area": area, "columns": columns}))


def _source(data: Json) -> DataSource:
    return DataSource(**{**data, "kind": SourceKind(data["kind"])})


def _hidden(data: Json) -> HiddenParts:
    return HiddenParts(data["sheet"], _spans(data.get("rows", ())), _spans(data.get("cols", ())))


def _spans(data: list[list[int]] | tuple[()]) -> tuple[tuple[int, int], ...]:
    return tuple((first, last) for first, last in data)
