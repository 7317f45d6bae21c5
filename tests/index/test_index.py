"""The index without files: records in, candidates out."""

import asyncio
import datetime as dt
import shlex
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_retriever import (
    Column,
    EmptyInputError,
    EncoderError,
    Filters,
    FingerprintMismatchError,
    IndexBusyError,
    IndexFormatError,
    IndexNotFoundError,
    IndexStorageError,
    InputError,
    Link,
    Serialization,
    SheetEncoder,
    SheetIndex,
    SheetRecord,
    SheetRetriever,
    Visibility,
)
from sat_retriever.index.search.fusion import DENSE_WEIGHT
from sat_retriever.index.store.opening import open_store
from sat_retriever.rank.reranker import Reranker
from sat_retriever.records.contents import Role
from sat_retriever.text.serialize import serialize
from tests.fakes import HashedEncoder
from tests.saved_encoder import save_bag_of_words


def sheet(name, *headers, **fields):
    return SheetRecord(name, name, columns=tuple(Column(h) for h in headers), **fields)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.sat"


@pytest.fixture
def index(path):
    with SheetIndex.create(path, HashedEncoder()) as opened:
        yield opened


def ids(candidates):
    return [candidate.sheet_id for candidate in candidates]


def test_candidates_equal_a_slow_search_over_all_sheets(index):
    records = [sheet(f"{w}_{y}", h) for w in ("sales", "hr", "stock") for y in (2020, 2021)
               for h in ("Region", "Amount")][::2]  # fmt: skip
    index.add_records(records)
    encoder = HashedEncoder()
    query = "sales region 2021"
    token = encoder.encode_queries([query])[0]
    lexical = {c.sheet_id: c.lexical for c in index.candidates(query, 99)}
    wanted = sorted(
        (
            -(DENSE_WEIGHT * max(float(encoder.encode_sheets([serialize(r)])[0] @ token), 0)
              + (1 - DENSE_WEIGHT) * lexical[r.sheet_id]),
            r.sheet_id,
        )
        for r in records
    )  # fmt: skip
    found = index.candidates(index.question(query, times=False), 4)
    assert ids(found) == [sheet_id for _, sheet_id in wanted[:4]]
    assert [c.score for c in found] == pytest.approx([-score for score, _ in wanted[:4]], abs=1e-6)
    assert [c.rank for c in found] == [1, 2, 3, 4]


def test_equal_scores_are_ordered_by_sheet_id_wherever_the_list_is_cut(index):
    index.add_records(SheetRecord(f"{i:03}", "Template") for i in reversed(range(40)))
    for top_k in (1, 7, 39, 40, 50):
        assert ids(index.candidates("template", top_k)) == [f"{i:03}" for i in range(40)][:top_k]


def test_ranks_by_meaning_and_by_words_alone_are_those_of_the_single_rankings(index):
    index.add_records(sheet(f"s{i}", f"h{i % 4}", f"g{i % 3}") for i in range(12))
    query = "h1 g2 s5"
    for weight, field in ((1.0, "dense_rank"), (0.0, "lexical_rank")):
        alone = index.candidates(index.question(query, dense_weight=weight), 12)
        scores = [c.score for c in alone]
        ranks = {c.sheet_id: scores.index(c.score) + 1 for c in alone if c.score > 0}
        for candidate in index.candidates(query, 12):
            if candidate.sheet_id in ranks:
                assert getattr(candidate, field) == ranks[candidate.sheet_id]
    assert index.candidates("absent", 1)[0].lexical_rank is None


def test_a_dense_weight_of_one_ranks_by_cosine_and_of_zero_by_words(index):
    index.add_records([sheet("apple", "banana"), sheet("banana apple")])
    dense = index.candidates(index.question("banana", dense_weight=1.0), 2)
    assert [c.score for c in dense] == pytest.approx([max(c.dense, 0) for c in dense])
    words = index.candidates(index.question("banana", dense_weight=0.0), 2)
    assert [c.score for c in words] == pytest.approx([c.lexical for c in words])


