"""The rows of a query as a table on the terminal."""

from __future__ import annotations

from itertools import islice

from rich.table import Table

from sat_retriever.cli.terminal import grid, plain
from sat_retriever.records.queryresult import QueryResult


def result_table(found: QueryResult, most: int | None = None) -> Table:
    """Return the rows, or the first ones, under the names of their columns."""
    table = grid(*(plain(name).plain for name in found.columns))
    for row in islice(found.rows, most):
        table.add_row(*(plain("" if cell is None else cell) for cell in row))
    return table
