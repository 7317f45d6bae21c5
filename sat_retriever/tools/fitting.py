"""Cut the columns of tables and the result of a query to a number of tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sat_retriever.records.sheetanswer import QueryResult, ResultValue
from sat_retriever.records.typedtable import ColumnKind, DataValue
from sat_retriever.tools.cells import cell_text, estimated_tokens, markdown_row, shortened
from sat_retriever.tools.sql.names import SqlTable

_HEAD_TOKENS = 60  # that the first line of a table may always have
_RULE_TOKENS = 4  # for ---| below a name


def schema_text(tables: Sequence[SqlTable], most: int) -> str:
    """Return tables and their columns, as many as fit; what one leaves is for the next.

    Args:
        most: Largest number of tokens; two columns of each table are always there.
    """
    parts = []
    for place, table in enumerate(tables):
        parts.append(fitting_schema(table, most // (len(tables) - place)).text)
        most -= estimated_tokens(parts[-1])
    return "\n".join(parts)


@dataclass(frozen=True, slots=True)
class FittingSchema:
    """A table and those of its columns that fit.

    Attributes:
        columns: Places of the columns that fit.
        left: Tokens that are left.
    """

    text: str
    columns: tuple[int, ...]
    left: int


def fitting_schema(
    table: SqlTable, most: int, named: Mapping[int, Sequence[DataValue]] | None = None
) -> FittingSchema:
    """Return a table and its columns, as many as fit.

    The column of rows and the first one stay, then the named ones, then others from the left, empty
    ones last. The first line is cut if the rows that it names as left out take half of the room.

    Args:
        named: Places of the columns that a question names anything of, those that matter most
            first, and the values that it names.
    """
    own, columns = named or {}, table.table.columns
    rows = len(columns)
    lines = [*(table.line(at, own.get(at, ())) for at in range(rows)), table.lines[-1]]
    head = shortened(table.head, max(_HEAD_TOKENS, most // 2))
    most -= estimated_tokens(head)
    empty = {at for at, column in enumerate(columns) if column.kind is ColumnKind.EMPTY}
    fitting: list[int] = []
    ranks = {at: rank for rank, at in enumerate(own)}
    for place in sorted(
        range(len(lines)),
        key=lambda at: (at not in (0, rows), ranks.get(at, rows), at in empty, at),
    ):
        most -= estimated_tokens(lines[place])
        if most < 0 and len(fitting) > 1:
            break
        fitting.append(place)
    shown = tuple(sorted(fitting))
    return FittingSchema(
        table.described(shown, head, [lines[at] for at in shown]),
        tuple(at for at in shown if at < rows),
        most,
    )


def fitting_result(result: QueryResult, most: int) -> tuple[int, int]:
    """Return how many columns and rows of a result fit as a Markdown table, one each at least.

    Columns are left out until their names and the first row fit, then rows at the end.
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
