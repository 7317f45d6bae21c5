import json
from collections import Counter

import pytest
from openpyxl.utils.cell import range_boundaries

from benchmarks.reading import headers
from benchmarks.reading.header_scoring import LABELS as LABEL_FILE
from benchmarks.reading.header_scoring import TUNING, accuracies
from benchmarks.reading.sheets import MAKERS, make_sheets
from benchmarks.reading.sheets.sheet import TOPICS, WORDS
from tests.places import needs

LABELS = json.loads(LABEL_FILE.read_text(encoding="utf-8"))["sheets"]


def test_the_header_row_of_made_sheets_is_found_exactly():
    cases = headers.made_cases("test", each=3)
    assert len(cases) == 3 * len(MAKERS)
    found = accuracies(headers.evaluate(headers.find_tables, cases))
    assert found["header"] >= 0.95
    assert found["exact"] >= 0.95


def test_the_same_seed_makes_the_same_sheets():
    first, again = make_sheets("tuning", 7, 1), make_sheets("tuning", 7, 1)
    assert [sheet.cells for sheet in first] == [sheet.cells for sheet in again]


def test_tuning_and_test_sheets_share_no_word_and_no_header():
    assert not set(WORDS["tuning"]) & set(WORDS["test"])
    fields = [{item.name for topic in TOPICS[part] for item in topic} for part in headers.SEEDS]
    assert not fields[0] & fields[1]


def test_naive_readers_are_right_where_the_table_starts_in_the_first_row():
    cases = [case for case in headers.made_cases("test", each=2) if case.truth.layout == "plain"]
    for finder in (headers.row_1, headers.first_filled_row):
        assert accuracies(headers.evaluate(finder, cases))["exact"] == 1.0


def test_enough_real_sheets_are_labelled_in_two_halves():
    splits = Counter(label["split"] for label in LABELS)
    assert splits["tuning"] == splits["held_out"] >= 40
    assert splits["more_tuning"] == splits["more_held_out"] == 50
    assert len({(label["file"], label["sheet"]) for label in LABELS}) == len(LABELS)


def test_sheets_with_uncalculated_formulas_are_enough_in_both_halves():
    halves = Counter(label["split"] for label in LABELS if label.get("uncalculated"))
    assert halves["more_tuning"] == halves["more_held_out"] >= 20
    assert all(label["uncalculated"] for label in LABELS if label.get("emptied"))


def test_no_workbook_has_sheets_in_both_of_the_later_halves():
    tuning, held_out = (
        Counter(label["file"] for label in LABELS if label["split"] == split)
        for split in ("more_tuning", "more_held_out")
    )
    assert not set(tuning) & set(held_out)
    assert max((tuning + held_out).values()) <= 3


def test_only_parts_for_tuning_show_their_misses():
    assert {split for _, split in headers.shown_parts(errors=True)} == TUNING
    assert headers.shown_parts(errors=False) == list(headers.PARTS)


@pytest.mark.parametrize("label", LABELS, ids=lambda label: label["sheet"])
def test_labels_are_sound(label):
    for item in [label, *label.get("also", [])]:
        assert (item["header_row"] is None) == (item["header_height"] == 0)
        if item["range"] is not None and item["header_row"] is not None:
            assert range_boundaries(item["range"])[1] == item["header_row"]


def test_real_sheets_give_the_accuracy_that_was_reported():
    data = needs("data/eps").parent
    rows = headers.evaluate(headers.find_tables, headers.real_cases(data, "tuning"))
    assert accuracies(rows)["header"] >= 0.9
