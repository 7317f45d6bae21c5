"""Readable SQL names of tables and columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sat_retriever.records.formats import without_extension
from sat_retriever.records.sheets import MAX_TOLD
from sat_retriever.records.typedtable import (
    ROW,
    ColumnKind,
    DataValue,
    TypedColumn,
    TypedTable,
    value_text,
)
from sat_retriever.workbook.typed import unique_names

RESERVED = frozenset(
    """
    all analyse analyze and anti any array as asc asof asymmetric at authorization binary both
    by case cast check collate collation column concurrently constraint create cross default
    deferrable desc describe distinct do else end except false fetch for foreign freeze from
    full glob group having ilike in initially inner intersect into is isnull join lambda lateral
    leading left like limit natural not notnull null offset on only or order outer overlaps
    pivot pivot_longer pivot_wider placing positional primary qualify references returning right
    select semi show similar some summarize symmetric table tablesample then to trailing true
    union unique unpack unpivot using variadic verbose when where window with
    """.split()
)
"""Words that DuckDB takes for the name of a column or a table only in quotation marks."""
_MOST = 60  # characters of a name
_MOST_TEXT = 40  # characters of a text that is one
_FEW = 6  # different texts of a column that are all shown
_OTHER = re.compile(r"\W+")
_HEADER = 200  # characters of a header
FIND_COLUMNS = "find others by a part of their names with SELECT COLUMNS('part') FROM t LIMIT 1"
_ROW_LINE = f"  {ROW} integer: row on the sheet"
_PLAIN = re.compile(r"(?i:sheet|tabelle|feuil|hoja|data|sheet ?name)?[\s_]*\d*")
"""Names of sheets that say nothing."""


@dataclass(frozen=True, slots=True)
class SqlTable:
    """A table under its SQL name."""

    name: str
    columns: tuple[str, ...]
    table: TypedTable

    @property
    def head(self) -> str:
        """The table's name, its number of rows and where it is."""
        rows = "1 row" if len(self.table) == 1 else f"{len(self.table):,} rows"
        note = f". {self.table.note}" if self.table.note else ""
        return f"{self.name}: {rows} of {self.table.citation}{note}{self._sums}"

    @property
    def _sums(self) -> str:
        """Names of the sums that are left out, so that a statement can ask for them."""
        named = list(dict.fromkeys(each.text for each in self.table.sums if each.text))
        if not named or self.table.whole is None:
            return ""
        more = ", …" if len(named) > MAX_TOLD else ""
        return f" A sum counts if WHERE names it: {', '.join(map(shown, named[:MAX_TOLD]))}{more}."

    @property
    def lines(self) -> tuple[str, ...]:
        """A line for each column as a language model reads it, the last one for that of rows."""
        return (*map(self.line, range(len(self.columns))), _ROW_LINE)

    def line(self, place: int, named: Sequence[DataValue] = ()) -> str:
        """Return the line of a column, with those of its values that a question names."""
        name, column = self.columns[place], self.table.columns[place]
        unit = f", in {column.unit}" if column.unit else ""
        header = "" if column.name == name else f": {_short(column.name, _HEADER)}"
        if column is self.table.section:
            header = f"{header}, the heading above the record"
        return f"  {name} {column.kind}{header}{unit}{_examples(column, named)}"

    def schema(self, most: int) -> str:
        """Return the table and its first columns as a language model reads them."""
        return self.described((*range(len(self.columns))[:most], len(self.columns)))

    def described(self, shown: Sequence[int], head: str = "", lines: Sequence[str] = ()) -> str:
        """Return the table and some of its columns as a language model reads them.

        Args:
            head: A shorter first line; empty for its own.
            lines: The lines of these columns; empty for their own.
        """
        own = lines or [self.lines[at] for at in shown]
        told = [head or self.head, *own]
        left = len(self.columns) + 1 - len(shown)
        told += [f"  and {left:,} more columns; {FIND_COLUMNS}"] if left else []
        return "\n".join(told)

    def listed(self, most: int) -> str:
        """Return the table and the names of its columns, at most some beside that of rows."""
        left = len(self.columns) - most
        more = [f"{left:,} more"] if left > 0 else []
        return f"{self.name}({', '.join([*self.columns[:most], *more, ROW])})"


