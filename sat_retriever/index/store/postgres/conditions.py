"""Translate filters to the SQL of PostgreSQL; every value is a parameter."""

from __future__ import annotations

from decimal import Decimal

from sat_retriever.index.store.conditions import Condition, Dialect, sql_conditions
from sat_retriever.records.filters import Filters

_NEVER = "a^"  # a pattern that nothing matches


def conditions(filters: Filters) -> Condition:
    """Return the condition that filters make, apart from their period."""
    return sql_conditions(filters, _DIALECT)


def _glob(pattern: str) -> Condition:
    return "s.path ~ ?", [pattern_of(pattern)]


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
            part, place = _class(glob, place)
            if not part:
                return _NEVER
            found += part
        else:
            found += {"*": ".*", "?": "."}.get(sign) or _plain(sign)
    return f"^{found}$"


def _class(glob: str, place: int) -> tuple[str, int]:
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


def _field(key: str, value: str | float) -> Condition:
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


_DIALECT = Dialect(glob=_glob, role="s.role = ?", field=_field)
