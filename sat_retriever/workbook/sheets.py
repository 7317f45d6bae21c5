"""The sheets of an opened workbook to messages: structure, formulas, records, skipped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from sat_retriever.area import Area
from sat_retriever.jsonform import to_json
from sat_retriever.structure import HiddenParts, SheetTable, Structure, TableObject
from sat_retriever.types import Skipped, SkipReason, Visibility
from sat_retriever.workbook.limits import Limits, Refused
from sat_retriever.workbook.package import Package, until
from sat_retriever.workbook.readers import Readers
from sat_retriever.workbook.records import Source, sheet_record
from sat_retriever.workbook.request import Request
from sat_retriever.workbook.scan import SheetScan, scan_sheet
from sat_retriever.workbook.values import ValuesFailed, with_errors
from sat_retriever.workbook.wire import formulas_to_json
from sat_retriever.workbook.xlsx import (
    Contents,
    SheetPart,
    pivot_sources,
    read_contents,
    table_objects,
)

Json = dict[str, Any]
_FORMULA_BATCH = 5_000
_SCAN_SHARE, _READ_SHARE = 0.35, 0.6  # of a file's time: begin no more of it after that
_OVERLAP_BYTES = (4 << 20, 400 << 20)  # of XML: below it is not worth it, above not safe
_CRASHED = "The reader crashed on this file, twice in a row."


def read_by_value(
    request: Request, source: Source, file: BinaryIO, values: Path | BinaryIO, *, damage: str
) -> Iterator[Json]:
    """Messages about an xlsb, xls or ods, or a package too damaged for anything but values.

    Raises:
        Refused: If no reader opens it.
    """
    deadline = time.monotonic() + _READ_SHARE * request.limits.seconds
    readers = Readers(file, values, safe=request.safe, deadline=deadline)
    if request.safe and source.format in ("xlsb", "xls", "ods"):
        raise Refused(SkipReason.READER_CRASHED, _CRASHED)
    listed = readers.listed(damage)
    seen: set[str] = set()
    for index, sheet in enumerate(listed):
        part = SheetPart(sheet.name, "", sheet.visibility, sheet.other)
        refusal = refuse_sheet(part, index, seen, request.limits)
        if refusal is not None:
            yield _skip(request, *refusal, sheet.name)
            continue
        yield from _sheet(request, source, readers, part, None, ())


def read_xlsx(
    request: Request, source: Source, file: BinaryIO, values: Path | BinaryIO
) -> Iterator[Json]:
    """Messages about an xlsx, xlsm or xltx.

    Raises:
        Refused: If it is a bomb, over a limit, or damaged beyond reading.
    """
    try:
        package = Package.open(file, request.limits)
        contents = read_contents(package)
    except Refused as refused:
        if refused.reason not in (SkipReason.DAMAGED, SkipReason.XML_BOMB):
            raise
        yield from _without_package(request, source, file, values, refused)
        return
    now = time.monotonic()
    left = request.limits.seconds if request.seconds is None else request.seconds
    readers = Readers(file, values, safe=request.safe, deadline=now + _READ_SHARE * left)
    deadline = now + _SCAN_SHARE * left
    walk = _Walk(request, source, package, contents, readers, deadline)
    yield from walk.messages()
    yield {"structure": to_json(walk.structure())}


def _without_package(
    request: Request, source: Source, file: BinaryIO, values: Path | BinaryIO, refused: Refused
) -> Iterator[Json]:
    """What the value readers, which expand no entities, make of a package we refused."""
    try:
        yield from read_by_value(request, source, file, values, damage=refused.message)
    except Refused as second:
        raise (refused if second.reason is SkipReason.DAMAGED else second) from second
    if refused.reason is SkipReason.XML_BOMB:
        yield _skip(request, refused.reason, refused.message)


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


@dataclass(slots=True)
class _Walk:
    """One pass over the sheets of a package, gathering structure on the way."""

    request: Request
    source: Source
    package: Package
    contents: Contents
    readers: Readers
    deadline: float
    formulas_left: int = 0
    found: Structure = field(default_factory=Structure)

    def messages(self) -> Iterator[Json]:
        self.formulas_left = self.request.limits.formulas
        seen: set[str] = set()
        self.readers_must_open()
        for index, sheet in enumerate(self.contents.sheets):
            refusal = refuse_sheet(sheet, index, seen, self.request.limits)
            if refusal is not None:
                yield _skip(self.request, *refusal, sheet.name)
                continue
            try:
                yield from self.sheet(sheet)
            except Refused as refused:
                yield _skip(self.request, refused.reason, refused.message, sheet.name)

    def readers_must_open(self) -> None:
        try:
            self.readers.listed("")
        except Refused as refused:
            bomb = self.package.bomb()
            raise bomb or refused from refused

    def sheet(self, sheet: SheetPart) -> Iterator[Json]:
        refused = None
        try:
            scan = self.scan(sheet)
        except Refused as error:
            refused, scan = error, SheetScan(damage=error.message)
        yield from self.formulas(sheet.name, scan)
        tables = table_objects(self.package, sheet.part) if sheet.part else ()
        pivots = pivot_sources(self.package, sheet.name, sheet.part) if sheet.part else ()
        hidden = HiddenParts(sheet.name, tuple(scan.hidden_rows), tuple(scan.hidden_cols))
        self.found = replace(
            self.found,
            tables=(*self.found.tables, *(SheetTable(sheet.name, table) for table in tables)),
            sources=self.found.sources + pivots,
            hidden=self.found.hidden + ((hidden,) if hidden.rows or hidden.cols else ()),
        )
        scan.formulas = []
        told = _sheet(self.request, self.source, self.readers, sheet, scan, tables)
        yield from (message for message in told if refused is None or "record" in message)
        if refused is not None:
            yield _skip(self.request, refused.reason, refused.message, sheet.name)

    def scan(self, sheet: SheetPart) -> SheetScan:
        """The scan of a sheet; calamine parses a large one at the same time."""
        limits = self.request.limits
        if not sheet.part:
            return SheetScan(damage="the sheet's part is missing")
        least, most = _OVERLAP_BYTES
        chunks = partial(self.chunks, sheet.part)
        if self.request.safe or not least <= self.package.size(sheet.part) <= most:
            return scan_sheet(chunks(), chunks(), limits)
        background = _BackgroundScan(chunks, limits)
        background.start()
        self.readers.load(sheet.name)
        return background.result()

    def chunks(self, part: str) -> Iterator[bytes]:
        return until(self.deadline, self.package.chunks(part))

    def formulas(self, sheet: str, scan: SheetScan) -> Iterator[Json]:
        if not self.request.formulas:
            return
        kept = scan.formulas[: self.formulas_left]
        self.formulas_left -= len(kept)
        for start in range(0, len(kept), _FORMULA_BATCH):
            yield {"formulas": formulas_to_json(sheet, kept[start : start + _FORMULA_BATCH])}
        if len(kept) < len(scan.formulas):
            limit = self.request.limits.formulas
            message = f"Only the first {limit:,} formulas of the workbook are kept."
            yield _skip(self.request, SkipReason.TOO_LARGE, message, sheet)

    def structure(self) -> Structure:
        return replace(
            self.found,
            names=self.contents.names,
            externals=self.contents.externals,
            date_1904=self.contents.date_1904,
        )


class _BackgroundScan(threading.Thread):
    """The scan of a large sheet beside calamine, which works without Python's lock."""

    def __init__(self, chunks: Callable[[], Iterator[bytes]], limits: Limits) -> None:
        super().__init__(daemon=True)
        self._chunks, self._limits = chunks, limits
        self._scan: SheetScan | None = None
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._scan = scan_sheet(self._chunks(), self._chunks(), self._limits)
        except (Refused, MemoryError) as error:
            self._error = error

    def result(self) -> SheetScan:
        self.join()
        if self._error is not None:
            raise self._error
        return self._scan or SheetScan(damage="the scan ended early")


