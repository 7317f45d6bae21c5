"""References and declared sources of a workbook, counted by sheet, by what it takes and how."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sat_retriever.links.formula.operands import Taken, Target
from sat_retriever.links.formula.scope import Meant, Scope
from sat_retriever.links.formula.weights import DECLARED, strength
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.structure import DataSource, Reference, SourceKind, Structure, Use

_MAX_STEPS = 100_000  # ends of references looked at, the rest is left; 3-D ranges multiply
_EVIDENCE = 200
_PLAIN_NAME = re.compile(r"[^\W\d][\w.]*")
_ADDRESS_LIKE = re.compile(r"[A-Za-z]{1,3}[0-9]+|[Rr][0-9]*[Cc]?[0-9]*|[Cc][0-9]*")

End = int | Target
"""The place of an own sheet, or a thing in another workbook."""


@dataclass(slots=True)
class Shown:
    """How often something shows, and where best.

    Attributes:
        cells: Cells with a formula that shows it.
        declared: Weight of the strongest declaration that shows it; 0 without one.
    """

    cells: int = 0
    declared: float = 0.0
    _gathered: int = 0  # cells that total it or show it as it is
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
        """Note a pivot table, chart, list of choices or consolidation."""
        if weight > self.declared:
            self.declared, self._declaration = weight, evidence

    def strength(self) -> float:
        """Weight of all that shows it."""
        return max(self.declared, self._computed(self.cells))

    def gathering(self) -> float:
        """Weight of what is gathered; 0 if nothing is."""
        return max(self.declared, self._computed(self._gathered))

    def formula(self) -> str:
        """The formula of the most cells."""
        return self._formula

    def evidence(self) -> str:
        """The stronger one of formula and declaration."""
        return self._stronger(self._formula, self.cells)

    def gathering_evidence(self) -> str:
        """The same of what is gathered."""
        return self._stronger(self._gathering_formula, self._gathered)

    def _stronger(self, formula: str, cells: int) -> str:
        return self._declaration if self.declared > self._computed(cells) else formula

    @staticmethod
    def _computed(cells: int) -> float:
        return strength(cells) if cells else 0.0


@dataclass(slots=True)
class Tally:
    """All that one sheet takes, by what it takes and how."""

    source: SheetRecord
    place: int
    shown: dict[tuple[End, Use], Shown] = field(default_factory=dict)

    def at(self, end: End, use: Use) -> Shown:
        """Where to count one use of one end."""
        return self.shown.setdefault((end, use), Shown())

    def uses(self) -> dict[End, dict[Use, Shown]]:
        """By end, in the order of first use."""
        found: dict[End, dict[Use, Shown]] = {}
        for (end, use), shown in self.shown.items():
            found.setdefault(end, {})[use] = shown
        return found


@dataclass(slots=True)
class Book:
    """A workbook while its references are resolved."""

    scope: Scope
    records: dict[int, SheetRecord]
    tallies: dict[int, Tally] = field(default_factory=dict)
    steps: int = 0

    @classmethod
    def of(cls, records: Sequence[SheetRecord], structure: Structure) -> Book:
        """The workbook of some records in tab order, nothing counted yet."""
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
        """Count a reference for all that it comes to."""
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
        """Note a declared source for all that it comes to."""
        tally = self.tally(source.sheet)
        if tally is None:
            return
        use = Use.LOOKUP if source.kind is SourceKind.VALIDATION else Use.AGGREGATE
        place = address(source.sheet, source.place)
        # Whether values may be kept is not known here, and what matters is where they stand.
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
    """What tallies go by: for another workbook without the range taken."""
    return meant.place if meant.external is None else meant.external._replace(area="")


def _bare(text: str) -> str:
    """The text of a declared source, as it is unless literals stand in it."""
    from sat_retriever.links.formula.tokens import without_literals

    bare = without_literals(text)
    return bare if "…" in bare else text


def _shows(reference: Reference) -> bool:
    """True if formulas show what they take as it is, judged by the first of them."""
    from sat_retriever.links.formula.tokens import carries

    return reference.use is Use.VALUE and carries(reference.formula)


def address(sheet: str, cell: str) -> str:
    """A cell with its sheet, quoted where a formula would need it.

    >>> address("Q1", "B4"), address("Q1 data", "B4"), address("O'Brien", "A1")
    ("'Q1'!B4", "'Q1 data'!B4", "'O''Brien'!A1")
    >>> address("Summary", "B4"), address("Summary", "")
    ('Summary!B4', 'Summary')
    """
    plain = _PLAIN_NAME.fullmatch(sheet) and not _ADDRESS_LIKE.fullmatch(sheet)
    name = sheet if plain else "'" + sheet.replace("'", "''") + "'"
    return f"{name}!{cell}" if cell else name


def _line(text: str) -> str:
    """The text on one line, cut to the length of evidence."""
    line = " ".join(text.split())
    return line if len(line) <= _EVIDENCE else line[: _EVIDENCE - 1] + "…"
