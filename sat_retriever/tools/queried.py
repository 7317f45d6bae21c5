"""The tables of named sheets, ready to be asked in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from sat_retriever.errors import InputError, PathNotFoundError
from sat_retriever.index.index import SheetIndex
from sat_retriever.tools.naming import gone, named_sheet
from sat_retriever.tools.sql.ask import DEFAULT_LIMITS, QueryLimits
from sat_retriever.tools.sql.query import MAX_TABLES, TableQuery


def query_over(
    index: SheetIndex,
    names: Sequence[str],
    limits: QueryLimits = DEFAULT_LIMITS,
    today: date | None = None,
    *,
    totals: bool = False,
) -> TableQuery:
    """Return a query over the tables of some sheets, read anew from their files.

    Args:
        index: The index that knows the sheets.
        names: Sheets, each as `named_sheet` understands it. A citation with a range names the
            table in which the range begins, else the main table is meant.
        limits: Limits on one query.
        today: The day that `current_date` gives; None for the day of the query.
        totals: True to keep totals and subtotals among the records.

    Raises:
        EmptyInputError: If no sheet is named.
        InputError: If a sheet or table is unknown, its file is gone or cannot be read, or there
            are too many tables or cells.
    """
    if len(names) > MAX_TABLES:
        raise InputError(f"{len(names)} tables; give at most {MAX_TABLES}")
    tables = []
    for name in names:
        record, cited = named_sheet(index, name)
        try:
            tables.append(index.table(record.sheet_id, cited or 0, totals=totals))
        except PathNotFoundError as error:
            raise gone(record) from error
    return TableQuery.over(tables, limits, today)
