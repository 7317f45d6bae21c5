import json
from pathlib import Path

import pytest

from sat_retriever.corpora import (
    Query,
    load_bird,
    load_eps,
    load_industrytab,
    load_labels,
    load_links,
    load_spider,
)
from sat_retriever.errors import CorpusError
from sat_retriever.types import Link

DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture
def data():
    if not DATA.is_dir():
        pytest.skip("the published corpora are not beside this checkout")
    return DATA


def write(path, content):
    path.write_text(json.dumps(content), encoding="utf-8")


def sheet(number, name, *headers, **more):
    return {"sheet_id": number, "name": name, "columns": [{"name": h} for h in headers], **more}


@pytest.fixture
def corpus(tmp_path):
    write(
        tmp_path / "sheets.json",
        {
            "10": sheet(10, "Sales_2021", "Month", "Net", num_rows=3, num_cols=2),
            "9": sheet(9, "Sales_2020", "Month", num_rows=5, num_cols=1),
        },
    )
    write(
        tmp_path / "query.json",
        [
            {
                "query": " all sales ",
                "positive_sheet_ids": [9, 10, 9],
                "negative_sheet_ids": [],
                "hard_negative_sheet_ids": [10],
                "hard_negative_types": {"10": "same_schema_wrong_year"},
                "query_type": "aggregation",
                "dependency_type": "aggregation",
                "split": "train",
            },
            {"query": "  ", "positive_sheet_ids": [9]},
            {"query": "nothing here", "positive_sheet_ids": []},
            {"query": "not in the corpus", "positive_sheet_ids": [77]},
        ],
    )
    return tmp_path


def test_sheets_are_sorted_by_number_and_keep_it_as_their_id(corpus):
    records = load_industrytab(corpus).records
    assert [record.sheet_id for record in records] == ["9", "10"]
    assert (records[1].name, records[1].num_rows, records[1].num_cols) == ("Sales_2021", 3, 2)
    assert [column.name for column in records[1].columns] == ["Month", "Net"]


def test_queries_without_text_or_existing_positive_are_left_out(corpus):
    (query,) = load_industrytab(corpus).queries
    assert query == Query(
        "all sales",
        ("9", "10"),
        hard_negatives=("10",),
        hard_negative_types={"10": "same_schema_wrong_year"},
        query_type="aggregation",
        dependency_type="aggregation",
    )


def test_legacy_field_names_are_understood(corpus):
    (corpus / "query.json").unlink()
    legacy = [{"query": "sales", "sheet_ids": [9], "sheet_ids_negative": [10]}]
    write(corpus / "query_legacy_134.json", legacy)
    assert load_industrytab(corpus).queries == (Query("sales", ("9",), ("10",)),)


def test_the_full_query_file_wins_over_the_legacy_one(corpus):
    write(corpus / "query_legacy_134.json", [{"query": "old", "sheet_ids": [9]}])
    assert [query.text for query in load_industrytab(corpus).queries] == ["all sales"]


def test_edges_become_one_link_a_type_in_their_published_direction(corpus):
    write(
        corpus / "dependency_edges.json",
        {
            "edge_all_types": {"9,10": ["formula_reference", "aggregation"]},
            "edge_directions": {"9,10": {"formula_reference": {"source": 10, "target": 9}}},
        },
    )
    assert load_industrytab(corpus).links == (
        Link("10", "9", "formula_reference"),
        Link("9", "10", "aggregation"),
    )


