"""Totals by formulas, with and without saved values, and what of a table with totals is read."""

from __future__ import annotations

import pytest
import xlsxwriter

from sat_retriever import read_workbook
from sat_retriever.workbook.typed import read_table_data

NORTH = [["North", "nut", 120], ["North", "bolt", 35]]
SOUTH = [["South", "nut", 60], ["South", "bolt", 77], ["South", "rivet", 8]]
GROUPS = [["Region", "Product", "Units"], *NORTH, [], *SOUTH, [], []]
SUMS = {4: 155, 8: 145, 9: 300}
FORMULAS = {
    "SUM": {4: "SUM(C2:C3)", 8: "SUM(C5:C7)", 9: "SUM(C4,C8)"},
    "SUBTOTAL": {4: "SUBTOTAL(9,C2:C3)", 8: "SUBTOTAL(9,C5:C7)", 9: "SUBTOTAL(9,C2:C8)"},
    "AGGREGATE": {4: "AGGREGATE(9,0,C2:C3)", 8: "AGGREGATE(9,0,C5:C7)", 9: "C4+C8"},
    "SUMIF": {4: 'SUMIF(A2:A7,"North",C2:C3)', 8: "SUMIF(A2:A7,A7,C5:C7)", 9: "SUM(C2:C3,C5:C7)"},
    "+": {4: "C2+C3", 8: "+C5+C6+C7", 9: "$C$4+$C$8"},
}


def write(path, rows, formulas, merges=(), texts=()):
    """A workbook with these rows; formulas with their values by row and column, 1-based."""
    with xlsxwriter.Workbook(path) as book:
        page = book.add_worksheet("Sheet")
        for row, line in enumerate(rows):
            for col, value in enumerate(line):
                if value is not None:
                    page.write(row, col, value)
        for (row, col), (text, value) in formulas.items():
            page.write_formula(row - 1, col - 1, f"={text}", value=value)
        for area, value in merges:
            page.merge_range(area, value)
        for (row, col), text in texts:
            page.write(row - 1, col - 1, text)
    return path


def left_out(path, **options):
    data = read_table_data(path, "Sheet", **options)
    return {each.row: str(each.reason) for each in data.left_out}


@pytest.mark.parametrize("saved", [True, False])
@pytest.mark.parametrize("kind", FORMULAS)
def test_rows_without_a_word_are_totals_by_their_formulas(kind, saved, tmp_path):
    told = FORMULAS[kind]
    cells = {(row, 3): (told[row], SUMS[row] if saved else "") for row in told}
    file = write(tmp_path / "a.xlsx", GROUPS, cells)
    assert [*left_out(file)] == [4, 8, 9]


@pytest.mark.parametrize(
    ("formula", "why"),
    [
        ("C{row}/SUM(C$2:C$5)", "a share"),
        ("SUM(C{row}:C{row})/SUM(C$2:C$5)", "a share of sums"),
        ("SUM(B{row}:C{row})", "a sum of its own row"),
        ("SUM(D$2:D{row})-C{row}", "a difference"),
        ("SUM($C$2:$C{row})", "a running sum of another column"),
    ],
)
def test_records_with_formulas_that_sum_up_no_other_records_stay(formula, why, tmp_path):
    rows = [["Item", "Price", "Stock", why]]
    rows += [[f"part {row}", 1.5 * row, 7.25 + row * row] for row in range(2, 6)]
    cells = {(row, 4): (formula.format(row=row), row / 7) for row in range(2, 6)}
    assert left_out(write(tmp_path / "a.xlsx", rows, cells)) == {}


def test_a_share_below_a_total_is_no_total(tmp_path):
    rows = [["Item", "Stock"], ["bolt", 120], ["nut", 80], ["screw", 305], ["Total"], ["Share"]]
    cells = {(5, 2): ("SUM(B2:B4)", 505), (6, 2): ("SUM(B2)/SUM(B2:B4)", 120 / 505)}
    assert left_out(write(tmp_path / "a.xlsx", rows, cells)) == {5: "total"}


def test_totals_come_back_where_they_are_asked_for_and_nothing_else_does(tmp_path):
    rows = [
        ["Item", "Length", "Mass"],
        [None, "m", "kg"],
        ["Pipes"],
        ["a", 1.5, 20.25],
        ["b", 3.25, 31],
        ["Subtotal", 4.75, 51.25],
        ["Rods"],
        ["Item", "Length", "Mass"],
        ["c", 7, 12.5],
        ["d", 8, 11],
        ["Subtotal", 15, 23.5],
        ["Total", 19.75, 74.75],
    ]
    file = write(tmp_path / "a.xlsx", rows, {}, [("A3:C3", "Pipes"), ("A7:C7", "Rods")])
    others = {2: "units", 3: "section", 7: "section", 8: "repeated_header"}
    sums = {6: "subtotal", 11: "subtotal", 12: "total"}
    assert left_out(file) == dict(sorted((others | sums).items()))
    data = read_table_data(file, "Sheet", totals=True)
    assert {each.row: str(each.reason) for each in data.left_out} == others
    assert data.records == (4, 5, 6, 9, 10, 11, 12)
    assert data.columns[1] == [1.5, 3.25, 4.75, 7, 8, 15, 19.75]
    assert data.sections[:2] == ("Pipes", "Pipes")
    without = read_table_data(file, "Sheet")
    assert (without.records, without.columns[2]) == ((4, 5, 9, 10), [20.25, 31, 12.5, 11])
    assert without.sections == ("Pipes", "Pipes", "Rods", "Rods")


