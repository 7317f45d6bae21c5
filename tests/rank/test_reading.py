"""Contents of the best candidates, read: tables that say what is asked raise their sheets."""

import pytest

from sat_retriever import SheetIndex
from sat_retriever.rank.links.reading import READ, read_closely
from tests.fakes import HashedEncoder
from tests.several_tables import save_book

RATES = [["Security", "Rate"], *[[f"KV-{n}", n * 37 % 11] for n in range(58_700, 58_740)]]
LIST = [["Listed securities", "Venue"], *[[f"Share {n}", "Kiel"] for n in range(40)]]
GUIDE = [
    ["KV-58725 and all other securities are explained by the risk department on request."],
    [],
    [],
    ["Steps"],
    ["Step", "Owner"],
    *[[f"Step {n}", f"Person {n}"] for n in range(9)],
]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reading")
    save_book(folder / "b" / "Rates.xlsx", Rates=RATES, Guide=GUIDE)
    save_book(folder / "b" / "List.xlsx", List=LIST)
    for number in range(READ):
        rows = [["Name", "Amount"], *[[f"{number}-{n}", n] for n in range(3)]]
        save_book(folder / "b" / f"Other {number}.xlsx", Other=rows)
    with SheetIndex.create(folder / "i.sat", HashedEncoder()) as made:
        made.sync(folder / "b")
        yield made


def read(index, text, top_k=50):
    question = index.question(text)
    before = index.candidates(question, top_k)
    after = read_closely(index, question, before)
    assert [each.sheet_id for each in after] == [each.sheet_id for each in before]
    return {old.sheet_id: (old.score, new.score) for old, new in zip(before, after, strict=True)}


def test_a_sheet_whose_table_has_what_is_asked_rises_and_stays_below_one(index):
    found = read(index, "rate of KV-58725")
    before, after = found.pop("Rates.xlsx#Rates")
    assert before + 0.1 < after < 1
    assert all(old == pytest.approx(new, abs=0.01) for old, new in found.values())


def test_a_note_raises_nothing(index):
    before, after = read(index, "KV-58725 explained")["Rates.xlsx#Guide"]
    assert before == after


def test_a_question_that_names_cover_is_left_as_it_is(index):
    assert all(old == new for old, new in read(index, "Rates").values())


def test_sheets_beyond_those_that_are_read_keep_their_scores(index):
    found = list(read(index, "where is KV-58725 listed in share or name 3-1").values())
    assert len(found) > READ
    assert all(old == new for old, new in found[READ:])


def test_an_index_of_names_is_not_read(index, tmp_path):
    with SheetIndex.create(tmp_path / "n.sat", HashedEncoder(), contents="names") as names:
        names.sync(index.path.parent / "b")
        assert all(old == new for old, new in read(names, "rate of KV-58725").values())
