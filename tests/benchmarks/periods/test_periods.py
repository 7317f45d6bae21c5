"""Times and owners in questions: gold sets, oracles and measures."""

from __future__ import annotations

import json

import pytest

from benchmarks.periods import periods
from benchmarks.periods.corpus import SeriesOptions, read_right, series_corpus
from benchmarks.periods.periods import Oracle, held_out_tables, measured, period_rows
from benchmarks.periods.phrases import PHRASES, SPELLINGS
from benchmarks.results import read_results
from benchmarks.tables.periods import periods_table
from sat_retriever.datasets.metrics.rows import Ranked, unsupported
from sat_retriever.datasets.splits import held_out_workbooks
from sat_retriever.text.period.periods import period_of
from sat_retriever.text.period.spans import Span
from tests.saved_encoder import save_bag_of_words

SUBJECTS = (
    "farm", "school", "museum", "airport", "theatre", "library", "hospital", "harbour", "garden",
    "bakery", "cinema", "stable", "brewery", "archive", "quarry", "mill",
)  # fmt: skip
TABLES = (
    "visitors", "rooms", "employees", "flights", "plays", "loans", "wards", "berths", "plants",
    "ovens", "seats", "horses", "barrels", "maps", "stones", "sacks",
)  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """One table a database, in the layout of Spider."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "spider").mkdir()
    sheets = {
        str(number): {
            "sheet_id": number, "workbook": subject, "sheet": table,
            "name": f"{subject}__{table}", "num_rows": None, "num_cols": 3,
            "columns": [{"name": f"{subject}_id"}, {"name": "name"}, {"name": f"{table} count"}],
            "source": "spider",
        }
        for number, (subject, table) in enumerate(zip(SUBJECTS, TABLES, strict=True))
    }  # fmt: skip
    asked = [
        {"query": f"How many {table}?", "positive_sheet_ids": [number], "workbook": subject}
        for number, (subject, table) in enumerate(zip(SUBJECTS, TABLES, strict=True))
    ]
    for name, content in (("sheets", sheets), ("links", []), ("query_train", asked)):
        (folder / "spider" / f"{name}.json").write_text(json.dumps(content))
    return folder


@pytest.fixture(scope="module")
def corpus(data):
    return series_corpus(held_out_tables(data), SeriesOptions(companies=1))


def test_only_databases_that_no_training_sees_are_kept(data, corpus):
    tables = held_out_tables(data)
    known = held_out_workbooks(type("Asked", (), {"workbook": subject}) for subject in SUBJECTS)
    assert {record.workbook for record in tables.records} == known
    assert {fact.category for fact in corpus.facts.values()} <= known


def test_every_way_to_name_a_time_or_an_owner_is_asked(corpus):
    assert {question.kind for question in corpus.questions} == {*PHRASES, *SPELLINGS}


def test_positives_are_all_sheets_of_the_series_within_the_time(corpus):
    for question in corpus.questions:
        within = {
            sheet for sheet in question.family
            if (period := corpus.facts[sheet].period) is not None and question.span.covers(period)
        }  # fmt: skip
        assert set(question.query.positives) == within
        assert 0 < len(within) < len(question.family)


def test_names_of_every_convention_tell_the_sheets_time(corpus):
    assert corpus.names_read == 1.0
    assert len({question.convention for question in corpus.questions}) == 8


@pytest.mark.parametrize(
    ("kind", "span", "text"),
    [
        ("2019–2021", Span(2019, 2021), "2019–2021"),
        ("H1 2023", Span(2023, 2023, 7, 12), "H2 2023"),
        ("first half of 2023", Span(2023, 2023, 1, 6), "the first half of 2023"),
        ("last two quarters of 2022", Span(2022, 2022, 7, 12), "the last two quarters of 2022"),
        ("FY24", Span(2009, 2009), "FY09"),
        ("March and April 2022", Span(2022, 2022, 3, 4), "March and April 2022"),
        ("Q3 in each year", Span(0, 0, 7, 9), "Q3 in each year"),
        ("before 2018", Span(1900, 2017), "before 2018"),
        ("03/2022", Span(2022, 2022, 3, 3), "03/2022"),
    ],
)
def test_a_time_is_said_in_its_own_way(kind, span, text):
    assert PHRASES[kind].text(span) == text


def test_another_spelling_of_an_owner_is_never_its_own(corpus):
    owners = {fact.entity for fact in corpus.facts.values()}
    for say in SPELLINGS.values():
        spelled = {say(owner) for owner in owners}
        assert len(spelled) == len(owners)
        assert not any(say(owner) == owner for owner in owners)


def test_in_the_family_only_its_own_sheets_count(corpus):
    question = next(each for each in corpus.questions if len(each.query.positives) == 2)
    place = corpus.questions.index(question)
    first, second = question.query.positives
    wrong = sorted(question.family - {first, second})[0]
    foreign = next(sheet for sheet in corpus.facts if sheet not in question.family)
    run = {number: [] for number in range(len(corpus.questions))}
    run[place] = [Ranked(sheet, 1.0) for sheet in (foreign, first, wrong, second)]
    row = period_rows(corpus, run)[place]
    assert row["family"] == [2, 3, 4]
    found = measured([row])
    assert found["Precision@m"] == 0.5
    assert found["FamilyPrecision@m"] == 0.5
    run[place] = [Ranked(sheet, 1.0) for sheet in (foreign, second, first, wrong)]
    assert measured([period_rows(corpus, run)[place]])["FamilyPrecision@m"] == 1.0


def test_the_reader_of_names_understands_some_questions_and_not_others(corpus):
    read = {question.kind: read_right(question) for question in corpus.questions}
    assert read["2021"]
    assert not read["since 2020"]


@pytest.fixture(scope="module")
def results(data, tmp_path_factory):
    """What the command writes, with a bag of words in place of MiniLM."""
    folder = tmp_path_factory.mktemp("periods")
    bag = save_bag_of_words(folder / "bag", [*TABLES, "2021", "2022"])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("benchmarks.results.FOLDER", folder / "results")
        periods.main(
            ["--data", str(data), "--runs", str(folder), "--companies", "1", "--models",
             "--untrained", str(bag)]
        )  # fmt: skip
    return read_results("periods", folder / "results")


@pytest.mark.slow
def test_the_oracles_never_confuse_times_and_others_do(results):
    found = {file["method"]: file for file in results}
    assert set(found) == {"bm25", "fused", "times", "links", "oracle", "oracle_names"}
    for file in results:
        assert unsupported(file["metrics"], file["per_query"]) == []
        assert sum(each["questions"] for each in file["metrics"]["kinds"].values()) == len(
            file["per_query"]
        )
    assert found["oracle"]["metrics"]["FamilyPrecision@m"] > 0.95
    assert found["bm25"]["metrics"]["FamilyPrecision@m"] < 0.8
    assert found["times"]["metrics"]["FamilyPrecision@m"] > 0.95


def test_an_oracle_leaves_out_sheets_of_other_or_unknown_times(corpus, tmp_path):
    from benchmarks.unlabelled.systems import index_by
    from sat_retriever.encoder import SheetEncoder

    encoder = SheetEncoder.load(save_bag_of_words(tmp_path / "bag", TABLES))
    index = index_by(corpus.dataset, encoder, tmp_path)
    question = corpus.questions[0]
    records = {record.sheet_id: record for record in corpus.dataset.records}
    method = Oracle(corpus, lambda sheet: period_of(records[sheet])).method(index)
    ranked = method.rank(question.query.text)
    assert ranked
    assert all(question.span.covers(period_of(records[each.sheet_id])) for each in ranked)
    assert list(Oracle(corpus, lambda _: None).method(index).rank(question.query.text)) == []


@pytest.mark.slow
def test_the_table_puts_oracles_last_and_says_what_was_not_run(results):
    text = periods_table(results)
    titles = [line.split(" | ")[0] for line in text.splitlines()[2:7]]
    assert titles[0] == "| BM25"
    assert titles[-1].startswith("| oracle: ")
    assert "| FY24 |" in text
    assert periods_table([]) == "*not run: `python -m benchmarks run periods`*"
