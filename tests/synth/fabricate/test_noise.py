import random
from statistics import fmean, pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.synth.book.model import Column, Sheet
from sat_retriever.synth.fabricate.noise import (
    NEIGHBOURS,
    mistyped,
    noised_columns,
    noised_headers,
    noised_numbers,
    noised_text,
)
from sat_retriever.synth.fabricate.split import FabricateOptions
from tests.synth.fabricate.books import sales

SPREAD = (0.1, 0.5)


def test_neighbours_are_mutual_and_letters_stay_letters():
    assert len(NEIGHBOURS) == 36
    for key, near in NEIGHBOURS.items():
        assert near
        assert key not in near
        for other in near:
            assert key in NEIGHBOURS[other]
            assert key.isdigit() == other.isdigit()


def test_neighbours_are_those_of_the_keyboard():
    assert set(NEIGHBOURS["g"]) == {*"tyfhvb"}
    assert set(NEIGHBOURS["5"]) == {*"46"}
    assert set(NEIGHBOURS["p"]) == {*"ol"}


@given(st.text(), st.floats(0, 1), st.integers(0, 2**32))
def test_slips_keep_length_case_and_marks(text, probability, seed):
    slipped = mistyped(text, probability, random.Random(seed))
    assert len(slipped) == len(text)
    for before, after in zip(text, slipped, strict=True):
        assert after == before or after.lower() in NEIGHBOURS[before.lower()]
        assert after.isupper() == before.isupper()


def test_one_letter_in_five_is_replaced():
    text = "Quarterly Revenue 2024 " * 2000
    slipped = mistyped(text, 0.2, random.Random(3))
    typed = sum(letter.isalnum() for letter in text)
    changed = sum(a != b for a, b in zip(text, slipped, strict=True))
    assert changed / typed == pytest.approx(0.2, abs=0.01)


def test_other_scripts_become_ascii_before_they_are_mistyped():
    assert noised_text("Łódź – 北京", 0, random.Random(1)).isascii()
    assert noised_text("Łódź", 0, random.Random(1)) == "Lodz"
    assert noised_text("Łódź", 1, random.Random(1)) != "Lodz"


@given(
    st.lists(st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6), max_size=40), st.integers(0, 99)
)
def test_noised_numbers_are_as_many_of_the_same_type_and_none_is_negative(values, seed):
    noised = noised_numbers(values, SPREAD, random.Random(seed))
    assert [type(number) for number in noised] == [type(number) for number in values]
    assert all(number >= 0 for number in noised)


def test_mean_and_deviation_are_off_by_a_tenth_to_a_half():
    draw = random.Random(5)
    values = [round(draw.gauss(1000, 50), 2) for _ in range(2000)]
    offs = []
    for seed in range(30):
        noised = noised_numbers(values, SPREAD, random.Random(seed))
        mean_off = fmean(noised) / fmean(values) - 1
        deviation_off = pstdev(noised) / pstdev(values) - 1
        offs.append((mean_off, deviation_off))
        assert all(0.08 < abs(off) < 0.56 for off in offs[-1])
    assert (
        {mean > 0 for mean, _ in offs} == {deviation > 0 for _, deviation in offs} == {True, False}
    )
    assert len({(mean > 0, deviation > 0) for mean, deviation in offs}) == 4  # drawn apart


def test_decimals_are_kept():
    noised = noised_numbers([1.25, 2.5, 3.75], SPREAD, random.Random(1))
    assert all(round(number, 2) == number for number in noised)
    assert noised_numbers([], SPREAD, random.Random(1)) == []


def test_a_constant_column_stays_constant():
    assert len(set(noised_numbers([7.5] * 9, SPREAD, random.Random(1)))) == 1


def test_recipes_dates_truths_and_spared_columns_stay():
    sheet = sales().sheet("Jan")
    sheet = Sheet("Jan", (*sheet.columns, Column("ok", "Ok", (True,) * 4)))
    noised = noised_columns(sheet, {"id"}, FabricateOptions(string_noise=1), random.Random(2))
    for same in ("id", "day", "rate", "pay", "ok"):
        assert noised.column(same) == sheet.column(same)
    assert all(
        after != before
        for other in ("region", "hours")
        for after, before in zip(noised.column(other).cells, sheet.column(other).cells, strict=True)
    )


def headers(sheet):
    return [column.header for column in sheet.columns]


def test_headers_get_the_tables_name_before_them():
    assert headers(noised_headers(sales().sheet("Summary"), "Sales", ["prefix"])) == [
        "Sales_Region",
        "Sales_All",
        "Sales_Of Region",
        "Sales_Run",
        "Sales_Part",
    ]


def test_headers_that_would_be_equal_stay():
    sheet = Sheet("x", tuple(Column(h, h, ()) for h in ("Amount", "Amounts", "Name", "Amou")))
    assert headers(noised_headers(sheet, "T", ["abbreviate"])) == [
        "Amount",
        "Amounts",
        "Name",
        "Amou",
    ]
    assert headers(noised_headers(sheet, "T", ["prefix", "vowels"]))[:2] == ["T_mnt", "T_mnts"]
