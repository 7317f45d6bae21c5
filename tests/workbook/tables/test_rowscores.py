"""What makes a row read like a header."""

import datetime as dt

from sat_retriever.records.area import Area
from sat_retriever.workbook.tables.rowscores import THRESHOLD, best_header, row_scores
from sat_retriever.workbook.tables.sample import sample_block, steps
from sat_retriever.workbook.values.cells import cells_of
from sat_retriever.workbook.values.grid import Grid


def sample(rows):
    cells = cells_of(Grid(rows), ())
    height, width = cells.kinds.shape
    return sample_block(cells, Area(0, 0, height - 1, width - 1))


def test_words_over_numbers_score_far_above_numbers_over_numbers():
    rows = [["Item", "Price"], ["bolt", 1.0], ["nut", 2.0], ["pin", 4.0]]
    assert best_header(sample(rows))[0] == 0
    first, second = row_scores(sample(rows), 2)
    assert first >= THRESHOLD > second


def test_the_last_of_two_header_rows_is_the_best_one():
    rows = [[None, "A", None], ["Item", "low", "high"], ["x", 1.0, 2.0], ["y", 3.0, 5.0]]
    assert best_header(sample(rows))[0] == 1


def test_the_score_of_a_row_does_not_depend_on_how_many_rows_are_scored():
    rows = [["Report", None, None], [None, 2020.0, 2021.0], ["Item", "low", "high"]]
    spans = [["span", 2020.0, 2021.0 + n] for n in range(4)]
    block = sample([*rows, *[[f"part {n}", 1.5 * n, n * n + 0.5] for n in range(9)], *spans])
    every = row_scores(block, len(block.rows))
    assert [row_scores(block, row + 1)[row] for row in range(len(every))] == every


def test_a_full_row_above_a_header_counts_against_it():
    rows = [["Item", "Price"], ["bolt", 1.0], ["nut", 2.0], ["pin", 4.0]]
    assert row_scores(sample([["Shop", "Street"], *rows]), 2)[1] < row_scores(sample(rows), 1)[0]


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
