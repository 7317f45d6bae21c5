"""Messages about the sheets of a workbook, in the same way for every format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sat_retriever.records.area import Area, Place
from sat_retriever.records.formats import FormulaState, format_named
from sat_retriever.records.jsonform import Json, to_json
from sat_retriever.records.sheets import SheetRecord, SkipReason, Visibility
from sat_retriever.records.structure import SheetTable, TableObject
from sat_retriever.workbook.formats.reading import Reading, SheetFacts, with_facts
from sat_retriever.workbook.limits import Limits, Refused
from sat_retriever.workbook.messages import profiles_to_json, skip
from sat_retriever.workbook.tables.contents import ROOM, contents_size
from sat_retriever.workbook.tables.data import table_messages
from sat_retriever.workbook.tables.records import sheet_record
from sat_retriever.workbook.tables.sketches import cell_sketch, column_profiles
from sat_retriever.workbook.values.cells import cells_of
from sat_retriever.workbook.values.grid import NO_PLACES, CellFormats, Grid, Places
from sat_retriever.workbook.values.read import ListedSheet, SheetValues, ValuesFailed
from sat_retriever.workbook.values.window import cells_to_json, merged_to_json, shown_to_json

_LATER = 16  # share of what a workbook's contents may still take that is left to later sheets
_EMPTY = "The sheet has no cell with a value."
_CRASHED = "The reader crashed on this file, twice in a row."


def each_sheet(
    reading: Reading,
    sheets: Sequence[ListedSheet],
    read: Callable[[int, ListedSheet], Iterator[Json]],
) -> Iterator[Json]:
    """Yield messages about the requested sheets, and reasons for sheets that are not read."""
    request = reading.request
    reading.tabs = frozenset(sheet.name.casefold().strip() for sheet in sheets)
    seen: set[str] = set()
    for index, sheet in enumerate(sheets):
        reading.budget.share.begin(index, len(sheets))
        if not request.asks_for(sheet.name):
            continue
        ended = _no_more(reading, index, len(sheets))
        if ended is not None:
            yield ended
            return
        refusal = _refusal(sheet, seen)
        if refusal is not None:
            yield skip(request, *refusal, sheet.name)
            continue
        seen.add(sheet.name)
        try:
            yield from read(index, sheet)
        except Refused as refused:
            yield skip(request, refused.reason, refused.message, sheet.name)


def _no_more(reading: Reading, index: int, total: int) -> Json | None:
    """The message that a limit ends the reading before a sheet; None if it can be read."""
    limits = reading.request.limits
    reason, why = SkipReason.TOO_LARGE, f"the limit is {limits.sheets:,} sheets per workbook"
    if reading.budget.late():
        reason = SkipReason.TIMEOUT
        why = limits.why_cut(reason)
    elif index < limits.sheets:
        return None
    message = f"Only the first {index:,} of its {total:,} sheets were read: {why}."
    return skip(reading.request, reason, message)


def _refusal(sheet: ListedSheet, seen: set[str]) -> tuple[SkipReason, str] | None:
    if sheet.other:
        return SkipReason.NOT_A_WORKSHEET, f"A {sheet.other} has no cells of its own."
    if sheet.name in seen:
        return SkipReason.DUPLICATE_ID, "Another sheet of the workbook has the same name."
    return None


def sheet_messages(
    reading: Reading,
    sheet: ListedSheet,
    facts: SheetFacts | None,
    tables: Sequence[TableObject],
    state: FormulaState,
) -> Iterator[Json]:
    """Yield a sheet's record and profiles, or why not; `facts` are None if only values are read."""
    request = reading.request
    try:
        values = _values(reading, sheet.name, facts)
    except ValuesFailed as failed:
        known = facts and (facts.area or facts.formula_area or facts.damage or len(facts.formats))
        if facts is not None and not known:
            yield skip(request, SkipReason.EMPTY_SHEET, _EMPTY, sheet.name)
            return
        message = f"The sheet cannot be read: {failed}."
        yield skip(request, SkipReason.DAMAGED, message, sheet.name)
        return
    if values.lost and request.window is None:
        many = f"{values.lost:,} cells cannot" if values.lost > 1 else "One cell cannot"
        why = "for example because its text is missing from the workbook; left empty"
        yield skip(request, SkipReason.DAMAGED, f"{many} be read, {why}.", sheet.name)
    yield from value_messages(reading, sheet, values, facts, tables, state)


