"""Add parts to an .xlsx that XlsxWriter does not write: pivot tables, links to workbooks."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Mapping
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from sat_retriever.records.area import Area, column_letters
from sat_retriever.synth.book.model import Value
from sat_retriever.synth.calculate.arithmetic import serial
from sat_retriever.synth.calculate.compile import CompiledBook, External, PivotTable

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
CONTENT = "application/vnd.openxmlformats-officedocument.spreadsheetml."
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_EPOCH = (1980, 1, 1, 0, 0, 0)
_NUMBER = re.compile(r'Id="rId(\d+)"')


class Parts:
    """The parts of a package, to which more can be added."""

    def __init__(self, parts: Mapping[str, bytes]) -> None:
        self._parts = dict(parts)

    @classmethod
    def read(cls, content: bytes) -> Parts:
        """Read the parts of a package."""
        with zipfile.ZipFile(io.BytesIO(content)) as package:
            return cls({name: package.read(name) for name in package.namelist()})

    def add(self, name: str, text: str, content_type: str = "") -> None:
        """Add a part and declare its content type."""
        self._parts[name] = (_HEAD + text).encode()
        if content_type:
            override = f'<Override PartName="/{name}" ContentType="{content_type}"/>'
            self.insert("[Content_Types].xml", "</Types>", override)

    def insert(self, name: str, before: str, text: str) -> None:
        """Insert text before a mark in a part."""
        part = self._parts[name].decode()
        at = part.find(before)
        if at < 0:
            raise ValueError(f"{name} has no {before}")
        self._parts[name] = (part[:at] + text + part[at:]).encode()

    def relate(self, name: str, kind: str, target: str, *, external: bool = False) -> str:
        """Add a relationship of a part; return its id."""
        folder, _, file = name.rpartition("/")
        relations = f"{folder}/_rels/{file}.rels"
        if relations not in self._parts:
            self._parts[relations] = (
                f'{_HEAD}<Relationships xmlns="{_PACKAGE}"></Relationships>'.encode()
            )
        known = [int(each) for each in _NUMBER.findall(self._parts[relations].decode())]
        relation = f"rId{max(known, default=0) + 1}"
        mode = ' TargetMode="External"' if external else ""
        entry = (
            f'<Relationship Id="{relation}" Type="{OFFICE}/{kind}"'
            f" Target={quoteattr(target)}{mode}/>"
        )
        self.insert(relations, "</Relationships>", entry)
        return relation

    def text(self, name: str) -> str:
        """Return the content of a part."""
        return self._parts[name].decode()

    def written(self) -> bytes:
        """Return the package; equal parts give equal bytes."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
            for name, content in self._parts.items():
                entry = zipfile.ZipInfo(name, _EPOCH)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o600 << 16
                package.writestr(entry, content)
        return buffer.getvalue()


def add_externals(package: Parts, compiled: CompiledBook) -> None:
    """Add a part for each other workbook that formulas refer to as `[1]` and so on."""
    for number, external in enumerate(compiled.externals, 1):
        _add_external(package, compiled.book.path, number, external)


def _add_external(package: Parts, own_path: str, number: int, external: External) -> None:
    name = f"xl/externalLinks/externalLink{number}.xml"
    sheets = "".join(f"<sheetName val={quoteattr(tab)}/>" for tab in external.tabs)
    text = (
        f'<externalLink xmlns="{MAIN}"><externalBook xmlns:r="{OFFICE}" r:id="rId1">'
        f"<sheetNames>{sheets}</sheetNames>{_held(external)}</externalBook></externalLink>"
    )
    package.add(name, text, f"{CONTENT}externalLink+xml")
    folder = posixpath.dirname(own_path) or "."
    target = quote(posixpath.relpath(external.path, folder))
    package.relate(name, "externalLinkPath", target, external=True)
    relation = package.relate(
        "xl/workbook.xml", "externalLink", f"externalLinks/externalLink{number}.xml"
    )
    reference = f'<externalReference r:id="{relation}"/>'
    if "</externalReferences>" in package.text("xl/workbook.xml"):
        package.insert("xl/workbook.xml", "</externalReferences>", reference)
    else:
        after = (
            "<definedNames>" if "<definedNames>" in package.text("xl/workbook.xml") else "<calcPr"
        )
        text = f"<externalReferences>{reference}</externalReferences>"
        package.insert("xl/workbook.xml", after, text)


def _held(external: External) -> str:
    """Return the cached values, which Excel shows while the other workbook is closed."""
    rows: dict[tuple[int, int], list[str]] = {}
    for tab, row, column, value in external.cells:
        cell = _cell(f"{column_letters(column)}{row}", value)
        rows.setdefault((external.tabs.index(tab), row), []).append(cell)
    sheets: dict[int, list[str]] = {}
    for (tab_number, row), cells in rows.items():
        sheets.setdefault(tab_number, []).append(f'<row r="{row}">{"".join(cells)}</row>')
    data = "".join(
        f'<sheetData sheetId="{number}">{"".join(lines)}</sheetData>'
        for number, lines in sheets.items()
    )
    return f"<sheetDataSet>{data}</sheetDataSet>" if data else ""


