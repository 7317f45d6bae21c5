"""Take the tables of made workbooks from their model: headers, records, units, keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from sat_retriever.records.area import Area, area_of, column_letters
from sat_retriever.records.sheets import Column as ReadColumn
from sat_retriever.records.typedtable import column_name
from sat_retriever.synth.book.model import Column, Lookup, Sheet, Style, Value
from sat_retriever.synth.calculate.compile import CompiledBook, CompiledSheet, PivotTable
from sat_retriever.synth.calculate.evaluate import RECIPES
from sat_retriever.synth.categories.financial import STATEMENTS
from sat_retriever.synth.truth.records import stored, true_records
from sat_retriever.synth.words.vocabulary import Vocabulary
from sat_retriever.text.period.periods import Grain, SheetPeriod
from sat_retriever.text.period.spans import MONTHS
from sat_retriever.workbook.typed import unique_names

ColumnSort = Literal["number", "date", "text", "mixed", "empty"]


@dataclass(frozen=True, slots=True)
class ToldColumn:
    """A column as its workbook's model has it.

    Attributes:
        header: Its header, as the record of its sheet has it, made unique in the table.
        unit: Unit that its header, its cells or the units row write; empty for none.
        lines: True if some of its cells are typed in and others calculated, as in a statement whose
            lines are sums of other lines.
        lookups: (path, tab, column id of the key, column id that it is looked up in) of the
            lookups in its cells.
    """

    id: str
    header: str
    spoken: str
    letters: str
    values: tuple[Value, ...]
    style: Style = "text"
    unit: str = ""
    key: str = ""
    lines: bool = False
    lookups: tuple[tuple[str, str, str, str], ...] = ()

    @property
    def filled(self) -> tuple[Value, ...]:
        """Its values without empty cells."""
        return tuple(value for value in self.values if value is not None)

    @property
    def sort(self) -> ColumnSort:
        """The type of all its values."""
        sorts = {_sort(value) for value in self.filled}
        return "mixed" if len(sorts) > 1 else next(iter(sorts), "empty")


@dataclass(frozen=True, slots=True)
class ToldTable:
    """A table as its workbook's model has it: records that are not empty, without totals.

    Attributes:
        area: Its cells, from the headers to the last record or totals row.
        tab: Its sheet and workbook in a question, by their names.
        own: True for the sheet's own table, False for a pivot table beside it.
        statement: True if some of its records sum up others, which a reader leaves out.
    """

    sheet_id: str
    area: Area
    subject: str
    tab: str
    columns: tuple[ToldColumn, ...]
    rows: tuple[int, ...]
    period: SheetPeriod | None = None
    own: bool = True
    statement: bool = False

    @property
    def cited(self) -> str:
        """The name under which it is loaded: the sheet's id, or a citation of a further table."""
        return self.sheet_id if self.own else f"{self.sheet_id}!{self.area.a1()}"

    def column(self, column_id: str) -> ToldColumn | None:
        """Return the column of an id; None if there is none."""
        return next((column for column in self.columns if column.id == column_id), None)


def told_tables(books: Iterable[CompiledBook], words: Vocabulary) -> list[ToldTable]:
    """Return the tables with records of a unit's books; shared subjects get the sheet's name."""
    found = [table for book in books for table in _tables(book, words)]
    shared = Counter(table.subject for table in found)
    return [
        replace(table, subject=f"{table.subject} ({table.tab})")
        if shared[table.subject] > 1 and table.subject != table.tab
        else table
        for table in found
    ]


def spoken_period(period: SheetPeriod) -> str:
    """Return a period in words.

    >>> spoken_period(SheetPeriod("", Grain.MONTH, 2024, 7, "2024-07"))
    'July 2024'
    """
    if period.grain is Grain.MONTH:
        return f"{MONTHS[period.part]} {period.year}"
    return f"Q{period.part} {period.year}" if period.grain is Grain.QUARTER else period.label


def spoken_name(header: str) -> str:
    """Return a header in small letters; words in capitals stay.

    >>> spoken_name("Customer ID"), spoken_name("Unit Price")
    ('customer ID', 'unit price')
    """
    return " ".join(word if word[1:].isupper() else word.lower() for word in header.split())


