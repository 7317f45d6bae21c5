"""Frozen records as plain JSON values, and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from sat_retriever.records.contents import Role, SheetContents
from sat_retriever.records.formats import FormulaState
from sat_retriever.records.sheets import (
    Column,
    ColumnType,
    LeftOut,
    LeftOutReason,
    SheetRecord,
    Skipped,
    SkipReason,
    Table,
    Visibility,
)

Json = dict[str, Any]
"""A JSON object."""
_PLACEHOLDER = re.compile(r"[^\W\d_]{1,24}_0001")
_PLAIN = frozenset({str, int, float, bool, type(None)})
_TYPES = {each.value: each for each in ColumnType}  # far quicker than the enumeration's own look-up


def to_json(value: Any, *, compact: bool = False) -> Any:
    """The JSON form of frozen records, alone or inside lists and mappings.

    Args:
        value: A dataclass, mapping, sequence or plain value.
        compact: True for the form that is read back: without the fields at their default. False
            for the form that is shown: all fields but what an encoder reads of a column.

    >>> to_json([Column("Price", type=ColumnType.NUMBER)])
    [{'name': 'Price', 'example': None, 'type': 'number', 'unit': None}]
    >>> to_json(Column("Price", type=ColumnType.NUMBER), compact=True)
    {'name': 'Price', 'type': 'number'}
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, SheetContents):
        return value.to_json()
    if (known := _FIELDS(type(value))) is not None:
        present = ((f, getattr(value, f.name)) for f in known)
        found = {
            f.name: item if type(item) in _PLAIN else to_json(item, compact=compact)
            for f, item in present
            if not (_is_default(f, item) if compact else f.metadata.get("shown") is False)
        }
        if compact and isinstance(value, Column) and _looks_made(found):
            found["encoded"] = value.example
        return found
    if isinstance(value, Mapping):
        return {key: to_json(item, compact=compact) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item, compact=compact) for item in value]
    return value.value if isinstance(value, StrEnum) else value


def record_from_json(data: Mapping[str, Any]) -> SheetRecord:
    """The record that `to_json` wrote; without columns of its own it has those of its main table.

    >>> record = SheetRecord("a.csv#a", "a", columns=(Column("x", "1"),))
    >>> record_from_json(to_json(record, compact=True)) == record
    True
    """
    tables = tuple(table_from_json(table) for table in data.get("tables", ()))
    own = tables[0].columns if tables and "columns" not in data else _columns_from_json(data)
    parts: dict[str, Any] = {"columns": own, "tables": tables}
    if "visibility" in data:
        parts["visibility"] = Visibility(data["visibility"])
    if "formulas" in data:
        parts["formulas"] = FormulaState(data["formulas"])
    if "role" in data:
        parts["role"] = Role(data["role"])
    if data.get("contents") is not None:
        parts["contents"] = SheetContents.from_json(data["contents"])
    return SheetRecord(**{**data, **parts})


def skipped_from_json(data: Mapping[str, Any]) -> Skipped:
    """The skipped part that `to_json` wrote.

    >>> skipped = Skipped("a.xlsx", SkipReason.DAMAGED, "It is cut off.")
    >>> skipped_from_json(to_json(skipped)) == skipped
    True
    """
    return Skipped(**{**data, "reason": SkipReason(data["reason"])})


def table_from_json(data: Mapping[str, Any]) -> Table:
    """The table that `to_json` wrote."""
    rows = {
        name: tuple(left_out_from_json(each) for each in data[name])
        for name in ("left_out", "doubtful")
        if name in data
    }
    return Table(**{**data, "columns": _columns_from_json(data), **rows})


def left_out_from_json(data: Mapping[str, Any]) -> LeftOut:
    """The row that `to_json` wrote."""
    return LeftOut(**{**data, "reason": LeftOutReason(data["reason"])})


def _columns_from_json(data: Mapping[str, Any]) -> tuple[Column, ...]:
    return tuple(map(_column_from_json, data.get("columns", ())))


def _column_from_json(data: Mapping[str, Any]) -> Column:
    """A column; a placeholder that earlier versions wrote as an example is read as what it is."""
    parts = {**data}
    if "type" in parts:
        parts["type"] = _TYPES[parts["type"]]
    if "example" in parts and _looks_made(parts):
        parts["encoded"] = parts.pop("example")
    if parts.get("encoded") == parts.get("example"):
        parts.pop("encoded", None)
    return Column(**parts)


def _looks_made(column: Mapping[str, Any]) -> bool:
    """True if a column's example looks like a placeholder, and nothing says that it is a cell."""
    example = column.get("example")
    return bool(example and "encoded" not in column and _PLACEHOLDER.fullmatch(example))


def _fields(kind: Any) -> tuple[Field[Any], ...] | None:
    """The fields of a dataclass; None for another type."""
    return fields(kind) if is_dataclass(kind) else None


_FIELDS: Callable[[Any], tuple[Field[Any], ...] | None] = cache(_fields)


def _is_default(spec: Field[Any], value: Any) -> bool:
    if spec.default is not MISSING:
        return bool(value == spec.default)
    return spec.default_factory is not MISSING and bool(value == spec.default_factory())
