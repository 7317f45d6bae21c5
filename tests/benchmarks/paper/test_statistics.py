"""What a corpus holds is counted from its files, and stands beside the paper's figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import results
from benchmarks.paper import statistics
from benchmarks.tables.statistics import corpora_table, kinds_table, splits_table
from sat_retriever.datasets.dataset import load_industrytab
from tests.places import needs


def write(folder: Path, **files: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


@pytest.fixture
def corpus(tmp_path) -> Path:
    """Four sheets of two categories, three questions, three links over two pairs."""
    names = ("Sales_Data__A", "Sales_Data__B", "HR__C", "Sales_Data__D")
    sheets = {
        str(n): {"sheet_id": n, "name": name, "num_rows": 2, "num_cols": 1,
                 "columns": [{"name": "h"}], "source": "x"}
        for n, name in enumerate(names)
    }  # fmt: skip

    def query(positives, negatives, hard, kind, dependency):
        return {
            "query": f"about {positives}", "positive_sheet_ids": positives,
            "negative_sheet_ids": negatives, "hard_negative_sheet_ids": hard,
            "hard_negative_types": {str(h): "same_schema_wrong_year" for h in hard},
            "query_type": kind, "dependency_type": dependency,
            "is_dependency_heavy": dependency != "none", "split": "train",
        }  # fmt: skip

    queries = [
        query([0, 1], [2], [2], "semantic_lookup", "none"),
        query([0], [1, 3], [], "semantic_lookup", "schema_alignment"),
        query([0, 1, 3], [2], [], "comparison", "temporal_alignment"),
    ]
    edges = {
        "edges": [[0, 1], [1, 2]],
        "edge_types": {"0,1": "aggregation", "1,2": "join_key"},
        "edge_all_types": {"0,1": ["aggregation", "formula_reference"], "1,2": ["join_key"]},
        "edge_directions": {},
        "stats": {"total_edges": 2, "total_sheets": 4},
    }
    pairs = [
        {"id": 0, "sheet_id_1": 0, "sheet_id_2": 1, "matched_columns": [["h", "h"]], "label": 1},
        {"id": 1, "sheet_id_1": 0, "sheet_id_2": 2, "matched_columns": [], "label": 0},
    ]
    return write(
        tmp_path / "mine", sheets=sheets, query=queries, dependency_edges=edges, train=pairs
    )


def test_every_figure_is_that_of_a_count_by_hand(corpus):
    assert statistics.counted(load_industrytab(corpus)) == {
        "sheets": 4,
        "queries": 3,
        "positives_mean": 2.0,
        "negatives_mean": 1.3333,
        "hard_negatives_mean": 0.3333,
        "hard_negative_queries": 1,
        "dependency_heavy": 2,
        "dependency_types": {"none": 1, "schema_alignment": 1, "temporal_alignment": 1},
        "query_types": {"semantic_lookup": 2, "comparison": 1},
        "categories": {"Sales Data": 3, "HR": 1},
        "edges": 2,
        "connected_sheets": 3,
        "links": {"aggregation": 1, "formula_reference": 1, "join_key": 1},
        "primary_links": {"aggregation": 1, "join_key": 1},
        "positive_pairs": 1,
        "negative_pairs": 1,
    }


def test_rows_tell_the_type_of_each_question_and_no_text(corpus):
    rows = statistics.question_rows(load_industrytab(corpus))
    assert rows[1] == {
        "query": 1,
        "type": "semantic_lookup",
        "dependency_type": "schema_alignment",
        "dependency_heavy": True,
    }
    assert [row["query"] for row in rows] == [0, 1, 2]
    assert not any("about" in str(value) for row in rows for value in row.values())


def test_a_corpus_of_ones_own_gets_a_result_and_missing_ones_are_named(
    corpus, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(results, "FOLDER", tmp_path / "results")
    statistics.main(["--data", str(tmp_path / "none"), "--corpus", str(corpus)])
    told = capsys.readouterr().out
    assert "mine.all: sheets 4" in told
    assert told.count("is not counted") == 6
    (file,) = results.read_results("statistics")
    assert (file["method"], file["dataset"]) == ("counted", "mine")
    assert file["metrics"]["query_types"] == {"semantic_lookup": 2, "comparison": 1}
    assert [row["type"] for row in file["per_query"]][-1] == "comparison"
    assert file["provenance"]["data_hash"] is not None


def test_workbooks_of_a_folder_are_counted_by_reading_them(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("z\n3\n", encoding="utf-8")
    (tmp_path / "query.json").write_text("[]", encoding="utf-8")
    assert len(statistics.read_records(tmp_path)) == 2


def test_the_papers_figures_stand_below_those_counted():
    metrics = {"sheets": 1001, "queries": 1797, "positives_mean": 8.0514}
    table = corpora_table([{"dataset": "industrytab_1k", "metrics": metrics}])
    lines = table.splitlines()
    assert lines[2].startswith("| IndustryTab-1K | 1,001 | 1,797 | 8.05 | – |")
    assert lines[3].startswith("| *paper: IndustryTab-1K* | 1,002 | 1,797 | 8.05 | 8.05 | 8.90 |")
    assert "| IndustryTab-614 | not counted |" in table


def test_a_legacy_query_file_is_called_one():
    metrics = {"sheets": 614, "queries": 134, "legacy_queries": True}
    files = [{"dataset": "industrytab_614", "metrics": metrics}]
    assert "| IndustryTab-614 | 614 | 134 (legacy file) |" in corpora_table(files)
    assert "| IndustryTab-614 | not counted: its queries are not at hand |" in splits_table(files)
    assert "| *paper: IndustryTab-614* | 1,047 | 116 | 290 | – | 288 to 289 |" in splits_table(
        files
    )


def test_kinds_of_both_sides_stand_in_one_row():
    metrics = {
        "query_types": {"comparison": 5, "own_type": 1},
        "categories": {"Movie Ratings Reviews": 4},
    }
    table = kinds_table([{"dataset": "industrytab_1k", "metrics": metrics}])
    assert "| queries | comparison | 5 | 357 |" in table
    assert "| queries | own type | 1 | – |" in table
    assert "| queries | summary source | – | 73 |" in table
    assert "| sheets | Movie Ratings Reviews | 4 | 4 |" in table


def test_the_released_corpus_has_the_papers_figures():
    folder = needs("data/industrytab_1k")
    dataset = load_industrytab(folder)
    found = statistics.counted(dataset)
    raw = json.loads((folder / "query.json").read_text(encoding="utf-8"))
    heavy = [row["dependency_heavy"] for row in statistics.question_rows(dataset)]
    assert heavy == [row["is_dependency_heavy"] for row in raw]
    assert found["splits"]["standard, seed 42"] == {
        "train": 1457, "validation": 161, "test": 179, "excluded": 0,
        "test_with_hard_negatives": 169,
    }  # fmt: skip
    assert found["splits"]["grouped, seed 43"]["excluded"] == 310
    assert found["primary_links"] == {
        "join_key": 17806,
        "aggregation": 1940,
        "formula_reference": 104,
    }
