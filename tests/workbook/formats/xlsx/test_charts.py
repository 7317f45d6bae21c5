import io
import zipfile

import xlsxwriter

from sat_retriever import Limits, read_workbook
from sat_retriever.records.formats import FormulaState
from sat_retriever.records.sheets import SkipReason
from sat_retriever.records.structure import DataSource, SourceKind
from sat_retriever.workbook.formats.xlsx.charts import MAX_CHART_SOURCES, MAX_CHARTS, read_drawn
from sat_retriever.workbook.limits import Budget
from sat_retriever.workbook.opening.package import Package

LIMITS = Limits()
RELS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SHEET = "xl/worksheets/s.xml"


def rels(*rows):
    lines = "".join(
        f'<Relationship Id="{key}" Type="{RELS}/{kind}" Target="{target}"/>'
        for key, kind, target in rows
    )
    return f"<Relationships>{lines}</Relationships>"


def opened(**parts):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in parts.items():
            package.writestr(name, data)
    return Package.open(out, Limits())


def drawn(*charts, drawing=None, kind="chart"):
    """A package with one sheet that shows charts of the given XML."""
    parts = {
        "xl/worksheets/_rels/s.xml.rels": rels(("d", "drawing", "../drawings/d.xml")),
        "xl/drawings/_rels/d.xml.rels": rels(
            *((f"c{n}", kind, f"../charts/c{n}.xml") for n in range(len(charts)))
        ),
    }
    frames = "".join(
        f'<x><cNvPr id="1" name="Chart {n}"/><chart id="c{n}"/></x>' for n in range(len(charts))
    )
    parts["xl/drawings/d.xml"] = f"<wsDr>{frames}</wsDr>" if drawing is None else drawing
    parts |= {f"xl/charts/c{n}.xml": xml for n, xml in enumerate(charts)}
    return opened(**parts)


def texts(package, limits=LIMITS):
    return [each.text for each in read_drawn(package, "S", SHEET, Budget(limits)).sources]


def test_a_chart_names_each_sheet_it_shows_once(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        report, data, other = map(book.add_worksheet, ("Report", "Data", "Q 1"))
        for sheet in (report, data, other):
            sheet.write_column("A1", ["x", 1, 2])
        chart = book.add_chart({"type": "line"})
        for column in "BC":
            chart.add_series(
                {
                    "name": f"=Data!${column}$1",
                    "categories": "='Q 1'!$A$2:$A$3",
                    "values": f"=Data!${column}$2:${column}$3",
                }
            )
        chart.set_title({"name": "=Report!$A$1"})
        report.insert_chart("D2", chart)
    book = read_workbook(tmp_path / "a.xlsx")
    assert sorted(each.text for each in book.structure.sources) == [
        "'Q 1'!$A$2:$A$3",
        "Data!$B$2:$B$3",
        "Report!$A$1",
    ]
    assert {(each.sheet, each.kind, each.place) for each in book.structure.sources} == {
        ("Report", SourceKind.CHART, "Chart 1")
    }


def test_charts_of_the_later_form_and_filtered_series_are_read():
    package = drawn("<chartSpace><data><f dir='row'>_xlchart.v1.0</f></data></chartSpace>",
                    kind="chartEx")  # fmt: skip
    assert texts(package) == ["_xlchart.v1.0"]
    package = drawn("<c><fullRef><sqref>Data!$A$1:$A$9</sqref></fullRef></c>")
    assert read_drawn(package, "S", SHEET, Budget(LIMITS)).sources == [
        DataSource("S", SourceKind.CHART, "Data!$A$1:$A$9", "Chart 0")
    ]


def test_missing_damaged_and_circular_parts_give_what_can_be_read():
    assert texts(drawn("<c><f>Data!A1</f><f>Data", "<c><f>Other!A1</f></c>")) == [
        "Data!A1",
        "Other!A1",
    ]
    assert texts(drawn("<c><f>Data!A1</f></c>", drawing="<wsDr>")) == ["Data!A1"]
    assert texts(opened()) == []
    circle = opened(
        **{"xl/worksheets/_rels/s.xml.rels": rels(("d", "drawing", "s.xml")), SHEET: "<worksheet/>"}
    )
    assert texts(circle) == []
    itself = opened(
        **{
            "xl/worksheets/_rels/s.xml.rels": rels(
                ("d", "drawing", "s.xml"), ("e", "chart", "s.xml")
            ),
            SHEET: "<worksheet><f>Data!A1</f></worksheet>",
        }
    )
    assert texts(itself) == ["Data!A1"]


def test_charts_and_their_references_are_bounded():
    many = "".join(f"<f>Sheet{n}!A1</f>" for n in range(5_000))
    assert len(texts(drawn(f"<c>{many}</c>"))) == MAX_CHART_SOURCES
    package = drawn(*[f"<c><f>S{n}!A1</f></c>" for n in range(MAX_CHARTS + 20)])
    assert len(texts(package)) == MAX_CHARTS
    assert texts(package, Limits(xml_bytes=0)) == []
    assert texts(drawn(f"<c><f>{'Data!A1+' * 9_000}</f><f>Data!B1</f></c>")) == ["Data!B1"]


def with_chart(path, xml):
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("S")
        sheet.write_column("A1", ["x", 1, 2])
        chart = book.add_chart({"type": "line"})
        chart.add_series({"values": "=S!$A$2:$A$3"})
        sheet.insert_chart("D2", chart)
    out = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            is_chart = info.filename == "xl/charts/chart1.xml"
            new.writestr(info.filename, xml if is_chart else old.read(info))
    path.write_bytes(out.getvalue())
    return read_workbook(path)


def test_a_bomb_in_a_chart_costs_the_chart_and_not_the_sheet(tmp_path):
    bomb = '<!DOCTYPE c [<!ENTITY a "b"><!ENTITY b "&a;&a;">]><c><f>&b;</f></c>'
    book = with_chart(tmp_path / "a.xlsx", bomb)
    assert [record.formulas for record in book.records] == [FormulaState.READ]
    assert [(skip.sheet, skip.reason) for skip in book.skipped] == [("S", SkipReason.XML_BOMB)]


def test_a_chart_nested_without_end_costs_the_chart_and_not_the_sheet(tmp_path):
    book = with_chart(tmp_path / "a.xlsx", "<c>" * 100_000)
    assert [record.sheet for record in book.records] == ["S"]
    assert [skip.reason for skip in book.skipped] == [SkipReason.XML_BOMB]
