"""How a header's text contrasts with the texts below it."""

import pytest

from sat_retriever.workbook.tables.rowscores import MAX_TEXT_STYLE, text_styles
from sat_retriever.workbook.values.grid import CellError


def style(header, below):
    return text_styles([header, *below], {0})[0]


@pytest.mark.parametrize(
    ("header", "below"),
    [
        ("City", ["Rome", "City", "Oslo"]),
        ("ISIC 01", ["ISIC 02", "ISIC 05", "ISIC 17"]),
        (" ", ["Rome", "Oslo"]),
    ],
    ids=["comes again", "starts alike", "blank"],
)
def test_texts_like_those_below_are_no_headers(header, below):
    assert style(header, below) < 0


@pytest.mark.parametrize(
    "below",
    [["North", "South"] * 4, ["a-1", "b-22", "c-3"], ["a rather long description of it"] * 3],
    ids=["categories", "digits", "longer"],
)
def test_texts_over_repeating_coded_or_longer_ones_look_like_headers(below):
    assert style("Kind", below) > 0.2


def test_a_text_over_no_text_at_all_contrasts_most():
    assert style("Kind", [1.0, None, " "]) == MAX_TEXT_STYLE


def test_each_cell_of_a_column_is_compared_with_the_texts_below_it_only():
    column = ["Total", "Region", "north", None, 3.5, "Total", CellError("#N/A"), "R-17", "R-18"]
    together = text_styles(column, range(len(column)))
    alone = [style(cell, column[row + 1 :]) for row, cell in enumerate(column)]
    assert [together[row] for row in range(len(column))] == alone
    assert len(set(alone)) > 3
