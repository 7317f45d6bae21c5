"""Headings of records between the rows of a table, and the section of each record."""

from __future__ import annotations

import xlsxwriter

from sat_retriever.workbook.typed import read_table_data


def save(path, rows, merges=()):
    with xlsxwriter.Workbook(path) as book:
        page = book.add_worksheet("Sheet")
        for row, line in enumerate(rows):
            for col, value in enumerate(line):
                if value is not None:
                    page.write(row, col, value)
        for area, value in merges:
            page.merge_range(area, value)
    return read_table_data(path, "Sheet")


def test_each_record_has_the_heading_above_it_and_the_first_ones_may_have_none(tmp_path):
    rows = [
        ["Item", "Stock", "Price"],
        ["glue", 7, 1.5],
        ["Metal"],
        ["bolt", 120, 3.25],
        ["nut", 80, 4.5],
        [],
        ["Wood"],
        ["Long"],
        ["plank", 305, 2.75],
        ["Total", 512, 12],
    ]
    merges = [("A3:C3", "Metal"), ("A7:C7", " Wood\n and more "), ("A8:C8", "Long")]
    data = save(tmp_path / "a.xlsx", rows, merges)
    assert data.sections == (None, "Metal", "Metal", "Wood and more / Long")
    assert data.records == (2, 4, 5, 9)
    reasons = [(each.row, str(each.reason)) for each in data.left_out]
    assert reasons == [(3, "section"), (7, "section"), (8, "section"), (10, "total")]


def test_a_table_without_headings_tells_no_sections(tmp_path):
    assert save(tmp_path / "a.xlsx", [["Item", "Stock"], ["bolt", 1], ["nut", 5]]).sections is None


def test_a_label_merged_over_the_rows_of_records_is_no_heading(tmp_path):
    rows = [["Region", "Town", "Stock"], ["North", "a", 1], [None, "b", 9], [None, "c", 4]]
    rows += [["South", "d", 1], [None, "e", 3], [None, None, None]]
    data = save(tmp_path / "a.xlsx", rows, [("A2:A4", "North"), ("A5:A6", "South")])
    assert (data.left_out, data.sections) == ((), None)
    assert data.columns[0] == ["North"] * 3 + ["South"] * 2


def test_a_text_beside_a_merged_label_is_no_heading(tmp_path):
    rows = [["Region", "Town", "Stock"], ["North", "  a", 1], [None, "b"], [None, "  c", 4]]
    rows += [["South", "  d", 1], ["East", "  e", 3]]
    data = save(tmp_path / "a.xlsx", rows, [("A2:A4", "North")])
    assert (data.left_out, data.records) == ((), (2, 3, 4, 5, 6))
