"""Calculate the values of recipes as a spreadsheet program would."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from sat_retriever.synth.book.model import (
    Book,
    Column,
    Combine,
    Function,
    Lookup,
    Number,
    Own,
    Recipe,
    SheetAt,
    Take,
    Through,
    Total,
    TotalWhere,
    Value,
)
from sat_retriever.synth.book.placed import Placed, placed
from sat_retriever.synth.calculate.arithmetic import (
    combined,
    criterion_key,
    match_key,
    numbers_in,
    pattern_of,
    reduced,
    styled,
)

RECIPES = (Own, Number, Combine, Take, Total, TotalWhere, Lookup, Through)
_TODO: Value = "\0not calculated yet"


@dataclass(slots=True, eq=False)
class _Held:
    """The known values of one column, one per data row; `_TODO` if it is unknown."""

    at: Placed
    column: Column
    values: list[Value]
    waiting: int
    rows: dict[object, list[int]] = field(default_factory=dict)  # rows by value, built on first use
    criteria: dict[object, list[int]] = field(default_factory=dict)


class Values:
    """Calculated cells; share one instance among workbooks that refer to each other."""

    def __init__(self, books: Callable[[str], Book | None]) -> None:
        self._books = books
        self._sheets: dict[tuple[str, str], Placed] = {}
        self._columns: dict[tuple[str, str, str], _Held] = {}
        self.missed: set[tuple[str, str, str]] = set()
        """The columns (path, sheet, id) in which a lookup finds nothing."""

    def add(self, book: Book) -> list[Placed]:
        """Return the sheets of a workbook with their places, and record them for references."""
        found = [placed(book, sheet) for sheet in book.sheets]
        if len({sheet.name.casefold() for sheet in book.sheets}) < len(found):
            raise ValueError(f"{book.path} has two tabs of the same name")
        for each in found:
            self._sheets.setdefault((book.path, each.sheet.name), each)
        return [self._sheets[book.path, each.sheet.name] for each in found]

    def sheet(self, own: Placed, at: SheetAt) -> Placed:
        """Return the sheet that a recipe on another sheet refers to."""
        path = at.book or own.book.path
        if (path, at.sheet) not in self._sheets:
            book = self._books(path) if path != own.book.path else own.book
            if book is not None:
                self.add(book)
        if (path, at.sheet) not in self._sheets:
            raise ValueError(f"{own} takes from {path}#{at.sheet}, which does not exist")
        return self._sheets[path, at.sheet]

    def through(self, own: Placed, recipe: Through) -> list[Placed]:
        """Return the sheets of a 3-D reference, first to last in tab order."""
        names = [sheet.name for sheet in own.book.sheets]
        ends = [self.sheet(own, SheetAt(name)) for name in (recipe.first, recipe.last)]
        start, end = sorted(names.index(each.sheet.name) for each in ends)
        found = [self.sheet(own, SheetAt(name)) for name in names[start : end + 1]]
        column = recipe.column
        cells = {(each.letters(column), each.row(recipe.row)) for each in found}
        if len(cells) > 1:
            raise ValueError(f"{own} sums {column!r} through sheets of unequal layout: {cells}")
        return found

    def values(self, at: Placed, column_id: str) -> Sequence[Value]:
        """Return all values of a column."""
        held = self._held(at, column_id)
        for row in range(len(held.values) if held.waiting else 0):
            self._settle(held, row)
        return held.values

    def total(self, at: Placed, column_id: str, function: Function) -> int | float:
        """Reduce a column to one number; 0 for the average of no numbers."""
        return reduced(function, numbers_in(self.values(at, column_id)))

    def _held(self, at: Placed, column_id: str) -> _Held:
        key = (at.book.path, at.sheet.name, column_id)
        held = self._columns.get(key)
        if held is None:
            column = at.column(column_id)
            values = [_TODO if isinstance(cell, RECIPES) else cell for cell in column.cells]
            held = _Held(at, column, values, sum(value is _TODO for value in values))
            self._columns[key] = held
        return held

    def _settle(self, held: _Held, row: int) -> None:
        """Calculate a cell, after all cells that it needs."""
        stack = [(held, row)]
        begun: set[tuple[int, int]] = set()
        while stack:
            cell, number = stack[-1]
            mark = (id(cell), number)
            if cell.values[number] is not _TODO:
                stack.pop()
                continue
            needed = [] if mark in begun else list(self._needed(cell, number))
            begun.add(mark)
            if any((id(other), place) in begun for other, place in needed):
                raise ValueError(f"recipes are circular through {cell.at} {cell.column.id!r}")
            if needed:
                stack += needed
                continue
            cell.values[number] = self._result(cell, number)
            cell.waiting -= 1
            begun.discard(mark)
            stack.pop()

    def _needed(self, held: _Held, row: int) -> Iterator[tuple[_Held, int]]:
        for cells, number in self._cells(held.at, held.column.cells[row], row):
            if cells.waiting:
                rows = range(len(cells.values)) if number is None else (number,)
                yield from ((cells, each) for each in rows if cells.values[each] is _TODO)

    def _cells(
        self, own: Placed, recipe: Value | Recipe, row: int
    ) -> Iterator[tuple[_Held, int | None]]:
        """Yield the columns that a recipe reads, each with the row; None for all rows."""
        match recipe:
            case Own(column):
                yield self._held(own, column), row
            case Combine(_, left, right):
                yield from self._cells(own, left, row)
                yield from self._cells(own, right, row)
            case Take(at, column, number):
                target = self.sheet(own, at)
                target.row(number)
                yield self._held(target, column), number
            case Total(at, column):
                yield self._held(self.sheet(own, at), column), None
            case TotalWhere(at, column, where, equals):
                target = self.sheet(own, at)
                yield self._held(own, equals), row
                yield from ((self._held(target, each), None) for each in (where, column))
            case Lookup(at, key, match, column):
                target = self.sheet(own, at)
                yield self._held(own, key), row
                yield from ((self._held(target, each), None) for each in (match, column))
            case Through(column=column, row=number):
                for target in self.through(own, recipe):
                    yield self._held(target, column), number

    def _result(self, held: _Held, row: int) -> Value:
        recipe = held.column.cells[row]
        if isinstance(recipe, Lookup):
            key = (held.at.book.path, held.at.sheet.name, held.column.id)
            found = self._looked_up(held.at, recipe, row)
            if found is None:
                self.missed.add(key)
                return missing(held.column)
            return styled(found[0], held.column.style)
        try:
            return styled(self._value(held, recipe, row), held.column.style)
        except TypeError as error:
            where = f"{held.at} column {held.column.id!r} row {row}"
            raise ValueError(f"{where} calculates with text: {error}") from error

    def _value(  # noqa: PLR0911 - one for each recipe
        self, held: _Held, recipe: Value | Recipe, row: int
    ) -> Value:
        own = held.at
        match recipe:
            case Number(constant):
                return constant
            case Combine(operator, left, right):
                sides = (self._value(held, left, row), self._value(held, right, row))
                return combined(operator, *sides)
            case Own() | Take():
                [(cells, number)] = self._cells(own, recipe, row)
                value = cells.values[number or 0]
                return 0 if value is None else value
            case Total(at, column, function):
                return self.total(self.sheet(own, at), column, function)
            case TotalWhere(at, column, where, equals):
                target = self.sheet(own, at)
                rows = self._rows_where(target, where, self._held(own, equals).values[row])
                values = self._held(target, column).values
                return sum(numbers_in(values[each] for each in rows))
            case Lookup():
                found = self._looked_up(own, recipe, row)
                if found is None:
                    self.missed.add((own.book.path, own.sheet.name, held.column.id))
                return 0 if found is None else found[0]
            case Through(column=column, row=number):
                sheets = self.through(own, recipe)
                return sum(numbers_in(self._held(each, column).values[number] for each in sheets))
        return recipe  # a plain value

    def _looked_up(self, own: Placed, recipe: Lookup, row: int) -> tuple[Value] | None:
        """Return the value found as a tuple of one; None if there is none."""
        key = self._held(own, recipe.key).values[row]
        target = self.sheet(own, recipe.at)
        rows = self._rows_like(target, recipe.match, key, wild=own.book.dialect.lookup != "xlookup")
        if not rows:
            return None
        value = self._held(target, recipe.column).values[rows[0]]
        return (0 if value is None else value,)

    def _rows_like(self, at: Placed, column_id: str, value: Value, *, wild: bool) -> Sequence[int]:
        """Return the rows that a lookup finds: equal type, any letter case, wildcards."""
        held = self._held(at, column_id)
        pattern = pattern_of(value) if wild else None
        if pattern is not None:
            texts = enumerate(held.values)
            return [row for row, text in texts if isinstance(text, str) and pattern(text)]
        if not held.rows:
            for row, each in enumerate(held.values):
                if each is not None and each != "":
                    held.rows.setdefault(match_key(each), []).append(row)
        return held.rows.get(match_key(value), ())

    def _rows_where(self, at: Placed, column_id: str, value: Value) -> Sequence[int]:
        """Return the rows that SUMIFS finds: as for a lookup, but texts may be numbers."""
        held = self._held(at, column_id)
        pattern = pattern_of(value)
        if pattern is not None:
            return self._rows_like(at, column_id, value, wild=True)
        if not held.criteria:
            for row, each in enumerate(held.values):
                if each is not None and each != "":
                    held.criteria.setdefault(criterion_key(each), []).append(row)
        return held.criteria.get(criterion_key(value), ())


def missing(column: Column) -> Value:
    """Return a column's value for a lookup that finds nothing: empty text, or 0."""
    return "" if column.style in ("text", "date") else 0
