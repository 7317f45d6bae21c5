"""Write hand-made files for the demo, of kinds that no template gives.

They have titles, rows of units, two tables on a sheet, a form, exports of other programs, and
three languages. Every run writes the same cells. Two files are unreadable and one is not a
spreadsheet, on purpose: real folders have such files too.

    python examples/demo_workbooks.py FOLDER
"""

from __future__ import annotations

import csv
import datetime as dt
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from openpyxl import Workbook
from openpyxl.styles import Font
from openpyxl.worksheet.worksheet import Worksheet

Row = Sequence[object]

MONTHS = ("January", "February", "March")
PRODUCTS = ("Gear pump", "Ball valve", "Pressure gauge", "Filter housing", "Seal kit")
CUSTOMERS = ("Hafen GmbH", "Kestrel Water", "Mira Foods", "Olin Paper", "Tarn Energy")
PEOPLE = ("Lena Brandt", "Omar Haddad", "Yuki Mori", "Ana Sousa", "Jonas Weber", "Wei Zhang")


def write_workbooks(folder: Path) -> int:
    """Write all files, replacing those of the same name, and return their number."""
    chance = random.Random(2024)
    for region in ("North", "South"):
        _sales(folder / "sales" / f"Sales {region} 2024.xlsx", region, chance)
    _budget(folder / "finance" / "Budget 2024.xlsx", chance)
    _cash_flow(folder / "finance" / "Cash flow forecast.xlsx", chance)
    _stock(folder / "warehouse" / "Stock movements.xlsx", chance)
    _suppliers(folder / "warehouse" / "Suppliers.xlsx")
    _ledger(folder / "warehouse" / "库存台账 2024.xlsx", chance)
    _employee_form(folder / "hr" / "Employee form Lena Brandt.xlsx")
    _leave(folder / "hr" / "Urlaubskonto 2024.csv", chance)
    _customers(folder / "exports" / "crm_export.csv")
    _sensors(folder / "exports" / "sensor_readings.tsv", chance)
    _unreadable(folder / "archive", folder / "sales" / "Sales North 2024.xlsx")
    return sum(path.is_file() for path in folder.rglob("*"))


def _sheet(book: Workbook, title: str, rows: Sequence[Row], at: str = "A1") -> Worksheet:
    """Add a sheet with the rows written from a cell on; None leaves a cell empty."""
    sheet = book.create_sheet(title)
    _place(sheet, rows, at)
    return sheet


def _place(sheet: Worksheet, rows: Sequence[Row], at: str) -> None:
    corner = sheet[at]
    for down, row in enumerate(rows):
        for right, value in enumerate(row):
            if value is not None:
                sheet.cell(corner.row + down, corner.column + right, value)


def _new() -> Workbook:
    book = Workbook()
    book.remove(book.active)
    return book


