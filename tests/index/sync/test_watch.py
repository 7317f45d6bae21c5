"""What counts as a change, and what is due when."""

import time
from itertools import islice
from pathlib import Path

import pytest

from sat_retriever.errors import IndexBusyError, IndexFormatError, InputError, RemoteError
from sat_retriever.index.sync import watch
from sat_retriever.index.sync.watch import Waiting, counts, due_paths, follow

INDEX = Path("/data/x.sat")


@pytest.mark.parametrize("name", ["a.xlsx", "sub/b.csv", "sub", "report.txt", "x~1.xlsx"])
def test_files_and_folders_below_a_place_count(name):
    assert counts(Path("/data", name), [Path("/data")], INDEX)


@pytest.mark.parametrize(
    "name",
    [
        "~$a.xlsx", ".~lock.a.ods#", ".a.xlsx.swp", "A1B2.tmp", "a.xlsx.part", "a.crdownload",
        "a.xlsx~", ".git/a.xlsx", "x.sat", "x.sat-wal", "x.sat.lock",
        "x.sat-snapshot/g1/ids.npy", "../other/a.xlsx",
    ],
)  # fmt: skip
def test_locks_partial_and_hidden_files_and_the_index_do_not(name):
    path = Path("/other/a.xlsx") if name.startswith("..") else Path("/data", name)
    assert not counts(path, [Path("/data")], INDEX)


def test_of_a_folder_with_a_named_file_only_that_file_counts():
    named = [Path("/data/a.xlsx")]
    assert counts(Path("/data/a.xlsx"), named, INDEX)
    assert not counts(Path("/data/b.xlsx"), named, INDEX)


def test_urls_are_polled_and_paths_are_if_it_is_asked_for():
    assert Waiting().watched(["/data", "s3://b"]) == ["/data"]
    assert Waiting(poll_all=True).watched(["/data", "s3://b"]) == []
    polled = due_paths(["/data", "s3://b"], INDEX, Waiting(poll_s=0.01, poll_all=True))
    assert next(filter(None, islice(polled, 100))) == ("/data", "s3://b")


def test_watching_begins_with_a_look_and_goes_on_when_the_folder_is_back(tmp_path):
    pytest.importorskip("watchfiles", reason="watchfiles is not installed")
    folder = tmp_path / "in"
    folder.mkdir()
    due = due_paths([folder], tmp_path / "x.sat", Waiting(quiet_s=0.05))
    assert next(due) == (folder,)
    (folder / "~$a.xlsx").write_bytes(b"")
    (folder / "a.csv").write_bytes(b"a,b\n")
    assert next(filter(None, due)) == (folder,)
    (folder / "a.csv").unlink()
    (folder / "~$a.xlsx").unlink()
    folder.rmdir()
    assert next(filter(None, due)) == (folder,)
    assert next(due) == ()
    folder.mkdir()
    assert next(filter(None, due)) == (folder,)
    due.close()


def test_a_file_that_is_still_being_written_is_not_due(tmp_path):
    pytest.importorskip("watchfiles", reason="watchfiles is not installed")
    due = due_paths([tmp_path], tmp_path / "x.sat", Waiting(quiet_s=1.0))
    assert next(due) == (tmp_path,)
    ended = time.monotonic() + 4
    with (tmp_path / "a.csv").open("w") as file:
        while time.monotonic() < ended:
            file.write("1,2\n")
            file.flush()
            assert next(due) == ()
    assert next(filter(None, due)) == (tmp_path,)
    due.close()


def test_a_burst_that_does_not_end_is_due_after_the_longest_time(tmp_path, monkeypatch):
    pytest.importorskip("watchfiles", reason="watchfiles is not installed")
    monkeypatch.setattr(watch, "_LONGEST_S", 2.0)
    due = due_paths([tmp_path], tmp_path / "x.sat", Waiting(quiet_s=1.5))
    assert next(due) == (tmp_path,)
    found, ended = [], time.monotonic() + 6
    while time.monotonic() < ended and not any(found):
        (tmp_path / f"{len(found)}.csv").write_text("1,2\n")
        found.append(next(due))
    assert found[-1] == (tmp_path,)
    due.close()


def test_a_folder_that_is_away_does_not_hold_up_what_changes_in_another(tmp_path):
    pytest.importorskip("watchfiles", reason="watchfiles is not installed")
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    due = due_paths(folders, tmp_path / "x.sat", Waiting(quiet_s=0.05))
    assert next(due) == tuple(folders)
    folders[0].rmdir()
    assert next(filter(None, due)) == tuple(folders)
    assert next(due) == tuple(folders)  # watching begins anew
    (folders[1] / "a.csv").write_text("1,2\n")
    assert next(filter(None, islice(due, 100)), None) == tuple(folders)
    due.close()


def test_a_path_that_fails_does_not_hold_up_the_others(monkeypatch):
    monkeypatch.setattr(watch, "_RETRY_S", 0.01)
    synced, told = [], []

    def sync(due):
        synced.append(due)
        if len(synced) == 5:
            raise KeyboardInterrupt
        if "s3://away" in due:
            raise RemoteError("away")

    with pytest.raises(KeyboardInterrupt):
        follow(["s3://away", "s3://b"], INDEX, sync, Waiting(poll_s=9.0), told.append)
    both, away, other = ["s3://away", "s3://b"], ["s3://away"], ["s3://b"]
    assert synced == [both, away, other, away, away]
    assert [str(each) for each in told] == ["away", "away"]


def test_a_folder_that_cannot_be_watched_says_what_helps(tmp_path, monkeypatch):
    """A system's limit on what is watched cannot be set in a test; its error is as Linux says."""
    watchfiles = pytest.importorskip("watchfiles", reason="watchfiles is not installed")

    def full(*_, **__):
        raise OSError("OS file watch limit reached. about [/data]")
        yield

    monkeypatch.setattr(watchfiles, "watch", full)
    with pytest.raises(InputError, match=r"limit reached.* with --poll"):
        next(due_paths([tmp_path], INDEX, Waiting()))


def test_a_failed_sync_is_tried_again_with_all_that_is_due(monkeypatch):
    monkeypatch.setattr(watch, "_RETRY_S", 0.01)
    errors = [IndexBusyError("busy"), OSError(28, "No space")]
    synced, told = [], []

    def sync(due):
        synced.append(due)
        if errors:
            raise errors.pop(0)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        follow(["s3://b"], INDEX, sync, Waiting(poll_s=0.02), told.append)
    assert synced == [["s3://b"]] * 3
    assert [type(each) for each in told] == [IndexBusyError, OSError]


def test_a_file_that_is_no_index_ends_it():
    def sync(_due):
        raise IndexFormatError("no index")

    with pytest.raises(IndexFormatError):
        follow(["s3://b"], INDEX, sync, Waiting(), print)
