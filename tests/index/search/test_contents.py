"""Search by what stands in cells: BM25 against a slow loop, bounds, codes, phrases, spelling."""

import math
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from sat_retriever import Column, SheetIndex, SheetRecord, SheetRetriever
from sat_retriever.index.search.scores import BESIDE_MAIN, DOCUMENTATION
from sat_retriever.index.store.rows import NewWorkbook, SheetRow, WorkbookState
from sat_retriever.index.sync.executor import token_text
from sat_retriever.records.contents import CellText, Role, SheetContents, TableContents
from sat_retriever.text.contents import asked_words, content_words
from sat_retriever.text.lexical import B_CONTENTS, K1
from sat_retriever.text.serialize import Serialization
from tests.fakes import HashedEncoder
from tests.index.store.older import WITHOUT_MAIN


def sheet(sheet_id, *texts, name="Sheet1", role=Role.DATA):
    """A sheet whose cells hold some texts, the first a note and the others values."""
    cells = [CellText(f"A{n}", text) for n, text in enumerate(texts, 1)]
    found = SheetContents(tuple(cells[:1]), (TableContents(values=tuple(cells[1:])),))
    return SheetRecord(sheet_id, name, role=role, contents=found if texts else None)


RECORDS = [
    sheet("a", "Fares by line", "MTA New York City Transit", "Bronx", "X-1042"),
    sheet("b", "Fares of 2021", "New Jersey", "York", "City Transit MTA"),
    sheet("c", "Emissions of trucks", "NOx", "X-1043", "Bronx"),
    sheet("d", "Order 2023-0815", "Queens"),
    sheet("e", name="Bronx"),
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.sat"


@pytest.fixture
def index(path):
    with SheetIndex.create(path, HashedEncoder()) as opened:
        opened.add_records(RECORDS)
        yield opened


def found(index, query, **options):
    """Candidates by sheet id."""
    candidates = index.candidates(index.question(query, **options), 50)
    return {candidate.sheet_id: candidate for candidate in candidates}


def first(index, query):
    """The best sheet by names and contents."""
    return next(iter(found(index, query, dense_weight=0.0)))


def slow_scores(records, query):
    """BM25 as `Bm25.of_contents` says, one sheet and word at a time."""
    words = {r.sheet_id: content_words(r.contents).matched for r in records if r.contents}
    mean = sum(map(len, words.values())) / len(words)
    scores, limit = dict.fromkeys((r.sheet_id for r in records), 0.0), 0.0
    for word in asked_words(query):
        having = [each for each, own in words.items() if word in own]
        if not having:
            continue
        idf = math.log(1 + (len(words) - len(having) + 0.5) / (len(having) + 0.5))
        limit += idf * (K1 + 1) / (1 + K1 * (1 - B_CONTENTS))
        for each in having:
            norm = 1 - B_CONTENTS + B_CONTENTS * len(words[each]) / mean
            scores[each] += idf * (K1 + 1) / (1 + K1 * norm)
    return {each: score / limit if limit else 0.0 for each, score in scores.items()}


@pytest.mark.parametrize(
    "query", ["fares", "bronx transit", "order 2023-0815 queens", "nothing here", "x-1042 NOx"]
)
def test_contents_score_as_the_slow_loop_does(index, query):
    scores = {each: c.contents for each, c in found(index, query).items()}
    assert scores == pytest.approx(slow_scores(RECORDS, query), abs=1e-6)


def better_places(index, query):
    """What words give each sheet, one word and one sheet at a time."""
    scores = index.question(query).scores
    total, most = dict.fromkeys(scores.snapshot.ids.tolist(), 0.0), 0.0
    inside = 0.6 * (1 - scores.matches.covered)
    for word in scores.matches.found:
        places = [
            (each, counts) for each, counts in ((word.names, 1), (word.contents, inside)) if each
        ]
        idf = math.log(1 + (len(total) - word.sheets + 0.5) / (word.sheets + 0.5))
        most += idf * bool(places)
        for row, sheet in enumerate(total):
            given = [
                counts * float(each.scores[list(each.rows).index(row)]) / each.limit
                for each, counts in places
                if row in each.rows
            ]
            total[sheet] += idf * max(given, default=0.0)
    return {sheet: score / most for sheet, score in total.items()}


@pytest.mark.parametrize("query", ["bronx fares", "transit bronx order", "order 2023-0815 queens"])
def test_a_word_counts_by_the_better_of_its_two_places(index, query):
    scores = index.question(query).scores
    expected = better_places(index, query)
    assert scores.matches.together.tolist() == pytest.approx([*expected.values()], abs=1e-6)


def test_a_word_in_both_places_counts_once(tmp_path):
    with SheetIndex.create(tmp_path / "both.sat", HashedEncoder()) as index:
        index.add_records(
            [sheet("both", "Bronx", name="Bronx"), sheet("name", name="Bronx"), *RECORDS[1:4]]
        )
        scores = index.question("bronx").scores
        expected = better_places(index, "bronx")
        assert scores.matches.together.tolist() == pytest.approx([*expected.values()], abs=1e-6)
        assert scores.matches.together.max() <= 1


def test_a_cell_counts_for_nothing_where_a_name_is_all_that_is_asked_for(tmp_path):
    with SheetIndex.create(tmp_path / "named.sat", HashedEncoder()) as index:
        index.add_records([sheet("named", name="Bronx"), sheet("cell", "Bronx"), *RECORDS[1:2]])
        scores = found(index, "bronx")
        assert scores["named"].lexical == pytest.approx(scores["named"].together)
        assert scores["cell"].together < 0.6 * scores["cell"].contents


def test_the_score_is_words_and_the_cosine(index):
    for each in found(index, "bronx fares", dense_weight=0.25).values():
        expected = 0.25 * each.dense + 0.75 * each.together
        assert each.score == pytest.approx(expected, abs=1e-6)
    assert found(index, "bronx")["e"].lexical > 0 == found(index, "bronx")["e"].contents


def test_a_question_without_a_word_of_any_cell_counts_words_of_names_alone(index):
    for each in found(index, "sheet1", dense_weight=0.0).values():
        assert each.score == each.lexical


def test_a_question_counts_the_cosines_as_it_asks_or_as_contents_allow(index, tmp_path):
    assert index.question("bronx", dense_weight=0.9).dense_weight == 0.9
    with SheetIndex.create(tmp_path / "b.sat", HashedEncoder(), dense_weight=0.9) as other:
        other.add_records([RECORDS[4]])
        assert other.question("bronx").dense_weight == 0.9
        other.add_records([RECORDS[0]])
        assert other.question("bronx").dense_weight == 0.5
        assert other.dense_weight == 0.9


@pytest.mark.parametrize(
    ("query", "best"),
    [("X-1042", "a"), ("x-1043", "c"), ("nox", "c"), ("2023-0815", "d"), ("queens", "d")],
)
def test_a_code_or_a_value_finds_its_sheet(index, query, best):
    assert first(index, query) == best


def test_sheets_that_hold_a_quoted_phrase_come_first(index):
    assert first(index, '"city transit mta"') == "b"
    for query, best in (('fares "MTA New York City Transit"', "a"), ('"new jersey" bronx', "b")):
        for weight in (0.0, 0.5, 1.0):
            candidates = list(found(index, query, dense_weight=weight).values())
            assert (candidates[0].sheet_id, candidates[0].phrase) == (best, True)
            assert not any(each.phrase for each in candidates[1:])
        for reranker in (None, "links"):
            hits = SheetRetriever(index, reranker).retrieve(query, 3)
            assert hits[0].sheet_id == best
            assert [hit.score for hit in hits] == sorted((h.score for h in hits), reverse=True)


def test_a_phrase_of_names_counts_and_one_that_no_sheet_holds_changes_nothing(index):
    assert found(index, '"bronx"')["e"].phrase
    quoted, plain = found(index, '"bronx fares"'), found(index, "bronx fares")
    assert {k: c.score for k, c in quoted.items()} == {k: c.score for k, c in plain.items()}


def test_without_contents_one_quoted_word_does_not_count(path):
    with SheetIndex.create(path, HashedEncoder()) as opened:
        names = ("Party", "Party members")
        opened.add_records([SheetRecord(name, name) for name in names], find_links=False)
        assert not any(each.phrase for each in found(opened, 'names with "party"').values())
        two = found(opened, 'names of "party members"')
        assert [two[name].phrase for name in names] == [False, True]


def test_a_misspelt_word_finds_its_sheet_and_the_reason_names_the_word_that_was_taken(index):
    assert first(index, "emisions") == "c"
    (hit, *_) = SheetRetriever(index, None).retrieve("emisions Quens", 1)
    question = index.question("truks of quens")
    assert question.read_as == "trucks of queens"
    assert (question.text, hit.why.contents > 0) == ("truks of quens", True)
    with_header = SheetRecord("h", "Ledger", columns=(Column("x"),), contents=RECORDS[3].contents)
    index.add_records([with_header])
    (hit,) = SheetRetriever(index, None).retrieve("legder", 1)
    assert (hit.sheet_id, hit.why.words) == ("h", ("ledger",))


def test_words_that_some_sheet_has_are_never_read_otherwise(index):
    for query in ("fares york", "Sheet1 bronx", "NOx", "the which"):
        assert index.question(query).read_as == query


def test_a_removed_sheet_leaves_no_word_behind(index, path):
    index.remove(["c"])
    assert index.question("emisions").read_as == "emisions"
    assert found(index, "nox trucks") == found(index, "nothing")
    with closing(sqlite3.connect(path)) as file:
        spelled = {row[0] for row in file.execute("SELECT word FROM spellings")}
        assert {"emissions", "trucks"}.isdisjoint(spelled)
        assert {"bronx", "fares", "queens"} <= spelled
        left = "SELECT count(*) FROM content_words WHERE content_words MATCH ?"
        counts = [file.execute(left, (word,)).fetchone() for word in ("nox", "bronx")]
    assert counts == [(0,), (1,)]


def test_a_changed_sheet_is_found_by_its_new_words_alone(index):
    index.add_records([sheet("d", "Shipment", "Staten Island")])
    assert first(index, "staten island") == "d"
    assert found(index, "queens 2023-0815")["d"].contents == 0
    records = [*RECORDS[:3], sheet("d", "Shipment", "Staten Island"), RECORDS[4]]
    scores = {each: c.contents for each, c in found(index, "bronx shipment").items()}
    assert scores == pytest.approx(slow_scores(records, "bronx shipment"), abs=1e-6)


def test_a_changed_sheet_keeps_the_spellings_that_it_or_a_name_still_has(index, path):
    index.add_records([sheet("n", "Trucks"), sheet("c", "Emissions", "Nitrogen oxides")])
    index.add_records([sheet("c", "Nitrogen", "Oxides")])
    with closing(sqlite3.connect(path)) as file:
        spelled = {row[0] for row in file.execute("SELECT word FROM spellings")}
    assert {"nitrogen", "oxides", "trucks"} <= spelled
    assert "emissions" not in spelled
    assert index.question("nitrogne").read_as == "nitrogen"


def test_another_process_s_sheets_are_found_at_once(index, path):
    assert first(index, "fares")
    with SheetIndex.open(path, HashedEncoder()) as other:
        other.add_records([sheet("z", "Harbour fares", "Rotterdam")])
        other.remove(["a"])
    assert first(index, "rotterdam") == "z"
    assert "a" not in found(index, "x-1042")


def test_words_of_a_deleted_sheet_that_stayed_in_the_file_are_passed_over(index, path):
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("INSERT INTO content_words (rowid, words) VALUES (99, 'bronx fare')")
    scores = {each: c.contents for each, c in found(index, "bronx fares").items()}
    assert scores == pytest.approx(slow_scores(RECORDS, "bronx fares"), abs=1e-6)


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM content_words_data WHERE id > 10",
        "UPDATE content_words_data SET block = zeroblob(40) WHERE id > 10",
        "UPDATE content_words_data SET block = x'00' WHERE id = 10",
    ],
)
def test_damaged_words_are_written_anew_by_verifying(sql, index, path, tmp_path):
    before = found(index, "bronx fares")
    index.close()
    with closing(sqlite3.connect(path)) as file, file:
        assert file.execute(sql).rowcount
    (tmp_path / "data").mkdir()
    with SheetIndex.open(path, HashedEncoder()) as again:
        again.sync(tmp_path / "data", verify=True)
        assert found(again, "bronx fares") == before
        assert again.question("emisions").read_as == "emissions"


