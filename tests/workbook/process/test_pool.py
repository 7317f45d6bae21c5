import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
import xlsxwriter

from benchmarks.safety.mutants import made_seeds
from sat_retriever import Limits, read_workbook
from sat_retriever.records.area import Area
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.messages import Request, Window
from sat_retriever.workbook.process.ask import _asked, ask
from sat_retriever.workbook.process.pool import Slot, close_idle
from sat_retriever.workbook.process.worker import Worker, WorkerFailed
from sat_retriever.workbook.read import READ_ALL, LocalFile, read_files

resource = pytest.importorskip("resource", reason="Windows has no limits on resources")
SEEDS = made_seeds()
BIG_CSV_HEADER, BIG_CSV_ROW = b"Key,Value,Day,Note\n", b"abc,1.25,2024-01-31,some text\n"
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="memory caps and /proc are Linux's")


@pytest.fixture(scope="module")
def big_csv(tmp_path_factory):
    """About 30 MB of text: seconds of work, tens of MB of memory."""
    path = tmp_path_factory.mktemp("big") / "big.csv"
    path.write_bytes(BIG_CSV_HEADER + BIG_CSV_ROW * 1_000_000)
    return path


@pytest.fixture
def small_csv(tmp_path):
    path = tmp_path / "small.csv"
    path.write_bytes(SEEDS["list.csv"])
    return path


@pytest.fixture(scope="module")
def thin_sheet(tmp_path_factory):
    """Two cells whose block has ten million cells: calamine takes 320 MB for it."""
    path = tmp_path_factory.mktemp("thin") / "thin.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("Thin")
        sheet.write("A1", "Corner")
        sheet.write(99_999, 99, 1)
    return path


def gone(pid, seconds=60.0):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


def children(pid):
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += [int(child) for child in (task / "children").read_text().split()]
    return found


def test_a_file_that_takes_too_much_processor_time_is_kept_in_part(big_csv):
    book = read_workbook(big_csv, limits=Limits(seconds=0.8))
    assert [(skip.reason, skip.sheet) for skip in book.skipped] == [(SkipReason.TIMEOUT, "big")]
    assert "0.8 seconds of processor time" in book.skipped[0].message
    (record,) = book.records
    assert record.partial
    assert [column.name for column in record.columns] == ["Key", "Value", "Day", "Note"]
    assert 1_000 < record.num_rows < 1_000_001


def test_a_reader_that_stands_still_is_given_up_by_the_clock(small_csv):
    worker = Worker.start()
    os.kill(worker._process.pid, signal.SIGSTOP)
    request = Request(str(small_csv), "small.csv", limits=Limits(wall_seconds=0.5))
    with pytest.raises(WorkerFailed, match=r"within 0\.5 seconds of wall-clock time") as failed:
        list(worker.ask(request))
    assert failed.value.reason is SkipReason.TIMEOUT
    assert not worker.alive


@LINUX
def test_the_system_ends_a_reader_beyond_its_processor_time(small_csv, big_csv):
    worker = Worker.start()
    list(worker.ask(Request(str(small_csv), "small.csv", limits=Limits(seconds=7))))
    soft, _hard = resource.prlimit(worker._process.pid, resource.RLIMIT_CPU)
    assert 7 <= soft <= 12
    answers = worker.ask(Request(str(big_csv), "big.csv"))
    os.kill(worker._process.pid, signal.SIGXCPU)
    with pytest.raises(WorkerFailed, match=r"180 s of processor time") as failed:
        list(answers)
    assert failed.value.reason is SkipReason.TIMEOUT


@LINUX
def test_sheets_that_were_read_before_a_crash_are_kept(tmp_path):
    path = tmp_path / "two.xlsx"
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet("Good").write_row(0, 0, ["Name", "Amount"])
        thin = book.add_worksheet("Thin")
        thin.write("A1", "Corner")
        thin.write(99_999, 99, 1)
    slot = Slot()
    answers = _asked(Request(str(path), "two.xlsx", limits=Limits(memory_mb=128)), slot.worker())
    slot.close()
    assert answers.failure.reason is SkipReason.OUT_OF_MEMORY
    assert [record.sheet for record in answers.of("record")] == ["Good"]