def _cell(address: str, value: Value) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return f'<cell r="{address}" t="b"><v>{int(value)}</v></cell>'
    if isinstance(value, str):
        return f'<cell r="{address}" t="str"><v>{escape(value)}</v></cell>'
    number = value if isinstance(value, (int, float)) else serial(value)
    return f'<cell r="{address}"><v>{number!r}</v></cell>'


_SETTINGS = (
    'applyNumberFormats="0" applyBorderFormats="0" applyFontFormats="0" applyPatternFormats="0"'
    ' applyAlignmentFormats="0" applyWidthHeightFormats="1" dataCaption="Values"'
    ' updatedVersion="6" minRefreshableVersion="3" useAutoFormatting="1" itemPrintTitles="1"'
    ' createdVersion="6" indent="0" outline="1" outlineData="1" multipleFieldFilters="0"'
)
_STYLE = (
    '<pivotTableStyleInfo name="PivotStyleLight16" showRowHeaders="1" showColHeaders="1"'
    ' showRowStripes="0" showColStripes="0" showLastColumn="1"/>'
)


def add_pivots(package: Parts, compiled: CompiledBook) -> None:
    """Add every pivot table, each with a cache that Excel fills when it opens the file."""
    number = 0
    caches = []
    for place, sheet in enumerate(compiled.sheets, 1):
        for pivot in sheet.pivots:
            number += 1
            cache = f"xl/pivotCache/pivotCacheDefinition{number}.xml"
            table = f"xl/pivotTables/pivotTable{number}.xml"
            package.add(cache, _cache(pivot), f"{CONTENT}pivotCacheDefinition+xml")
            package.add(table, _table(pivot, number), f"{CONTENT}pivotTable+xml")
            package.relate(table, "pivotCacheDefinition", f"../{cache.removeprefix('xl/')}")
            page = f"xl/worksheets/sheet{place}.xml"
            package.relate(page, "pivotTable", f"../{table.removeprefix('xl/')}")
            relation = package.relate(
                "xl/workbook.xml", "pivotCacheDefinition", cache.removeprefix("xl/")
            )
            caches.append(f'<pivotCache cacheId="{number}" r:id="{relation}"/>')
    if caches:
        text = f"<pivotCaches>{''.join(caches)}</pivotCaches>"
        package.insert("xl/workbook.xml", "</workbook>", text)


def _cache(pivot: PivotTable) -> str:
    source = pivot.source
    place = source.place
    area = Area(place.header_row, place.left, place.last_row, place.right).a1()
    fields = "".join(
        f'<cacheField name={quoteattr(column.header.strip())} numFmtId="0">'
        f"{_shared(pivot) if column.id == pivot.rows else '<sharedItems/>'}</cacheField>"
        for column in source.sheet.columns
    )
    return (
        f'<pivotCacheDefinition xmlns="{MAIN}" xmlns:r="{OFFICE}" saveData="0" refreshOnLoad="1"'
        ' createdVersion="6" refreshedVersion="6" minRefreshableVersion="3">'
        f'<cacheSource type="worksheet"><worksheetSource ref="{area}"'
        f" sheet={quoteattr(source.sheet.name)}/></cacheSource>"
        f'<cacheFields count="{place.width}">{fields}</cacheFields></pivotCacheDefinition>'
    )


def _shared(pivot: PivotTable) -> str:
    names = [name for name, _ in pivot.items]
    marks = "".join(
        f"<s v={quoteattr(name)}/>" if isinstance(name, str) else f'<n v="{name!r}"/>'
        for name in names
    )
    kinds = ""
    if not all(isinstance(name, str) for name in names):
        mixed = any(isinstance(name, str) for name in names)
        kinds = ' containsNumber="1"' + (
            ' containsMixedTypes="1"' if mixed else ' containsString="0" containsSemiMixedTypes="0"'
        )
    return f'<sharedItems{kinds} count="{len(names)}">{marks}</sharedItems>'


def _table(pivot: PivotTable, number: int) -> str:
    count = len(pivot.items)
    ids = [column.id for column in pivot.source.sheet.columns]
    items = "".join(f'<item x="{place}"/>' for place in range(count))
    row_field = (
        f'<pivotField axis="axisRow" showAll="0"><items count="{count + 1}">{items}'
        '<item t="default"/></items></pivotField>'
    )
    kinds = {pivot.rows: row_field, pivot.numbers: '<pivotField dataField="1" showAll="0"/>'}
    fields = "".join(kinds.get(each, '<pivotField showAll="0"/>') for each in ids)
    lines = "".join(f'<i><x v="{place}"/></i>' for place in range(count))
    return (
        f'<pivotTableDefinition xmlns="{MAIN}" name="PivotTable{number}" cacheId="{number}"'
        f' {_SETTINGS}><location ref="{pivot.area.a1()}" firstHeaderRow="1" firstDataRow="1"'
        f' firstDataCol="1"/><pivotFields count="{len(ids)}">{fields}</pivotFields>'
        f'<rowFields count="1"><field x="{ids.index(pivot.rows)}"/></rowFields>'
        f'<rowItems count="{count + 1}">{lines}<i t="grand"><x/></i></rowItems>'
        '<colItems count="1"><i/></colItems>'
        f'<dataFields count="1"><dataField name={quoteattr(pivot.caption)}'
        f' fld="{ids.index(pivot.numbers)}" baseField="0" baseItem="0"/></dataFields>'
        f"{_STYLE}</pivotTableDefinition>"
    )
