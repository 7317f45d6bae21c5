"""Ask found tables in SQL: load them, run one SELECT, cite what it read."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from sat_retriever.errors import EmptyInputError, InputError, QueryError
from sat_retriever.records.sheetanswer import QueryResult, QuerySource
from sat_retriever.records.typedtable import TypedTable
from sat_retriever.tools.sql.ask import DEFAULT_LIMITS, QueryLimits, ask, too_much_memory
from sat_retriever.tools.sql.named import with_named
from sat_retriever.tools.sql.names import FIND_COLUMNS, SqlTable, sql_tables
from sat_retriever.tools.sql.whole import WHOLE_ROWS

MAX_TABLES = 20
_DURATIONS = "Reckon with seconds of durations, as in sum(epoch(x))."
_NO_COLUMN = re.compile(r'Referenced column "(?P<name>[^"]+)" (?:was )?not found', re.IGNORECASE)
_NO_COLUMN_OF = re.compile(r'does not have a column named "(?P<name>[^"]+)"', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TableQuery:
    """Some tables that can be asked in SQL.

    Args:
        tables: The tables under their SQL names.
        limits: Limits on one query.
        today: The day that `current_date` and `now()` give; None for the day of the query.
    """

    tables: tuple[SqlTable, ...]
    limits: QueryLimits = DEFAULT_LIMITS
    today: dt.date | None = None

    @classmethod
    def over(
        cls,
        tables: Sequence[TypedTable],
        limits: QueryLimits = DEFAULT_LIMITS,
        today: dt.date | None = None,
    ) -> TableQuery:
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
        return cls(tuple(sql_tables(tables)), limits, today)

    @property
    def schema(self) -> str:
        """Tables and their first columns, as many as the limits say, for a language model."""
        return "\n".join(table.schema(self.limits.columns) for table in self.tables)

    def run(self, sql: str) -> QueryResult:
        """Return the rows of one SELECT, with citations of what it read.

        A total or subtotal that is left out is a record if a condition names it, as `with_named`
        says; the note tells it.

        Args:
            sql: The statement, in DuckDB's dialect.

        Raises:
            EmptyInputError: If it is empty.
            QueryError: If it is refused, wrong or too expensive; the message helps to mend it.
            MissingExtraError: If the extra `[sql]` is not installed.
        """
        if not sql.strip():
            raise EmptyInputError("the SQL is empty; give one SELECT")
        now = dt.datetime.now()
        now = dt.datetime.combine(self.today or now.date(), now.time())
        answer = ask(sql, self.tables, self.limits, now)
        tables = with_named(self.tables, answer.get("compared", {}))
        if tables != self.tables:
            return replace(self, tables=tables).run(sql)
        if "refused" in answer:
            raise QueryError(f"{answer['refused']}.")
        if "beyond" in answer:
            raise QueryError(too_much_memory(self.limits))
        if "error" in answer:
            raise QueryError(self._mended(answer["error"]))
        columns = answer["columns"]
        return QueryResult(
            sql=sql,
            columns=tuple(name for name, _ in columns),
            types=tuple(kind for _, kind in columns),
            rows=tuple(map(tuple, answer["rows"])),
            sources=tuple(self._sources(answer)),
            complete=not answer["more"] and len(columns) == answer["width"],
            note=self._note(answer, now.date()),
        )

    def _sources(self, answer: Mapping[str, Any]) -> Iterator[QuerySource]:
        """Yield the tables that a query read, with the sheet rows behind each row if known."""
        by_name = {table.name: table.table for table in self.tables}
        for name in answer["used"]:
            table, places = by_name[name], ()
            if name in answer["located"]:
                at = answer["located"].index(name)
                places = tuple(row[at] for row in answer["places"])
            yield QuerySource(
                name, table.sheet_id, table.area, table.transposed, places, cited=table.cited
            )

    def _note(self, answer: Mapping[str, Any], day: dt.date) -> str:
        """Return what is not shown of an answer, the day that it depends on, the tables' notes."""
        width, shown = answer["width"], [name for name, _ in answer["columns"]]
        rows = len(answer["rows"])
        said = [f"Only the first {rows:,} rows are shown."] if answer["more"] else []
        if width > len(shown):
            said.append(
                f"Only the first {len(shown):,} of {width:,} columns are shown, up to "
                f"{shown[-1]}; name those that you need, or {FIND_COLUMNS}."
            )
        said += [f"current_date is {day.isoformat()} here."] if answer["dated"] else []
        said += [WHOLE_ROWS] if answer["whole"] else []
        used = [table.table for table in self.tables if table.name in answer["used"]]
        said += [f"{table.sheet_id}: {table.note}" for table in used if table.note]
        return " ".join(said)

    def _mended(self, said: str) -> str:
        """Return DuckDB's message with what helps to mend the query."""
        missing = _NO_COLUMN.search(said) or _NO_COLUMN_OF.search(said)
        listed = "; ".join(each.listed(self.limits.columns) for each in self.tables)
        if missing is None:
            hint = f" {_DURATIONS}" if "(INTERVAL)" in said else ""
            return f"{said}.{hint} Tables: {listed}."
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
