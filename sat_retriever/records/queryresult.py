"""The result of a SQL query over found tables, with its citations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sat_retriever.records.area import Area, column_letters

ResultValue = str | int | float | bool | None
_RANGES = 12  # ranges of one citation


@dataclass(frozen=True, slots=True)
class QuerySource:
    """A table that a query read.

    Attributes:
        name: Its SQL name.
        sheet_id: Its sheet.
        area: The table on its sheet.
        transposed: True if each record is a column of the sheet.
        places: Sheet row (column if transposed) of each row of the result, None where a row has
            none of this table; empty if the query hides them, as an aggregate does.
        cited: What a citation calls the sheet; its id if it is empty.
    """

    name: str
    sheet_id: str
    area: Area
    transposed: bool = False
    places: tuple[int | None, ...] = ()
    cited: str = ""

    @property
    def citation(self) -> str:
        """Where the result comes from: rows of the table if they are known, else all of it.

        >>> area = Area(1, 1, 9, 3)
        >>> QuerySource("q1", "a.xlsx#Q1", area, places=(4, 5, 8)).citation
        'a.xlsx#Q1!A4:C5,A8:C8'
        """
        sheet = self.cited or self.sheet_id
        known = sorted({place for place in self.places if place is not None})
        if not known:
            return f"{sheet}!{self.area.a1()}"
        runs = _runs(known)
        shown = ",".join(self._range(*run) for run in runs[:_RANGES])
        return f"{sheet}!{shown}{',…' if len(runs) > _RANGES else ''}"

    def _range(self, first: int, last: int) -> str:
        area = self.area
        if self.transposed:
            return f"{column_letters(first)}{area.top}:{column_letters(last)}{area.bottom}"
        return Area(first, area.left, last, area.right).a1()


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and last number of each run of consecutive numbers, ascending."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The rows that a query gave.

    Attributes:
        sql: The query.
        columns: Names of the result's columns.
        types: DuckDB's type of each.
        rows: The rows; dates and times are ISO text, lists and structures JSON text, and texts
            are cut to 2,000 characters.
        sources: The tables that it read.
        complete: False if there are more rows than were asked for.
        note: What a reader of the data must know; empty if there is nothing.
    """

    sql: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[ResultValue, ...], ...]
    sources: tuple[QuerySource, ...]
    complete: bool = True
    note: str = ""

    @property
    def citations(self) -> tuple[str, ...]:
        """Where the result comes from, one citation a table."""
        return tuple(source.citation for source in self.sources)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values, as `sat sql --json` prints it."""
        return {
            "sql": self.sql,
            "columns": list(self.columns),
            "types": list(self.types),
            "rows": [list(row) for row in self.rows],
            "complete": self.complete,
            "citations": list(self.citations),
            "sources": [
                {
                    "name": source.name,
                    "sheet_id": source.sheet_id,
                    "range": source.area.a1(),
                    "rows": list(source.places) or None,
                }
                for source in self.sources
            ],
            "note": self.note,
        }
