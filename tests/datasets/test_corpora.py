import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever import Link
from sat_retriever.datasets.dataset import load_bird, load_eps, load_industrytab, load_spider
from sat_retriever.datasets.edges import load_links
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.sheets import SheetPair, load_pairs, load_sheets
from sat_retriever.errors import CorpusError
from tests.places import needs


@pytest.fixture
def data():
    return needs("data")


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
            "11": sheet(11, "Sales_2022", "Month", num_rows=5, num_cols=1),
        },
    )
    write(
        tmp_path / "query.json",
        [
            {
                "query": " all sales ",
                "positive_sheet_ids": [9, 10, 9],
                "negative_sheet_ids": [],
                "hard_negative_sheet_ids": [11],
                "hard_negative_types": {"11": "same_schema_wrong_year"},
                "query_type": "aggregation",
                "dependency_type": "aggregation",
                "split": "train",
            },
            {"query": "  ", "positive_sheet_ids": [9]},
            {"query": "nothing here", "positive_sheet_ids": []},
        ],
    )
    return tmp_path


def test_sheets_are_sorted_by_number_and_keep_it_as_their_id(corpus):
    records = load_industrytab(corpus).records
    assert [record.sheet_id for record in records] == ["9", "10", "11"]
    assert (records[1].name, records[1].num_rows, records[1].num_cols) == ("Sales_2021", 3, 2)
    assert [column.name for column in records[1].columns] == ["Month", "Net"]


