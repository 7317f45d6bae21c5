import random

import pytest

from sat_retriever.questions.grammar import Grammar
from sat_retriever.questions.sentences import form, spoken_pair, spoken_time
from sat_retriever.text.period.spans import Span, year

RULES = Grammar.load().rules


@pytest.mark.parametrize(
    ("span", "name"),
    [
        (year(2024), "year"),
        (Span(2021, 2023), "years"),
        (Span(2024, 2024, 7, 9), "quarter"),
        (Span(2024, 2024, 7, 12), "half"),
        (Span(2024, 2024, 5, 5), "month"),
        (Span(2024, 2024, 2, 4), "months"),  # three months that are no quarter
        (Span(2024, 2024, 1, 5), "months"),
        (Span(0, 0, 1, 3), "each_quarter"),
        (Span(2021, 2023, 3, 3), "month_of_years"),
    ],
)
def test_a_span_is_said_as_what_it_is(span, name):
    assert form(span) == name


@pytest.mark.parametrize(
    ("span", "core"),
    [
        (year(2024), "FY2024"),
        (Span(2024, 2024, 7, 9), "the third quarter of 2024"),
        (Span(2024, 2024, 7, 7), "2024-07"),
        (Span(2024, 2024, 7, 12), "July to December 2024"),
        (Span(2024, 2024, 2, 4), "Feb-Apr 2024"),
        (Span(2021, 2023), "2021 through 2023"),
        (Span(0, 0, 7, 7), "July of every year"),
    ],
)
def test_spellings_fit_the_span(span, core):
    assert core in spoken_time(RULES, [span])["core"]


def test_spans_in_a_list_are_spelled_alike():
    spans = [Span(2024, 2024, 1, 3), Span(2024, 2024, 4, 6)]
    assert spoken_time(RULES, spans)["short"][:2] == ["Q1 2024 and Q2 2024", "2024 Q1 and 2024 Q2"]
    rng = random.Random(0)
    for _ in range(50):
        first, second = spoken_pair(RULES, spans, rng)
        assert first.replace("1", "2").replace("first", "second") == second


def test_the_last_years_are_said_without_numbers():
    times = spoken_time(RULES, [Span(2022, 2024)], latest=True)
    assert "the last three years" in times["core"]
    assert not any("20" in text for texts in times.values() for text in texts)
