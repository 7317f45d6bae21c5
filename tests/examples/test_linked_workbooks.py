"""The example of workbooks that refer to each other does what its picture shows."""

from __future__ import annotations

import subprocess
import sys

from sat_retriever import SheetIndex
from tests.fakes import HashedEncoder
from tests.places import EXAMPLES

SCRIPT = EXAMPLES / "linked_workbooks.py"


def test_the_report_gathers_from_every_workbook_and_nothing_is_unresolved(tmp_path):
    folder = tmp_path / "reports"
    subprocess.run([sys.executable, SCRIPT, folder], check=True, timeout=60)
    with SheetIndex.create(tmp_path / "linked.sat", HashedEncoder()) as index:
        report = index.sync(folder, workers=1)
        gathered = [
            link.target
            for link in index.links(["Board report 2024.xlsx#Summary"])
            if link.source == "Board report 2024.xlsx#Summary" and link.type == "summary_source"
        ]
        assert (report.added, report.skipped) == (6, ())
        assert index.status()["unresolved"] == {}
    assert gathered == [
        "Budget 2024.xlsx#Total",
        *(f"sales/Sales {region} 2024.xlsx#Year" for region in ("North", "South", "West")),
    ]
