"""What is kept beside a large index: used when it fits, passed over when it does not."""

import json
import os
import shutil
import stat
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.speed.latency import queries, records
from sat_retriever import Column, SheetIndex, SheetRecord
from sat_retriever.index.search import columns, mapped_write
from sat_retriever.records.contents import CellText, SheetContents
from tests.fakes import HashedEncoder

SHEETS = 300
ASKED = queries(12)


@pytest.fixture(autouse=True)
def large(monkeypatch):
    monkeypatch.setattr(columns, "ALL", 100)
    monkeypatch.setattr(mapped_write, "_COMMON", 10)
    monkeypatch.setattr(mapped_write, "_DENSE_IN_CONTENTS", 4)


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "a.sat"
    with SheetIndex.create(made, HashedEncoder(128)) as index:
        index.add_records(records(SHEETS))
    return made


def folder_of(path):
    return path.with_name(path.name + "-snapshot")


def opened(path):
    return SheetIndex.open(path, HashedEncoder(128))


def answers(path):
    """The best sheets of every question and their scores, and true if mapped files were used."""
    with opened(path) as index:
        found = [
            [(each.sheet_id, round(each.score, 5)) for each in index.candidates(text, 10)]
            for text in ASKED
        ]
        columns = index.question("x").scores.snapshot.columns
        return found, columns.frequent is not None


def unmapped(path):
    """What `answers` finds in a copy without mapped files."""
    copy = path.with_name("copy.sat")
    with opened(path) as index:
        index.copied(copy).close()
    found, used = answers(copy)
    assert not used
    copy.unlink()
    return found


def state_of(path):
    [folder] = folder_of(path).iterdir()
    return folder


@pytest.mark.skipif(os.name != "posix", reason="rights of files are those of POSIX")
@pytest.mark.parametrize(("file", "folder"), [(0o600, 0o700), (0o640, 0o750), (0o644, 0o755)])
def test_who_may_not_read_the_index_cannot_enter_the_folder(path, file, folder):
    shutil.rmtree(folder_of(path))
    path.chmod(file)
    with opened(path) as index:
        index.add_records(records(1))
    assert stat.S_IMODE(folder_of(path).stat().st_mode) == folder
    assert answers(path)[1]


def test_a_new_reader_maps_what_a_writer_left(path):
    assert answers(path) == (unmapped(path), True)
    assert all(each.suffix in (".npy", ".json") for each in state_of(path).iterdir())


def test_what_is_beside_an_index_is_no_file_of_its_folder(path):
    with opened(path) as index:
        report = index.sync(path.parent)
    assert (report.ignored, report.skipped) == (0, ())


def test_a_small_index_keeps_nothing_beside_it(tmp_path, path):
    with SheetIndex.create(tmp_path / "b.sat", HashedEncoder(128)) as index:
        index.add_records(records(50))
    assert not folder_of(tmp_path / "b.sat").exists()
    with opened(path) as index:
        index.remove(index.sheet_ids()[90:])
    assert not folder_of(path).exists()


def test_sheets_that_came_or_went_later_count(path):
    before = state_of(path).name
    with opened(path) as index, opened(path) as reader:
        reader.candidates(ASKED[0], 10)  # holds the earlier state
        best = [each.sheet_id for each in reader.candidates(ASKED[0], 3)]
        index.remove(best[:2])
        late = SheetRecord("late", ASKED[0], columns=(Column("Date"),))
        index.add_records([late])
        found = [each.sheet_id for each in reader.candidates(ASKED[0], 10)]
    assert state_of(path).name == before  # few changes do not renew it
    assert answers(path) == (unmapped(path), True)
    assert "late" in found
    assert not set(best[:2]) & set(found)


def test_many_changes_renew_it(path):
    before = state_of(path).name
    with opened(path) as index:
        index.remove(index.sheet_ids()[:60])
    assert state_of(path).name != before
    assert answers(path) == (unmapped(path), True)


@pytest.fixture
def with_contents(tmp_path):
    """Sheets of which every third has no contents; some words are in most, others in few."""
    path = tmp_path / "c.sat"
    with SheetIndex.create(path, HashedEncoder(128)) as index:
        index.add_records(
            record if number % 3 else replace(record, contents=None)
            for number, record in enumerate(records(SHEETS, contents=True))
        )
    return path


