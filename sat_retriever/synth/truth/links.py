"""Derive the links of a made workbook from its recipes, charts, choices and pivot tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from sat_retriever.questions.facts import SheetFacts
from sat_retriever.records.links import Link, LinkType
from sat_retriever.synth.book.model import (
    Book,
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
from sat_retriever.text.period.periods import Grain, SheetPeriod


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
    uses: dict[str, dict[LinkType, str]] = field(default_factory=dict)  # evidence by target
    gathered: dict[str, str] = field(default_factory=dict)

    def add(self, recipe: Value | Recipe, path: str, evidence: str, tabs: tuple[str, ...]) -> None:
        shows = _shows(recipe)
        for at, kind in _reads(recipe, tabs):
            target = sheet_id(at.book or path, at.sheet)
            self.note(target, LinkType.FORMULA_REFERENCE, evidence)
            if kind is not None:
                self.note(target, kind, evidence)
            if kind is LinkType.AGGREGATION or (kind is None and shows):
                self.gathered.setdefault(target, evidence)

    def note(self, target: str, kind: LinkType, evidence: str) -> None:
        self.uses.setdefault(target, {}).setdefault(kind, evidence)

    def links(self, source: str) -> Iterator[Link]:
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
    at = sheet.at
    for column, cells in zip(at.sheet.columns, sheet.columns, strict=True):
        for row, recipe in enumerate(column.cells):
            if isinstance(recipe, RECIPES):
                address = cell_name(at.place.first_row + row, at.numbers[column.id])
                yield f"{at.sheet.name}!{address} ={cells.formulas[row]}", recipe


def _reads(
    recipe: Value | Recipe, tabs: tuple[str, ...]
) -> Iterator[tuple[SheetAt, LinkType | None]]:
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


_A_YEAR = {Grain.YEAR: 1, Grain.HALF: 2, Grain.QUARTER: 4, Grain.MONTH: 12, Grain.WEEK: 53}


def true_siblings(facts: Iterable[SheetFacts]) -> list[Link]:
    """Link sheets to the same sheet of earlier periods, with at most two links a sheet.

    Sheets of one `period.family` and grain have the same content. Each is linked to the latest
    earlier period, and to the same part of the nearest earlier year; for years, both are the
    same link. If several sheets share a period, the first (by sheet id) is linked to the first
    of the earlier period, the second to the second, and so on, in rotation if that period has
    fewer. The weight is 1 / distance, in periods or in years.
    """
    families: dict[tuple[str, Grain], dict[int, list[SheetFacts]]] = {}
    for each in sorted(facts, key=lambda each: each.sheet_id):
        if each.period is not None:
            family = families.setdefault((each.period.family, each.period.grain), {})
            family.setdefault(_moment(each), []).append(each)
    return [
        link for (_, grain), times in sorted(families.items()) for link in _of_family(grain, times)
    ]


def facts_in_time(books: Iterable[Book]) -> list[SheetFacts]:
    """Return the facts, with sheet ids, of all sheets with a period.

    A sheet without facts (lists of choices, settings) gets the period of its workbook: the one
    of all its other sheets, or their year if workbooks of its kind have more than one. Two
    workbooks are of one kind if they have the same content for different times.
    """
    held = list(books)
    found = [
        replace(sheet.facts, sheet_id=sheet_id(book.path, sheet.name), workbook=book.path)
        for book in held
        for sheet in book.sheets
        if sheet.facts and sheet.facts.period
    ]
    for same in _of_one_kind(held):
        yearly = any(len({_time(period) for period in _periods(book)}) > 1 for book in same)
        for book in same:
            first = _periods(book)[0]
            told = {period.year for period in _periods(book)}
            if yearly:
                first = SheetPeriod("", Grain.YEAR, first.year, 0, str(first.year))
            if len(told) == 1:
                family = min(period.family for each in same for period in _periods(each))
                found += _without_facts(book, first, family)
    return found


def _without_facts(book: Book, period: SheetPeriod, family: str) -> Iterator[SheetFacts]:
    for sheet in book.sheets:
        if sheet.facts is None:
            own = replace(period, family=f"{family}#{sheet.name}")
            yield SheetFacts(sheet_id(book.path, sheet.name), book.category, "", period=own)


def _of_one_kind(books: Sequence[Book]) -> list[list[Book]]:
    """Group workbooks with periods that share a family, directly or through others."""
    groups: list[tuple[set[str], list[Book]]] = []
    for book in books:
        families = {period.family for period in _periods(book)}
        if families:
            joined = [group for group in groups if group[0] & families]
            groups = [group for group in groups if not group[0] & families]
            members = [each for _, inside in joined for each in inside]
            groups.append((families.union(*(names for names, _ in joined)), [*members, book]))
    return [members for _, members in groups]


def _periods(book: Book) -> list[SheetPeriod]:
    return [sheet.facts.period for sheet in book.sheets if sheet.facts and sheet.facts.period]


def _time(period: SheetPeriod) -> tuple[Grain, int, int]:
    return period.grain, period.year, period.part


def _of_family(grain: Grain, times: dict[int, list[SheetFacts]]) -> list[Link]:
    a_year = _A_YEAR[grain]
    moments = sorted(times)
    found = []
    for moment in moments:
        earlier = [each for each in moments if each < moment]
        same_part = [each for each in earlier if (moment - each) % a_year == 0]
        weights: dict[int, float] = {}
        if same_part:
            weights[same_part[-1]] = a_year / (moment - same_part[-1])
        if earlier:  # the period before is more informative than the year before
            weights[earlier[-1]] = 1 / (moment - earlier[-1])
        for other, weight in sorted(weights.items(), reverse=True):
            found += [
                _link(sheet, times[other][place % len(times[other])], weight)
                for place, sheet in enumerate(times[moment])
            ]
    return found


def _link(later: SheetFacts, earlier: SheetFacts, weight: float) -> Link:
    ends = (later.sheet_id, earlier.sheet_id)
    labels = " -> ".join(each.period.label for each in (later, earlier) if each.period)
    return Link(*ends, LinkType.SIBLING_PERIOD.value, round(weight, 4), labels)


def _moment(facts: SheetFacts) -> int:
    """Return the number of a sheet's period since year 0, counted in its own length."""
    period = facts.period
    if period is None or period.grain not in _A_YEAR:
        raise ValueError(f"{facts.sheet_id}: no template makes sheets of the period {period}")
    return period.year * _A_YEAR[period.grain] + max(period.part - 1, 0)
