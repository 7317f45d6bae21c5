"""Write recipes as formulas, in the dialect of a workbook's author."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sat_retriever.records.area import column_letters
from sat_retriever.synth.book.model import (
    Column,
    Combine,
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
from sat_retriever.synth.book.placed import Placed
from sat_retriever.synth.calculate.arithmetic import tidy
from sat_retriever.synth.calculate.evaluate import Values, missing

_PLAIN_SHEET = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LIKE_ADDRESS = re.compile(
    r"[A-Za-z]{1,3}[0-9]+|[Rr][0-9]*(?:[Cc][0-9]*)?|[Cc][0-9]*|(?i:true|false)"
)
_PLAIN_HEADER = re.compile(r"[\w .()/%&-]+")
_NO_NAME = re.compile(r"\W+")
_LOOSE, _TIGHT, _ATOM = 1, 2, 3  # how tightly the parts of an expression bind


def quoted(sheet: str, *, book: int = 0, last: str = "") -> str:
    """Return the prefix for cells of another sheet, quoted if a formula needs it.

    >>> quoted("Ledger"), quoted("Q1 data", book=2), quoted("Jan", last="O'Dec")
    ('Ledger!', "'[2]Q1 data'!", "'Jan:O''Dec'!")
    """
    plain = all(
        _PLAIN_SHEET.fullmatch(name) and not _LIKE_ADDRESS.fullmatch(name)
        for name in (sheet, last or sheet)
    )
    name = f"{f'[{book}]' if book else ''}{sheet}{f':{last}' if last else ''}"
    return f"{name}!" if plain else "'" + name.replace("'", "''") + "'!"


@dataclass(slots=True)
class Formulas:
    """A writer of one workbook's formulas, which also collects defined names and references.

    Attributes:
        names: References of the defined names that formulas use.
        external: Columns, or single rows of them, taken from other workbooks: by path, in order of
            first use, and by (sheet, column id); None means all rows.
    """

    values: Values
    names: dict[str, str] = field(default_factory=dict)
    external: dict[str, dict[tuple[str, str], set[int] | None]] = field(default_factory=dict)
    _ranges: dict[tuple[str, ...], str] = field(default_factory=dict)
    _names_of: dict[str, str] = field(default_factory=dict)

    def text(self, own: Placed, column: Column, row: int, recipe: Recipe) -> str:
        """Return the formula of a cell, without "="."""
        return self._text(_Cell(own, column, row), recipe)[0]

    def range(self, own: Placed, at: SheetAt, column_id: str) -> str:
        """Return the data cells of a column as formulas of a sheet refer to them."""
        target = self.values.sheet(own, at)
        return self._range(own, target, column_id, column_id)

    def choices(self, own: Placed, at: SheetAt, column_id: str) -> str:
        """Return the data cells of a column for a list of choices; these cannot refer to tables."""
        target = self.values.sheet(own, at)
        if own.book.dialect.ranges == "name" and target is not own:
            return self._name(target, column_id, column_id)
        return f"{self._before(own, target)}{area_text(target, column_id, column_id)}"

    def _text(  # noqa: PLR0911 - one for each recipe
        self, cell: _Cell, recipe: Value | Recipe
    ) -> tuple[str, int]:
        """Return the text and its binding strength."""
        own = cell.own
        match recipe:
            case Own(column):
                return f"{own.letters(column)}{own.row(cell.row)}", _ATOM
            case Number(value):
                number = repr(tidy(float(value)))
                return (number if value >= 0 else f"({number})"), _ATOM
            case Combine():
                return self._combined(cell, recipe)
            case Take(at, column, row):
                return self._one(own, at, column, row), _ATOM
            case Total(at, column, function):
                return self._total(own, at, column, function), _ATOM
            case TotalWhere(at, column, where, equals):
                summed, searched = (self.range(own, at, each) for each in (column, where))
                return f"SUMIFS({summed},{searched},{self._key(cell, equals)})", _ATOM
            case Lookup():
                return self._lookup(cell, recipe), _ATOM
            case Through(first, last, column, row):
                sheets = self.values.through(own, recipe)
                target = sheets[0]
                before = quoted(first, last=last if last != first else "")
                return f"SUM({before}{target.letters(column)}{target.row(row)})", _ATOM
        raise TypeError(f"{recipe!r} is not a recipe")

    def _combined(self, cell: _Cell, recipe: Combine) -> tuple[str, int]:
        operator = recipe.operator
        (left, left_tight), (right, right_tight) = (
            self._text(cell, side) for side in (recipe.left, recipe.right)
        )
        if operator == "/":
            divided = left if left_tight >= _TIGHT else f"({left})"
            by = right if right_tight == _ATOM else f"({right})"
            return f"IF({right}=0,0,{divided}/{by})", _ATOM
        tight = _LOOSE if operator in "+-" else _TIGHT
        left = left if left_tight >= tight else f"({left})"
        needed = tight + (operator == "-")
        right = right if right_tight >= needed else f"({right})"
        return f"{left}{operator}{right}", tight

    def _one(self, own: Placed, at: SheetAt, column: str, row: int) -> str:
        target = self.values.sheet(own, at)
        before = self._before(own, target)
        if target.book.path != own.book.path:
            rows = self.external[target.book.path].setdefault((target.sheet.name, column), set())
            if rows is not None:
                rows.add(row)
        return f"{before}{target.letters(column)}{target.row(row)}"

    def _total(self, own: Placed, at: SheetAt, column: str, function: str) -> str:
        text = f"{function}({self.range(own, at, column)})"
        if function != "AVERAGE":
            return text
        target = self.values.sheet(own, at)
        return text if self.values.total(target, column, "COUNT") else f"IFERROR({text},0)"

    def _lookup(self, cell: _Cell, recipe: Lookup) -> str:
        own, at = cell.own, recipe.at
        target = self.values.sheet(own, at)
        key = self._key(cell, recipe.key)
        way = own.book.dialect.lookup
        place, found = (target.numbers[target.column(x).id] for x in (recipe.match, recipe.column))
        if way == "vlookup" and place <= found:
            block = self._range(own, target, recipe.match, recipe.column)
            text = f"VLOOKUP({key},{block},{found - place + 1},FALSE)"
        else:
            searched, answers = (
                self._range(own, target, each, each) for each in (recipe.match, recipe.column)
            )
            text = (
                f"_xlfn.XLOOKUP({key},{searched},{answers})"
                if way == "xlookup"
                else f"INDEX({answers},MATCH({key},{searched},0))"
            )
        if (own.book.path, own.sheet.name, cell.column.id) not in self.values.missed:
            return text
        direct = cell.column.cells[cell.row] is recipe
        return f"IFERROR({text},{_literal(missing(cell.column) if direct else 0)})"

    def _key(self, cell: _Cell, column: str) -> str:
        return f"${cell.own.letters(column)}{cell.own.row(cell.row)}"

    def _before(self, own: Placed, target: Placed) -> str:
        path = target.book.path
        if path == own.book.path:
            return "" if target.sheet.name == own.sheet.name else quoted(target.sheet.name)
        self.external.setdefault(path, {})
        return quoted(target.sheet.name, book=list(self.external).index(path) + 1)

    def _range(self, own: Placed, target: Placed, first: str, last: str) -> str:
        key = (own.book.path, own.sheet.name, target.book.path, target.sheet.name, first, last)
        return self._ranges.get(key) or self._ranges.setdefault(
            key, self._new_range(own, target, first, last)
        )

    def _new_range(self, own: Placed, target: Placed, first: str, last: str) -> str:
        before = self._before(own, target)
        if target.book.path != own.book.path:
            taken = self.external[target.book.path]
            ids = list(target.numbers)
            for column in ids[ids.index(first) : ids.index(last) + 1]:
                taken[target.sheet.name, column] = None
            return f"{before}{area_text(target, first, last)}"
        way = own.book.dialect.ranges
        if way == "table" and target.place.table:
            text = _table_text(target, first, last)
            if text:
                return text
        if way == "name" and target is not own:
            return self._name(target, first, last)
        # Whole columns would include the totals.
        if way == "column" and before and not target.place.totals_row:
            return f"{before}${target.letters(first)}:${target.letters(last)}"
        return f"{before}{area_text(target, first, last)}"

    def _name(self, target: Placed, first: str, last: str) -> str:
        text = f"{quoted(target.sheet.name)}{area_text(target, first, last)}"
        if text not in self._names_of:
            parts = (target.sheet.name, *dict.fromkeys((first, last)))
            wanted = "_".join(_NO_NAME.sub("_", part).strip("_") or "x" for part in parts)
            wanted = (f"_{wanted}" if wanted[0].isdigit() else wanted)[:200]
            taken = {each.casefold() for each in self.names}
            name, count = wanted, 1
            while name.casefold() in taken:
                count += 1
                name = f"{wanted}_{count}"
            self._names_of[text] = name
            self.names[name] = text
        return self._names_of[text]


@dataclass(frozen=True, slots=True)
class _Cell:
    own: Placed
    column: Column
    row: int


def area_text(target: Placed, first: str, last: str) -> str:
    """Return the data cells from one column to another: `$C$5:$C$20`."""
    top, bottom = target.row(0), target.row(target.place.num_rows - 1)
    return f"${target.letters(first)}${top}:${target.letters(last)}${bottom}"


def _table_text(target: Placed, first: str, last: str) -> str:
    """Return the columns of a table object; empty if a header has special characters."""
    headers = [target.column(each).header.strip() for each in (first, last)]
    if not all(_PLAIN_HEADER.fullmatch(header) for header in headers):
        return ""
    name = target.sheet.table_name
    if first == last:
        return f"{name}[{headers[0]}]"
    return f"{name}[[{headers[0]}]:[{headers[1]}]]"


def _literal(value: Value) -> str:
    return '""' if value == "" else str(value)


def cell_name(row: int, column: int) -> str:
    """Return the address of a 1-based row and column.

    >>> cell_name(7, 28)
    'AB7'
    """
    return f"{column_letters(column)}{row}"
