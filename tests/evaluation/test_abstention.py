"""The message that nothing answers, counted where it is right and where it is wrong."""

from __future__ import annotations

import pytest

from sat_retriever import Column, SheetIndex, SheetRecord, SheetRetriever
from sat_retriever.datasets.labels import UNANSWERABLE, Query
from sat_retriever.evaluation.abstention import FIRST, NothingThere, nothing_there

SHEETS = {
    "Payroll 2023": "Employee|Gross pay|Tax|Net pay",
    "Payroll 2022": "Employee|Gross pay|Tax|Net pay",
    "Overtime": "Employee|Hours|Overtime pay",
    "Bonus": "Employee|Bonus pay|Pay date",
    "Pensions": "Employee|Pension|Net pay",
    "Headcount": "Department|Team|Employees",
    "Vessels": "Hull|Draught|Port",
}
HERE = Query("net pay of each employee in the payroll of 2023", ("Payroll 2023",))
MISSED = Query("net pay of each employee in the payroll of 2022", ("Vessels",))
DOUBTED = Query("what floats", ("Vessels",))
STRANGE = Query(
    "which goalkeeper of Real Madrid saved most penalties?", (), (), (), {}, UNANSWERABLE
)
HALF = Query("net pay of an employee in 2023 by pension", (), query_type=UNANSWERABLE)


@pytest.fixture(scope="module")
def retriever(tmp_path_factory):
    records = [
        SheetRecord(name, name, workbook="Company.xlsx", columns=tuple(map(Column, of.split("|"))))
        for name, of in SHEETS.items()
    ]
    with SheetIndex.create(tmp_path_factory.mktemp("index") / "a.sat") as opened:
        opened.add_records(records)
        yield SheetRetriever(opened)


def test_the_message_counts_over_right_answers_and_over_questions_that_nothing_answers(retriever):
    for query, answered in ((HERE, True), (DOUBTED, False), (STRANGE, False), (HALF, True)):
        assert retriever.retrieve(query.text).answered is answered, query.text
    found = nothing_there(retriever, [HERE, DOUBTED, STRANGE, HALF])
    assert found == NothingThere(unanswerable=2, unanswerable_said=1, found=2, found_said=1)


def test_an_answer_without_a_relevant_sheet_is_wrong_with_and_without_the_message(retriever):
    assert "Vessels" not in [hit.sheet_id for hit in retriever.retrieve(MISSED.text, FIRST)]
    assert nothing_there(retriever, [MISSED]) == NothingThere(0, 0, 0, 0)


def test_progress_is_told_for_each_question(retriever):
    told = []
    nothing_there(retriever, [HERE, STRANGE], lambda *now: told.append(now[1:]))
    assert told == [(1, 2), (2, 2)]
