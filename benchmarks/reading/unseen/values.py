"""Cells: what stands in the file, and the value that a reader must get of it."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Cell:
    """One cell: the written value, its true value, and how it is dressed."""

    written: Any
    truth: Any
    form: str = ""
    formula: str = ""
    bold: bool = False


def as_json(value: Any) -> Any:
    """A value in the form of the truth: JSON, with a tag for dates, times and durations."""
    if isinstance(value, dt.datetime):
        return {"datetime": value.isoformat()}
    if isinstance(value, dt.date):
        return {"date": value.isoformat()}
    if isinstance(value, dt.time):
        return {"time": value.isoformat()}
    if isinstance(value, dt.timedelta):
        return {"duration": value.total_seconds()}
    return value


def cell(value: Any) -> Cell:
    """A cell whose true value is what stands there; a cell stays as it is."""
    return value if isinstance(value, Cell) else Cell(value, as_json(value))


def shown(written: Any, truth: Any) -> Cell:
    """A cell that is written in another way than its value."""
    return Cell(written, as_json(truth))


def word(text: str) -> Cell:
    """A word in a column of numbers or dates."""
    return Cell(text, {"word": text})


def either(written: Any, *truths: Any) -> Cell:
    """A cell with several right values."""
    return Cell(written, {"any": [as_json(each) for each in truths]})


def formed(value: float | dt.date, form: str) -> Cell:
    """A number or date with a number format."""
    return Cell(value, as_json(value), form=form)


def formula(text: str, value: float, form: str = "") -> Cell:
    """A formula with its saved value."""
    return Cell(value, value, form=form, formula=text)


def decimal_comma(value: float, places: int = 2, thousands: str = "") -> Cell:
    """A number as 1.234,50 in a csv file; the mark of thousands is free."""
    whole, _, decimals = f"{value:,.{places}f}".partition(".")
    return shown(f"{whole.replace(',', thousands)},{decimals}", value)


def decimal_point(value: float, places: int = 2, thousands: str = "") -> Cell:
    """A number as 1,234.50 in a csv file; the mark of thousands is free."""
    return shown(f"{value:,.{places}f}".replace(",", thousands), value)


def date_as(value: dt.date, pattern: str) -> Cell:
    """A date as a text of a csv file."""
    return shown(value.strftime(pattern), value)
