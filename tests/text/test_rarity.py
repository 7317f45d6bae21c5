"""How telling a word is: by a list of common words."""

import math

from sat_retriever.text.lexical import rarity
from sat_retriever.text.segment import stem
from tests.places import ROOT


def test_names_tell_more_than_terms_and_terms_more_than_small_words():
    told = [rarity(stem(word)) for word in ("Kaunas", "revenue", "people", "the")]
    assert told == sorted(told, reverse=True)
    assert (told[0], told[-1]) == (1.0, 0.05)


def test_a_word_with_a_digit_tells_the_same_whatever_it_is():
    assert rarity("2023") == rarity("x-1042") == rarity("q1") == 0.8


def test_words_of_other_scripts_tell_all():
    assert rarity("销售") == rarity("доход") == 1.0


def test_the_list_has_stems_each_once_from_common_to_rare():
    lines = (ROOT / "sat_retriever/text/common_words.txt").read_text("utf-8").splitlines()
    rows = [line.split() for line in lines if not line.startswith("#")]
    words = [word for _, *own in rows for word in own]
    steps = [float(zipf) for zipf, *_ in rows]
    assert len(words) == len(set(words)) == 3000
    assert steps == sorted(set(steps), reverse=True)
    assert all(math.isfinite(each) for each in steps)
