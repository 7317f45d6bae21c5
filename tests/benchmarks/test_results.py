import json

import pytest

from benchmarks import results
from benchmarks.results import Result, data_hash, read_results, write_result
from sat_retriever.train.loop.provenance import provenance


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "FOLDER", tmp_path / "results")
    return tmp_path / "results"


def test_a_summary_has_its_keys_in_the_agreed_order(folder):
    rows = [{"query": 0, "hits": [1]}, {"query": 1, "hits": []}]
    path = write_result("quality", Result("bm25", "spider_dev", {"MRR": 0.5}, per_query=rows))
    content = json.loads(path.read_text(encoding="utf-8"))
    assert path == folder / "quality" / "bm25.spider_dev.all.json"
    assert list(content) == [
        "format",
        "method",
        "dataset",
        "split",
        "seed",
        "metrics",
        "provenance",
        "rows",
    ]
    assert list(content["provenance"]) == [
        *provenance(),
        "data_hash",
    ]
    assert content["rows"]["count"] == 2
    assert content["metrics"] == {"MRR": 0.5}
    (result,) = read_results("quality")
    assert result["per_query"] == rows


def test_the_seed_is_part_of_the_file_name(folder):
    assert write_result("fuzz", Result("ours", "fuzz", {}, seed=7)).name == "ours.fuzz.all.7.json"


def test_a_result_without_rows_is_still_valid_json(folder):
    write_result("latency", Result("ours", "made", {"p50_ms": 1.0, "undefined": None}))
    (content,) = read_results("latency")
    assert content["per_query"] == []
    assert content["metrics"] == {"p50_ms": 1.0, "undefined": None}


def test_results_of_a_benchmark_never_run_are_an_empty_list(folder):
    assert read_results("nothing") == []


def test_the_data_hash_follows_names_and_bytes_but_not_the_place(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name / "sub").mkdir(parents=True)
        (tmp_path / name / "sub" / "a.csv").write_text("x", encoding="utf-8")
    one, two = data_hash([tmp_path / "one"]), data_hash([tmp_path / "two"])
    assert one == two is not None
    (tmp_path / "two" / "sub" / "a.csv").write_text("y", encoding="utf-8")
    changed = data_hash([tmp_path / "two"])
    (tmp_path / "one" / "sub" / "a.csv").rename(tmp_path / "one" / "sub" / "b.csv")
    renamed = data_hash([tmp_path / "one"])
    assert len({one, changed, renamed}) == 3


def test_the_data_hash_of_no_files_is_none(tmp_path):
    assert data_hash([]) is None
    assert data_hash([tmp_path]) is None
