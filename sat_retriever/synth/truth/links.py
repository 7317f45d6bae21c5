"""Derive the links of a made workbook from its recipes, charts, choices and pivot tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sat_retriever.records.links import Link, LinkType
from sat_retriever.synth.book.model import (
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
from sat_retriever.synth.calculate.compile import CompiledBook, CompiledSheet
from sat_retriever.synth.calculate.evaluate import RECIPES
from sat_retriever.synth.calculate.formula_text import cell_name
from sat_retriever.synth.truth.records import sheet_id


def true_links(compiled: CompiledBook) -> list[Link]:
    """Return the links from the workbook's sheets to those that they take from, in any workbook.

    - `formula_reference`: any recipe that reads the other sheet.
    - `aggregation`: totals, conditional totals and 3-D sums of it; charts and pivot tables.
    - `join_key`: lookups in it, and lists of choices.
    - `summary_source`: to each of at least two sheets that it gathers from: it totals them
      (charts and pivot tables count), or shows their cells, at most added or subtracted.

    A weight of 1 only says that the link is true. The evidence is the first formula, or the
    chart, pivot table or list of choices.
    """
    found: list[Link] = []
    for sheet in compiled.sheets:
        sources = _Sources()
        for evidence, recipe in _formulas(sheet):
            sources.add(recipe, compiled.book.path, evidence, _tabs(compiled))
        _declared(sheet, compiled.book.path, sources)
        found += sources.links(sheet_id(compiled.book.path, sheet.at.sheet.name))
    return found


@dataclass(slots=True)
class _Sources:
    """The references of one sheet, in order of first use."""

    uses: dict[str, dict[LinkType, str]] = field(default_factory=dict)  # evidence by target
    gathered: dict[str, str] = field(default_factory=dict)

    def add(self, recipe: Value | Recipe, path: str, evidence: str, tabs: tuple[str, ...]) -> None:
        """Record everything that a recipe reads."""
        shows = _shows(recipe)
        for at, kind in _reads(recipe, tabs):
            target = sheet_id(at.book or path, at.sheet)
            self.note(target, LinkType.FORMULA_REFERENCE, evidence)
            if kind is not None:
                self.note(target, kind, evidence)
            if kind is LinkType.AGGREGATION or (kind is None and shows):
                self.gathered.setdefault(target, evidence)

    def note(self, target: str, kind: LinkType, evidence: str) -> None:
        """Record one use of one sheet."""
        self.uses.setdefault(target, {}).setdefault(kind, evidence)

    def links(self, source: str) -> Iterator[Link]:
        """Yield the links of the sheet, without those to itself."""
        self.uses.pop(source, None)
        self.gathered.pop(source, None)
        if len(self.gathered) > 1:
            for target, evidence in self.gathered.items():
                self.note(target, LinkType.SUMMARY_SOURCE, evidence)
        for target, kinds in self.uses.items():
            for kind in LinkType:
                if kind in kinds:
                    yield Link(source, target, kind.value, 1.0, kinds[kind])


def _tabs(compiled: CompiledBook) -> tuple[str, ...]:
    return tuple(sheet.name for sheet in compiled.book.sheets)


def _formulas(sheet: CompiledSheet) -> Iterator[tuple[str, Value | Recipe]]:
    """Yield evidence and recipe of the cells with a recipe."""
    at = sheet.at
    for column, cells in zip(at.sheet.columns, sheet.columns, strict=True):
        for row, recipe in enumerate(column.cells):
            if isinstance(recipe, RECIPES):
                address = cell_name(at.place.first_row + row, at.numbers[column.id])
                yield f"{at.sheet.name}!{address} ={cells.formulas[row]}", recipe


def _reads(
    recipe: Value | Recipe, tabs: tuple[str, ...]
) -> Iterator[tuple[SheetAt, LinkType | None]]:
    """Yield the sheets that a recipe reads, with the type of link; None for single cells."""
    match recipe:
        case Combine(_, left, right):
            yield from _reads(left, tabs)
            yield from _reads(right, tabs)
        case Take(at):
            yield at, None
        case Total(at) | TotalWhere(at):
            yield at, LinkType.AGGREGATION
        case Lookup(at):
            yield at, LinkType.JOIN_KEY
        case Through(first, last):
            start, end = sorted((tabs.index(first), tabs.index(last)))
            yield from ((SheetAt(tab), LinkType.AGGREGATION) for tab in tabs[start : end + 1])


def _shows(recipe: Value | Recipe) -> bool:
    """True if a recipe shows cells unchanged, or at most added or subtracted."""
    match recipe:
        case Combine(operator, left, right):
            return operator in "+-" and _shows(left) and _shows(right)
    return isinstance(recipe, Take | Own | Number)


def _declared(sheet: CompiledSheet, path: str, sources: _Sources) -> None:
    """Record charts, pivot tables and lists of choices."""
    drawn = sheet.at.sheet
    shown: Iterable[tuple[str, SheetAt]] = (
        *(("chart", chart.at) for chart in drawn.charts),
        *(("pivot", SheetAt(pivot.source.sheet.name)) for pivot in sheet.pivots),
    )
    for what, at in shown:
        target = sheet_id(at.book or path, at.sheet)
        sources.note(target, LinkType.AGGREGATION, f"{drawn.name} {what} ={at.sheet}")
        sources.gathered.setdefault(target, f"{drawn.name} {what} ={at.sheet}")
    for choices in drawn.choices:
        target = sheet_id(choices.at.book or path, choices.at.sheet)
        sources.note(target, LinkType.JOIN_KEY, f"{drawn.name} validation ={choices.at.sheet}")
