import json

import pytest

from sat_retriever.datasets import tables
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.tables import is_held_out, load_tables, plain_names, table_record
from sat_retriever.errors import CorpusError
from sat_retriever.records.contents import CellText, Role
from sat_retriever.records.sheets import ColumnType
from tests.places import needs

IDS = [f"t{number}" for number in range(8)]  # of both parts


def table(table_id, **more):
    rows = [["Ada Lovelace", "1815"], ["Alan Turing", "1912"]]
    found = {"id": table_id, "workbook": "Pioneers", "sheet": "People", "headers": ["Name", "Born"]}
    return {**found, "rows": rows, **more}


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    lines(tmp_path / "toy_tables.jsonl", [table(each) for each in IDS])
    questions = [{"query": f"Who is in {each}?", "positives": [each]} for each in IDS]
    lines(tmp_path / "toy_questions.jsonl", questions)
    lines(tmp_path / "ottqa_train_tables.jsonl", [table("ott", workbook="Others")])
    return tmp_path


def test_a_table_is_read_with_types_contents_and_role(folder):
    record = load_tables(folder, "toy").records[0]
    assert (record.sheet_id, record.workbook, record.sheet) == ("t0", "Pioneers", "People")
    assert [(each.name, each.type) for each in record.columns] == [
        ("Name", ColumnType.TEXT),
        ("Born", ColumnType.INTEGER),
    ]
    assert (record.num_rows, record.num_cols, record.range) == (3, 2, "A1:B3")
    assert record.role is Role.DATA
    assert record.contents is not None
    assert record.contents.tables[0].labels == (
        CellText("A2", "Ada Lovelace"),
        CellText("A3", "Alan Turing"),
    )


def test_the_first_row_is_the_header_even_if_it_looks_like_data():
    rows = [["1", "2"], ["3", "4"]]
    record = table_record("t", ("a", "b"), ["2001", "2002"], rows)
    assert [each.name for each in record.columns] == ["2001", "2002"]
    assert record.tables[0].num_rows == 2


def test_a_row_may_be_shorter_or_longer_than_the_header():
    record = table_record("t", ("a", "b"), ["Name", "Born"], [["Ada"], ["Alan", "1912", "London"]])
    assert record.range == "A1:C3"


def test_a_table_without_rows_or_headers_is_read():
    assert table_record("t", ("a", "b"), ["Name"], []).num_rows == 1
    assert table_record("t", ("a", "b"), [], []).sheet_id == "t"


def test_without_titles_names_tell_nothing(folder):
    records = load_tables(folder, "toy", titles=False).records
    names = [(each.workbook, each.sheet) for each in records]
    assert names == [plain_names(number) for number in range(1, 9)]
    assert [each.sheet_id for each in records] == IDS


def test_distractors_stand_behind_the_own_tables(folder):
    found = load_tables(folder, "toy", distractors=True)
    assert [each.sheet_id for each in found.records] == [*IDS, "ott"]
    assert len(found.queries) == len(IDS)
    assert [path.name for path in found.files][-1] == "ottqa_train_tables.jsonl"


def test_the_parts_share_the_tables_and_questions_out(folder):
    train, held = (load_tables(folder, "toy", part=part) for part in ("train", "validation"))
    ids = [{each.sheet_id for each in found.records} for found in (train, held)]
    assert ids[0] | ids[1] == set(IDS)
    assert not ids[0] & ids[1]
    assert ids[1]
    for found, own in zip((train, held), ids, strict=True):
        assert {each.positives[0] for each in found.queries} == own


def test_distractors_stand_in_every_part(folder):
    found = load_tables(folder, "toy", part="validation", distractors=True)
    assert found.records[-1].sheet_id == "ott"


def test_a_question_about_tables_of_both_parts_is_in_none(folder):
    held = next(each for each in IDS if is_held_out(each))
    other = next(each for each in IDS if not is_held_out(each))
    lines(folder / "toy_questions.jsonl", [{"query": "Who?", "positives": [held, other]}])
    parts = ("train", "validation", "all")
    sizes = [len(load_tables(folder, "toy", part=part).queries) for part in parts]
    assert sizes == [0, 0, 1]


