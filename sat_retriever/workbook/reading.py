"""One sheet's values and scan to its messages: record, profiles, what was left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sat_retriever.area import Area
from sat_retriever.jsonform import to_json
from sat_retriever.structure import TableObject
from sat_retriever.types import FormulaState, SheetRecord, SkipReason, Visibility
from sat_retriever.workbook.grid import Grid
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.profile import MAX_PROFILES, column_profiles
from sat_retriever.workbook.readers import Readers
from sat_retriever.workbook.records import Source, sheet_record
from sat_retriever.workbook.request import Request
from sat_retriever.workbook.scan import SheetScan
from sat_retriever.workbook.skips import skip
from sat_retriever.workbook.values import SheetValues, ValuesFailed, with_errors
from sat_retriever.workbook.wire import cells_to_json, profiles_to_json
from sat_retriever.workbook.xlsx import SheetPart

Json = dict[str, Any]
_EMPTY = "The sheet has no cell with a value."


@dataclass(slots=True)
class Reading:
    """A workbook while its sheets are read.

    Attributes:
        request: What is asked for.
        source: What all its records have in common.
        readers: Its value readers.
        profiles_left: Profiles that it may still have.
    """

    request: Request
    source: Source
    readers: Readers
    profiles_left: int = MAX_PROFILES

    def profiles(self, record: SheetRecord, grid: Grid) -> Iterator[Json]:
        """Profiles of a sheet's columns, if asked for and if values may be kept."""
        if not (self.request.examples and self.request.links):
            return
        found = column_profiles(record, grid)[: self.profiles_left]
        self.profiles_left -= len(found)
        if found:
            yield {"profiles": profiles_to_json(record.sheet, found)}


def refuse_sheet(
    sheet: SheetPart, index: int, seen: set[str], limits: Limits
) -> tuple[SkipReason, str] | None:
    """Why a listed sheet is not read at all; None if it is. Notes its name in `seen`."""
    if sheet.other:
        return SkipReason.NOT_A_WORKSHEET, f"A {sheet.other} has no cells of its own."
    if index >= limits.sheets:
        return SkipReason.TOO_LARGE, f"Only the first {limits.sheets:,} sheets are read."
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
        if scan is not None and scan.area is None and not scan.damage:
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
        cut = values.cut or values.shortened or (scan is not None and scan.cut)
        yield {"cells": cells_to_json(grid, request.window.area, area, cut=cut)}
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
    yield {"record": to_json(replace(record, formulas=state))}
    yield from reading.profiles(record, grid)
    if scan is not None and scan.cut:
        message = "The sheet is so large that only its first rows and formulas were read."
        yield skip(request, SkipReason.TOO_LARGE, message, sheet.name)


def _lost(cells: int) -> str:
    many = f"{cells:,} cells cannot" if cells > 1 else "One cell cannot"
    return f"{many} be read, for example because the text is missing in the workbook; left empty."


def _values(reading: Reading, sheet: str, scan: SheetScan | None) -> SheetValues:
    """Values of a sheet by the reader that fits its size.

    Raises:
        ValuesFailed: If no reader can read it.
    """
    limits = reading.request.limits
    area = scan.area if scan else None
    cut = scan is not None and scan.cut
    dense = not cut and (area is None or _cells(area) <= limits.area)
    return reading.readers.values(sheet, limits, dense=dense, held=area is not None)


def _with_scan(values: SheetValues, scan: SheetScan | None) -> tuple[Grid, Area | None]:
    """Grid and used range, corrected by what the scan knows better."""
    if scan is None:
        return values.grid, values.area
    grid = with_errors(values.grid, scan.errors)
    area = _union(values.area, scan.formula_area, *(Area(r, c, r, c) for r, c, _ in scan.errors))
    area = _union(area, scan.area) if values.cut else area
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
