"""Names that abbreviate others: examples of real workbooks, and what always holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever import SheetRecord
from sat_retriever.text.spelling import LONGEST_PART, MOST_WORDS, abbreviates, is_main


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("EVCAP-A", "EV Charging Availability Parameters"),
        ("BNoGP", "BAU Number of Gas Pumps"),
        ("RZSPbS-frgt-ldv", "Required ZEV Sales Perc by Subregion-us"),
        ("HR 2024", "Human Resources"),
        ("BudRep", "Budget_Report"),
        ("ÄÜ", "Ärztliche Übersicht"),
        ("-- TTS", "Transportation Technology Shareweights"),
    ],
)
def test_a_name_made_of_the_beginnings_of_the_words_abbreviates_them(name, whole):
    assert abbreviates(name, whole)


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("About", "EV Charging Availability Parameters"),
        ("Mar", "Monthly Accounts Report"),  # a month: no two capital letters
        ("BUDGET", "Budget"),  # one word alone is no abbreviation
        ("AEO 2023", "Avg Emissions, Electricity and Other Sources"),  # three words of six
        ("PCE", "EV Charging Parameters"),  # out of order
        ("EVX", "EV Charging"),
        ("DATA", "Daily Tariffs"),  # capitals after the first letter of a part
        ("COST", "Company Statements"),
        ("", "EV Charging"),
        ("EVC", ""),
    ],
)
def test_other_names_do_not(name, whole):
    assert not abbreviates(name, whole)


def test_a_main_sheet_abbreviates_the_workbooks_name_without_its_ending():
    assert is_main(SheetRecord("x", "SR", workbook="Sales Report.xlsx"))
    assert not is_main(SheetRecord("x", "SRX", workbook="Sales Report.xlsx"))


words = st.lists(st.text("abcde", min_size=1, max_size=6), min_size=2, max_size=MOST_WORDS)


@given(words, st.data())
def test_beginnings_of_all_words_always_abbreviate(parts, data):
    sizes = [data.draw(st.integers(1, min(LONGEST_PART, len(each)))) for each in parts]
    short = "".join(each[:size].capitalize() for each, size in zip(parts, sizes, strict=True))
    assert abbreviates(short, " ".join(parts))


@given(st.text(max_size=400), st.text(max_size=400))
def test_no_two_names_end_in_an_error(name, whole):
    abbreviates(name, whole)


def test_long_names_of_one_letter_are_compared_at_once():
    assert abbreviates("A" * 128, " ".join(["AAAA"] * 400))
    assert not abbreviates("A" * 10_000 + "B", " ".join(["AAAA"] * 10_000))
