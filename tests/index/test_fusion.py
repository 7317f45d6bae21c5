"""How much names, contents, words and cosines each count for a question."""

from __future__ import annotations

import numpy as np
import pytest

from sat_retriever.index.fusion import (
    Rareness,
    covered_by_names,
    dense_weight_with,
    one_cosine,
)
from sat_retriever.records.tokens import FloatArray


def _floats(*values: float) -> FloatArray:
    return np.array(values, dtype=np.float32)


# Of a question's three words names have one (idf 2), contents have that and another (1 and 3).
RARENESS = Rareness(names=2.0, contents=4.0, contents_alone=3.0)
NOWHERE = Rareness(0.0, 0.0, 0.0)


def test_names_cover_a_question_as_far_as_the_best_sheet_does() -> None:
    assert covered_by_names(0.5, RARENESS) == pytest.approx(0.5 * 2 / (2 + 3))


def test_a_question_of_one_sheets_name_is_covered_whole_though_cells_have_its_words() -> None:
    assert covered_by_names(1.0, Rareness(names=5.0, contents=5.0, contents_alone=0.0)) == 1


def test_words_that_no_sheet_has_cover_nothing() -> None:
    assert covered_by_names(0.0, NOWHERE) == 0


@pytest.mark.parametrize("noted", [0.0, 0.2, 0.4, 0.7, 0.99, 1.0])
def test_an_index_without_contents_has_the_share_that_it_notes(noted: float) -> None:
    assert dense_weight_with(noted, 0.0) == noted
    assert dense_weight_with(noted, 1.0) <= noted


def test_the_more_sheets_have_contents_the_more_words_count() -> None:
    shares = [dense_weight_with(0.7, n / 4) for n in range(5)]
    assert shares == pytest.approx([0.7, 0.675, 0.65, 0.625, 0.6])
    assert dense_weight_with(1.0, 0.5) == 1


def test_a_sheet_without_contents_counts_by_the_cosine_of_its_names() -> None:
    found = one_cosine(_floats(0.4, 0.4), _floats(np.nan, 0.9))
    assert (found == _floats(0.4, 0.9)).all()
