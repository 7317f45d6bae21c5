"""Add, compare and find numbers, texts and dates as a spreadsheet program does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from typing import Literal

from sat_retriever.synth.book.model import Function, Style, Value
from sat_retriever.synth.words.wordfiles import COMPARISONS

_DAY_0 = date(1899, 12, 30)
_WILD = re.compile(r"~.|[*?]|[^~*?]+|~", re.DOTALL)


def serial(day: date) -> int:
    """Return the number of a date in a workbook.

    >>> serial(date(2024, 1, 1))
    45292
    """
    return (day - _DAY_0).days


def number(value: Value) -> int | float:
    """Return a cell's value as a number; an empty cell is 0."""
    if isinstance(value, (int, float)):
        return int(value) if isinstance(value, bool) else value
    if isinstance(value, date):
        return serial(value)
    if value is None:
        return 0
    raise TypeError(f"{value!r} is no number")


def combined(operator: Literal["+", "-", "*", "/"], left: Value, right: Value) -> int | float:
    """Combine two numbers; 0 for a division by zero.

    >>> combined("/", 6, 4), combined("/", 6, 0), combined("/", 6, 3)
    (1.5, 0, 2)
    """
    one, other = number(left), number(right)
    match operator:
        case "+":
            return one + other
        case "-":
            return one - other
        case "*":
            return one * other
    if other == 0:
        return 0
    return tidy(one / other)


def tidy(value: float) -> int | float:
    """Return a whole number as int, unless it is too large for that."""
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


def numbers_in(values: Iterable[Value]) -> list[int | float]:
    """Return the values of a range that functions calculate with: no texts and no booleans."""
    return [
        number(value)
        for value in values
        if isinstance(value, (int, float, date)) and not isinstance(value, bool)
    ]


def reduced(function: Function, values: Sequence[int | float]) -> int | float:
    """Reduce numbers to one; 0 for the average of none.

    >>> reduced("AVERAGE", [1, 2]), reduced("AVERAGE", []), reduced("MAX", [])
    (1.5, 0, 0)
    """
    match function:
        case "SUM":
            return sum(values)
        case "COUNT":
            return len(values)
        case "MAX":
            return max(values, default=0)
        case "MIN":
            return min(values, default=0)
    return tidy(sum(values) / len(values)) if values else 0


def styled(value: Value, style: Style) -> Value:
    """Convert a calculated value for its column: a number is a date only if so formatted."""
    if isinstance(value, date):
        return value if style == "date" else serial(value)
    whole = isinstance(value, int) and not isinstance(value, bool)
    if style == "date" and whole and isinstance(value, int) and value > 60:
        return _DAY_0 + timedelta(value)
    return value


def match_key(value: Value) -> object:
    """Return the key that a lookup compares: texts in any letter case, numbers with numbers.

    >>> match_key("Ab") == match_key("aB"), match_key("1") == match_key(1)
    (True, False)
    """
    if isinstance(value, str):
        return value.casefold()
    return ("truth", value) if isinstance(value, bool) else float(number(value))


def criterion_key(value: Value) -> object:
    """Return the key that SUMIFS compares: as for lookups, but numeric texts are numbers.

    >>> criterion_key("007") == criterion_key(7)
    True
    """
    if isinstance(value, str):
        if value.startswith(COMPARISONS):
            raise ValueError(f"{value!r} begins like a comparison: SUMIFS cannot look for it")
        try:
            return float(value)
        except ValueError:
            return value.casefold()
    return match_key(value)


def pattern_of(value: Value) -> Callable[[str], object] | None:
    """Return a function that matches texts with a wildcard text; None if it has no wildcards.

    >>> bool(pattern_of("a*c")("ABC")), bool(pattern_of("a~*")("a*")), pattern_of("abc")
    (True, True, None)
    """
    if not isinstance(value, str) or not any(mark in value for mark in "*?~"):
        return None
    parts = [
        {"*": ".*", "?": "."}.get(part) or re.escape(part[1:] if part[0] == "~" else part)
        for part in _WILD.findall(value)
    ]
    return re.compile("".join(parts), re.IGNORECASE | re.DOTALL).fullmatch