def _sheet(
    request: Request,
    source: Source,
    readers: Readers,
    sheet: SheetPart,
    scan: SheetScan | None,
    tables: tuple[TableObject, ...],
) -> Iterator[Json]:
    """The record of one sheet, or why there is none."""
    scan_area = scan.area if scan else None
    cut = scan is not None and scan.cut
    dense = not cut and (scan_area is None or _cells(scan_area) <= request.limits.area)
    try:
        values = readers.values(sheet.name, request.limits, dense=dense, held=scan_area is not None)
    except ValuesFailed as failed:
        if scan is not None and scan.area is None and not scan.damage:
            yield _skip(request, SkipReason.EMPTY_SHEET, _EMPTY, sheet.name)
            return
        message = f"The sheet cannot be read: {failed}."
        yield _skip(request, SkipReason.DAMAGED, message, sheet.name)
        return
    grid, area, merges = values.grid, values.area, tuple(values.merges)
    if scan is not None:
        grid = with_errors(grid, scan.errors)
        area = _union(area, scan.formula_area, *(Area(r, c, r, c) for r, c, _ in scan.errors))
        area = _union(area, scan.area) if values.cut else area
        area = _union(area, scan.dimension) if scan.cut else area
        merges = tuple(scan.merges) or merges
    if area is None:
        yield _skip(request, SkipReason.EMPTY_SHEET, _EMPTY, sheet.name)
        return
    record = sheet_record(
        source,
        sheet.name,
        grid,
        area,
        visibility=sheet.visibility or Visibility.VISIBLE,
        merges=merges,
        table_objects=tables,
        examples=request.examples,
    )
    yield {"record": to_json(record)}
    if cut:
        message = "The sheet is so large that only its first rows and formulas were read."
        yield _skip(request, SkipReason.TOO_LARGE, message, sheet.name)


_EMPTY = "The sheet has no cell with a value."


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


def _skip(request: Request, reason: SkipReason, message: str, sheet: str | None = None) -> Json:
    return {"skipped": to_json(Skipped(request.relative, reason, message, sheet))}
