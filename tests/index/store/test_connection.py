"""An index in a folder of somebody else, who lets others read and not write."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from sat_retriever import SheetIndex, SheetRecord
from tests.fakes import HashedEncoder
from tests.places import ROOT

NOBODY = 65534
READER = f"""
import os, sys
from pathlib import Path
from sat_retriever import SatError, SheetIndex, SheetRecord
from tests.fakes import HashedEncoder

def answer(ask):
    try:
        print(ask(), flush=True)
    except SatError as error:
        print(type(error).__name__, error, flush=True)

file = Path(sys.argv[1])
found = lambda: [hit.sheet_id for hit in opened.candidates("alpha")]
with SheetIndex.open(file, HashedEncoder()) as opened:
    # What is loaded late is loaded, should another user not get at it.
    found()
    opened.remove([])
os.setgroups([])
os.setgid({NOBODY})
os.setuid({NOBODY})
if not os.access(file, os.R_OK) or os.access(file.parent, os.W_OK):
    sys.exit("unsuited")
try:
    opened = SheetIndex.open(file, HashedEncoder())
except SatError as error:
    print(type(error).__name__, error, flush=True)
else:
    answer(found)
    answer(lambda: opened.add_records([SheetRecord("x", "x")]))
    sys.stdin.readline()
    answer(found)
    opened.close()
    opened = SheetIndex.open(file, HashedEncoder())
    answer(found)
"""


@pytest.fixture
def shared():
    """A folder that all users can read, which they cannot below `tmp_path`."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def index(shared):
    with SheetIndex.create(shared / "a.sat", HashedEncoder()) as opened:
        opened.add_records([SheetRecord("a", "Alpha")])
        yield opened


@pytest.fixture
def reader(index):
    """Starts another user's process; it says what it reads, waits for a line, reads again."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root may become another user")
    started = []

    def start():
        process = subprocess.Popen(
            [sys.executable, "-c", READER, str(index.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            cwd=ROOT,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def told(process):
    """The next line that a reader says."""
    line = process.stdout.readline().rstrip("\n")
    if not line:
        problem = process.communicate()[1]
        if problem == "unsuited\n":
            pytest.skip("another user cannot read, or can write, what is in the temporary folder")
        raise AssertionError(problem)
    return line


def go_on(process):
    process.stdin.write("\n")
    process.stdin.flush()


def test_an_index_in_a_folder_that_one_may_only_read_can_be_searched(shared, index, reader):
    index.close()
    assert sorted(path.name for path in shared.iterdir()) == ["a.sat", "a.sat.lock"]
    process = reader()
    assert told(process) == "['a']"
    assert told(process).startswith("IndexStorageError ")
    go_on(process)
    assert [told(process), told(process)] == ["['a']", "['a']"]


def test_what_the_owner_wrote_meanwhile_is_read_after_opening_again(shared, index, reader):
    index.close()
    process = reader()
    assert told(process) == "['a']"
    told(process)
    with SheetIndex.open(index.path, HashedEncoder()) as owner:
        owner.add_records([SheetRecord("b", "Alpha")])
    go_on(process)
    refused = told(process)
    assert refused.startswith("IndexStorageError ")
    assert refused.endswith("written to since it was opened for reading only: open it again")
    assert told(process) == "['a', 'b']"


def test_a_reader_sees_what_the_owner_is_writing(index, reader):
    process = reader()
    assert told(process) == "['a']"
    told(process)
    index.add_records([SheetRecord("b", "Alpha")])
    go_on(process)
    assert [told(process), told(process)] == ["['a', 'b']", "['a', 'b']"]
