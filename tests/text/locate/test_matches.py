"""Texts of a sheet against a question, with contents made by hand."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sat_retriever import Column, SheetRecord, Table
from sat_retriever.records.contents import CellText, SheetContents, TableContents
from sat_retriever.text.forward import ForwardIndex
from sat_retriever.text.locate import (
    MIN_NGRAM,
    MOST_CELLS,
    Part,
    QueryTerms,
    best_cells,
    long_ngrams,
    matches,
    ngram_share,
)
from sat_retriever.text.segment import forms, stem


def record(*values: str, notes=(), caption="", headers=("Name", "Note")) -> SheetRecord:
    texts = tuple(CellText(f"A{row}", text) for row, text in enumerate(values, start=2))
    own = TableContents(CellText("A1", caption) if caption else None, texts)
    table = Table("A1:B99", 1, 1, False, 98, tuple(map(Column, headers)))
    contents = SheetContents(tuple(CellText("Z1", text) for text in notes), (own,))
    return SheetRecord("a#b", "b", tables=(table,), contents=contents)


def cells(question: str, *values: str, idf=None, **more) -> list[str]:
    asked, texts = QueryTerms.of(question, idf), ForwardIndex.of(record(*values, **more))
    return [text.text for _, text in best_cells(asked, matches(asked, texts), texts)]


def test_a_cell_that_the_question_has_word_for_word_comes_first():
    values = ("New York and other towns", "MTA New York City Transit", "Transit")
    assert cells("trips of MTA New York City Transit", *values)[0] == "MTA New York City Transit"


def test_rare_words_come_before_common_ones():
    values = ("total budget", "total zirconium")
    assert cells("budget zirconium", *values, idf={"budget": 0.1, "zirconium": 3.0}) == [
        "total zirconium"
    ]


def test_a_word_that_no_name_has_weighs_as_much_as_the_rarest():
    assert QueryTerms.of("fare zirconium", {"fare": 2.5}).weights == {"fare": 2.5, "zirconium": 2.5}


def test_a_quoted_phrase_is_found_inside_a_longer_cell():
    values = ("gate of the old north", "The North Gate of the town")
    texts = ForwardIndex.of(record(*values))
    found = matches(QueryTerms.of('what is at "north gate"?'), texts)
    assert [texts.text(each.line).cell for each in found if each.whole] == ["A3"]


def test_codes_are_one_word_and_found_by_a_part():
    assert cells("stock of BX-7740/2", "BX-7740/2", "BX-7741/2") == ["BX-7740/2"]
    assert cells("stock of 7740", "BX-7740/2") == ["BX-7740/2"]


def test_the_number_in_top_5_is_no_cell():
    texts = ForwardIndex.of(record("5", "5 towns"))
    found = matches(QueryTerms.of("top 5 towns"), texts)
    assert [texts.text(each.line).text for each in found if each.whole] == ["5 towns"]


def test_a_cell_that_adds_no_word_is_left_out_unless_all_of_it_is_asked_for():
    values = ("harbour fees", "harbour fees of others", "fees", "the old harbour")
    assert cells("harbour fees", *values) == ["harbour fees", "fees"]


def test_there_are_at_most_ten_cells():
    words = [f"word{number}x" for number in range(40)]
    assert len(cells(" ".join(words), *words)) == MOST_CELLS


def test_notes_captions_and_headers_are_matches_and_headers_are_no_cells():
    own = record("x", notes=("Fares rise",), caption="Fares", headers=("Fare in EUR", "y"))
    asked, texts = QueryTerms.of("fares"), ForwardIndex.of(own)
    found = matches(asked, texts)
    assert [each.part for each in found] == [Part.NOTE, Part.CAPTION, Part.HEADER]
    assert {text.cell for _, text in best_cells(asked, found, texts)} == {"A1"}


@pytest.mark.parametrize(
    ("question", "text"),
    [("Überschuss im Süden", "ÜBERSCHUSS"), ("华东 的销售额", "华东"), ("city sizes", "Cities")],
)
def test_words_match_across_case_accents_scripts_and_endings(question, text):
    assert cells(question, text, "nothing here") == [text]


def test_a_question_of_stop_words_and_one_without_words_match_no_cell_by_chance():
    assert cells("?!", "x") == []
    assert cells("what is it", "it is what", "unlike") == ["it is what"]


WORDS = (
    "city cities dry drying sky sale sales fly flies q4 a NO2 kWh LDVs netProfit Größe 销售".split()
)


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), st.lists(st.sampled_from(WORDS)))
def test_a_text_matches_by_the_words_that_a_slow_comparison_finds(asked, text):
    question, own = QueryTerms.of(" ".join(asked)), " ".join(text)
    found = matches(question, ForwardIndex.of(record(own, headers=("", ""))))
    every = [set(map(stem, each)) for each in forms(own)]
    shared = [each & question.weights.keys() for each in every]
    assert [each.words for each in found] == ([set().union(*shared)] if any(shared) else [])
    assert [each.coverage for each in found] == [sum(map(bool, shared)) / max(len(every), 1)] * len(
        found
    )


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_breaks_it(question, text):
    asked = QueryTerms.of(question)
    texts = ForwardIndex.of(record(text, notes=(text,), caption=text))
    for each in matches(asked, texts):
        assert 0 < each.coverage <= 1
        assert each.score(asked) > 0
        assert texts.text(each.line).text == text


def test_the_score_of_a_match_is_to_the_last_bit_the_same_in_every_process():
    code = (
        "from sat_retriever.text.locate import QueryTerms\n"
        "from sat_retriever.text.locate import Match, Part\n"
        "weights = {f'w{n}': 1 / (n + 3) for n in range(12)}\n"
        "match = Match(0, Part.LABEL, 0, frozenset(weights), 1.0, False)\n"
        "print(repr(match.score(QueryTerms(weights, ''))))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in (1, 2)
    }
    assert len(found) == 1


# ---- n-grams


def slow_weight(asked: QueryTerms, text: list[str]) -> float:
    """The weight of the heaviest n-gram of three words or more, by trying all."""
    spans = [text[i:j] for j in range(len(text) + 1) for i in range(j - MIN_NGRAM + 1)]
    said = (span for span in spans if f" {' '.join(span)} " in asked.sequence)
    return max((counted(asked, span) for span in said), default=0.0)


def counted(asked: QueryTerms, words: Sequence[str]) -> float:
    """What some words weigh, each time that they occur."""
    return sum(asked.weights.get(word, 0) for word in words)


few = st.lists(st.sampled_from(["coal", "ton", "of", "ashgrov", "1042"]), max_size=12)


@given(few, few, st.data())
def test_the_shared_ngram_is_the_heaviest(question, text, data):
    weights = {word: data.draw(st.integers(1, 9)) for word in question if word != "of"}
    asked = QueryTerms(weights, f" {' '.join(question)} ")
    assume(max(map(question.count, question), default=0) <= 8)  # of one word more are not looked at
    ngram = asked.shared_ngram(text)
    assert counted(asked, ngram) == slow_weight(asked, text)
    if ngram:
        assert len(ngram) >= MIN_NGRAM
        assert f" {' '.join(ngram)} " in f" {' '.join(text)} "
        assert f" {' '.join(ngram)} " in asked.sequence


def test_a_repeated_word_is_looked_at_in_eight_places_of_a_question():
    asked = QueryTerms.of("coal ton " * 2_000)
    assert {len(places) for places in asked._places.values()} == {8}
    assert len(asked.shared_ngram(["coal", "ton"] * 2_000)) == 16


def said(asked: QueryTerms, own: SheetRecord) -> float:
    return ngram_share(asked, long_ngrams(asked, matches(asked, ForwardIndex.of(own))), own)


@given(st.text("abc ", max_size=40), st.text("abc ", max_size=40))
def test_a_share_lies_between_nothing_and_all(question, text):
    asked = QueryTerms.of(question)
    if asked.weights:
        assert 0 <= said(asked, record(text)) <= 1


@pytest.mark.parametrize(
    ("question", "share"),
    [
        ("tons of coal from Ashgrove", 1.0),
        ("where is it written: tons of coal from Ashgrove", 3 / 4),
        ("coal of tons from Ashgrove", 0.0),  # another order
        ("tons of coal", 1.0),
        ("tons of coal, tons of coal from Ashgrove", 1.0),
        ("tons of coal for ships and many other things", 0.0),  # less than half of the question
        ("list of names", 0.0),  # names of the sheet
        (
            "coal from Ashgrove in the list of names",
            2 / 3,
        ),  # "names" is said by the other text alone
    ],
)
def test_a_text_counts_by_the_words_of_its_ngram_that_names_lack(question, share):
    own = replace(
        record("Tons of coal from Ashgrove", notes=["The list of names"]), sheet="List of Names"
    )
    asked = QueryTerms.of(question)
    assert said(asked, own) == pytest.approx(share)


def test_words_that_repeat_make_no_half_of_a_question():
    asked = QueryTerms.of("coal tons coal tons coal tons ships barges ferries")
    own = record("coal tons coal tons coal tons")
    assert said(asked, own) == 0  # two of five words
