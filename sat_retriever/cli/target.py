"""Where an export goes: standard output, or a file that appears whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from sat_retriever.cli.terminal import broken_pipe_is_the_end
from sat_retriever.errors import InputError


def to_stdout(out: Path | None) -> bool:
    """Whether no file is named: none at all, or "-"."""
    return out is None or str(out) == "-"


def to_terminal(out: Path | None) -> bool:
    """Whether a person would get it on the screen."""
    return to_stdout(out) and sys.stdout.isatty()


def check_target(out: Path | None, index: Path, *, force: bool) -> None:
    """Nothing, if the export may be written there.

    Raises:
        InputError: If it is a folder, lies in none, is the index, or is another file and
            `force` is not given.
    """
    if out is None or to_stdout(out):
        return
    if out.is_dir():
        raise InputError(f"{out} is a folder; name a file in it")
    if not out.absolute().parent.is_dir():
        raise InputError(f"the folder {out.absolute().parent} does not exist")
    if out.exists() and index.exists() and out.samefile(index):
        raise InputError(f"{out} is the index itself; choose another name")
    if out.is_file() and not force:
        raise InputError(f"{out} exists already; replace it with --force, or choose another name")


def write_parts(parts: Iterable[str], out: Path | None) -> None:
    """Write texts in UTF-8, one after the other."""
    if out is None or to_stdout(out):
        with broken_pipe_is_the_end():
            sys.stdout.flush()
            sys.stdout.buffer.writelines(map(_bytes, parts))
            sys.stdout.flush()
    elif out.exists() and not out.is_file():  # a pipe or a device
        with out.open("wb") as stream:
            stream.writelines(map(_bytes, parts))
    else:
        _replace(out.resolve(), parts)


def _bytes(text: str) -> bytes:
    # Of what an index holds only JSON texts can have what UTF-8 cannot, and JSON reads this.
    return text.encode("utf-8", "backslashreplace")


def _replace(out: Path, parts: Iterable[str]) -> None:
    """Write beside the file, then put it in its place; its permissions stay."""
    mode = stat.S_IMODE(out.stat().st_mode) if out.exists() else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(prefix=f".{out.name[:100]}.", dir=out.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.writelines(map(_bytes, parts))
        Path(name).chmod(mode)
        Path(name).replace(out)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