def test_a_record_added_again_replaces_the_old_one(index):
    index.add_records([sheet("a", "Old")])
    index.add_records([sheet("a", "New")])
    assert len(index) == 1
    assert index.records(["a"])["a"].columns == (Column("New"),)
    assert index.candidates("old")[0].lexical == 0


def test_of_one_id_given_twice_the_later_record_counts(index):
    index.add_records([sheet("a", "Old"), sheet("a", "New")])
    assert index.records(["a"])["a"].columns == (Column("New"),)


def test_a_removed_sheet_is_gone_from_every_part(index):
    index.add_records([sheet("a", "Alpha"), sheet("b", "Beta")])
    index.candidates("alpha")
    assert index.remove(["a", "unknown"]) == 1
    assert ids(index.candidates("alpha")) == ["b"]
    assert index.records(["a"]) == {}


def test_an_open_index_sees_what_another_one_writes(path, index):
    index.add_records([sheet("a", "Alpha")])
    with SheetIndex.open(path, HashedEncoder()) as other:
        assert ids(other.candidates("beta")) == ["a"]
        index.add_records([sheet("b", "Beta")])
        assert ids(other.candidates("beta")) == ["b", "a"]
        index.remove(["a"])
        assert ids(other.candidates("beta")) == ["b"]


@settings(max_examples=25)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9)), max_size=25))
def test_a_snapshot_kept_up_to_date_equals_a_fresh_one(tmp_path_factory, steps):
    path = tmp_path_factory.mktemp("i") / "a.sat"
    with SheetIndex.create(path, HashedEncoder(16)) as kept:
        for add, number in steps:
            if add:
                kept.add_records([sheet(f"s{number}", f"h{number}")])
            else:
                kept.remove([f"s{number}"])
            kept.candidates("s1 h2")
        with SheetIndex.open(path, HashedEncoder(16)) as fresh:
            assert kept.candidates("s3 h3 h4", 20) == fresh.candidates("s3 h3 h4", 20)


def test_a_warm_index_answers_as_a_cold_one_and_a_wrong_encoder_shows_at_once(path, index):
    index.add_records([sheet("a", "Alpha"), sheet("b", "Beta")])
    cold = index.candidates("alpha")
    with SheetIndex.open(path, HashedEncoder()) as warm:
        warm.warm_up()
        assert warm.candidates("alpha") == cold
    with SheetIndex.open(path) as named, pytest.raises(EncoderError, match="hashed"):
        named.warm_up()


def test_an_empty_index_gives_no_candidates(index):
    assert index.candidates("anything") == []


def test_links_are_kept_and_found_from_both_ends(index):
    link = Link("a", "b", "formula_reference", 0.5, "a!A1 =b!A1")
    index.add_records([sheet("a"), sheet("b")], [link])
    assert index.links(["a"]) == index.links(["b"]) == [link]
    hits = SheetRetriever(index).retrieve("a b")
    assert all(hit.why.links == (link,) for hit in hits)
    assert hits[0].to_dict()["why"]["links"] == [
        {"from": "a", "to": "b", "type": "formula_reference", "evidence": "a!A1 =b!A1"}
    ]


# ---- filters


def test_each_filter_keeps_what_meets_it(index):
    index.add_records(
        [
            SheetRecord("x", "x", "W.xlsx", "2024/W.xlsx", format="xlsx", metadata={"team": "a"}),
            SheetRecord("y", "y", "V.csv", "2025/V.csv", format="csv",
                        visibility=Visibility.HIDDEN, metadata={"team": "b", "n": 3, "ok": True}),
        ]
    )  # fmt: skip
    kept = {
        "y": [
            Filters(workbook="V.csv"),
            Filters(path="2025/*"),
            Filters(visibility=Visibility.HIDDEN),
            Filters(format="csv"),
            Filters(metadata={"team": "b"}),
            Filters(metadata={"n": 3, "ok": True}),
        ],
        "": [Filters(path="2026/*"), Filters(metadata={"no": 1}),
             Filters(format="csv", workbook="W.xlsx"),
             Filters(modified_after=dt.datetime(2020, 1, 1))],
    }  # fmt: skip
    for wanted, filters in kept.items():
        for one in filters:
            assert ids(index.candidates("x y", filters=one)) == [w for w in wanted if w]


