"""Fill in the declared sheets of a house, and file them in workbooks."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from types import MappingProxyType, SimpleNamespace
from typing import Any, Literal

from sat_retriever.questions.facts import SheetFacts
from sat_retriever.synth.book.model import (
    Book,
    Chart,
    Choices,
    Column,
    Pivot,
    Recipe,
    Sheet,
    SheetAt,
    Style,
    Value,
)
from sat_retriever.synth.book.rewrite import schema
from sat_retriever.synth.categories.tables import ColumnForm, SheetForm, drawn, forms, formula
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, spoken

Mode = Literal["each", "together", "kind", "year"]
Rows = Sequence[dict[str, Any]]
"""Records: values by column id."""
Filed = tuple["Page", Sheet]
Habit = float | Sequence[object] | Callable[[random.Random, SimpleNamespace], object]
Cells = Iterable[Value | Recipe]
Given = Mapping[str, Any]
"""Cells by column id, as `Page.columns` takes them."""


def habits(house: House, category: str, declared: Mapping[str, Habit]) -> SimpleNamespace:
    """Draw the habits of a house, equal in all years, in the order in which they are declared.

    A habit is the share of houses that have it, the values of which one is drawn, or a function of
    random numbers and the habits declared before.
    """
    chance, found = house.chance(category, "habits"), SimpleNamespace()
    for name, habit in declared.items():
        if callable(habit):
            value = habit(chance, found)
        elif isinstance(habit, float):
            value = chance.random() < habit
        else:
            value = chance.choice(habit)
        setattr(found, name, value)
    return found


@dataclass(frozen=True, slots=True)
class Place:
    """The path of a sheet's workbook, and the name of its tab."""

    book: str
    sheet: str

    def at(self, own: Place) -> SheetAt:
        """Return the reference to this sheet from the sheet at `own`."""
        return SheetAt(self.sheet, "" if self.book == own.book else self.book)


@dataclass(frozen=True, slots=True)
class Shelf:
    """A house's workbooks of one category; each kind of shelf places its sheets by own rules."""

    house: House
    category: str

    def when(self, kind: str, when: When | None) -> When | None:
        """Return the period of a kind's sheet that has data for a period."""
        kept = forms(self.category)
        options = kept[kind].options if kind in kept else {}
        if "once" in options:
            return None
        return When(when.year) if when and "yearly" in options else when

    def place(self, kind: str, when: When | None, part: str = "") -> Place:
        """Return workbook and tab for the sheet of a kind and period."""
        raise NotImplementedError

    def chance(self, *purpose: object) -> random.Random:
        """Return a stream of random numbers for one purpose of this category."""
        return self.house.chance(self.category, *purpose)

    def has(self, *habit: object, share: float = 0.5) -> bool:
        """True if the house has a habit that this share of houses has."""
        return self.house.chance("habit", self.category, *habit).random() < share

    def subject(self, kind: str) -> str:
        """Return the house's name for a kind, as the subject of a workbook of this kind alone."""
        return self.house.kind_name(self.category, kind)

    def tab(self, kind: str, when: When | None = None, part: str = "") -> str:
        """Return the name of a kind's tab; give `when` and `part` only if tabs differ by them."""
        return self.house.tab(self.category, kind, when, part)

    def path(self, subject: str, when: When | None) -> str:
        """Return the path of a workbook."""
        return self.house.path(self.category, subject, when)

    def book(self, subject: str, when: When | None, sheets: Sequence[Sheet]) -> Book:
        """Make a workbook in the house's dialect, with table names if it refers to tables."""
        house, dialect = self.house, self.house.dialect()
        if dialect.ranges == "table":
            sheets = [
                replace(sheet, table_name=f"T{place}_{_plain(sheet.name)}")
                if sheet.facts
                else sheet
                for place, sheet in enumerate(sheets, 1)
            ]
        label = house.vocabulary.categories[self.category].label
        convention = house.convention(self.category)
        return Book(self.path(subject, when), label, tuple(sheets), dialect, convention)

    def page(self, kind: str, when: When | None = None, part: str = "", form: str = "") -> Page:
        """Begin the sheet of a kind and period, in one of the kind's declared forms."""
        return Page(self, kind, when, part, form)


