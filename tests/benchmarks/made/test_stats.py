"""Figures of a corpus are those of its files, counted in the same way for ours and theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.made.quality import conventions, groups
from benchmarks.made.stats import category, figures, pattern, words_of
from benchmarks.tables.made import stats_table
from sat_retriever.datasets.dataset import load_industrytab
from sat_retriever.records.sheets import Column, SheetRecord
from sat_retriever.synth.corpus import synthesize
from sat_retriever.synth.options import SynthOptions, SynthReport

OPTIONS = SynthOptions("40", queries=60)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, SynthReport]:
    out = tmp_path_factory.mktemp("stats") / "corpus"
    return out, synthesize(out, OPTIONS, workers=1)


def test_counts_are_those_that_the_generator_told(corpus):
    out, report = corpus
    found = figures(out)
    assert found["sheets"] == report.sheets
    assert found["workbooks"] == report.workbooks
    assert found["naming conventions"] == len(report.conventions)
    assert found["links"] == sum(report.links.values())
    assert found["pairs in train.json"] == report.pairs
    by_type: dict[str, int] = {}
    for name, number in found.items():
        if name.startswith("query type: "):
            kind = name.removeprefix("query type: ").partition(" / ")[0]
            by_type[kind] = by_type.get(kind, 0) + number
    assert by_type == report.queries
    assert found["random negatives a query, mean"] > 0
    assert found["surface patterns"] <= found["different texts"] == 60


def test_each_sheet_has_the_convention_that_it_was_written_with(corpus):
    out, report = corpus
    named = list(conventions(OPTIONS))
    assert {name: named.count(name) for name in named} == report.conventions
    grouped = groups(load_industrytab(out), named)
    kinds = [places for name, places in grouped.items() if name.startswith("type")]
    assert grouped["all"] == list(range(60))
    assert all(set(places) <= set(grouped["all"]) for places in kinds)


def test_the_category_of_a_published_sheet_is_the_first_part_of_its_name():
    published = SheetRecord("1", "Movie_Ratings_Reviews__Movies_source")
    ours = SheetRecord("1", "x", metadata={"category": "Movie Ratings/Reviews"})
    assert category(published) == category(ours) == "Movie Ratings Reviews"


def test_questions_that_differ_in_names_and_times_only_have_one_pattern():
    columns = (Column("Unit Price"),)
    known = words_of([SheetRecord("1", "Sales Acme", path="Boreas/x.xlsx", columns=columns)])
    texts = (
        "Show the unit price of Acme in March 2024",
        "Show the sales of Boreas' in FY2025",
    )
    assert {pattern(text, known) for text in texts} == {"show the … of … in …"}
    assert pattern("Where are the sales of Acme?", known) == "where are the … of …"


def test_the_table_has_a_column_a_corpus_and_a_dash_where_a_figure_is_missing():
    files = [
        {"method": "made", "dataset": "industrytab_1k", "metrics": {"sheets": 4, "links: x": 2}},
        {
            "method": "published",
            "dataset": "industrytab_1k",
            "metrics": {"category: A": 3, "sheets": 5.0, "links: y": 1},
        },
    ]
    rows = stats_table(files).splitlines()[2:]
    assert rows == [
        "|  | `paper-1k` | IndustryTab-1K |",
        "|---|---|---|",
        "| sheets | 4 | 5 |",
        "| links: x | 2 | – |",
        "| links: y | – | 1 |",
        "| A | – | 3 |",
    ]
