"""Nearest words: against a slow recursion from the definition, and what is not taken."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.text.spelling import changes, nearest

WORDS = st.text("abc", max_size=7)


def slow(word, other):
    """The optimal string alignment distance, as it is defined."""

    @cache
    def far(i, j):
        if min(i, j) == 0:
            return max(i, j)
        found = min(
            far(i - 1, j) + 1, far(i, j - 1) + 1, far(i - 1, j - 1) + (word[i - 1] != other[j - 1])
        )
        swapped = i > 1 and j > 1 and word[i - 2 : i] == other[j - 2 : j][::-1]
        return min(found, far(i - 2, j - 2) + 1) if swapped else found

    return far(len(word), len(other))


@given(WORDS, WORDS, st.integers(1, 3))
def test_changes_are_the_optimal_string_alignment_distance_up_to_a_bound(word, other, most):
    assert changes(word, other, most) == min(slow(word, other), most + 1)


def known(*words):
    """Words by their beginning or end, as the store finds them."""
    return lambda start, end: [w for w in words if w.startswith(start) or w.endswith(end)]


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("emision", "emission"),
        ("transportatoin", "transportation"),
        ("elecrticity", "electricity"),
        ("fares", "fares"),
        ("fuells", "fuels"),
    ],
)
def test_a_misspelt_word_finds_the_one_that_is_meant(misspelt, meant):
    pool = known("emission", "transportation", "electricity", "fares", "fuels", "feels", "transit")
    assert nearest(misspelt, pool) == [meant]


@pytest.mark.parametrize("word", ["fare", "keeper", "transmission"])
def test_short_words_other_first_letters_and_words_further_away_are_left(word):
    assert nearest(word, known("fares", "deeper", "transition")) == []
