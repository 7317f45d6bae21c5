"""Filters as SQL; every value goes in as a parameter, never as text."""

from __future__ import annotations

import datetime as dt
from typing import Any

from sat_retriever.filters import Filters


def sql_conditions(filters: Filters) -> tuple[str, list[Any]]:
    """A condition on sheets `s` and workbooks `w`, and the values of its placeholders."""
    after, before = filters.modified_after, filters.modified_before
    terms: list[tuple[str, Any]] = [
        ("s.workbook = ?", filters.workbook),
        ("s.path GLOB ?", filters.path),
        ("s.visibility = ?", filters.visibility and filters.visibility.value),
        ("s.format = ?", filters.format),
        ("w.mtime_ns >= ?", after and _utc_ns(after)),
        ("w.mtime_ns < ?", before and _utc_ns(before)),
    ]
    wanted = [(sql, [value]) for sql, value in terms if value is not None]
    for key, value in filters.metadata.items():
        path = '$."' + key.replace('"', '\\"') + '"'
        wanted.append(("json_extract(s.metadata, ?) = ?", [path, value]))
    where = " AND ".join(sql for sql, _ in wanted) or "1"
    return where, [value for _, values in wanted for value in values]


def _utc_ns(moment: dt.datetime) -> int:
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    return int(zoned.timestamp() * 1_000_000) * 1000