def _tables(book: CompiledBook, words: Vocabulary) -> Iterator[ToldTable]:
    for sheet, record in zip(book.sheets, true_records(book), strict=True):
        if not sheet.at.place.width:
            continue
        subject, tab = _subject(sheet.at.sheet, record.workbook)
        period = sheet.at.sheet.facts.period if sheet.at.sheet.facts else None
        area = area_of(record.tables[0].range)
        assert area is not None
        own = ToldTable(record.sheet_id, area, subject, tab, (), (), period)
        kind = _category_and_kind(sheet.at.sheet)[1]
        whole = replace(own, statement=kind in STATEMENTS)
        yield from _filled(whole, _columns(sheet, record.columns, words), sheet.at.place.first_row)
        for pivot in sheet.pivots:
            beside = replace(
                own, area=pivot.area, subject=f"the pivot table on {subject}", own=False
            )
            yield from _filled(beside, _pivot_columns(pivot), pivot.area.top + 1)


def _filled(table: ToldTable, columns: Sequence[ToldColumn], first: int) -> Iterator[ToldTable]:
    count = len(columns[0].values)
    kept = [row for row in range(count) if any(c.values[row] is not None for c in columns)]
    cut = (replace(each, values=tuple(each.values[row] for row in kept)) for each in columns)
    if kept:
        yield replace(table, columns=tuple(cut), rows=tuple(first + row for row in kept))


def _columns(
    sheet: CompiledSheet, read: Sequence[ReadColumn], words: Vocabulary
) -> list[ToldColumn]:
    left = sheet.at.place.left
    headers = unique_names(
        each.name or column_name(left + at, transposed=False) for at, each in enumerate(read)
    )
    names = [_name(column, sheet.at.sheet, words) for column in sheet.at.sheet.columns]
    counts = Counter(names)
    return [
        ToldColumn(
            id=column.id,
            header=header,
            spoken=name if counts[name] == 1 else header,
            letters=column_letters(left + at),
            values=column.numbers or tuple(None if v == "" else v for v in stored(cells)),
            style=column.style,
            unit=column.measure or column.unit or _headed(column, header, words),
            key=column.key,
            lines=len({isinstance(cell, RECIPES) for cell in column.cells if cell is not None}) > 1,
            lookups=_lookups(column, sheet.at.book.path),
        )
        for at, (column, cells, header, name) in enumerate(
            zip(sheet.at.sheet.columns, sheet.columns, headers, names, strict=True)
        )
    ]


def _lookups(column: Column, path: str) -> tuple[tuple[str, str, str, str], ...]:
    found = (
        (cell.at.book or path, cell.at.sheet, cell.key, cell.match)
        for cell in column.cells
        if isinstance(cell, Lookup)
    )
    return tuple(dict.fromkeys(found))


def _pivot_columns(pivot: PivotTable) -> list[ToldColumn]:
    names, sums = zip(*pivot.items, strict=True) if pivot.items else ((), ())
    left = pivot.area.left
    label, caption = "Row Labels", pivot.caption
    return [
        ToldColumn("labels", label, spoken_name(label), column_letters(left), names),
        ToldColumn("sums", caption, caption, column_letters(left + 1), sums, "amount"),
    ]


def _name(column: Column, sheet: Sheet, words: Vocabulary) -> str:
    """Return a column's name in a question, without unit: its first variant, or its own."""
    category, kind = _category_and_kind(sheet)
    known = words.categories.get(category)
    headers = known.kinds[kind].columns.get(column.id) if known and kind in known.kinds else None
    return spoken_name(headers[0] if headers else column.header.removesuffix(_unit(column)))


def _category_and_kind(sheet: Sheet) -> tuple[str, str]:
    category, kind = (sheet.facts.schema.split("/") if sheet.facts else ("", ""))[:2]
    return category, kind


def _headed(column: Column, header: str, words: Vocabulary) -> str:
    """Return the unit in brackets at the end of a header, if the words have it as a unit.

    Cells in percent have none: a cell that shows 20 % holds 0.2.
    """
    inside = header.rpartition("(")[2].removesuffix(")") if header.endswith(")") else ""
    kinds = (kind for each in words.categories.values() for kind in each.kinds.values())
    known = {unit.strip("()") for kind in kinds for unit in kind.units.values()}
    return inside if inside in known and column.style != "percent" else ""


def _unit(column: Column) -> str:
    return f"({column.measure})" if column.measure else ""


def _subject(sheet: Sheet, workbook: str) -> tuple[str, str]:
    tab = f'the sheet "{sheet.name}" of {workbook}'
    facts = sheet.facts
    if facts is None:
        return tab, tab
    owner = f" of {facts.entity}" if facts.entity else ""
    when = f" for {spoken_period(facts.period)}" if facts.period else ""
    return f"the {facts.kind} sheet{owner}{when}", tab


def _sort(value: Value) -> ColumnSort:
    if isinstance(value, bool):
        return "mixed"
    if isinstance(value, str):
        return "text"
    return "date" if isinstance(value, date) else "number"
