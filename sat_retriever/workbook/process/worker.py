"""The parent's handle of one reading process: start, requests, time limit, kill."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from sat_retriever.records.jsonform import Json, to_json
from sat_retriever.records.sheets import SkipReason
from sat_retriever.system import LOOK_EVERY_S, check_wanted
from sat_retriever.workbook.limits import Refused
from sat_retriever.workbook.messages import Request

_FILES_PER_WORKER = 500
_STDERR_KEPT = 65_536


class WorkerFailed(Refused):
    """The worker died or ran out of time."""


class Worker:
    """One reading process; not safe for concurrent use by several threads."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._stderr = b""
        self.owner = os.getpid()
        self.files = 0
        self.retired = False
        self._threads = [
            threading.Thread(target=self._pump, daemon=True),
            threading.Thread(target=self._drain, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    @classmethod
    def start(cls) -> Worker:
        """Start a fresh process; it is ready when it answers its first request."""
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "sat_retriever.workbook.process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(),
            start_new_session=True,
        )
        return cls(process)

    def ask(self, request: Request) -> Iterator[Json]:
        """Yield the messages about one file; `WorkerFailed` if the process dies or is late."""
        deadline = time.monotonic() + request.limits.wall_seconds
        self.files += 1
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # a dead process only ends its lines
            self._process.stdin.write(json.dumps(to_json(request)).encode() + b"\n")
            self._process.stdin.flush()
        while True:
            left = max(0.0, deadline - time.monotonic())
            try:
                line = self._lines.get(timeout=min(left, LOOK_EVERY_S))
            except queue.Empty:
                check_wanted()
                if left > LOOK_EVERY_S:
                    continue
                self.kill()
                message = (
                    f"Reading did not finish within {request.limits.wall_seconds:g} seconds of "
                    "wall-clock time."
                )
                raise WorkerFailed(SkipReason.TIMEOUT, message) from None
            if line is None:
                raise self._death(request)
            message = json.loads(line)
            if "done" in message:
                self.retired = message["done"]["retire"] or self.files >= _FILES_PER_WORKER
                yield message
                return
            yield message

    def kill(self) -> None:
        """End the process at once and close its pipes."""
        self.retired = True
        with contextlib.suppress(OSError):
            self._process.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    @property
    def alive(self) -> bool:
        """True if it can take a request."""
        return not self.retired and self._process.poll() is None

    def _death(self, request: Request) -> WorkerFailed:
        self.kill()
        if b"memory allocation of" in self._stderr or b"MemoryError" in self._stderr:
            message = f"Reading needs more than {request.limits.memory_mb:,} MiB of memory."
            return WorkerFailed(SkipReason.OUT_OF_MEMORY, message)
        code = self._process.returncode
        if code == -getattr(signal, "SIGXCPU", 0):
            message = f"Reading used up its {request.limits.seconds:g} s of processor time."
            return WorkerFailed(SkipReason.TIMEOUT, message)
        message = f"The reading process ended with code {code}; the file may be hostile."
        return WorkerFailed(SkipReason.READER_CRASHED, message)

    def _pump(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            for line in self._process.stdout:
                self._lines.put(line)
        self._lines.put(None)

    def _drain(self) -> None:
        assert self._process.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            while chunk := self._process.stderr.read1(65_536):  # type: ignore[attr-defined]
                self._stderr = (self._stderr + chunk)[:_STDERR_KEPT]


def _environment() -> dict[str, str]:
    """The parent's environment with the same packages, UTF-8 output and resource settings."""
    here = str(Path(__file__).resolve().parents[3])
    paths = [here, *(path for path in sys.path if path and path != here)]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONIOENCODING": "utf-8",
        "MALLOC_ARENA_MAX": "2",
        "RUST_BACKTRACE": "0",
        "OPENBLAS_NUM_THREADS": "1",
    }
