"""Target of an export: standard output, or a file that is written atomically."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from sat_retriever.cli.terminal import broken_pipe_is_the_end
from sat_retriever.errors import InputError
from sat_retriever.index.store.place import Place
from sat_retriever.records.files import draft_of


def to_stdout(out: Path | None) -> bool:
    """True if the target is standard output: no file, or "-"."""
    return out is None or str(out) == "-"


def to_terminal(out: Path | None) -> bool:
    """True if the export would be shown on a screen."""
    return to_stdout(out) and sys.stdout.isatty()


def check_target(out: Path | None, index: Place, *, force: bool) -> None:
    """Reject a file that an export cannot or must not be written to.

    Raises:
        InputError: If it is a folder, its folder does not exist, it is the index, or it exists and
            `force` is False.
    """
    if out is None or to_stdout(out):
        return
    if out.is_dir():
        raise InputError(f"{out} is a folder; name a file in it")
    if not out.absolute().parent.is_dir():
        raise InputError(f"the folder {out.absolute().parent} does not exist")
    if isinstance(index, Path) and out.exists() and index.exists() and out.samefile(index):
        raise InputError(f"{out} is the index itself; choose another name")
    if out.is_file() and not force:
        raise InputError(f"{out} already exists; replace it with --force, or choose another name")


def write_parts(parts: Iterable[str], out: Path | None) -> None:
    """Write texts in UTF-8, one after another."""
    if out is None or to_stdout(out):
        with broken_pipe_is_the_end():
            sys.stdout.flush()
            sys.stdout.buffer.writelines(map(_bytes, parts))
            sys.stdout.flush()
    elif out.exists() and not out.is_file():  # a pipe or a device
        with out.open("wb") as stream:
            stream.writelines(map(_bytes, parts))
    else:
        with draft_of(out.resolve()) as draft, draft.open("wb") as stream:
            stream.writelines(map(_bytes, parts))


def _bytes(text: str) -> bytes:
    # Only JSON texts can have characters that UTF-8 cannot encode, and JSON reads these escapes.
    return text.encode("utf-8", "backslashreplace")
