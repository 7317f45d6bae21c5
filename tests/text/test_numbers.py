"""Numbers in texts: every notation that people write comes back as the number it means."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.text.numbers import numbers_of, unit_of_header

CASES = [
    (["1,234", "12"], [1234, 12], None),
    (["1,5", "12"], [1.5, 12], None),
    (["1.234,50", "2"], [1234.5, 2], None),
    (["1 234.5", "1\u00a0000"], [1234.5, 1000], None),
    (["1'234", "12.5"], [1234, 12.5], None),
    (["($1,200)", "$3"], [-1200, 3], "$"),
    (["€ 5", "5"], [5, 5], "€"),
    (["USD 5", "usd 7.5"], [5, 7.5], "USD"),
    (["12 kWh/m²", "3 kWh/m²"], [12, 3], "kWh/m²"),
    (["45%", "-3 %"], [45, -3], "%"),
    (["−3", "+4"], [-3, 4], None),
    (["1e+3", "2.5E-2", "1.5e4"], [1000, 0.025, 15000], None),
    (["12,50-", "3,00"], [-12.5, 3], None),
    (["(1,000)", "20"], [-1000, 20], None),
    (["(20.00)", "(1.50)"], [-20, -1.5], None),
    (["12,34,567", "1,000"], [1234567, 1000], None),
    ([".5", "-.25"], [0.5, -0.25], None),
    (["0.30000000000000004", "1"], [0.30000000000000004, 1], None),
    (["1.10", "1.90", "10.00", "0.75"], [1.1, 1.9, 10, 0.75], None),
    (["1.5", "2.50", "3.75"], [1.5, 2.5, 3.75], None),
    (["3.5", "2.50", "3.05"], [3.5, 2.5, 3.05], None),
    (["+1250", "-30"], [1250, -30], None),
    (["10 m", "12"], [10, 12], "m"),
]
TEXTS = [
    ["007", "12"], ["12 kg", "3 g"], ["A1"], ["12 apples"], ["1,23,45"], ["1.2.3"], ["12-14"],
    ["2024-01-02"], ["1234567890123456"], ["$5 kg"], ["5 €", "$5"], ["", "5"], ["1,5", "1.5"],
    ["½"], ["٣", "5"], ["1.1", "1.10", "1.2"], ["3.9", "3.10"], ["12E5"], ["1E10", "34E1"],
    ["1.5e400"], ["+49301234", "+4330999"], ["101", "10A"], ["(1)", "(2)"], ["1.5", "1,5"],
    ["-5-"], ["--5"], ["1\n2"], ["1234567890123456", "5"],
]  # fmt: skip


@pytest.mark.parametrize(("texts", "values", "unit"), CASES, ids=str)
def test_texts_are_numbers_in_the_notation_of_all_of_them(texts, values, unit):
    found = numbers_of(texts)
    assert found is not None
    assert (list(found.values), found.unit) == (values, unit)


@pytest.mark.parametrize("texts", TEXTS, ids=str)
def test_codes_words_and_several_units_stay_texts(texts):
    assert numbers_of(texts) is None


@given(
    st.lists(st.integers(-(10**12), 10**12) | st.decimals(-(10**6), 10**6, places=3), min_size=1),
    st.sampled_from([",", " ", "'", ""]),
    st.sampled_from(["", " kg", "%", " EUR"]),
)
def test_what_python_writes_is_read_again(numbers, between, unit):
    texts = [f"{number:,}".replace(",", between) + unit for number in numbers]
    found = numbers_of(texts)
    assert found is not None
    assert all(math.isclose(a, b, abs_tol=1e-9) for a, b in zip(found.values, numbers, strict=True))
    assert found.unit == (unit.strip() or None)


@given(st.lists(st.text(alphabet="0123456789.,'-+()$€%eE kg\u00a0", max_size=12), min_size=1))
def test_any_text_is_numbers_or_none_and_never_an_error(texts):
    found = numbers_of(texts)
    assert found is None or len(found.values) == len(texts)


@pytest.mark.parametrize(
    ("header", "unit"),
    [
        ("Mass (kg)", "kg"),
        ("Cost [EUR]", "EUR"),
        ("Share %", "%"),
        ("Trading amount (kEUR)", "kEUR"),
        ("Plan [in USD millions]", "in USD millions"),
        ("Sales (thousands)", "thousands"),
        ("金额（千欧元）", "千欧元"),
        ("Kind (net)", None),
        ("Paid (Y/N)", None),
        ("Cost (kg) net", None),
        ("", None),
    ],
)
def test_a_header_says_its_unit_in_brackets(header, unit):
    assert unit_of_header(header) == unit