@LINUX
def test_what_a_file_gives_does_not_depend_on_what_its_process_read_before(tmp_path, small_csv):
    """A used process has less memory left; the file that fails for it is read by a fresh one."""
    path = tmp_path / "list.csv"
    path.write_bytes(BIG_CSV_HEADER + BIG_CSV_ROW * 30_000)
    limits = Limits(cells=150_000)  # a second attempt at a file holds fewer
    request, slot = Request(str(path), "list.csv", limits=limits), Slot()
    try:
        ask(Request(str(small_csv), "small.csv"), slot)
        used = slot.worker()
        pages = int(Path(f"/proc/{used._process.pid}/statm").read_text().split()[0])
        left = pages * resource.getpagesize()  # none, as after files that fill the memory
        resource.prlimit(used._process.pid, resource.RLIMIT_AS, (left, left))
        after = ask(request, slot)
        assert not used.alive
        alone = ask(request, slot)
    finally:
        slot.close()
    assert alone.of("record")
    assert after == alone


@pytest.mark.slow
def test_reading_goes_on_after_a_worker_was_killed(big_csv, small_csv):
    limits = Limits(wall_seconds=0.3)
    files = map(LocalFile, [big_csv, small_csv])
    books = [book for _, book in read_files(files, limits=limits, workers=1)]
    assert [skip.reason for skip in books[0].skipped] == [SkipReason.TIMEOUT]
    assert books[1].path == small_csv


@LINUX
def test_a_file_that_takes_too_much_memory_is_given_up(big_csv):
    book = read_workbook(big_csv, limits=Limits(memory_mb=24))
    assert [skip.reason for skip in book.skipped] == [SkipReason.OUT_OF_MEMORY]


@LINUX
def test_a_sheet_that_makes_calamine_abort_is_read_in_another_way(thin_sheet):
    request = Request(str(thin_sheet), "thin.xlsx", limits=Limits(memory_mb=128))
    worker = Worker.start()
    with pytest.raises(WorkerFailed) as failed:
        list(worker.ask(request))
    assert failed.value.reason is SkipReason.OUT_OF_MEMORY
    book = read_workbook(thin_sheet, limits=Limits(memory_mb=128))
    assert [(r.sheet, r.range) for r in book.records] == [("Thin", "A1:CV100000")]


