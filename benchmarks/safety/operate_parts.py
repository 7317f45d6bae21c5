"""What runs in `operate`: a server, a watching indexer, a model, and a clock that can jump."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil

from benchmarks.safety.operate_clock import SHIFT, shifting_library
from benchmarks.safety.operate_record import Timeline

WITHIN_S = 300.0
ANSWER_S = 30
WORKERS = 2
_HANGS_S = 60.0
_MARK = "SAT_OPERATE"  # in the environment of every process of the suite
# Trace ids of requests stand in the audit log if the API of OpenTelemetry is loaded.
_SITE = "import opentelemetry.trace\n"


class PartError(Exception):
    """A part did not do what it is for."""


def until(true: Callable[[], object], what: str, within_s: float = WITHIN_S) -> float:
    """Wait until something is true; return the seconds that it took.

    Raises:
        PartError: If it does not become true.
    """
    start = time.monotonic()
    while not true():
        if time.monotonic() - start > within_s:
            raise PartError(f"not within {within_s:g} s: {what}")
        time.sleep(0.1)
    return time.monotonic() - start


@dataclass
class Parts:
    """The processes, in a folder of their own.

    Attributes:
        home: Folder of the index, tokens, logs and backups.
        books: Folder of the workbooks.
        model: URL of the language model's server.
        clock: File of the seconds by which the processes' clock is wrong; None if it cannot be.
    """

    home: Path
    books: Path
    model: str
    clock: Path | None = None
    port: int = 0
    server: subprocess.Popen[bytes] | None = None
    indexer: subprocess.Popen[bytes] | None = None
    environment: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, home: Path, books: Path, model: str) -> Parts:
        """Prepare the folder, and the environment of all processes."""
        site, passing = home / "site", home / "tmp"
        for each in (site, passing):
            each.mkdir()
        (site / "sitecustomize.py").write_text(_SITE)
        paths = [str(site), str(Path(__file__).resolve().parents[2])]
        found = cls(home, books, model, port=_free_port())
        found.environment = {
            **os.environ,
            "TMPDIR": str(passing),
            "PYTHONPATH": os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")]).rstrip(":"),
            _MARK: str(home),
        }
        library = shifting_library(home)
        if library:
            found.clock = home / "shift"
            found.clock.write_bytes(struct.pack("l", 0))
            found.environment |= {
                "LD_PRELOAD": str(library),
                SHIFT: str(found.clock),
            }
        return found

    @property
    def index(self) -> Path:
        """The index that is served and kept up to date."""
        return self.home / "reports.sat"

    @property
    def audit(self) -> Path:
        """The audit log that is written to."""
        return self.home / "audit.jsonl"

    def jump(self, seconds: int) -> None:
        """Let the clock of all processes be wrong by so many seconds."""
        assert self.clock is not None
        with self.clock.open("r+b") as file:
            file.write(struct.pack("l", seconds))

    def sat(self, *arguments: object, given: str = "") -> str:
        """Run a command to its end and return what it says.

        Raises:
            PartError: If it fails.
        """
        command = [sys.executable, "-m", "sat_retriever", *map(str, arguments)]
        done = subprocess.run(
            command, env=self.environment, cwd=self.home, input=given, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise PartError(f"{' '.join(command[2:])} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def start_server(self) -> None:
        """Start the server, and wait until it answers."""
        options = [
            *("--index", self.index, "--port", self.port, "--workers", WORKERS),
            *("--proxy", "127.0.0.1", "--tokens", self.home / "tokens.toml"),
            *("--audit", self.audit, "--access-log", self.home / "access.jsonl"),
            *("--llm", "openai:scripted", "--llm-url", self.model, "--answer-seconds", ANSWER_S),
        ]
        self.server = self._started("server", "serve", *options)
        until(self._ready, "the server is ready")

    def start_indexer(self) -> None:
        """Start the indexer."""
        watch = ("watch", self.books, "--index", self.index, "--debounce", 0.5, "--workers", 1)
        self.indexer = self._started("indexer", *watch)

    def stop(self, process: subprocess.Popen[bytes] | None, sign: signal.Signals) -> int:
        """Send a signal and wait for the end; return the exit code."""
        assert process is not None
        process.send_signal(sign)
        return process.wait(WITHIN_S)

    def workers(self) -> list[psutil.Process]:
        """Processes that serve."""
        assert self.server is not None
        with suppress(psutil.NoSuchProcess):
            found = psutil.Process(self.server.pid).children()
            return [each for each in found if each.status() != psutil.STATUS_ZOMBIE]
        return []

    def said(self, name: str) -> str:
        """Return what a part wrote to standard output and error."""
        return (self.home / f"{name}.log").read_text("utf-8", "replace")

    def sample(self) -> dict[str, float]:
        """Return memory, threads and open files of the server and its workers, and the indexer."""
        own, indexer = [*_running(self.server), *self.workers()], _running(self.indexer)
        return {
            "at": time.monotonic(),
            "server_mib": _total(own, lambda each: each.memory_info().rss) / 2**20,
            "server_threads": _total(own, lambda each: each.num_threads()),
            "server_files": _total(own, lambda each: each.num_fds()),
            "indexer_mib": _total(indexer, lambda each: each.memory_info().rss) / 2**20,
            "indexer_threads": _total(indexer, lambda each: each.num_threads()),
            "indexer_files": _total(indexer, lambda each: each.num_fds()),
        }

    def left(self) -> list[psutil.Process]:
        """Return processes of the suite that still run."""
        found = []
        for each in psutil.process_iter():
            with suppress(psutil.Error):
                running = each.status() != psutil.STATUS_ZOMBIE
                if running and each.environ().get(_MARK) == str(self.home):
                    found.append(each)
        return found

    def _started(self, name: str, *arguments: object) -> subprocess.Popen[bytes]:
        with (self.home / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "sat_retriever", *map(str, arguments)],
                env=self.environment, cwd=self.home, stdout=log, stderr=log,
                start_new_session=True,  # Ctrl-C is for the suite, which stops its parts
            )  # fmt: skip

    def _ready(self) -> bool:
        assert self.server is not None
        if self.server.poll() is not None:
            raise PartError(
                f"the server ended with {self.server.returncode}:\n{self.said('server')}"
            )
        try:
            address = f"http://127.0.0.1:{self.port}/health/ready"
            with urllib.request.urlopen(address, timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


def _running(process: subprocess.Popen[bytes] | None) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        return [psutil.Process(process.pid)] if process else []
    return []


def _total(processes: list[psutil.Process], value: Callable[[psutil.Process], float]) -> float:
    found = 0.0
    for each in processes:
        with suppress(psutil.Error):
            found += value(each)
    return found


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def language_model(mode: Timeline[str]) -> Iterator[str]:
    """A server of the OpenAI form that answers, hangs or refuses; give its URL.

    It declines to write a query, and then answers in words of its own.
    """
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(200, {"object": "list", "data": [{"id": "scripted"}]})

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if mode.now == "hangs":
                over.wait(_HANGS_S)
            if mode.now == "refuses":
                self._send(503, {"error": {"message": "busy"}})
                return
            sql = "SQL" in request["messages"][0]["content"][:40]
            delta = {"content": "NO SQL" if sql else "See [1]."}
            event = {"choices": [{"index": 0, "delta": delta, "finish_reason": "stop"}]}
            self._send(200, f"data: {json.dumps(event)}\n\ndata: [DONE]\n\n")

        def _send(self, status: int, said: object) -> None:
            content = (said if isinstance(said, str) else json.dumps(said)).encode()
            with suppress(OSError):  # the client did not wait
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        over.set()
        server.shutdown()
        server.server_close()
        thread.join()