def _save(book: Workbook, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    book.save(path)


def _sales(path: Path, region: str, chance: random.Random) -> None:
    """Write title rows, a header in row 4, one template for every month, and a totals row."""
    book = _new()
    for number, month in enumerate(MONTHS, start=1):
        rows: list[Row] = [[f"Sales {region}, {month} 2024"], ["All amounts in EUR"], []]
        rows.append(["Date", "Customer", "Product", "Quantity", "Unit price", "Revenue"])
        for row in range(5, 17):
            day = dt.date(2024, number, 2 * row - 8)
            who, what = chance.choice(CUSTOMERS), chance.choice(PRODUCTS)
            count, price = chance.randint(2, 40), chance.randint(20, 400)
            rows.append([day, who, what, count, price, count * price])
        rows.append(["Total", None, None, "=SUM(D5:D16)", None, "=SUM(F5:F16)"])
        sheet = _sheet(book, month, rows)
        sheet["A1"].font = Font(bold=True, size=14)
    _save(book, path)


def _budget(path: Path, chance: random.Random) -> None:
    """Write a merged header of two rows, a units row, formulas, and a hidden sheet."""
    book = _new()
    quarters = ["Q1", None, "Q2", None, "Q3", None]
    rows: list[Row] = [["Budget against actual cost 2024"], []]
    rows += [["Department", *quarters], [None, *["Budget", "Actual"] * 3]]
    rows.append([None, *["kEUR"] * 6])
    for name in ("Production", "Research", "Sales", "Logistics", "Administration"):
        rows.append([name, *(chance.randint(80, 900) for _ in quarters)])
    sheet = _sheet(book, "Budget vs actual", rows)
    for area in ("A3:A4", "B3:C3", "D3:E3", "F3:G3"):
        sheet.merge_cells(area)
    year = [["Quarter", "Budget", "Actual", "Deviation"]]
    for quarter, (budget, actual) in enumerate(("BC", "DE", "FG"), start=1):
        totals = [f"=SUM('Budget vs actual'!{c}6:{c}10)" for c in (budget, actual)]
        year.append([f"Q{quarter}", *totals, f"=C{quarter + 1}-B{quarter + 1}"])
    _sheet(book, "Year", year)
    assumptions = [["Assumption", "Value", "Source"], ["Inflation rate", 0.024, "Central bank"]]
    assumptions += [["Corporate tax rate", 0.298, "Tax office"], ["EUR/USD", 1.08, "Treasury"]]
    assumptions.append(["Wage increase", 0.035, "Union agreement"])
    _sheet(book, "Assumptions", assumptions).sheet_state = "hidden"
    _save(book, path)


def _cash_flow(path: Path, chance: random.Random) -> None:
    """Write two tables stacked on one sheet."""
    weeks = [f"Week {number}" for number in range(1, 9)]
    rows: list[Row] = []
    for title, names in (
        ("Receipts", ("Customer payments", "Tax refund", "Loan drawdown")),
        ("Payments", ("Wages", "Material", "Rent", "Energy", "Loan repayment")),
    ):
        rows.append([title, *weeks])
        rows += [[name, *(chance.randint(5, 300) for _ in weeks)] for name in names]
        rows += [[], []]
    book = _new()
    _sheet(book, "13 weeks", rows)
    _save(book, path)


def _stock(path: Path, chance: random.Random) -> None:
    """Write two tables side by side, and the lookup sheet that their formulas use."""
    codes = [f"IT-{1000 + 7 * number}" for number in range(len(PRODUCTS))]
    book = _new()
    for month in MONTHS:
        inbound: list[Row] = [["Item", "Received", "Quantity in", "Description"]]
        outbound: list[Row] = [["Item", "Shipped", "Quantity out", "Carrier"]]
        for row in range(2, 12):
            day = dt.date(2024, MONTHS.index(month) + 1, 2 * row)
            lookup = f"=VLOOKUP(A{row},Items!$A$2:$C$6,2,FALSE)"
            inbound.append([chance.choice(codes), day, chance.randint(10, 500), lookup])
            carrier = chance.choice(("Rail", "Truck", "Courier"))
            outbound.append([chance.choice(codes), day, chance.randint(1, 90), carrier])
        _place(_sheet(book, month, inbound), outbound, "G1")
    items = [[code, name, 25] for code, name in zip(codes, PRODUCTS, strict=True)]
    _sheet(book, "Items", [["Item", "Description", "Reorder level"], *items])
    _save(book, path)


def _suppliers(path: Path) -> None:
    """Write a header that starts neither in the first row nor in the first column."""
    book = _new()
    prices = [["Supplier", "Part", "Price per piece", "Minimum order", "Delivery time in days"]]
    prices += [["Ferrum AG", "Ball valve", 41.5, 20, 12], ["Ferrum AG", "Seal kit", 3.2, 200, 5]]
    prices += [["Lund Metall", "Gear pump", 310.0, 2, 30], ["Nakata", "Filter", 18.9, 50, 21]]
    note = [["Valid until 31 December 2024, without freight"]]
    _place(_sheet(book, "Price list", prices, "C5"), note, "C2")
    contacts = [["Supplier", "Contact person", "Phone", "E-mail"]]
    contacts += [["Ferrum AG", "R. Keller", "+41 44 555 01 10", "orders@ferrum.example"]]
    contacts += [["Lund Metall", "S. Lund", "+46 31 555 02 20", "sales@lund.example"]]
    _sheet(book, "Contacts", contacts)
    _save(book, path)


def _ledger(path: Path, chance: random.Random) -> None:
    """Write Chinese names and headers."""
    book = _new()
    for month in ("一月", "二月", "三月"):
        rows: list[Row] = [["日期", "物料编码", "物料名称", "入库数量", "出库数量", "结存"]]
        stock = 500
        for day in range(1, 11):
            into, out = chance.randint(0, 80), chance.randint(0, 60)
            stock += into - out
            date = dt.date(2024, "一二三".index(month[0]) + 1, 2 * day)
            rows.append(
                [date, f"WL-{day:03}", chance.choice(("阀门", "泵", "滤芯")), into, out, stock]
            )
        _sheet(book, month, rows)
    _save(book, path)


def _employee_form(path: Path) -> None:
    """Write a form with the headers in the first column."""
    form = [["Name", "Lena Brandt"], ["Employee no.", 1001], ["Department", "Research"]]
    form += [["Position", "Design engineer"], ["Start date", dt.date(2019, 4, 1)]]
    form += [["Weekly hours", 38.5], ["Notice period", "3 months"], ["Manager", "Yuki Mori"]]
    book = _new()
    _sheet(book, "Form", form)
    _save(book, path)


def _leave(path: Path, chance: random.Random) -> None:
    """Write German headers, semicolons, and the encoding of older Windows programs."""
    header = ["Personalnummer", "Name", "Abteilung", "Urlaubsanspruch", "Genommen", "Resturlaub"]
    rows: list[Row] = [header]
    for number, name in enumerate(PEOPLE):
        taken = chance.randint(3, 27)
        department = chance.choice(("Vertrieb", "Einkauf", "Geschäftsführung", "Prüffeld"))
        rows.append([1001 + number, name, department, 30, taken, 30 - taken])
    _write_text(path, rows, delimiter=";", encoding="cp1252")


def _customers(path: Path) -> None:
    """Write a database export as on Windows: UTF-16 and semicolons."""
    rows: list[Row] = [["customer_id", "company", "city", "credit_limit", "payment_terms_days"]]
    cities = ("Hamburg", "Bristol", "Łódź", "Tampere", "Malmö")
    places = zip(CUSTOMERS, cities, strict=True)
    rows += [[number, *place, 5000 * number, 30] for number, place in enumerate(places, start=1)]
    _write_text(path, rows, delimiter=";", encoding="utf-16")


def _sensors(path: Path, chance: random.Random) -> None:
    """Write machine-made names."""
    rows: list[Row] = [["timestamp", "pumpId", "flow_rate", "bearing-temperature", "vibration_rms"]]
    start = dt.datetime(2024, 5, 6)
    for minute in range(0, 600, 10):
        values = (round(chance.gauss(mean, 2), 2) for mean in (120, 61, 9))
        time = start + dt.timedelta(minutes=minute)
        rows.append([time.isoformat(), f"P{chance.randint(1, 4)}", *values])
    _write_text(path, rows, delimiter="\t", encoding="utf-8")


def _write_text(path: Path, rows: Sequence[Row], *, delimiter: str, encoding: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)


def _unreadable(folder: Path, whole: Path) -> None:
    """Write an incomplete download, an empty upload, and a text file."""
    folder.mkdir(parents=True, exist_ok=True)
    content = whole.read_bytes()
    (folder / "Sales 2019 (download).xlsx").write_bytes(content[: len(content) // 2])
    (folder / "Price list 2020.xls").write_bytes(b"")
    (folder / "notes.txt").write_text("ask Ana for the older price lists\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/demo_workbooks.py FOLDER")
    print(f"{write_workbooks(Path(sys.argv[1]))} files in {sys.argv[1]}")
