"""Made questions in SQL: all equal on a small corpus, and a wrong answer is seen as one."""

from __future__ import annotations

from benchmarks.answers.made_sql import answered, asked, metrics_of, same_rows
from sat_retriever.index.index import SheetIndex
from sat_retriever.synth.answers.make import ANSWERS, read_answers
from sat_retriever.synth.corpus import synthesize
from sat_retriever.synth.options import WORKBOOKS, SynthOptions


def test_every_answer_of_a_small_corpus_equals_the_generators(tmp_path):
    options = SynthOptions("40", seed=4, years="2023-2024", queries=5, answers=24)
    synthesize(tmp_path / "made", options, workers=1)
    entries = read_answers(tmp_path / "made" / ANSWERS)
    rows = answered(tmp_path / "made" / WORKBOOKS, entries)
    found = metrics_of(rows)
    assert (found["questions"], found["equal"]) == (24, 24)
    assert found["cells_cited"] == found["lookups"] > 0
    assert found["units_equal"] == found["units"] > 0
    with SheetIndex.create(tmp_path / "made.sat") as index:
        index.sync(tmp_path / "made" / WORKBOOKS)
        lookup = next(each for each in entries if each["kind"] == "lookup")
        unit = next(each for each in entries if each["kind"] == "unit")
        assert not asked(index, {**lookup, "rows": [["other"]]})["equal"]
        assert not asked(index, {**lookup, "sql": "SELECT nothing"})["equal"]
        cell = f"{lookup['cells'][0].rpartition('!')[0]}!A1"
        assert not asked(index, {**lookup, "cells": [cell]})["cited"]
        other = {**unit["unit"], "unit": "furlong"}
        assert not asked(index, {**unit, "unit": other})["unit_equal"]


def test_rows_are_compared_in_any_order_unless_they_are_ordered():
    one, other = [["a", 1], ["b", 2.0]], [["b", 2], ["a", 1.0000000000001]]
    assert same_rows(one, other, ordered=False)
    assert not same_rows(one, other, ordered=True)
    assert not same_rows(one, other[:1], ordered=False)
    assert not same_rows([["a", 1]], [["a", 1.00001]], ordered=True)
    assert same_rows([["100101"]], [[100101]], ordered=True)
    assert not same_rows([["007"]], [[7]], ordered=True)