def test_bird_evidence_joins_the_text_only_on_request(tmp_path):
    write(tmp_path / "sheets.json", {"0": sheet(0, "a__b", "c", workbook="a", sheet="b")})
    write(
        tmp_path / "query_dev.json",
        [{"query": "how many?", "evidence": "count c", "positive_sheet_ids": [0]}],
    )
    plain, hinted = load_bird(tmp_path), load_bird(tmp_path, evidence=True)
    assert (plain.name, plain.queries[0].text) == ("bird_dev", "how many?")
    assert (hinted.name, hinted.queries[0].text) == ("bird_dev_evidence", "how many? count c")
    assert plain.queries[0].evidence == "count c"
    assert (plain.records[0].workbook, plain.records[0].sheet) == ("a", "b")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("sheets.json", "{", "not valid JSON"),
        ("sheets.json", "[]", "must hold an object, not list"),
        ("sheets.json", '{"x": {}}', "must be a sheet number"),
        ("sheets.json", '{"1": {"name": "a"}}', "sheet 1: malformed entry"),
        ("sheets.json", '{"1": null}', "sheet 1: malformed entry"),
        ("query.json", "{}", "must hold a list, not dict"),
        ("query.json", "[3]", "entry 0: an object is needed"),
        ("query.json", '[{"query": "q"}]', "query 0: needs 'query' and one of"),
        ("query.json", '[{"query": "q", "sheet_ids": "9"}]', "a list of sheet ids is needed"),
        ("query.json", '[{"query": "q", "sheet_ids": 9}]', "a list of sheet ids is needed"),
        ("dependency_edges.json", "{}", "holds no links"),
        ("dependency_edges.json", '{"edge_all_types": {"9": ["x"]}}', "malformed"),
    ],
)
def test_a_malformed_file_is_a_corpus_error_that_names_it(corpus, name, content, message):
    (corpus / name).write_text(content, encoding="utf-8")
    with pytest.raises(CorpusError, match=message) as error:
        load_industrytab(corpus)
    assert name in str(error.value)


def test_a_missing_file_is_a_corpus_error_that_names_it(tmp_path):
    with pytest.raises(CorpusError, match=r"sheets\.json is missing"):
        load_spider(tmp_path)
    with pytest.raises(CorpusError, match=r"query\.json, query_legacy_134\.json"):
        load_industrytab(tmp_path)
    with pytest.raises(CorpusError, match=r"query\.json is missing"):
        load_eps(tmp_path)


def test_an_unknown_spider_split_is_refused_with_the_known_ones(tmp_path):
    with pytest.raises(CorpusError, match="'test'; choose from dev, train, train_synonym"):
        load_spider(tmp_path, "test")


