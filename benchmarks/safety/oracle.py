"""List the sheets that other readers find in a file, each in its own capped process.

`python -m benchmarks.safety.oracle` runs this module as that process: paths come in on stdin, lists
of worksheets with a non-empty cell go out on stdout.
"""

from __future__ import annotations

import io
import json
import os
import resource
import select
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

READERS = ("openpyxl", "calamine")
_MEMORY = 3 << 30


class Oracle:
    """One reader in one process at a time; a dead or slow process is replaced."""

    def __init__(self, reader: str, seconds: float = 60.0) -> None:
        self._reader = reader
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._pending = b""

    def sheets(self, path: Path) -> list[str] | None:
        """Return worksheets with a non-empty cell; None if the reader cannot open the file."""
        process = self._started()
        assert process.stdin is not None
        process.stdin.write(json.dumps([self._reader, str(path)]).encode() + b"\n")
        process.stdin.flush()
        line = self._line(process, time.monotonic() + self._seconds)
        if line is None:
            self.close()
            return None
        found: list[str] | None = json.loads(line)
        return found

    @property
    def processes(self) -> frozenset[int]:
        """The id of its process, if it runs."""
        return frozenset() if self._process is None else frozenset({self._process.pid})

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
            self._pending = b""

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.safety.oracle"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._process

    def _line(self, process: subprocess.Popen[bytes], deadline: float) -> bytes | None:
        assert process.stdout is not None
        while b"\n" not in self._pending:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
                return None
            chunk = os.read(process.stdout.fileno(), 65_536)
            if not chunk:
                return None
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        return line


def openpyxl_sheets(path: Path) -> list[str]:
    """Return worksheets in which openpyxl's full reader finds a cell with a value."""
    import openpyxl

    book = openpyxl.load_workbook(io.BytesIO(path.read_bytes()))
    return [
        sheet.title
        for sheet in book.worksheets
        if any(cell.value not in (None, "") for cell in sheet._cells.values())
    ]


def calamine_sheets(path: Path) -> list[str]:
    """Return worksheets in which python-calamine finds a cell with a value."""
    import python_calamine

    try:
        book = python_calamine.load_workbook(path)
    except python_calamine.CalamineError:
        book = python_calamine.load_workbook(io.BytesIO(path.read_bytes()))
    found = []
    for index, meta in enumerate(book.sheets_metadata):
        if not str(meta.typ).endswith("WorkSheet"):
            continue
        try:
            rows = book.get_sheet_by_index(index).iter_rows()
            if any(value != "" for row in rows for value in row):
                found.append(meta.name)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # noqa: BLE001 - a panic is not an Exception
            continue
    return found


def main() -> None:
    """Answer until stdin ends; a file that cannot be opened gives null."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    read: dict[str, Any] = {"openpyxl": openpyxl_sheets, "calamine": calamine_sheets}
    for line in sys.stdin:
        reader, path = json.loads(line)
        try:
            found = read[reader](Path(path))
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # noqa: BLE001 - a panic is not an Exception
            found = None
        answers.write(json.dumps(found) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
