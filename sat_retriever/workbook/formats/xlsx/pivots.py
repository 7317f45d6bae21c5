"""Data sources of the pivot tables of a sheet."""

from __future__ import annotations

from contextlib import suppress

from sat_retriever.records.structure import DataSource, SourceKind
from sat_retriever.workbook.formats.xlsx.declared import (
    MAX_SOURCES,
    RawSource,
    data_sources,
    raw_source,
)
from sat_retriever.workbook.opening.package import Attributes, BadXmlError, Package, local

_SOURCES = ("worksheetSource", "rangeSet")
_MAX_PIVOTS = 256  # per sheet
_MAX_NAME = 60


class _EnoughError(Exception):
    """Signal that the rest of a part is long and has no source."""


def pivot_sources(package: Package, sheet: str, sheet_part: str) -> tuple[DataSource, ...]:
    """Sources of the pivot tables of a sheet, including consolidated ranges and other workbooks.

    Raises:
        Refused: If a part declares entities or nests too deeply.
    """
    found: list[DataSource] = []
    pivots = [
        link.target
        for link in package.relationships(sheet_part).values()
        if link.type == "pivotTable" and not link.external
    ]
    for part in pivots[:_MAX_PIVOTS]:
        name = _pivot_name(package, part)
        for cache in package.relationships(part).values():
            if cache.type == "pivotCacheDefinition" and not cache.external:
                raw = _cache_sources(package, cache.target, name)
                found += data_sources(sheet, raw, package.relationships(cache.target))
    return tuple(dict.fromkeys(found))[:MAX_SOURCES]


def _pivot_name(package: Package, part: str) -> str:
    names: list[str] = []

    def visit(_tag: str, attributes: Attributes) -> None:
        names.append(attributes.get("name", "")[:_MAX_NAME])
        raise _EnoughError

    with suppress(_EnoughError, BadXmlError):
        package.each(part, visit)
    return names[0] if names else ""


def _cache_sources(package: Package, part: str, place: str) -> list[RawSource]:
    found: list[RawSource] = []

    def visit(tag: str, attributes: Attributes) -> None:
        if tag in _SOURCES and len(found) < MAX_SOURCES:
            plain = {local(key): value for key, value in attributes.items()}
            found.append(raw_source(SourceKind.PIVOT, plain, place))
        elif tag == "cacheFields":
            raise _EnoughError

    with suppress(_EnoughError, BadXmlError):
        package.each(part, visit)
    return found
