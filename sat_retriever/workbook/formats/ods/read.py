"""Messages about an ods: values by calamine, formulas and structure by its content part."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import BinaryIO

from sat_retriever.records.area import Place
from sat_retriever.records.formats import FormulaState
from sat_retriever.records.jsonform import Json, to_json
from sat_retriever.records.sheets import SkipReason
from sat_retriever.records.structure import DataSource, SourceKind, Structure
from sat_retriever.workbook.formats.formulas import Formulas, cell_formulas, formula_count
from sat_retriever.workbook.formats.ods.content import PART, read_formulas
from sat_retriever.workbook.formats.ods.declared import OdsDeclared, read_declared
from sat_retriever.workbook.formats.ods.formula import excel_references
from sat_retriever.workbook.formats.ods.shown import read_shown
from sat_retriever.workbook.formats.reading import Reading
from sat_retriever.workbook.formats.sheets import Known, read_by_value
from sat_retriever.workbook.formats.xlsx.charts import MAX_CHART_SOURCES, shown_ranges
from sat_retriever.workbook.limits import MIB, PARSED, Budget, CutShort, Refused
from sat_retriever.workbook.messages import Request, skip
from sat_retriever.workbook.opening.package import Attributes, BadXmlError, Package, local, resolve
from sat_retriever.workbook.values.grid import CellFormats, Places

_MAX_PART = 8 * MIB
_MAX_CHARTS = 1_000
_RANGES = ("cell-range-address", "values-cell-range-address", "label-cell-address")


def read_ods(reading: Reading) -> Iterator[Json]:
    """Yield messages about an ods."""
    walk = _Walk(reading.request, reading.budget)
    yield from walk.content(reading.file)
    reading.formulas = walk.counts
    reading.show((*walk.declared.sources, *walk.charts))
    known = Known(walk.states, walk.declared.tables, walk.unsaved, walk.formats, walk.shown)
    yield from read_by_value(reading, known)
    yield {"structure": to_json(walk.structure(), compact=True)}


@dataclass(slots=True)
class _Walk:
    request: Request
    budget: Budget
    declared: OdsDeclared = field(default_factory=OdsDeclared)
    states: dict[str, FormulaState] = field(default_factory=dict)
    charts: list[DataSource] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    unsaved: dict[str, Places] = field(default_factory=dict)
    formats: dict[str, CellFormats] = field(default_factory=dict)
    shown: dict[Place, str] = field(default_factory=dict)

    def content(self, file: BinaryIO) -> Iterator[Json]:
        if self.request.safe:
            return
        try:
            package = Package.open(file, self.request.limits)
            yield from self._read(package)
        except BadXmlError:
            return  # the value reader may read more, or report the damage
        except CutShort as cut:
            first = f"Only its first formulas were read: {self.budget.limits.why_cut(cut.reason)}."
            yield skip(self.request, cut.reason, first)
        except Refused as refused:
            if refused.reason not in (SkipReason.DAMAGED, SkipReason.XML_BOMB):
                raise
            if refused.reason is SkipReason.XML_BOMB:
                yield skip(self.request, refused.reason, refused.message)

    def _read(self, package: Package) -> Iterator[Json]:
        limits = self.request.limits

        def chunks() -> Iterator[bytes]:
            return self.budget.metered(package.chunks(PART))

        self.declared = read_declared(chunks, limits)
        names = [name.name for name in self.declared.names]
        names += [each.table.name for each in self.declared.tables]
        formulas = Formulas(self.request, frozenset(map(str.casefold, names)), self.budget)
        if self.declared.formulas or self.declared.units:
            for found in read_formulas(chunks, limits):
                if not self.request.asks_for(found.sheet):
                    continue
                self.unsaved.setdefault(found.sheet, found.unsaved)
                self.formats.setdefault(found.sheet, found.formats)
                raw = found.formulas
                self.counts.setdefault(found.sheet, formula_count(raw))
                if self.request.window is not None and self.request.formulas:
                    raw = cell_formulas(raw, self.request.window.area)
                complete = yield from formulas.messages(found.sheet, raw)
                state = FormulaState.READ if complete else FormulaState.UNREAD
                self.states.setdefault(found.sheet, state)
        else:
            self.states = dict.fromkeys(self.declared.tabs, FormulaState.READ)
        window = self.request.window
        if window is not None and window.shown:
            self.shown = read_shown(chunks, limits, window.sheet, window.area)
        for sheet, name, href in self.declared.objects[:_MAX_CHARTS]:
            if not self.budget.spent() and len(self.charts) < MAX_CHART_SOURCES:
                texts = shown_ranges(_chart_ranges(package, href, self.budget))
                self.charts += (DataSource(sheet, SourceKind.CHART, text, name) for text in texts)

    def structure(self) -> Structure:
        return Structure(
            names=tuple(self.declared.names),
            tables=tuple(self.declared.tables),
            sources=tuple(dict.fromkeys((*self.declared.sources, *self.charts))),
            tabs=tuple(self.declared.tabs),
        )


def _chart_ranges(package: Package, href: str, budget: Budget) -> list[str]:
    part = f"{resolve('', href)}/{PART}"
    found: dict[str, None] = {}

    def visit(_tag: str, attributes: Attributes) -> None:
        for key, value in attributes.items():
            if len(found) < MAX_CHART_SOURCES and local(key) in _RANGES:
                found.update(dict.fromkeys(excel_references(value)))

    if part in package and package.size(part) <= _MAX_PART:
        budget.xml_bytes -= PARSED * package.size(part)
        with suppress(BadXmlError):
            package.each(part, visit)
    return list(found)
