"""Answer of `query_tables`: rows with their citations, or the tables that can be asked."""

from __future__ import annotations

from dataclasses import dataclass

from sat_retriever.records.sheetanswer import QueryResult, ResultValue
from sat_retriever.tools.cells import cell_text, one_line
from sat_retriever.tools.fitting import fitting_result, result_line, schema_text
from sat_retriever.tools.results.result import ToolResult
from sat_retriever.tools.sql.query import TableQuery


@dataclass(frozen=True, slots=True)
class QueryAnswer(ToolResult):
    """Answer of `query_tables`.

    Attributes:
        sql: The query; empty if only the tables were asked for.
        tables: Names of the tables and of their columns.
        columns: Names of the first columns of the result.
        rows: The first rows of the result, with these columns.
        complete: True if these are all rows and columns.
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
        """Return the answer with as much as fits, or only the tables without a result."""
        if found is None:
            return cls("", schema_text(tables.tables, max_tokens))
        wide, long = fitting_result(found, max_tokens)
        rows = [
            tuple(cell_text(each) if isinstance(each, str) else each for each in row[:wide])
            for row in found.rows[:long]
        ]
        cut = wide < len(found.columns), long < len(found.rows)
        said = [found.note] if found.note else []
        said += (
            [f"Only the first {wide:,} columns fit here; name those you need."] if cut[0] else []
        )
        said += [f"Only the first {long:,} rows fit here."] if cut[1] else []
        return cls(
            found.sql,
            "",
            found.columns[:wide],
            tuple(rows),
            complete=found.complete and not any(cut),
            citations=found.citations,
            note=" ".join(said),
        )

    def __str__(self) -> str:
        if not self.sql:
            return self.tables
        rule = f"|{'---|' * len(self.columns)}"
        lines = [result_line(self.columns), rule, *map(result_line, self.rows)]
        if not self.rows:
            lines = ["The query gives no row."]
        cited = ", ".join(map(one_line, self.citations))
        lines += ["", f"From {cited}"] if cited else []
        lines += [self.note] if self.note else []
        return "\n".join(lines)
