import pytest

from benchmarks.results import read_results
from benchmarks.safety import soak
from sat_retriever import Column, PathNotFoundError, SheetRecord


@pytest.mark.slow
def test_a_short_soak_leaves_a_result_with_its_samples(tmp_path, monkeypatch):
    monkeypatch.setattr(soak, "_MADE_SHEETS", 20)
    results = tmp_path / "results"
    wanted = ["--corpus", "made", "--queries", "25", "--every", "10"]
    soak.main([*wanted, "--work", str(tmp_path / "work"), "--out", str(results)])
    [found] = read_results("soak", results)
    assert [row["queries"] for row in found["per_query"]] == [0, 10, 20, 25]
    assert all(row["rss_mib"] > 10 and row["open_files"] > 0 for row in found["per_query"])
    assert found["metrics"]["sheets"] > 0
    assert found["metrics"]["open_files_growth"] <= 0  # files of earlier tests may close meanwhile
    assert found["provenance"]["data_hash"]


def test_no_two_questions_are_alike():
    record = SheetRecord("a", "Tax", "b.xlsx", columns=(Column("Rate"), Column("")))
    asked = list(soak.questions([record, SheetRecord("c", "c")], 500, seed=1))
    assert len(set(asked)) == 500
    assert asked == list(soak.questions([record, SheetRecord("c", "c")], 500, seed=1))


def test_what_is_taken_before_the_warm_up_ends_is_no_growth():
    memory = [50, 90, 100, 100, 103]
    rows = [
        {"queries": 1000 * n, "rss_mib": mib, "threads": 3 + n, "open_files": 8}
        for n, mib in enumerate(memory)
    ]
    found = soak.growth(rows, 4_000)
    assert (found["rss_start_mib"], found["rss_warm_mib"], found["rss_end_mib"]) == (50, 90, 103)
    assert (found["rss_growth_mib"], found["rss_most_mib"]) == (13, 103)
    assert found["rss_slope_mib_per_1000"] == pytest.approx(3.9)
    assert (found["threads_growth"], found["open_files_growth"]) == (3, 0)


def test_without_the_data_the_way_without_it_is_told(tmp_path):
    with pytest.raises(PathNotFoundError, match="take --corpus made"):
        soak.main(["--data", str(tmp_path), "--work", str(tmp_path)])
