"""Lists of real workbooks: excluded pages, and the weight of each source."""

from __future__ import annotations

import json
from collections import Counter

import openpyxl
import pytest

from benchmarks.general.real_lists import joined, real_lists
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.labels import Query
from sat_retriever.records.sheets import SheetRecord


def test_pages_that_hold_the_questions_are_no_sheets_of_the_corpus(tmp_path):
    folder = tmp_path / "real_lists/acme"
    (folder / "workbooks").mkdir(parents=True)
    book = openpyxl.Workbook()
    book.active.title = "Contents"
    book.active.append(["Fuel", "see Fuel"])
    book.create_sheet("Fuel").append(["Fuel", "Price"])
    book["Fuel"].append(["Coal", 3])
    book.save(folder / "workbooks/a.xlsx")
    asked = [{"query": "Fuel", "relevant": ["a.xlsx#Fuel"], "query_type": "contents_link"}]
    (folder / "query.json").write_text(json.dumps(asked))
    told = {"role": "train", "excluded": ["a.xlsx#Contents"]}
    (folder / "meta.json").write_text(json.dumps(told))
    (tmp_path / "real_lists/labels alone").mkdir()
    (tmp_path / "real_lists/labels alone/meta.json").write_text(json.dumps(told))
    assert real_lists(tmp_path, "validation") == []
    (found,) = real_lists(tmp_path, "train")
    assert found.name == "acme"
    assert [each.sheet_id for each in found.records] == ["a.xlsx#Fuel"]
    assert found.queries == (Query("Fuel", ("a.xlsx#Fuel",), query_type="contents_link"),)


@pytest.mark.parametrize(("count", "asked"), [(466, 150), (93, 93), (60, 120), (14, 42), (2, 6)])
def test_a_large_source_is_cut_and_a_small_one_repeated(count, asked):
    queries = tuple(Query(f"q{n}", ("s",)) for n in range(count))
    source = Dataset("acme", (SheetRecord("s", "S"),), queries)
    found = joined([source, Dataset("other", (SheetRecord("s", "S"),), queries[:1])], "real")
    assert [each.sheet_id for each in found.records] == ["acme/s", "other/s"]
    sources = Counter(each.positives for each in found.queries)
    assert sources[("acme/s",)] == asked
    assert sources[("other/s",)] == 3
