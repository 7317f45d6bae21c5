"""Text to words."""

import sys
from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.text.segment import forms, stem, stems, words


def test_identifiers_of_every_convention_give_the_same_words():
    wanted = ["net", "profit", "margin"]
    for text in ("netProfitMargin", "net_profit_margin", "NET-PROFIT-MARGIN", "net.profit.margin",
                 "NetProfit Margin", "net/profit/margin", "net__profit--margin"):  # fmt: skip
        assert words(text) == wanted


def test_years_and_quarters_come_apart_and_short_codes_stay():
    assert words("Sales2021Q3") == ["sales", "2021", "q3"]
    assert words("FY24 H1 B2B CO2") == ["fy24", "h1", "b2b", "co2"]
    assert words("2019-2026") == ["2019", "2026"]


def test_chinese_japanese_and_korean_text_is_searchable_by_a_part_of_a_word():
    indexed = words("2024年销售额汇总表")
    assert set(words("销售")) <= set(indexed)
    assert set(words("売上")) <= set(words("四半期売上高"))
    assert set(words("매출")) <= set(words("분기매출표"))


def test_case_width_and_diacritics_do_not_matter():
    assert words("ÜBERSICHT Ｑ１ café") == words("übersicht q1 CAFE\u0301")


def test_text_beyond_a_bound_is_left_out():
    assert len(words("a " * 50_000)) == 10_000


def test_a_stem_joins_singular_and_plural():
    assert stem("budgets") == stem("budget")
    assert stem("q3") == "q3"


def test_stems_are_the_same_in_several_threads_at_once():
    some = [f"{a}{b}{c}" for a in ("nation", "relat", "gener", "hope") for b in ("al", "ful", "iz")
            for c in ("ities", "ations", "ing", "nesses", "ively")]  # fmt: skip
    alone = [stem.__wrapped__(word) for word in some]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            found = pool.map(lambda _: [stem.__wrapped__(word) for word in some * 5], range(8))
            assert all(each == alone * 5 for each in found)
    finally:
        sys.setswitchinterval(before)


@given(st.text(max_size=200))
def test_words_and_stems_of_a_text_are_those_of_its_forms(text):
    found = forms(text)
    assert words(text) == [each[0] for each in found]
    assert stems(text) == [s for each in found for s in dict.fromkeys(map(stem, each))]


@given(st.text(max_size=200))
def test_any_text_gives_words_without_spaces(text):
    for word in words(text):
        assert word.strip() == word


def test_vowel_signs_stay_with_their_letters():
    assert words("हिन्दी बिक्री") == ["हिन्दी", "बिक्री"]
    assert set(words("ยอด")) <= set(words("ยอดขายรายเดือน"))
