"""Facts about a sheet beside its values, and merging them with the values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sat_retriever.records.area import Area
from sat_retriever.records.contents import CellText
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.formats.columnsums import Sums
from sat_retriever.workbook.values.cellformats import CellFormats
from sat_retriever.workbook.values.grid import Grid
from sat_retriever.workbook.values.places import Places
from sat_retriever.workbook.values.read import SheetValues, with_errors


@dataclass(slots=True)
class SheetFacts:
    """Facts about a sheet beside its values.

    Attributes:
        area: Smallest rectangle of all cells that hold a value or a formula.
        formula_area: Smallest rectangle of all cells with a formula.
        errors: (row, column, text) of cells with an error value.
        merges: Merged rectangles.
        damage: Reason why damage ended the reading early; empty if it did not.
        cut: Limit that ended the reading early; None if none did.
        dimension: Used range as the file itself states it, which may be wrong.
        unsaved: Cells whose formula has no saved value, including all cells that an array
            fills; at most as many as the limit on a sheet's cells.
        sums: As `Grid.sums`.
        formats: Number formats of its cells; at most as many.
        beside: Texts of comments, shapes and charts.
    """

    area: Area | None = None
    formula_area: Area | None = None
    errors: list[tuple[int, int, str]] = field(default_factory=list)
    merges: list[Area] = field(default_factory=list)
    damage: str = ""
    cut: SkipReason | None = None
    dimension: Area | None = None
    unsaved: Places = field(default_factory=Places)
    sums: Sums = field(default_factory=dict)
    formats: CellFormats = field(default_factory=CellFormats)
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
    if not held:
        return None
    return Area(
        min(area.top for area in held),
        min(area.left for area in held),
        max(area.bottom for area in held),
        max(area.right for area in held),
    )
