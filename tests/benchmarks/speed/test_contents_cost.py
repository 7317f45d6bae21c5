import json

import pytest

from benchmarks.results import read_results
from benchmarks.speed.contents_cost import eps, main, measure
from benchmarks.speed.contents_made import KINDS, MadeSheets
from sat_retriever import SheetIndex
from tests.fakes import HashedEncoder
from tests.index.sync.test_sync import write


def test_a_made_sheet_is_the_same_whenever_it_is_made_and_its_texts_are_distinct():
    made = MadeSheets(20, 200)
    [last] = made.records(19)
    assert last == made.record(19)
    texts = [each.text for each in last.contents.notes]
    texts += [each.text for table in last.contents.tables for each in table]
    assert texts == made.texts_of(19)
    assert len(set(texts)) == 200
    assert len({each.sheet_id for each in made.records()}) == 20


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"names"}))
def test_questions_by_contents_find_words_of_made_sheets(kind, tmp_path):
    made = MadeSheets(20, 30)
    asked = made.questions(kind, 3)
    assert asked == made.questions(kind, 3)
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        index.add_records(made.records())
        found = [index.candidates(each, 1)[0] for each in asked]
    assert any(each.contents for each in found)
    assert all(each.phrase for each in found) == (kind == "phrase")


@pytest.mark.slow
def test_a_quick_run_leaves_a_result_of_each_level_and_a_second_measures_nothing_anew(tmp_path):
    options = ["--quick", "--sheets", "8", "--work", str(tmp_path / "w")]
    options += ["--out", str(tmp_path / "r")]
    main(options)
    kept, names = (each["metrics"] for each in read_results("contents_cost", tmp_path / "r"))
    assert names["sheets"] == kept["sheets"] == 8
    assert names["names_new_times"] == 1
    assert kept["contents_bytes"] > names["contents_bytes"]
    main(options)
    assert read_results("contents_cost", tmp_path / "r")[0]["metrics"] == kept


@pytest.mark.slow
def test_workbooks_are_read_and_indexed_at_every_level(tmp_path):
    write(tmp_path / "eps" / "trans" / "fares.csv", "Region,Fare", "North,1")
    query = {"query": "fares", "relevant": ["trans/fares.csv#fares"]}
    (tmp_path / "eps" / "query.json").write_text(json.dumps([query]))
    corpus = eps(tmp_path / "eps", 5)
    results = measure(corpus, tmp_path / "w", 1)
    assert [each.method for each in results] == ["names", "examples", "all"]
    assert all(each.metrics["reading_s"] >= 0 and each.metrics["sheets"] == 1 for each in results)
