"""Links between workbooks, decided from claims alone."""

from sat_retriever import Column, SheetRecord
from sat_retriever.links.claims import blocks_of, claims_of, external_links, join_links, meant
from sat_retriever.links.formula.relations import ExternalReference
from sat_retriever.records.structure import Use


def refers(source: str, file: str) -> ExternalReference:
    return ExternalReference(source, file, "Data", "", "", Use.VALUE, 0.5, "=B1")


def targets(file: str, place: str, *paths: str) -> list[str]:
    found = meant([refers("s", file)], {"s": place}, {"budget.xlsx": list(enumerate(paths))})
    records = {n: [SheetRecord(f"{x}#Data", "Data", path=x)] for n, x in enumerate(paths)}
    return [link.target for link in external_links(found, records)]


def test_the_workbook_whose_path_ends_like_the_reference_is_meant():
    paths = ("/a/2023/budget.xlsx", "/b/2024/budget.xlsx")
    assert targets("../2024/Budget.xlsx", "/a/report.xlsx", *paths) == ["/b/2024/budget.xlsx#Data"]


def test_of_workbooks_named_alike_the_nearest_is_meant():
    paths = ("/a/budget.xlsx", "/b/budget.xlsx")
    assert targets("budget.xlsx", "/b/report.xlsx", *paths) == ["/b/budget.xlsx#Data"]
    assert targets("budget.xlsx", "", *paths) == ["/a/budget.xlsx#Data"]


def test_a_workbook_never_refers_to_itself_as_another_one():
    assert targets("budget.xlsx", "/a/budget.xlsx", "/a/budget.xlsx") == []
    assert targets("budget.xlsx", "/a/report.xlsx") == []


def key_columns(workbook: str, sheet: str, *headers: str):
    record = SheetRecord(
        f"{workbook}#{sheet}", sheet, workbook, columns=tuple(map(Column, headers))
    )
    return claims_of([record]).keys


def test_columns_join_by_a_block_unless_it_is_crowded():
    orders = key_columns("a", "Orders", "order_id", "vendor_id", "amount")
    vendors = key_columns("b", "Vendors", "vendor_id", "name")
    assert [(x.source, x.target) for x in join_links(orders, vendors, set())] == [
        ("a#Orders", "b#Vendors")
    ]
    assert join_links(orders, vendors, set(blocks_of(orders))) == []
