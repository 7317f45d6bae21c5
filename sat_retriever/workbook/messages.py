"""Requests to a reading process and its messages, as JSON objects, one a line; no pickle.

Records, skipped parts and structure have the form of `records.jsonform`. A workbook can have a
million formulas, so these have a compact form: one list per field, and a list of the few formulas
that fill a range, by position. References and profiles of a sheet are rows of their fields, after
the name of the sheet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, is_dataclass
from enum import StrEnum
from functools import cache
from itertools import repeat
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from sat_retriever.records.area import Area
from sat_retriever.records.jsonform import Json, to_json
from sat_retriever.records.privacy import EVERYTHING, Privacy
from sat_retriever.records.sheets import Formula, Skipped, SkipReason
from sat_retriever.records.structure import ColumnProfile, RawFormula, Reference, Use
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
    shown: bool = False  # True for the texts that the cells of a range show, beside their values


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

    @property
    def shown(self) -> Area | None:
        """Cells whose texts are asked for; None without any."""
        window = self.window
        return window.area if window is not None and window.shown else None

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


def read_as(kind: Any, data: Any) -> Any:
    """A value of a frozen record's type from the form that `to_json` gave it.

    >>> read_as(Request, {"path": "a", "relative": "a", "limits": {"cells": 9}}).limits.cells
    9
    """
    if isinstance(kind, type) and is_dataclass(kind):
        types = _types_of(kind)
        return kind(**{name: read_as(types[name], value) for name, value in data.items()})
    origin, parts = get_origin(kind), get_args(kind)
    if origin is tuple:  # of one type each
        plain = parts[0] in (int, str)
        return tuple(data) if plain else tuple(read_as(parts[0], each) for each in data)
    if origin is UnionType:  # with None
        return None if data is None else read_as(parts[0], data)
    return kind(data) if isinstance(kind, type) and issubclass(kind, StrEnum) else data


_types_of = cache(get_type_hints)
