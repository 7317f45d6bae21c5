import pytest

from sat_retriever import Column, InputError, SheetRecord
from sat_retriever.datasets.dataset import Dataset, Split, load_industrytab, load_spider
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.splits import (
    family,
    grouped_split,
    held_out_workbooks,
    sheet_groups,
    standard_split,
)
from tests.places import needs


@pytest.fixture(scope="module")
def industrytab_1k():
    return load_industrytab(needs("data/industrytab_1k"))


def record(number, name, *headers):
    return SheetRecord(str(number), name, columns=tuple(Column(header) for header in headers))


def test_the_standard_split_has_the_documented_sizes_and_covers_each_query_once():
    split = standard_split(1797)
    assert [len(part) for part in (split.train, split.validation, split.test)] == [1457, 161, 179]
    assert sorted(split.train + split.validation + split.test) == list(range(1797))


@pytest.mark.parametrize("seed", [42, 43, 44])
def test_the_split_of_the_small_corpus_has_the_documented_sizes(seed):
    split = standard_split(1453, ratio=0.2, seed=seed)
    assert [len(part) for part in (split.train, split.validation, split.test)] == [1047, 116, 290]


def test_a_test_part_of_no_query_leaves_all_the_others():
    split = standard_split(5, ratio=0.1)
    assert (len(split.train), split.validation, split.test) == (5, (), ())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Synthetic_Data__Stock_Market__Stock_2024_Q4_source", "Stock_Market_Data__Stock_YEAR"),
        ("Inventory_Warehouse_Entry_2021-03_target", "Inventory_Warehouse_Entry_Details_YEAR"),
        ("Inventory_Warehouse_Entry_Details_2021_target", "Inventory_Warehouse_Entry_Details_YEAR"),
        ("Inventory_Inventory_Check_2020", "Inventory_Inventory_Check_Records_YEAR"),
        ("Finance_Sterling_Group_2020_source", "Finance_Sterling_Group_YEAR"),
        ("a_source_b", "a_source_b"),
    ],
)
def test_a_family_is_the_name_without_period_and_side(name, expected):
    assert family(name) == expected


def test_groups_join_sheets_by_family_or_headers_through_others():
    records = [
        record(0, "A_2020", "x"),
        record(1, "B_2020", "y", "z"),
        record(2, "A_2021", " Z", "Y "),
        record(3, "C", "w"),
    ]
    assert sheet_groups(records) == [["0", "1", "2"], ["3"]]


@pytest.mark.parametrize(
    ("seed", "sizes", "left_out", "first"),
    [
        (42, (988, 270, 234), 305, (1533, 378, 1169, 1447, 353)),
        (43, (969, 276, 242), 310, (1197, 1780, 1458, 1437, 1469)),
        (44, (985, 282, 235), 295, (1783, 1164, 1176, 354, 1192)),
    ],
)
def test_the_grouped_split_is_the_reported_one(industrytab_1k, seed, sizes, left_out, first):
    split = grouped_split(industrytab_1k, seed=seed)
    assert (len(split.train), len(split.validation), len(split.test)) == sizes
    assert len(industrytab_1k.queries) - sum(sizes) == left_out
    assert split.test[:5] == first


@pytest.mark.parametrize("seed", [42, 43, 44])
def test_training_sees_the_reported_sheets_and_no_gold_sheet_of_another_part(industrytab_1k, seed):
    split = grouped_split(industrytab_1k, seed=seed)
    assert len(split.seen) == 700
    gold = [
        {sheet for place in part for sheet in industrytab_1k.queries[place].positives}
        for part in (split.train, split.validation, split.test)
    ]
    assert gold[0] <= split.seen
    assert not split.seen & (gold[1] | gold[2])


def test_a_data_set_names_the_queries_of_each_part_and_counts_those_of_none():
    queries = [Query(f"q{number}", (str(number),)) for number in range(6)]
    split = Split(train=(4, 0), validation=(1,), test=(5,))
    dataset = Dataset("toy", (), tuple(queries), split=split)
    assert [query.text for query in dataset.train] == ["q4", "q0"]
    assert [query.text for query in dataset.validation] == ["q1"]
    assert [query.text for query in dataset.test] == ["q5"]
    assert dataset.left_out == 3
    assert Dataset("toy", (), tuple(queries)).train == ()


def test_the_grouped_split_keeps_families_apart(industrytab_1k):
    assert len(sheet_groups(industrytab_1k.records)) == 45
    split = grouped_split(industrytab_1k, seed=42)
    names = {sheet.sheet_id: family(sheet.sheet) for sheet in industrytab_1k.records}
    seen = [
        {names[sheet] for place in part for sheet in industrytab_1k.queries[place].positives}
        for part in (split.train, split.validation, split.test)
    ]
    assert not (seen[0] & seen[1] or seen[0] & seen[2] or seen[1] & seen[2])


def test_queries_whose_gold_set_spans_parts_are_left_out():
    records = tuple(record(number, f"T{number}", f"h{number}") for number in range(20))
    queries = [Query(f"q{number}", (str(number),)) for number in range(20)]
    queries += [Query("all", tuple(map(str, range(20)))), Query("unknown", ("99",))]
    split = grouped_split(Dataset("toy", records, tuple(queries)))
    assert sorted(split.train + split.validation + split.test) == list(range(20))


def test_spider_validation_shares_no_database_with_the_rest():
    queries = load_spider(needs("data/spider"), "train").queries
    held_out = held_out_workbooks(queries)
    assert len(held_out) == 35
    assert held_out == held_out_workbooks(tuple(reversed(queries)))
    assert held_out != held_out_workbooks(queries, seed=43)


def test_impossible_shares_and_empty_corpora_are_refused():
    with pytest.raises(InputError, match=r"not 1\.5"):
        standard_split(10, ratio=1.5)
    with pytest.raises(InputError, match="not 0"):
        held_out_workbooks([], share=0)
    with pytest.raises(InputError, match="'eps' has no records"):
        grouped_split(Dataset("eps", (), ()))
