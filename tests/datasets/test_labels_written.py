import json
import stat

import pytest

from sat_retriever import InputError, OutputError
from sat_retriever.datasets.labels import UNANSWERABLE, Query, load_labels
from sat_retriever.datasets.labels.write import write_queries
from sat_retriever.errors import CorpusError
from sat_retriever.questions.generate import make_queries
from tests.questions.small_world import world

KEYS = [
    "query",
    "positive_sheet_ids",
    "negative_sheet_ids",
    "query_type",
    "dependency_type",
    "is_dependency_heavy",
    "hard_negative_sheet_ids",
    "hard_negative_types",
    "split",
]
FACTS, LINKS = world()
QUERIES = [each.query for each in make_queries(FACTS, LINKS, number=200, seed=1)]


def test_the_published_form_has_every_published_key_in_order_and_loads_as_it_was(tmp_path):
    path = tmp_path / "query.json"
    assert write_queries(path, iter(QUERIES)) == 200
    rows = json.loads(path.read_text(encoding="utf-8"))
    assert all(list(row) == KEYS for row in rows)
    assert {row["is_dependency_heavy"] for row in rows if row["dependency_type"] == "none"} == {
        False
    }
    assert all(row["is_dependency_heavy"] for row in rows if row["dependency_type"] != "none")
    assert load_labels(path) == tuple(QUERIES)


def test_the_splits_have_the_reported_proportions(tmp_path):
    write_queries(tmp_path / "query.json", QUERIES)
    rows = json.loads((tmp_path / "query.json").read_text(encoding="utf-8"))
    splits = [row["split"] for row in rows]
    assert [splits.count(name) for name in ("train", "validation", "test")] == [162, 18, 20]


def test_ids_that_are_numbers_are_written_as_numbers(tmp_path):
    write_queries(tmp_path / "query.json", [Query("q", ("12", "007", "a#b"), ("0",))])
    [row] = json.loads((tmp_path / "query.json").read_text(encoding="utf-8"))
    assert row["positive_sheet_ids"] == [12, "007", "a#b"]
    assert row["negative_sheet_ids"] == [0]


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_the_other_forms_load_with_the_same_sheets(tmp_path, suffix):
    path = tmp_path / f"labels.{suffix}"
    assert write_queries(path, iter(QUERIES)) == 200
    for query, written in zip(load_labels(path), QUERIES, strict=True):
        assert (query.text, query.positives) == (written.text, written.positives)
        assert set(query.negatives) == {*written.negatives, *written.hard_negatives}


def test_a_writer_that_is_stopped_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "query.json"
    write_queries(path, QUERIES[:3])
    before = path.read_bytes()

    def stopped():
        yield QUERIES[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_queries(path, stopped())
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["query.json"]
    assert stat.S_IMODE(path.stat().st_mode) & stat.S_IRUSR


def test_of_no_queries_an_empty_list_is_written(tmp_path):
    assert write_queries(tmp_path / "query.json", []) == 0
    assert json.loads((tmp_path / "query.json").read_text(encoding="utf-8")) == []


def test_a_file_of_another_kind_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"\.txt"):
        write_queries(tmp_path / "query.txt", QUERIES)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(OutputError, match=r"there is no folder .*missing"):
        write_queries(tmp_path / "missing" / "query.json", QUERIES)


@pytest.mark.parametrize("suffix", ["json", "jsonl", "csv"])
def test_a_question_that_nothing_answers_comes_back_where_it_is_asked_for(tmp_path, suffix):
    path = tmp_path / f"labels.{suffix}"
    nothing = Query("ships of Mars", (), query_type=UNANSWERABLE)
    answered = Query("sales", ("a#b",))
    write_queries(path, [nothing, answered])
    assert load_labels(path) == (answered,)
    assert load_labels(path, unanswerable=True) == (nothing, answered)


def test_a_question_cannot_have_a_sheet_and_no_answer(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("query,sheet_id,relevance\nships,,0\nships,a#b,1\n")
    with pytest.raises(CorpusError, match="line 3: 'ships' is marked as a question without"):
        load_labels(path)
