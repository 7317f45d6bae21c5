"""A few real workbooks, an index of them, and a real server process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sat_retriever import SheetTools, index_paths
from tests.builders import save_book
from tests.saved_encoder import save_bag_of_words

WORDS = "revenue region month total summary staff salary name q1 q2".split()
ENVIRONMENT = {"OMP_NUM_THREADS": "1"}
TOOLS = [
    "find_sheets", "describe_sheet", "read_range", "related_sheets", "index_status",
    "search_cells", "query_tables",
]  # fmt: skip
CALLS = [  # one of each
    ("find_sheets", {"question": "revenue by region", "top_k": 2}),
    ("describe_sheet", {"sheet": "2024/Sales.xlsx#Q1"}),
    ("read_range", {"sheet": "2024/Sales.xlsx#Q1", "range": "A1:C2"}),
    ("related_sheets", {"sheet": "2024/Sales.xlsx#Summary"}),
    ("index_status", {}),
    ("search_cells", {"text": "January", "limit": 1}),
    ("query_tables", {"sheets": ["2024/Sales.xlsx#Q1"], "sql": "SELECT sum(revenue) AS s FROM q1"}),
]


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two workbooks, one with a summary of its other sheets, and a secret beside the folder."""
    folder = tmp_path_factory.mktemp("work") / "reports"
    (folder / "2024").mkdir(parents=True)
    quarter = [["Region", "Month", "Revenue"], ["North", "January", 120], ["South", "January", 80]]
    sums = [[name, f"=SUM({name}!C2:C3)"] for name in ("Q1", "Q2")]
    summary = [["Quarter", "Total"], *sums]
    save_book(folder / "2024" / "Sales.xlsx", Summary=summary, Q1=quarter, Q2=quarter)
    (folder / "staff.csv").write_text("Name,Salary\nAda,41\n", encoding="utf-8")
    (folder.parent / "secret.csv").write_text("Password\nhush\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def index_file(reports: Path) -> Path:
    """An index that no test writes to."""
    encoder = save_bag_of_words(reports.parent / "encoder", WORDS)
    file = reports.parent / "reports.sat"
    index_paths([reports], file, encoder=encoder).close()
    return file


@pytest.fixture(scope="session")
def tools(index_file: Path) -> Iterator[SheetTools]:
    made = SheetTools(index_file)
    yield made
    made.index.close()


def arguments(index_file: Path, *more: object) -> list[str]:
    """What follows the interpreter on a command line of `sat mcp`."""
    return ["-m", "sat_retriever", "mcp", "--index", str(index_file), *map(str, more)]


@contextmanager
def started(index_file: Path, *more: object) -> Iterator[subprocess.Popen[bytes]]:
    """A server process with pipes; killed at the end if it still runs."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [sys.executable, *arguments(index_file, *more)],
        stdin=pipe, stdout=pipe, stderr=pipe, env={**os.environ, **ENVIRONMENT},
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()


def interrupted(process: subprocess.Popen[bytes]) -> int:
    """Exit code after Ctrl-C."""
    process.send_signal(signal.SIGINT)
    return process.wait(timeout=60)