@pytest.mark.parametrize("height", [2, 3, 17, 300])
def test_a_merged_label_counts_for_each_of_its_rows_and_an_amount_once(height, tmp_path):
    rows = [["Region", "Town", "Stock", "Budget"]]
    rows += [[None, f"town {n}", 3 + n * n] for n in range(2 * height)]
    merges = [
        (f"A2:A{height + 1}", "North"),
        (f"D2:D{height + 1}", 1200.5),
        (f"A{height + 2}:A{2 * height + 1}", "South"),
        (f"D{height + 2}:D{2 * height + 1}", 900),
    ]
    last = 2 * height + 2
    rows.append(["Total", None, sum(row[2] for row in rows[1:]), 2100.5])
    data = read_table_data(write(tmp_path / "a.xlsx", rows, {}, merges), "Sheet")
    assert {each.row: str(each.reason) for each in data.left_out} == {last: "total"}
    assert data.records == tuple(range(2, last))
    assert data.columns[0] == ["North"] * height + ["South"] * height
    rest = [None] * (height - 1)
    assert data.columns[3] == [1200.5, *rest, 900, *rest]


def test_a_record_under_a_merged_label_has_no_gap_and_is_no_total_by_it(tmp_path):
    rows = [["Region", "Stock", "Sold"], [None, 111, 30.5], [None, 242, 81.25]]
    rows += [[None, 353, 111.75], ["South", 7, 12], ["East", 8, 4.25], ["West", 3, 61]]
    file = write(tmp_path / "a.xlsx", rows, {}, [("A2:A4", "North")])
    assert left_out(file) == {}


def test_numbers_merged_left_of_all_records_are_labels(tmp_path):
    rows = [["Year", "Town", "Stock"], *([None, f"town {n}", 3 + n * n] for n in range(4))]
    merges = [("A2:A3", 2023), ("A4:A5", 2024)]
    data = read_table_data(write(tmp_path / "a.xlsx", rows, {}, merges), "Sheet")
    assert data.columns[0] == [2023, 2023, 2024, 2024]


def test_an_empty_cell_below_a_label_that_is_not_merged_stays_empty(tmp_path):
    rows = [["Region", "Town", "Stock"], ["North", "a", 3], [None, "b", 4], ["South", "c", 9]]
    data = read_table_data(write(tmp_path / "a.xlsx", rows, {}), "Sheet")
    assert data.columns[0] == ["North", None, "South"]


def test_the_record_of_a_sheet_tells_the_same_rows_as_its_data(tmp_path):
    cells = {(row, 3): (FORMULAS["SUM"][row], SUMS[row]) for row in SUMS}
    file = write(tmp_path / "a.xlsx", GROUPS, cells)
    (record,) = read_workbook(file, root=tmp_path).records
    (table,) = record.tables
    data = read_table_data(file, "Sheet")
    assert (table.left_out, table.num_rows) == (data.left_out, len(data.records))


def test_totals_of_a_delimited_file_are_found_among_written_numbers(tmp_path):
    file = tmp_path / "a.csv"
    text = "Posten;Betrag\nMiete;1.200,50\nStrom;80,25\nSumme;1.280,75\n\nWasser;20,00\n"
    file.write_text(text, encoding="utf-8")
    data = read_table_data(file, "a")
    assert {each.row: str(each.reason) for each in data.left_out} == {4: "total"}
    assert data.columns[0] == ["Miete", "Strom", "Wasser"]


@pytest.mark.parametrize("blank", ["", "\n"])
def test_files_that_were_joined_are_one_table(blank, tmp_path):
    part = "id,day,amount\n{0},2024-01-02,12.5\n{1},2024-01-03,7.25\n"
    text = blank.join(part.format(n, n + 1) for n in (1, 3, 5))
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    data = read_table_data(tmp_path / "a.csv", "a")
    assert {str(each.reason) for each in data.left_out} == {"repeated_header"}
    assert data.columns[0] == [1, 2, 3, 4, 5, 6]
    assert data.columns[2] == [12.5, 7.25] * 3
