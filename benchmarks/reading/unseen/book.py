"""Books, pages and tables: each call puts cells on a page and notes their truth."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import PurePath
from typing import Any

from benchmarks.reading.unseen.values import Cell, as_json, cell

Build = Callable[["Book"], None]


class Page:
    """One sheet: cells by row and column, merged areas, and the tables on it."""

    def __init__(self, name: str, row: int = 1, left: int = 1) -> None:
        self.name, self.row, self.left = name, row, left
        self.cells: dict[tuple[int, int], Cell] = {}
        self.merges: list[tuple[int, int, int, int]] = []
        self.tables: list[Table] = []
        self.free_lines: list[int] = []

    def put(self, values: Iterable[Any], bold: bool = False, left: int | None = None) -> int:
        """Write the values from the left of the next row; return that row."""
        row = self.row
        for column, value in enumerate(values, left or self.left):
            if value is not None:
                each = cell(value)
                dressed = Cell(each.written, each.truth, each.form, each.formula, bold)
                self.cells[row, column] = dressed if bold else each
        self.row += 1
        return row

    def text(self, *lines: str, bold: bool = False) -> None:
        """Write lines of text, each in a row of its own; an empty one is a blank row."""
        for line in lines:
            self.put([line or None], bold=bold)

    def form(self, *pairs: tuple[str, Any]) -> None:
        """Write lines of a label and a value, which may also be read as a table."""
        self.free_lines += [self.put(pair) for pair in pairs]

    def table(
        self,
        columns: Sequence[str],
        header: Sequence[Sequence[str | None]] = (),
        bold: bool = True,
        left: int | None = None,
    ) -> Table:
        """Begin a table with its header rows; without them the names are one row."""
        made = Table(self, list(columns), header, left or self.left)
        made.write_header(bold)
        self.tables.append(made)
        return made

    def truth(self) -> dict[str, Any]:
        """The truth of this sheet, without the file."""
        told: dict[str, Any] = {"tables": [table.truth() for table in self.tables]}
        return told | ({"free_lines": self.free_lines} if self.free_lines else {})


@dataclass
class Table:
    """A table that grows by rows: records, and rows that are none."""

    page: Page
    columns: list[str]
    header: Sequence[Sequence[str | None]]
    left: int
    records: list[list[Cell]] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    left_out: list[dict[str, Any]] = field(default_factory=list)
    sections: list[str] = field(default_factory=list)
    notes: dict[str, Any] = field(default_factory=dict)
    section_now: str = ""
    block: int = 0

    def write_header(self, bold: bool = True) -> list[int]:
        """Write the header rows at the next row."""
        return [self.page.put(row, bold, self.left) for row in self.header or [self.columns]]

    def __post_init__(self) -> None:
        """Note where the table begins."""
        self.top = self.bottom = self.page.row
        self.bottom += max(1, len(self.header)) - 1

    def add(self, *values: Any) -> int:
        """Write one record."""
        assert len(values) == len(self.columns), (self.columns, values)
        cells = [cell(value) for value in values]
        row = self.page.put(
            [each if each.written is not None else None for each in cells], left=self.left
        )
        self.records.append(cells)
        self.rows.append(row)
        self.sections.append(self.section_now)
        self.bottom = row
        return row

    def extend(self, records: Iterable[Iterable[Any]]) -> None:
        """Write several records."""
        for values in records:
            self.add(*values)

    def leave(self, values: Iterable[Any], reason: str, bold: bool = False) -> int:
        """Write a row that is no record."""
        row = self.page.put(values, bold, self.left)
        self.left_out.append({"row": row, "reason": reason})
        self.bottom = row
        return row

    def repeat(self, bold: bool = True) -> list[int]:
        """Write the header once more, as on the next printed page; return its rows."""
        rows = self.write_header(bold)
        self.left_out += [{"row": row, "reason": "repeated_header"} for row in rows]
        self.bottom = rows[-1]
        return rows

    def section(self, text: str, merged: bool = False, bold: bool = False) -> None:
        """Write a row with the name of the section that begins."""
        row = self.leave([text], "section", bold)
        if merged:
            self.page.merges.append((row, self.left, row, self.left + len(self.columns) - 1))
        self.section_now = text
        self.block = len(self.records)

    def gap(self, rows: int = 1) -> None:
        """Leave rows blank inside the table."""
        self.page.row += rows

    def values(self, column: int, whole: bool = False) -> list[float]:
        """The numbers of a column: of the block since the last subtotal, or of the whole table."""
        cells = [record[column] for record in self.records[0 if whole else self.block :]]
        return [each.truth for each in cells if isinstance(each.truth, int | float)]

    def merge_labels(self, *columns: int) -> None:
        """Merge equal labels of neighbouring rows; an inner one ends where an outer one does."""
        keyed = list(enumerate(self.rows))
        for depth, column in enumerate(columns):
            labels = partial(self._labels, columns=columns[: depth + 1])
            for _, group in groupby(keyed, labels):
                run = [row for _, row in group]
                if len(run) > 1:
                    self.merge_rows(run, column)

    def _labels(self, each: tuple[int, int], columns: Sequence[int]) -> tuple[Any, ...]:
        """The labels of a record, and its distance from its place so that gaps end a run."""
        place, row = each
        return (row - place, *(str(self.records[place][column].truth) for column in columns))

    def merge_rows(self, rows: list[int], column: int) -> None:
        """Merge the cells of neighbouring rows in a column; only the first keeps its value."""
        place = self.left + column
        self.page.merges.append((rows[0], place, rows[-1], place))
        for row in rows[1:]:
            self.page.cells.pop((row, place), None)

    def truth(self) -> dict[str, Any]:
        """The truth of this table."""
        right = self.left + len(self.columns) - 1
        told: dict[str, Any] = {
            "columns": self.columns,
            "records": [[as_json(each.truth) for each in record] for record in self.records],
            "rows": self.rows,
            "area": [self.top, self.left, self.bottom, right],
            "left_out": self.left_out,
        }
        if self.section_now:
            told["section_of_record"] = self.sections
        return told | self.notes


class Book:
    """One file with its sheets and its truth; its chance comes from its name alone."""

    def __init__(self, file: str, note: str, encoding: str = "", delimiter: str = "") -> None:
        self.file, self.note = file, note
        self.encoding, self.delimiter = encoding, delimiter
        self.pages: list[Page] = []
        self.rng = random.Random(file)

    @property
    def kind(self) -> str:
        """The kind, from the name of the file."""
        return self.file.split("_")[0]

    def page(self, name: str = "", row: int = 1, left: int = 1) -> Page:
        """Add a sheet; in csv it has the name of the file."""
        name = PurePath(self.file).stem if self.delimiter else name or "Sheet1"
        self.pages.append(Page(name, row, left))
        return self.pages[-1]

    def table(self, *columns: str, bold: bool = True) -> Table:
        """Add a sheet that begins with this table."""
        return self.page().table(columns, bold=bold)

    def truth(self) -> list[dict[str, Any]]:
        """The lines of the truth, one a sheet."""
        lines = []
        for page in self.pages:
            line = {"file": self.file, "sheet": page.name, "kind": self.kind, "note": self.note}
            if self.delimiter:
                line |= {"encoding": self.encoding, "delimiter": self.delimiter}
            lines.append(line | page.truth())
        return lines


class Examples:
    """The files of one module, each made by a function with its name and note."""

    def __init__(self) -> None:
        self.made: list[tuple[tuple[str, str, str, str], Build]] = []

    def xlsx(self, name: str, note: str) -> Callable[[Build], Build]:
        """Note a function that makes a workbook."""
        return self._noted((f"{name}.xlsx", note, "", ""))

    def csv(
        self, name: str, note: str, encoding: str = "utf-8", delimiter: str = ","
    ) -> Callable[[Build], Build]:
        """Note a function that makes a csv file."""
        return self._noted((f"{name}.csv", note, encoding, delimiter))

    def _noted(self, told: tuple[str, str, str, str]) -> Callable[[Build], Build]:
        """A decorator that keeps the function with what was told of its file."""

        def keep(build: Build) -> Build:
            self.made.append((told, build))
            return build

        return keep

    def books(self) -> list[Book]:
        """Make all books."""
        made = []
        for told, build in self.made:
            book = Book(*told)
            build(book)
            made.append(book)
        return made