def test_a_role_and_a_period_keep_the_sheets_that_have_them(index):
    index.add_records(
        [
            sheet("rent Q1 2024"),
            sheet("rent 2024", role=Role.LOOKUP),
            sheet("rent Q2 2024", metadata={"role": "lookup"}),
            sheet("rent March"),
            sheet("rent"),
        ]
    )
    kept = [
        (Filters(role="lookup"), {"rent 2024"}),
        (Filters(role=Role.DATA), {"rent Q1 2024", "rent Q2 2024", "rent March", "rent"}),
        (Filters(period="Q1 2024"), {"rent Q1 2024", "rent 2024"}),
        (Filters(period="March"), {"rent Q1 2024", "rent 2024", "rent March"}),
        (Filters(period="2023"), set()),
        (Filters(period="2024", role="data"), {"rent Q1 2024", "rent Q2 2024"}),
    ]
    for filters, wanted in kept:
        assert set(ids(index.candidates("rent", filters=filters))) == wanted
        assert index.search.count(filters) == len(wanted)


def test_a_period_that_names_no_time_is_refused(index):
    with pytest.raises(InputError, match="'soon', which names no time; write one such as 2024"):
        index.candidates("rent", filters=Filters(period="soon"))


def test_a_text_matches_metadata_that_is_written_like_it_and_odd_keys_are_found(index):
    index.add_records([SheetRecord("a", "a", metadata={"year": 2024, 'a"b.c': 1})])
    for wanted in ({"year": "2024"}, {"year": 2024}, {'a"b.c': 1}):
        assert ids(index.candidates("a", filters=Filters(metadata=wanted))) == ["a"]
    assert index.candidates("a", filters=Filters(metadata={"year": "2025"})) == []


def test_filters_that_mean_nothing_are_refused_and_spellings_do_not_matter():
    with pytest.raises(InputError, match="visible"):
        Filters(visibility="seen")
    with pytest.raises(InputError, match="role is 'odd'; give one of: data, documentation"):
        Filters(role="odd")
    with pytest.raises(InputError, match="'docx'; give one of: xlsx"):
        Filters(format="docx")
    with pytest.raises(InputError, match="datetime"):
        Filters(modified_after=dt.date(2024, 1, 1))
    assert Filters(visibility="hidden", format=".XLSX") == Filters(
        visibility=Visibility.HIDDEN, format="xlsx"
    )


def test_times_at_the_ends_of_the_calendar_are_only_bounds(index):
    index.add_records([sheet("a")])
    for moment in (dt.datetime.min, dt.datetime.max):
        assert index.candidates("a", filters=Filters(modified_before=moment)) == []


def test_hostile_filter_values_are_only_values(index):
    index.add_records([sheet("a")])
    for text in ("' OR 1=1 --", '"', "\\", "$.x", '") OR ("'):
        assert index.candidates("a", filters=Filters(workbook=text)) == []
        assert index.candidates("a", filters=Filters(metadata={text: text})) == []


def test_hostile_queries_are_only_words(index):
    index.add_records([sheet("a b")])
    for text in (
        '" OR *',
        "NEAR(a b)",
        "a AND",
        "workbook : a",
        "' ; DROP TABLE sheets",
        "a\x00b",
        "😀",
    ):
        assert len(index.candidates(text)) == 1


# ---- errors


