"""Codes in names: an index teaches which words they stand for, and no others."""

from __future__ import annotations

import pytest

from sat_retriever import SheetIndex, SheetRetriever
from tests.builders import save_book
from tests.fakes import HashedEncoder

ROWS = [["Item", "Amount"], ["a", 1], ["b", 2]]


def said(word: str, *more: str) -> list[list[object]]:
    return [["Sector", "Amount"], [word, 1], *([each, 2] for each in more)]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """Six sheets with TRA in names or headers, of which four say transport; one says travel."""
    folder = tmp_path_factory.mktemp("codes")
    for number in range(4):
        save_book(folder / "b" / f"M{number}.xlsx", **{f"TRA_{number}": said("Transport")})
    save_book(folder / "b" / "New.xlsx", TRA_NEW=ROWS)
    save_book(folder / "b" / "Fares.xlsx", Fares=said("Travel", "Demand"))
    for number in range(3):
        save_book(folder / "b" / f"D{number}.xlsx", **{f"DEM_{number}": [["Demand"], [1], [2]]})
    save_book(folder / "b" / "Later.xlsx", DEM_NEW=ROWS)
    save_book(folder / "b" / "Heads.xlsx", Plan=[["Tra", "Amount"], ["a", 1]])
    for number in range(12):
        save_book(folder / "b" / f"N{number}.xlsx", **{f"Other {number}": said(f"thing{number}")})
    save_book(folder / "b" / "Cap.xlsx", **{"AIiBC-freight": ROWS})
    with SheetIndex.create(folder / "i.sat", HashedEncoder()) as made:
        made.sync(folder / "b")
        yield made


def words(index: SheetIndex, question: str) -> dict[str, float]:
    """What names and cells of each sheet have of a question, by its tab."""
    return {each.sheet_id.partition("#")[2]: each.together for each in index.candidates(question)}


def test_a_sheet_is_found_by_a_code_that_others_explain(index):
    found = words(index, "transport")
    assert found["TRA_NEW"] > 0
    assert found["TRA_NEW"] < found["TRA_0"]  # which says the word itself, too
    assert found["Fares"] == found["Other 1"] == 0


def test_headers_explain_a_code_too(index):
    assert words(index, "demand")["DEM_NEW"] > 0


def test_a_word_that_the_sheets_of_a_code_do_not_say_is_not_read_as_it(index):
    found = words(index, "travel")
    assert found["Fares"] > 0
    assert found["TRA_NEW"] == found["TRA_0"] == 0


def test_what_stands_for_a_word_is_told(index):
    retriever = SheetRetriever(index, None)
    parts = retriever.why("transport of things", "New.xlsx#TRA_NEW").placed.words
    assert {part.word: part.code for part in parts} == {"transport": "TRA", "things": ""}
    assert retriever.why("transport", "Heads.xlsx#Plan").placed.words[0].code == "Tra"
    assert retriever.why("travel", "New.xlsx#TRA_NEW").placed.words[0].code == ""


def test_without_cells_no_code_is_known(index, tmp_path):
    records = [record for _, record in sorted(index.records(index.sheet_ids()).items())]
    with SheetIndex.create(tmp_path / "names.sat", HashedEncoder()) as made:
        made.add_records(records)
        assert words(made, "transport")["TRA_NEW"] == 0


def test_a_sheet_is_found_by_the_initials_of_all_words(index):
    asked = "annual improvement in battery capacity"
    assert words(index, asked)["AIiBC-freight"] > max(
        value for tab, value in words(index, asked).items() if tab != "AIiBC-freight"
    )
    assert words(index, "annual improvement in capacity")["AIiBC-freight"] == 0
