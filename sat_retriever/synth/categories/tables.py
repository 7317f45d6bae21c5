"""Read the tables that declare the sheets of a category.

`<category>.txt` has a section for each kind of sheet, `[kind] options`, with a line for each
column: `column? | style | cells | marks`. A kind with two forms has a section for each,
`[kind:form]`. A question mark means that a house may drop the column; one without a style holds
texts.

The cells are one of

- nothing: the row's value of that name; `.name`: its value of another name;
- `= formula`: see `formula`;
- a draw: `one of A / B*3 / -` (B is three times as likely; - is an empty cell), `any of …` (all
  cells in one draw), `one of pool employees 5`, `5 to 90`, `10 x 2 to 20`, `days` (workdays);
- `number T{yy}-{n:03}` or `spoken`: numbers of rows, or the sheet's period in words.

Marks: `key NOUN`, `unique`, `total`, `group ID`, `dated` (a header may name the period), and
`like NOUN` (for typed placeholders). Options: `once` or `yearly` (the period of the kind's sheets,
else that of the sheets which refer to them), `summary`, `hidden`, `apart` (each column has random
numbers of its own), `head N` (first columns that keep their place), `table NAME`, and
`chart NAMES NUMBERS SHARE` (the share of houses that have the chart).
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

from sat_retriever.synth.book.model import (
    Combine,
    Function,
    Lookup,
    Number,
    Operator,
    Own,
    Recipe,
    SheetAt,
    Style,
    Total,
    TotalWhere,
    Value,
)
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, some_days, spoken

_SPAN = re.compile(r"(?:(\d+) x )?([\d.]+) to ([\d.]+)")
_OPERATORS: Mapping[type[ast.operator], Operator] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ColumnForm:
    """A declared column."""

    id: str
    optional: bool
    style: Style
    cells: str
    marks: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SheetForm:
    """A declared sheet."""

    columns: tuple[ColumnForm, ...]
    options: Mapping[str, str]


@cache
def sections(name: str) -> Mapping[str, tuple[tuple[str, str, str, str], ...]]:
    """Return the rows of `<name>.txt`, up to four fields each, by the heading of their section."""
    text = Path(__file__).with_name(f"{name}.txt").read_text("utf-8")
    found = {}
    for section in f"\n{text}".split("\n[")[1:]:
        head, *lines = section.splitlines()
        found[head.replace("]", "", 1)] = tuple(map(_fields, filter(None, lines)))
    return found


def _fields(line: str) -> tuple[str, str, str, str]:
    first, second, third, fourth, *_ = (*map(str.strip, line.split("|")), "", "", "")
    return first, second, third, fourth


@cache
def forms(category: str) -> Mapping[str, SheetForm]:
    """Return the declared sheets of a category by kind, or by "kind:form"."""
    found = {}
    for head, rows in sections(category).items():
        kind, _, options = head.partition(" ")
        found[kind] = SheetForm(tuple(_column(*row) for row in rows), _marks(options))
    return found


def _column(name: str, style: str, cells: str, marks: str) -> ColumnForm:
    optional = name.endswith("?")
    kind = cast("Style", style or "text")
    return ColumnForm(name.rstrip("?"), optional, kind, cells, _marks(marks))


def _marks(text: str) -> Mapping[str, str]:
    """Parse "key order, unique" to {"key": "order", "unique": ""}."""
    words = (part.strip().partition(" ") for part in text.split(",") if part.strip())
    return {mark: value for mark, _, value in words}


def formula(text: str, at: Callable[[str], SheetAt]) -> Recipe:
    """Parse a formula on columns of its row, with numbers, + - * / and brackets.

    `lookup(roster.name, staff_no, id)` takes the name in the row of the roster whose id equals this
    row's staff_no; `sumif` sums over all such rows. The third part is left out if both columns have
    one id. `sum(roster.pay)`, and `average`, `count`, `max` or `min`, is over the whole column.

    >>> formula("2 * (price - sum(costs.paid))", SheetAt).right.right
    Total(at=SheetAt(sheet='costs', book=''), column='paid', function='SUM')
    """
    return _recipe(_parsed(text), at)


@cache
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _recipe(node: ast.expr, at: Callable[[str], SheetAt]) -> Recipe:
    match node:
        case ast.Name(name):
            return Own(name)
        case ast.Constant(int() | float() as value):
            return Number(value)
        case ast.BinOp(left, operator, right) if type(operator) in _OPERATORS:
            return Combine(_OPERATORS[type(operator)], _recipe(left, at), _recipe(right, at))
        case ast.Call(ast.Name(function), [ast.Attribute(ast.Name(kind), column), *keys]):
            own, *other = [key.id for key in keys if isinstance(key, ast.Name)] or [""]
            match = other[0] if other else own
            if function == "lookup":
                return Lookup(at(kind), own, match, column)
            if function == "sumif":
                return TotalWhere(at(kind), column, match, own)
            return Total(at(kind), column, cast("Function", function.upper()))
    raise ValueError(f"no formula of made sheets: {ast.unparse(node)}")


def drawn(
    form: ColumnForm, count: int, chance: random.Random, house: House, when: When | None
) -> Sequence[Value]:
    """Return the cells that a declared draw gives for a number of rows."""
    if span := _SPAN.fullmatch(form.cells):
        step, least, most = span.groups()
        if step or form.style == "integer":
            return [int(step or 1) * chance.randint(int(least), int(most)) for _ in range(count)]
        digits = 4 if form.style == "percent" else 2
        return [round(chance.uniform(float(least), float(most)), digits) for _ in range(count)]
    draw, _, rest = form.cells.partition(" ")
    if when and draw == "number":
        year, part = f"{when.year}", when.month or when.quarter
        return [rest.format(n=n, year=year, yy=year[2:], part=part) for n in range(1, count + 1)]
    if when and draw in ("spoken", "days"):
        return some_days(chance, when, count) if draw == "days" else [spoken(when)] * count
    rest = rest.removeprefix("of ")
    if rest.startswith("pool "):
        _, noun, size = rest.split()
        options: Sequence[Value] = house.pool(noun, int(size))
    else:
        options = _options(rest, form.style)
    if draw == "any":
        return chance.choices(options, k=count)
    return [chance.choice(options) for _ in range(count)]


@cache
def _options(text: str, style: Style) -> Sequence[Value]:
    """Parse "A / B*2 / -" to ("A", "B", "B", None), and numbers in columns of numbers."""
    found: list[Value] = []
    for option in text.split(" / "):
        name, _, times = option.partition("*")
        value: Value = None if name == "-" else name
        if style != "text":
            value = float(name) if "." in name else int(name)
        found += [value] * int(times or 1)
    return found
