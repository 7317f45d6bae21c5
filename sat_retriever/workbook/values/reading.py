"""One sheet's values and scan to its messages: record, profiles, what was left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sat_retriever.records.area import Area
from sat_retriever.records.jsonform import Json, to_json
from sat_retriever.records.sheets import FormulaState, SheetRecord, SkipReason, Visibility
from sat_retriever.records.structure import TableObject
from sat_retriever.workbook.formats.xlsx.book import SheetPart
from sat_retriever.workbook.formats.xlsx.scan import SheetScan
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.opening.skips import skip, why_cut
from sat_retriever.workbook.process.budget import Budget
from sat_retriever.workbook.process.request import Request
from sat_retriever.workbook.process.wire import cells_to_json, profiles_to_json
from sat_retriever.workbook.tables.records import Source, sheet_record
from sat_retriever.workbook.values.grid import Grid
from sat_retriever.workbook.values.profile import MAX_PROFILES, column_profiles
from sat_retriever.workbook.values.read import SheetValues, ValuesFailed, with_errors
from sat_retriever.workbook.values.readers import Readers

_EMPTY = "The sheet has no cell with a value."


@dataclass(slots=True)
class Reading:
    """A workbook while its sheets are read.

    Attributes:
        request: What is asked for.
        source: What all its records have in common.
        readers: Its value readers.
        budget: What may still be read of it.
        profiles_left: Profiles that it may still have.
    """

    request: Request
    source: Source
    readers: Readers
    budget: Budget
    profiles_left: int = MAX_PROFILES

    def profiles(self, record: SheetRecord, grid: Grid) -> Iterator[Json]:
        """Profiles of a sheet's columns, if asked for and if values may be kept."""
        if not (self.request.examples and self.request.links):
            return
        found = column_profiles(record, grid)[: self.profiles_left]
        self.profiles_left -= len(found)
        if found:
            yield {"profiles": profiles_to_json(record.sheet, found)}


def no_more(reading: Reading, index: int, total: int) -> Json | None:
    """Why no sheet from a position on is read, as one message; None if the next one is."""
    limits = reading.request.limits
    reason, why = SkipReason.TOO_LARGE, f"the limit is {limits.sheets:,} sheets a workbook"
    if reading.budget.late():
        reason = SkipReason.TIMEOUT
        why = why_cut(reason, limits)
    elif index < limits.sheets:
        return None
    message = f"Only the first {index:,} of its {total:,} sheets were read: {why}."
    return skip(reading.request, reason, message)


def refuse_sheet(sheet: SheetPart, seen: set[str]) -> tuple[SkipReason, str] | None:
    """Why a listed sheet is not read at all; None if it is. Notes its name in `seen`."""
    if sheet.other:
        return SkipReason.NOT_A_WORKSHEET, f"A {sheet.other} has no cells of its own."
    if sheet.name in seen:
        return SkipReason.DUPLICATE_ID, "Another sheet of the workbook has the same name."
    seen.add(sheet.name)
    return None