@LINUX
def test_the_worker_ends_when_its_parent_is_killed(small_csv):
    script = (
        "import sys, time; from sat_retriever.workbook.read import read_workbook\n"
        "assert read_workbook(sys.argv[1]).records; print('ready', flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", script, str(small_csv)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout.readline() == b"ready\n"
        (worker,) = children(parent.pid)
        parent.kill()
    assert gone(worker)


@LINUX
def test_an_interruption_ends_all_workers_at_once(big_csv):
    script = (
        "import pathlib, sys; from sat_retriever.workbook.read import LocalFile, read_files\n"
        "files = [LocalFile(pathlib.Path(sys.argv[1]))] * 50\n"
        "print('ready', flush=True)\n"
        "for book in read_files(files, workers=2): print('read', flush=True)"
    )
    command = [sys.executable, "-c", script, str(big_csv)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as parent:
        assert parent.stdout.readline() == b"ready\n"
        deadline = time.monotonic() + 60
        while len(workers := children(parent.pid)) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        parent.send_signal(signal.SIGINT)
        read, said = parent.communicate(timeout=60)
        assert b"KeyboardInterrupt" in said
        assert read.count(b"read") < 50  # it did not wait for the other files
    assert len(workers) == 2
    assert all(gone(worker) for worker in workers)


@LINUX
def test_closing_the_iterator_ends_all_workers(small_csv, big_csv):
    before = set(children(os.getpid()))
    books = read_files(map(LocalFile, [small_csv, big_csv, big_csv]), workers=2)
    next(books)
    started = set(children(os.getpid())) - before
    books.close()
    assert started
    assert all(gone(worker) for worker in started)


@LINUX
def test_one_worker_is_kept_for_the_next_folder(small_csv):
    close_idle()
    others = set(children(os.getpid()))
    list(read_files([LocalFile(small_csv)], workers=1))
    (kept,) = set(children(os.getpid())) - others
    list(read_files([LocalFile(small_csv)] * 4, workers=2))
    assert set(children(os.getpid())) - others == {kept}
    close_idle()
    assert gone(kept)


def test_an_error_of_the_paths_given_is_raised_and_ends_the_workers(small_csv):
    def paths():
        yield small_csv
        raise RuntimeError("from the caller's own iterator")

    with pytest.raises(RuntimeError, match="own iterator"):
        list(read_files(map(LocalFile, paths()), workers=2))


def test_a_path_that_vanished_is_a_skipped_file(tmp_path, small_csv):
    files = map(LocalFile, [tmp_path / "gone.xlsx", small_csv])
    books = [book for _, book in read_files(files, workers=1)]
    assert [skip.reason for skip in books[0].skipped] == [SkipReason.UNREADABLE]
    assert books[1].records


@LINUX
def test_a_large_parent_does_not_wear_its_workers_out(small_csv):
    held = bytearray(700 << 20)
    held[:: 1 << 12] = b"x" * len(held[:: 1 << 12])  # every page is there
    worker = Worker.start()
    list(worker.ask(Request(str(small_csv), "a")))
    assert worker.alive
    worker.kill()


def test_workers_are_reused_until_they_are_worn(small_csv):
    worker = Worker.start()
    for _ in range(3):
        (done,) = [m["done"] for m in worker.ask(Request(str(small_csv), "a")) if "done" in m]
        assert done["format"] == "csv"
    assert worker.alive
    assert worker.files == 3
    worker.kill()
    assert not worker.alive


@LINUX
@pytest.mark.slow
def test_hostile_files_leave_no_temporary_files(tmp_path, thin_sheet, big_csv):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    script = (
        "import sys; from sat_retriever.workbook.read import read_workbook, Limits\n"
        "for path in sys.argv[1:]: print(read_workbook(path, limits=Limits(memory_mb=64)).skipped)"
    )
    environment = {**os.environ, "TMPDIR": str(temporary)}
    command = [sys.executable, "-c", script, str(thin_sheet), str(big_csv)]
    done = subprocess.run(command, env=environment, capture_output=True, check=True)
    assert done.stderr == b""
    assert list(temporary.iterdir()) == []


def test_one_process_reads_file_after_file_of_every_format(tmp_path):
    slot = Slot()
    try:
        worker = slot.worker()
        for name in [*SEEDS, *SEEDS]:
            path = tmp_path / name
            path.write_bytes(SEEDS[name])
            assert ask(Request(str(path), name), slot).of("record")
        assert slot.worker() is worker
        assert worker.files == 2 * len(SEEDS)
    finally:
        slot.close()


@pytest.mark.parametrize("name", ["parts.xlsx", "parts.csv"])
def test_a_reading_process_tells_how_much_of_a_file_it_has_read(tmp_path, name):
    path, told = tmp_path / name, []
    if name == "parts.csv":
        path.write_bytes(BIG_CSV_HEADER + BIG_CSV_ROW * 20_000)
    else:
        with xlsxwriter.Workbook(path) as book:
            for rows in (9_000, 3_000):
                sheet = book.add_worksheet(f"Part {rows}")
                for row in range(rows):
                    sheet.write_row(row, 0, (f"Pump {row}", row, 1.5 * row))
    with closing(Slot()) as slot:
        ask(READ_ALL.request(LocalFile(path), Limits()), slot, told.append)
        windowed = len(told)
        cells = Window("Part 9000", Area(1, 1, 2, 2))
        ask(READ_ALL.request(LocalFile(path), Limits(), cells), slot, told.append)
    assert len(told) == windowed >= 8  # cells for which a person waits are told by themselves
    assert told == sorted(set(told))
    assert 0 < told[0] < 0.5 <= told[-1] <= 1
