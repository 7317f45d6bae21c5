"""Forty hand-written questions over `eps`, with the cells that answer them.

They were written from the cells and committed before any of them was asked of the retriever, and
none is changed because the retriever misses it. The statements in SQL were written by hand after a
look at the columns of each table, so they measure the tables, not a language model.
"""

from __future__ import annotations

import json
import math
import re
import statistics
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openpyxl

from sat_retriever.records.area import Area, area_of

QUESTIONS = Path(__file__).with_name("eps_questions.json")
KINDS = ("lookup", "aggregate", "note")
Value = str | int | float
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")
_LINE = re.compile(r"^\| (\d+) \|.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class EpsQuestion:
    """One question and its answer.

    Attributes:
        question: The question in plain words.
        kind: "lookup" (one cell), "aggregate" (over many cells) or "note" (a text).
        take: How the value comes from the cells: "value", "sum", "mean", "max", "count" (of the
            cells listed) or "text" (a part of their text).
        sheet: Id of the sheet that answers.
        cells: Its cells, ranges joined by commas.
        value: The answer.
        also: Cells of other sheets, or elsewhere on the sheet, with the same answer; each is a
            sheet's id, "!" and ranges.
        sql: A statement over the table that holds the cells; None if none fits.
        note: Unit and remarks.
    """

    question: str
    kind: str
    take: str
    sheet: str
    cells: str
    value: Value
    also: tuple[str, ...]
    sql: str | None
    note: str

    @property
    def cited(self) -> tuple[str, ...]:
        """Every place that answers, as a citation, the question's own first."""
        return (f"{self.sheet}!{self.cells}", *self.also)

    @property
    def places(self) -> list[tuple[str, list[Area]]]:
        """Every place that answers: a sheet's id and ranges, the question's own first."""
        named = (each.rpartition("!") for each in self.cited)
        return [(sheet, areas(cells)) for sheet, _, cells in named]

    @property
    def sheets(self) -> list[str]:
        """Ids of the sheets that answer, its own first."""
        return list(dict.fromkeys(sheet for sheet, _ in self.places))

    def lies_in(self, citation: str) -> bool:
        """True if a citation holds all cells of one place."""
        return any(holds(citation, place) for place in self.cited)


def load_questions(path: Path = QUESTIONS) -> list[EpsQuestion]:
    """Return the questions in the order of the file."""
    listed: list[Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["questions"]
    return [EpsQuestion(**{**each, "also": tuple(each["also"])}) for each in listed]


def areas(cells: str) -> list[Area]:
    """Return the ranges of a list of cells.

    Raises:
        ValueError: If a part is no range.

    >>> areas("C2,E5:F6")
    [Area(top=2, left=3, bottom=2, right=3), Area(top=5, left=5, bottom=6, right=6)]
    """
    found = [area_of(part) for part in cells.split(",")]
    known = [area for area in found if area is not None]
    if len(known) < len(found):
        raise ValueError(f"{cells!r} is no list of ranges")
    return known


def cells_of(ranges: Iterable[Area]) -> Iterator[tuple[int, int]]:
    """Yield row and column of each cell of some ranges."""
    for area in ranges:
        for row in range(area.top, area.bottom + 1):
            yield from ((row, col) for col in range(area.left, area.right + 1))


def holds(citation: str, place: str) -> bool:
    """True if the ranges of a citation hold together all cells of a place on the same sheet.

    >>> holds("a.xlsx#S!A1:B4,D5", "a.xlsx#S!B2:B3,D5"), holds("a.xlsx#S!A1:B4,…", "a.xlsx#S!D5")
    (True, False)
    """
    sheet, _, ranges = citation.rpartition("!")
    own, _, cells = place.rpartition("!")
    cited = list(filter(None, map(area_of, ranges.split(","))))  # a long one ends with "…"
    return sheet == own and all(
        any(area.holds(*cell) for area in cited) for cell in cells_of(areas(cells))
    )


def same(found: object, value: Value) -> bool:
    """True for the same text, or numbers that differ by a billionth at most.

    >>> same(0.1 + 0.2, 0.3), same("0.3", 0.3)
    (True, False)
    """
    if isinstance(found, int | float) and isinstance(value, int | float):
        return math.isclose(found, value, rel_tol=1e-9)
    return found == value


def holds_value(text: str, value: Value) -> bool:
    """True if a text has a value, a number with at least three digits or all that it has.

    >>> holds_value("12.17 years", 12.1666), holds_value("12 years", 12.1666)
    (True, False)
    >>> holds_value("1,194 $", 1194), holds_value("of 11942", 1194), holds_value("30.0", 30)
    (True, False, True)
    """
    if isinstance(value, str):
        return value in " ".join(text.split())
    return any(written(match[0].replace(",", ""), value) for match in _NUMBER.finditer(text))


def written(number: str, value: float, scale: float = 1) -> bool:
    """True if a number in a scale is a value, or what rounding to its own digits makes of it."""
    found = float(number) * scale
    if same(found, value):
        return True
    digits = re.sub(r"[eE].*|\D", "", number).lstrip("0")
    return len(digits) > 2 and f"{value:.{len(digits)}g}" == f"{found:.{len(digits)}g}"


def shows(question: EpsQuestion, sheet: str, text: str) -> bool:
    """True if the text of a sheet has all rows of the answer, and its value if cells hold that.

    Args:
        question: The question.
        sheet: The sheet's id.
        text: Its rows as a Markdown table; each begins with its number on the sheet.
    """
    lines = {int(match[1]): match[0] for match in _LINE.finditer(text)}
    for name, ranges in question.places:
        rows = {row for row, _ in cells_of(ranges)}
        if name == sheet and rows <= lines.keys():
            shown = "\n".join(lines[row].partition("|")[2].partition("|")[2] for row in rows)
            if question.take in ("sum", "mean", "count") or holds_value(shown, question.value):
                return True
    return False


def answered_by(question: EpsQuestion, values: Sequence[object]) -> bool:
    """True if the values of the question's cells give its value.

    Args:
        question: The question.
        values: Values of all its cells at one place; texts and empty cells are no numbers.
    """
    if question.take == "text":
        return str(question.value) in " ".join(str(value) for value in values if value is not None)
    numbers = [value for value in values if isinstance(value, int | float)]
    if not numbers:
        return False
    return same(_taken(question.take, numbers), question.value)


def _taken(take: str, numbers: Sequence[float]) -> float:
    match take:
        case "sum":
            return math.fsum(numbers)
        case "mean":
            return statistics.fmean(numbers)
        case "max":
            return max(numbers)
        case "count":
            return len(numbers)
    return numbers[0]


def true_values(questions: Sequence[EpsQuestion], eps: Path) -> list[bool]:
    """Return for each question if openpyxl finds its value at each place that answers it."""
    places = [(n, *place) for n, each in enumerate(questions) for place in each.places]
    right = [True] * len(questions)
    for book in sorted({sheet.partition("#")[0] for _, sheet, _ in places}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of parts that openpyxl leaves out
            opened = openpyxl.load_workbook(eps / book, data_only=True)
        for n, sheet, ranges in places:
            workbook, _, name = sheet.partition("#")
            if workbook == book:
                values = [opened[name].cell(*cell).value for cell in cells_of(ranges)]
                right[n] &= answered_by(questions[n], values)
        opened.close()
    return right
