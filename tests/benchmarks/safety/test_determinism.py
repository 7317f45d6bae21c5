"""Fresh indexes of one folder, compared by everything they store."""

import argparse
import sqlite3

import numpy as np
import psutil
import pytest

from benchmarks.safety import determinism, large
from benchmarks.safety.busy import busy
from benchmarks.safety.stored import differing_files, stored_hashes
from sat_retriever import SheetIndex
from tests.fakes import HashedEncoder


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "data"
    made.mkdir()
    for name in ("sales 2023", "sales 2024", "staff"):
        (made / f"{name}.csv").write_text("Region,Amount\nNorth,1\nSouth,2\n")
    return made


def indexed(folder, file, workers):
    with SheetIndex.create(file, HashedEncoder()) as index:
        index.sync(folder, workers=workers)
    return stored_hashes(file)


def test_equal_folders_have_equal_hashes_whatever_order_their_files_came_in(folder, tmp_path):
    one = indexed(folder, tmp_path / "one.sat", 1)
    assert indexed(folder, tmp_path / "two.sat", 2) == one
    (folder / "staff.csv").touch()  # read last now, and of another time
    assert {part for part, value in indexed(folder, tmp_path / "3.sat", 2).items()
            if value != one[part]} == {"workbooks"}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ("UPDATE tokens SET token = zeroblob(length(token)) WHERE id = 1", "tokens"),
        ("UPDATE sheets SET record = replace(record, 'Region', 'region')", "sheets"),
        ("UPDATE workbooks SET skipped = '[1]' WHERE id = 1", "workbooks"),
        ("UPDATE links SET evidence = 'other'", "links"),
        ("DELETE FROM periods", "periods"),
        ("UPDATE lexical SET headers = 'other' WHERE rowid = 1", "words"),
    ],
)
def test_a_change_to_anything_stored_changes_the_hash_of_its_part(change, part, folder, tmp_path):
    before = indexed(folder, tmp_path / "one.sat", 1)
    with sqlite3.connect(tmp_path / "one.sat") as file:
        assert file.execute(change).rowcount
    after = stored_hashes(tmp_path / "one.sat")
    assert {name for name in before if before[name] != after[name]} == {part}


def test_tokens_that_differ_by_rounding_are_no_difference_of_files(folder, tmp_path):
    one, other = tmp_path / "one.sat", tmp_path / "two.sat"
    for file in (one, other):
        indexed(folder, file, 1)
    assert differing_files(one, other) == []
    nudge(other, 1e-7)
    assert stored_hashes(one)["tokens"] != stored_hashes(other)["tokens"]
    assert differing_files(one, other) == []
    nudge(other, 1e-3)
    assert differing_files(one, other) == ["tokens"]


@pytest.mark.parametrize("change", ["UPDATE tokens SET months = 7", "DELETE FROM tokens"])
def test_all_else_beside_tokens_must_be_equal(change, folder, tmp_path):
    one, other = tmp_path / "one.sat", tmp_path / "two.sat"
    for file in (one, other):
        indexed(folder, file, 1)
    with sqlite3.connect(other) as file:
        file.execute(change)
    assert differing_files(one, other) == ["tokens"]


def nudge(file, by):
    with sqlite3.connect(file) as opened:
        [(token,)] = opened.execute("SELECT token FROM tokens WHERE id = 1").fetchall()
        moved = np.frombuffer(token, "<f4") + np.float32(by)
        opened.execute("UPDATE tokens SET token = ? WHERE id = 1", (moved.tobytes(),))


def test_busy_processes_run_and_end_with_their_block():
    before = _children()
    with busy(2):
        running = _children() - before
    assert len(running) == 2
    assert not running & _children()


def _children():
    return {child.pid for child in psutil.Process().children()}


@pytest.mark.slow
def test_indexings_of_a_folder_beside_busy_processes_are_counted_and_compared(folder, tmp_path):
    options = argparse.Namespace(work=tmp_path, times=1, busy=1)
    result = determinism.measure("data", folder, options)
    assert (result.metrics["sheets"], result.metrics["different"]) == (3, 0)
    assert [(row["workers"], row["busy"]) for row in result.per_query] == [(2, 0), (1, 1)]


@pytest.mark.slow
def test_a_large_file_is_measured_calm_and_busy(folder, tmp_path):
    metrics = large.measure("staff.csv", folder, tmp_path, 1)
    assert (metrics["sheets"], metrics["partial"], metrics["equal"]) == (3, 0, True)
    assert metrics["calm_peak_mib"] > 10
