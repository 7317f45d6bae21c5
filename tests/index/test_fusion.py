"""How much names, contents, words and cosine each count for a question."""

from __future__ import annotations

import numpy as np
import pytest

from sat_retriever.index.fusion import (
    cosine_scores,
    covered_by_names,
    fusion_weights,
    word_scores,
)
from sat_retriever.index.scores import fuse
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.lexical import WordScores


def _word(scores: dict[int, float], limit: float) -> WordScores:
    rows = np.array(sorted(scores), dtype=np.intp)
    return WordScores(rows, np.array([scores[row] for row in rows], dtype=np.float32), limit)


def _floats(*values: float) -> FloatArray:
    return np.array(values, dtype=np.float32)


NOWHERE = _word({}, 3.0)
# Three sheets: "cost" is a name of the first, and stands in cells of all; "oslo" in cells of the
# last alone.
BY_NAME = [_word({0: 2.0}, 4.0), NOWHERE]
BY_ALL = [_word({0: 0.5, 1: 0.4, 2: 0.4}, 1.0), _word({2: 2.0}, 3.0)]


def test_each_word_gives_the_larger_of_both_scores() -> None:
    found = word_scores(BY_NAME, BY_ALL, 3, 1.0)
    assert found.tolist() == pytest.approx([2 / 7, 0.4 / 7, 2.4 / 7])


def test_a_weight_of_zero_leaves_names_alone() -> None:
    found = word_scores(BY_NAME, BY_ALL, 3, 0.0)
    assert found.tolist() == pytest.approx([0.5, 0.0, 0.0])


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0, 1.5])
def test_without_contents_words_score_as_by_names_alone(weight: float) -> None:
    words = [_word({0: 1.0, 2: 0.5}, 2.0), NOWHERE, _word({1: 3.0}, 4.0)]
    alone = np.array([1.0, 3.0, 0.5]) / 6
    assert word_scores(words, words, 3, weight) == pytest.approx(alone)


def test_scores_equal_a_slow_loop_over_words_and_sheets() -> None:
    rng = np.random.default_rng(0)
    names: list[WordScores] = []
    everything: list[WordScores] = []
    dense = []
    for _ in range(6):
        limits = rng.uniform(1, 5, size=2)
        by_name, by_all = rng.uniform(0.1, 1, size=(2, 9)) * limits[:, None]
        by_all *= rng.random(9) < 0.7
        by_name *= (rng.random(9) < 0.5) & (by_all > 0)
        dense.append((by_name, by_all, limits))
        for kept, scores, limit in zip((names, everything), (by_name, by_all), limits, strict=True):
            kept.append(_word({n: s for n, s in enumerate(scores) if s}, float(limit)))
    slow = [
        sum(max(a[n], 0.7 * b[n]) for a, b, _ in dense)
        / sum(max(x, 0.7 * y) for *_, (x, y) in dense)
        for n in range(9)
    ]
    assert word_scores(names, everything, 9, 0.7) == pytest.approx(np.array(slow), rel=1e-5)


def test_no_share_is_above_one_or_below_zero() -> None:
    full = [_word({0: 4.0}, 4.0)], [_word({0: 1.0}, 1.0)]
    assert word_scores(*full, 1, 1.5).tolist() == [1.0]
    assert word_scores([NOWHERE], [NOWHERE], 2, 1.0).tolist() == [0.0, 0.0]
    assert word_scores([], [], 2, 1.0).tolist() == [0.0, 0.0]


def test_names_cover_a_question_as_far_as_the_best_sheet_does() -> None:
    # Of limits 1 and 3, the first sheet's name has half of the first word.
    assert covered_by_names(BY_NAME, BY_ALL, 3) == pytest.approx(0.5 / 4)


def test_a_question_of_one_sheets_name_is_covered_whole() -> None:
    words = [_word({1: 2.0}, 2.0), _word({1: 3.0}, 3.0)]
    assert covered_by_names(words, words, 2) == pytest.approx(1.0)


def test_words_that_no_sheet_has_cover_nothing() -> None:
    assert covered_by_names([NOWHERE], [NOWHERE], 4) == 0.0
    assert covered_by_names([], [], 0) == 0.0


def test_the_more_names_cover_the_less_contents_count() -> None:
    little, much = fusion_weights(0.1, 0.7, 1.0), fusion_weights(0.9, 0.7, 1.0)
    assert much.contents < little.contents
    assert much.words < little.words


def test_without_contents_a_score_is_the_cosine_and_the_words_of_names() -> None:
    words = [_word({0: 1.0}, 2.0), _word({1: 0.5}, 1.0)]
    cosine = _floats(0.2, -0.1)
    weights = fusion_weights(covered_by_names(words, words, 2), 0.7, 0.0)
    found = fuse(
        cosine_scores(cosine, _floats(np.nan, np.nan), weights.contents),
        word_scores(words, words, 2, weights.words),
        weights.dense,
    )
    assert found == pytest.approx(0.7 * cosine + 0.3 * np.array([1 / 3, 0.5 / 3]))


def test_a_sheet_without_contents_counts_by_its_names() -> None:
    found = cosine_scores(_floats(0.4, 0.4), _floats(np.nan, 0.9), 0.5)
    assert found.tolist() == pytest.approx([0.4, 0.65])
