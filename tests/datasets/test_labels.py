import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.datasets.labels import Query, load_labels, userlabels
from sat_retriever.datasets.labels.write import FORMS, write_queries
from sat_retriever.errors import CorpusError

HEADER = "query,sheet_id,relevance\n"


def labels(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# ---- what is read


def test_jsonl_has_one_query_a_line(tmp_path):
    rows = [
        {"query": "net profit", "positives": ["a.xlsx#P"], "negatives": ["b.xlsx#Q"], "type": "x"},
        {"query": "rates", "positives": [7]},
    ]
    path = labels(tmp_path, "own.jsonl", "\n".join(map(json.dumps, rows)))
    assert load_labels(path) == (
        Query("net profit", ("a.xlsx#P",), ("b.xlsx#Q",), query_type="x"),
        Query("rates", ("7",)),
    )


def test_csv_has_one_row_for_each_query_and_sheet(tmp_path):
    path = labels(
        tmp_path,
        "own.csv",
        f"{HEADER}net profit,a.xlsx#P,1\nrates,c.xlsx#R,2.5\nnet profit,b.xlsx#Q,0\n",
    )
    assert load_labels(path) == (
        Query("net profit", ("a.xlsx#P",), ("b.xlsx#Q",)),
        Query("rates", ("c.xlsx#R",)),
    )


def test_the_columns_of_a_csv_may_stand_in_any_order(tmp_path):
    path = labels(tmp_path, "own.csv", "Relevance, sheet_id ,QUERY\n1,a,q\n")
    assert load_labels(path) == (Query("q", ("a",)),)


@pytest.mark.parametrize("name", ["own.jsonl", "own.csv"])
def test_byte_order_mark_windows_line_ends_and_blank_lines_change_nothing(tmp_path, name):
    rows = ['{"query": "q", "positives": ["a"]}', '{"query": "p", "positives": ["b"]}']
    if name.endswith("csv"):
        rows = [HEADER.strip(), "q,a,1", "p,b,1"]
    text = "\ufeff" + "\r\n\r\n".join(rows) + "\r\n\r\n"
    assert load_labels(labels(tmp_path, name, text)) == (Query("q", ("a",)), Query("p", ("b",)))


def test_a_cell_of_a_csv_may_hold_commas_quotes_and_line_ends(tmp_path):
    path = labels(tmp_path, "own.csv", f'{HEADER}"a, ""b""\nc","x,y.xlsx#Q ",1\n')
    assert load_labels(path) == (Query('a, "b"\nc', ("x,y.xlsx#Q ",)),)


def test_published_and_legacy_names_are_read_from_json(tmp_path):
    published = {
        "query": "q",
        "positive_sheet_ids": [1],
        "negative_sheet_ids": [2],
        "hard_negative_sheet_ids": [3],
        "hard_negative_types": {"3": "same_schema_wrong_year"},
        "query_type": "comparison",
        "dependency_type": "none",
        "is_dependency_heavy": False,
        "split": "train",
    }
    legacy = {"query": "old", "sheet_ids": [1], "sheet_ids_negative": [2]}
    assert load_labels(labels(tmp_path, "query.json", json.dumps([published, legacy]))) == (
        Query(
            "q",
            ("1",),
            ("2",),
            ("3",),
            {"3": "same_schema_wrong_year"},
            query_type="comparison",
            dependency_type="none",
        ),
        Query("old", ("1",), ("2",)),
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "a.jsonl",
            '{"query": "q", "positives": ["a", "a"]}\n{"query": "p", "positives": ["x"]}\n'
            '{"query": " q ", "positives": ["b"], "negatives": ["c"], "type": "t"}',
        ),
        (
            "a.json",
            '[{"query": "q", "sheet_ids": ["a"]}, {"query": "p", "sheet_ids": ["x"]},'
            '{"query": " q ", "sheet_ids": ["a", "b"], "sheet_ids_negative": ["c"],'
            '"query_type": "t"}]',
        ),
        ("a.csv", f"{HEADER}q,a,1\nq,a,3\np,x,1\n q ,b,1\nq,c,0\n"),
    ],
)
def test_rows_of_equal_queries_are_joined_in_their_first_place(tmp_path, name, text):
    first, second = load_labels(labels(tmp_path, name, text))
    kind = "" if name.endswith("csv") else "t"
    assert first == Query("q", ("a", "b"), ("c",), query_type=kind)
    assert second.text == "p"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "a.jsonl",
            '{"query": "q", "positives": ["a"]}\n{"query": "p", "positives": ["x"]}\n'
            '{"query": " q ", "positives": ["b"]}\n{"query": "q", "positives": ["a"]}\n'
            '{"query": "n", "positives": []}\n{"query": "n", "positives": []}',
            [{"q": 3}],
        ),
        (
            "a.json",
            '[{"query": "q", "sheet_ids": ["a"]}, {"query": "q", "sheet_ids": ["a"]}]',
            [{"q": 2}],
        ),
        ("once.json", '[{"query": "q", "sheet_ids": ["a"]}]', []),
        ("a.csv", f"{HEADER}q,a,1\np,x,1\nq,b,1\n", []),
    ],
)
def test_queries_that_are_joined_are_told_but_for_rows_of_a_csv(tmp_path, name, text, said):
    told = []
    load_labels(labels(tmp_path, name, text), told.append)
    assert told == said


