"""Write a folder of workbooks that refer to each other, to try `sat graph`.

python examples/linked_workbooks.py FOLDER
sat index FOLDER --index linked.sat
sat graph --index linked.sat --out linked.html
"""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from openpyxl import Workbook

Rows = Sequence[Sequence[object]]

REGIONS = ("North", "South", "West")
QUARTERS = ("Q1", "Q2", "Q3", "Q4")
PRODUCTS = {"P-10": "Gear pump", "P-20": "Ball valve", "P-30": "Filter", "P-40": "Seal kit"}
DEPARTMENTS = ("Production", "Research", "Sales", "Logistics")


def write_workbooks(folder: Path) -> None:
    """Write all files, replacing those of the same name."""
    chance = random.Random(2024)
    (folder / "sales").mkdir(parents=True, exist_ok=True)
    for region in REGIONS:
        _save(folder / "sales" / f"Sales {region} 2024.xlsx", _sales(chance))
    _save(folder / "Price list.xlsx", _prices(chance))
    _save(folder / "Budget 2024.xlsx", _budget(chance))
    _save(folder / "Board report 2024.xlsx", _report())


def _sales(chance: random.Random) -> dict[str, Rows]:
    """Make four quarters that look up prices in another workbook, and a year that sums them."""
    price = "VLOOKUP(A{row},'[../Price list.xlsx]Prices'!$A$2:$C$5,3,FALSE)"
    sheets: dict[str, Rows] = {}
    for quarter in QUARTERS:
        rows: list[list[object]] = [["Product code", "Units sold", "Revenue"]]
        for row, code in enumerate(PRODUCTS, start=2):
            units = chance.randint(20, 400)
            rows.append([code, units, f"=B{row}*{price.format(row=row)}"])
        sheets[quarter] = rows
    sums = [[quarter, f"=SUM({quarter}!C2:C5)"] for quarter in QUARTERS]
    return {"Year": [["Quarter", "Revenue"], *sums], **sheets}


def _prices(chance: random.Random) -> dict[str, Rows]:
    rows = [[code, name, chance.randint(20, 400)] for code, name in PRODUCTS.items()]
    suppliers = [[code, f"Supplier {number}"] for number, code in enumerate(PRODUCTS, start=1)]
    return {
        "Prices": [["Product code", "Product name", "Unit price"], *rows],
        "Suppliers": [["Product code", "Supplier"], *suppliers],
    }


def _budget(chance: random.Random) -> dict[str, Rows]:
    spent = [[name, chance.randint(80, 900), chance.randint(80, 900)] for name in DEPARTMENTS]
    totals = [["Plan", "=SUM(Departments!B2:B5)"], ["Actual", "=SUM(Departments!C2:C5)"]]
    return {
        "Departments": [["Department", "Plan", "Actual"], *spent],
        "Total": [["Kind", "Amount"], *totals],
    }


def _report() -> dict[str, Rows]:
    """Make a summary of the other workbooks, and a forecast based on it."""
    regions = [
        [region, f"=SUM('[sales/Sales {region} 2024.xlsx]Year'!B2:B5)"] for region in REGIONS
    ]
    cost = ["Cost", "='[Budget 2024.xlsx]Total'!B3"]
    growth = [[f"Revenue {year}", f"=SUM(Summary!B2:B4)*{factor}"] for year, factor in _GROWTH]
    return {
        "Summary": [["Region", "Revenue"], *regions, cost],
        "Forecast": [["Line", "Amount"], *growth],
    }


_GROWTH = ((2025, 1.03), (2026, 1.06))


def _save(path: Path, sheets: Mapping[str, Rows]) -> None:
    book = Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(list(row))
    book.save(path)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    write_workbooks(Path(sys.argv[1]))
