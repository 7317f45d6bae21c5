"""The comparison with openpyxl counts every cell, and sees one that differs."""

import openpyxl

from benchmarks.answers import table_data
from benchmarks.answers.table_data import compared, write_long


def test_every_cell_is_compared_and_a_difference_is_counted(tmp_path, monkeypatch):
    write_long(tmp_path / "long.xlsx", 3)
    found = compared([tmp_path / "long.xlsx"])
    assert (found["sheets"], found["tables"], found["cells"]) == (1, 1, 60)
    assert found["differences"] == found["other_place"] == found["unreadable"] == 0
    book = openpyxl.load_workbook(tmp_path / "long.xlsx")
    book["Long"]["A2"] = "another"
    monkeypatch.setattr(table_data.openpyxl, "load_workbook", lambda *_, **__: book)
    assert compared([tmp_path / "long.xlsx"])["differences"] == 1
