"""Formulas that sum up cells of their own column, by what they say."""

from __future__ import annotations

import pytest

from sat_retriever.workbook.tables import sums
from sat_retriever.workbook.tables.sums import MAX_FORMULA, column_sums


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("SUM(C2:C8)", (2, 8)),
        ("SUM($C$2:$C$8)", (2, 8)),
        ("SUM(C2:C4,C6:C8)", (2, 8)),
        ("SUM(C2,C5,C8)", (2, 8)),
        ("SUM(C2:C4)+SUM(C6:C8)", (2, 8)),
        ("SUBTOTAL(9,C2:C8)", (2, 8)),
        ("SUBTOTAL(109, C2:C8)", (2, 8)),
        ("AGGREGATE(9,5,C2:C8)", (2, 8)),
        ('SUMIF(A2:A8,"North",C2:C8)', (2, 8)),
        ("SUMIFS(C2:C8,A2:A8,A2)", (2, 8)),
        ("ROUND(SUM(C2:C8),2)", (2, 8)),
        ("C2+C8", (2, 8)),
        ("+$C$2+C5+C8", (2, 8)),
        ("SUM(C8:C2)", (2, 8)),
    ],
)
def test_a_sum_of_its_own_column_is_told_with_its_rows(text, span):
    assert column_sums([("C9", text, None, "normal")]) == {(9, 3): span}


@pytest.mark.parametrize(
    "text",
    [
        "SUM(A9:B9)",  # its row
        "SUM(B2:B8)",  # another column
        "SUM(B2:C8)",  # several columns
        "SUM(C2)",  # one cell
        "C2",
        "C2*C3",
        "C2-C3",
        "SUM(C2:C8)/SUM(D2:D8)",  # a share
        "SUM(C2:C8)*2",
        "SUM(C2:C8)-C3",
        "AVERAGE(C2:C8)",
        "SUMPRODUCT(C2:C8)",
        "MAX(C2:C8)",
        "Data!C2+Data!C3",
        "SUM(Data!C2:C8)",  # another sheet
        "SUM(C2:C8" + " " * MAX_FORMULA + ")",
        "",
    ],
)
def test_other_formulas_are_no_sums(text):
    assert column_sums([("C9", text, None, "normal")]) == {}


def test_a_formula_that_fills_a_row_counts_for_each_cell_and_one_down_a_column_does_not():
    across = ("B9", "SUM(B2:B8)", "B9:E9", "shared")
    assert column_sums([across]) == {(9, col): (2, 8) for col in range(2, 6)}
    down = ("B9", "SUM(B2:B8)", "B9:B12", "shared")
    block = ("B9", "SUM(B2:B8)", "B9:D12", "shared")
    assert column_sums([down]) == column_sums([block]) == {(9, 2): (2, 8)}


def test_no_more_sums_are_kept_than_have_room(monkeypatch):
    monkeypatch.setattr(sums, "MAX_SUMS", 3)
    rows = [(f"B{row}", f"SUM(B1:B{row - 1})", None, "normal") for row in range(4, 20)]
    assert len(column_sums(rows)) == 3
    assert len(column_sums([("B9", "SUM(B2:B8)", "B9:XFD9", "shared")])) <= 4