def value_messages(
    reading: Reading,
    sheet: ListedSheet,
    values: SheetValues,
    facts: SheetFacts | None,
    tables: Sequence[TableObject],
    state: FormulaState,
) -> Iterator[Json]:
    """Yield the record and profiles from the values of one sheet, or its cells if requested."""
    request = reading.request
    grid, area = with_facts(values, facts)
    if area is None:
        if not values.lost:
            yield skip(request, SkipReason.EMPTY_SHEET, _EMPTY, sheet.name)
        return
    merges = tuple(facts.merges if facts else ()) or values.merges
    if request.window is not None:
        wanted = request.window
        short = bool(values.cut or values.shortened or (facts is not None and facts.cut))
        if wanted.table is not None:
            yield from table_messages(cells_of(grid, merges), tables, wanted, cut=short)
            return
        told = cells_to_json(grid, wanted.area, area, cut=short, most=wanted.most)
        told["merged"] = merged_to_json(grid, merges, told)
        if wanted.shown:
            told["shown"] = shown_to_json(grid, told, facts.shown if facts else {})
        yield {"cells": told}
        return
    record = sheet_record(
        reading.source,
        sheet.name,
        grid,
        area,
        visibility=sheet.visibility or Visibility.VISIBLE,
        merges=merges,
        table_objects=tables,
        beside=facts.beside if facts else (),
        privacy=request.privacy,
        setting=reading.setting(sheet.name),
        room=min(ROOM, reading.contents_left // _LATER),
    )
    reading.contents_left -= contents_size(record.contents)
    cut = _why_partial(values, facts.cut if facts else None, area, request.limits)
    record = replace(record, formulas=state, partial=cut is not None)
    yield {"record": to_json(record, compact=True)}
    yield from _profiles(reading, record, grid)
    if cut is not None:
        yield skip(request, *cut, sheet.name)


def _profiles(reading: Reading, record: SheetRecord, grid: Grid) -> Iterator[Json]:
    privacy = reading.request.privacy
    if not (privacy.examples and reading.request.links):
        return
    if (sketch := cell_sketch(record, grid, privacy)) is not None:
        yield {"sketch": to_json(sketch)}
    found = column_profiles(record, grid, privacy)[: reading.profiles_left]
    reading.profiles_left -= len(found)
    if found:
        yield {"profiles": profiles_to_json(record.sheet, found)}


def _why_partial(
    values: SheetValues, facts_cut: SkipReason | None, area: Area, limits: Limits
) -> tuple[SkipReason, str] | None:
    rows = len(area.rows)
    read = min(rows, len(values.grid.rows))
    reason = values.cut or (SkipReason.TOO_LARGE if values.shortened else None)
    if reason is SkipReason.TIMEOUT:
        why = limits.why_cut(reason)
        return reason, f"Only the first {read:,} of its rows were read: {why}."
    if reason is SkipReason.DAMAGED:
        return reason, f"The sheet is damaged after row {area.top + read - 1:,}; it was cut there."
    if reason is not None:
        why = (
            f"the limits are {limits.cells:,} cells per sheet and"
            f" {limits.workbook_cells:,} per workbook"
        )
        return reason, f"Only the first {read:,} of its {rows:,} rows were read: {why}."
    if facts_cut is not None:
        return facts_cut, f"Not all of its formulas were read: {limits.why_cut(facts_cut)}."
    return None


def _values(reading: Reading, sheet: str, facts: SheetFacts | None) -> SheetValues:
    area = facts.area if facts else None
    cut = facts is not None and facts.cut is not None
    room = min(reading.request.limits.area, reading.budget.cells)
    dense = not cut and (area is None or area.size <= room)
    return reading.readers.values(sheet, reading.budget, dense=dense, held=area is not None)


@dataclass(frozen=True, slots=True)
class Known:
    """Facts about the sheets of a workbook beside their values."""

    # State of the formulas, by sheet; formulas of other sheets were not read
    states: Mapping[str, FormulaState] = field(default_factory=dict)
    tables: Sequence[SheetTable] = ()
    unsaved: Mapping[str, Places] = field(default_factory=dict)
    formats: Mapping[str, CellFormats] = field(default_factory=dict)
    shown: Mapping[Place, str] = field(
        default_factory=dict
    )  # texts of the cells that are asked for


NOTHING_KNOWN = Known()


def read_by_value(
    reading: Reading, known: Known = NOTHING_KNOWN, *, by_openpyxl: bool = False
) -> Iterator[Json]:
    """Yield messages about an xlsb, xls or ods, or about a package too damaged for more.

    Unless openpyxl reads its format, too, no other reader exists for a file on which calamine
    crashed.
    """
    if reading.request.safe and not by_openpyxl:
        raise Refused(SkipReason.READER_CRASHED, _CRASHED)
    none = format_named(reading.source.format).formulas is FormulaState.NONE
    unread = FormulaState.NONE if none else FormulaState.UNREAD
    tables: dict[str, list[TableObject]] = {}
    for each in known.tables:
        tables.setdefault(each.sheet, []).append(each.table)

    def read(_index: int, sheet: ListedSheet) -> Iterator[Json]:
        unsaved = known.unsaved.get(sheet.name, NO_PLACES)
        formats = known.formats.get(sheet.name, CellFormats())
        facts = None
        if len(unsaved) or len(formats) or known.shown:
            facts = SheetFacts(unsaved=unsaved, formula_area=unsaved.area, formats=formats)
            facts.shown = known.shown
        state = known.states.get(sheet.name, unread)
        yield from sheet_messages(reading, sheet, facts, tables.get(sheet.name, ()), state)

    yield from each_sheet(reading, reading.readers.listed(reading.damage), read)