def test_each_wrong_use_says_what_to_do(path, index):
    for call, error, word in (
        (lambda: index.candidates("  "), EmptyInputError, "empty"),
        (lambda: index.candidates("a", 0), InputError, "top_k"),
        (lambda: index.candidates(index.question("a", dense_weight=2)), InputError, "dense_weight"),
        (lambda: SheetIndex.create(path, HashedEncoder()), InputError, "exists"),
        (lambda: SheetIndex.open(path.with_name("no.sat")), IndexNotFoundError, "sat index"),
        (
            lambda: SheetIndex.open(path, HashedEncoder(32)),
            FingerprintMismatchError,
            "sat reencode",
        ),
        (lambda: SheetRetriever(index).retrieve("a", 0), InputError, "top_k"),
        (lambda: index.add_records([sheet("\udcff")]), InputError, "surrogates"),
    ):
        with pytest.raises(error, match=word):
            call()
    with pytest.raises(FingerprintMismatchError) as caught:
        SheetIndex.open(path, HashedEncoder(32))
    command = f"sat reencode --index {shlex.quote(str(index.path))} --encoder hashed"
    assert str(caught.value).endswith(f": {command}")


def test_a_file_that_is_no_index_is_refused(tmp_path):
    import sqlite3

    text = tmp_path / "text.sat"
    text.write_bytes(b"not a database, not at all" * 100)
    other = tmp_path / "other.sat"
    connection = sqlite3.connect(other)
    connection.execute("PRAGMA user_version = 7")
    connection.execute("CREATE TABLE t (x)")
    connection.close()
    for path in (text, other):
        with pytest.raises(IndexFormatError):
            SheetIndex.open(path, HashedEncoder())


def test_another_program_s_database_is_refused_and_left_as_it_is(tmp_path):
    import sqlite3

    path = tmp_path / "mine.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (x)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(IndexFormatError, match="not an index"):
        SheetIndex.open(path, HashedEncoder())
    assert path.read_bytes() == before
    (tmp_path / "empty.sat").touch()
    with pytest.raises(IndexFormatError):
        SheetIndex.open(tmp_path / "empty.sat", HashedEncoder())


def test_an_index_made_meanwhile_by_another_process_is_not_replaced(path):
    class Slow(HashedEncoder):
        @property
        def fingerprint(self):
            if not path.exists():
                with SheetIndex.create(path, HashedEncoder()) as other:
                    other.add_records([sheet("theirs")])
            return super().fingerprint

    with pytest.raises(InputError, match="exists"):
        SheetIndex.create(path, Slow())
    with SheetIndex.open(path, HashedEncoder()) as kept:
        assert kept.sheet_ids() == ["theirs"]


def test_the_log_of_a_deleted_index_does_not_come_back_in_a_new_one(path, index):
    index.add_records([sheet("secret")])
    log = path.with_name("a.sat-wal").read_bytes()
    index.close()
    path.unlink()
    path.with_name("a.sat-wal").write_bytes(log)
    with SheetIndex.create(path, HashedEncoder(), contents="names") as fresh:
        assert len(fresh) == 0
        assert fresh.privacy.contents == "names"


def test_a_new_index_may_be_read_by_whom_the_system_s_rules_allow(path, index):
    import os

    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask


def test_an_index_stays_usable_when_the_working_directory_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    with SheetIndex.create("rel.sat", HashedEncoder()) as opened:
        monkeypatch.chdir(tmp_path / "elsewhere")
        opened.add_records([sheet("a")])
        assert opened.status()["sheets"] == 1
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_an_index_whose_texts_were_made_otherwise_is_refused(path, index):
    import sqlite3

    index.close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE meta SET value = 'x' WHERE key = 'serialization_fingerprint'")
    connection.commit()
    connection.close()
    with pytest.raises(FingerprintMismatchError, match="anew"):
        SheetIndex.open(path, HashedEncoder())


