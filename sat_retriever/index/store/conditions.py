"""Translate filters to SQL; every value is a parameter, never part of the text."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Sequence
from typing import Any

from sat_retriever.errors import InputError
from sat_retriever.period.question import asked_spans
from sat_retriever.period.relation import overlapping, unpacked
from sat_retriever.period.spans import Span
from sat_retriever.records.contents import Role
from sat_retriever.records.filters import Filters

_INT64 = 1 << 63
# A record tells its role only if that is not the usual one. Most records have no such text, so
# few are parsed.
_ROLE = (
    "CASE WHEN instr(s.record, '\"role\"') THEN coalesce(json_extract(s.record, '$.role'), "
    f"'{Role.DATA.value}') ELSE '{Role.DATA.value}' END = ?"
)
_PERIOD = "EXISTS (SELECT 1 FROM tokens t WHERE t.id = s.id AND in_period(t.months, ?))"


def sql_conditions(filters: Filters) -> tuple[str, list[Any]]:
    """Return a condition on sheets `s` and workbooks `w`, and the values of its placeholders.

    Raises:
        InputError: If the period names no time.
    """
    asked_in(filters)
    after, before = filters.modified_after, filters.modified_before
    terms: list[tuple[str, Any]] = [
        ("s.workbook = ?", filters.workbook),
        ("(s.path GLOB ? OR s.path = ?)", filters.path),  # brackets also match literally
        ("s.visibility = ?", filters.visibility and filters.visibility.value),
        ("s.format = ?", filters.format),
        (_ROLE, filters.role and filters.role.value),
        (_PERIOD, filters.period),
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


def asked_in(filters: Filters) -> tuple[Span, ...]:
    """Return the stretches of time that filters ask for; none without a period.

    Raises:
        InputError: If the period names no time.
    """
    if filters.period is None:
        return ()
    spans = asked_spans(filters.period)
    if not spans:
        raise InputError(
            f"period is {filters.period[:100]!r}, which names no time; write one such as 2024, "
            "Q1 2024, March 2023 or 2021 to 2023"
        )
    return spans


def register_period(connection: sqlite3.Connection) -> None:
    """Make `in_period` available in SQL: True if packed months overlap a period in words."""
    connection.create_function("in_period", 2, _in_period, deterministic=True)


def _in_period(months: int, period: str) -> bool:
    spans: Sequence[Span] = asked_spans(period)
    return bool(overlapping(unpacked([months]), spans)[0])


def _utc_ns(moment: dt.datetime) -> int:
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    since = zoned - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    nanoseconds = (since.days * 86_400 + since.seconds) * 1_000_000_000 + since.microseconds * 1000
    return max(-_INT64, min(nanoseconds, _INT64 - 1))
