"""Made sheets with two to four tables, and questions that one of the tables answers.

Tables of a sheet share words on purpose: regions stand in several of them, and so do headers. A
question says what it is about in one of the ways that people do: a row and a column, a text that
stands in one cell, a code, or what the table is called.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import openpyxl
from openpyxl.worksheet.worksheet import Worksheet

from sat_retriever.records.area import Area

_Theme = tuple[str, str, Sequence[str], tuple[str, ...], str]

_REGIONS = "North South East West Centre Coast Highlands Islands".split()
_PEOPLE = [
    f"{first} {last}"
    for first in "Ada Bruno Carla Dmitri Elena Farid Greta Hugo".split()
    for last in "Okafor Lindqvist Marchetti Novak Petrov Quiroga".split()
]
_THEMES: tuple[
    _Theme, ...
] = (  # caption, header of the rows, their names, headers of numbers, header of texts
    ("Sales by region", "Region", _REGIONS, ("Revenue", "Units", "Margin"), "Manager"),
    ("Complaints by region", "Region", _REGIONS, ("Open", "Closed"), "Contact"),
    ("Staff by region", "Region", _REGIONS, ("Headcount", "Vacancies"), "Recruiter"),
    (
        "Vehicle costs",
        "Model",
        "Bus Tram Ferry Metro Taxi Trolley Funicular Minibus".split(),
        ("Purchase price", "Fuel", "Insurance"),
        "Supplier",
    ),
    (
        "Orders",
        "Order",
        [f"PO-{number}" for number in range(7100, 7160)],
        ("Amount", "Weight"),
        "Buyer",
    ),
    (
        "Harvest of the year",
        "Crop",
        "Barley Oats Rye Maize Lentils Flax Hops Beans".split(),
        ("Tonnes", "Hectares"),
        "Farm",
    ),
    (
        "Exam results",
        "Subject",
        "Algebra Botany Chemistry Drawing Economics French Geology History".split(),
        ("Passed", "Failed", "Mean grade"),
        "Teacher",
    ),
    (
        "Energy use of sites",
        "Site",
        "Aalen Brest Cadiz Delft Essen Faro Ghent Haifa".split(),
        ("Electricity", "Gas", "Water"),
        "Caretaker",
    ),
)
_LONG_ROWS = 300
KINDS = ("row", "text", "caption", "long")


@dataclass(frozen=True, slots=True)
class TableQuestion:
    """A question and where on its sheet the answer stands.

    Attributes:
        sheet: Name of the sheet.
        query: The question.
        answer: Cells that a citation must hold.
        kind: How the question names the table: one of `KINDS`.
    """

    sheet: str
    query: str
    answer: Area
    kind: str


@dataclass(frozen=True, slots=True)
class _Made:
    """A table on a sheet: its theme, rows and place."""

    theme: _Theme
    rows: Sequence[tuple[str, str]]
    top: int  # of the header
    left: int

    @property
    def area(self) -> Area:
        return Area(self.top, self.left, self.top + len(self.rows), self.left + self.width - 1)

    @property
    def width(self) -> int:
        return 2 + len(self.theme[3])

    def row(self, place: int) -> Area:
        row = self.top + 1 + place
        return Area(row, self.left, row, self.left + self.width - 1)


def made_book(path: Path, questions: int, seed: int) -> list[TableQuestion]:
    """A workbook with one sheet a question, and the questions, of each kind as many.

    Args:
        path: Where to write it.
        questions: Number of questions.
        seed: Of the random choices.
    """
    rng = random.Random(seed)
    book = openpyxl.Workbook()
    book.remove(book.active)
    found = []
    for number in range(questions):
        kind = KINDS[number % len(KINDS)]
        sheet = book.create_sheet(f"Sheet {number + 1}")
        themes = rng.sample(_THEMES, rng.randint(2, 4))
        asked = rng.randrange(len(themes))
        long = asked if kind == "long" else -1
        tables = _placed(sheet, themes, long, rng, titled=asked if kind == "caption" else -1)
        found.append(_question(sheet.title, tables[asked], kind, rng))
    book.save(path)
    return found


def _placed(
    sheet: Worksheet, themes: Sequence[_Theme], long: int, rng: random.Random, titled: int
) -> list[_Made]:
    """The tables, below one another or two side by side, most with a caption.

    Args:
        sheet: Where to write them.
        themes: Their themes.
        long: Number of the table that is long; -1 for none.
        rng: Random choices.
        titled: Number of the table that surely has a caption; -1 for none.
    """
    tables = []
    top, left = 1, 1
    for number, theme in enumerate(themes):
        caption, _header, names, _numbers, _text = theme
        if number == long:
            rows = [
                (f"{names[n % len(names)]} {n}", rng.choice(_PEOPLE)) for n in range(_LONG_ROWS)
            ]
        else:
            chosen = rng.sample(list(names), rng.randint(4, min(8, len(names))))
            rows = list(zip(chosen, rng.sample(_PEOPLE, len(chosen)), strict=True))
        has_caption = rng.random() < 0.7 or number == titled
        if has_caption:
            sheet.cell(top, left, caption)
        made = _Made(theme, rows, top + has_caption, left)
        _write(sheet, made, rng)
        tables.append(made)
        beside = left == 1 and rng.random() < 0.3
        lowest = max(each.area.bottom for each in tables)
        top, left = (top, made.area.right + 3) if beside else (lowest + 3, 1)
    return tables


def _write(sheet: Worksheet, made: _Made, rng: random.Random) -> None:
    _caption, header, _names, numbers, text = made.theme
    for column, name in enumerate((header, *numbers, text)):
        sheet.cell(made.top, made.left + column, name)
    for row, (label, person) in enumerate(made.rows, start=made.top + 1):
        values = [label, *(rng.randint(1, 90_000) for _ in numbers), person]
        for column, value in enumerate(values):
            sheet.cell(row, made.left + column, value)


def _question(sheet: str, made: _Made, kind: str, rng: random.Random) -> TableQuestion:
    caption, header, _names, numbers, text = made.theme
    place = rng.randrange(len(made.rows))
    label, person = made.rows[place]
    number = rng.choice(numbers).lower()
    if kind == "caption":
        named = (f"{caption.lower()}", f"{number} by {header.lower()}", f"{caption}: all {number}")
        return TableQuestion(sheet, rng.choice(named), made.area, kind)
    if kind == "text":
        asked = (f"Which {header.lower()} is {person} {text.lower()} of?", f"{text} {person}")
        return TableQuestion(sheet, rng.choice(asked), made.row(place), kind)
    forms = (f"What is the {number} of {label}?", f"{number} {label}", f"{label.upper()} {number}")
    return TableQuestion(sheet, rng.choice(forms), made.row(place), kind)
