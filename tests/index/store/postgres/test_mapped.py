"""A large index in PostgreSQL: each host's readers keep it as mapped files of their own."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from platformdirs import user_cache_path

from benchmarks.speed.latency import queries, records
from sat_retriever import SheetIndex
from sat_retriever.index.search import columns as column_module
from sat_retriever.index.search import mapped_write
from tests.fakes import HashedEncoder

SHEETS = 300
ASKED = queries(12)


@pytest.fixture(autouse=True)
def large(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(column_module, "ALL", 100)
    monkeypatch.setattr(mapped_write, "_COMMON", 10)


@pytest.fixture
def filled(url):
    with SheetIndex.create(url, HashedEncoder(128)) as index:
        index.add_records(records(SHEETS))
    return url


def kept():
    """The mapped states on this host, of all indexes."""
    return sorted(user_cache_path("sat-retriever").glob("indexes/*/g*"))


def opened(url):
    return SheetIndex.open(url, HashedEncoder(128))


def answers(index):
    return [
        [(each.sheet_id, round(each.score, 5)) for each in index.candidates(text, 10)]
        for text in ASKED
    ]


def columns(index):
    return index.question("x").scores.snapshot.columns


def as_file(index, tmp_path):
    """What a copy of the index in a file answers, which has no mapped state."""
    with index.copied(tmp_path / "copy.sat") as copy:
        found = answers(copy)
        assert columns(copy).frequent is None
    return found


def test_the_first_reader_of_a_host_writes_what_others_map(filled, tmp_path):
    assert not kept()  # writers keep nothing
    with opened(filled) as first, opened(filled) as second:
        expected = as_file(first, tmp_path)
        assert answers(first) == expected
        [state] = kept()
        assert answers(second) == expected
        assert columns(first).frequent and columns(second).frequent
        assert kept() == [state]
    assert state.parent.parent.stat().st_mode & 0o777 == 0o700


def test_readers_that_come_together_write_one_state(filled, tmp_path):
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: _answers_of_new_reader(filled), range(4)))
    with opened(filled) as index:
        assert found == [as_file(index, tmp_path)] * 4
    assert len(kept()) == 1


def _answers_of_new_reader(url):
    with opened(url) as index:
        return answers(index)


def test_few_changes_are_read_and_many_are_mapped_by_a_reader_that_stays_open(filled, tmp_path):
    with opened(filled) as reader, opened(filled) as writer:
        answers(reader)
        [first] = kept()
        best = [each.sheet_id for each in reader.candidates(ASKED[0], 3)]
        writer.remove(best)
        assert answers(reader) == as_file(writer, tmp_path)
        assert kept() == [first]
        writer.add_records(records(200, seed=3))
        assert answers(reader) == as_file(writer, tmp_path)
        [second] = kept()
        assert second != first
        assert columns(reader).frequent.until == columns(reader).ids[-1]


def test_an_index_made_anew_at_the_same_url_has_a_state_of_its_own(filled, tmp_path):
    with opened(filled) as index:
        answers(index)
        index._store.delete()
    with SheetIndex.create(filled, HashedEncoder(128)) as index:
        index.add_records(records(SHEETS, seed=9))
        assert answers(index) == as_file(index, tmp_path)
    first, second = kept()
    assert first.parent != second.parent


@pytest.mark.parametrize("name", ["state.json", "tokens.codes.npy"])
def test_a_damaged_state_is_written_anew(filled, tmp_path, name):
    with opened(filled) as index:
        expected = answers(index)
    [damaged] = kept()
    (damaged / name).write_bytes(b"no")
    with opened(filled) as index:
        assert answers(index) == expected
        assert columns(index).frequent
    assert damaged not in kept()


def test_a_host_without_a_cache_answers_from_memory(filled, tmp_path):
    folder = user_cache_path("sat-retriever")
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("a file in its place")
    with opened(filled) as index:
        assert answers(index) == as_file(index, tmp_path)
        assert columns(index).frequent is None


def test_an_index_that_is_no_longer_large_needs_no_state(filled, tmp_path):
    with opened(filled) as index:
        answers(index)
        index.remove(index.sheet_ids()[90:])
        assert answers(index) == as_file(index, tmp_path)
