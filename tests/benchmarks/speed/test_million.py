"""The benchmark of large indexes, at a size that takes seconds."""

import pytest

from benchmarks.results import read_result
from benchmarks.speed import million
from sat_retriever.index import mapped


@pytest.mark.slow  # it starts nine processes
def test_a_size_is_measured_and_written(tmp_path, monkeypatch):
    monkeypatch.setattr(mapped, "_ALL", 200)
    million.main(["--sizes", "400", "--queries", "4", "--compared", "4",
                  "--work", str(tmp_path), "--results", str(tmp_path / "r")])  # fmt: skip
    [path] = (tmp_path / "r" / "million").glob("*.json")
    found = read_result(path)["metrics"]
    assert found["sheets"] == 400
    assert found["recall_at_50"] >= 0.99
    assert {"mapped_mib", "first_answer_s", "default_times_encoding"} <= found.keys()
