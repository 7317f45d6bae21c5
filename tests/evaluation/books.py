"""A few real workbooks with links between them, an index of them, and questions about them."""

from __future__ import annotations

from pathlib import Path

from sat_retriever import SheetIndex
from sat_retriever.datasets.labels import Query
from tests.builders import save_book
from tests.fakes import HashedEncoder

EVIL = "<img src=x onerror=hack()>"  # as long as a tab's name may be
Q1, SUMMARY, PLAN = "sales.xlsx#Q1", "sales.xlsx#Summary", "sales.xlsx#Plan"
STAFF, BAD = "staff.xlsx#Staff", f"staff.xlsx#{EVIL}"
SHEETS = {
    "sales.xlsx": {
        "Q1": [["Region", "Month", "Revenue"], ["North", "Jan", 7], ["South", "Feb", 8]],
        "Plan": [["Region", "Target"], ["North", 5], ["South", 6]],
        "Summary": [["Quarter", "Total"], ["First", "=SUM('Q1'!C2:C3)"]],
    },
    "staff.xlsx": {
        "Staff": [["Name", "Salary"], ["Ada", 41], ["Bo", 42]],
        EVIL: [[EVIL, "Grade"], ["x", 1], ["y", 2]],
    },
}
QUERIES = (
    Query("revenue by region", (Q1,), hard_negatives=(PLAN,), query_type="lookup"),
    Query("total a quarter, and what it is made of", (SUMMARY, Q1), query_type="tracing"),
    Query("how much do people earn", (STAFF,), negatives=(Q1,), query_type="lookup"),
    Query(f"grade {EVIL}", (BAD, STAFF), query_type=EVIL),
)


def indexed(folder: Path) -> SheetIndex:
    """The index of these workbooks, open; five sheets."""
    files = folder / "books"
    files.mkdir()
    for name, tabs in SHEETS.items():
        save_book(files / name, **tabs)
    index = SheetIndex.create(folder / "books.sat", HashedEncoder(512))
    index.sync(files, workers=1)
    return index
