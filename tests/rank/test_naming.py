"""Names that are the initials of what is asked, as a search meets them."""

import pytest

from sat_retriever import Column, SheetIndex, SheetRecord, SheetRetriever
from tests.fakes import HashedEncoder


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """Tabs of abbreviated names in files of abbreviated words, and files of other things."""
    with SheetIndex.create(tmp_path_factory.mktemp("naming") / "n.sat", HashedEncoder()) as made:
        made.add_records(
            SheetRecord(f"{file}#{sheet}", sheet, file, file, columns=(Column("Value"),))
            for file, sheet in (
                ("Avg Veh Life.xlsx", "AVL"),
                ("Avg Veh Life.xlsx", "AVL-freight"),
                ("Lifetime of pumps.xlsx", "Average"),
                ("Sales.xlsx", "All values listed"),
            )
        )
        yield made


@pytest.mark.parametrize(
    "question",
    [
        "average vehicle lifetime",
        "What is the Average Vehicle Lifetime?",
        "Average-Vehicle_Lifetime",
    ],
)
def test_sheets_named_by_the_initials_of_what_is_asked_come_first(index, question):
    found = [hit.sheet_id for hit in SheetRetriever(index, "links").retrieve(question, 2)]
    assert set(found) == {"Avg Veh Life.xlsx#AVL", "Avg Veh Life.xlsx#AVL-freight"}


def test_without_initials_words_decide(index):
    for question in ("lifetime vehicle average", "average lifetime of pumps"):
        [best] = SheetRetriever(index, "links").retrieve(question, 1)
        assert best.sheet_id == "Lifetime of pumps.xlsx#Average"


def test_a_raised_score_stays_below_one(index):
    for hit in SheetRetriever(index, "links").retrieve("average vehicle lifetime", 4):
        assert hit.score < 1


def test_a_question_that_a_name_abbreviates_is_not_looked_up_in_cells(index, monkeypatch):
    read = []
    monkeypatch.setattr(
        "sat_retriever.rank.links.linkrank.read_closely",
        lambda found: read.append(found.question.text) or found.candidates,
    )
    for question in ("average vehicle lifetime", "lifetime of pumps"):
        SheetRetriever(index, "links").retrieve(question, 1)
    assert read == ["lifetime of pumps"]
