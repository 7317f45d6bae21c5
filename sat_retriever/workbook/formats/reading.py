"""State of reading a workbook, and the facts about a sheet beside its values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import BinaryIO

from sat_retriever.records.area import Area, Place
from sat_retriever.records.contents import CellText
from sat_retriever.records.sheets import SkipReason
from sat_retriever.records.structure import DataSource, SourceKind
from sat_retriever.workbook.limits import Budget
from sat_retriever.workbook.messages import Request
from sat_retriever.workbook.share import Tell
from sat_retriever.workbook.tables.contents import MAX_CONTENTS
from sat_retriever.workbook.tables.records import Source
from sat_retriever.workbook.tables.role import Setting
from sat_retriever.workbook.tables.sketches import MAX_PROFILES
from sat_retriever.workbook.tables.sums import Sums
from sat_retriever.workbook.values.grid import CellFormats, Grid, Places
from sat_retriever.workbook.values.read import SheetValues, with_errors
from sat_retriever.workbook.values.readers import Readers


@dataclass(slots=True)
class Reading:
    """State of reading one workbook."""

    request: Request
    source: Source
    file: BinaryIO
    damage: str = ""  # known damage as a sentence; empty if there is none
    profiles_left: int = MAX_PROFILES
    tabs: frozenset[str] = frozenset()  # names of its sheets, casefolded
    # Number of cells with a formula, by sheet, where it is known
    formulas: dict[str, int] = field(default_factory=dict)
    # Charts and pivot tables of other sheets' data, by the sheet they stand on
    drawn: dict[str, set[SourceKind]] = field(default_factory=dict)
    contents_left: int = MAX_CONTENTS
    tell: Tell | None = None  # is given the share of the file that was read
    budget: Budget = field(init=False)
    readers: Readers = field(init=False)

    def __post_init__(self) -> None:
        self.budget = Budget(self.request.limits, self.tell)
        self.readers = Readers(self.file, safe=self.request.safe)

    def show(self, sources: Iterable[DataSource]) -> None:
        """Note the charts and pivot tables that show another sheet than their own."""
        for source in sources:
            own = source.text.replace("'", "").startswith(f"{source.sheet}!")
            if source.kind in (SourceKind.CHART, SourceKind.PIVOT) and not own:
                self.drawn.setdefault(source.sheet, set()).add(source.kind)

    def setting(self, sheet: str) -> Setting:
        """What is known of a sheet beside its values."""
        drawn = self.drawn.get(sheet, ())
        return Setting(
            sheet,
            self.tabs,
            self.formulas.get(sheet, 0),
            charts=SourceKind.CHART in drawn,
            pivots=SourceKind.PIVOT in drawn,
        )


@dataclass(slots=True)
class SheetFacts:
    """Facts about a sheet beside its values."""

    area: Area | None = None  # smallest rectangle of all cells that hold a value or a formula
    formula_area: Area | None = None
    # (row, column, text) of cells with an error value
    errors: list[tuple[int, int, str]] = field(default_factory=list)
    merges: list[Area] = field(default_factory=list)
    damage: str = ""  # reason why damage ended the reading early; empty if it did not
    cut: SkipReason | None = None  # limit that ended the reading early; None if none did
    dimension: Area | None = None  # used range as the file itself states it, which may be wrong
    # Cells whose formula has no saved value, including all cells that an array fills; at most as
    # many as the limit on a sheet's cells
    unsaved: Places = field(default_factory=Places)
    sums: Sums = field(default_factory=dict)
    formats: CellFormats = field(default_factory=CellFormats)
    # Texts of cells by row and column, if they are asked for and the file itself has them
    shown: Mapping[Place, str] = field(default_factory=dict)
    beside: list[CellText] = field(default_factory=list)


def with_facts(values: SheetValues, facts: SheetFacts | None) -> tuple[Grid, Area | None]:
    """Grid and used range of the values, corrected by the facts."""
    if facts is None:
        return values.grid, values.area
    grid = with_errors(values.grid, facts.errors)
    last = grid.first_row + len(grid.rows) - 1
    unsaved = facts.unsaved.above(last) if values.cut or values.shortened else facts.unsaved
    areas = facts.formula_area, facts.unsaved.area
    area = _union(values.area, *areas, *(Area(r, c, r, c) for r, c, _ in facts.errors))
    area = _union(area, facts.area) if values.cut else area
    grid = replace(grid, unsaved=unsaved, sums=facts.sums, formats=facts.formats)
    return grid, _union(area, facts.dimension) if facts.cut else area


def _union(*areas: Area | None) -> Area | None:
    held = [area for area in areas if area is not None]
    return Area.around(held) if held else None