@dataclass(frozen=True, slots=True)
class Filing(Shelf):
    """A shelf on which kinds and periods are combined to workbooks in one of four ways.

    Attributes:
        mode: "each" = a workbook per kind and period; "together" = a workbook per period, one tab
            per kind; "kind" = a workbook per kind and year, one tab per period; "year" = a
            workbook per year with all kinds and periods.
        beside: Kinds that are kept in another kind's workbook, by id.
        once: Kinds whose sheets are made once, beside those that are declared so.
    """

    mode: Mode
    beside: Mapping[str, str] = field(default_factory=dict)
    once: Collection[str] = ()

    @classmethod
    def of(
        cls, house: House, category: str, *modes: Mode, beside: Mapping[str, str] | None = None
    ) -> Filing:
        """Draw the house's mode; a mode that is named twice is twice as likely."""
        return cls(house, category, house.chance(category, "filing").choice(modes), beside or {})

    def when(self, kind: str, when: When | None) -> When | None:
        """Return the period of a kind's sheet that has data for a period."""
        return None if kind in self.once else Shelf.when(self, kind, when)

    def binder(self, kind: str, when: When | None) -> tuple[str, When | None]:
        """Return subject and period of the workbook with a sheet."""
        subject = self.subject(self.beside.get(kind, kind))
        if when is None:
            return subject, None
        if self.mode == "each":
            return subject, when
        if self.mode == "together":
            return "", when
        return (subject if self.mode == "kind" else ""), When(when.year)

    def place(self, kind: str, when: When | None, part: str = "") -> Place:
        """Return workbook and tab for the sheet of a kind and period."""
        subject, bound_when = self.binder(kind, when)
        apart = when if when is not None and bound_when != when else None
        return Place(self.path(subject, bound_when), self.tab(kind, apart, part))

    def bound(self, filed: Iterable[Filed]) -> Iterator[Book]:
        """Yield the workbooks of these sheets, in order of their first sheets."""
        binders: dict[tuple[str, When | None], list[Sheet]] = {}
        for page, sheet in filed:
            binders.setdefault(self.binder(page.id, page.when), []).append(sheet)
        for (subject, when), inside in binders.items():
            yield self.book(subject, when, inside)


