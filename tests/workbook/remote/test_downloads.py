"""Downloads end with their process, however it ends; those of running processes stay."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from sat_retriever.workbook.remote.downloads import downloads_folder

HOLD = """
from sat_retriever.workbook.remote.downloads import downloads_folder
(downloads_folder() / "a.xlsx").write_bytes(b"a")
print(downloads_folder(), flush=True)
input()
"""


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@contextmanager
def holding(home):
    """Another process with a download."""
    running = subprocess.Popen(
        [sys.executable, "-c", HOLD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(home)},
        text=True,
    )
    try:
        yield running, home / running.stdout.readline().strip()
    finally:
        running.kill()
        running.communicate()


def test_a_process_deletes_its_downloads_when_it_ends(home):
    with holding(home) as (running, folder):
        assert (folder / "a.xlsx").is_file()
        assert folder.stat().st_mode & 0o777 == 0o700
        running.communicate("\n")
        assert running.returncode == 0
        assert list(home.iterdir()) == []


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM], ids=str)
def test_downloads_of_a_killed_process_are_deleted_by_the_next_and_others_stay(home, sign):
    with holding(home) as (alive, kept), holding(home) as (killed, left):
        killed.send_signal(sign)
        killed.wait()
        assert (left / "a.xlsx").is_file()
        own = downloads_folder()
        assert not left.exists()
        assert (kept / "a.xlsx").is_file()
        assert own not in (kept, left)
        assert downloads_folder() == own
        assert alive.poll() is None


def test_a_link_in_place_of_a_lock_leads_nowhere(home, tmp_path_factory):
    other = tmp_path_factory.mktemp("other") / "x.lock"
    other.touch()
    folder = home / "sat-downloads-1"
    folder.mkdir()
    folder.with_name("sat-downloads-1.lock").symlink_to(other)
    downloads_folder()
    assert (folder.is_dir(), other.is_file()) == (True, True)


def test_a_folder_that_was_cleaned_away_is_made_again(home):
    downloads_folder().rmdir()
    assert downloads_folder().is_dir()
