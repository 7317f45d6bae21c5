"""Translate filters to SQL; every value is a parameter, never part of the text."""

from __future__ import annotations

import datetime as dt
from typing import Any

from sat_retriever.records.filters import Filters

_INT64 = 1 << 63


def sql_conditions(filters: Filters) -> tuple[str, list[Any]]:
    """Return a condition on sheets `s` and workbooks `w`, and the values of its placeholders."""
    after, before = filters.modified_after, filters.modified_before
    terms: list[tuple[str, Any]] = [
        ("s.workbook = ?", filters.workbook),
        ("(s.path GLOB ? OR s.path = ?)", filters.path),  # brackets also match literally
        ("s.visibility = ?", filters.visibility and filters.visibility.value),
        ("s.format = ?", filters.format),
        ("w.mtime_ns >= ?", after and _utc_ns(after)),
        ("w.mtime_ns < ?", before and _utc_ns(before)),
    ]
    wanted = [(sql, [value] * sql.count("?")) for sql, value in terms if value is not None]
    for key, value in filters.metadata.items():
        # A text also matches a number with the same digits: `--where year=2024`.
        found = "CAST(value AS TEXT)" if isinstance(value, str) else "value"
        sql = f"EXISTS (SELECT 1 FROM json_each(s.metadata) WHERE key = ? AND {found} = ?)"
        wanted.append((sql, [key, value]))
    where = " AND ".join(sql for sql, _ in wanted) or "1"
    return where, [value for _, values in wanted for value in values]


def _utc_ns(moment: dt.datetime) -> int:
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    since = zoned - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    nanoseconds = (since.days * 86_400 + since.seconds) * 1_000_000_000 + since.microseconds * 1000
    return max(-_INT64, min(nanoseconds, _INT64 - 1))