@dataclass(frozen=True, slots=True)
class Page:
    """One sheet in the making."""

    shelf: Shelf
    id: str
    when: When | None = None
    part: str = ""
    form_id: str = ""

    @property
    def form(self) -> SheetForm:
        """The declared columns and options."""
        name = f"{self.id}:{self.form_id}" if self.form_id else self.id
        return forms(self.shelf.category)[name]

    @property
    def place(self) -> Place:
        """The workbook and tab."""
        return self.shelf.place(self.id, self.when, self.part)

    def chance(self, *purpose: object) -> random.Random:
        """Return a stream of random numbers for one purpose of this kind of sheet."""
        return self.shelf.chance(self.id, *purpose)

    def at(self, kind: str, when: When | None = None, part: str = "") -> SheetAt:
        """Refer from here to the sheet of another kind; by default of this period, or its year."""
        when = self.shelf.when(kind, when or self.when)
        return self.shelf.place(kind, when, part).at(self.place)

    def formula(self, text: str, when: When | None = None) -> Recipe:
        """Return a formula, as in the tables, that refers to sheets as `at` does."""
        return formula(text, partial(self.at, when=when))

    def header(self, column: str) -> str:
        """Return a header in the house's variant; ids that begin with "group_" name groups."""
        return self.shelf.house.header(self.shelf.category, self.id, column)

    def column(
        self,
        column: str,
        cells: Cells,
        style: Style = "text",
        marks: Mapping[str, str] = MappingProxyType({}),
    ) -> Column:
        """Make a column with this house's header and unit, from one value or recipe per row."""
        house, category = self.shelf.house, self.shelf.category
        has_units = house.chance("units row", category).random() < 0.4
        return Column(
            column,
            self.header(column),
            tuple(cells),
            style,
            group=self.header(marks["group"]) if "group" in marks else "",
            unit=house.unit(category, self.id, column) if has_units else "",
            key=f"{house.name}/{marks['key']}" if "key" in marks else "",
            unique="unique" in marks,
            placeholder=marks.get("like", ""),
        )

    def columns(
        self,
        rows: Rows,
        given: Given = MappingProxyType({}),
        *,
        typed: Collection[str] = (),
        chance: random.Random | None = None,
        grouped: bool | None = None,
        period: str = "",
    ) -> list[Column]:
        """Fill in the declared columns.

        Args:
            given: Cells by column id, instead of the declared ones: one per row, or one recipe for
                all rows; None leaves the column out.
            typed: Columns that hold the rows' values instead of the declared formula.
            grouped: True if declared groups have a common header; by default it is the habit of
                some houses.
            period: Text for the headers of columns that are marked as dated.
        """
        if grouped is None:
            grouped = self.chance("groups").random() < 0.35
        chance = chance or self.chance(*filter(None, (self.when,)))
        found = []
        for form in self.form.columns:
            if "apart" in self.form.options and self.when:
                chance = self.chance(form.id, self.when.year)
            cells = given[form.id] if form.id in given else self._cells(form, rows, typed, chance)
            if cells is None:
                continue
            if isinstance(cells, Recipe):
                cells = [cells] * len(rows)
            marks = form.marks
            if not grouped:
                marks = {mark: value for mark, value in marks.items() if mark != "group"}
            column = self.column(form.id, cells, form.style, marks)
            found.append(dated(column, period) if period and "dated" in marks else column)
        return found

    def _cells(
        self, form: ColumnForm, rows: Rows, typed: Collection[str], chance: random.Random
    ) -> Cells | Recipe:
        if form.cells.startswith("=") and form.id not in typed:
            return self.formula(form.cells[1:].strip())
        if not form.cells or form.cells[0] in "=.":
            name = form.cells[1:] if form.cells.startswith(".") else form.id
            return [row[name] for row in rows]
        return drawn(form, len(rows), chance, self.shelf.house, self.when)

    def sheet(
        self,
        columns: Sequence[Column],
        *,
        totals: bool = True,
        chart: bool | None = None,
        choices: Sequence[Choices] = (),
        pivots: Sequence[Pivot] = (),
    ) -> Sheet:
        """Make the sheet with facts, titles and the house's layout.

        The layout depends only on the house and the kind: sheets of one kind have the same layout
        in all periods, which 3-D sums need. The declared chart is by default the habit of a share
        of houses.
        """
        options, house, category = self.form.options, self.shelf.house, self.shelf.category
        place = self.place
        if "hidden" in options:
            return Sheet(place.sheet, tuple(columns), hidden=True, choices=tuple(choices))
        if any(form.optional for form in self.form.columns):
            columns = self._arranged(columns)
        name = house.vocabulary.categories[category].kinds[self.id].names[0]
        period = spoken(self.when) if self.when else ""
        title = " ".join(filter(None, (house.name, name, self.part, period)))
        summed = {form.id for form in self.form.columns if totals and "total" in form.marks}
        charts: tuple[Chart, ...] = ()
        if "chart" in options:
            names, numbers, share = (*options["chart"].split(), "0")[:3]
            if self.shelf.has("chart", share=float(share)) if chart is None else chart:
                charts = (Chart(SheetAt(place.sheet), names, numbers),)
        plain = not summed and all(not column.group and not column.unit for column in columns)
        return Sheet(
            place.sheet,
            tuple(columns),
            self.facts(columns),
            house.layout(title, category, self.id),
            totals=tuple((column.id, "SUM") for column in columns if column.id in summed),
            table_name=options.get("table", "") if plain else "",
            charts=charts,
            choices=tuple(choices),
            pivots=tuple(pivots),
        )

    def facts(self, columns: Sequence[Column]) -> SheetFacts:
        """Return the facts of the sheet with these columns, without sheet id."""
        house, category = self.shelf.house, self.shelf.category
        words = house.vocabulary.categories[category]
        kind = words.kinds[self.id]
        family = "/".join(filter(None, (house.name, category, self.id, self.part)))
        return SheetFacts(
            sheet_id="",
            category=words.asked[0],
            kind=kind.asked[0],
            entity=house.name,
            period=self.when.period(family) if self.when else None,
            keys=tuple(kind.columns[c.id][0] for c in columns if c.key and c.id in kind.columns),
            schema=f"{category}/{self.id}/{schema(columns)}",
            summary="summary" in self.form.options,
        )

    def _arranged(self, columns: Sequence[Column]) -> Sequence[Column]:
        """Arrange columns as the house does: drop optional ones, shuffle text columns.

        The result is the same for all sheets of a kind, which 3-D sums and sibling periods need.
        No recipe may name an optional column.
        """
        optional = {form.id for form in self.form.columns if form.optional}
        head = int(self.form.options.get("head", "1"))
        chance = self.chance("columns")
        kept = [column for column in columns if column.id not in optional or chance.random() < 0.65]
        if chance.random() < 0.5:
            return kept
        tail: list[Column] = []
        for free, run in groupby(kept[head:], key=lambda c: c.style == "text" and not c.group):
            found = list(run)
            tail += chance.sample(found, len(found)) if free else found
        return [*kept[:head], *tail]

    def filed(
        self,
        rows: Rows,
        given: Given = MappingProxyType({}),
        *,
        typed: Collection[str] = (),
        chance: random.Random | None = None,
        totals: bool = True,
        choices: Sequence[Choices] = (),
        pivots: Sequence[Pivot] = (),
    ) -> Filed:
        """Fill in the declared columns and make the sheet; the arguments are as above."""
        columns = self.columns(rows, given, typed=typed, chance=chance)
        return self, self.sheet(columns, totals=totals, choices=choices, pivots=pivots)


def dated(column: Column, text: str) -> Column:
    """Add a period to a column's header, with the separator that the header uses.

    >>> dated(Column("x", "actual_spend", ()), "2024").header
    'actual_spend_2024'
    """
    joint = next((joint for joint in " _" if joint in column.header), "")
    return replace(column, header=f"{column.header}{joint}{text}")


def _plain(name: str) -> str:
    """Return the ASCII letters and digits of a name, which are allowed in a table's name."""
    return "".join(letter for letter in name if letter.isascii() and letter.isalnum())
