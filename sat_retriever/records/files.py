"""Files that this package writes: whole or not at all, portable names, a private cache."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sat_retriever.errors import OutputError

_NOT_IN_FILES = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]+')
_RESERVED = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d¹²³])(?= *(?:\.|$))", re.IGNORECASE
)  # devices of Windows, with any extension
_UNUSED_S = 30 * 86_400  # time after which a folder that nobody wrote to is forgotten


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Translate an `OSError` inside the block.

    Raises:
        OutputError: With the path and the reason.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"{path} cannot be written: {reason}; choose another place") from error


@contextmanager
def draft_of(path: Path) -> Iterator[Path]:
    """Yield the path of a draft beside `path` that replaces it if the block succeeds.

    Otherwise the draft is removed and the file at `path` stays as it was. A replacement keeps the
    permissions of the file that it replaces.

    Raises:
        OutputError: If the file cannot be written there.
    """
    draft = path.with_name(f".{path.name[:50]}.{secrets.token_hex(4)}.partial")
    with writing(path):
        try:
            yield draft
            if path.exists():
                draft.chmod(stat.S_IMODE(path.stat().st_mode))
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)


def flush(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk; raises `OutputError`."""
    with writing(path):
        if path.is_dir():
            if os.name == "nt":  # which cannot open a folder, and keeps names by itself
                return
            opened = os.open(path, os.O_RDONLY)
        else:
            opened = os.open(path, os.O_RDWR)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def make_folder(path: Path) -> None:
    """Make a folder and its parents unless they exist; raises `OutputError`."""
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)


def portable(text: str) -> str:
    """A text as the name of a file on Linux, macOS and Windows, without extension.

    It is empty if nothing of the text can be kept. Texts that differ only in letter case give
    names that differ only in letter case.

    >>> portable("A/B: C?. "), portable("con"), portable("nul.x"), portable("../..")
    ('A B C', 'con_', 'nul_.x', '')
    """
    plain = _NOT_IN_FILES.sub(" ", unicodedata.normalize("NFC", text))
    name = re.sub(r" {2,}", " ", plain).strip().rstrip(". ")
    device = _RESERVED.match(name)
    return f"{device[0]}_{name[device.end() :]}" if device else name


def own_folder(*names: str) -> Path:
    """A folder of this package in the user's cache, with mode 0700, made unless it is there.

    Raises:
        PermissionError: If it belongs to somebody else, or is a link.
        OSError: If it cannot be made.
    """
    from platformdirs import user_cache_path

    folder = user_cache_path("sat-retriever").joinpath(*names)
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    state = folder.stat(follow_symlinks=False)
    if folder.is_symlink() or (hasattr(os, "getuid") and state.st_uid != os.getuid()):
        raise PermissionError(f"{folder} is a link, or not yours; remove it")
    folder.chmod(0o700)
    return folder


def forget_unused(folder: Path) -> None:
    """Delete the folders in a folder that nobody has written to for 30 days."""
    for each in folder.iterdir():
        with suppress(OSError):
            if each.is_dir() and time.time() - each.stat().st_mtime > _UNUSED_S:
                shutil.rmtree(each)
