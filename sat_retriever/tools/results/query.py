"""Answer of `query_tables`: rows with their citations, or the tables that can be asked."""

from __future__ import annotations

from dataclasses import dataclass

from sat_retriever.records.queryresult import QueryResult, ResultValue
from sat_retriever.sql.query import TableQuery
from sat_retriever.tools.cells import cell_text, estimated_tokens, markdown_row, one_line
from sat_retriever.tools.results.result import ToolResult


@dataclass(frozen=True, slots=True)
class QueryAnswer(ToolResult):
    """Answer of `query_tables`.

    Attributes:
        sql: The query; empty if only the tables were asked for.
        tables: Names of the tables and of their columns.
        columns: Names of the result's columns.
        rows: The first rows of the result.
        complete: True if these are all rows.
        citations: Where the result comes from, one citation a table.
        note: Further information for the reader; empty if there is none.
    """

    sql: str
    tables: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[ResultValue, ...], ...] = ()
    complete: bool = True
    citations: tuple[str, ...] = ()
    note: str = ""

    @classmethod
    def of(cls, tables: TableQuery, found: QueryResult | None, max_tokens: int) -> QueryAnswer:
        """Return the answer with as many rows as fit, or only the tables without a result."""
        if found is None:
            return cls("", tables.schema)
        left = max_tokens - estimated_tokens(_line(found.columns))
        rows: list[tuple[ResultValue, ...]] = []
        for row in found.rows:
            left -= estimated_tokens(_line(row))
            if rows and left < 0:
                break
            rows.append(tuple(cell_text(each) if isinstance(each, str) else each for each in row))
        cut = len(rows) < len(found.rows)
        note = f"{found.note} Only the first {len(rows):,} rows fit here." if cut else found.note
        return cls(
            found.sql,
            "",
            found.columns,
            tuple(rows),
            complete=found.complete and not cut,
            citations=found.citations,
            note=note.strip(),
        )

    def __str__(self) -> str:
        if not self.sql:
            return self.tables
        lines = [_line(self.columns), f"|{'---|' * len(self.columns)}", *map(_line, self.rows)]
        if not self.rows:
            lines = ["The query gives no row."]
        cited = ", ".join(map(one_line, self.citations))
        lines += ["", f"From {cited}"] if cited else []
        lines += [self.note] if self.note else []
        return "\n".join(lines)


def _line(cells: tuple[ResultValue, ...]) -> str:
    return markdown_row([cell_text(cell) for cell in cells])