def test_frequent_words_of_contents_score_as_looked_up(with_contents):
    assert answers(with_contents) == (unmapped(with_contents), True)
    with opened(with_contents) as index:
        snapshot = index.question("x").scores.snapshot
        words = snapshot.columns.frequent.contents
        assert (words.dense >= 0).any() and (words.dense < 0).any()
        found = snapshot.whole.contents
        for word, number in words.numbers.items():
            looked_up = index._store.content_postings(word)
            scored = found.word(word)
            assert snapshot.whole.ids[scored.rows].tolist() == looked_up.tolist()
            assert (scored.sheets, words.having[number]) == (len(looked_up), len(looked_up))
            for most in (255, 40):
                shares = found.shares(word, most)
                assert np.flatnonzero(shares).tolist() == scored.rows.tolist()
                exact = scored.scores / scored.limit * most
                assert shares[scored.rows] == pytest.approx(exact, abs=1.01)


def test_contents_that_came_or_went_later_count(with_contents):
    with opened(with_contents) as index:
        best = [each.sheet_id for each in index.candidates(ASKED[0], 3)]
        index.remove([*best[:2], *index.sheet_ids()[:9]])
        late = SheetContents((CellText("A1", f"{ASKED[0]} {ASKED[1]}"),))
        index.add_records([SheetRecord("late", "late", contents=late)])
        assert "late" in [each.sheet_id for each in index.candidates(ASKED[0], 10)]
    found, used = answers(with_contents)
    assert (found, used) == (unmapped(with_contents), True)


@pytest.mark.parametrize(
    "name",
    ["state.json", "ids.npy", "tokens.codes.npy", "tokens.scales.npy", "tokens.order.npy",
     "names.rows.npy", "names.dense_fields.npy", "contents.dense_bits.npy", "contents.shares.npy"],
)  # fmt: skip
def test_a_damaged_state_is_passed_over(path, name):
    expected = unmapped(path)
    file = state_of(path) / name
    file.write_bytes(file.read_bytes()[:-9])
    assert answers(path) == (expected, False)
    file.unlink()
    assert answers(path) == (expected, False)


def test_positions_outside_the_index_are_never_followed(path):
    expected = unmapped(path)
    for name, value in (("tokens.order", SHEETS + 5), ("periods.codes", 30_000)):
        file = state_of(path) / f"{name}.npy"
        kept = file.read_bytes()
        values = np.load(file)
        values[3] = value
        np.save(file, values)
        assert answers(path) == (expected, False)
        file.write_bytes(kept)
    file = state_of(path) / "names.rows.npy"
    np.save(file, np.full_like(np.load(file), 2**32 - 1))
    assert answers(path) == (expected, False)


def test_no_object_is_unpickled(path):
    np.save(state_of(path) / "ids.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    assert not answers(path)[1]


def test_the_state_of_another_index_is_passed_over(tmp_path, path):
    other = tmp_path / "other.sat"
    with SheetIndex.create(other, HashedEncoder(128)) as index:
        index.add_records(records(SHEETS, seed=9))
    expected = unmapped(path)
    shutil.rmtree(folder_of(path))
    shutil.copytree(folder_of(other), folder_of(path))
    assert answers(path) == (expected, False)


def test_the_state_of_another_format_or_a_newer_one_is_passed_over(path):
    file = state_of(path) / "state.json"
    state = json.loads(file.read_text())
    for change in ({"format": 0}, {"generation": 10**6}, {"fingerprint": "x"}, {"sheets": 5}):
        file.write_text(json.dumps(state | change))
        assert not answers(path)[1]


def test_an_index_works_where_nothing_can_be_written_beside_it(tmp_path):
    path = tmp_path / "d.sat"
    folder_of(path).write_text("a file in its place")
    with SheetIndex.create(path, HashedEncoder(128)) as index:
        index.add_records(records(SHEETS))
    assert not answers(path)[1]


def test_a_state_in_use_may_be_replaced_and_removed(path):
    with opened(path) as reader, opened(path) as writer:
        first = reader.candidates(ASKED[0], 5)
        writer.add_records(records(200, seed=3))  # renews it
        shutil.rmtree(folder_of(path))
        assert len(reader.candidates(ASKED[0], 5)) == len(first)
