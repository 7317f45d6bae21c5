"""Many writers at once, killed writers, readers beside them, and a server that goes away."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import psycopg
import pytest

from benchmarks.pgserver import UnavailableError, new_server, started
from sat_retriever import Column, IndexBusyError, IndexStorageError, SheetIndex, SheetRecord
from sat_retriever.index.store.opening import open_store
from sat_retriever.index.store.place import place_of
from sat_retriever.index.store.postgres import locks
from sat_retriever.index.store.rows import NewWorkbook, SheetRow, WorkbookState
from sat_retriever.links.claims import discover
from sat_retriever.links.copies.claims import copy_claims
from tests.fakes import HashedEncoder
from tests.places import ROOT

WRITERS = 4
BOOKS = 12  # of each writer
KILLS = 24
PLACES = ("north", "south", "east", "west")  # a workbook of each kind in each
KINDS = ("vendor", "driver", "truck", "plant", "depot", "client")  # one joins all its workbooks


def book(name: str, state: int = 0) -> NewWorkbook:
    """A workbook whose sheets are linked and have copies; its hash and headers tell its state."""
    path, encoder = f"{name}.csv", HashedEncoder()
    kind, _, place = name.partition("-")
    key, told = Column(f"{kind}_id"), Column(f"state{state}")
    tabs = {each: (Column("region_id"), told, key) for each in ("Jan 2024", "Feb 2024")}
    tabs |= (
        {"Notes": (Column("text"), told)}
        if place not in ("", PLACES[0])
        else {f"{kind}s": (key, told)}
    )
    records = [
        SheetRecord(f"{path}#{tab}", tab, workbook=path, path=path, columns=x, content_hash=kind)
        for tab, x in tabs.items()
    ]
    tokens = encoder.encode_sheets([record.sheet for record in records])
    rows = [SheetRow(r, t) for r, t in zip(records, tokens, strict=True)]
    found = discover(records)
    claims = type(found.claims)(
        found.claims.external, found.claims.periods, found.claims.keys, copy_claims(records)
    )
    discovery = type(found)(found.links, claims)
    return NewWorkbook(WorkbookState("/root", path, 1, 1, 1, f"{name}/{state}"), rows, discovery)


def write(url: str, name: str, state: int = 0) -> None:
    store = open_store(place_of(url))
    with store.writing_beside_others():
        store.replace_workbooks([book(name, state)])
        store.settle()
    store.close()


def child(code: str, *arguments: str) -> subprocess.Popen[str]:
    """A process of its own, which has imported this module."""
    module = "tests.index.store.postgres.test_writers"
    return subprocess.Popen(
        [sys.executable, "-c", f"import sys; from {module} import *; {code}", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


WRITE_ALL = """
url, who = sys.argv[1:]
for number in range(BOOKS):
    place = PLACES[int(who) if number > 5 else 0]
    write(url, f"{KINDS[number % 6]}-{place}", int(who))
"""


def content(store) -> tuple[object, ...]:
    """All that depends on all workbooks, whatever order they were written in."""
    ids = store.all_sheet_ids()
    groups = store.copies.families(ids)
    members = {frozenset(i for i in groups if groups[i] == group) for group in groups.values()}
    links = [(x.source, x.target, x.type, x.weight, x.evidence) for x in store.links.all()]
    spelled = [row[0] for row in store._rows("SELECT word FROM spellings ORDER BY word")]
    return ids, links, members, spelled


def test_what_many_processes_write_at_once_is_as_if_one_wrote_it(url, postgres):
    """Same links, families and copies; six of the workbooks are written by all processes."""
    SheetIndex.create(url, HashedEncoder()).close()
    running = [child(WRITE_ALL, url, str(who)) for who in range(WRITERS)]
    assert [(each.communicate(timeout=120), each.returncode)[1] for each in running] == [
        0
    ] * WRITERS
    store = open_store(place_of(url))
    names = sorted(
        {
            f"{KINDS[n % 6]}-{PLACES[w if n > 5 else 0]}"
            for n in range(BOOKS)
            for w in range(WRITERS)
        }
    )
    assert [each.path for each in store.workbooks()] == [f"{name}.csv" for name in names]
    assert store.generation() >= WRITERS * BOOKS
    assert not store._rows("SELECT 1 FROM stale_families UNION SELECT 1 FROM stale_copies")
    alone = postgres.url(f"{place_of(url).namespace}b")
    SheetIndex.create(alone, HashedEncoder()).close()
    one = open_store(place_of(alone))
    for each in store.workbooks():
        name, state = each.content_hash.split("/")
        one.replace_workbooks([book(name, int(state))])
    one.settle()
    mine, theirs = content(store), content(one)
    assert mine == theirs
    assert {"join_key", "sibling_period"} <= {link[2] for link in mine[1]} and mine[2]
    store.close()
    one.close()


REPLACE = """
url, name = sys.argv[1:]
store = open_store(place_of(url))
print("ready", flush=True)
for state in range(1, 10_000):
    store.replace_workbooks([book(name, state)])
    store.settle()
