import json

import pytest

from benchmarks import results
from benchmarks.contents import contents
from benchmarks.contents.systems import SYSTEMS, Indexes, asked
from benchmarks.contents.variants import Variant, sampled, variants
from benchmarks.corpora import CORPORA, Corpus, Tables, used
from benchmarks.results import read_results
from benchmarks.tables import contents as shown
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics.rows import unsupported
from tests.fakes import HashedEncoder
from tests.places import needs

PEOPLE = {
    "t1": ("Mathematicians", ["Ada Lovelace", "Emmy Noether"]),
    "t2": ("Chemists", ["Marie Curie", "Dorothy Hodgkin"]),
    "t3": ("Painters", ["Frida Kahlo", "Paul Klee"]),
}


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "data" / "contents"
    folder.mkdir(parents=True)
    tables = [
        {
            "id": key, "workbook": title, "sheet": "", "headers": ["Name", "Town"],
            "rows": [[name, "Paris"] for name in names],
        }
        for key, (title, names) in PEOPLE.items()
    ]  # fmt: skip
    questions = [
        {"query": "town of Frida Kahlo", "positives": ["t3"]},
        {"query": "chemists and their town", "positives": ["t2"]},
    ]
    for name, rows in (("tables", tables), ("questions", questions)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"toy_{name}.jsonl").write_text(text, encoding="utf-8")
    files = Tables("toy")
    return Corpus("toy", "Toy", frozenset({"contents"}), files, "contents")


def measured(corpus, tmp_path, *, titles=True):
    variant = Variant(corpus, titles=titles)
    encoder = HashedEncoder(384)
    found = contents.Asked.of(variant, tmp_path / "data", encoder, 10)
    made = contents.measured(found, encoder, SYSTEMS, tmp_path)
    return {result.method: result for results in made for result in results}


def test_words_of_cells_find_a_table_by_all_and_not_by_names(corpus, tmp_path):
    found = measured(corpus, tmp_path, titles=False)
    assert found["bm25_all"].per_query[0]["hits"] == [1]
    # Every header has "town", and ties are in the order of ids.
    assert found["bm25_names"].per_query[0]["hits"] == [3]


def test_titles_find_a_table_that_is_named(corpus, tmp_path):
    found = measured(corpus, tmp_path)
    assert found["bm25_names"].per_query[1]["hits"] == [1]
    assert found["names"].metrics["queries"] == 2
    assert found["names"].metrics["sheets"] == 3


def test_what_is_kept_as_names_is_asked_as_if_there_were_no_cells(corpus, tmp_path):
    found = measured(corpus, tmp_path)
    assert found["names"].per_query == found["examples"].per_query


def test_metrics_follow_from_the_rows(corpus, tmp_path):
    for result in measured(corpus, tmp_path).values():
        assert not unsupported(result.metrics, result.per_query)


def test_words_alone_do_not_depend_on_the_encoder(corpus, tmp_path):
    dataset = corpus.read(tmp_path / "data")
    queries = dict(enumerate(dataset.queries))
    words = next(system for system in SYSTEMS if system.name == "bm25_all")
    rows = []
    for name in ("one", "other"):
        encoder = HashedEncoder(16 if name == "one" else 384)
        tokens = encoder.encode_queries([query.text for query in dataset.queries])
        (tmp_path / name).mkdir()
        with Indexes(dataset, encoder, tmp_path / name) as indexes:
            rows.append(asked(words, indexes.at(words.level), queries, tokens))
    assert rows[0] == rows[1]


def test_the_same_questions_are_drawn_whatever_their_order():
    queries = tuple(Query(f"question {number}", ("t",)) for number in range(50))
    drawn = sampled(Dataset("a", (), queries), 10)
    turned = sampled(Dataset("a", (), queries[::-1]), 10)
    assert len(drawn) == 10
    assert {each.text for each in drawn.values()} == {each.text for each in turned.values()}
    assert list(drawn) == sorted(drawn)
    assert len(sampled(Dataset("a", (), queries), 100)) == 50


def test_a_corpus_of_tables_has_four_variants_and_workbooks_one(corpus):
    assert [each.dataset for each in variants(corpus)] == [
        "toy", "toy_untitled", "toy_distractors", "toy_untitled_distractors",
    ]  # fmt: skip
    assert len(variants(corpus, distractors=False)) == 2
    assert [each.dataset for each in variants(CORPORA["eps_whole"])] == ["eps_whole"]


def test_the_questions_of_eps_are_divided_by_their_folder():
    data = needs("data")
    development, whole = (CORPORA[f"eps_{part}"].read(data) for part in ("development", "whole"))
    parts = {name: places(whole) for name, places in CORPORA["eps_whole"].parts.items()}
    sizes = {name: len(places) for name, places in parts.items()}
    assert sizes == {"development": 136, "test": 76, "input_variable": 111}
    assert len(whole.queries) == 212
    assert not set(parts["development"]) & set(parts["test"])
    assert [whole.queries[place] for place in parts["development"]] == list(development.queries)


def test_what_choices_may_use_is_no_test():
    assert list(used("contents_chosen")) == ["wikitablequestions_train", "eps_development"]
    assert set(used("contents_chosen")) < set(used("contents"))


@pytest.fixture
def small(tmp_path, corpus, monkeypatch):
    monkeypatch.setattr(contents, "used", lambda _: {"toy": corpus})
    monkeypatch.setattr(shown, "used", lambda _: {"toy": corpus})
    return ["--data", str(tmp_path / "data"), "--work", str(tmp_path / "work"),
            "--out", str(tmp_path / "out"), "--encoder", "minilm", "--own"]  # fmt: skip


def test_the_command_writes_results_that_the_table_shows(small, tmp_path, capsys):
    contents.main(small)
    files = read_results("contents", tmp_path / "out")
    assert {file["dataset"] for file in files} == {"toy", "toy_untitled"}
    table = shown.contents_tables(files)
    assert "| titles, own tables | 3 | 2 | BM25 over names |" in table
    assert "| no titles, with distractors |  |  | not run |" in table
    assert "bm25_all" in capsys.readouterr().out


def test_a_look_writes_no_results(small, tmp_path, monkeypatch):
    monkeypatch.setattr(results, "FOLDER", tmp_path / "committed")
    contents.main([*small[:4], *small[6:], "--quick"])
    assert not (tmp_path / "committed").exists()


def test_what_this_commit_has_measured_is_not_measured_again(small, tmp_path, monkeypatch):
    contents.main(small)
    monkeypatch.setattr(contents, "is_current", lambda _: True)
    variant = variants(contents.used("contents")["toy"])[0]
    assert contents.left_to_do(variant, 2, tmp_path / "out") == []
    assert contents.left_to_do(variant, 1, tmp_path / "out") == list(SYSTEMS)
    monkeypatch.setattr(contents, "is_current", lambda _: False)
    assert contents.left_to_do(variant, 2, tmp_path / "out") == list(SYSTEMS)


def test_missing_data_is_not_run(small, tmp_path, capsys):
    for file in (tmp_path / "data" / "contents").iterdir():
        file.unlink()
    contents.main(small)
    assert "not run: " in capsys.readouterr().out


def test_rows_name_the_table_that_a_question_is_about(corpus, tmp_path):
    found = measured(corpus, tmp_path)["all"]
    assert [row["about"] for row in found.per_query] == [2, 1]
