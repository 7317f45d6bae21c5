import io
import zipfile

import pytest

from sat_retriever import Limits
from sat_retriever.records.sheets import SkipReason
from sat_retriever.records.structure import DataSource, SourceKind
from sat_retriever.workbook.formats.xlsx.declared import MAX_SOURCES, pivot_sources
from sat_retriever.workbook.limits import Refused
from sat_retriever.workbook.opening.package import Package

RELS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def rels(*rows):
    lines = "".join(
        f'<Relationship Id="{key}" Type="{RELS}/{kind}" Target="{target}"{more}/>'
        for key, kind, target, more in rows
    )
    return f"<Relationships>{lines}</Relationships>"


def sources(cache, *, cache_rels="<Relationships/>", pivot='<pivot name="Pivot 1"><x>'):
    """Texts of the sources of a sheet with one pivot table over the given cache."""
    parts = {
        "xl/worksheets/_rels/s.xml.rels": rels(("r", "pivotTable", "../pivotTables/p.xml", "")),
        "xl/pivotTables/p.xml": pivot,
        "xl/pivotTables/_rels/p.xml.rels": rels(
            ("r", "pivotCacheDefinition", "../pivotCache/c.xml", "")
        ),
        "xl/pivotCache/c.xml": f'<pivotCacheDefinition xmlns:r="{RELS}">{cache}',
        "xl/pivotCache/_rels/c.xml.rels": cache_rels,
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in parts.items():
            package.writestr(name, data)
    return pivot_sources(Package.open(out, Limits()), "P", "xl/worksheets/s.xml")


def test_a_pivot_table_names_the_range_it_summarises():
    cache = '<cacheSource type="worksheet"><worksheetSource ref="A1:C9" sheet="Q 1"/></cacheSource>'
    assert sources(cache) == (DataSource("P", SourceKind.PIVOT, "'Q 1'!A1:C9", "Pivot 1"),)


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ('name="Sales"', "Sales"),
        ('name="local" sheet="Data"', "Data!local"),
        ('ref="A1:B2" sheet="Data" r:id="r1"', "'[file:///C:/my b.xlsx]Data'!A1:B2"),
        ('name="rate" r:id="r1"', "'file:///C:/my b.xlsx'!rate"),
    ],
)
def test_names_and_other_workbooks_are_written_as_formulas_have_them(attributes, text):
    link = ("r1", "externalLinkPath", "file:///C:/my%20b.xlsx", ' TargetMode="External"')
    found = sources(f"<worksheetSource {attributes}/>", cache_rels=rels(link))
    assert [each.text for each in found] == [text]


def test_each_of_several_consolidated_ranges_is_a_source():
    ranges = "".join(f'<rangeSet i1="{n}" ref="A1:B9" sheet="Year{n}x"/>' for n in range(3))
    found = sources(f"<consolidation><rangeSets>{ranges}</rangeSets></consolidation>")
    assert [each.text for each in found] == [f"Year{n}x!A1:B9" for n in range(3)]


def test_sources_that_lead_nowhere_and_too_many_are_left_out():
    assert sources('<worksheetSource ref="A1" sheet="S" r:id="gone"/>') == ()
    assert sources('<worksheetSource sheet="S"/>') == ()
    many = "".join(f'<rangeSet ref="A{n}" sheet="S"/>' for n in range(1, 5_000))
    assert len(sources(many)) == MAX_SOURCES


def test_what_follows_the_source_is_not_read():
    source = '<worksheetSource ref="A1:B2" sheet="Data"/><cacheFields>'
    assert [each.text for each in sources(source + "<damaged")] == ["Data!A1:B2"]
    assert [each.text for each in sources(source + "<a>" * 10_000)] == ["Data!A1:B2"]


def test_a_bomb_in_a_cache_is_refused():
    with pytest.raises(Refused) as refused:
        sources("<x/>", pivot='<!DOCTYPE p [<!ENTITY a "b">]><p/>')
    assert refused.value.reason is SkipReason.XML_BOMB
