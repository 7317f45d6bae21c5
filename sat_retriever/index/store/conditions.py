"""Translate filters to the SQL of SQLite and of PostgreSQL; every value is a parameter."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sat_retriever.errors import InputError
from sat_retriever.records.contents import Role
from sat_retriever.records.filters import Filters
from sat_retriever.text.period.question import asked_spans
from sat_retriever.text.period.spans import Span

_INT64 = 1 << 63
_NEVER = "a^"  # a pattern that nothing matches
Condition = tuple[str, list[Any]]
"""A condition on sheets `s` and workbooks `w`, and the values of its placeholders."""


@dataclass(frozen=True, slots=True)
class _Dialect:
    """What databases express in different ways."""

    glob: Callable[[str], Condition]  # a glob to the condition on `s.path`
    role: str  # condition on the role, with one placeholder
    field: Callable[[str, str | float], Condition]  # that a sheet has a value in a metadata field


def sqlite_conditions(filters: Filters) -> Condition:
    """The condition of filters, apart from their period, in an index file."""
    return _conditions(filters, _SQLITE)


def postgres_conditions(filters: Filters) -> Condition:
    """The condition of filters, apart from their period, in PostgreSQL."""
    return _conditions(filters, _POSTGRES)


def _conditions(filters: Filters, dialect: _Dialect) -> Condition:
    after, before = filters.modified_after, filters.modified_before
    terms: list[tuple[str, Any]] = [
        ("s.workbook = ?", filters.workbook),
        ("s.visibility = ?", filters.visibility and filters.visibility.value),
        ("s.format = ?", filters.format),
        (dialect.role, filters.role and filters.role.value),
        ("w.mtime_ns >= ?", after and _utc_ns(after)),
        ("w.mtime_ns < ?", before and _utc_ns(before)),
    ]
    wanted = [(sql, [value]) for sql, value in terms if value is not None]
    if filters.path is not None:
        matched, pattern = dialect.glob(filters.path)
        # Brackets also match literally.
        wanted.append((f"({matched} OR s.path = ?)", [*pattern, filters.path]))
    wanted += [dialect.field(key, value) for key, value in filters.metadata.items()]
    where = " AND ".join(sql for sql, _ in wanted) or "1 = 1"
    return where, [value for _, values in wanted for value in values]


def _sqlite_glob(pattern: str) -> Condition:
    return "s.path GLOB ?", [pattern]


def _sqlite_field(key: str, value: str | float) -> Condition:
    # A text also matches a number with the same digits: `--where year=2024`.
    found = "CAST(value AS TEXT)" if isinstance(value, str) else "value"
    sql = f"EXISTS (SELECT 1 FROM json_each(s.metadata) WHERE key = ? AND {found} = ?)"
    return sql, [key, value]


_SQLITE = _Dialect(
    glob=_sqlite_glob,
    # A record tells its role only if that is not the usual one. Most records have no such text,
    # so few are parsed.
    role="CASE WHEN instr(s.record, '\"role\"') THEN coalesce(json_extract(s.record, '$.role'), "
    f"'{Role.DATA.value}') ELSE '{Role.DATA.value}' END = ?",
    field=_sqlite_field,
)


def pattern_of(glob: str) -> str:
    """The regular expression that matches what a glob of SQLite does.

    >>> pattern_of("2024*"), pattern_of("?"), pattern_of("[a")
    ('^2024.*$', '^.$', 'a^')
    """
    found, place = "", 0
    while place < len(glob):
        sign = glob[place]
        place += 1
        if sign == "[":
            part, place = _bracket(glob, place)
            if not part:
                return _NEVER
            found += part
        else:
            found += {"*": ".*", "?": "."}.get(sign) or _plain(sign)
    return f"^{found}$"


def _bracket(glob: str, place: int) -> tuple[str, int]:
    """The expression for the signs of a bracket, and the place behind it; "" if it is open."""
    inverted = glob.startswith("^", place)
    place += inverted
    members = [("]", "]")] if glob.startswith("]", place) else []
    place += len(members)
    before = ""
    while place < len(glob) and glob[place] != "]":
        sign = glob[place]
        if sign == "-" and before and glob[place + 1 : place + 2] not in ("", "]"):
            place += 1
            members.append((before, glob[place]))
            before = ""
        else:
            members.append((sign, sign))
            before = sign
        place += 1
    if place >= len(glob):
        return "", place
    ranges = "".join(f"{_code(low)}-{_code(high)}" for low, high in members if low <= high)
    return f"[{'^' * inverted}{ranges}]", place + 1


def _code(sign: str) -> str:
    return f"\\U{ord(sign):08x}"


def _plain(sign: str) -> str:
    return sign if sign.isalnum() else _code(sign)


def _postgres_field(key: str, value: str | float) -> Condition:
    found = (
        "f.value = ? AND substr(f.value, 1, 100) = substr(?, 1, 100)"
        if isinstance(value, str)
        else "f.number = ?"
    )
    given = [value, value] if isinstance(value, str) else [Decimal(value)]
    sql = (
        "EXISTS (SELECT 1 FROM fields f WHERE f.sheet = s.id AND f.key = ? "
        f"AND substr(f.key, 1, 100) = substr(?, 1, 100) AND {found})"
    )
    return sql, [key, key, *given]


def _postgres_glob(pattern: str) -> Condition:
    return "s.path ~ ?", [pattern_of(pattern)]


_POSTGRES = _Dialect(glob=_postgres_glob, role="s.role = ?", field=_postgres_field)


def asked_in(filters: Filters) -> tuple[Span, ...]:
    """The stretches of time that filters ask for; `InputError` if their period names none."""
    if filters.period is None:
        return ()
    spans = asked_spans(filters.period)
    if not spans:
        raise InputError(
            f"period is {filters.period[:100]!r}, which names no time; write one such as 2024, "
            "Q1 2024, March 2023 or 2021 to 2023"
        )
    return spans


def _utc_ns(moment: dt.datetime) -> int:
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    since = zoned - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    nanoseconds = (since.days * 86_400 + since.seconds) * 1_000_000_000 + since.microseconds * 1000
    return max(-_INT64, min(nanoseconds, _INT64 - 1))
