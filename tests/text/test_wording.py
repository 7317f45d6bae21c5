"""A wording compared with texts, beside a slow loop over their words."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.text.segment import stems, words
from sat_retriever.text.wording import Wording


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("zurich", "Zürich"),
        ("muller", "Anna Müller-Lüdenscheidt"),
        ("Müller", "MULLER"),
        ("İZMİR", "Izmir (Türkiye)"),
        ("izmir", "İZMİR"),
        ("Zu\u0308rich", "Z\u00fcrich"),
        ("strasse", "Straße 5"),
        ("田中", "田中太郎"),
        ("中太", "田中太郎"),
        ("田中 太郎", "担当:田中太郎"),
        ("田中太郎", "田中\u3000太郎"),
        ("東京2024", "東京2024年度"),
        ("서울", "서울특별시"),
        ("กรุงเทพ", "กรุงเทพมหานคร"),
        ("new york", "MTA  New\nYork City"),
        ("regions", "Region 1"),
        ("iso 9001", "ISO9001 audit"),
        ("ISO9001", "after ISO 9001"),
        ("net profit", "netProfit_2021"),
        ("BX 7740", "BX-7740/2"),
        ("25 %", "25% of all"),
        ("25", "25% of all"),
        ("€", "in € thousand"),
        ("---", "a --- b"),
        ("ＡＢＣ", "abc"),
        ("die", "dying"),
        ("tie possibility", "tying possible"),
        ("the end", f"{'word ' * 6_000} the end"),
    ],
)
def test_a_text_has_what_the_search_would_find_it_by(asked, text):
    assert Wording(asked).within(text)


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("new", "Newport"),
        ("york new", "new york"),
        ("25%", "25 kg"),
        ("京都", "東京、都内"),
        ("2024", "12024"),
        ("2.5", "2 5"),
        ("1.10", "1/10"),
        ("a320neo", "A320"),
        ("", "anything"),
        (" ", " "),
        ("田中", "中田"),
    ],
)
def test_other_words_are_not_found(asked, text):
    assert not Wording(asked).within(text)


ASCII = st.text("ab cdAB12.,-_/()\n", max_size=24)
SPOKEN = st.lists(st.sampled_from("Zürich zurich cities city Müller ŁÓDŹ 25% 3.8 $5".split()))


def said_slowly(asked, text):
    """True if the words of a wording follow each other in a text, one by one."""
    own, other = stems_of(asked), stems_of(text)
    if not own:
        plain = " ".join(asked.casefold().split())
        return plain != "" and plain in " ".join(text.casefold().split())
    signs = {x for x in asked if x == "%" or unicodedata.category(x) in {"Sc", "Sm", "So"}}
    places = range(len(other) - len(own) + 1)
    return signs <= set(text) and any(other[at : at + len(own)] == own for at in places)


def stems_of(text):
    return [stems(word)[0] for word in words(text)]


@given(ASCII, ASCII)
def test_texts_are_compared_word_by_word(asked, text):
    if not re.search(r"[a-zA-Z]\S*[0-9]|[0-9]\S*[a-zA-Z]", asked + text):  # "ab12" is two words
        assert Wording(asked).within(text) == said_slowly(asked, text)
        assert Wording(asked).within(f"{text} {asked} {text}") == bool(asked.strip())


@given(SPOKEN, SPOKEN)
def test_spoken_texts_are_compared_word_by_word(asked, text):
    one, other = " ".join(asked), " ".join(text)
    assert Wording(one).within(other) == said_slowly(one, other)


@given(st.text("田中太郎東京都、 。", max_size=6), st.text("田中太郎東京都、 。", max_size=9))
def test_scripts_without_spaces_are_compared_by_substring(asked, text):
    parts = re.findall("[田中太郎東京都]+", re.sub(r"(?<=\w)\s+(?=\w)", "", asked))
    plain = re.sub(r"(?<=\w)\s+(?=\w)", "", text)
    if len(parts) == 1:
        assert Wording(asked).within(text) == (parts[0] in plain)
