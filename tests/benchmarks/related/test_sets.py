"""The sets of questions: their parts are apart, and their answers are of several sheets."""

import pytest

from benchmarks.general.corpora import HELD_OUT, Size, Wanted
from benchmarks.related import sets
from benchmarks.related.made import made_workbooks
from benchmarks.related.sets import MOST, SETS, Places
from sat_retriever.index.index import SheetIndex
from tests.fakes import HashedEncoder
from tests.places import needs


def places(tmp_path):
    return Places(needs("data/spider").parent, tmp_path)


@pytest.mark.parametrize("name", ["spider_keys", "spider_two_hidden"])
def test_no_database_of_spider_is_in_two_parts(name, tmp_path):
    asked = {}
    for part in SETS[name].parts:
        (one,) = SETS[name].read(part, places(tmp_path))
        least = 3 if name == "spider_keys" else 2
        assert all(least <= len(set(q.positives)) <= MOST for q in one.dataset.queries)
        known = {record.sheet_id for record in one.dataset.records}
        assert all(known.issuperset(query.positives) for query in one.dataset.queries)
        asked[part] = {query.workbook for query in one.dataset.queries}
    assert all(asked.values())
    assert not asked["train"] & asked["validation"]
    assert not asked["test"] & (asked["train"] | asked["validation"])


def test_training_sees_no_sheet_of_another_part_of_spider(tmp_path):
    (train,) = SETS["spider_keys"].read("train", places(tmp_path))
    (test,) = SETS["spider_keys"].read("test", places(tmp_path))
    known = {record.sheet_id for record in train.dataset.records}
    assert not any(known & set(query.positives) for query in test.dataset.queries)
    assert all({link.source, link.target} <= known for link in train.dataset.links)


@pytest.mark.parametrize("name", ["eps_formulas", "eps_computed"])
def test_development_questions_of_eps_are_about_its_folder_trans_alone(name, tmp_path):
    chosen, tested = (
        [
            query
            for each in SETS[name].read(part, places(tmp_path))
            for query in each.dataset.queries
        ]
        for part in ("validation", "test")
    )
    assert chosen and tested
    assert all(sheet.startswith("trans/") for query in chosen for sheet in query.positives)
    assert not any(all(sheet.startswith("trans/") for sheet in query.positives) for query in tested)


def test_no_made_corpus_is_in_two_parts_and_training_lacks_the_conventions_of_the_others():
    numbers = [number for part in sets._MADE.values() for number in part]
    assert len(set(numbers)) == len(numbers)
    assert not set(Wanted(Size()).conventions) & set(HELD_OUT)


def test_a_made_corpus_is_named_as_an_index_of_its_folder_names_it(tmp_path):
    dataset = made_workbooks(1, HELD_OUT, tmp_path, sheets=30, questions=40)
    again = made_workbooks(1, HELD_OUT, tmp_path, sheets=30, questions=40)
    assert again == dataset
    assert dataset.root is not None
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        index.sync([dataset.root])
        known = set(index.sheet_ids())
    assert dataset.queries
    assert all(known.issuperset(query.positives) for query in dataset.queries)


def test_two_made_corpora_share_no_company(tmp_path):
    one, other = (
        made_workbooks(number, HELD_OUT, tmp_path, sheets=30, questions=5) for number in (1, 2)
    )
    words = [(tmp_path / f"{each.name}.words" / "lists.json").read_text() for each in (one, other)]
    assert words[0] != words[1]