def sheet_messages(
    reading: Reading,
    sheet: SheetPart,
    scan: SheetScan | None,
    tables: Sequence[TableObject],
    state: FormulaState,
) -> Iterator[Json]:
    """The record of one sheet and its profiles, or why there is none.

    Args:
        reading: The workbook it stands in.
        sheet: Name and visibility.
        scan: What is known of its XML; None if only its values are read.
        tables: Its declared tables.
        state: Whether its formulas were read.
    """
    request = reading.request
    try:
        values = _values(reading, sheet.name, scan)
    except ValuesFailed as failed:
        if scan is not None and not (scan.area or scan.formula_area or scan.damage):
            yield skip(request, SkipReason.EMPTY_SHEET, _EMPTY, sheet.name)
            return
        message = f"The sheet cannot be read: {failed}."
        yield skip(request, SkipReason.DAMAGED, message, sheet.name)
        return
    grid, area = _with_scan(values, scan)
    if values.lost and request.window is None:
        yield skip(request, SkipReason.DAMAGED, _lost(values.lost), sheet.name)
    if area is None:
        if not values.lost:
            yield skip(request, SkipReason.EMPTY_SHEET, _EMPTY, sheet.name)
        return
    if request.window is not None:
        short = bool(values.cut or values.shortened or (scan is not None and scan.cut))
        yield {"cells": cells_to_json(grid, request.window.area, area, cut=short)}
        return
    record = sheet_record(
        reading.source,
        sheet.name,
        grid,
        area,
        visibility=sheet.visibility or Visibility.VISIBLE,
        merges=tuple(scan.merges if scan else ()) or values.merges,
        table_objects=tables,
        examples=request.examples,
    )
    cut = why_partial(values, scan.cut if scan else None, area, request.limits)
    record = replace(record, formulas=state, partial=cut is not None)
    yield {"record": to_json(record)}
    yield from reading.profiles(record, grid)
    if cut is not None:
        yield skip(request, *cut, sheet.name)


def why_partial(
    values: SheetValues, scan_cut: SkipReason | None, area: Area, limits: Limits
) -> tuple[SkipReason, str] | None:
    """Why a record tells of only a part of its sheet; None if it tells of all.

    Args:
        values: What was read of the sheet.
        scan_cut: Why its XML was not scanned to the end, if it was not.
        area: Its used range, as far as it is known.
        limits: The bounds.
    """
    rows = area.bottom - area.top + 1
    read = min(rows, len(values.grid.rows))
    reason = values.cut or (SkipReason.TOO_LARGE if values.shortened else None)
    if reason is SkipReason.TIMEOUT:
        return reason, f"Only the first {read:,} of its rows were read: {why_cut(reason, limits)}."
    if reason is SkipReason.DAMAGED:
        return reason, f"The sheet is damaged behind row {area.top + read - 1:,}; it ends there."
    if reason is not None:
        why = f"the limit is {limits.cells:,} cells a sheet, {limits.workbook_cells:,} a workbook"
        return reason, f"Only the first {read:,} of its {rows:,} rows were read: {why}."
    if scan_cut is not None:
        return scan_cut, f"Not all of its formulas were read: {why_cut(scan_cut, limits)}."
    return None


def _lost(cells: int) -> str:
    many = f"{cells:,} cells cannot" if cells > 1 else "One cell cannot"
    return f"{many} be read, for example because the text is missing in the workbook; left empty."


def _values(reading: Reading, sheet: str, scan: SheetScan | None) -> SheetValues:
    """Values of a sheet by the reader that fits its size.

    Raises:
        ValuesFailed: If no reader can read it.
    """
    area = scan.area if scan else None
    cut = scan is not None and scan.cut is not None
    room = min(reading.request.limits.area, reading.budget.cells)
    dense = not cut and (area is None or _cells(area) <= room)
    return reading.readers.values(sheet, dense=dense, held=area is not None)


def _with_scan(values: SheetValues, scan: SheetScan | None) -> tuple[Grid, Area | None]:
    """Grid and used range, corrected by what the scan knows better."""
    if scan is None:
        return values.grid, values.area
    grid = with_errors(values.grid, scan.errors)
    last = grid.first_row + len(grid.rows) - 1
    unsaved = scan.unsaved.above(last) if values.cut or values.shortened else scan.unsaved
    areas = scan.formula_area, scan.unsaved.area
    area = _union(values.area, *areas, *(Area(r, c, r, c) for r, c, _ in scan.errors))
    area = _union(area, scan.area) if values.cut else area
    grid = replace(grid, unsaved=unsaved)
    return grid, _union(area, scan.dimension) if scan.cut else area


def _cells(area: Area) -> int:
    return (area.bottom - area.top + 1) * (area.right - area.left + 1)


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
