"""Declarations in the content part of an ods beside its cells."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from sat_retriever.records.area import area_of
from sat_retriever.records.structure import (
    DataSource,
    DefinedName,
    SheetTable,
    SourceKind,
    TableObject,
)
from sat_retriever.workbook.formats.ods.content import (
    CELLS,
    FORMULA,
    SheetReader,
    content_parser,
    shows_unit,
    thinned,
)
from sat_retriever.workbook.formats.ods.formula import (
    excel_formula,
    excel_reference,
    excel_references,
    sheet_of,
)
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.opening.package import Attributes, Chunks, feed, local, local_names

MAX_DECLARED = 20_000  # for names, tables, sources and objects each
_LIST = re.compile(r"cell-content-is-in-list\((.*)\)", re.DOTALL)
_AUTOMATIC = "__Anonymous"  # name of ranges that a filter creates
_MAX_NAME = 60


@dataclass(slots=True)
class OdsDeclared:
    """Declarations of the content part beside its cells."""

    tabs: list[str] = field(default_factory=list)
    names: list[DefinedName] = field(default_factory=list)
    tables: list[SheetTable] = field(default_factory=list)
    sources: list[DataSource] = field(default_factory=list)
    # (sheet, name, folder) of embedded objects, including charts
    objects: list[tuple[str, str, str]] = field(default_factory=list)
    formulas: bool = False
    units: bool = False


def read_declared(chunks: Chunks, limits: Limits) -> OdsDeclared:
    """The declarations of an ods; its rows are skipped."""
    found = OdsDeclared()

    def keep(row: bytes) -> bool:
        found.formulas = found.formulas or b"formula" in row
        found.units = found.units or shows_unit(row)
        return b"object" in row

    reader = _DeclaredReader(found, limits)
    feed(content_parser(reader), thinned(chunks(), keep))
    return found


class _DeclaredReader(SheetReader):
    def __init__(self, found: OdsDeclared, limits: Limits) -> None:
        super().__init__(limits)
        self.found = found
        self._frame = ""
        self._pivot: Attributes = {}

    def begin_sheet(self, sheet: str) -> None:
        self.found.tabs.append(sheet)

    def visit(self, name: str, attributes: Attributes) -> None:
        if name in CELLS and FORMULA in attributes:
            self.found.formulas = True
        take = _TAKEN.get(local(name))
        if take is not None:
            take(self, local_names(attributes))

    def named_range(self, plain: Attributes) -> None:
        text = ",".join(excel_references(plain.get("cell-range-address", "")))
        self._name(plain, text)

    def named_expression(self, plain: Attributes) -> None:
        self._name(plain, excel_formula(plain.get("expression", "")))

    def _name(self, plain: Attributes, text: str) -> None:
        name = plain.get("name", "")
        if name and text and len(self.found.names) < MAX_DECLARED:
            self.found.names.append(DefinedName(name, text, self.sheet))

    def database_range(self, plain: Attributes) -> None:
        name, address = plain.get("name", ""), plain.get("target-range-address", "")
        area = area_of(excel_reference(address).rpartition("!")[2])
        sheet = sheet_of(address)
        if not name or name.startswith(_AUTOMATIC) or area is None or not sheet:
            return
        headers = 0 if plain.get("contains-header") == "false" else 1
        if len(self.found.tables) < MAX_DECLARED:
            self.found.tables.append(SheetTable(sheet, TableObject(name, area, headers)))

    def validation(self, plain: Attributes) -> None:
        choices = _LIST.search(plain.get("condition", ""))
        address = plain.get("base-cell-address", "")
        text = excel_formula(choices[1]) if choices else ""
        if text and not text.startswith('"') and area_of(text) is None:
            self._source(sheet_of(address), SourceKind.VALIDATION, text, _cell_of(address))

    def pivot(self, plain: Attributes) -> None:
        self._pivot = plain

    def pivot_source(self, plain: Attributes) -> None:
        sheet = sheet_of(self._pivot.get("target-range-address", ""))
        place = self._pivot.get("name", "")[:_MAX_NAME]
        address = plain.get("cell-range-address", "")
        text = excel_reference(address) or plain.get("name", "")
        self._source(sheet, SourceKind.PIVOT, text, place)

    def consolidation(self, plain: Attributes) -> None:
        target = plain.get("target-cell-address", "")
        for text in excel_references(plain.get("source-cell-range-addresses", "")):
            place = _cell_of(target)
            self._source(sheet_of(target), SourceKind.CONSOLIDATION, text, place)

    def frame(self, plain: Attributes) -> None:
        self._frame = plain.get("name", "")[:_MAX_NAME]

    def object(self, plain: Attributes) -> None:
        href = plain.get("href", "")
        if self.sheet is not None and href and len(self.found.objects) < MAX_DECLARED:
            self.found.objects.append((self.sheet, self._frame, href))

    def _source(self, sheet: str, kind: SourceKind, text: str, place: str) -> None:
        if sheet and text and len(self.found.sources) < MAX_DECLARED:
            self.found.sources.append(DataSource(sheet, kind, text, place))


_TAKEN: dict[str, Callable[[_DeclaredReader, Attributes], None]] = {
    "named-range": _DeclaredReader.named_range,
    "named-expression": _DeclaredReader.named_expression,
    "database-range": _DeclaredReader.database_range,
    "content-validation": _DeclaredReader.validation,
    "data-pilot-table": _DeclaredReader.pivot,
    "source-cell-range": _DeclaredReader.pivot_source,
    "consolidation": _DeclaredReader.consolidation,
    "frame": _DeclaredReader.frame,
    "object": _DeclaredReader.object,
}


def _cell_of(address: str) -> str:
    return excel_reference(address).rpartition("!")[2].replace("$", "")