# ---- documentation


def with_workbooks(index, records):
    """Store records as sheets of workbook files, by the part of their id before "#"."""
    books = {}
    for record in records:
        books.setdefault(record.sheet_id.partition("#")[0], []).append(record)
    for name, own in books.items():
        texts = [token_text(record, Serialization()) for record in own]
        tokens = index.encoder.encode_sheets(texts)
        rows = [SheetRow(record, token) for record, token in zip(own, tokens, strict=True)]
        state = WorkbookState("/r", name, 1, 1, 1, "hash")
        index._store.replace_workbooks([NewWorkbook(state, rows)])


@pytest.fixture
def books(path):
    with SheetIndex.create(path, HashedEncoder()) as opened:
        with_workbooks(
            opened,
            [
                sheet("fuel.xlsx#About", "Gasoline prices by EIA", role=Role.DOCUMENTATION),
                sheet("fuel.xlsx#Data", "Year"),
                sheet("rail.xlsx#About", "Tracks and stations", role=Role.DOCUMENTATION),
                sheet("rail.xlsx#Data", "Gauge"),
            ],
        )
        yield opened


def test_documentation_ranks_lower_unless_it_is_asked_for(books):
    plain = found(books, "gasoline prices", dense_weight=0.0)
    asked = found(books, "notes on gasoline prices")
    assert plain["fuel.xlsx#About"].role == pytest.approx(DOCUMENTATION)
    assert plain["fuel.xlsx#Data"].role == 1
    assert {each.role for each in asked.values()} == {1.0}
    assert plain["fuel.xlsx#About"].score < plain["fuel.xlsx#Data"].score


