"""Rebuild recipes with other parts, and the facts of sheets whose columns changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from sat_retriever.questions.facts import SheetFacts
from sat_retriever.synth.book.model import (
    Book,
    Column,
    Combine,
    Lookup,
    Recipe,
    Sheet,
    SheetAt,
    Take,
    Through,
    Total,
    TotalWhere,
    Value,
)
from sat_retriever.synth.calculate.evaluate import RECIPES

Cell = Value | Recipe


def leaves(recipe: Recipe) -> Iterator[Recipe]:
    """Yield the recipes without nested recipes, left to right.

    >>> from sat_retriever.synth.book.model import Number, Own
    >>> [*leaves(Combine("+", Own("a"), Combine("*", Own("b"), Number(2))))]
    [Own(column='a'), Own(column='b'), Number(value=2)]
    """
    if isinstance(recipe, Combine):
        yield from leaves(recipe.left)
        yield from leaves(recipe.right)
    else:
        yield recipe


def with_leaves(recipe: Recipe, change: Callable[[Recipe], Recipe]) -> Recipe:
    """Return the recipe with each leaf changed."""
    if isinstance(recipe, Combine):
        left, right = with_leaves(recipe.left, change), with_leaves(recipe.right, change)
        return Combine(recipe.operator, left, right)
    return change(recipe)


def with_cells(column: Column, change: Callable[[int, Recipe], Cell]) -> Column:
    """Return the column with each recipe changed, given its row number; plain values stay."""
    if not any(isinstance(cell, RECIPES) for cell in column.cells):
        return column
    cells = tuple(
        change(row, cell) if isinstance(cell, RECIPES) else cell
        for row, cell in enumerate(column.cells)
    )
    return replace(column, cells=cells)


def pointed(sheet: Sheet, at: Callable[[SheetAt], SheetAt]) -> Sheet:
    """Replace all references of a sheet's recipes, charts, choices and pivots by `at`."""

    def leaf(recipe: Recipe) -> Recipe:
        if isinstance(recipe, Take | Total | TotalWhere | Lookup):
            return replace(recipe, at=at(recipe.at))
        return recipe

    return replace(
        sheet,
        columns=tuple(
            with_cells(column, lambda _, recipe: with_leaves(recipe, leaf))
            for column in sheet.columns
        ),
        charts=tuple(replace(chart, at=at(chart.at)) for chart in sheet.charts),
        choices=tuple(replace(choice, at=at(choice.at)) for choice in sheet.choices),
        pivots=tuple(replace(pivot, at=at(pivot.at)) for pivot in sheet.pivots),
    )


def whose(book: Book, at: SheetAt) -> tuple[str, str]:
    """Return path and tab of a sheet that a sheet of `book` takes from."""
    return at.book or book.path, at.sheet


def run(book: Book, through: Through) -> tuple[Sheet, ...]:
    """Return the sheets from the first to the last of a 3-D sum, in tab order."""
    names = [sheet.name for sheet in book.sheets]
    if through.first not in names or through.last not in names:
        return ()
    first, last = sorted((names.index(through.first), names.index(through.last)))
    return book.sheets[first : last + 1]


def schema(columns: Sequence[Column]) -> str:
    """Return a short code that is equal for equal headers, ignoring case, digits and separators.

    >>> a, b, c = (Column("x", header, ()) for header in ("Q1 Plan", "q2_plan", "Q1 Actual"))
    >>> schema([a]) == schema([b]), schema([a]) == schema([c])
    (True, False)
    """
    text = "\x1f".join(
        "".join(letter for letter in column.header.casefold() if letter.isalpha())
        for column in columns
    )
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def with_schema(facts: SheetFacts, columns: Sequence[Column]) -> SheetFacts:
    """Return the facts of a sheet after its columns changed."""
    return replace(facts, schema=f"{facts.schema.rpartition('/')[0]}/{schema(columns)}")
