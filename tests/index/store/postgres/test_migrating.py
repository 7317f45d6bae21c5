"""A whole index file goes into PostgreSQL, or nothing of it."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing

import pytest

from sat_retriever import (
    IndexDamagedError,
    IndexFormatError,
    IndexNotFoundError,
    InputError,
    SheetIndex,
    SheetRecord,
)
from sat_retriever.index.store.opening import migrate_store, store_exists
from sat_retriever.index.store.place import place_of
from sat_retriever.index.store.postgres import migrating, vectors
from tests.fakes import HashedEncoder
from tests.index.store.postgres.test_equality import QUERIES, assert_same, file  # noqa: F401
from tests.index.store.postgres.test_store import vector_indexes
from tests.index.store.postgres.test_writers import child
from tests.places import needs


def test_a_migrated_index_answers_the_same_and_lives_on(file, url, tmp_path):  # noqa: F811
    told = []
    rows = migrate_store(file, place_of(url), lambda done, total: told.append((done, total)))
    assert rows["sheets"] == 360 and rows["contents"] and rows["links"]
    assert told[-1] == (sum(rows.values()),) * 2
    with SheetIndex.open(file, HashedEncoder()) as one, SheetIndex.open(url) as other:
        assert other.generation == one.generation
    with (
        SheetIndex.open(file, HashedEncoder()) as index,
        index.copied(tmp_path / "copy.sat") as one,
        SheetIndex.open(url, HashedEncoder()) as other,
    ):
        assert_same(one, other, QUERIES)
        assert not vector_indexes(other)
        more = [SheetRecord(f"new {n}", "Fleet", workbook="new.xlsx") for n in range(3)]
        for each in (one, other):
            each.add_records(more)
            each.remove(each.sheet_ids()[:20])
        assert_same(one, other, QUERIES)


def test_an_index_of_vectors_is_made_if_it_is_asked_for(file, url, monkeypatch):  # noqa: F811
    with monkeypatch.context() as narrow:
        narrow.setattr(vectors, "MAX_INDEXED", 63)
        with pytest.raises(InputError, match=r"63 numbers at most, and these have 64"):
            migrate_store(file, place_of(url), hnsw=True)
    migrate_store(file, place_of(url), hnsw=True)
    with SheetIndex.open(url, HashedEncoder()) as index:
        [made] = vector_indexes(index)
        assert "halfvec(64)" in made


@pytest.mark.slow  # a real folder, three times: half a minute
def test_a_migrated_index_of_real_workbooks_is_synced_as_the_file_is(url, tmp_path):
    path = tmp_path / "a.sat"
    with SheetIndex.create(path, HashedEncoder()) as one:
        one.sync(needs("data/eps"))
        rows = migrate_store(path, place_of(url))
        assert rows["copies"] and rows["key_blocks"] and rows["periods"]
        with SheetIndex.open(url, HashedEncoder()) as other:
            report = other.sync(needs("data/eps"))
            assert (report.added, report.changed, report.removed) == (0, 0, 0)
            assert_same(one, other, QUERIES)
            assert other.workbooks() == one.workbooks()
            with other.copied(tmp_path / "back.sat") as back:
                assert_same(one, back, QUERIES)
                report = back.sync(needs("data/eps"), verify=True)
                assert (report.repaired, report.lost, report.changed) == (0, (), 0)
                assert_same(one, back, QUERIES)


def test_what_is_there_already_stays(file, url):  # noqa: F811
    with SheetIndex.create(url, HashedEncoder()) as index:
        with pytest.raises(InputError, match="exists already"):
            migrate_store(file, place_of(url))
        assert len(index) == 0


def test_a_missing_or_damaged_file_leaves_nothing(file, url, tmp_path):  # noqa: F811
    with pytest.raises(IndexNotFoundError):
        migrate_store(tmp_path / "none.sat", place_of(url))
    with SheetIndex.open(file, HashedEncoder()) as index:
        index.copied(tmp_path / "a.sat").close()
    with closing(sqlite3.connect(tmp_path / "a.sat")) as damaged, damaged:
        damaged.execute("UPDATE sheets SET record = replace(record, 'Fleet', 'Fleas')")
    with pytest.raises(IndexDamagedError, match="sat index FOLDER --verify"):
        migrate_store(tmp_path / "a.sat", place_of(url))
    assert not store_exists(place_of(url))


def test_a_table_that_differs_in_the_end_leaves_nothing(file, url, monkeypatch):  # noqa: F811
    read = migrating._read

    def short(source, table):
        rows = read(source, table)
        if table.name == "links":
            next(rows)
        return rows

    with monkeypatch.context() as patch:
        patch.setattr(migrating, "_copied", _copied_with(short, migrating._copied, patch))
        with pytest.raises(IndexFormatError, match="table links has"):
            migrate_store(file, place_of(url))
    assert not store_exists(place_of(url))


def _copied_with(reading, copied, patch):
    """Copy with another reader of tables, and compare with the true one."""

    def run(*arguments):
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(migrating, "_read", reading)
            return copied(*arguments)

    return run


@pytest.mark.slow
def test_killed_on_its_way_it_leaves_nothing(file, url):  # noqa: F811
    code = (
        "from sat_retriever.index.store.opening import migrate_store; from pathlib import Path; "
        "print('ready', flush=True); migrate_store(Path(sys.argv[1]), place_of(sys.argv[2]))"
    )
    killed = 0
    for kill in range(6):
        running = child(code, str(file), url)
        assert running.stdout.readline() == "ready\n"
        time.sleep(0.05 + 0.06 * kill)
        running.kill()
        running.wait()
        running.stdout.close()
        if store_exists(place_of(url)):
            break  # it had finished
        killed += 1
    assert killed
    if killed == 6:
        migrate_store(file, place_of(url))
    with SheetIndex.open(url) as index:
        assert len(index) == 360
