"""Messages about an opened package: structure, formulas, records, skipped parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from sat_retriever.records.contents import CellText, ContentsPolicy
from sat_retriever.records.formats import FormulaState
from sat_retriever.records.jsonform import Json, to_json
from sat_retriever.records.sheets import SkipReason
from sat_retriever.records.structure import (
    DataSource,
    HiddenParts,
    SheetTable,
    Structure,
    TableObject,
)
from sat_retriever.workbook.formats.formulas import (
    Formulas,
    cell_formulas,
    formula_count,
    formula_owners,
)
from sat_retriever.workbook.formats.reading import Reading
from sat_retriever.workbook.formats.sheets import each_sheet, read_by_value, sheet_messages
from sat_retriever.workbook.formats.xlsx.book import (
    Contents,
    read_contents,
    table_objects,
)
from sat_retriever.workbook.formats.xlsx.charts import read_drawn
from sat_retriever.workbook.formats.xlsx.comments import read_comments
from sat_retriever.workbook.formats.xlsx.declared import data_sources, pivot_sources
from sat_retriever.workbook.formats.xlsx.scan import BackgroundScan, SheetScan, scan_sheet
from sat_retriever.workbook.limits import PARSED, Refused
from sat_retriever.workbook.messages import skip
from sat_retriever.workbook.opening.package import Package
from sat_retriever.workbook.tables.notes import texts_beside
from sat_retriever.workbook.tables.sums import column_sums
from sat_retriever.workbook.values.read import ListedSheet

MAX_SOURCES = 20_000  # data sources per workbook
_OVERLAP_BYTES = (4 << 20, 400 << 20)  # least and most bytes of XML for a parallel scan


def read_xlsx(reading: Reading) -> Iterator[Json]:
    """Yield messages about an xlsx, xlsm or xltx."""
    if reading.damage:
        yield from read_by_value(reading, by_openpyxl=True)
        return
    try:
        package = Package.open(reading.file, reading.request.limits)
        contents = read_contents(package, reading.request.shown)
    except Refused as refused:
        if refused.reason not in (SkipReason.DAMAGED, SkipReason.XML_BOMB):
            raise
        yield from _without_package(reading, refused)
        return
    walk = _Walk(reading, package, contents)
    yield from walk.messages()
    yield {"structure": to_json(walk.structure(), compact=True)}


def _without_package(reading: Reading, refused: Refused) -> Iterator[Json]:
    """Yield messages about a refused package by its values, whose readers expand no entities."""
    reading.damage = refused.message
    try:
        yield from read_by_value(reading, by_openpyxl=True)
    except Refused as second:
        raise (refused if second.reason is SkipReason.DAMAGED else second) from second
    if refused.reason is SkipReason.XML_BOMB:
        yield skip(reading.request, refused.reason, refused.message)


@dataclass(slots=True)
class _Declared:
    """What the small parts around a sheet tell, and the reason if some were refused."""

    tables: tuple[TableObject, ...] = ()
    sources: tuple[DataSource, ...] = ()
    texts: tuple[CellText, ...] = ()
    refused: Refused | None = None


@dataclass(slots=True)
class _Walk:
    reading: Reading
    package: Package
    contents: Contents
    tables: list[SheetTable] = field(default_factory=list)
    sources: list[DataSource] = field(default_factory=list)
    hidden: list[HiddenParts] = field(default_factory=list)

    def messages(self) -> Iterator[Json]:
        request = self.reading.request
        self.readers_must_open()
        declared = {
            index: self.declared(sheet)
            for index, sheet in enumerate(self.contents.sheets[: request.limits.sheets])
            if request.asks_for(sheet.name)
        }
        formulas = Formulas(request, self.names(declared), self.reading.budget)
        sizes = [self.package.size(sheet.part) for sheet in self.contents.sheets]
        self.reading.budget.share.sizes = sizes

        def read(index: int, sheet: ListedSheet) -> Iterator[Json]:
            return self.sheet(sheet, declared.pop(index), formulas)

        yield from each_sheet(self.reading, self.contents.sheets, read)

    def readers_must_open(self) -> None:
        try:
            self.reading.readers.listed()
        except Refused as refused:
            bomb = self.package.bomb()
            raise bomb or refused from refused

    def declared(self, sheet: ListedSheet) -> _Declared:
        """A sheet's tables, data sources and texts beside cells; formulas need the tables."""
        found = _Declared()
        if not sheet.part or sheet.other:
            return found
        package, budget = self.package, self.reading.budget
        privacy, window = self.reading.request.privacy, self.reading.request.window
        try:
            found.tables = table_objects(package, sheet.part)
            found.sources = pivot_sources(package, sheet.name, sheet.part)
            drawn = read_drawn(package, sheet.name, sheet.part, budget, linked=privacy.literals)
            found.sources += tuple(drawn.sources)
            found.refused = drawn.refused
            if window is None and privacy.contents is ContentsPolicy.ALL:
                comments, refused = read_comments(package, sheet.part, budget)
                found.texts = tuple(texts_beside([*drawn.texts, *comments]))
                found.refused = drawn.refused or refused
        except Refused as refused:
            found.refused = refused
        return found

    def names(self, declared: dict[int, _Declared]) -> frozenset[str]:
        tables = (table.name for each in declared.values() for table in each.tables)
        names = (name.name for name in self.contents.names)
        return frozenset(name.casefold() for name in (*names, *tables) if name)

    def sheet(self, sheet: ListedSheet, declared: _Declared, formulas: Formulas) -> Iterator[Json]:
        request = self.reading.request
        refused = None
        try:
            scan = self.scan(sheet)
        except Refused as error:
            refused, scan = error, SheetScan(damage=error.message)
        scan.beside = list(declared.texts)
        scan.sums = column_sums(scan.formulas)
        if request.window is not None and request.formulas and scan.formulas:
            area = request.window.area
            owners = formula_owners(self.chunks(sheet.part), area)
            scan.formulas = cell_formulas(scan.formulas, area, owners)
        self.reading.formulas[sheet.name] = formula_count(scan.formulas)
        self.reading.show(declared.sources)
        complete = yield from formulas.messages(sheet.name, scan.formulas)
        scan.formulas = []
        self.keep(sheet, declared, scan)
        read = complete and not scan.damage and not scan.cut
        state = FormulaState.READ if read else FormulaState.UNREAD
        told = sheet_messages(self.reading, sheet, scan, declared.tables, state)
        yield from (message for message in told if refused is None or "skipped" not in message)
        for each in (refused, declared.refused):
            if each is not None:
                yield skip(request, each.reason, each.message, sheet.name)

    def keep(self, sheet: ListedSheet, declared: _Declared, scan: SheetScan) -> None:
        self.tables += (SheetTable(sheet.name, table) for table in declared.tables)
        links = self.package.relationships(sheet.part) if scan.sources else {}
        sources = [*declared.sources, *data_sources(sheet.name, scan.sources, links)]
        self.sources += sources[: MAX_SOURCES - len(self.sources)]
        if scan.hidden_rows or scan.hidden_cols:
            spans = tuple(scan.hidden_rows), tuple(scan.hidden_cols)
            self.hidden.append(HiddenParts(sheet.name, *spans))

    def scan(self, sheet: ListedSheet) -> SheetScan:
        """Scan a sheet; calamine parses a large sheet at the same time."""
        limits = self.reading.request.limits
        if not sheet.part:
            return SheetScan(damage="the sheet's part is missing")
        least, most = _OVERLAP_BYTES
        chunks, again = (partial(self.chunks, sheet.part, price) for price in (1, PARSED))
        if self.reading.request.safe or not least <= self.package.size(sheet.part) <= most:
            return scan_sheet(chunks(), again(), limits, self.contents.styles)
        background = BackgroundScan(chunks, again, limits, self.contents.styles)
        background.start()
        self.reading.readers.load(sheet.name)
        return background.result()

    def chunks(self, part: str, price: int = PARSED) -> Iterator[bytes]:
        return self.reading.budget.metered(self.package.chunks(part), price)

    def structure(self) -> Structure:
        return Structure(
            names=self.contents.names,
            tables=tuple(self.tables),
            sources=tuple(self.sources),
            externals=self.contents.externals,
            hidden=tuple(self.hidden),
            date_1904=self.contents.date_1904,
            tabs=tuple(sheet.name for sheet in self.contents.sheets),
        )
