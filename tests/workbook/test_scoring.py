"""What makes a row read like a header."""

import datetime as dt

import pytest

from sat_retriever.workbook.cells import cells_of
from sat_retriever.workbook.grid import Area, Grid
from sat_retriever.workbook.sample import sample_block, steps
from sat_retriever.workbook.scoring import THRESHOLD, best_header, row_score, text_style


def sample(rows):
    cells = cells_of(Grid(rows), ())
    height, width = cells.kinds.shape
    return sample_block(cells, Area(0, 0, height - 1, width - 1))


def test_words_over_numbers_score_far_above_numbers_over_numbers():
    rows = [["Item", "Price"], ["bolt", 1.0], ["nut", 2.0], ["pin", 4.0]]
    assert best_header(sample(rows))[0] == 0
    assert row_score(sample(rows), 0) >= THRESHOLD > row_score(sample(rows), 1)


def test_the_last_of_two_header_rows_is_the_best_one():
    rows = [[None, "A", None], ["Item", "low", "high"], ["x", 1.0, 2.0], ["y", 3.0, 5.0]]
    assert best_header(sample(rows))[0] == 1


@pytest.mark.parametrize(
    ("header", "below"),
    [
        ("City", ["Rome", "City", "Oslo"]),
        ("ISIC 01", ["ISIC 02", "ISIC 05", "ISIC 17"]),
    ],
    ids=["comes again", "starts alike"],
)
def test_texts_like_those_below_are_no_headers(header, below):
    assert text_style(header, below) < 0


@pytest.mark.parametrize(
    "below",
    [["North", "South"] * 4, ["a-1", "b-22", "c-3"], ["a rather long description of it"] * 3],
    ids=["categories", "digits", "longer"],
)
def test_texts_over_repeating_coded_or_longer_ones_look_like_headers(below):
    assert text_style("Kind", below) > 0.2


def test_years_in_order_step_and_one_out_of_order_among_many_does_not_matter():
    years = [float(year) for year in range(2020, 2051)]
    assert steps(["Fuel", *years, 2050.0]) == 1.0
    assert steps(["Fuel", 2050.0, 2020.0, 2035.0]) == 0.0
    assert steps(["Fuel", 2020.5, 2021.5]) == 0.0


def test_a_row_that_steps_like_the_rows_below_is_data():
    rows = [[1.0, 2.0, 3.0], [2.0, 3.0, 4.0], [3.0, 4.0, 5.0]]
    assert best_header(sample(rows))[1] < THRESHOLD


def test_dates_over_dates_are_data():
    days = [[dt.datetime(2024, 1, day), float(day)] for day in range(1, 9)]
    assert best_header(sample(days))[1] < THRESHOLD