def test_documentation_speaks_for_the_other_sheets_of_its_workbook_alone(books):
    scores = {each: c.contents for each, c in found(books, "gasoline prices").items()}
    assert scores["fuel.xlsx#Data"] == scores["fuel.xlsx#About"] > 0
    assert scores["rail.xlsx#Data"] == scores["rail.xlsx#About"] == 0
    both = found(books, "gasoline tracks")
    assert both["rail.xlsx#Data"].contents == both["rail.xlsx#About"].contents > 0
    assert both["fuel.xlsx#Data"].contents == both["fuel.xlsx#About"].contents > 0


def test_beside_documentation_a_sheets_own_cells_count_as_those_of_any_other_sheet(path):
    records = [
        sheet("alone.xlsx#1", "Gasoline"),
        sheet("led.xlsx#1", "Gasoline"),
        sheet("led.xlsx#About", "Tracks", role=Role.DOCUMENTATION),
        sheet("named.xlsx#1", "Year", name="Gasoline prices"),
    ]
    with SheetIndex.create(path, HashedEncoder()) as index:
        with_workbooks(index, records)
        scores = found(index, "gasoline prices")
        assert scores["named.xlsx#1"].together > scores["led.xlsx#1"].together > 0
        assert scores["led.xlsx#1"].together == pytest.approx(scores["alone.xlsx#1"].together)


