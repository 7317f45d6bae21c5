import pytest

from benchmarks.reading.header_scoring import (
    Reading,
    Truth,
    accuracies,
    grouped,
    intervals,
    labelled,
    readings_of,
    scored,
)
from sat_retriever.records.sheets import Table

TABLE = Table("A1:C9", 1, 1, False, 8, ())


def truth(name, *, area="A1:C9", workbook=0, formulas="saved"):
    return Truth(name, "rows", (Reading(1, 1, False, area),), None, workbook, formulas)


def test_a_reading_of_several_that_are_equally_right_counts():
    either = Truth("0", "rows", (Reading(3, 1, False, "A3:C9"), Reading(1, 1, False, "A1:C9")))
    (row,) = scored([(either, [TABLE])])
    assert row["exact"] is True


def test_a_sheet_without_a_table_is_wrong_in_everything():
    (row,) = scored([(truth("0"), [])])
    assert not any(row[name] for name in ("header", "orientation", "range", "exact"))


def test_facts_of_a_sheet_are_no_accuracies():
    rows = scored([(truth("0"), [TABLE]), (truth("1", area="A1:B9"), [TABLE])])
    assert accuracies(rows) == {"header": 1, "orientation": 1, "range": 0.5, "exact": 0.5}


def test_accuracies_are_told_apart_by_where_values_are_missing():
    answers = [(truth("0"), [TABLE]), (truth("1", formulas="emptied"), [])]
    found = grouped(scored(answers), "formulas")
    assert [(name, values["sheets"], values["exact"]) for name, values in found.items()] == [
        ("saved", 1, 1),
        ("emptied", 1, 0),
    ]


def test_an_interval_holds_the_share_and_grows_when_sheets_share_workbooks():
    answers = [[TABLE], []] * 20
    alone = scored((truth(str(i), workbook=i), found) for i, found in enumerate(answers))
    shared = scored((truth(str(i), workbook=i % 4), found) for i, found in enumerate(answers))
    for low, high in (intervals(alone)["exact_interval"], intervals(shared)["exact_interval"]):
        assert low < 0.5 < high
    widths = [high - low for low, high in (intervals(r)["exact_interval"] for r in (alone, shared))]
    assert widths[0] < widths[1]


def test_a_range_that_is_not_scored_is_not_in_the_interval():
    answers = [(truth("0"), [TABLE]), (truth("1", area=None, workbook=1), [TABLE])]
    assert intervals(scored(answers))["range_interval"] == [1, 1]


@pytest.mark.parametrize("split", ["tuning", "held_out", "more_tuning", "more_held_out"])
def test_every_part_has_labels_with_readings(split):
    assert all(readings_of(label) for _, label in labelled(split))
    assert len(labelled(split)) >= 50
