"""Counts of a workbook's references and declared sources, by sheet, target and use.

The weights of links in (0, 1] grow with the number of cells behind them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from sat_retriever.links.formula.operands import Taken, Target
from sat_retriever.links.formula.scope import Meant, Scope
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.structure import DataSource, Reference, SourceKind, Structure, Use

DECLARED = {
    SourceKind.PIVOT: 0.9,
    SourceKind.CONSOLIDATION: 0.9,
    SourceKind.CHART: 0.6,
    SourceKind.VALIDATION: 0.8,
}
"""Weights of sources that a workbook declares. A chart shows only part of its source."""

_VALUE_SHARE = 0.5  # share of a total's weight in a summary, for an unchanged value
_LOOKUP_FLOOR = 0.9  # above every join found by headers or values alone


@lru_cache(maxsize=4096)
def strength(cells: int) -> float:
    """Weight of a relation that `cells` cells show.

    >>> [round(strength(cells), 2) for cells in (1, 10, 100, 10_000)]
    [0.5, 0.78, 0.87, 0.93]
    """
    return round(1 - 1 / (1 + math.log2(1 + max(1, cells))), 4)


def lookup_weight(weight: float) -> float:
    """Weight of a join by lookup formulas, from the weight of those formulas.

    >>> lookup_weight(0.5)
    0.95
    """
    return round(_LOOKUP_FLOOR + (1 - _LOOKUP_FLOOR) * weight, 4)


def summary_weight(sheets: int, totalled: float, taken_over: float) -> float:
    """Weight of a summary's link to one of the sheets it gathers from.

    The weight grows with the number of sheets and is higher for totals: totals over twelve months
    are a summary; two parameters, each from its own sheet, hardly are.

    Args:
        sheets: Number of sheets that it gathers from, two or more.
        totalled: Strength of its totals over this sheet; 0 without any.
        taken_over: Strength of the values that it copies from this sheet; 0 without any.

    >>> summary_weight(12, strength(100), 0), summary_weight(2, 0, strength(1))
    (0.7969, 0.125)
    """
    return round((sheets - 1) / sheets * max(totalled, _VALUE_SHARE * taken_over), 4)


_MAX_STEPS = 100_000  # targets of references counted; 3-D ranges multiply them
_EVIDENCE = 200
_PLAIN_NAME = re.compile(r"[^\W\d][\w.]*")
_ADDRESS_LIKE = re.compile(r"[A-Za-z]{1,3}[0-9]+|[Rr][0-9]*[Cc]?[0-9]*|[Cc][0-9]*")

End = int | Target
"""The position of a sheet in this workbook, or a target in another workbook."""


@dataclass(slots=True)
class Shown:
    """Count and best evidence of one target and use."""

    cells: int = 0
    declared: float = 0.0  # weight of the strongest declaration that refers to it; 0 without one
    _gathered: int = 0  # cells that total it or show it unchanged
    _most: int = 0
    _formula: str = ""
    _gathering_formula: str = ""
    _declaration: str = ""

    def add(self, cells: int, evidence: str, *, gathers: bool) -> None:
        """Count cells of a formula."""
        self.cells += cells
        if gathers:
            self._gathered += cells
            self._gathering_formula = self._gathering_formula or evidence
        if cells > self._most:
            self._most, self._formula = cells, evidence

    def declare(self, weight: float, evidence: str) -> None:
        """Record a pivot table, chart, list of choices or consolidation."""
        if weight > self.declared:
            self.declared, self._declaration = weight, evidence

    def strength(self) -> float:
        """Weight of all its evidence."""
        return max(self.declared, self._computed(self.cells))

    def gathering(self) -> float:
        """Weight of the gathering evidence; 0 without any."""
        return max(self.declared, self._computed(self._gathered))

    def formula(self) -> str:
        """The formula that fills the most cells."""
        return self._formula

    def evidence(self) -> str:
        """The formula or the declaration, whichever is stronger."""
        return self._stronger(self._formula, self.cells)

    def gathering_evidence(self) -> str:
        """The gathering formula or the declaration, whichever is stronger."""
        return self._stronger(self._gathering_formula, self._gathered)

    def _stronger(self, formula: str, cells: int) -> str:
        return self._declaration if self.declared > self._computed(cells) else formula

    @staticmethod
    def _computed(cells: int) -> float:
        return strength(cells) if cells else 0.0


@dataclass(slots=True)
class Tally:
    """All references of one sheet, by target and use."""

    source: SheetRecord
    place: int
    shown: dict[tuple[End, Use], Shown] = field(default_factory=dict)

    def at(self, end: End, use: Use) -> Shown:
        """The count of one target and use, made if it does not exist."""
        return self.shown.setdefault((end, use), Shown())

    def uses(self) -> dict[End, dict[Use, Shown]]:
        """Counts by target, in the order of first use."""
        found: dict[End, dict[Use, Shown]] = {}
        for (end, use), shown in self.shown.items():
            found.setdefault(end, {})[use] = shown
        return found


@dataclass(slots=True)
class Book:
    """A workbook whose references are being resolved."""

    scope: Scope
    records: dict[int, SheetRecord]
    tallies: dict[int, Tally] = field(default_factory=dict)
    steps: int = 0

    @classmethod
    def of(cls, records: Sequence[SheetRecord], structure: Structure) -> Book:
        """Make the workbook of records in tab order, with nothing counted yet."""
        sheets = list(structure.tabs)
        known = {sheet.casefold() for sheet in sheets}
        sheets += [each.sheet for each in records if each.sheet.casefold() not in known]
        file = next((each.path or each.workbook for each in records), "")
        scope = Scope(sheets, structure, file)
        places: dict[int, SheetRecord] = {}
        for record in records:
            places.setdefault(scope.places[record.sheet.casefold()], record)
        return cls(scope, places)

    def tally(self, sheet: str) -> Tally | None:
        """The tally of a sheet; None for one without a record."""
        place = self.scope.places.get(sheet.casefold(), -1)
        if place not in self.records:
            return None
        return self.tallies.setdefault(place, Tally(self.records[place], place))

    def add_reference(self, reference: Reference) -> None:
        """Count a reference for each of its resolved targets."""
        tally = self.tally(reference.sheet)
        if tally is None or self.steps > _MAX_STEPS:
            return
        target = Target(
            reference.workbook, reference.first, reference.last, reference.name, reference.area
        )
        evidence = _line(f"{address(reference.sheet, reference.cell)} ={reference.formula}")
        shows = _shows(reference)
        for meant in self._ends(
            tally, self.scope.meant(reference.sheet, Taken(reference.use, target))
        ):
            gathers = meant.use is Use.AGGREGATE or (meant.use is Use.VALUE and shows)
            shown = tally.at(_end(meant), meant.use)
            shown.add(max(1, reference.cells), evidence, gathers=gathers)

    def add_source(self, source: DataSource) -> None:
        """Record a declared source for each of its resolved targets."""
        tally = self.tally(source.sheet)
        if tally is None:
            return
        use = Use.LOOKUP if source.kind is SourceKind.VALIDATION else Use.AGGREGATE
        place = address(source.sheet, source.place)
        # It is not known here whether values may be kept, so literals are left out.
        evidence = _line(f"{place} {source.kind.value} ={_bare(source.text)}")
        for meant in self._ends(tally, self.scope.text(source.sheet, source.text, use)):
            tally.at(_end(meant), use).declare(DECLARED[source.kind], evidence)

    def _ends(self, tally: Tally, found: Iterable[Meant]) -> Iterator[Meant]:
        for meant in found:
            self.steps += 1
            if self.steps > _MAX_STEPS:
                return
            if meant.external is not None or (
                meant.place in self.records and meant.place != tally.place
            ):
                yield meant


def _end(meant: Meant) -> End:
    """The key of a tally; a target in another workbook loses its range."""
    return meant.place if meant.external is None else meant.external._replace(area="")


def _bare(text: str) -> str:
    """The text of a declared source, with any literals replaced by "…"."""
    from sat_retriever.links.formula.tokens import without_literals

    bare = without_literals(text)
    return bare if "…" in bare else text


def _shows(reference: Reference) -> bool:
    """True if formulas show their target unchanged, judged by the first formula."""
    from sat_retriever.links.formula.tokens import carries

    return reference.use is Use.VALUE and carries(reference.formula)


def address(sheet: str, cell: str) -> str:
    """A cell with its sheet, quoted if a formula would need quotes.

    >>> address("Q1", "B4"), address("Q1 data", "B4"), address("O'Brien", "A1")
    ("'Q1'!B4", "'Q1 data'!B4", "'O''Brien'!A1")
    >>> address("Summary", "B4"), address("Summary", "")
    ('Summary!B4', 'Summary')
    """
    plain = _PLAIN_NAME.fullmatch(sheet) and not _ADDRESS_LIKE.fullmatch(sheet)
    name = sheet if plain else "'" + sheet.replace("'", "''") + "'"
    return f"{name}!{cell}" if cell else name


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _EVIDENCE else line[: _EVIDENCE - 1] + "…"