def test_queries_without_text_or_positive_are_left_out(corpus):
    (query,) = load_industrytab(corpus).queries
    assert query == Query(
        "all sales",
        ("9", "10"),
        hard_negatives=("11",),
        hard_negative_types={"11": "same_schema_wrong_year"},
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
        ("query.json", '[{"query": "q"}]', "query 0: needs a text 'query' and one of"),
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


# ---- what is checked


def asked(**fields):
    return [{"query": "q", "positive_sheet_ids": [9], **fields}]


ASKED, LINKS, SHEETS = "query.json", "dependency_edges.json", "sheets.json"
EDGES = {"edge_all_types": {"9,10": ["join_key"]}}
BAD = [
    (ASKED, asked(positive_sheet_ids=[9, 77]), "query 0: there is no sheet '77'"),
    (ASKED, asked(negative_sheet_ids=[77]), "query 0: there is no sheet '77'"),
    (ASKED, asked(hard_negative_types={"77": "x"}), "query 0: there is no sheet '77'"),
    (ASKED, asked(negative_sheet_ids=[9]), "'q' has sheet '9' both as relevant and as not"),
    (ASKED, asked(query_type="guessing"), "'query_type' has 'guessing', not semantic_lookup"),
    (ASKED, asked(dependency_type="magic"), "'dependency_type' has 'magic', not none"),
    (ASKED, asked(hard_negative_types={"10": "odd"}), "'hard_negative_types' has 'odd'"),
    (ASKED, asked(hard_negative_types=[3]), "must give a name for each sheet"),
    (SHEETS, {"1": sheet(2, "a")}, "sheet 1: its 'sheet_id' is 2, not its key"),
    (SHEETS, {"1": sheet(1, "a", num_rows=-1)}, "'num_rows' must be a whole number"),
    (SHEETS, {"1": sheet(1, "a", num_cols="3")}, "'num_cols' must be a whole number"),
    (SHEETS, {"9" * 5000: sheet(1, "a")}, "every key must be a sheet number"),
    (SHEETS, {"1": sheet(1, 3)}, "'name' must be a text, not 3"),
    (SHEETS, {"1": sheet(1, "a" * 1001)}, "'name' has 1,001 characters"),
    (SHEETS, {"1": {"name": "a", "columns": {}}}, "'columns' is no list"),
    (SHEETS, {"1": {"name": "a", "columns": [{"nam": "x"}]}}, "column 0: malformed entry"),
    (LINKS, {"edge_all_types": {"9,77": ["join_key"]}}, "no sheet '77'"),
    (LINKS, {"edge_all_types": {"9,9": ["join_key"]}}, "no edge with itself"),
    (LINKS, {"edge_all_types": {"9,10": ["cousin"]}}, "'cousin' is none of"),
    (LINKS, {"edge_all_types": {"9,10": []}}, "the types must be there"),
    (
        LINKS,
        {"edge_all_types": {"9,10": ["join_key"], "10,9": ["join_key"]}},
        "the pair is there already, the other way round",
    ),
    (LINKS, EDGES | {"edges": [[9, 10], [10, 9]]}, "edge 1: .* is listed twice"),
    (LINKS, EDGES | {"edges": [[9, 11]]}, "edge 0: .* has no types"),
    (LINKS, EDGES | {"edges": []}, "'edges' has 0 pairs, 'edge_all_types' 1"),
    (
        LINKS,
        EDGES | {"edge_types": {"9,10": "aggregation"}},
        "'aggregation' is not in 'edge_all_types'",
    ),
    (LINKS, EDGES | {"edge_types": {"9,10": 3}}, "3 is not in 'edge_all_types'"),
    (LINKS, EDGES | {"stats": [3]}, "'stats' must be an object"),
    (LINKS, EDGES | {"stats": {"total_sheets": 1002}}, "total_sheets is 1002, but there are 3"),
    (
        LINKS,
        EDGES | {"edge_directions": {"9,10": {"join_key": {"source": 9, "target": 11}}}},
        "the direction of '9,10' is of other sheets",
    ),
]


@pytest.mark.parametrize(("name", "content", "message"), BAD)
def test_what_does_not_fit_together_is_named(corpus, name, content, message):
    write(corpus / name, content)
    with pytest.raises(CorpusError, match=message) as error:
        load_industrytab(corpus)
    assert str(corpus / name) in str(error.value)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
FILES = {
    "sheets.json": {
        "9": sheet(9, "a", "Month", num_rows=1, workbook="w"),
        "10": sheet(10, "b", "Mth"),
    },
    "query.json": asked(
        negative_sheet_ids=[],
        hard_negative_sheet_ids=[10],
        hard_negative_types={"10": "same_schema_wrong_year"},
        query_type="comparison",
    ),
    "train.json": [
        {"sheet_id_1": 9, "sheet_id_2": 10, "matched_columns": [["Month", "Mth"]], "label": 1}
    ],
    "dependency_edges.json": {
        "edges": [[9, 10]],
        "edge_types": {"9,10": "join_key"},
        "edge_all_types": {"9,10": ["join_key"]},
        "edge_directions": {"9,10": {"join_key": {"source": 9, "target": 10}}},
        "stats": {"total_edges": 1, "total_sheets": 2},
    },
}


def places(value, path=()):
    """Every place in a JSON value."""
    yield path
    inner = (
        value if isinstance(value, dict) else range(len(value) if isinstance(value, list) else 0)
    )
    for key in inner:
        yield from places(value[key], (*path, key))


def changed(value, path, other):
    if not path:
        return other
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(value[path[0]], path[1:], other)
    return copy


@pytest.mark.parametrize("name", FILES)
@given(data=st.data())
def test_any_other_value_anywhere_is_taken_or_a_corpus_error(tmp_path_factory, name, data):
    folder = tmp_path_factory.mktemp("corpus")
    for each, content in FILES.items():
        write(folder / each, content)
    place = data.draw(st.sampled_from(list(places(FILES[name]))))
    write(folder / name, changed(FILES[name], place, data.draw(ANYTHING)))
    try:
        load_industrytab(folder)
        load_pairs(folder / "train.json", load_sheets(folder / "sheets.json"))
    except CorpusError as error:
        assert name in str(error) or name == "sheets.json"  # others name its sheets


def test_what_the_other_values_are_put_into_can_be_read(tmp_path):
    for name, content in FILES.items():
        write(tmp_path / name, content)
    assert len(load_industrytab(tmp_path).links) == 1
    assert load_pairs(tmp_path / "train.json", load_sheets(tmp_path / "sheets.json"))


@pytest.mark.parametrize(
    "row",
    [
        sheet(1, "a", preview=[["Ada", 41]]),
        {"name": "a", "columns": [{"name": "Name", "example": "Ada"}]},
        {"name": "a", "columns": [{"name": "Name", "values": ["Ada"]}]},
    ],
)
def test_a_field_that_could_hold_cell_values_is_refused(tmp_path, row):
    write(tmp_path / "sheets.json", {"1": row})
    with pytest.raises(CorpusError, match=r"could hold cell values; .* remove it"):
        load_sheets(tmp_path / "sheets.json")


def test_fields_of_made_corpora_are_kept(tmp_path):
    row = sheet(1, "b__c", "x", workbook="b.xlsx", sheet="c", path="a/b.xlsx", category="Sales")
    write(tmp_path / "sheets.json", {"1": row})
    (record,) = load_sheets(tmp_path / "sheets.json")
    assert (record.name, record.path, record.sheet) == ("b__c", "a/b.xlsx", "c")
    assert record.metadata == {"category": "Sales"}


PAIR = {"id": 0, "sheet_id_1": 9, "sheet_id_2": 10, "matched_columns": None, "label": 0}


def test_pairs_are_read_with_their_matched_columns(corpus):
    matched = PAIR | {"label": 1, "matched_columns": [["Month", "Net"]]}
    write(corpus / "train.json", [PAIR, matched])
    assert load_pairs(corpus / "train.json", load_sheets(corpus / "sheets.json")) == (
        SheetPair("9", "10", related=False),
        SheetPair("9", "10", related=True, matched_columns=(("Month", "Net"),)),
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sheet_id_2": 77}, "pair 0: there is no sheet '77'"),
        ({"sheet_id_2": 9}, "pair 0: sheet '9' is paired with itself"),
        ({"sheet_id_1": None}, "pair 0, 'sheet_id_1': a sheet id is"),
        ({"label": 2}, "'label' must be 0 or 1, not 2"),
        ({"label": True}, "'label' must be 0 or 1, not True"),
        ({"matched_columns": ["Month"]}, "a list of two headers each, not 'Month'"),
        ({"matched_columns": [["Month", "Gross"]]}, "sheet '10' has no column 'Gross'"),
    ],
)
def test_a_pair_that_does_not_fit_is_named(corpus, change, message):
    write(corpus / "train.json", [PAIR | change])
    with pytest.raises(CorpusError, match=message):
        load_pairs(corpus / "train.json", load_sheets(corpus / "sheets.json"))


