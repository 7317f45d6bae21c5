import pytest
import xlsxwriter

from sat_retriever import Limits, read_workbook
from sat_retriever.records.formats import FormulaState
from sat_retriever.records.structure import Reference, Use
from sat_retriever.workbook.formats import formulas as stage
from sat_retriever.workbook.formats.formulas import (
    MAX_REFERENCES,
    MAX_REFERENCES_OF_SHEET,
    Formulas,
)
from sat_retriever.workbook.formats.load import load
from sat_retriever.workbook.limits import Budget
from sat_retriever.workbook.messages import Request


def answered(raw, **options):
    request = Request("a.xlsx", "a.xlsx", **options)
    steps = Formulas(request, frozenset(), Budget(Limits())).messages("S", raw)
    messages = []
    while True:
        try:
            messages.append(next(steps))
        except StopIteration as stop:
            return messages, stop.value


def plain(count):
    return [(f"A{n}", f"Sheet{n}!A1", None, "normal") for n in range(1, count + 1)]


def kinds(messages):
    return [next(iter(message)) for message in messages]


def test_only_what_is_asked_for_is_answered():
    assert kinds(answered(plain(3))[0]) == ["formulas", "references"]
    assert kinds(answered(plain(3), formulas=False)[0]) == ["references"]
    assert kinds(answered(plain(3), links=False)[0]) == ["formulas"]
    assert answered(plain(3), formulas=False, links=False) == ([], True)


def test_references_are_cut_at_the_limit_of_a_sheet_and_that_is_said():
    messages, complete = answered(plain(MAX_REFERENCES_OF_SHEET + 1), formulas=False)
    assert kinds(messages) == ["references", "skipped"]
    assert len(messages[0]["references"]) == 1 + MAX_REFERENCES_OF_SHEET
    assert messages[1]["skipped"]["reason"] == "too_large"
    assert complete


def test_references_are_cut_at_the_limit_of_a_workbook():
    request = Request("a.xlsx", "a.xlsx", formulas=False)
    formulas = Formulas(request, frozenset(), Budget(Limits()))
    kept = 0
    for number in range(MAX_REFERENCES // MAX_REFERENCES_OF_SHEET + 2):
        for message in formulas.messages(f"S{number}", plain(MAX_REFERENCES_OF_SHEET)):
            kept += len(message.get("references", [None])) - 1
    assert kept == MAX_REFERENCES


@pytest.mark.parametrize(
    ("limits", "reason", "first"),
    [(Limits(formulas=700), "too_large", "A701"), (Limits(seconds=0.0), "timeout", "A1")],
)
def test_formulas_beyond_the_budget_are_left_and_that_is_said(limits, reason, first):
    request = Request("a.xlsx", "a.xlsx", formulas=False, limits=limits)
    steps = Formulas(request, frozenset(), Budget(limits)).messages("S", plain(1_000))
    message = next(steps)
    while "skipped" not in message:
        message = next(steps)
    assert message["skipped"]["reason"] == reason
    assert f"from {first} on" in message["skipped"]["message"]
    with pytest.raises(StopIteration) as stop:
        next(steps)
    assert stop.value.value is False


def book_of(path, fill):
    with xlsxwriter.Workbook(path) as book:
        fill(book)
    return path


def linked(book):
    total, data = book.add_worksheet("Total"), book.add_worksheet("Data")
    total.write_formula("A1", "=SUM(Data!A1:A9)")
    total.write_formula("A2", "=SUM(Data!B1:B9)")
    total.write_formula("B1", "=rate*2")
    total.write_formula("B2", "=SUM(Sales[x])")
    total.write_formula("B3", "=ROWS(Sales)")
    data.write_column("A1", range(9))
    data.add_table("D1:D4", {"name": "Sales", "columns": [{"header": "x"}]})
    book.define_name("rate", "=Data!$A$1")


def test_references_come_with_the_workbook(tmp_path):
    book = read_workbook(book_of(tmp_path / "a.xlsx", linked))
    assert book.references == (
        Reference("Total", Use.AGGREGATE, "A1", "SUM(Data!A1:A9)", 2, first="Data", area="A1:A9"),
        Reference("Total", Use.VALUE, "B1", "rate*2", 1, name="rate"),
        Reference("Total", Use.AGGREGATE, "B2", "SUM(Sales[x])", 1, name="Sales", area="[x]"),
        Reference("Total", Use.VALUE, "B3", "ROWS(Sales)", 1, name="Sales"),
    )
    assert len(book.formulas) == 5
    assert book.structure.tabs == ("Total", "Data")


def test_formulas_and_links_are_asked_for_apart(tmp_path):
    path = book_of(tmp_path / "a.xlsx", linked)
    without = read_workbook(path, formulas=False)
    assert without.formulas == () and len(without.references) == 4
    without = read_workbook(path, links=False)
    assert without.references == () and len(without.formulas) == 5
    neither = read_workbook(path, formulas=False, links=False)
    assert neither.formulas == neither.references == neither.profiles == ()


def test_references_of_other_workbooks_shared_and_array_formulas_are_there(tmp_path):
    def fill(book):
        sheet, data = book.add_worksheet("S"), book.add_worksheet("Data")
        data.write_column("A1", range(9))
        sheet.write_array_formula("A1:A4", "{=Data!A1:A4*2}")
        sheet.write_dynamic_array_formula("C1:C4", "=SORT(Data!B1:B4)")

    book = read_workbook(book_of(tmp_path / "a.xlsx", fill))
    assert {(each.cell, each.first, each.cells) for each in book.references} == {("A1", "Data", 8)}


def test_records_say_whether_their_formulas_were_read(tmp_path):
    book = read_workbook(book_of(tmp_path / "a.xlsx", linked))
    assert [record.formulas for record in book.records] == [FormulaState.READ] * 2
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    [record] = read_workbook(tmp_path / "a.csv").records
    assert record.formulas is FormulaState.NONE


def test_a_sheet_left_early_has_unread_formulas(tmp_path):
    def fill(book):
        sheet = book.add_worksheet("S")
        for row in range(20_000):
            sheet.write_row(row, 0, ["text", row])
        sheet.write_formula(row, 2, "=Other!A1")

    path = book_of(tmp_path / "a.xlsx", fill)
    messages = list(load(Request(str(path), "a.xlsx", limits=Limits(xml_bytes=1))))
    [record] = [message["record"] for message in messages if "record" in message]
    assert record["formulas"] == FormulaState.UNREAD
    assert "too_large" in {each["skipped"]["reason"] for each in messages if "skipped" in each}


def test_the_stage_keeps_no_formula_after_its_sheet():
    formulas = Formulas(Request("a", "a", formulas=False), frozenset(), Budget(Limits()))
    list(formulas.messages("S", plain(10)))
    kept = {name: getattr(formulas, name) for name in stage.Formulas.__slots__}
    assert not any(isinstance(value, (list, tuple, dict)) for value in kept.values())
