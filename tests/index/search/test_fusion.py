"""How much names, contents, words and cosines each count for a question."""

from __future__ import annotations

import pytest

from sat_retriever.index.search.fusion import (
    Rareness,
    covered_by_names,
    dense_weight_with,
)

# Of a question's three words names have one (idf 2), contents have that and another (1 and 3).
RARENESS = Rareness(names=2.0, contents=4.0, contents_alone=3.0)
NOWHERE = Rareness(0.0, 0.0, 0.0)


def test_names_cover_a_question_as_far_as_the_best_sheet_does() -> None:
    assert covered_by_names(0.5, RARENESS) == pytest.approx(0.5 * 2 / (2 + 3))


def test_a_question_of_one_sheets_name_is_covered_whole_though_cells_have_its_words() -> None:
    assert covered_by_names(1.0, Rareness(names=5.0, contents=5.0, contents_alone=0.0)) == 1


def test_words_that_no_sheet_has_cover_nothing() -> None:
    assert covered_by_names(0.0, NOWHERE) == 0


@pytest.mark.parametrize("noted", [0.0, 0.2, 0.5, 0.7, 1.0])
def test_contents_take_from_a_large_share_of_the_cosine_alone(noted: float) -> None:
    assert dense_weight_with(noted, contents=False) == noted
    assert dense_weight_with(noted, contents=True) == (0.5 if noted == 0.7 else noted)
