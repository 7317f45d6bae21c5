import json

import numpy as np
import pytest

from benchmarks.contents.variants import Variant
from benchmarks.corpora import Corpus, Tables
from benchmarks.tables.cosine import cosine_table
from benchmarks.unlabelled import cosine
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics.rows import unsupported
from sat_retriever.records.sheets import Column, SheetRecord
from sat_retriever.text.serialize import serialize
from tests.fakes import HashedEncoder


@pytest.fixture
def tables(tmp_path):
    """Three tables that differ by their cells alone, with a question each."""
    people = ("Ada Lovelace", "Marie Curie", "Frida Kahlo")
    rows = [
        {"id": f"t{n}", "workbook": "w", "sheet": "s", "headers": ["Name"], "rows": [[name]]}
        for n, name in enumerate(people)
    ]
    asked = [{"query": name, "positives": [f"t{n}"]} for n, name in enumerate(people)]
    for name, content in (("tables", rows), ("questions", asked)):
        text = "".join(json.dumps(row) + "\n" for row in content)
        (tmp_path / f"toy_{name}.jsonl").write_text(text, encoding="utf-8")
    corpus = Corpus("toy", "Toy", frozenset({"contents"}), Tables("toy"))
    return Variant(corpus, titles=False).read(tmp_path)


def test_a_corpus_with_cells_is_asked_by_names_and_by_contents(tables):
    names, contents = cosine.texts_of(tables)
    assert (names.read, contents.read) == ("names", "contents")
    assert "Ada Lovelace" in contents.sheets["t0"]
    assert "Ada Lovelace" not in names.sheets["t0"]
    found = [cosine.measured(each, HashedEncoder(384), "fake", 10) for each in (names, contents)]
    assert found[1].metrics["Recall@10"] == 1
    assert found[1].metrics["NDCG@5"] > found[0].metrics["NDCG@5"]
    assert not unsupported(found[1].metrics, found[1].per_query)


def test_a_corpus_without_cells_is_asked_by_names_alone():
    records = (SheetRecord("a", "Staff", columns=(Column("Name"),)),)
    (only,) = cosine.texts_of(Dataset("toy", records, (Query("staff", ("a",)),)))
    assert only.read == "names"


def test_sheets_are_ranked_by_the_cosine_as_a_slow_loop_ranks_them():
    names = ("Sales plan", "Sales staff", "Stock", "Plan of stock and sales")
    records = tuple(SheetRecord(f"s{n}", name) for n, name in enumerate(names))
    queries = (Query("plan of sales", ("s1",)), Query("stock", ("s2", "s3")))
    (texts,) = cosine.texts_of(Dataset("toy", records, queries))
    encoder = HashedEncoder(64)
    found = cosine.measured(texts, encoder, "fake", 10)
    for row, query in zip(found.per_query, queries, strict=True):
        (token,) = encoder.encode_queries([query.text])
        scored = []
        for record in records:
            (sheet,) = encoder.encode_sheets([serialize(record)])
            scored.append((-float(np.dot(token, sheet)), record.sheet_id))
        order = [sheet_id for _, sheet_id in sorted(scored)]
        assert row["hits"] == sorted(order.index(each) + 1 for each in query.positives)


def test_real_workbooks_come_first_and_no_test_is_asked_for_validation():
    tests, chosen = (cosine.corpora_of(validation=validation) for validation in (False, True))
    assert next(iter(tests)) == "eps_whole"
    assert next(iter(chosen)) == "eps_development"
    assert tests.keys().isdisjoint(chosen)


def test_the_table_says_what_training_gave():
    def file(method, hits):
        rows = [
            {"query": n, "relevant": 1, "hits": [hit], "hard": None} for n, hit in enumerate(hits)
        ]
        metrics = {"NDCG@10": 0.5, "sheets": 4, "queries": 2}
        return {
            "method": method, "dataset": "spider_dev", "split": "names", "seed": None,
            "metrics": metrics, "per_query": rows,
        }  # fmt: skip

    assert "+0.369 [+0.369, +0.369]" in cosine_table(
        [file("minilm", [2, 2]), file("general", [1, 1])]
    )
    assert "not run" in cosine_table([])
