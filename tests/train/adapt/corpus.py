"""Workbooks of a few companies: eight kinds of sheets, each with columns of its own."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from sat_retriever.records.sheets import Column, SheetRecord

COMPANIES = ("alpha", "beta", "gamma")
YEARS = ("2021", "2022", "2023")
KINDS = {
    "sales report": ("order", "region", "price"),
    "payroll": ("employee", "salary"),
    "stock count": ("item", "shelf", "pieces"),
    "travel costs": ("trip", "hotel", "fare"),
    "lease contracts": ("tenant", "rent"),
    "repair log": ("machine", "fault", "hours"),
    "training plan": ("course", "teacher"),
    "energy use": ("meter", "kilowatts"),
}
WORDS = [*COMPANIES, *YEARS, *(word for kind in KINDS for word in kind.split())]


def write_books(folder: Path) -> Path:
    """One csv file a company, year and kind: 72 sheets of eight families.

    No two files are equal: equal files would be one hit of a search.
    """
    for number, (company, (kind, headers), year) in enumerate(
        product(COMPANIES, KINDS.items(), YEARS)
    ):
        file = folder / company / f"{company} {kind} {year}.csv"
        file.parent.mkdir(parents=True, exist_ok=True)
        rows = [",".join(headers), ",".join(str(number + n) for n in range(len(headers)))]
        file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def sheet_id(company: str, kind: str, year: str) -> str:
    """What indexing the folder calls a sheet."""
    name = f"{company} {kind} {year}"
    return f"{company}/{name}.csv#{name}"


def sheet_records() -> list[SheetRecord]:
    """The sheets of these files as indexing reads them, but for their shape."""
    return [
        SheetRecord(
            sheet_id(company, kind, year),
            f"{company} {kind} {year}",
            f"{company} {kind} {year}.csv",
            f"{company}/{company} {kind} {year}.csv",
            columns=tuple(map(Column, headers)),
        )
        for company in COMPANIES
        for kind, headers in KINDS.items()
        for year in YEARS
    ]
