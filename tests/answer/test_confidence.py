"""How sure an answer is: the weights, and what is said about hits that are only near."""

import json
from importlib.resources import files
from itertools import product

import pytest

from sat_retriever import Column, SheetIndex, SheetRecord, SheetRetriever
from sat_retriever.answer.confidence import Calibration, calibration
from sat_retriever.index.search.scores import NO_EVIDENCE, Evidence
from sat_retriever.records.hits import NOTHING


def test_more_evidence_never_makes_an_answer_less_sure():
    found = calibration()
    steps = [Evidence(*numbers) for numbers in product((-0.5, 0.5, 1.5), (-1.0, 1.0))]
    for less, more in product(steps, steps):
        if less.fit <= more.fit and less.surprise <= more.surprise:
            assert found.probability(less) <= found.probability(more)


def test_a_probability_lies_between_0_and_1_whatever_the_evidence():
    steep = Calibration(0.0, 1e6, 1.0, 0.5)
    assert steep.probability(Evidence(-1.0, 0.0)) > 0
    assert steep.probability(Evidence(1.0, 0.0)) <= 1


def test_no_sheet_at_all_is_below_the_bound_of_the_warning():
    assert calibration().probability(NO_EVIDENCE) < calibration().least < 0.5


def test_the_weights_say_what_they_were_made_by():
    text = files("sat_retriever.answer").joinpath("confidence.json").read_text(encoding="utf-8")
    told = json.loads(text)
    assert told["made_by"] == "python -m benchmarks run nothing --fit"
    assert len(told["fitted_on"]) >= 4


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    columns = {
        "Payroll 2023": "Employee|Gross pay|Tax|Net pay",
        "Inventory": "Item|Warehouse|Units in stock",
        "Orders": "Order number|Customer|Ship date|Amount",
        "Headcount": "Department|Team|Employees",
    }
    records = [
        SheetRecord(name, name, workbook="Company.xlsx", columns=tuple(map(Column, of.split("|"))))
        for name, of in columns.items()
    ]
    with SheetIndex.create(tmp_path_factory.mktemp("index") / "a.sat") as opened:
        opened.add_records(records)
        yield opened


@pytest.mark.parametrize("reranker", ["links", None])
def test_an_answer_says_when_nothing_seems_to_hold_one(index, reranker):
    retriever = SheetRetriever(index, reranker)
    here = retriever.retrieve("net pay of each employee in the payroll of 2023")
    gone = retriever.retrieve("which goalkeeper of Real Madrid saved most penalties?")
    assert (here.answered, here.heading) == (True, "")
    assert (gone.answered, gone.heading, len(gone)) == (False, NOTHING, 4)
    assert here.confidence > 0.5 > calibration().least > gone.confidence
    assert retriever.retrieve_set("payroll 2023 net pay").answered


def test_nothing_is_said_above_hits_that_are_not_there(index):
    answer = SheetRetriever(index).retrieve("zebra xylophone quartet", min_score=0.99)
    assert (list(answer), answer.answered, answer.heading) == ([], False, "")