def test_csv_labels_join_the_rows_of_a_question(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(
        "query,sheet_id,label\nnet profit,a.xlsx#P,1\nnet profit,b.xlsx#Q,\n"
        "net profit,c.xlsx#R,0\nonly negatives,c.xlsx#R,0\n",
        encoding="utf-8-sig",
    )
    assert load_labels(path) == (Query("net profit", ("a.xlsx#P", "b.xlsx#Q"), ("c.xlsx#R",)),)


def test_json_labels_take_any_sheet_id(tmp_path):
    write(tmp_path / "own.json", [{"query": "q", "positive_sheet_ids": ["a.xlsx#P"]}])
    assert load_labels(tmp_path / "own.json") == (Query("q", ("a.xlsx#P",)),)


def test_unusable_labels_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("question,sheet\nq,s\n", encoding="utf-8")
    (tmp_path / "b.csv").write_bytes(b"query,sheet_id\n\xff\xfe,1\n")
    for name, message in [
        ("a.csv", "the header must have 'query' and 'sheet_id'"),
        ("b.csv", "cannot be read as UTF-8 csv"),
        ("c.csv", "is missing"),
        ("labels.xml", r"not '\.xml'"),
    ]:
        with pytest.raises(CorpusError, match=message):
            load_labels(tmp_path / name)


ROW = {"source": 1, "target": "2", "type": "join_key"}


@pytest.mark.parametrize(
    ("row", "link"),
    [
        (ROW, Link("1", "2", "join_key")),
        (ROW | {"weight": 0.25, "evidence": "a = b"}, Link("1", "2", "join_key", 0.25, "a = b")),
        (
            ROW | {"source_column": "a", "target_column": "b"},
            Link("1", "2", "join_key", 1, "a = b"),
        ),
    ],
)
@pytest.mark.parametrize("wrapped", [True, False])
def test_links_are_read_from_a_list_or_from_an_object_with_one(tmp_path, row, link, wrapped):
    write(tmp_path / "graph.json", {"sheets": [], "links": [row]} if wrapped else [row])
    assert load_links(tmp_path / "graph.json") == (link,)


def test_links_are_read_from_typed_edges_too(tmp_path):
    write(tmp_path / "graph.json", {"edge_all_types": {"1,2": ["join_key", "aggregation"]}})
    assert [link.type for link in load_links(tmp_path / "graph.json")] == [
        "join_key",
        "aggregation",
    ]


BAD_LINKS = [
    ("{}", "holds no links"),
    ("3", "holds no links"),
    ('{"links": {}}', "holds no links"),
    ("[3]", "link 0: an object is needed"),
    ('[{"source": 1, "type": "x"}]', "'target' must be a sheet id, not None"),
    ('[{"source": true, "target": 2, "type": "x"}]', "'source' must be a sheet id"),
    ('[{"source": 1, "target": 2, "type": ""}]', "'type' must be a name"),
    ('[{"source": 1, "target": 2, "type": "x", "weight": 0}]', "'weight' must be above 0"),
    ('[{"source": 1, "target": 2, "type": "x", "weight": 1.5}]', "'weight' must be above 0"),
    ('[{"source": 1, "target": 2, "type": "x", "weight": NaN}]', "'weight' must be above 0"),
    ('[{"source": 1, "target": 2, "type": "x", "evidence": 5}]', "'evidence' must be a text"),
    ('{"edge_all_types": {"1,2": "join_key"}}', "not a list of types"),
]


@pytest.mark.parametrize(("content", "message"), BAD_LINKS, ids=[text for text, _ in BAD_LINKS])
def test_a_malformed_graph_is_a_corpus_error_that_names_file_and_entry(tmp_path, content, message):
    file = tmp_path / "graph.json"
    file.write_text(content)
    with pytest.raises(CorpusError, match=r"graph\.json") as caught:
        load_links(file)
    assert message in str(caught.value)


def test_industrytab_1k_has_the_documented_sizes(data):
    dataset = load_industrytab(data / "industrytab_1k")
    assert (dataset.name, len(dataset.records), len(dataset.queries)) == (
        "industrytab_1k",
        1002,
        1797,
    )
    pairs = {frozenset((link.source, link.target)) for link in dataset.links}
    assert len(pairs) == 19_850


def test_industrytab_614_takes_its_legacy_queries(data):
    dataset = load_industrytab(data / "industrytab_614")
    assert (dataset.name, len(dataset.records), len(dataset.queries)) == (
        "industrytab_614",
        614,
        134,
    )
    assert all(query.positives and query.negatives for query in dataset.queries)


@pytest.mark.parametrize(("split", "size"), [("dev", 1034), ("train", 7000)])
def test_spider_splits_share_sheets_and_no_database(data, split, size):
    dataset = load_spider(data / "spider", split)
    assert (len(dataset.records), len(dataset.queries), len(dataset.links)) == (876, size, 792)
    other = load_spider(data / "spider", "train" if split == "dev" else "dev")
    assert not {q.workbook for q in dataset.queries} & {q.workbook for q in other.queries}


def test_spider_synonyms_keep_the_gold_of_the_original_questions(data):
    plain = load_spider(data / "spider", "train").queries
    synonym = load_spider(data / "spider", "train_synonym").queries
    assert [query.positives for query in plain] == [query.positives for query in synonym]
    assert [query.text for query in plain] != [query.text for query in synonym]


def test_bird_dev_has_the_documented_sizes(data):
    dataset = load_bird(data / "bird_dev")
    assert (len(dataset.records), len(dataset.queries), len(dataset.links)) == (75, 1534, 0)


def test_eps_questions_name_files_below_the_root(data):
    dataset = load_eps(data / "eps")
    assert (dataset.records, len(dataset.queries)) == ((), 212)
    named = {sheet.rpartition("#")[0] for query in dataset.queries for sheet in query.positives}
    assert all((dataset.root / path).is_file() for path in named)
