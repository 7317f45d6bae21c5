"""Groups that may read a file by its rights in a POSIX file system."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

from sat_retriever.records.permissions import EVERYONE, checked_groups
from sat_retriever.remote.url import is_url


def file_groups(root: str, path: str) -> tuple[str, ...]:
    """Groups of a workbook file: `user:NAME`, `group:NAME`, and everyone's.

    Its owner is one, its group if the group may read it, and everyone if others may. Whoever may
    not enter a folder on the way from the root to the file is left out. Folders above the root and
    access control lists are not looked at. A file at a URL, one that is gone, and one on another
    kind of system have no groups.

    Args:
        root: The indexed folder.
        path: Path of the file below it.
    """
    if is_url(root) or os.name != "posix":
        return ()
    try:
        file = Path(root, path).stat()
        folders = [each.stat() for each in _folders(root, path)]
    except OSError:
        return ()
    found = []
    if file.st_mode & stat.S_IRUSR and all(_enters_as_owner(each, file) for each in folders):
        found += _named("user", _user_name, file.st_uid)
    if file.st_mode & stat.S_IRGRP and all(_enters_as_group(each, file) for each in folders):
        found += _named("group", _group_name, file.st_gid)
    if file.st_mode & stat.S_IROTH and all(each.st_mode & stat.S_IXOTH for each in folders):
        found.append(EVERYONE)
    return checked_groups(found)


def _folders(root: str, path: str) -> Iterator[Path]:
    """The root, and the folders from there to the file."""
    return (Path(root, *parent.parts) for parent in PurePosixPath(path).parents)


def _enters_as_owner(folder: os.stat_result, file: os.stat_result) -> bool:
    own = folder.st_uid == file.st_uid
    return bool(folder.st_mode & (stat.S_IXUSR if own else stat.S_IXOTH))


def _enters_as_group(folder: os.stat_result, file: os.stat_result) -> bool:
    own = folder.st_gid == file.st_gid
    return bool(folder.st_mode & (stat.S_IXGRP if own else stat.S_IXOTH))


def _named(kind: str, name_of: Callable[[int], str], number: int) -> list[str]:
    """A group of one kind; its number if it has no name here."""
    name = str(number)
    with suppress(KeyError):
        name = name_of(number)
    return [f"{kind}:{name}"]


def _user_name(number: int) -> str:
    if sys.platform != "win32":
        import pwd

        return pwd.getpwuid(number).pw_name
    raise KeyError(number)


def _group_name(number: int) -> str:
    if sys.platform != "win32":
        import grp

        return grp.getgrgid(number).gr_name
    raise KeyError(number)