def _short(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _examples(column: TypedColumn, named: Sequence[DataValue]) -> str:
    """Return the values of a column with few different texts, else those named or its first one."""
    known = [value for value in column.values if value is not None]
    if column.kind is ColumnKind.TEXT and len(known) > _FEW:
        different = list(dict.fromkeys(known))
        if len(different) <= _FEW:
            return f", one of {', '.join(map(_example, different))}"
    shown = named or known[:1]
    return f", e.g. {', '.join(map(_example, shown))}" if shown else ""


def _example(value: DataValue) -> str:
    if isinstance(value, float):
        return number_text(value)
    return str(value) if isinstance(value, bool | int) else shown(value_text(value) or "")


def number_text(value: float) -> str:
    """Return a number as a query may write it; one before the point keeps all its digits.

    >>> number_text(1234567.25), number_text(0.1 + 0.2)
    ('1234567.25', '0.3')
    """
    return f"{value:.6g}" if abs(value) < 1e6 else f"{value:.15g}"


def literal(text: str) -> str:
    """Return a text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def shown(text: str) -> str:
    r"""Return a text as a query compares with it: by a pattern if it is long or has odd blanks.

    >>> shown("Baker's pears"), shown("North\nEurope")
    ("'Baker''s pears'", "ILIKE 'North%Europe'")
    """
    words = "%".join(part for part in re.split(r"[^\S ]+| {2,}|^ | $", text) if part)
    cut = words[:_MOST_TEXT]
    if words == text == cut:
        return literal(text)
    odd = (
        "" if text.startswith(words[:1]) else "%",
        "" if words == cut and text.endswith(words[-1:]) else "%",
    )
    return f"ILIKE {literal(f'{odd[0]}{cut}{odd[1]}')}"


def sql_tables(tables: Sequence[TypedTable]) -> list[SqlTable]:
    """Return tables under different names: those of their sheets, else with their workbooks'."""
    alone = [sql_name(_sheet(table)) for table in tables]
    shared = {name for name, count in Counter(alone).items() if count > 1}
    names = unique_names(
        sql_name(_workbook(table), _sheet(table))
        if name in shared or _tells_nothing(table)
        else name
        for name, table in zip(alone, tables, strict=True)
    )
    return [
        # After ROW, so that no column has its name.
        SqlTable(name, tuple(unique_names([ROW, *map(sql_name, table.names)])[1:]), table)
        for name, table in zip(names, tables, strict=True)
    ]


def _sheet(table: TypedTable) -> str:
    return table.sheet_id.rpartition("#")[2]


def _workbook(table: TypedTable) -> str:
    return without_extension(table.sheet_id.rpartition("#")[0].rpartition("/")[2])


def _tells_nothing(table: TypedTable) -> bool:
    """True for a sheet such as Sheet1, unless its workbook has the same name."""
    return _workbook(table) != _sheet(table) and bool(_PLAIN.fullmatch(_sheet(table)))


def sql_name(*parts: str) -> str:
    """Return one name in small letters that needs no quotation marks.

    >>> sql_name("Price per piece (EUR)"), sql_name("Order"), sql_name("2024", "Q1"), sql_name("%")
    ('price_per_piece_eur', 'order_', 't_2024_q1', 'unnamed')
    """
    joined = "_".join(_OTHER.sub("_", part).strip("_") for part in parts)
    name = joined[:_MOST].strip("_").lower() or "unnamed"
    if name in RESERVED:
        return f"{name}_"
    return name if name[0].isalpha() or name[0] == "_" else f"t_{name}"
