"""Texts of cells beside the records of an index file: kept, light, bounded, and checked."""

import json
import sqlite3
import zlib
from contextlib import closing
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever import IndexDamagedError, InputError, SheetIndex, SheetRecord
from sat_retriever.index.store.packing import (
    MAX_BYTES,
    RowDamage,
    checksum,
    contents_of,
    may_say,
    packed_contents,
)
from sat_retriever.records.contents import CellText, Role, SheetContents, TableContents
from sat_retriever.text.contents import holds
from tests.fakes import HashedEncoder
from tests.index.store.older import WITHOUT_CONTENTS
from tests.index.sync.test_sync import write

TABLE = TableContents(CellText("A1", "Fares"), (CellText("A3", "MTA New York City Transit"),))
CONTENTS = SheetContents((CellText("A9", "Source: survey"),), (TABLE,))
RECORD = SheetRecord("a#b", "b", role=Role.LOOKUP, contents=CONTENTS)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.sat"
    with SheetIndex.create(path, HashedEncoder()) as index:
        index.add_records([RECORD, SheetRecord("c#d", "d")])
    return path


def change(path, sql, *values):
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.execute("PRAGMA foreign_keys = ON")
        return opened.execute(sql, values).fetchall()


def test_records_come_without_contents_unless_they_are_asked_for(path):
    with SheetIndex.open(path, HashedEncoder()) as index:
        light = index.records(["a#b"])["a#b"]
        assert (light.contents, light.role) == (None, Role.LOOKUP)
        assert index.records(["a#b", "c#d", "no"], contents=True) == {
            "a#b": RECORD,
            "c#d": SheetRecord("c#d", "d"),
        }


def test_contents_are_not_in_the_stored_record(path):
    [(text,)] = change(path, "SELECT record FROM sheets WHERE sheet_id = 'a#b'")
    assert "Transit" not in text
    assert change(path, "SELECT count(*) FROM contents") == [(1,)]


def test_contents_go_with_their_sheet(path):
    with SheetIndex.open(path, HashedEncoder()) as index:
        index.add_records([SheetRecord("a#b", "b")])
        assert index.records(["a#b"], contents=True)["a#b"].contents is None
        index.add_records([RECORD])
        index.remove(["a#b"])
    assert change(path, "SELECT count(*) FROM contents") == [(0,)]


def test_contents_stay_when_the_index_is_encoded_anew(path):
    with SheetIndex.open(path, HashedEncoder()) as index:
        index.reencode(HashedEncoder(32, "other"))
        assert index.records(["a#b"], contents=True)["a#b"].contents == CONTENTS


def test_an_index_without_cell_values_keeps_no_contents(tmp_path):
    path = tmp_path / "bare.sat"
    with SheetIndex.create(path, HashedEncoder(), contents="names") as index:
        index.add_records([RECORD])
        assert index.records(["a#b"], contents=True)["a#b"].contents is None
    assert b"Transit" not in path.read_bytes()
    assert change(path, "SELECT count(*) FROM contents") == [(0,)]


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE contents SET packed = x'00'",
        "UPDATE contents SET packed = substr(packed, 1, length(packed) - 1)",
        "UPDATE contents SET crc = crc + 1",
    ],
)
def test_damaged_contents_are_named_and_taken_out_by_verifying(sql, path, tmp_path):
    change(path, sql)
    with SheetIndex.open(path, HashedEncoder()) as index:
        assert index.records(["a#b"])  # what needs no contents still works
        with pytest.raises(IndexDamagedError, match="a#b"):
            index.records(["a#b"], contents=True)
        (tmp_path / "data").mkdir()
        report = index.sync(tmp_path / "data", verify=True)
        assert report.lost == ("a#b: it has no file, add it again",)
        assert index.sheet_ids() == ["c#d"]
    assert change(path, "SELECT count(*) FROM contents") == [(0,)]


def test_contents_that_are_gone_from_a_workbook_are_noticed_by_verifying(tmp_path):
    write(tmp_path / "data" / "sales.csv", "Region", "Revenue")
    path = tmp_path / "a.sat"
    with SheetIndex.create(path, HashedEncoder()) as index:
        index.sync(tmp_path / "data")
        assert index.sync(tmp_path / "data", verify=True).repaired == 0
    data = packed_contents(RECORD)
    change(path, "INSERT OR REPLACE INTO contents SELECT id, ?, ? FROM sheets", data, 0)
    change(path, "UPDATE contents SET crc = ?", checksum(data))
    with SheetIndex.open(path, HashedEncoder()) as index:
        assert index.sync(tmp_path / "data", verify=True).repaired == 1
        assert index.sync(tmp_path / "data", verify=True).repaired == 0


