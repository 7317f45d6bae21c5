"""Where the groups of sheets come from: rules, a function, or the rights of the files."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple, Protocol, TypeAlias

from sat_retriever.errors import IndexFormatError, InputError
from sat_retriever.index.store.rows import RESTRICTED, SOURCE, SheetRow
from sat_retriever.records.permissions import EVERYONE, Rules, checked_groups
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.workbook.remote.url import is_url

Callback: TypeAlias = Callable[[SheetRecord], Iterable[str]]
Given: TypeAlias = "Callback | Rules | str | Path | Literal['files']"
"""A function, rules or their file, or "files" for the rights of the workbook files."""
_READ = (stat.S_IRUSR, stat.S_IRGRP, stat.S_IROTH)
_ENTER = (stat.S_IXUSR, stat.S_IXGRP, stat.S_IXOTH)
_ACL = "system.posix_acl_access"


class Permissions(Protocol):
    """Gives each sheet the groups that may see it."""

    @property
    def source(self) -> str:
        """Where the groups come from, as the index notes it."""

    def groups_of(self, record: SheetRecord, file: tuple[str, str] | None) -> tuple[str, ...]:
        """Groups that may see a sheet; `file` is root and path of its workbook, if any."""


class ByRules:
    """Groups by rules."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.source = json.dumps({"rules": rules.to_json()}, ensure_ascii=False)

    def groups_of(self, record: SheetRecord, _file: tuple[str, str] | None) -> tuple[str, ...]:
        """Groups of the first rule that covers the sheet."""
        return self.rules.groups_of(record)


class ByFiles:
    """Groups by the rights of files; nobody sees a sheet without a file on this machine."""

    source = json.dumps("files")

    def groups_of(self, _record: SheetRecord, file: tuple[str, str] | None) -> tuple[str, ...]:
        """Groups that may read the file."""
        return file_groups(*file) if file else ()


class ByFunction:
    """Groups by a function of this process; without it nobody sees new sheets."""

    source = json.dumps("function")

    def __init__(self, function: Callback | None = None) -> None:
        self._function = function

    def groups_of(self, record: SheetRecord, _file: tuple[str, str] | None) -> tuple[str, ...]:
        """Groups that the function gives."""
        if self._function is None:
            return ()
        return checked_groups(self._function(replace(record, contents=None)))


@dataclass(frozen=True, slots=True)
class Change:
    """Other groups for a sheet."""

    sheet_id: str
    before: tuple[str, ...]
    after: tuple[str, ...]


def granted(
    rows: Sequence[SheetRow], permissions: Permissions | None, file: tuple[str, str] | None = None
) -> Sequence[SheetRow]:
    """Rows of one workbook with the groups that may see each; `file` is its root and path."""
    if permissions is None:
        return rows
    return [replace(row, groups=permissions.groups_of(row.record, file)) for row in rows]


def permissions_of(given: Given) -> Permissions:
    """Permissions from what a caller gave.

    Raises `PathNotFoundError` if there is no such file of rules, `InputError` if the rules are
    wrong, or it is none of what can be given.
    """
    if isinstance(given, Rules):
        return ByRules(given)
    if given == "files":
        return ByFiles()
    if isinstance(given, (str, Path)):
        return ByRules(Rules.read(Path(given)))
    if not callable(given):
        raise InputError(
            f"permissions are a {type(given).__name__}; give a function, a file of rules, or "
            "'files'"
        )
    return ByFunction(given)


def noted_permissions(meta: Mapping[str, str], path: object) -> Permissions | None:
    """Permissions that the notes of an index name, if any; `IndexFormatError` if damaged."""
    if RESTRICTED not in meta:
        return None
    try:
        found = json.loads(meta[SOURCE])
        if found == "files":
            return ByFiles()
        return ByFunction() if found == "function" else ByRules(Rules.from_json(found["rules"]))
    except (KeyError, ValueError, TypeError, AttributeError, InputError) as error:
        raise IndexFormatError(
            f"the permissions in {path} are damaged ({error}): give them again, with: "
            f"sat permissions {path} --rules RULES.toml"
        ) from error


def permission_notes(permissions: Permissions | None) -> dict[str, str | None]:
    """Notes about permissions; None removes them."""
    if permissions is None:
        return {RESTRICTED: None, SOURCE: None}
    return {RESTRICTED: "yes", SOURCE: permissions.source}


class _Rights(NamedTuple):
    """Owner of a file or folder, and the bits of its mode that tell the truth."""

    mode: int
    user: int
    group: int

    def allow(self, *bits: int) -> bool:
        return all(self.mode & bit for bit in bits)


def file_groups(root: str, path: str) -> tuple[str, ...]:
    """Groups of a workbook file below a root: `user:NAME`, `group:NAME`, and everyone's.

    Its owner is one if the owner may read it, its group if the owner and the group may, and
    everyone if all may: a mode such as 604 keeps the members of a group out. Whoever may not enter
    a folder on the way from the root to the file is left out. Of a file or folder with an access
    control list of POSIX only the owner's rights count, since the mode does not tell those of
    others. Folders above the root and lists of other kinds are not looked at. A file at a URL, one
    that is gone, and one on another kind of system have no groups.
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
        found.append(_named("user", file.user))
    if file.allow(*_READ[:2]) and all(_enters_as_group(each, file) for each in folders):
        found.append(_named("group", file.group))
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
    return (Path(root, *parent.parts) for parent in PurePosixPath(path).parents)


def _enters_as_owner(folder: _Rights, file: _Rights) -> bool:
    return folder.allow(stat.S_IXUSR) if folder.user == file.user else folder.allow(*_ENTER[1:])


def _enters_as_group(folder: _Rights, file: _Rights) -> bool:
    return folder.allow(*(_ENTER[:2] if folder.group == file.group else _ENTER))


def _named(kind: str, number: int) -> str:
    name = str(number)
    if sys.platform != "win32":
        import grp
        import pwd

        with suppress(KeyError):
            name = pwd.getpwuid(number).pw_name if kind == "user" else grp.getgrgid(number).gr_name
    return f"{kind}:{name}"
