"""A file of JSON lines that several processes write to: every line whole, in order of time."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

from sat_retriever.errors import InputError
from sat_retriever.text.oneline import escaped

_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
_FLAGS |= getattr(os, "O_NONBLOCK", 0)  # so that a pipe without a reader is an error, no wait
_MODE = 0o600  # nobody but the server's user reads a new file


class Log(Protocol):
    """Takes lines."""

    def write(self, entry: Mapping[str, object]) -> None:
        """Add a line."""

    def close(self) -> None:
        """Take no more."""


def log_at(place: str) -> Log:
    """Return the log in a file, or on standard error for "-"; raises as `Journal`."""
    return StandardError() if place == "-" else Journal(Path(place))


class StandardError:
    """Writes lines to standard error, where a server's other messages are."""

    def write(self, entry: Mapping[str, object]) -> None:
        """Add a line."""
        sys.stderr.buffer.write(_line(entry))
        sys.stderr.flush()

    def close(self) -> None:
        """Leave it open: it is not this log's own."""


class Journal:
    """Adds lines to a file, which may be renamed meanwhile: the next line begins a new one.

    Raises:
        InputError: If it is no file, cannot be written to, or every user of the machine can read
            or change it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = self._open()
        except OSError as error:
            raise InputError(
                f"cannot write to {path}: {error.strerror}; name a file in a folder that this "
                "user can write to"
            ) from error

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def write(self, entry: Mapping[str, object]) -> None:
        """Add a line, whole or not at all.

        Raises:
            OSError: If it cannot be written, for example as the disk is full.
            InputError: If another file has the name now, and everyone can read it.
        """
        line = _line(entry)
        self._follow()
        with _alone(self._file):
            end = os.fstat(self._file).st_size
            if os.write(self._file, line) < len(line):
                os.ftruncate(self._file, end)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _open(self) -> int:
        file = os.open(self._path, _FLAGS, _MODE)
        mode = os.fstat(file).st_mode
        wrong = ""
        if not stat.S_ISREG(mode):
            wrong = f"{self._path} is no file; name one"
        elif os.name == "posix" and mode & (stat.S_IROTH | stat.S_IWOTH):
            wrong = (
                f"every user of this machine can read or change {self._path}; run: "
                f"chmod 600 {self._path.name}"
            )
        if wrong:
            os.close(file)
            raise InputError(wrong)
        return file

    def _follow(self) -> None:
        """Go on in the file that has the name now: logrotate renames the one before."""
        try:
            there = self._path.stat()
            own = os.fstat(self._file)
            if (there.st_dev, there.st_ino) == (own.st_dev, own.st_ino):
                return
        except FileNotFoundError:
            pass
        opened = self._open()
        os.close(self._file)
        self._file = opened


def _line(entry: Mapping[str, object]) -> bytes:
    # A terminal that shows the file must not obey what a question or a name holds.
    text = json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
    return f"{escaped(text.encode('utf-8', 'replace').decode())}\n".encode()


@contextlib.contextmanager
def _alone(file: int) -> Iterator[None]:
    """Let no other process write, so that half a line can be taken back."""
    if sys.platform == "win32":  # there is one process alone
        yield
        return
    import fcntl

    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)
