"""Sheets that gather from others, and sheets that do not."""

from __future__ import annotations

from tests.links.formula.workbooks.case import DATA, Case, book

_F, _FA, _FJ, _FS, _FAS = (
    "formula_reference",
    "formula_reference aggregation",
    "formula_reference join_key",
    "formula_reference summary_source",
    "formula_reference aggregation summary_source",
)
_REGIONS = {"North": DATA, "South": DATA, "West": DATA}

SUMMARY_CASES = [
    Case(
        "totals of three sheets",
        book(
            {
                "Overview": {
                    "A1": "=SUM(North!B2:B4)",
                    "A2": "=SUM(South!B2:B4)",
                    "A3": "=SUM(West!B2:B4)",
                },
                **_REGIONS,
            }
        ),
        (
            ("Overview", "North", _FAS, "Overview!A1 =SUM(North!"),
            ("Overview", "South", _FAS, "Overview!A2 =SUM(South!"),
            ("Overview", "West", _FAS, "Overview!A3 =SUM(West!"),
        ),
    ),
    Case(
        "figures of three sheets shown on one",
        book(
            {"KPI": {"A1": "=North!B4", "A2": "=South!B4", "A3": "=IFERROR(West!B4,0)"}, **_REGIONS}
        ),
        (
            ("KPI", "North", _FS, "KPI!A1 =North!B4"),
            ("KPI", "South", _FS, "KPI!A2 =South!B4"),
            ("KPI", "West", _FS, "KPI!A3 =IFERROR(West!B4,0)"),
        ),
    ),
    Case(
        "sheets added up cell by cell",
        book({"Group": {"A1": "=North!B2+South!B2+West!B2"}, **_REGIONS}),
        tuple(
            ("Group", region, _FS, "Group!A1 =North!B2+South!B2+West!B2")
            for region in ("North", "South", "West")
        ),
    ),
    Case(
        "a calculation with parameters of two sheets",
        book({"Costs": {"A1": 3, "B1": "=A1*Rates!B2*Taxes!B2"}, "Rates": DATA, "Taxes": DATA}),
        (
            ("Costs", "Rates", _F, "Costs!B1 =A1*Rates!B2*Taxes!B2"),
            ("Costs", "Taxes", _F, "Costs!B1 =A1*Rates!B2*Taxes!B2"),
        ),
    ),
    Case(
        "an order list that looks up two sheets",
        book(
            {
                "Orders": {
                    "A1": "bolt",
                    "B1": "=VLOOKUP(A1,Items!A:C,3,0)",
                    "C1": "=VLOOKUP(A1,Stock!A:B,2,0)",
                },
                "Items": DATA,
                "Stock": DATA,
            }
        ),
        (
            ("Orders", "Items", _FJ, "Orders!B1 =VLOOKUP(A1,Items!"),
            ("Orders", "Stock", _FJ, "Orders!C1 =VLOOKUP(A1,Stock!"),
        ),
    ),
    Case(
        "a sheet called Summary that takes nothing", book({"Summary": DATA, "Q1": DATA, "Q2": DATA})
    ),
    Case(
        "a sheet called Summary that takes from one sheet",
        book({"Summary": {"A1": "=SUM(Q1!B:B)"}, "Q1": DATA, "Q2": DATA}),
        (("Summary", "Q1", _FA, "Summary!A1 =SUM(Q1!B:B)"),),
    ),
    Case(
        "one sheet of parameters behind a summary",
        book(
            {
                "Year": {"A1": "=SUM(North!B:B)*Rates!B2", "A2": "=SUM(South!B:B)*Rates!B2"},
                **_REGIONS,
                "Rates": DATA,
            }
        ),
        (
            ("Year", "North", _FAS, "Year!A1 =SUM(North!B:B)"),
            ("Year", "South", _FAS, "Year!A2 =SUM(South!B:B)"),
            ("Year", "Rates", _F, "Year!A1 =SUM(North!B:B)*Rates!B2"),
        ),
    ),
]
