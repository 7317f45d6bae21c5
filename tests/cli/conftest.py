"""A few real workbooks, an index of them, and the command as a user runs it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from openpyxl import Workbook

from sat_retriever import SheetEncoder
from sat_retriever.cli import main
from tests.builders import transit
from tests.saved_encoder import save_bag_of_words

WORDS = "revenue region month staff salary name rate currency order customer sales q1 q2".split()
MARKUP = "[red]x[link=evil] \x1b[31m"


@dataclass(frozen=True)
class Run:
    """What one run of the command gave."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_bag_of_words(tmp_path_factory.mktemp("encoders") / "bag", WORDS)


@pytest.fixture(scope="session")
def workbooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three workbooks that can be read, two that cannot, and a text file."""
    folder = tmp_path_factory.mktemp("workbooks")
    (folder / "sales").mkdir()
    book = Workbook()
    book.active.title = "Q1"
    for name, header in (
        ("Q1", ["Region", "Month", "Revenue"]),
        ("Plan #1", ["Region", "Target"]),
        ("#1", ["Customer", "Order no."]),
        ("Rates", ["Currency", "Rate"]),
        ("Nothing", []),
    ):
        sheet = book[name] if name in book.sheetnames else book.create_sheet(name)
        if header:
            sheet.append(header)
            sheet.append(["North", *[7] * (len(header) - 1)])
    book["Rates"].sheet_state = "hidden"
    book.save(folder / "sales" / "2024.xlsx")
    (folder / "staff.csv").write_text("Name,Salary\nAda,41\n", encoding="utf-8")
    (folder / f"{MARKUP}.csv").write_text(f"{MARKUP};Total\nx;1\n", encoding="utf-8")
    whole = (folder / "sales" / "2024.xlsx").read_bytes()
    (folder / "torn.xlsx").write_bytes(whole[: len(whole) // 2])
    (folder / "blank.csv").write_bytes(b"")
    (folder / "notes.txt").write_text("nothing to see\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def indexed(
    tmp_path_factory: pytest.TempPathFactory, workbooks: Path, encoder: Path
) -> tuple[Path, Run]:
    """An index of the workbooks, never written to by a test, and the run that made it."""
    file = tmp_path_factory.mktemp("index") / "all.sat"
    run = run_sat("index", str(workbooks), "--index", str(file), "--model", str(encoder))
    return file, run


@pytest.fixture
def index_file(indexed: tuple[Path, Run]) -> Path:
    return indexed[0]


@pytest.fixture(scope="session")
def transit_file(tmp_path_factory: pytest.TempPathFactory, encoder: Path) -> Path:
    """An index that keeps contents, of a sheet of two tables and one of a long table."""
    return transit(tmp_path_factory.mktemp("transit"), SheetEncoder.load(encoder))


@pytest.fixture
def own_index(index_file: Path, tmp_path: Path) -> Path:
    """A copy to write to."""
    return Path(shutil.copy(index_file, tmp_path / "own.sat"))


@pytest.fixture
def sat(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    """The command in this process: `sat("search", "revenue")`."""

    def run(*arguments: object) -> Run:
        monkeypatch.setattr(sys, "argv", ["sat", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        code = ended.value.code
        return Run(code if isinstance(code, int) else 0, captured.out, captured.err)

    return run


def command(*arguments: object) -> list[str]:
    """The command line of a process of its own."""
    return [sys.executable, "-m", "sat_retriever", *map(str, arguments)]


def run_sat(*arguments: object, **environment: str) -> Run:
    """The command in a process of its own."""
    done = subprocess.run(
        command(*arguments),
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **environment},
        timeout=60,
        check=False,
    )
    return Run(done.returncode, done.stdout, done.stderr)