def test_the_queries_of_614_are_taken_when_a_user_puts_them_there(data, tmp_path):
    for name in ("sheets.json", "dependency_edges.json", "query_legacy_134.json"):
        (tmp_path / name).write_bytes((data / "industrytab_614" / name).read_bytes())
    row = {
        "query": "made for this test",
        "positive_sheet_ids": [0],
        "negative_sheet_ids": [1],
        "hard_negative_sheet_ids": [2],
        "hard_negative_types": {"2": "same_schema_wrong_year"},
        "query_type": "semantic_lookup",
        "dependency_type": "none",
    }
    write(tmp_path / "query.json", [row | {"query": f"made {n}"} for n in range(1453)])
    dataset = load_industrytab(tmp_path)
    assert (dataset.name, len(dataset.queries)) == ("industrytab_614", 1453)


@pytest.mark.parametrize(("name", "number", "related"), [("1k", 3006, 501), ("614", 1842, 307)])
def test_the_published_pairs_fit_their_sheets(data, name, number, related):
    folder = data / f"industrytab_{name}"
    pairs = load_pairs(folder / "train.json", load_sheets(folder / "sheets.json"))
    assert (len(pairs), sum(pair.related for pair in pairs)) == (number, related)


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
    ('[{"source": 1, "target": 2, "type": "x", "weight": NaN}]', "NaN is no number"),
    ('[{"source": 1, "target": 2, "type": "x", "weight": 1e999}]', "'weight' must be above 0"),
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
