"""Groups that may read a file by its rights in a POSIX file system."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from sat_retriever.records.permissions import EVERYONE, checked_groups
from sat_retriever.workbook.remote.url import is_url

_READ = (stat.S_IRUSR, stat.S_IRGRP, stat.S_IROTH)
_ENTER = (stat.S_IXUSR, stat.S_IXGRP, stat.S_IXOTH)
_ACL = "system.posix_acl_access"


class _Rights(NamedTuple):
    """Who owns a file or folder, and the bits of its mode that tell the truth."""

    mode: int
    user: int
    group: int

    def allow(self, *bits: int) -> bool:
        """True if all of some bits are set."""
        return all(self.mode & bit for bit in bits)


def file_groups(root: str, path: str) -> tuple[str, ...]:
    """Groups of a workbook file: `user:NAME`, `group:NAME`, and everyone's.

    Its owner is one if the owner may read it, its group if the owner and the group may, and
    everyone if all may: a mode such as 604 keeps the members of a group out. Whoever may not enter
    a folder on the way from the root to the file is left out. Of a file or folder with an access
    control list of POSIX only the owner's rights count, since the mode does not tell those of
    others. Folders above the root and lists of other kinds are not looked at. A file at a URL, one
    that is gone, and one on another kind of system have no groups.

    Args:
        root: The indexed folder.
        path: Path of the file below it.
    """
    if is_url(root) or os.name != "posix":
        return ()
    try:
        file = _rights(Path(root, path))
        folders = [_rights(each) for each in _folders(root, path)]
    except OSError:
        return ()
    found = []
    if file.allow(stat.S_IRUSR) and all(_enters_as_owner(each, file) for each in folders):
        found += _named("user", _user_name, file.user)
    if file.allow(*_READ[:2]) and all(_enters_as_group(each, file) for each in folders):
        found += _named("group", _group_name, file.group)
    if file.allow(*_READ) and all(each.allow(*_ENTER) for each in folders):
        found.append(EVERYONE)
    return checked_groups(found)


def _rights(path: Path) -> _Rights:
    found = path.stat()
    mode = found.st_mode
    if sys.platform == "linux":
        with suppress(OSError):  # a file system without such lists
            if _ACL in os.listxattr(path):
                mode &= ~(stat.S_IRWXG | stat.S_IRWXO)
    return _Rights(mode, found.st_uid, found.st_gid)


def _folders(root: str, path: str) -> Iterator[Path]:
    """The root, and the folders from there to the file."""
    return (Path(root, *parent.parts) for parent in PurePosixPath(path).parents)


def _enters_as_owner(folder: _Rights, file: _Rights) -> bool:
    return folder.allow(stat.S_IXUSR) if folder.user == file.user else folder.allow(*_ENTER[1:])


def _enters_as_group(folder: _Rights, file: _Rights) -> bool:
    return folder.allow(*(_ENTER[:2] if folder.group == file.group else _ENTER))


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
