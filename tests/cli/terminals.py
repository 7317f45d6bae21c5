"""A command in a terminal of its own, as a user who sits before it sees it."""

from __future__ import annotations

import os
import subprocess
import tempfile

import pytest

from tests.cli.conftest import Run, command

pty = pytest.importorskip("pty", reason="Windows has no such terminals")


def in_terminal(*arguments: object, columns: int = 100, output: bool = False) -> Run:
    """The end of a command whose standard error is a terminal.

    The terminal is read while the command runs: one that nobody reads holds a few kilobytes, and
    then the command waits.

    Args:
        arguments: Those of `sat`.
        columns: Width of the terminal.
        output: True if the terminal gets standard output instead; standard error is then `err`.
    """
    ours, theirs = pty.openpty()
    with tempfile.TemporaryFile() as other:
        process = subprocess.Popen(
            command(*arguments),
            stdout=theirs if output else other,
            stderr=other if output else theirs,
            env={**os.environ, "TERM": "xterm", "COLUMNS": str(columns)},
        )
        os.close(theirs)
        try:
            shown = _all_of(ours)
        finally:
            os.close(ours)
        code = process.wait(timeout=60)
        other.seek(0)
        written = other.read().decode()
    return Run(code, shown, written) if output else Run(code, written, shown)


def _all_of(terminal: int) -> str:
    """Text that is written until the other end is closed."""
    shown = b""
    try:
        while part := os.read(terminal, 65536):
            shown += part
    except OSError:  # how Linux tells that the other end is closed
        pass
    return shown.decode()