def test_a_query_without_a_relevant_sheet_is_left_out(tmp_path):
    path = labels(tmp_path, "own.csv", f"{HEADER}q,a,0\np,a,1\n")
    assert [query.text for query in load_labels(path)] == ["p"]


# ---- what is refused


REFUSED = [
    ("a.txt", "x", r"a\.txt: labels are read from \.jsonl, \.csv or \.json, not '\.txt'"),
    ("a.csv", "", "is empty; the first line must be query,sheet_id,relevance"),
    ("a.csv", HEADER, "holds no query with a relevant sheet"),
    (
        "a.csv",
        "query,sheet_id,label\nq,a,1",
        "line 1: the columns must be .* 'query,sheet_id,label'",
    ),
    ("a.csv", "query,sheet_id\nq,a", "line 1: the columns must be query,sheet_id,relevance"),
    ("a.csv", "query;sheet_id;relevance\nq;a;1", "separated by commas, not 'query;sheet_id"),
    ("a.csv", f"{HEADER}q,a,1,x", "line 2: 4 cells, 3 are needed"),
    ("a.csv", f"{HEADER}q,a", "line 2: 2 cells, 3 are needed"),
    ("a.csv", f"{HEADER}q,a,1\n,b,1", "line 3: 'query' must be a text with words, not ''"),
    ("a.csv", f"{HEADER}q,,1", "line 2: 'sheet_id' is empty"),
    ("a.csv", f"{HEADER}q,a,yes", "line 2: 'relevance' must be 0 .* not 'yes'"),
    ("a.csv", f"{HEADER}q,a,-1", "line 2: 'relevance' must be 0 .* not '-1'"),
    ("a.csv", f"{HEADER}q,a,nan", "line 2: 'relevance' must be 0 .* not 'nan'"),
    ("a.csv", f"{HEADER}q,a,inf", "line 2: 'relevance' must be 0 .* not 'inf'"),
    ("a.csv", f"{HEADER}q,a,", "line 2: 'relevance' must be 0 .* not ''"),
    ("a.csv", f"{HEADER}q,a,1\nq,a,0", "line 3: sheet 'a' is both relevant and not relevant"),
    ("a.csv", f'{HEADER}"q,a,1\n', "no valid csv"),
    ("a.csv", b"query,sheet_id,relevance\n\xff\xfe,1,1\n", "is not UTF-8 text"),
    ("a.jsonl", "", "holds no query with a relevant sheet"),
    ("a.jsonl", "{}\n", "line 1: 'query' must be a text with words, not None"),
    ("a.jsonl", '\n\n{"query": 3}\n', "line 3: 'query' must be a text with words, not 3"),
    ("a.jsonl", '{"query": "q"}\n', "line 1: 'positives' is missing"),
    ("a.jsonl", '{"query": "q", "positives": "a"}\n', "line 1, 'positives': a list of sheet ids"),
    ("a.jsonl", '{"query": "q", "positives": [null]}\n', "a sheet id is a text or a whole number"),
    ("a.jsonl", '{"query": "q", "positives": [true]}\n', "a whole number, not True"),
    ("a.jsonl", '{"query": "q", "positives": [" "]}\n', "a sheet id is a text or a whole number"),
    ("a.jsonl", '{"query": "q", "positives": ["a"], "typ": 1}\n', "line 1: 'typ' is unknown; the"),
    ("a.jsonl", '{"query": "q", "positives": ["a"], "type": 1}\n', "'type' must be a text, not 1"),
    (
        "a.jsonl",
        '{"query": "q", "positives": ["a"], "negatives": ["a"]}\n',
        "line 1: 'q' has sheet 'a' both as relevant and as not",
    ),
    (
        "a.jsonl",
        '{"query": "q", "positives": ["a"], "type": "x"}\n'
        '{"query": "q", "positives": ["a"], "type": "y"}\n',
        "line 2: 'q' is of type 'y', but of 'x' in .*line 1",
    ),
    ("a.jsonl", "[1]\n", "line 1: an object is needed"),
    ("a.jsonl", '{"query": "q"\n', "line 1 is not valid JSON"),
    ("a.jsonl", "[" * 100_000, "line 1 is not valid JSON"),
    ("a.jsonl", b'{"query": "\xff"}\n', "is not UTF-8 text"),
    ("a.json", "{}", "must hold a list, not dict"),
    ("a.json", '[{"query": "q", "ids": [1]}]', "entry 0: 'ids' is unknown; the fields are"),
    ("a.json", '[{"query": "q"}]', "entry 0: needs a text 'query' and one of positive_sheet_ids"),
    ("a.json", '[{"query": "", "sheet_ids": [1]}]', "entry 0: 'query' must be a text with words"),
    (
        "a.json",
        '[{"query": "q", "sheet_ids": [1], "hard_negative_sheet_ids": [1]}]',
        "entry 0: 'q' has sheet '1' both",
    ),
    (
        "a.json",
        '[{"query": "q", "sheet_ids": [1], "hard_negative_types": {"2": 3}}]',
        "'hard_negative_types' must give a name for each sheet",
    ),
    (
        "a.json",
        '[{"query": "q", "sheet_ids": [1], "query_type": 3}]',
        "'query_type' must be a text",
    ),
    (
        "a.json",
        '[{"query": "q", "sheet_ids": [1], "positive_sheet_ids": [2]}]',
        "needs a text 'query' and one of positive_sheet_ids",
    ),
    (
        "a.jsonl",
        '{"query": "q", "positives": ["a"], "positives": ["b"]}',
        "the field 'positives' is there twice",
    ),
    ("a.jsonl", '{"query": "q\\ud800", "positives": ["a"]}', "surrogates not allowed"),
    ("a.jsonl", '{"query": "q", "positives": [NaN]}', "NaN is no number that JSON has"),
    ("a.jsonl", "[" * 50_000, "is not valid JSON"),
]