@settings(max_examples=60)
@given(st.text(max_size=40))
def test_any_text_can_be_a_name_and_a_question(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("i") / "a.sat"
    with SheetIndex.create(path, HashedEncoder(16)) as opened:
        opened.add_records([SheetRecord("a", text, columns=(Column(text),))])
        if text.strip():
            (found,) = opened.candidates(text)
            assert found.sheet_id == "a"
            if any(char.isalnum() and char.isascii() for char in text):
                assert found.lexical > 0


def test_an_index_of_a_newer_version_is_refused(path, index):
    import sqlite3

    index.close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(IndexFormatError, match="newer"):
        SheetIndex.open(path, HashedEncoder())


def test_a_second_writer_waits_and_is_then_told_who_is_in_the_way(path, index, monkeypatch):
    with SheetIndex.open(path, HashedEncoder()) as other, other._store.sole_writer():
        monkeypatch.setattr("sat_retriever.index.store.sqlite.WRITER_WAIT_S", 0.1)
        with pytest.raises(IndexBusyError, match="another process"):
            index.add_records([sheet("a")])
        assert index.candidates("a") == []  # reading goes on
    assert index.add_records([sheet("a")]) == 1


def test_a_failed_write_leaves_the_previous_state(index):
    index.add_records([sheet("a", "Alpha")])
    broken = SheetRecord("b", "b", metadata={"x": object()})
    with pytest.raises(InputError, match="metadata 'x'"):
        index.add_records([sheet("c"), broken])
    assert index.sheet_ids() == ["a"]
    assert index.add_records([sheet("c")]) == 1


def test_a_read_only_index_can_be_searched_but_not_written(path, index):
    index.add_records([sheet("a", "Alpha")])
    index.close()
    store = open_store(path)
    store.writable = False  # root may write anywhere, so the file's mode says nothing here
    with SheetIndex(store, HashedEncoder()) as opened:
        assert ids(opened.candidates("alpha")) == ["a"]
        with pytest.raises(IndexStorageError, match="read-only"):
            opened.remove(["a"])


def test_a_full_disk_is_a_clear_error_and_loses_nothing(index):
    index.add_records([sheet("a", "Alpha")])
    index._store._connection.execute("PRAGMA max_page_count = 1")
    with pytest.raises(IndexStorageError, match="space"):
        index.add_records(sheet(f"b{i}", *(f"header {j}" for j in range(50))) for i in range(400))
    index._store._connection.execute("PRAGMA max_page_count = 1000000")
    assert "a" in index.sheet_ids()
    assert ids(index.candidates("alpha"))[0] == "a"


# ---- settings


def test_settings_come_back_when_the_index_is_opened(path):
    form = Serialization(split_identifiers=True, max_headers=None)
    SheetIndex.create(path, HashedEncoder(), serialization=form, contents="names").close()
    with SheetIndex.open(path) as opened:
        assert opened.serialization == form
        assert opened.privacy.contents == "names"
        assert opened.status()["encoder"] == "hashed"


def test_an_index_of_texts_that_were_split_otherwise_is_refused(path):
    import sqlite3

    form = Serialization(split_identifiers=True)
    SheetIndex.create(path, HashedEncoder(), serialization=form).close()
    with sqlite3.connect(path) as connection:
        first = "UPDATE meta SET value = 'bf82886c50de66bb' WHERE key = 'serialization_fingerprint'"
        connection.execute(first)
    connection.close()
    with pytest.raises(FingerprintMismatchError, match="other texts: index the folders anew"):
        SheetIndex.open(path)


def test_cell_values_are_not_searched_and_examples_by_the_encoder_if_asked(tmp_path):
    encoder, found = HashedEncoder(1024), []
    for name, form in (("names", None), ("examples", Serialization(examples=True))):
        with SheetIndex.create(tmp_path / name, encoder, serialization=form) as index:
            index.add_records([SheetRecord("a", "a", columns=(Column("Part", example="valve"),))])
            found += index.candidates("valve")
    assert [candidate.lexical for candidate in found] == [0, 0]
    assert found[0].dense == 0 < found[1].dense


def test_no_example_is_written_to_a_metadata_only_index(path):
    with SheetIndex.create(path, HashedEncoder(), contents="names") as opened:
        opened.add_records([SheetRecord("a", "a", columns=(Column("Name", "SECRET-VALUE"),))])
        assert opened.records(["a"])["a"].columns == (Column("Name"),)
    assert b"SECRET-VALUE" not in path.read_bytes()


# ---- many at once


def test_parallel_queries_give_the_same_answers_as_one_after_the_other(index):
    index.add_records(sheet(f"s{i}", f"h{i % 7}", f"g{i % 3}") for i in range(60))
    retriever = SheetRetriever(index)
    asked = [f"h{i % 7} g{i % 3}" for i in range(100)]
    one_by_one = [retriever.retrieve(query) for query in asked]

    async def at_once():
        return await asyncio.gather(*(retriever.aretrieve(query) for query in asked))

    assert asyncio.run(at_once()) == one_by_one


def test_readers_and_a_writer_in_threads_never_see_half_a_state(index):
    index.add_records([sheet("base", "word")])
    stop, failures = threading.Event(), []

    def read():
        while not stop.is_set():
            found = index.candidates("word", 99)
            if [c.rank for c in found] != list(range(1, len(found) + 1)) or not found:
                failures.append(found)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(30):
        index.add_records([sheet(f"s{i % 5}", "word")])
        index.remove([f"s{(i + 2) % 5}"])
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_score_threshold_and_a_reranker_apply_in_the_retriever(index):
    index.add_records([sheet("a", "Alpha"), sheet("b", "Beta"), sheet("c")])
    hits = SheetRetriever(index).retrieve("alpha", 3, min_score=0.3)
    assert [hit.sheet_id for hit in hits] == ["a"]

    class Reversed(Reranker):
        def rerank(self, found):
            return list(reversed(found.candidates))

    hits = SheetRetriever(index, Reversed()).retrieve("alpha", 2)
    assert [hit.rank for hit in hits] == [1, 2]
    assert hits[0].sheet_id != "a"


def test_tokens_come_in_the_order_asked_for_and_unknown_sheets_are_refused(index):
    index.add_records([sheet("a", "Alpha"), sheet("b", "Beta"), sheet("c")])
    wanted = HashedEncoder().encode_sheets([serialize(sheet("c")), serialize(sheet("a", "Alpha"))])
    assert np.array_equal(index.search.tokens(["c", "a"]), wanted)
    assert np.array_equal(index.search.tokens(["c", "a", "c"])[2], wanted[0])
    assert index.search.tokens([]).shape == (0, 64)
    with pytest.raises(InputError, match="'d' is not in"):
        index.search.tokens(["a", "d"])
    index.remove(["a"])
    with pytest.raises(InputError, match="'a' is not in"):
        index.search.tokens(["a"])


def test_an_index_keeps_its_own_share_of_the_cosine(path):
    records = [sheet("a", "Alpha"), sheet("b", "Beta alpha")]
    with SheetIndex.create(path, HashedEncoder(), dense_weight=0.9) as index:
        index.add_records(records)
    with SheetIndex.open(path, HashedEncoder()) as index:
        assert index.dense_weight == 0.9
        found = index.candidates("alpha", 2)
        assert found == index.candidates(index.question("alpha", dense_weight=0.9), 2)
        assert found != index.candidates(index.question("alpha", dense_weight=0.4), 2)
        assert index.search.score_sheets(index.question("alpha"), ["a", "b"]) == found
        linked = SheetRetriever(index).retrieve("alpha", 2)
        assert {hit.sheet_id: hit.score for hit in linked} == {c.sheet_id: c.score for c in found}


def test_an_index_written_before_there_was_such_a_share_has_the_default(path):
    with SheetIndex.create(path, HashedEncoder()) as index:
        assert "dense_weight" not in index._store.meta()
        assert index.dense_weight == DENSE_WEIGHT


@pytest.mark.parametrize("weight", [-0.1, 1.1, float("nan")])
def test_a_share_of_the_cosine_out_of_its_range_is_refused(path, weight):
    with pytest.raises(InputError, match="dense_weight is"):
        SheetIndex.create(path, HashedEncoder(), dense_weight=weight)
    assert not path.exists()


def test_an_index_takes_over_the_share_that_its_encoder_brings(tmp_path):
    plain = SheetEncoder.load(save_bag_of_words(tmp_path / "plain", ["alpha", "beta"]))
    assert plain.dense_weight is None
    plain.save(tmp_path / "tuned", dense_weight=0.7)
    tuned = SheetEncoder.load(tmp_path / "tuned")
    assert tuned.dense_weight == 0.7
    assert tuned.fingerprint == plain.fingerprint
    tuned.save(tmp_path / "copy")
    assert SheetEncoder.load(tmp_path / "copy").dense_weight == 0.7
    for name, encoder, given_weight, weight in (
        ("plain.sat", plain, None, DENSE_WEIGHT),
        ("tuned.sat", tuned, None, 0.7),
        ("given.sat", tuned, 0.2, 0.2),
    ):
        with SheetIndex.create(tmp_path / name, encoder, dense_weight=given_weight) as index:
            assert index.dense_weight == weight
    with pytest.raises(EncoderError, match=r"dense_weight 1\.5"):
        plain.save(tmp_path / "wrong", dense_weight=1.5)
    assert not (tmp_path / "wrong").exists()


def test_links_between_sheets_can_be_asked_for_by_type(index):
    index.add_records(
        [sheet("a"), sheet("b"), sheet("c")],
        find_links=False,
        links=[
            Link("a", "b", "join_key"),
            Link("b", "a", "aggregation"),
            Link("a", "c", "join_key"),
        ],
    )
    both = ["a", "b"]
    assert [x.type for x in index._seen.links.between(both, both)] == ["join_key", "aggregation"]
    assert [x.target for x in index._seen.links.between(both, both, ["join_key"])] == ["b"]
    assert [x.target for x in index._seen.links.between(["a"], ["b", "c"], ["join_key"])] == [
        "b",
        "c",
    ]
    assert index._seen.links.between(both, both, []) == []


def test_tokens_survive_the_file_bit_for_bit(path, index):
    index.add_records([sheet("a", "Alpha")])
    with index._store.reading():
        kept = index.search._latest.get().tokens
    assert np.array_equal(kept, HashedEncoder().encode_sheets([serialize(sheet("a", "Alpha"))]))


def test_a_token_that_is_at_hand_is_searched_with_whatever_its_length(index):
    index.add_records([sheet("sales"), sheet("staff"), sheet("stock")])
    token = HashedEncoder().encode_queries(["staff"])[0]
    plain = index.candidates("staff")
    assert index.candidates(index.question("staff", token=token * 7)) == plain
    # The words stay those of the question.
    asked = index.candidates(index.question("sales", dense_weight=1.0, token=token))
    words = index.candidates(index.question("sales", dense_weight=0.0))
    assert [asked[0].sheet_id, words[0].sheet_id] == ["staff", "sales"]
    again = index.candidates(index.question("sales", dense_weight=1.0))
    assert again[0].sheet_id == "sales"  # the given token is not kept
    assert ids(index.candidates("stock"))[0] == "stock"
    found = SheetRetriever(index, None).retrieve("staff", token=token)
    assert [hit.sheet_id for hit in found] == ids(plain)


@pytest.mark.parametrize("token", [np.ones(3), np.zeros(64), np.full(64, np.nan), np.ones((1, 64))])
def test_a_token_of_another_space_is_refused(index, token):
    index.add_records([sheet("sales")])
    with pytest.raises(InputError, match="give one of"):
        index.candidates(index.question("sales", token=token))


def test_records_without_a_file_have_none_to_open(index):
    index.add_records([sheet("sales")])
    for name in ("sales", "gone"):
        with pytest.raises(InputError, match=f"no file of '{name}'"):
            index.file_of(name)


def test_what_is_written_to_a_file_that_was_deleted_and_made_anew_is_refused(path, index):
    with SheetIndex.open(path, HashedEncoder()) as other:
        assert index.delete_if_empty()
        assert list(path.parent.glob(f"{path.name}*")) == []
        with (
            SheetIndex.create(path, HashedEncoder()) as new,
            pytest.raises(IndexStorageError, match="deleted or replaced meanwhile"),
        ):
            other.add_records([sheet("a")])
        assert new.path == path
