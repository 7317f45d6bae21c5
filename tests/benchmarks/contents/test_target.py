import importlib.util
import json
from abc import ABC, abstractmethod

import pytest

from benchmarks.contents import target
from benchmarks.contents.target import Task, measured, write_task
from benchmarks.contents.target_retriever import TargetRetriever, custom_class
from benchmarks.corpora import Tables
from benchmarks.tables.contents import target_table
from sat_retriever.errors import InputError
from tests.fakes import HashedEncoder

TABLES = {
    "a": ("Mathematicians", "By birth", "Emmy Noether"),
    "b": ("Chemists", "", "Marie Curie"),
    "c": ("Painters", "", "Frida Kahlo"),
}


@pytest.fixture
def data(tmp_path):
    tables = [
        {"id": key, "workbook": page, "sheet": section, "headers": ["Name"], "rows": [[name]]}
        for key, (page, section, name) in TABLES.items()
    ]
    questions = [
        {"query": "Emmy Noether", "positives": ["a"]},
        {"query": "Which painters?", "positives": ["c"]},
    ]
    for name, rows in (("tables", tables), ("questions", questions)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"toy_{name}.jsonl").write_text(text, encoding="utf-8")
    return tmp_path


def task(data, *, titles=True):
    return Task.read(data, Tables("toy"), titles=titles, most=100)


def batch(**more):
    found = {
        "database_id": ["0"],
        "table_id": ["t"],
        "table": [[["Name"], ["Ada"]]],
        "context": [{}],
    }
    return found | more


def test_a_corpus_is_handed_over_as_target_does(data):
    (found,) = task(data).batches()
    assert found["database_id"] == ["0", "0", "0"]
    assert found["table_id"] == ["a", "b", "c"]
    assert found["table"][0] == [["Name"], ["Emmy Noether"]]
    assert found["context"][0] == {
        "table_page_title": "Mathematicians",
        "table_section_title": "By birth",
    }


def test_without_titles_there_is_no_context(data):
    (found,) = task(data, titles=False).batches()
    assert found["context"] == [{}, {}, {}]


def test_a_question_names_its_tables(data):
    assert next(task(data).questions()) == {
        "query_id": 0, "query": "Emmy Noether", "database_id": "0", "table_id": ["a"],
    }  # fmt: skip


def test_a_task_is_measured_through_the_interface(data, tmp_path):
    result = measured(task(data), TargetRetriever(tmp_path / "work", HashedEncoder(384)))
    assert [row["hits"] for row in result.per_query] == [[1], [1]]
    assert result.metrics["Recall@1"] == result.metrics["Recall@50"] == 1.0
    assert (result.dataset, result.split) == ("toy", "titles")
    assert (result.metrics["queries"], result.metrics["sheets"]) == (2, 3)


def test_a_part_of_the_questions_is_told_to_be_one(data, tmp_path):
    few = Task.read(data, Tables("toy"), titles=True, most=1)
    result = measured(few, TargetRetriever(tmp_path / "work", HashedEncoder(384)))
    table = target_table([{"dataset": "toy", "split": "titles", "metrics": result.metrics}])
    assert "| toy, with titles | 3 | 1 of 2 | this package |" in table


def test_a_written_task_can_be_read_again(data, tmp_path):
    write_task(task(data), tmp_path / "tasks")
    home = tmp_path / "tasks" / "toy_titles"
    corpus = [json.loads(line) for line in (home / "corpus.jsonl").read_text("utf-8").splitlines()]
    assert [each["table_id"] for each in corpus] == ["a", "b", "c"]
    assert corpus[1]["table"] == [["Name"], ["Marie Curie"]]
    queries = (home / "queries.jsonl").read_text("utf-8").splitlines()
    assert json.loads(queries[1])["table_id"] == ["c"]


def test_tables_are_found_by_database_and_id(tmp_path):
    retriever = TargetRetriever(tmp_path, HashedEncoder(384))
    two = batch(
        database_id=["shop", 7], table_id=["a/b#c", "d"],
        table=[[["Name"], ["Ada"]], [["Name", "Age"], ["Alan", 41], [None]]], context=[{}, None],
    )  # fmt: skip
    retriever.embed_corpus("x", [two])
    assert retriever.retrieve("Ada", "x", 1) == [("shop", "a/b#c")]
    assert set(retriever.retrieve("Alan", "x", 5)) == {("shop", "a/b#c"), ("7", "d")}


def test_ids_are_names_only_on_request(tmp_path):
    names = {}
    for ids in (False, True):
        retriever = TargetRetriever(tmp_path / str(ids), HashedEncoder(384), ids=ids)
        retriever.embed_corpus("x", [batch(database_id=["library"], table_id=["loans"])])
        (record,) = retriever._indexes["x"].records(["library\nloans"]).values()
        names[ids] = (record.workbook, record.sheet)
        retriever.close("x")
    assert names == {False: ("000001", "Sheet1"), True: ("library", "loans")}


def test_a_corpus_of_the_same_name_is_replaced(tmp_path):
    retriever = TargetRetriever(tmp_path, HashedEncoder(384))
    retriever.embed_corpus("x", [batch(table_id=["old"])])
    retriever.embed_corpus("x", [batch(table_id=["new"])])
    assert retriever.retrieve("Ada", "x", 5) == [("0", "new")]


def test_an_unknown_corpus_is_refused(tmp_path):
    with pytest.raises(InputError, match="no corpus 'x'; call embed_corpus first"):
        TargetRetriever(tmp_path).retrieve("Ada", "x", 5)


class Base(ABC):
    """The shape of TARGET's base class: it calls the two methods, and counts as its type."""

    def __init__(self, expected_corpus_format="nested array"):
        self.expected_corpus_format = expected_corpus_format

    def retrieve_batch(self, queries, dataset_name, top_k):
        return [self.retrieve(each, dataset_name, top_k) for each in queries]

    @abstractmethod
    def retrieve(self, query, dataset_name, top_k, **kwargs): ...

    @abstractmethod
    def embed_corpus(self, dataset_name, corpus): ...


def test_a_custom_retriever_is_one_of_targets_and_answers_in_batches(tmp_path):
    retriever = custom_class(Base)(tmp_path, HashedEncoder(384))
    assert isinstance(retriever, Base)
    assert retriever.expected_corpus_format == "nested array"
    retriever.embed_corpus("x", [batch()])
    assert retriever.retrieve_batch(["Ada"], "x", 3) == [[("0", "t")]]


def test_what_cannot_be_run_is_said_to_be_not_run(tmp_path, capsys):
    if importlib.util.find_spec("target_benchmark"):
        pytest.skip("the package target_benchmark is installed here")
    target.main(["--own", "--data", str(tmp_path), "--work", str(tmp_path), "--out", str(tmp_path)])
    printed = capsys.readouterr().out
    assert printed.count("not run: ") == 3
    assert "TARGET's own data: not run: the package target_benchmark is not installed" in printed


def test_reported_rows_stand_beside_ours_as_another_test(data, tmp_path):
    result = measured(task(data), TargetRetriever(tmp_path / "work", HashedEncoder(384)))
    file = {"dataset": "toy", "split": "titles", "metrics": result.metrics}
    table = target_table([file])
    assert "| toy, with titles | 3 | 2 | this package | 100.0 |" in table
    assert (
        "| fetaqa, TARGET's own test data |  |  | *OpenAI embeddings* | 42.2 | 64.3 | 72.2 |"
        in table
    )
    assert "| ottqa, TARGET's own test data |  |  | this package | not run |" in table
