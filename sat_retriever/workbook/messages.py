"""Requests to a reading process and its messages, as JSON objects, one a line; no pickle.

Records, skipped parts and structure have the form of `records.jsonform`. A workbook can have a
million formulas, so these have a compact form: one list per field, and a list of the few formulas
that fill a range, by position. References and profiles of a sheet are rows of their fields, after
the name of the sheet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

from sat_retriever.records.area import Area
from sat_retriever.records.contents import ContentsPolicy
from sat_retriever.records.jsonform import Json, to_json
from sat_retriever.records.privacy import EVERYTHING, Privacy
from sat_retriever.records.sheets import Formula, Skipped, SkipReason
from sat_retriever.records.structure import (
    CellSketch,
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
from sat_retriever.workbook.limits import Limits

MAX_CELLS = 20_000  # per window
_REFERENCE = ("cell", "formula", "cells", "workbook", "first", "last", "name", "area")


@dataclass(frozen=True, slots=True)
class Window:
    """Cells of one sheet, which are then the only answer: a range, or the data of a table."""

    sheet: str
    area: Area  # area of the cells; does not count for a table
    # Place of the table among those of the sheet, the main one first; None for a range
    table: int | None = None
    most: int = MAX_CELLS
    totals: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """A request to read one file."""

    path: str
    relative: str  # its POSIX path as written in sheet ids
    privacy: Privacy = EVERYTHING
    formulas: bool = True
    links: bool = True  # True if references and profiles, the input of link discovery, are returned
    safe: bool = False  # True to avoid calamine, because it crashed the worker before
    window: Window | None = None
    # Folder that the file must lie in, or file that it must be, after links are resolved; None
    # allows every place
    within: str | None = None
    password: str | None = None
    encoding: str = ""  # name of the encoding of a delimited file; empty to find it in the file
    limits: Limits = field(default_factory=Limits)

    @classmethod
    def from_json(cls, data: Json) -> Request:
        """Read a request that the parent wrote with `to_json`."""
        window = data.get("window")
        cells = window and Window(**{**window, "area": Area(**window["area"])})
        limits, privacy = Limits(**data.get("limits", {})), data.get("privacy", {})
        if "contents" in privacy:
            privacy = {**privacy, "contents": ContentsPolicy(privacy["contents"])}
        parts = {"window": cells, "limits": limits, "privacy": Privacy(**privacy)}
        return cls(**{**data, **parts})

    def asks_for(self, sheet: str) -> bool:
        """True if the request covers a sheet."""
        return self.window is None or self.window.sheet == sheet


def skip(request: Request, reason: SkipReason, message: str, sheet: str | None = None) -> Json:
    """The message that a sheet, or the file, was not read, or not completely."""
    return {"skipped": to_json(Skipped(request.relative, reason, message, sheet))}


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
    """The references in one sheet's formulas.

    >>> references_to_json("S", [Reference("S", Use.VALUE, "A1", "Q1!B1", first="Q1", area="B1")])
    ['S', ['value', 'A1', 'Q1!B1', 1, '', 'Q1', '', '', 'B1']]
    """
    rows = ([each.use.value, *(getattr(each, name) for name in _REFERENCE)] for each in references)
    return [sheet, *rows]


def references_from_json(data: list[Any]) -> list[Reference]:
    """The references that `references_to_json` wrote."""
    sheet, *rows = data
    return [Reference(sheet, Use(use), *rest) for use, *rest in rows]


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


def sketch_from_json(data: Json) -> CellSketch:
    """The sketch of a sheet's cells that `to_json` wrote."""
    lists = {name: tuple(data.get(name, ())) for name in ("number_sketch", "text_sketch")}
    return CellSketch(**{**data, **lists})


def structure_from_json(data: Json) -> Structure:
    """The structure that `to_json` wrote.

    >>> structure_from_json({"names": [{"name": "rate", "text": "Sheet1!$A$1"}]}).names[0].name
    'rate'
    """
    return Structure(
        names=tuple(DefinedName(**each) for each in data.get("names", ())),
        tables=tuple(_sheet_table(each) for each in data.get("tables", ())),
        sources=tuple(
            DataSource(**{**each, "kind": SourceKind(each["kind"])})
            for each in data.get("sources", ())
        ),
        externals=tuple(External(**each) for each in data.get("externals", ())),
        hidden=tuple(_hidden(each) for each in data.get("hidden", ())),
        date_1904=data.get("date_1904", False),
        tabs=tuple(data.get("tabs", ())),
    )


def _sheet_table(data: Json) -> SheetTable:
    table = data["table"]
    area, columns = Area(**table["area"]), tuple(table.get("columns", ()))
    return SheetTable(data["sheet"], TableObject(**{**table, "area": area, "columns": columns}))


def _hidden(data: Json) -> HiddenParts:
    return HiddenParts(data["sheet"], _spans(data.get("rows", ())), _spans(data.get("cols", ())))


def _spans(data: list[list[int]] | tuple[()]) -> tuple[tuple[int, int], ...]:
    return tuple((first, last) for first, last in data)
