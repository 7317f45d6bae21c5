"""A workbook to messages by its values: xlsb, xls, ods, and damaged packages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from sat_retriever.records.jsonform import Json
from sat_retriever.records.sheets import FormulaState, SkipReason
from sat_retriever.records.structure import SheetTable, TableObject
from sat_retriever.workbook.formats.xlsx.book import SheetPart
from sat_retriever.workbook.formats.xlsx.scan import SheetScan
from sat_retriever.workbook.limits import Refused
from sat_retriever.workbook.opening.skips import skip
from sat_retriever.workbook.process.budget import Budget
from sat_retriever.workbook.process.request import Request
from sat_retriever.workbook.tables.records import Source
from sat_retriever.workbook.values.places import NO_PLACES, Places
from sat_retriever.workbook.values.readers import Readers
from sat_retriever.workbook.values.reading import Reading, no_more, refuse_sheet, sheet_messages

_CRASHED = "The reader crashed on this file, twice in a row."


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the sheets of a workbook beside their values.

    Attributes:
        states: Whether a sheet's formulas were read; they were not if it is missing.
        tables: Declared tables.
        unsaved: Cells whose formula has no saved value, by sheet.
    """

    states: Mapping[str, FormulaState] = field(default_factory=dict)
    tables: Sequence[SheetTable] = ()
    unsaved: Mapping[str, Places] = field(default_factory=dict)


NOTHING_KNOWN = Known()


def read_by_value(
    request: Request,
    source: Source,
    file: BinaryIO,
    values: Path | BinaryIO,
    budget: Budget,
    *,
    damage: str,
    known: Known = NOTHING_KNOWN,
) -> Iterator[Json]:
    """Messages about an xlsb, xls or ods, or a package too damaged for anything but values.

    Raises:
        Refused: If no reader opens it.
    """
    readers = Readers(file, values, budget, safe=request.safe)
    if request.safe and source.format in ("xlsb", "xls", "ods"):
        raise Refused(SkipReason.READER_CRASHED, _CRASHED)
    listed = readers.listed(damage)
    reading = Reading(request, source, readers, budget)
    tables: dict[str, list[TableObject]] = {}
    for each in known.tables:
        tables.setdefault(each.sheet, []).append(each.table)
    seen: set[str] = set()
    for index, sheet in enumerate(listed):
        if not request.asks_for(sheet.name):
            continue
        ended = no_more(reading, index, len(listed))
        if ended is not None:
            yield ended
            return
        part = SheetPart(sheet.name, "", sheet.visibility, sheet.other)
        refusal = refuse_sheet(part, seen)
        if refusal is not None:
            yield skip(request, *refusal, sheet.name)
            continue
        state = known.states.get(sheet.name, FormulaState.UNREAD)
        unsaved = known.unsaved.get(sheet.name, NO_PLACES)
        scan = SheetScan(unsaved=unsaved, formula_area=unsaved.area) if len(unsaved) else None
        yield from sheet_messages(reading, part, scan, tables.get(sheet.name, ()), state)
