"""Ask found tables in SQL: load them, run one SELECT, cite what it read."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from sat_retriever.errors import EmptyInputError, InputError, PathNotFoundError, QueryError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.sheetanswer import QueryResult, QuerySource, has_values
from sat_retriever.records.typedtable import DataValue, TypedTable, value_text
from sat_retriever.system import check_wanted
from sat_retriever.tools.naming import gone, named_sheet
from sat_retriever.tools.sql.ask import DEFAULT_LIMITS, QueryLimits, ask, too_much_memory
from sat_retriever.tools.sql.check import WHOLE_ROWS, Compared
from sat_retriever.tools.sql.hints import mended, told_missing
from sat_retriever.tools.sql.names import FIND_COLUMNS, SqlTable, literal, shown, sql_tables

MAX_TABLES = 20
MAX_COMPARED = 50
"""Most texts of conditions on one table that are looked for."""


@dataclass(frozen=True, slots=True)
class TableQuery:
    """Some tables that can be asked in SQL.

    Args:
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
            raise QueryError(mended(answer["error"], self.tables, self.limits.columns))
        columns = answer["columns"]
        return QueryResult(
            sql=sql,
            columns=tuple(name for name, _ in columns),
            types=tuple(kind for _, kind in columns),
            rows=tuple(map(tuple, answer["rows"])),
            sources=tuple(self._sources(answer)),
            complete=not answer["more"] and len(columns) == answer["width"],
            note=self._note(answer, now.date()),
            repeated=tuple(answer.get("repeated", {})),
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
        """Return notes on an answer: what was cut, the day it depends on, the tables' notes."""
        width, names = answer["width"], [name for name, _ in answer["columns"]]
        rows = len(answer["rows"])
        said = [f"Only the first {rows:,} rows are shown."] if answer["more"] else []
        if width > len(names):
            said.append(
                f"Only the first {len(names):,} of {width:,} columns are shown, up to "
                f"{names[-1]}; name those that you need, or {FIND_COLUMNS}."
            )
        said += [f"current_date is {day.isoformat()} here."] if answer["dated"] else []
        said += [WHOLE_ROWS] if answer["whole"] else []
        said += [
            f"The join repeats records of {name}: it adds up {own:,} of them {each:,} times."
            for name, (own, each) in answer.get("repeated", {}).items()
        ]
        if not any(any(row) for row in answer["rows"]):
            said += self._other_case(answer.get("compared", {}))
        used = [table.table for table in self.tables if table.name in answer["used"]]
        said += [f"{table.sheet_id}: {table.note}" for table in used if table.note]
        if not has_values(answer["rows"]):
            compared = answer["compared"]
            missing = {
                each.name: [
                    (each.table.columns[place], condition)
                    for place, condition in _missed(each, compared.get(each.name, ()))
                ]
                for each in self.tables
            }
            said += [told_missing(missing)]
        return " ".join(filter(None, said))

    def _other_case(self, compared: Mapping[str, Sequence[Compared]]) -> Iterator[str]:
        """Yield a hint for each text of a condition that a column has in other case alone."""
        for table in self.tables:
            for name, text, pattern in compared.get(table.name, ())[:MAX_COMPARED]:
                if pattern or name not in table.columns:
                    continue
                values = table.table.columns[table.columns.index(name)].values
                same = {x for x in values if isinstance(x, str) and x.casefold() == text.casefold()}
                if same and text not in same:
                    others = ", ".join(map(shown, sorted(same)[:3]))
                    yield (
                        f"{name} has no {literal(text)}, but {others}: "
                        f"compare lower({name}), or by ILIKE."
                    )


def with_named(
    tables: Sequence[SqlTable], compared: Mapping[str, Sequence[Compared]]
) -> tuple[SqlTable, ...]:
    """Tables with those of their totals and subtotals that the conditions of a query name.

    "Gross profit" may be the sum of the lines above it, and a line that somebody asks for. A row
    counts if a column of it has a text that a condition compares with, and no record does; the
    note of the table then tells it as a sum. A table whose file cannot be read again stays as it
    is.
    """
    return tuple(_with_named(each, compared.get(each.name, ())) for each in tables)


def _with_named(table: SqlTable, compared: Sequence[Compared]) -> SqlTable:
    own = table.table
    if own.whole is None:
        return table
    missed = [
        (place, _condition(text, pattern)) for place, (_, text, pattern) in _missed(table, compared)
    ]
    if not missed:
        return table
    try:
        whole = own.whole()
    except InputError:
        return table
    sums = {each.row for each in own.sums}
    if whole.names != own.names or set(whole.places) != {*own.places, *sums}:
        return table  # the file has changed
    named = {
        row
        for place, meets in missed
        for row, value in zip(whole.places, whole.columns[place].values, strict=True)
        if row in sums and any(map(meets, _folded([value])))
    }
    return replace(table, table=_with_sums(own, whole, named)) if named else table


def _missed(table: SqlTable, compared: Sequence[Compared]) -> Iterator[tuple[int, Compared]]:
    """Yield the conditions that no record meets, each with the place of its column."""
    texts: dict[int, set[str]] = {}
    for name, text, pattern in compared[:MAX_COMPARED]:
        if name not in table.columns:
            continue
        place = table.columns.index(name)
        if place not in texts:
            texts[place] = _folded(table.table.columns[place].values)
        if not any(map(_condition(text, pattern), texts[place])):
            yield place, (name, text, pattern)


def _with_sums(own: TypedTable, whole: TypedTable, rows: Collection[int]) -> TypedTable:
    """The table with some of its sums among its records, from the table with all of them."""
    added = [each for each in own.sums if each.row in rows]
    kept = {*own.places, *rows}
    at = [number for number, place in enumerate(whole.places) if place in kept]
    return replace(
        whole,
        columns=tuple(column.at(at) for column in whole.columns),
        places=tuple(whole.places[number] for number in at),
        left_out=tuple(each for each in own.left_out if each not in added),
        doubtful=tuple(sorted({*own.doubtful, *added}, key=lambda each: each.row)),
    )


def _folded(values: Iterable[DataValue]) -> set[str]:
    """Values as texts that a condition may write, in small letters."""
    return {text.casefold() for value in values if (text := value_text(value))}


def _condition(text: str, pattern: bool) -> Callable[[str], bool]:
    """Whether a text is another one, or matches a pattern of LIKE; in letters of any case."""
    wanted = text.casefold()
    if not pattern:
        return wanted.__eq__
    first, *rest = (re.escape(part).replace("_", ".") for part in wanted.split("%"))
    inner = "".join(f"(?>.*?{part})" for part in rest[:-1])  # never tried again, so in linear time
    last = f".*{rest[-1]}" if rest else ""
    like = re.compile(f"{first}{inner}{last}", re.DOTALL)
    return lambda value: like.fullmatch(value) is not None


def query_over(
    index: SheetIndex,
    names: Sequence[str],
    limits: QueryLimits = DEFAULT_LIMITS,
    today: date | None = None,
    *,
    totals: bool = False,
    on_disk: bool = True,
) -> TableQuery:
    """Return a query over the tables of some sheets, read anew from their files.

    Args:
        names: Sheets, each as `named_sheet` understands it. A citation with a range names the
            table in which the range begins, else the main table is meant.
        today: The day that `current_date` gives; None for the day of the query.
        on_disk: As in `named_sheet`.

    Raises:
        EmptyInputError: If no sheet is named.
        InputError: If a sheet or table is unknown, its file is gone or cannot be read, or there
            are too many tables or cells.
    """
    if len(names) > MAX_TABLES:
        raise InputError(f"{len(names)} tables; give at most {MAX_TABLES}")
    tables = []
    for name in names:
        check_wanted()
        record, cited = named_sheet(index, name, on_disk=on_disk)
        try:
            tables.append(index.table(record.sheet_id, cited or 0, totals=totals))
        except PathNotFoundError as error:
            raise gone(record) from error
    return TableQuery.over(tables, limits, today)
