"""Calculate a sheet's pivot tables and their places."""

from __future__ import annotations

from dataclasses import dataclass

from sat_retriever.records.area import Area
from sat_retriever.synth.book.model import Value
from sat_retriever.synth.book.placed import Placed
from sat_retriever.synth.calculate.arithmetic import number, numbers_in
from sat_retriever.synth.calculate.evaluate import Values

LABELS, ALL = "Row Labels", "Grand Total"  # Excel's own labels


@dataclass(frozen=True, slots=True)
class PivotTable:
    """A pivot table as Excel shows it: names, sums, and the grand total.

    Attributes:
        source: The sheet that it summarizes.
        rows: Id of the column of names.
        numbers: Id of the column of numbers.
        items: Names in ascending order, each with its sum.
        area: Its cells, from its header to the grand total.
    """

    source: Placed
    rows: str
    numbers: str
    items: tuple[tuple[str | int | float, int | float], ...]
    area: Area

    @property
    def caption(self) -> str:
        """The header of the sums."""
        return f"Sum of {self.source.column(self.numbers).header}"

    @property
    def total(self) -> int | float:
        """The grand total."""
        return sum(value for _, value in self.items)

    def lines(self) -> list[tuple[str | int | float, str | int | float]]:
        """Return its cells, row by row."""
        return [(LABELS, self.caption), *self.items, (ALL, self.total)]


def pivot_tables(values: Values, at: Placed) -> tuple[PivotTable, ...]:
    """Return the pivot tables to the right of a sheet's own table, side by side.

    A source needs one row of distinct headers directly above its data: a pivot table of a sheet
    with a units row or equal headers is left out.

    Raises:
        ValueError: If the source is missing, or if a name is empty or a date.
    """
    found: list[PivotTable] = []
    left = at.place.right + 2
    for pivot in at.sheet.pivots:
        source = values.sheet(at, pivot.at)
        names, numbers = (values.values(source, x) for x in (pivot.rows, pivot.numbers))
        if not _can_be_source(source) or pivot.rows == pivot.numbers:
            continue
        items = _items(source, list(names), list(numbers))
        top = at.place.header_row
        area = Area(top, left, top + len(items) + 1, left + 1)
        found.append(PivotTable(source, pivot.rows, pivot.numbers, items, area))
        left += 3
    return tuple(found)


def _can_be_source(source: Placed) -> bool:
    headers = {column.header.strip().casefold() for column in source.sheet.columns}
    plain = len(headers) == len(source.sheet.columns) and "" not in headers
    return plain and bool(source.place.num_rows) and not source.place.units_row


def _items(
    source: Placed, names: list[Value], numbers: list[Value]
) -> tuple[tuple[str | int | float, int | float], ...]:
    sums: dict[str | int | float, int | float] = {}
    written: dict[str, str] = {}  # Excel ignores the letter case of names
    for name, value in zip(names, numbers, strict=True):
        if name in (None, "") or not isinstance(name, str | int | float):
            raise ValueError(f"{source}: a pivot table needs texts or numbers, not {name!r}")
        item = written.setdefault(name.casefold(), name) if isinstance(name, str) else name
        sums[item] = sums.get(item, 0) + sum(numbers_in([value]))
    return tuple(sorted(sums.items(), key=lambda item: _order(item[0])))


def _order(name: str | int | float) -> tuple[bool, float, str]:
    """Return a sort key: numbers before texts, both ascending."""
    text = isinstance(name, str)
    return text, 0.0 if text else float(number(name)), str(name).casefold()
