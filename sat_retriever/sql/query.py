"""Ask found tables in SQL: load them, run one SELECT, cite what it read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from sat_retriever.errors import EmptyInputError, InputError, QueryError
from sat_retriever.records.queryresult import QueryResult, QuerySource
from sat_retriever.records.typedtable import ROW, TypedTable
from sat_retriever.sql.ask import DEFAULT_LIMITS, QueryLimits, ask, too_much_memory
from sat_retriever.sql.names import SqlTable, sql_tables

MAX_TABLES = 20
_NO_COLUMN = re.compile(r'Referenced column "(?P<name>[^"]+)" (?:was )?not found', re.IGNORECASE)
_NO_COLUMN_OF = re.compile(r'does not have a column named "(?P<name>[^"]+)"', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TableQuery:
    """Some tables that can be asked in SQL.

    Args:
        tables: The tables under their SQL names.
        limits: Limits on one query.
    """

    tables: tuple[SqlTable, ...]
    limits: QueryLimits = DEFAULT_LIMITS

    @classmethod
    def over(cls, tables: Sequence[TypedTable], limits: QueryLimits = DEFAULT_LIMITS) -> TableQuery:
        """Return a query over tables, each under a name made of its sheet's.

        Raises:
            EmptyInputError: If there is no table.
            InputError: If there are more than 20, or they have too many cells together.
        """
        if not tables:
            raise EmptyInputError("there is no table to query; name one or more sheets")
        if len(tables) > MAX_TABLES:
            raise InputError(f"{len(tables)} tables; give at most {MAX_TABLES}")
        cells = sum(len(table) * len(table.columns) for table in tables)
        if cells > limits.cells:
            raise InputError(
                f"the tables have {cells:,} cells together; give tables of at most {limits.cells:,}"
            )
        return cls(tuple(sql_tables(tables)), limits)

    @property
    def schema(self) -> str:
        """Tables and columns as a language model reads them."""
        return "\n".join(table.schema for table in self.tables)

    def run(self, sql: str) -> QueryResult:
        """Return the rows of one SELECT, with citations of what it read.

        Args:
            sql: The statement, in DuckDB's dialect.

        Raises:
            EmptyInputError: If it is empty.
            QueryError: If it is refused, wrong or too expensive; the message helps to mend it.
            MissingExtraError: If the extra `[sql]` is not installed.
        """
        if not sql.strip():
            raise EmptyInputError("the SQL is empty; give one SELECT")
        answer = ask(sql, self.tables, self.limits)
        if "refused" in answer:
            raise QueryError(f"{answer['refused']}.")
        if "beyond" in answer:
            raise QueryError(too_much_memory(self.limits))
        if "error" in answer:
            raise QueryError(self._mended(answer["error"]))
        by_name = {table.name: table.table for table in self.tables}
        located = list(answer["located"])
        once = {name for name in located if located.count(name) == 1}
        sources = []
        for name in answer["used"]:
            table = by_name[name]
            source = QuerySource(
                name, table.sheet_id, table.area, table.transposed, cited=table.cited
            )
            if name in once:
                at = located.index(name)
                source = replace(source, places=tuple(row[at] for row in answer["places"]))
            sources.append(source)
        columns = answer["columns"]
        return QueryResult(
            sql=sql,
            columns=tuple(name for name, _ in columns),
            types=tuple(kind for _, kind in columns),
            rows=tuple(map(tuple, answer["rows"])),
            sources=tuple(sources),
            complete=not answer["more"],
            note=self._note([by_name[name] for name in answer["used"]], more=answer["more"]),
        )

    def _note(self, used: Sequence[TypedTable], *, more: bool) -> str:
        said = [f"Only the first {self.limits.rows:,} rows are shown."] if more else []
        said += [f"{table.sheet_id}: {table.note}" for table in used if table.note]
        return " ".join(said)

    def _mended(self, said: str) -> str:
        """Return DuckDB's message with what helps to mend the query."""
        missing = _NO_COLUMN.search(said) or _NO_COLUMN_OF.search(said)
        listed = "; ".join(f"{each.name}({', '.join(each.columns)}, {ROW})" for each in self.tables)
        if missing is None:
            return f"{said}. Tables: {listed}."
        name = missing["name"]
        known = {column for table in self.tables for column in table.columns}
        headers = {
            column.name.casefold(): own
            for table in self.tables
            for own, column in zip(table.columns, table.table.columns, strict=True)
        }
        near = headers.get(name.casefold()) or next(
            iter(get_close_matches(name.casefold(), sorted(known), n=1)), None
        )
        hint = f"; did you mean {near}?" if near else "."
        return f"There is no column {name!r}{hint} Tables: {listed}."
