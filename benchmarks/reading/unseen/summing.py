"""Rows that sum up the records of a table, as values or as formulas with saved values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from xlsxwriter.utility import xl_col_to_name

from benchmarks.reading.unseen.book import Table
from benchmarks.reading.unseen.values import formula

Form = Callable[[float], Any]


def summed(values: Iterable[float]) -> float:
    """A sum without the noise of floats; whole numbers stay whole."""
    total = sum(values)
    return total if isinstance(total, int) else round(total, 4)


def total(
    table: Table,
    labels: Sequence[str | None],
    columns: Sequence[int],
    reason: str = "total",
    by: str = "",
    form: Form = lambda value: value,
    bold: bool = False,
) -> int:
    """Write a row of sums: a subtotal sums its block, a total the whole table.

    `by` is a formula with the range for `{}`; without it the sums are values. A total over rows
    with subtotals needs SUBTOTAL in both, which counts no row twice.
    """
    cells: list[Any] = [*labels, *[None] * (len(table.columns) - len(labels))]
    whole = reason == "total"
    rows = table.rows if whole else table.rows[table.block :]
    for column in columns:
        value = summed(table.values(column, whole))
        letter = xl_col_to_name(table.left + column - 1)
        text = f"={by.format(f'{letter}{rows[0]}:{letter}{rows[-1]}')}" if by else ""
        cells[column] = formula(text, value) if by else form(value)
    row = table.leave(cells, reason, bold)
    table.block = len(table.records)
    return row


def total_of_rows(
    table: Table, labels: Sequence[str | None], columns: Sequence[int], parts: Sequence[int]
) -> int:
    """Write a total that adds the cells of the subtotals."""
    cells: list[Any] = [*labels, *[None] * (len(table.columns) - len(labels))]
    for column in columns:
        letter = xl_col_to_name(table.left + column - 1)
        text = "=" + "+".join(f"{letter}{row}" for row in parts)
        cells[column] = formula(text, summed(table.values(column, whole=True)))
    return table.leave(cells, "total", bold=True)
