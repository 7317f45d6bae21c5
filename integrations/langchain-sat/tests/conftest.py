"""Real workbooks, and an index of them on disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from openpyxl import Workbook

from sat_retriever import SheetIndex
from sat_retriever.index.sync.indexing import index_paths
from tests.saved_encoder import save_bag_of_words

MONTHS = ("January", "February", "March")
WORDS = "name shape columns sales summary month total revenue region staff people salary".split()


@pytest.fixture(scope="session")
def workbooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sales with a summary that takes from its months, staff, and a monthly form twice."""
    folder = tmp_path_factory.mktemp("workbooks")
    (folder / "2024").mkdir()
    book = Workbook()
    book.remove(book.active)
    for number, month in enumerate(MONTHS, start=1):
        sheet = book.create_sheet(month)
        for row in (["Region", "Revenue"], ["North", 100 * number], ["South", 10 * number]):
            sheet.append(row)
    summary = book.create_sheet("Summary")
    summary.append(["Month", "Total revenue"])
    for month in MONTHS:
        summary.append([month, f"=SUM({month}!B2:B3)"])
    book.save(folder / "2024" / "Sales.xlsx")
    staff = Workbook()
    staff.active.title = "People"
    for row in (["Name", "Salary", "Department"], ["Ada", 41, "Sales"], ["Bo", 39, "Stock"]):
        staff.active.append(row)
    staff.save(folder / "Staff.xlsx")
    for month in ("01", "02"):  # the same text of two sheets: names, headers, shape
        (folder / month).mkdir()
        form = Workbook()
        form.active.title = "Form"
        for row in (["Employee", "Hours worked"], ["Ada", 8]):
            form.active.append(row)
        form.properties.title = month  # equal files are one hit
        form.save(folder / month / "Timesheet.xlsx")
    return folder


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder, so that an index that is opened by its path finds it again."""
    return save_bag_of_words(tmp_path_factory.mktemp("encoders") / "bag", [*WORDS, *MONTHS])


@pytest.fixture(scope="session")
def shared_index(tmp_path_factory: pytest.TempPathFactory, workbooks: Path, encoder: Path):
    """An index that no test writes to."""
    file = tmp_path_factory.mktemp("index") / "all.sat"
    with index_paths(workbooks, file, encoder=encoder) as opened:
        yield opened


@pytest.fixture
def index(shared_index: SheetIndex) -> SheetIndex:
    return shared_index
