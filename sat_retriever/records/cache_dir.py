"""Folders of this package in the user's cache, which nobody else can open."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_path

_UNUSED_S = 30 * 86_400  # time after which a folder that nobody wrote to is forgotten


def own_folder(*names: str) -> Path:
    """Return a folder in the user's cache, made unless it is there, with mode 0700.

    Args:
        names: Its path below the folder of this package.

    Raises:
        PermissionError: If it belongs to somebody else, or is a link.
        OSError: If it cannot be made.
    """
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
