"""Made histories of workbooks, and how groups of their sheets are counted."""

import random

from benchmarks.copies.copies import pairs_of, scores
from benchmarks.copies.histories import make_histories, questions
from sat_retriever.synth.histories.edits import (
    EDITS,
    Book,
    Tab,
    emptied,
    is_number,
    refilled,
)

ROWS = (("Region", "Units"), *((f"Place {n}", 10 * n + 5) for n in range(30)))
BOOK = Book((Tab("Q1", ROWS, "Q1"), Tab("Q2", ROWS, "Q2")))


def numbers(book):
    return [value for tab in book.tabs for row in tab.rows for value in row if is_number(value)]


def test_edits_leave_most_of_a_workbook_and_its_origins():
    for edit in EDITS:
        edited = edit(BOOK, random.Random(1))
        assert [tab.origin for tab in edited.tabs] == ["Q1", "Q2"]
        assert len(set(numbers(edited)) & set(numbers(BOOK))) >= 25


def test_traps_change_nearly_every_number():
    refill = refilled(BOOK, random.Random(1))
    equal = sum(a == b for a, b in zip(numbers(refill), numbers(BOOK), strict=True))
    assert equal <= 3
    assert numbers(emptied(BOOK, random.Random(1))) == []


def test_equal_seeds_make_equal_files(tmp_path):
    one, other = make_histories(tmp_path / "a", 3), make_histories(tmp_path / "b", 3)
    assert one.groups == other.groups
    assert questions(one) == questions(other) != []
    for path in sorted(one.folder.rglob("*.xlsx")):
        again = other.folder / path.relative_to(one.folder)
        assert again.read_bytes() == path.read_bytes()
        assert again.stat().st_mtime == path.stat().st_mtime


def test_pairs_are_scored_once_each():
    true = pairs_of({"a": "x", "b": "x", "c": "x", "d": "y"})
    assert true == {("a", "b"), ("a", "c"), ("b", "c")}
    found = scores({("a", "b"), ("a", "d")}, true)
    assert (found["precision"], found["recall"]) == (1 / 2, 1 / 3)
    assert abs(found["F1"] - 0.4) < 1e-9
