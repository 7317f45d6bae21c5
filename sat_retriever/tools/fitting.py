"""What of a table's columns and of a query's result fits in a number of tokens."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sat_retriever.records.queryresult import QueryResult, ResultValue
from sat_retriever.sql.names import SqlTable
from sat_retriever.tools.cells import cell_text, estimated_tokens, markdown_row

_RULE_TOKENS = 4  # for ---| below a name


def schema_text(tables: Sequence[SqlTable], most: int) -> str:
    """Return tables and their columns, as many as fit; what one leaves is for the next.

    Args:
        tables: The tables.
        most: Largest number of tokens; two columns of each table are always there.
    """
    parts = []
    for place, table in enumerate(tables):
        shown, _ = fitting_columns(table, most // (len(tables) - place))
        parts.append(table.described(shown))
        most -= estimated_tokens(parts[-1])
    return "\n".join(parts)


def fitting_columns(
    table: SqlTable, most: int, wanted: Collection[int] = ()
) -> tuple[list[int], int]:
    """Return places of a table's columns of which the lines fit, and the tokens left.

    The column of rows and the first one stay, then the wanted ones, then others from the left.

    Args:
        table: The table.
        most: Largest number of tokens.
        wanted: Sheet columns that are named before others.
    """
    lines = table.lines
    rows, left = len(lines) - 1, table.table.area.left
    most -= estimated_tokens(table.head)
    fitting: list[int] = []
    for place in sorted(
        range(len(lines)), key=lambda at: (at not in (0, rows), at + left not in wanted, at)
    ):
        most -= estimated_tokens(lines[place])
        if most < 0 and len(fitting) > 1:
            break
        fitting.append(place)
    return sorted(fitting), most


def fitting_result(result: QueryResult, most: int) -> tuple[int, int]:
    """Return how many columns and rows of a result fit as a Markdown table, one each at least.

    Columns are left out until their names and the first row fit, then rows at the end.

    Args:
        result: The result.
        most: Largest number of tokens.
    """
    first: Sequence[ResultValue] = result.rows[0] if result.rows else ()
    wide, left = 0, most
    for place, name in enumerate(result.columns):
        left -= _RULE_TOKENS + _tokens((name,)) + _tokens(first[place : place + 1])
        if wide and left < 0:
            break
        wide += 1
    left = most - _tokens(result.columns[:wide]) - wide * _RULE_TOKENS
    long = 0
    for row in result.rows:
        left -= _tokens(row[:wide])
        if long and left < 0:
            break
        long += 1
    return wide, long


def _tokens(cells: Sequence[ResultValue]) -> int:
    return estimated_tokens(result_line(cells)) if cells else 0


def result_line(cells: Sequence[ResultValue]) -> str:
    """Return a row of a result as a line of a Markdown table."""
    return markdown_row([cell_text(cell) for cell in cells])
