import pytest

from benchmarks.corpora import used
from benchmarks.unlabelled import quality, unchanged
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.labels import Query
from sat_retriever.records.sheets import Column, SheetRecord
from tests.fakes import HashedEncoder

NAMES = {"0": ("payroll", "salary"), "1": ("stock", "quantity"), "2": ("budget", "amount")}


@pytest.fixture
def asked():
    records = tuple(
        SheetRecord(key, name, columns=(Column(header),)) for key, (name, header) in NAMES.items()
    )
    queries = (Query("payroll salary", ("0",)), Query("stock quantity", ("1",)))
    return quality.QuerySet(Dataset("toy", records, queries), "all", (0, 1))


def files(asked):
    results = quality.measure([asked], HashedEncoder(), "fake")
    return [
        {"method": each.method, "dataset": each.dataset, "split": each.split,
         "metrics": each.metrics, "per_query": each.per_query}
        for each in results
    ]  # fmt: skip


def test_the_same_ranking_has_no_difference(asked):
    found = list(unchanged.compared([asked], HashedEncoder(), "fake", files(asked)))
    assert [each.method for each in found] == ["bm25", "dense_fake", "fused_fake"]
    for each in found:
        assert (each.metrics["difference"], each.metrics["interval"]) == (0.0, [0.0, 0.0])
        assert each.metrics["NDCG@10"] == each.metrics["before"] == 1.0


def test_a_lower_ranking_is_told_with_its_interval(asked):
    better = files(asked)
    worse = {"query": 1, "relevant": 1, "hits": [3]}
    better[0] |= {"per_query": [better[0]["per_query"][0], worse], "metrics": {"NDCG@10": 0.75}}
    found = next(unchanged.compared([asked], HashedEncoder(), "fake", better))
    assert found.metrics["difference"] == pytest.approx(0.25)
    assert found.metrics["interval"] == pytest.approx([0.0, 0.5])


def test_a_method_without_a_committed_result_is_left_out(asked):
    found = unchanged.compared([asked], HashedEncoder(), "fake", files(asked)[:1])
    assert [each.method for each in found] == ["bm25"]


def test_corpora_without_cells_are_compared():
    names = ["industrytab_1k", "spider_dev", "bird_dev", "bird_dev_evidence"]
    assert list(used("unchanged")) == names


def test_missing_data_is_not_run(tmp_path, capsys):
    unchanged.main(["--data", str(tmp_path), "--out", str(tmp_path / "out")])
    assert capsys.readouterr().out.count("not run: ") == 4
    assert not (tmp_path / "out").exists()
