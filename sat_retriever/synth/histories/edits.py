"""What people do to a workbook between two versions of it, on plain cells."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

Cells = tuple[tuple[Any, ...], ...]
Edit = Callable[["Book", random.Random], "Book"]


@dataclass(frozen=True, slots=True)
class Tab:
    """One sheet: its name, its cells, and the sheet that all its versions have in common."""

    name: str
    rows: Cells
    origin: str


@dataclass(frozen=True, slots=True)
class Book:
    """A workbook's sheets in tab order."""

    tabs: tuple[Tab, ...]

    def each(self, change: Callable[[Tab], Tab]) -> Book:
        """The book with every sheet changed."""
        return Book(tuple(change(tab) for tab in self.tabs))


def is_number(value: object) -> bool:
    """True for a number that measures: no truth value, no year."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return not (float(value).is_integer() and 1900 <= value <= 2100)


def data_rows(rows: Cells) -> list[int]:
    """Positions of the rows with a number."""
    return [place for place, row in enumerate(rows) if any(map(is_number, row))]


def appended(book: Book, chance: random.Random) -> Book:
    """New rows at the end, up to a fifth as many as there are."""
    return book.each(lambda tab: replace(tab, rows=_appended(tab.rows, chance)))


def _appended(rows: Cells, chance: random.Random) -> Cells:
    places = data_rows(rows)
    if not places:
        return rows
    new = []
    for number in range(chance.randint(1, max(1, len(places) // 5))):
        row = rows[chance.choice(places)]
        cells = [_other(value, chance) if is_number(value) else value for value in row]
        label = next((n for n, value in enumerate(row) if isinstance(value, str)), None)
        if label is not None:
            cells[label] = f"{row[label]} {number + 2}"
        new.append(tuple(cells))
    end = places[-1] + 1
    return (*rows[:end], *new, *rows[end:])


def dropped(book: Book, chance: random.Random) -> Book:
    """The first rows gone, up to a tenth: an export of the last months."""

    def change(tab: Tab) -> Tab:
        places = data_rows(tab.rows)
        gone = set(places[: chance.randint(0, len(places) // 10)])
        return replace(tab, rows=tuple(r for n, r in enumerate(tab.rows) if n not in gone))

    return book.each(change)


def corrected(book: Book, chance: random.Random) -> Book:
    """One number in thirty another one, at least one a sheet."""

    def change(tab: Tab) -> Tab:
        rows = [list(row) for row in tab.rows]
        cells = [(i, j) for i, row in enumerate(rows) for j, v in enumerate(row) if is_number(v)]
        for i, j in chance.sample(cells, min(len(cells), 1 + len(cells) // 30)):
            rows[i][j] = _other(rows[i][j], chance)
        return replace(tab, rows=tuple(map(tuple, rows)))

    return book.each(change)


def widened(book: Book, chance: random.Random) -> Book:
    """A column added on the right, of numbers or remarks."""
    heading = chance.choice(("Check", "Comment", "Owner", "Delta", "Remark"))

    def change(tab: Tab) -> Tab:
        places = data_rows(tab.rows)
        if not places:
            return tab
        width = max(len(tab.rows[place]) for place in places)
        rows = [[*row, *[None] * (width - len(row))] for row in tab.rows]
        if places[0]:
            rows[places[0] - 1].append(heading)
        for place in places:
            rows[place].append(chance.choice(("ok", "open", None)) if heading != "Delta"
                               else round(chance.uniform(-9, 9), 2))  # fmt: skip
        return replace(tab, rows=tuple(map(tuple, rows)))

    return book.each(change)


def renamed(book: Book, chance: random.Random) -> Book:
    """One sheet under another name."""
    place = chance.randrange(len(book.tabs))
    name = chance.choice(("Data", "Overview", "Details", "Working", "Input")) + f" {place + 1}"
    tabs = list(book.tabs)
    tabs[place] = replace(tabs[place], name=name)
    return Book(tuple(tabs))


def unchanged(book: Book, chance: random.Random) -> Book:
    """Saved again."""
    return book


def refilled(book: Book, chance: random.Random) -> Book:
    """The same form with other numbers: another period, another branch."""

    def change(tab: Tab) -> Tab:
        rows = (tuple(_other(v, chance) if is_number(v) else v for v in row) for row in tab.rows)
        return replace(tab, rows=tuple(rows))

    return book.each(change)


def emptied(book: Book, chance: random.Random) -> Book:
    """The form without its numbers."""

    def change(tab: Tab) -> Tab:
        rows = (tuple(None if is_number(v) else v for v in row) for row in tab.rows)
        return replace(tab, rows=tuple(rows))

    return book.each(change)


def _other(value: Any, chance: random.Random) -> Any:
    if isinstance(value, int) or float(value).is_integer():
        return max(0, round(value * chance.uniform(0.6, 1.5))) + chance.randint(1, 9)
    return round(value * chance.uniform(0.6, 1.5) + 0.01, 2)


EDITS: Sequence[Edit] = (appended, corrected, widened, renamed, unchanged)
