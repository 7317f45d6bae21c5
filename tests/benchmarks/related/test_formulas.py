"""Questions made from formulas of workbooks that are written here."""

import openpyxl

from benchmarks.related.formulas import TYPE, formula_questions, formula_reads
from sat_retriever.datasets.labels import Query


def write(path):
    book = openpyxl.Workbook()
    book.active.title = "CC"
    book["CC"]["A1"] = "=SUM(Data!A1:A3)*'Unit Costs'!B1+Empty!A1"
    book.create_sheet("Data")["A1"] = 3
    book.create_sheet("Unit Costs")["B1"] = "=Far!A1"
    book.create_sheet("Far")["A1"] = 2
    book.create_sheet("Empty")
    path.parent.mkdir(parents=True, exist_ok=True)
    book.save(path)


def test_the_sheets_that_a_formula_reads_are_relevant_and_those_behind_them_are_not(tmp_path):
    write(tmp_path / "cars" / "costs.xlsx")
    reads = formula_reads(tmp_path, ["cars/costs.xlsx", "cars/costs.xlsx"])
    asked = [Query("Car Life", ("b#CL",)), Query("Car Cost", ("cars/costs.xlsx#CC",))]
    found = formula_questions(asked, reads)
    assert list(found) == [1]
    assert found[1].positives == (
        "cars/costs.xlsx#CC", "cars/costs.xlsx#Data", "cars/costs.xlsx#Unit Costs",
    )  # fmt: skip
    assert found[1].query_type == TYPE


def test_a_sheet_that_reads_only_relevant_ones_makes_no_question():
    reads = {"a#1": frozenset({"a#2"})}
    assert formula_questions([Query("both", ("a#1", "a#2"))], reads) == {}


def test_other_formats_are_left_out(tmp_path):
    assert formula_reads(tmp_path, ["old.xls"]) == {}