def test_a_quarter_of_the_tables_is_held_out():
    assert sum(is_held_out(f"table {number}") for number in range(4_000)) == pytest.approx(
        1_000, 0.1
    )


def test_the_name_says_what_was_chosen(folder):
    assert load_tables(folder, "toy").name == "toy"
    found = load_tables(folder, "toy", titles=False, distractors=True, part="train")
    assert found.name == "toy_train_untitled_distractors"


def test_an_unknown_part_is_refused(folder):
    with pytest.raises(CorpusError, match="no part 'dev'; choose from all, train, validation"):
        load_tables(folder, "toy", part="dev")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CorpusError, match=r"toy_tables\.jsonl is missing"):
        load_tables(tmp_path, "toy")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (table("x", headers="Name"), "line 2: 'headers' must be a list of texts, not 'Name'"),
        (table("x", rows=[["a"], [1]]), r"line 2: row 1 must be a list of texts, not \[1\]"),
        (table("x", rows=None), "line 2: 'rows' must be a list of rows, not None"),
        (table("x", workbook=3), "line 2: 'workbook' must be a text, not 3"),
        (table(" "), "line 2: a sheet id is a text or a whole number"),
        (table("t0"), "line 2: the table 't0' is there already"),
        ([1], r"line 2: an object is needed, not \[1\]"),
    ],
)
def test_a_malformed_table_is_refused_with_its_line(folder, row, message):
    lines(folder / "toy_tables.jsonl", [table("t0"), row])
    with pytest.raises(CorpusError, match=message):
        load_tables(folder, "toy")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"query": "Who?"}, "'positives'"),
        ({"query": "Who?", "positives": []}, "at least one of 'positives'"),
        ({"query": " ", "positives": ["t0"]}, "a text 'query' and at least one"),
        ({"query": None, "positives": ["t0"]}, "'query' must be a text, not None"),
        ({"query": "Who?", "positives": ["t9"]}, "there is no table 't9'"),
    ],
)
def test_a_malformed_question_is_refused_with_its_line(folder, row, message):
    lines(folder / "toy_questions.jsonl", [row])
    with pytest.raises(CorpusError, match=f"toy_questions.jsonl, line 1: .*{message}"):
        load_tables(folder, "toy")


@pytest.mark.parametrize("line", [b"{", b'{"id": "a", "id": "b"}', b'{"id": NaN}', b"\xff\xfe"])
def test_a_line_that_is_no_json_is_refused(folder, line):
    (folder / "toy_tables.jsonl").write_bytes(line + b"\n")
    with pytest.raises(CorpusError, match=r"toy_tables\.jsonl, line 1"):
        load_tables(folder, "toy")


def test_a_line_without_end_is_not_read_whole(folder, monkeypatch):
    monkeypatch.setattr(tables, "MAX_LINE", 1_000)
    (folder / "toy_tables.jsonl").write_text(json.dumps(table("t", sheet="x" * 1_000)), "utf-8")
    with pytest.raises(CorpusError, match="line 1 has more than 1,000 bytes"):
        load_tables(folder, "toy")


def test_a_distractor_with_the_id_of_an_own_table_is_refused(folder):
    lines(folder / "ottqa_train_tables.jsonl", [table("t3")])
    with pytest.raises(CorpusError, match=r"the table 't3' is in .*toy_tables\.jsonl too"):
        load_tables(folder, "toy", distractors=True)


def test_the_parts_of_real_tables_are_disjoint_and_whole():
    data = needs("data/contents")
    held = load_tables(data, "wikitablequestions_train", part="validation")
    assert len(held.records) == 402
    assert len(held.queries) == 3_393
    assert {each.positives[0] for each in held.queries} <= {each.sheet_id for each in held.records}
    assert held.queries[0] == Query(held.queries[0].text, held.queries[0].positives)
