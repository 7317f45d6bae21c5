"""Workbooks, some of them hostile, an index of them, and real server processes."""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import pytest
from openpyxl import Workbook

from sat_retriever import index_paths
from tests.saved_encoder import save_bag_of_words

WORDS = "revenue region month total summary staff salary name rent reading pump q1 q2".split()
EVIL = "<script>hacked=1</script>"
EVIL_IMAGE = '"><img src=x onerror="hacked=1">'
EVIL_LINK = "javascript:hacked=1"
LONG_ROWS, LONG_COLUMNS = 730, 93
TOKEN = "a-token-of-twenty-four-signs"
_SAID = re.compile(
    rb"serving \d+ sheets? at http://127\.0\.0\.1:(\d+)/ "
    rb"\(JSON at /api/openapi\.json, MCP at /mcp; Ctrl-C to stop\)\n"
)


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workbook with a summary, a long and wide sheet, a hostile one, a secret beside them."""
    folder = tmp_path_factory.mktemp("served") / "reports"
    (folder / "2024").mkdir(parents=True)
    book = Workbook()
    book.active.title = "Summary"
    book.active.append(["Quarter", "Total"])
    for row, name in enumerate(("Q1", "Q2"), start=2):
        sheet = book.create_sheet(name)
        sheet.append(["Region", "Month", "Revenue"])
        sheet.append(["North", "January", 120])
        sheet.append(["South", "January", 80.5])
        book["Summary"].append([name, None])
        book["Summary"][f"B{row}"] = f"=SUM({name}!C2:C3)"
    book.save(folder / "2024" / "Sales 2024.xlsx")
    _long(folder / "pumps" / "Readings.xlsx")
    _evil(folder / "evil")
    (folder / "staff.csv").write_text("Name,Salary\nAda,41\n", encoding="utf-8")
    (folder.parent / "secret.csv").write_text("Password\nhush\n", encoding="utf-8")
    return folder


def long_value(row: int, column: int) -> str | int:
    """What stands in a cell of the long sheet."""
    if row == 1:
        return f"Pump {column}"
    return f"reading {row}" if column == 1 else row * 1_000 + column


def _long(path: Path) -> None:
    path.parent.mkdir()
    book = Workbook(write_only=True)
    sheet = book.create_sheet("Long")
    for row in range(1, LONG_ROWS + 1):
        sheet.append([long_value(row, column) for column in range(1, LONG_COLUMNS + 1)])
    book.save(path)


def _evil(folder: Path) -> None:
    folder.mkdir()
    book = Workbook()
    book.active.title = "<b>rent"
    book.active.append(["Tenant", EVIL_IMAGE, "Link", "Rent"])
    book.active.append(["=HYPERLINK(1)", EVIL_IMAGE, EVIL_LINK, 7])
    book.active["A2"].data_type = "s"
    book.active.append(["+41 44", "@SUM(1)", "-x", -7])
    book.active.append([EVIL, "a\tb", "plain", 1.5])
    book.save(folder / "<img src=x onerror=hacked=1> rent.xlsx")
    (folder / "javascript:hacked=1.csv").write_text("Rent,Region\n1,North\n", encoding="utf-8")


@pytest.fixture(scope="session")
def index_file(reports: Path) -> Iterator[Path]:
    """An index that no request changes."""
    encoder = save_bag_of_words(reports.parent / "encoder", WORDS)
    file = reports.parent / "reports.sat"
    index_paths([reports], file, encoder=encoder).close()
    before = hashlib.sha256(file.read_bytes()).hexdigest()
    yield file
    assert hashlib.sha256(file.read_bytes()).hexdigest() == before
    log = file.with_name(f"{file.name}-wal")
    assert not log.exists() or not log.stat().st_size


@dataclass
class Server:
    """A server process, asked by hand."""

    port: int
    process: subprocess.Popen[bytes]
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self, path: str, method: str = "GET", body: bytes | None = None, **headers: str
    ) -> Answer:
        """The answer to a request; an underscore in a header's name is a hyphen."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(method, path, body, {**self.headers, **named})
            found = connection.getresponse()
            text = found.read().decode("utf-8-sig", "replace")  # a workbook is no text
            return Answer(found.status, dict(found.headers), text)
        finally:
            connection.close()

    def get(self, path: str, **parameters: object) -> Answer:
        """The answer to a page's address with these parameters."""
        return self.ask(f"{path}?{urlencode(parameters)}")


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    text: str


@contextmanager
def serving(index_file: Path, *more: object, **variables: str) -> Iterator[Server]:
    """A server process on a free port; killed at the end if it still runs.

    Variables are those of its environment.
    """
    command = [sys.executable, "-m", "sat_retriever", "serve", "--index", str(index_file)]
    process = subprocess.Popen(
        [*command, "--port", "0", *map(str, more)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "OMP_NUM_THREADS": "1", **variables},
    )
    try:
        said = process.stderr.readline()
        assert _SAID.fullmatch(said), said
        yield Server(int(_SAID.fullmatch(said)[1]), process)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


@pytest.fixture(scope="session")
def server(index_file: Path) -> Iterator[Server]:
    """One server for all tests; nothing may have gone wrong in it, and Ctrl-C ends it quietly."""
    with serving(index_file, "--rate", 0, "--open-files", "download") as started:
        yield started
        started.process.send_signal(signal.SIGINT)
        assert started.process.wait(timeout=60) == 130
        assert started.process.stderr.read() == b""
        assert started.process.stdout.read() == b""


@pytest.fixture(scope="session")
def token_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("token") / "sat.token"
    file.write_text(f"{TOKEN}\n")
    file.chmod(0o600)
    return file


@pytest.fixture(scope="module")
def private(index_file: Path, token_file: Path) -> Iterator[Server]:
    """A server that wants a token; each module its own, since wrong tokens are counted."""
    with serving(index_file, "--token-file", token_file, "--rate", 0) as started:
        yield started
        started.process.send_signal(signal.SIGINT)
        assert started.process.wait(timeout=60) == 130
        assert TOKEN.encode() not in started.process.stderr.read()


@pytest.fixture
def window(browser) -> Iterator[Callable]:
    """Opens windows of a browser; none may have an error, a broken policy or a foreign request."""
    contexts, said = [], []

    def open_window(width: int = 1280, scheme: str = "light", **more: object):
        height = 844 if width < 500 else 860
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            reduced_motion="reduce",
            **more,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        return page

    yield open_window
    for context in contexts:
        context.close()
    known = "Failed to load resource: the server responded with a status of 4"
    assert [text for text in said if not text.startswith(known)] == []
