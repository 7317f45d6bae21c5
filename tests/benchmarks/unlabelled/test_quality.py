import json
import re
from functools import partial

import pytest

from benchmarks import results
from benchmarks.tables import figures
from benchmarks.tables import pages as tables
from benchmarks.tables import quality as quality_tables
from benchmarks.unlabelled import quality
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics.rows import unsupported
from sat_retriever.records.sheets import Column, SheetRecord
from tests.fakes import HashedEncoder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "FOLDER", tmp_path / "results")
    return tmp_path / "results"


@pytest.fixture
def dataset():
    def record(number, name, *headers):
        return SheetRecord(str(number), name, columns=tuple(Column(header) for header in headers))

    return Dataset(
        "toy",
        (
            record(0, "payroll", "employee", "salary"),
            record(1, "stock", "warehouse", "quantity"),
            record(2, "budget", "year", "amount"),
        ),
        (
            Query("employee salary", ("0",), hard_negatives=("1",)),
            Query("warehouse quantity and year amount", ("1", "2")),
            Query("zebra", ("2",)),
        ),
    )


def measured(dataset, *places):
    asked = quality.QuerySet(dataset, "all", places)
    return {r.method: r for r in quality.measure([asked], HashedEncoder(), "fake")}


def test_each_method_is_scored_on_the_queries_of_the_set(dataset):
    found = measured(dataset, 0, 1)
    assert list(found) == ["bm25", "dense_fake", "fused_fake"]
    for result in found.values():
        assert [row["query"] for row in result.per_query] == [0, 1]
        assert result.metrics["Recall@5"] == result.metrics["MRR"] == 1.0
        assert result.metrics["Recall@1"] == 0.75
        assert result.metrics["HN-FPR@1"] == 0.0
        assert (result.metrics["queries"], result.metrics["sheets"]) == (2, 3)


def test_bm25_ranks_no_sheet_without_a_common_word(dataset):
    found = measured(dataset, 2)
    assert found["bm25"].per_query[0]["hits"] == []
    assert found["bm25"].metrics["MRR"] == 0.0
    assert len(found["dense_fake"].per_query[0]["sheets"]) == 3


def test_positives_that_are_not_in_the_index_are_counted_as_missed(dataset):
    queries = (Query("employee salary", ("0", "gone")),)
    found = measured(Dataset("toy", dataset.records, queries), 0)
    assert found["fused_fake"].metrics["positives_not_indexed"] == 1
    assert found["fused_fake"].metrics["Recall@50"] == 0.5


def test_rows_hold_numbers_only_and_support_every_stored_metric(dataset, folder):
    for result in measured(dataset, 0, 1, 2).values():
        results.write_result("quality", result)
    for file in results.read_results("quality"):
        assert unsupported(file["metrics"], file["per_query"]) == []
        assert not any(word in json.dumps(file["per_query"]) for word in ("salary", "payroll"))


def test_a_metric_that_its_rows_do_not_give_is_named(dataset, folder):
    results.write_result("quality", measured(dataset, 0, 1)["bm25"])
    (file,) = results.read_results("quality")
    file["metrics"]["Recall@10"] = 0.99
    assert [line.split(" is ")[0] for line in unsupported(file["metrics"], file["per_query"])] == [
        "Recall@10"
    ]


def test_stale_pages_fail_the_check_and_writing_mends_them(tmp_path, folder, capsys, monkeypatch):
    drawn = tmp_path / "figures"
    monkeypatch.setattr(tables, "figures", partial(figures.figures, folder=drawn))
    for name, blocks in tables.BLOCKS.items():
        page = tmp_path / name
        page.parent.mkdir(parents=True, exist_ok=True)
        old = "\n".join(f"<!-- {block}:start -->\nold\n<!-- {block}:end -->" for block in blocks)
        page.write_text(f"# x\n{old}\nrest\n", encoding="utf-8")
    where = ["--root", str(tmp_path)]
    assert tables.main(["--check", *where]) == 1
    said = capsys.readouterr().err
    assert said.startswith("stale: comparison.svg")
    assert "tables.md, README.md, index.md, paper.md; run: python -m benchmarks tables" in said
    assert tables.main(where) == 0
    assert tables.main(["--check", *where]) == 0
    for name in tables.BLOCKS:
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert text.startswith("# x\n")
        assert text.endswith("rest\n")
        assert "not run" in text
    results_page = (tmp_path / tables.ALL).read_text(encoding="utf-8")
    for link in re.findall(r"\]\(#([^)]*)\)", results_page):
        assert any(tables._anchor(line[3:]) == link for line in results_page.splitlines())


def test_a_page_without_markers_is_refused():
    with pytest.raises(ValueError, match="lacks the markers"):
        tables.inserted("# nothing here", "results", "tables")


def test_the_quality_table_shows_each_method_with_its_lead_over_bm25(dataset):
    named = Dataset("spider_dev", dataset.records, dataset.queries)
    files = []
    for result in measured(named, 0, 1).values():
        files.append(
            {
                "method": result.method,
                "dataset": result.dataset,
                "split": "all",
                "metrics": result.metrics,
                "per_query": result.per_query,
            }
        )
    lines = quality_tables.quality_table(files).splitlines()
    row = next(line for line in lines if "| Spider dev | 2 | fused_fake |" in line)
    assert row.endswith("| +0.000 [+0.000, +0.000] |")
    assert any("BIRD dev, question only | not run" in line for line in lines)
