"""`sat watch` as a process, beside real files that come, change and go."""

from __future__ import annotations

import os
import queue
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from sat_retriever import SheetIndex
from tests.cli.conftest import command

WAIT_S = 120
CSV = "Region,Sales\nNorth,1\n"


class Watching:
    """A running `sat watch`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.seen: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self._lines.put(line.strip())

    def line(self, *parts: str) -> str:
        """The next line; it has some parts."""
        line = self._lines.get(timeout=WAIT_S)
        self.seen.append(line)
        assert all(part in line for part in parts), line
        return line

    def stop(self) -> tuple[int, str]:
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(WAIT_S)
        rest = self._lines.get(timeout=WAIT_S)
        return code, rest


@contextmanager
def watching(*arguments: object) -> Iterator[Watching]:
    started = subprocess.Popen(
        [*command(), "watch", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        yield Watching(started)
    finally:
        started.kill()
        started.wait()
        started.stdout.close()


@pytest.fixture
def folder(tmp_path, sat: Callable, encoder):
    """A folder of one workbook, and the index of it beside, which is watched as well."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.csv").write_text(CSV)
    run = sat("index", folder, "--index", folder / "x.sat", "--encoder", encoder)
    assert run.code == 0
    return folder


@pytest.mark.parametrize("way", [[], ["--poll", "0.5"]], ids=["watched", "polled"])
def test_what_comes_changes_and_goes_is_followed(folder, way):
    if not way:
        pytest.importorskip("watchfiles", reason="watchfiles is not installed")
    with watching(folder, "--index", folder / "x.sat", "--debounce", "0.5", *way) as sat:
        sat.line("0 added, 0 changed, 0 removed; 1 sheet")
        (folder / "~$a.csv").write_text("lock")
        (folder / "sub").mkdir()
        (folder / "sub" / "b.csv").write_text(CSV)
        sat.line("1 added, 0 changed, 0 removed; 2 sheets")
        (folder / "a.csv").write_text("Region,Costs,More\nNorth,1,2\n")
        sat.line("0 added, 1 changed, 0 removed; 2 sheets")
        shutil.rmtree(folder / "sub")
        sat.line("0 added, 0 changed, 1 removed; 1 sheet")
        assert sat.stop() == (130, "stopped; the index holds 1 workbook")
    with SheetIndex.open(folder / "x.sat") as index:
        assert index.records(["a.csv#a"])["a.csv#a"].columns[1].name == "Costs"


def test_a_burst_of_files_is_one_sync(folder):
    pytest.importorskip("watchfiles", reason="watchfiles is not installed")
    with watching(folder, "--index", folder / "x.sat", "--debounce", "2") as sat:
        sat.line("1 sheet")
        for number in range(30):
            (folder / f"{number}.csv").write_text(CSV)
        sat.line("30 added, 0 changed, 0 removed; 31 sheets")
        assert sat.stop()[0] == 130


def test_a_bucket_is_polled_and_a_server_that_refuses_is_asked_again(
    bucket, tmp_path, sat, encoder
):
    bucket.put("a.csv", CSV.encode())
    file = tmp_path / "x.sat"
    assert sat("index", bucket.url, "--index", file, "--encoder", encoder).code == 0
    body = b"<Error><Code>AccessDenied</Code></Error>"
    with watching(bucket.url, "--index", file, "--poll", "0.5") as running:
        running.line("0 added, 0 changed, 0 removed; 1 sheet")
        bucket.put("b.csv", CSV.encode())
        running.line("1 added, 0 changed, 0 removed; 2 sheets")
        bucket.server.spoil = lambda *_: ("403 Forbidden", body)
        running.line(bucket.url, "access is denied", "trying again")
        bucket.server.spoil = lambda *_: None
        bucket.delete("b.csv")
        running.line("0 added, 0 changed, 1 removed; 1 sheet")
        assert running.stop()[0] == 130


def test_a_folder_that_is_away_is_told_once_and_the_other_is_followed(folder, tmp_path):
    pytest.importorskip("watchfiles", reason="watchfiles is not installed")
    away = tmp_path / "away"
    away.mkdir()
    with watching(folder, away, "--index", folder / "x.sat", "--debounce", "0.2") as running:
        running.line("0 added, 0 changed, 0 removed; 1 sheet")
        away.rmdir()
        running.line("there is no file or folder", str(away), "trying again")
        for number in (2, 3):
            (folder / f"{number}.csv").write_text(CSV)
            running.line(f"1 added, 0 changed, 0 removed; {number} sheets")
        away.mkdir()
        (away / "4.csv").write_text(CSV)
        running.line("1 added, 0 changed, 0 removed; 4 sheets")
        assert running.stop()[0] == 130


def test_commands_name_a_remote_sheet_by_its_citation(bucket, tmp_path, sat, encoder):
    bucket.put("a.csv", CSV.encode())
    file = tmp_path / "x.sat"
    run = sat("index", bucket.url, "--index", file, "--encoder", encoder)
    assert (run.code, "1 added" in run.out) == (0, True)
    cited = f"{bucket.url}/a.csv#a!A1:B2"
    assert sat("cells", cited, "--index", file).out.splitlines()[0] == cited
    assert sat("export", cited, "--index", file).out == CSV
    assert bucket.url in sat("search", "region sales", "--index", file).out
    assert sat("show", f"{bucket.url}/a.csv", "--index", file).code == 0
    assert sat("index", "s3://no-such-bucket", "--index", file).code == 2