def test_workbooks_of_a_version_before_contents_are_read_anew_once_and_are_no_damage(tmp_path):
    write(tmp_path / "data" / "sales.csv", "Region", "Revenue")
    path = tmp_path / "a.sat"
    with SheetIndex.create(path, HashedEncoder()) as index:
        index.sync(tmp_path / "data")
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.executescript(f"{WITHOUT_CONTENTS} PRAGMA user_version = 5;")
    for verify in (True, False):
        with SheetIndex.open(path, HashedEncoder()) as index:
            report = index.sync(tmp_path / "data", verify=verify)
            assert (report.repaired, report.unchanged) == (0, int(not verify))


def test_contents_without_their_words_are_matched_as_others(path):
    """Older versions stored them so, and so are very long ones."""
    with SheetIndex.open(path, HashedEncoder()) as index:
        stored = index._store.texts(["a#b", "c#d"])
        assert stored["a#b"].lines == " sourc survey \n fare \n mta new york citi transit "
        assert list(stored) == ["a#b"]
    bare = zlib.compress(json.dumps(CONTENTS.to_json()).encode())
    change(path, "UPDATE contents SET packed = ?, crc = ?", bare, checksum(bare))
    with SheetIndex.open(path, HashedEncoder()) as index:
        texts = index._store.texts(["a#b", "c#d"])["a#b"]
        assert (texts.counts, texts.lines) == (stored["a#b"].counts, stored["a#b"].lines)
        assert texts.contents() == CONTENTS
        assert index.records(["a#b"], contents=True)["a#b"].contents == CONTENTS


def test_contents_that_cannot_be_kept_are_refused_with_the_sheet(path):
    long = SheetContents((CellText("A1", "x" * MAX_BYTES),))
    odd = SheetContents((CellText("A1", "\ud800"),))
    with SheetIndex.open(path, HashedEncoder()) as index:
        for contents, message in ((long, "'e#f'.*give at most"), (odd, "'e#f'.*not Unicode")):
            with pytest.raises(InputError, match=message):
                index.add_records([SheetRecord("e#f", "f", contents=contents)])
        assert index.sheet_ids() == ["a#b", "c#d"]


@pytest.mark.parametrize(
    "data",
    [
        zlib.compress(b" " * (MAX_BYTES * 50)),
        zlib.compress(b"[" * 100_000),
        zlib.compress(json.dumps({"notes": [["A1", 7]], "tables": []}).encode()),
        zlib.compress(b'{"notes": [], "tables": [1]}'),
        zlib.compress(b"{}") + b"more",
        zlib.compress(b"{}")[:-4],
        b"",
    ],
    ids=["a bomb", "nested", "a number", "no table", "more behind", "cut off", "nothing"],
)
def test_hostile_contents_end_in_a_clear_error(data, path):
    change(path, "UPDATE contents SET packed = ?, crc = ?", data, checksum(data))
    with (
        SheetIndex.open(path, HashedEncoder()) as index,
        pytest.raises(IndexDamagedError, match="a#b"),
    ):
        index.records(["a#b"], contents=True)


def stored(contents):
    data = packed_contents(replace(RECORD, contents=contents))
    return data, checksum(data)


# Signs that JSON writes otherwise, every kind of white space, and letters that change their case.
_LETTERS = st.sampled_from('aBß"\\/nu0İ \t\n\x0b\x1f\x85\xa0\u2028')


@given(
    st.lists(st.text(_LETTERS, max_size=8), max_size=4), st.text(_LETTERS, min_size=1, max_size=4)
)
def test_packed_contents_may_hold_every_phrase_that_one_of_their_texts_holds(texts, phrase):
    contents = SheetContents(tuple(CellText("A1", text) for text in texts))
    if phrase.strip() and holds(texts, phrase):
        assert may_say(*stored(contents), [phrase])


def test_packed_contents_do_not_hold_a_phrase_of_two_texts_or_in_another_order():
    assert may_say(*stored(CONTENTS), ["transit fares", "new york city"])
    assert not may_say(*stored(CONTENTS), ["fares mta", "york new", "survey source"])


def test_a_bomb_is_not_unpacked_beyond_the_bound():
    import tracemalloc

    bomb = zlib.compress(b" " * (MAX_BYTES * 50))
    tracemalloc.start()
    with pytest.raises(RowDamage, match="longer than"):
        contents_of(bomb, checksum(bomb))
    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * MAX_BYTES
