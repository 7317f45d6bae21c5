"""Index files of other versions, and what is not an index."""

import re
import sqlite3
from contextlib import closing

import pytest

from sat_retriever import IndexFormatError, IndexStorageError, Link
from sat_retriever.index.store import connection, schema
from sat_retriever.index.store.connection import create_file
from sat_retriever.index.store.opening import create_store, open_store


def test_an_older_file_is_brought_up_to_date_when_it_is_opened(tmp_path, monkeypatch):
    path = tmp_path / "a.sat"
    create_store(path, {"key": "kept"}).close()
    newer = (*schema.MIGRATIONS, "CREATE TABLE more (x);")
    monkeypatch.setattr(schema, "MIGRATIONS", newer)
    store = open_store(path)
    assert store.meta()["key"] == "kept"
    assert store._rows("SELECT count(*) FROM more")[0][0] == 0
    assert store._rows("PRAGMA user_version")[0][0] == len(newer)
    store.close()


def test_a_migration_that_fails_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "a.sat"
    create_store(path, {"key": "kept"}).close()
    broken = (*schema.MIGRATIONS, "CREATE TABLE half (x); SELECT no_such_function();")
    monkeypatch.setattr(schema, "MIGRATIONS", broken)
    with pytest.raises(IndexFormatError):
        open_store(path)
    monkeypatch.undo()
    store = open_store(path)
    assert store.meta()["key"] == "kept"
    assert store._rows("SELECT count(*) FROM sqlite_master WHERE name = 'half'")[0][0] == 0
    store.close()


def test_a_file_that_cannot_be_created_leaves_nothing_behind(tmp_path):
    with pytest.raises(IndexStorageError, match="cannot create"):
        create_store(tmp_path / "no" / "a.sat", {})
    with pytest.raises(IndexFormatError):
        create_store(tmp_path / "b.sat", {"key": object()})
    assert list(tmp_path.iterdir()) == []


def test_every_sqlite_error_is_translated(tmp_path):
    store = create_store(tmp_path / "a.sat", {})
    other = sqlite3.connect(tmp_path / "a.sat")
    other.execute("DROP TABLE sheets")
    other.close()
    for call in (store.ids_by_sheet_id, store.counts, store.all_sheet_ids):
        with pytest.raises(IndexFormatError, match="index the folder anew"):
            call()
    store.close()
    for call in (store.meta, store.generation, store.workbooks):
        with pytest.raises(IndexFormatError):
            call()


def test_links_of_a_file_of_the_first_version_are_kept_and_its_workbooks_read_anew(
    tmp_path, monkeypatch
):
    path = tmp_path / "a.sat"
    with monkeypatch.context() as first:
        first.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
        create_file(path, {})
    with closing(sqlite3.connect(path)) as old, old:
        old.execute("INSERT INTO links VALUES ('a', 'b', 'join_key', 0.5, 'x = y')")
        old.execute("INSERT INTO workbooks VALUES (1, '/data', 'a.xlsx', 9, 9, 9, 'hash', '[]')")
    store = open_store(path)
    assert store.links.of(["a"]) == [Link("a", "b", "join_key", 0.5, "x = y")]
    (state,) = store.workbooks()
    assert (state.path, state.content_hash, state.mtime_ns) == ("a.xlsx", "", -1)
    store.close()


def test_an_older_file_that_cannot_be_written_to_is_refused_with_what_to_do(tmp_path, monkeypatch):
    path = tmp_path / "a.sat"
    with monkeypatch.context() as first:
        first.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
        create_file(path, {})
    monkeypatch.setattr(connection, "is_writable", lambda _path: False)  # root may write anywhere
    with pytest.raises(IndexFormatError, match="older version and is read-only here"):
        open_store(path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("ALTER TABLE sheets RENAME TO s; CREATE VIEW sheets AS SELECT * FROM s", "view 'sheets'"),
        (
            "CREATE TRIGGER t AFTER UPDATE ON meta BEGIN DELETE FROM sheets; END",
            "trigger 't'",
        ),
        ("CREATE VIRTUAL TABLE own USING fts5 (a)", "foreign table 'own'"),
        (
            "DROP TABLE lexical; CREATE VIRTUAL TABLE lexical USING rtree (id, a, b)",
            "foreign table 'lexical'",
        ),
    ],
)
def test_a_file_with_views_triggers_or_foreign_tables_is_refused_before_it_is_read(
    tmp_path, change, told
):
    file = tmp_path / "a.sat"
    create_file(file, {})
    with closing(sqlite3.connect(file)) as hostile:
        hostile.executescript(change)
        hostile.execute("PRAGMA user_version = 1")  # an older file would be migrated
    before = file.read_bytes()
    with pytest.raises(IndexFormatError, match=re.escape(told)):
        open_store(file)
    assert file.read_bytes() == before
