"""What is declared rather than computed: pivot tables, charts, lists, consolidations."""

from __future__ import annotations

from openpyxl.chart import BarChart, Reference
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation

from tests.links.formula.workbooks.case import (
    DATA,
    RAW_DATA,
    Case,
    RawSheet,
    Relation,
    book,
    cell,
    main_xml,
    raw,
    relationships,
    report,
    row,
)

_LABEL = row(1, cell("A1", "amount by item"))


def _chart(source: str):
    def finish(made) -> None:
        chart = BarChart()
        chart.add_data(
            Reference(made[source], min_col=2, min_row=1, max_row=4), titles_from_data=True
        )
        made["Report"].add_chart(chart, "E5")

    return finish


def _list(formula: str):
    def finish(made) -> None:
        made.defined_names.add(DefinedName("items", attr_text="Data!$A$2:$A$4"))
        rule = DataValidation(type="list", formula1=formula)
        rule.add("C2:C9")
        made["Report"].add_data_validation(rule)

    return finish


def _pivot(source: str):
    """A workbook with a pivot table on Report over a source, and a sheet Data."""
    cache = main_xml(
        "pivotCacheDefinition",
        'recordCount="2"',
        f'<cacheSource type="worksheet"><worksheetSource {source}/></cacheSource>'
        '<cacheFields count="1"><cacheField name="item"/></cacheFields>',
    )
    table = main_xml(
        "pivotTableDefinition",
        'name="PivotTable1" cacheId="7"',
        '<location ref="A3:B6" firstHeaderRow="1" firstDataRow="1" firstDataCol="1"/>',
    )
    to_cache = Relation("c", "pivotCacheDefinition", "../pivotCache/pivotCacheDefinition1.xml")
    sheet = RawSheet(
        _LABEL, relations=(Relation("p", "pivotTable", "../pivotTables/pivotTable1.xml"),)
    )
    return raw(
        {"Report": sheet, "Data": RAW_DATA},
        parts={
            "xl/pivotCache/pivotCacheDefinition1.xml": cache,
            "xl/pivotTables/pivotTable1.xml": table,
            "xl/pivotTables/_rels/pivotTable1.xml.rels": relationships(to_cache),
        },
        relations=(Relation("c", "pivotCacheDefinition", "pivotCache/pivotCacheDefinition1.xml"),),
        in_workbook=(
            '<definedNames><definedName name="source">Data!$A$1:$B$3</definedName></definedNames>'
            '<pivotCaches><pivotCache cacheId="7" r:id="c"/></pivotCaches>'
        ),
    )


_CONSOLIDATION = (
    '<dataConsolidate topLabels="1"><dataRefs count="2">'
    '<dataRef ref="A1:B3" sheet="North"/><dataRef ref="A1:B3" sheet="South side"/>'
    "</dataRefs></dataConsolidate>"
)

DECLARED_CASES = [
    Case(
        "a pivot table over a range",
        _pivot('ref="A1:B3" sheet="Data"'),
        (("Report", "Data", "aggregation", "Report!"),),
    ),
    Case(
        "a pivot table over a name",
        _pivot('name="source"'),
        (("Report", "Data", "aggregation", "Report!"),),
    ),
    Case("a pivot table over its own sheet", _pivot('ref="A1:B3" sheet="Report"')),
    Case(
        "a figure taken from a pivot table's sheet",
        report('=GETPIVOTDATA("amount",Data!$A$1)*2'),
        (("Report", "Data", "formula_reference", "Report!B1 =GETPIVOTDATA("),),
    ),
    Case(
        "a chart of another sheet's cells",
        book({"Report": {"A1": "chart"}, "Data": DATA}, _chart("Data")),
        (("Report", "Data", "aggregation", "Report!"),),
    ),
    Case(
        "a chart of its own sheet's cells", book({"Report": DATA, "Data": DATA}, _chart("Report"))
    ),
    Case(
        "a list of choices from another sheet",
        book({"Report": {"A1": "choose"}, "Data": DATA}, _list("Data!$A$2:$A$4")),
        (("Report", "Data", "join_key", "Report!C2:C9 validation =Data!$A$2:$A$4"),),
    ),
    Case(
        "a list of choices under a name",
        book({"Report": {"A1": "choose"}, "Data": DATA}, _list("items")),
        (("Report", "Data", "join_key", "Report!C2:C9 validation =items"),),
    ),
    Case(
        "a list of choices in so many words",
        book({"Report": {"A1": "choose"}, "Data": DATA}, _list('"Data!A2,items"')),
    ),
    Case(
        "a consolidation of two sheets",
        raw(
            {
                "Report": RawSheet(_LABEL, after=_CONSOLIDATION),
                "North": RAW_DATA,
                "South side": RAW_DATA,
            }
        ),
        (
            ("Report", "North", "aggregation summary_source", "Report"),
            ("Report", "South side", "aggregation summary_source", "Report"),
        ),
    ),
]
