"""The data of a table with typed columns: as rows, for pandas, for Arrow."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sat_retriever._extras import require
from sat_retriever.records.area import Area, column_letters
from sat_retriever.records.sheets import SUMS, LeftOut, LeftOutReason, left_out_note

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

DataValue = str | int | float | bool | dt.date | dt.datetime | dt.time | dt.timedelta | None
ROW = "_row"
"""Name of the column of sheet rows, beside those of a table."""
_INT64 = 1 << 63
_WORD, _WORDS = 40, 5
"""Characters and number of the texts of a column that a note shows."""


class ColumnKind(StrEnum):
    """Type of all values of a column."""

    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    DATETIME = "datetime"
    TIME = "time"
    DURATION = "duration"
    TEXT = "text"
    MIXED = "mixed"
    """Values of several types."""
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class TypedColumn:
    """One column of a table.

    Attributes:
        name: Its header, made unique in the table; `column_B` where the sheet has none.
        values: One value a record; None for an empty cell, an error such as `#DIV/0!`, and a text
            that marks a missing value in a column of numbers or dates.
        unit: Unit of its numbers, as the cells, their formats, a row of units or the header write
            it; `fraction (1 = 100%)` where cells that hold 0.07 show 7%.
        stored: The values as the cells hold them, if some were read otherwise: numbers, units
            and dates in texts, errors, marks of missing values. None if they are the same.
        errors: Number of cells with an error.
        words: Texts among numbers or dates that are read as empty, and the number of cells.
    """

    name: str
    kind: ColumnKind
    values: Sequence[DataValue]
    unit: str | None = None
    stored: Sequence[DataValue] | None = None
    errors: int = 0
    words: tuple[tuple[str, int], ...] = ()

    def at(self, places: Sequence[int]) -> TypedColumn:
        """The column with some of its values, by their number from 0."""
        values = [self.values[place] for place in places]
        stored = None if self.stored is None else [self.stored[place] for place in places]
        return replace(self, values=values, stored=stored)

    @property
    def whole(self) -> bool:
        """True if it holds whole numbers that fit in 64 bits, and no others."""
        return self.kind is ColumnKind.NUMBER and all(
            value is None or (isinstance(value, int) and -_INT64 <= value < _INT64)
            for value in self.values
        )


@dataclass(frozen=True, slots=True)
class TypedTable:
    """The data of a table: its records, without headers, units and totals.

    If headings stand between the records, the last column, `Section`, holds the one above each.

    Attributes:
        area: The table on its sheet, header and totals included.
        columns: Left to right (top to bottom if transposed), then that of headings.
        places: Sheet row of each record, ascending; sheet column if transposed.
        transposed: True if each record is a column of the sheet.
        left_out: Rows below the header that are no records, and why; `totals=True` keeps totals.
        doubtful: Rows that look like totals but do not add up: records, unless left out, too.
        unsaved: Number of empty cells with a formula whose value the file does not hold.
        repeated: Number of cells that a merged label covers, and whose value is that label.
        complete: False if the table was too large to be read to its end.
        changed: True if the file is not as it was indexed.
        cited: What a citation calls the sheet; its id if it is empty.
        whole: Reads the table again with its totals among the records; None if it leaves none out.
    """

    sheet_id: str
    area: Area
    columns: tuple[TypedColumn, ...]
    places: tuple[int, ...]
    transposed: bool = False
    left_out: tuple[LeftOut, ...] = ()
    doubtful: tuple[LeftOut, ...] = ()
    unsaved: int = 0
    repeated: int = 0
    complete: bool = True
    changed: bool = False
    cited: str = ""
    whole: Callable[[], TypedTable] | None = field(default=None, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.places)

    @property
    def names(self) -> tuple[str, ...]:
        """Those of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def section(self) -> TypedColumn | None:
        """The column of headings, which the sheet does not have; None without headings."""
        headed = any(each.reason is LeftOutReason.SECTION for each in self.left_out)
        return self.columns[-1] if headed else None

    @property
    def citation(self) -> str:
        """Where the table is: the sheet, as `SheetRecord.cited`, and its range."""
        return f"{self._sheet}!{self.area.a1()}"

    @property
    def _sheet(self) -> str:
        return self.cited or self.sheet_id

    @property
    def note(self) -> str:
        """Warnings for the reader of the data; empty without any."""
        errors = sum(column.errors for column in self.columns)
        record = "column" if self.transposed else "row"
        said = (
            (self.changed, "The file has changed since it was indexed; this is what it holds now."),
            (not self.complete, f"The table is too large; {record}s at its end are missing."),
            (self.left_out or self.doubtful, left_out_note(self.left_out, self.doubtful)),
            (
                self.unsaved,
                f"Empty cells whose formula has no saved value: {self.unsaved:,}.",
            ),
            (errors, f"Cells with an error, read as empty: {errors:,}."),
            *((column.words, _told_words(column)) for column in self.columns),
        )
        return " ".join(text for holds, text in said if holds)

    @property
    def sums(self) -> tuple[LeftOut, ...]:
        """The totals and subtotals that are left out."""
        return tuple(each for each in self.left_out if each.reason in SUMS)

    def cite(self, places: Sequence[int]) -> str:
        """The citation of records from the first to the last of some places, at least one."""
        first, last, area = min(places), max(places), self.area
        if self.transposed:
            return f"{self._sheet}!{Area(area.top, first, area.bottom, last).a1()}"
        return f"{self._sheet}!{Area(first, area.left, last, area.right).a1()}"

    def rows(self) -> Iterator[tuple[DataValue, ...]]:
        """Yield the records, one value a column."""
        yield from zip(*(column.values for column in self.columns), strict=True)

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame; its index, named `_row`, has the sheet rows.

        Numbers, booleans and texts have pandas' types that know missing values. Dates and moments
        are `datetime64`, durations `timedelta64`. `attrs` has the units of columns, and any note.

        Raises:
            MissingExtraError: If pandas is not installed.
        """
        pandas = require("pandas", "pandas")
        index = pandas.Index(self.places, name=ROW, dtype="int64")
        found = {
            column.name: pandas.Series(list(column.values), index=index, dtype=_pandas_type(column))
            for column in self.columns
        }
        frame = pandas.DataFrame(found, index=index)
        frame.attrs["units"] = {each.name: each.unit for each in self.columns if each.unit}
        if self.note:
            frame.attrs["note"] = self.note
        return frame

    def to_arrow(self) -> pa.Table:
        """An Arrow table; its first column, `_row`, has the sheet rows.

        The metadata of a field names its kind and unit, that of the schema has the note. Values of
        a mixed column are text.

        Raises:
            MissingExtraError: If pyarrow is not installed.
        """
        arrow = require("pyarrow", "arrow")
        arrays = [arrow.array(self.places, arrow.int64())]
        fields = [arrow.field(ROW, arrow.int64(), nullable=False)]
        for column in self.columns:
            type_ = _arrow_type(arrow, column)
            told = {"kind": column.kind.value} | ({"unit": column.unit} if column.unit else {})
            fields.append(arrow.field(column.name, type_, metadata=told))
            arrays.append(arrow.array(_arrow_values(column), type_))
        noted = {"note": self.note} if self.note else None
        return arrow.Table.from_arrays(arrays, schema=arrow.schema(fields, metadata=noted))


def column_name(line: int, *, transposed: bool) -> str:
    """The name of a column without a header, by its sheet column (row if transposed).

    >>> column_name(2, transposed=False), column_name(2, transposed=True)
    ('column_B', 'row_2')
    """
    return f"row_{line}" if transposed else f"column_{column_letters(line)}"


def value_text(value: DataValue) -> str | None:
    """A value of a mixed column as text, independent of the locale; None stays None.

    >>> value_text(2.5), value_text(True), value_text(dt.datetime(2024, 1, 2))
    ('2.5', 'true', '2024-01-02')
    """
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case dt.datetime():
            midnight = value.time() == dt.time()
            return value.date().isoformat() if midnight else value.isoformat(" ")
        case dt.date() | dt.time():
            return value.isoformat()
    return str(value)


def _told_words(column: TypedColumn) -> str:
    """Tell what was read as empty.

    >>> _told_words(TypedColumn("Price", ColumnKind.NUMBER, (), words=(("closed", 2), ("-", 1))))
    "Texts in 'Price', read as empty: 'closed' (2 cells), '-'."
    """
    shown = [
        f"{text[:_WORD]!r}" + (f" ({count:,} cells)" if count > 1 else "")
        for text, count in column.words[:_WORDS]
    ]
    more = sum(count for _, count in column.words[_WORDS:])
    rest = [f"{more:,} more cells"] if more else []
    return f"Texts in {column.name!r}, read as empty: {', '.join((*shown, *rest))}."


def _arrow_values(column: TypedColumn) -> Sequence[DataValue]:
    if column.kind is ColumnKind.MIXED:
        return [value_text(value) for value in column.values]
    if column.kind is ColumnKind.NUMBER and not column.whole:  # Arrow refuses 10**20 as a float
        return [float(value) if isinstance(value, int) else value for value in column.values]
    return column.values


def _pandas_type(column: TypedColumn) -> Any:
    if column.whole:
        return "Int64"
    return {
        ColumnKind.NUMBER: "Float64", ColumnKind.BOOLEAN: "boolean", ColumnKind.TEXT: "string",
        ColumnKind.DATE: "datetime64[us]", ColumnKind.DATETIME: "datetime64[us]",
        ColumnKind.DURATION: "timedelta64[us]",
    }.get(column.kind, "object")  # fmt: skip


def _arrow_type(arrow: Any, column: TypedColumn) -> Any:
    if column.whole:
        return arrow.int64()
    return {
        ColumnKind.NUMBER: arrow.float64(), ColumnKind.BOOLEAN: arrow.bool_(),
        ColumnKind.DATE: arrow.date32(), ColumnKind.DATETIME: arrow.timestamp("us"),
        ColumnKind.TIME: arrow.time64("us"), ColumnKind.DURATION: arrow.duration("us"),
        ColumnKind.EMPTY: arrow.null(),
    }.get(column.kind, arrow.string())  # fmt: skip
