"""The benchmark of large indexes, at a size that takes seconds."""

import pytest

from benchmarks.results import read_results
from benchmarks.speed import million
from sat_retriever.index.search import columns


@pytest.mark.slow  # it starts nine processes
def test_a_size_is_measured_and_written(tmp_path, monkeypatch):
    monkeypatch.setattr(columns, "ALL", 200)
    million.main(["--sizes", "400", "--contents", "300", "--queries", "4", "--compared", "4",
                  "--work", str(tmp_path), "--out", str(tmp_path / "r")])  # fmt: skip
    found = [each["metrics"] for each in read_results("million", tmp_path / "r")]
    assert [each["sheets"] for each in found] == [300, 400]
    for each in found:
        assert each["recall_at_50"] >= 0.99
        assert {"add_s", "mapped_mib", "first_answer_s", "default_times_encoding"} <= each.keys()
