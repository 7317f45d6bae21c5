"""An answer in words, with the query, its rows and the cells that it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from sat_retriever.records.area import Area, column_letters
from sat_retriever.records.hits import Answer

ResultValue = str | int | float | bool | None
_RANGES = 12  # ranges of one citation


@dataclass(frozen=True, slots=True)
class QuerySource:
    """A table that a query read.

    Attributes:
        name: Its SQL name.
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
    """First and last of each run of consecutive numbers."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def has_values(rows: Iterable[Sequence[ResultValue]]) -> bool:
    """True if a cell has a value other than zero, which a count of no record is.

    >>> has_values([["Ada", 0]]), has_values([[0], [None]]), has_values([[False]])
    (True, False, True)
    """
    return any(
        isinstance(cell, bool) or cell not in (None, 0, "nan") for row in rows for cell in row
    )


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The rows that a query gave.

    Attributes:
        types: DuckDB's type of each column.
        rows: Dates and times are ISO text, lists and structures JSON text, and texts are cut to
            2,000 characters.
        sources: The tables that it read.
        complete: False if there are more rows than were asked for.
        note: Further information for the reader of the data.
        repeated: Tables of which records are added up more than once, as a join repeats them.
    """

    sql: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[ResultValue, ...], ...]
    sources: tuple[QuerySource, ...]
    complete: bool = True
    note: str = ""
    repeated: tuple[str, ...] = ()

    @property
    def citations(self) -> tuple[str, ...]:
        """Where the result comes from, one citation a table."""
        return tuple(source.citation for source in self.sources)

    @property
    def has_values(self) -> bool:
        """As `has_values` says of its rows."""
        return has_values(self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, as `sat sql --json` prints them."""
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


class AnswerKind(StrEnum):
    """Source of an answer."""

    SQL = "sql"
    """Rows of a query over the tables found."""
    TEXT = "text"
    """Text of the tables found."""
    NOTHING = "nothing"
    """No sheet was found; the language model was not asked."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A query that a language model wrote, and the error if it gave no rows."""

    sql: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class SheetAnswer:
    """An answer to a question about sheets.

    The citations come from the query and the sheets that were read, not from the language model,
    which only selects among the sheets it was shown.

    Attributes:
        text: The answer in words.
        hits: The sheets found.
        citations: Ranges of the tables that a query read. For an answer from text, the cells that
            hold what it says; without any, the tables that it names, or else all that were read.
        result: None for an answer from text.
        attempts: All queries, in the order in which they were tried.
        note: Further information for the reader.
    """

    question: str
    text: str
    kind: AnswerKind
    hits: Answer
    citations: tuple[str, ...] = ()
    result: QueryResult | None = None
    attempts: tuple[Attempt, ...] = ()
    note: str = ""

    @property
    def sql(self) -> str | None:
        """The query whose rows the answer tells; None for an answer from text."""
        return self.result.sql if self.result else None

    @property
    def sources(self) -> str:
        """The citations and the note, to be shown below the text; empty without both.

        A citation of an answer from text has the number by which the text names its sheet.

        >>> SheetAnswer("how much?", "5", AnswerKind.SQL, Answer(), ("a.csv#a!A1:B3",)).sources
        'From a.csv#a!A1:B3'
        """
        numbers = {hit.record.cited: f"[{place}] " for place, hit in enumerate(self.hits, start=1)}
        shown = numbers if self.kind is AnswerKind.TEXT else {}
        sheets = (each.rpartition("!")[0] or each for each in self.citations)
        cited = "; ".join(
            f"{shown.get(sheet, '')}{each}"
            for sheet, each in zip(sheets, self.citations, strict=True)
        )
        return "\n".join(line for line in (cited and f"From {cited}", self.note) if line)

    def __str__(self) -> str:
        return f"{self.text}\n\n{self.sources}" if self.sources else self.text

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, as `sat ask --json` prints them."""
        return {
            "question": self.question,
            "answer": self.text,
            "kind": self.kind.value,
            "citations": list(self.citations),
            "sql": self.sql,
            "result": self.result.to_dict() if self.result else None,
            "attempts": [asdict(each) for each in self.attempts],
            **self.hits.to_dict(),
            "note": self.note,
        }