# ---- main sheets


@pytest.fixture
def beside(path):
    with SheetIndex.create(path, HashedEncoder()) as opened:
        records = []
        for sheet_id, role in (
            ("EV Charging Costs.xlsx#EVCC-a", Role.DATA),
            ("EV Charging Costs.xlsx#Sources", Role.DATA),
            ("EV Charging Costs.xlsx#About", Role.DOCUMENTATION),
            ("EV Sales.xlsx#Data", Role.DATA),
        ):
            workbook, _, name = sheet_id.partition("#")
            record = sheet(sheet_id, "Year of methods", name=name, role=role)
            records.append(replace(record, workbook=workbook))
        with_workbooks(opened, records)
        yield opened


def test_sheets_beside_the_main_sheet_rank_lower_the_more_its_names_are_asked_for(beside):
    asked = found(beside, "charging costs of ev")
    other = found(beside, "notes of years")
    main, source, about, far = (
        f"EV {each}"
        for each in (
            "Charging Costs.xlsx#EVCC-a",
            "Charging Costs.xlsx#Sources",
            "Charging Costs.xlsx#About",
            "Sales.xlsx#Data",
        )
    )
    held = 1 - BESIDE_MAIN * asked[main].lexical
    assert asked[main].role == asked[far].role == 1
    assert asked[source].role == pytest.approx(held)
    assert held < 1
    assert asked[about].role == pytest.approx(held * DOCUMENTATION)
    assert {each.role for each in other.values()} == {1.0}  # "notes" asks for documentation


def test_an_index_from_before_main_sheets_finds_them_from_names(beside, path):
    before = found(beside, "charging costs of ev")
    beside.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"{WITHOUT_MAIN} PRAGMA user_version = 6;")
    with SheetIndex.open(path, HashedEncoder()) as again:
        assert found(again, "charging costs of ev") == before


def test_a_damaged_name_in_an_index_from_before_does_not_keep_it_from_opening(beside, path):
    ids = beside.sheet_ids()
    beside.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"{WITHOUT_MAIN} PRAGMA user_version = 6;")
        byte = "CAST(replace(CAST(record AS BLOB), 'EVCC', CAST(X'FF' AS TEXT)) AS TEXT)"
        connection.execute(f"UPDATE sheets SET record = {byte} WHERE sheet_id = ?", [ids[1]])
        connection.execute(
            "UPDATE sheets SET record = '{\"sheet\": 5}' WHERE sheet_id = ?", [ids[2]]
        )
        connection.commit()
    with SheetIndex.open(path, HashedEncoder()) as again:
        assert again.sheet_ids() == ids
