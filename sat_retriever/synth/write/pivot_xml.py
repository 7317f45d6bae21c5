"""Write the parts of a package for pivot tables."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

from sat_retriever.records.area import Area
from sat_retriever.synth.calculate.compile import CompiledBook
from sat_retriever.synth.calculate.pivot import PivotTable
from sat_retriever.synth.write.package import CONTENT, MAIN, OFFICE, Parts

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
    """Return the shared items: the names by which the table groups, in its order."""
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