@pytest.mark.parametrize(("name", "text", "message"), REFUSED)
def test_what_cannot_be_used_is_named_with_file_and_place(tmp_path, name, text, message):
    path = labels(tmp_path, name, text)
    with pytest.raises(CorpusError, match=message) as error:
        load_labels(path)
    assert str(path) in str(error.value)


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(CorpusError, match=r"own\.csv is missing"):
        load_labels(tmp_path / "own.csv")
    (tmp_path / "own.jsonl").mkdir()
    with pytest.raises(CorpusError, match=r"own\.jsonl is a folder"):
        load_labels(tmp_path / "own.jsonl")


@pytest.mark.parametrize(("name", "start"), [("a.jsonl", '{"query": "'), ("a.csv", HEADER)])
def test_a_line_without_end_is_refused_and_not_read_whole(tmp_path, monkeypatch, name, start):
    monkeypatch.setattr(userlabels, "MAX_LINE", 100)
    with pytest.raises(CorpusError, match="longer than 100 characters"):
        load_labels(labels(tmp_path, name, start + "x" * 300))


def test_there_are_limits_to_bytes_queries_and_the_length_of_a_query(tmp_path, monkeypatch):
    with pytest.raises(CorpusError, match="4,001 characters, 4,000 are allowed"):
        load_labels(labels(tmp_path, "a.csv", f"{HEADER}{'x' * 4001},a,1\n"))
    path = labels(tmp_path, "b.csv", f"{HEADER}a,a,1\nb,a,1\nc,a,1\n")
    monkeypatch.setattr(userlabels, "MAX_QUERIES", 2)
    with pytest.raises(CorpusError, match="more than 2 queries"):
        load_labels(path)
    monkeypatch.setattr(userlabels, "MAX_BYTES", 10)
    with pytest.raises(CorpusError, match="10 at most"):
        load_labels(path)


# ---- what is written can be read


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=20)
WORDS = TEXTS.map(str.strip).filter(bool)


@st.composite
def queries(draw):
    texts = draw(st.lists(WORDS, min_size=1, max_size=5, unique=True))
    found = []
    for text in texts:
        sheets = draw(st.lists(TEXTS.filter(str.strip), min_size=1, max_size=6, unique=True))
        cut = draw(st.integers(1, len(sheets)))
        found.append(Query(text, tuple(sheets[:cut]), tuple(sheets[cut:])))
    return tuple(found)


@pytest.mark.parametrize("suffix", FORMS)
@given(queries())
def test_labels_that_were_written_are_read_as_they_were(tmp_path_factory, suffix, made):
    path = tmp_path_factory.mktemp("labels") / f"own{suffix}"
    assert write_queries(path, made) == len(made)
    assert load_labels(path) == made


def test_the_published_form_keeps_types_and_hard_negatives(tmp_path):
    query = Query(
        "q",
        ("a",),
        ("b",),
        ("c",),
        {"c": "same_schema_wrong_year"},
        query_type="comparison",
        dependency_type="temporal_alignment",
    )
    write_queries(tmp_path / "query.json", [query])
    assert load_labels(tmp_path / "query.json") == (query,)
    write_queries(tmp_path / "query.csv", [query])
    rows = list(csv.reader(io.StringIO((tmp_path / "query.csv").read_bytes().decode())))
    assert rows[1:] == [["q", "a", "1"], ["q", "b", "0"], ["q", "c", "0"]]