"""


@pytest.mark.slow
def test_a_workbook_is_wholly_old_or_new_when_its_writer_is_killed(url):
    with SheetIndex.create(url, HashedEncoder()) as index:
        store = index._store
        for name in ("a", "b"):
            store.replace_workbooks([book(name)])
        seen = set()
        for kill in range(KILLS):
            running = child(REPLACE, url, "a")
            assert running.stdout.readline() == "ready\n"
            time.sleep(0.02 + 0.011 * kill)
            running.kill()
            running.wait()
            running.stdout.close()
            seen.add(whole(store, "a"))
            assert whole(store, "b") == 0
        assert len(seen) > 1  # it was killed on its way
        write(url, "a", 7)
        assert whole(store, "a") == 7
        assert index.candidates("jan 2024", 10)


def whole(store, name: str) -> int:
    """The state that a workbook is in.

    Raises:
        AssertionError: If parts of it are in different states.
    """
    with store.reading():
        [state] = [x for x in store.workbooks() if x.path == f"{name}.csv"]
        number = int(state.content_hash.split("/")[1])
        ids = store.all_sheet_ids(f"{name}.csv")
        assert len(ids) == 3
        records = store.records(ids)
        assert {r.columns[1].name for r in records.values()} == {f"state{number}"}
        rows = store.row_ids(ids)
        words = store.postings(f"state{number}")[2]
        assert set(rows.values()) <= set(words.tolist())
        sql = (
            "SELECT (SELECT count(*) FROM tokens), (SELECT count(*) FROM vectors), "
            "(SELECT count(*) FROM words), (SELECT count(*) FROM copies), count(*) FROM sheets"
        )
        assert len(set(store._rows(sql)[0])) == 1
    return number


def test_a_writer_does_not_wait_for_one_of_another_workbook_until_both_link(url, monkeypatch):
    """The other holds its workbook's lock and has inserted vectors; ours goes by."""
    with SheetIndex.create(url, HashedEncoder()) as index:
        store = index._store
        reached, go = threading.Event(), threading.Event()
        lock_rows = locks.lock_rows

        def slow(session, namespace):
            if threading.current_thread() is other:
                reached.set()
                go.wait(20)
            lock_rows(session, namespace)

        monkeypatch.setattr(locks, "lock_rows", slow)
        other = threading.Thread(target=lambda: store.replace_workbooks([book("other")]))
        other.start()
        assert reached.wait(20)
        store.replace_workbooks([book("ours")])
        assert [each.path for each in store.workbooks()] == ["ours.csv"]
        # The same workbook waits.
        monkeypatch.setattr(locks, "ROWS_WAIT_S", 0.2)
        with pytest.raises(IndexBusyError, match="try again later"):
            store.replace_workbooks([book("other")])
        go.set()
        other.join()
        assert [each.path for each in store.workbooks()] == ["other.csv", "ours.csv"]
        newest = store.row_ids(store.all_sheet_ids("other.csv")).values()
        assert min(newest) > max(store.row_ids(store.all_sheet_ids("ours.csv")).values())


def test_readers_never_wait_and_see_one_state(url):
    with SheetIndex.create(url, HashedEncoder()) as index:
        store = index._store
        store.replace_workbooks([book("a")])
        with store.reading():
            before = store.generation()
            held = threading.Thread(target=write, args=(url, "a", 1))
            held.start()
            held.join(20)
            assert not held.is_alive()  # the writer does not wait for the reader
            assert store.generation() == before and whole_state(store) == 0
        assert store.generation() > before and whole_state(store) == 1
        with store._writing():  # every lock of a writer
            asked = threading.Thread(target=lambda: index.candidates("jan", 3))
            asked.start()
            asked.join(20)
            assert not asked.is_alive()


def whole_state(store) -> int:
    return int(store.workbooks()[0].content_hash.split("/")[1])


def test_encoding_anew_needs_the_index_alone(url, monkeypatch):
    monkeypatch.setattr(locks, "WRITER_WAIT_S", 0.2)
    with SheetIndex.create(url, HashedEncoder()) as index, SheetIndex.open(url) as other:
        with index._store.writing_beside_others():
            with other._store.writing_beside_others():
                pass
            with pytest.raises(IndexBusyError), other._store.sole_writer():
                pass
        with (
            index._store.sole_writer(),
            pytest.raises(IndexBusyError),
            other._store.writing_beside_others(),
        ):
            pass
        with other._store.sole_writer():
            pass


@pytest.fixture
def own_server():
    try:
        with new_server() as server:
            yield server
    except UnavailableError as reason:
        pytest.skip(str(reason))


@pytest.mark.slow
def test_a_killed_server_loses_no_whole_workbook_and_readers_go_on(own_server):
    url = own_server.url("sheets")
    with SheetIndex.create(url, HashedEncoder()) as index:
        index._store.replace_workbooks([book("a")])
        running = child(REPLACE, url, "a")
        assert running.stdout.readline() == "ready\n"
        time.sleep(0.5)
        own_server.kill()
        assert running.wait(60) != 0
        running.stdout.close()
        with pytest.raises(IndexStorageError):
            index.candidates("jan")
        started(own_server.folder)
        whole(index._store, "a")
        assert index.candidates("jan 2024", 3)
        write(url, "a", 5)
        assert whole(index._store, "a") == 5


def test_a_writer_whose_lock_was_lost_with_its_connection_writes_no_more(url, postgres):
    with SheetIndex.create(url, HashedEncoder()) as index:
        store = index._store
        with pytest.raises(IndexStorageError), store.writing_beside_others():
            with psycopg.connect(postgres.conninfo, autocommit=True) as admin:
                admin.execute(
                    "SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_stat_activity a "
                    "ON a.pid = l.pid WHERE l.locktype = 'advisory' AND a.pid != pg_backend_pid() "
                    "AND a.query LIKE '%sat_version%'"
                )
            store.replace_workbooks([book("a")])
        assert not store.workbooks()
