"""Messages about a workbook by its values: xlsb, xls, ods, and damaged packages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sat_retriever.records.formats import FormulaState, format_named
from sat_retriever.records.jsonform import Json
from sat_retriever.records.sheets import SkipReason
from sat_retriever.records.structure import SheetTable, TableObject
from sat_retriever.workbook.formats.facts import SheetFacts
from sat_retriever.workbook.formats.reading import Reading
from sat_retriever.workbook.formats.sheets import each_sheet, sheet_messages
from sat_retriever.workbook.limits import Refused
from sat_retriever.workbook.values.cellformats import CellFormats
from sat_retriever.workbook.values.places import NO_PLACES, Places
from sat_retriever.workbook.values.read import ListedSheet

_CRASHED = "The reader crashed on this file, twice in a row."


@dataclass(frozen=True, slots=True)
class Known:
    """Facts about the sheets of a workbook beside their values.

    Attributes:
        states: State of the formulas, by sheet; formulas of other sheets were not read.
        tables: Declared tables.
        unsaved: Cells whose formula has no saved value, by sheet.
        formats: Number formats of cells, by sheet.
    """

    states: Mapping[str, FormulaState] = field(default_factory=dict)
    tables: Sequence[SheetTable] = ()
    unsaved: Mapping[str, Places] = field(default_factory=dict)
    formats: Mapping[str, CellFormats] = field(default_factory=dict)


NOTHING_KNOWN = Known()


def read_by_value(
    reading: Reading, known: Known = NOTHING_KNOWN, *, by_openpyxl: bool = False
) -> Iterator[Json]:
    """Yield messages about an xlsb, xls or ods, or about a package too damaged for more.

    Args:
        reading: The workbook.
        known: Facts that are already known.
        by_openpyxl: True if openpyxl reads its format, too. Otherwise no other reader exists
            for a file on which calamine crashed.

    Raises:
        Refused: If no reader opens it.
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
        if len(unsaved) or len(formats):
            facts = SheetFacts(unsaved=unsaved, formula_area=unsaved.area, formats=formats)
        state = known.states.get(sheet.name, unread)
        yield from sheet_messages(reading, sheet, facts, tables.get(sheet.name, ()), state)

    yield from each_sheet(reading, reading.readers.listed(reading.damage), read)
