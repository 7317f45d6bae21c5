"""Define a made sheet, the truth about its tables, and its values."""

from __future__ import annotations

import datetime as dt
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from sat_retriever.records.area import Area
from sat_retriever.records.structure import TableObject
from sat_retriever.workbook.values.grid import Grid, Value


@dataclass(frozen=True, slots=True)
class Field:
    """A column to make: its header, the kind of its values, its unit."""

    name: str
    kind: str
    unit: str = ""


_DECLARED = json.loads(Path(__file__).with_name("words.json").read_text("utf-8"))
WORDS: dict[str, list[str]] = {part: each["words"].split() for part, each in _DECLARED.items()}
TOPICS: dict[str, list[list[Field]]] = {
    part: [[Field(*pair.split("=")) for pair in topic.split(", ")] for topic in each["topics"]]
    for part, each in _DECLARED.items()
}


@dataclass(frozen=True, slots=True)
class Truth:
    """The truth about a table of a made sheet.

    Attributes:
        header_row: 1-based topmost header row; None if there is none, or if transposed.
        header_height: Number of header rows.
        transposed: True if headers are in the first column.
        area: Area from the first header cell to the last data cell.
        num_rows: Number of data records.
        names: Canonical column names.
    """

    header_row: int | None
    header_height: int
    transposed: bool
    area: Area
    num_rows: int
    names: tuple[str, ...]


@dataclass(slots=True)
class Sheet:
    """A made sheet: cells written one by one, and the tables that are right."""

    layout: str
    cells: dict[tuple[int, int], Value] = field(default_factory=dict)
    merges: list[Area] = field(default_factory=list)
    objects: list[TableObject] = field(default_factory=list)
    tables: list[Truth] = field(default_factory=list)

    def put(self, row: int, col: int, values: list[Value]) -> None:
        """Write values from a cell to the right; None leaves a cell empty."""
        for offset, value in enumerate(values):
            if value is not None:
                self.cells[row, col + offset] = value

    def grid(self) -> Grid:
        """Return the used range as a grid."""
        rows, cols = zip(*self.cells, strict=True)
        top, left = min(rows), min(cols)
        lines: list[list[Value]] = [
            [self.cells.get((row, col)) for col in range(left, max(cols) + 1)]
            for row in range(top, max(rows) + 1)
        ]
        return Grid(lines, top, left)


Rng = random.Random


def words_of(rng: Rng, part: str) -> list[str]:
    """Return a shuffled copy of one part's words."""
    return rng.sample(WORDS[part], len(WORDS[part]))


def value_of(rng: Rng, kind: str, part: str, index: int) -> Value:
    """Return a value of a kind; ids count up with the index."""
    words = WORDS[part]
    makers: dict[str, Callable[[], Value]] = {
        "id": lambda: float(1000 + index),
        "code": lambda: f"{rng.choice('ABKXZ')}{rng.randint(100, 999)}-{rng.randint(10, 99)}",
        "name": lambda: f"{rng.choice(words).title()} {rng.choice(words).title()}",
        "word": lambda: rng.choice(words),
        "category": words[index * 7 % 4].title,
        "text": lambda: " ".join(rng.choice(words) for _ in range(rng.randint(4, 14))).capitalize(),
        "int": lambda: float(rng.randint(0, 900)),
        "number": lambda: round(rng.uniform(0, 5000), 2),
        "ratio": lambda: round(rng.random(), 3),
        "date": lambda: dt.datetime(2015, 1, 1) + dt.timedelta(days=rng.randint(0, 3000)),
        "bool": lambda: rng.random() < 0.5,
        "year": lambda: float(rng.randint(1990, 2024)),
        "email": lambda: f"{rng.choice(words)}@{rng.choice(words)}.org",
    }
    return makers[kind]()


def fields_of(rng: Rng, part: str, low: int = 3, high: int = 9) -> list[Field]:
    """Return some fields of one topic, in one of the ways people write headers."""
    topic = rng.choice(TOPICS[part])
    chosen = rng.sample(topic, min(len(topic), rng.randint(low, high)))
    styles: list[Callable[[str], str]] = [
        str,
        str,
        str.upper,
        lambda text: text.lower().replace(" ", "_"),
        str.title,
    ]
    style = rng.choice(styles)
    return [Field(style(item.name), item.kind, item.unit) for item in chosen]


def data_of(rng: Rng, fields: list[Field], count: int, part: str) -> list[list[Value]]:
    """Return rows of values, about one in thirty empty, never a whole row."""
    return [
        [
            None if col and rng.random() < 0.03 else value_of(rng, item.kind, part, row)
            for col, item in enumerate(fields)
        ]
        for row in range(count)
    ]


def sentence(rng: Rng, part: str, low: int = 3, high: int = 8) -> str:
    """Return a few words as a title or a note."""
    return " ".join(rng.choice(WORDS[part]) for _ in range(rng.randint(low, high))).capitalize()


def table(
    sheet: Sheet, rng: Rng, part: str, top: int, left: int, fields: list[Field], count: int
) -> Truth:
    """Write a plain table and record it as the truth."""
    sheet.put(top, left, [item.name for item in fields])
    for offset, line in enumerate(data_of(rng, fields, count, part)):
        sheet.put(top + 1 + offset, left, line)
    area = Area(top, left, top + count, left + len(fields) - 1)
    truth = Truth(top, 1, False, area, count, tuple(item.name for item in fields))
    sheet.tables.append(truth)
    return truth


def typed_fields(rng: Rng, part: str, count: int) -> list[tuple[str, str]]:
    """Return a name column, and numbers or dates to the right of it."""
    names = [word.title() for word in words_of(rng, part)]
    kinds = [rng.choice(["number", "int", "date"]) for _ in range(count - 1)]
    return list(zip(names, ["name", *kinds], strict=False))
