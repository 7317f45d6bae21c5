import pytest

from sat_retriever.datasets.dataset import load_spider
from sat_retriever.datasets.splits import grouped_dataset, spider_training, standard_dataset
from sat_retriever.errors import CorpusError
from sat_retriever.train.data.reading import from_dataset
from tests.places import needs


def test_the_standard_split_is_the_papers_whatever_the_seed():
    folder = needs("data/industrytab_1k")
    dataset = standard_dataset(folder, seed=43)
    assert (len(dataset.train), len(dataset.validation), dataset.split.seen) == (1457, 161, None)
    assert dataset.split == standard_dataset(folder).split
    data = from_dataset(dataset)
    assert (data.name, len(data.sheets), len(data.train)) == ("industrytab_1k", 1002, 1457)


def test_the_small_corpus_is_split_by_the_training_seed():
    folder = needs("data/industrytab_614")
    assert standard_dataset(folder, seed=43).split != standard_dataset(folder, seed=42).split


@pytest.mark.parametrize(("seed", "sizes"), [(42, (988, 270)), (43, (969, 276)), (44, (985, 282))])
def test_the_grouped_split_lets_training_see_its_own_sheets_only(seed, sizes):
    dataset = grouped_dataset(needs("data/industrytab_1k"), seed=seed)
    assert (len(dataset.train), len(dataset.validation)) == sizes
    data = from_dataset(dataset)
    assert len(data.seen) == 700
    gold = {row for rows in data.validation.positives for row in rows}
    assert not gold & set(data.seen)
    assert not {row for rows in data.train.hard_negatives for row in rows} - set(data.seen)


def test_spider_trains_on_neither_dev_nor_the_databases_held_out():
    folder = needs("data/spider")
    dataset = spider_training(folder)
    dev = {query.workbook for query in load_spider(folder, "dev").queries}
    train = {query.workbook for query in dataset.train}
    validation = {query.workbook for query in dataset.validation}
    assert (len(train), len(validation)) == (105, 35)
    assert not (train & validation or train & dev or validation & dev)
    home = {one.sheet_id: one.workbook for one in dataset.records}
    assert {home[sheet_id] for sheet_id in dataset.split.seen} == train
    assert len(dataset.train) + len(dataset.validation) == 7000 + 4801  # 2,199 are unchanged
    assert len(from_dataset(dataset).validation) == len(dataset.validation)


def test_a_folder_that_is_no_corpus_is_refused(tmp_path):
    for make in (standard_dataset, grouped_dataset, spider_training):
        with pytest.raises(CorpusError):
            make(tmp_path)
