"""Where the groups of sheets come from: rules, a function, or the rights of the files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from sat_retriever.errors import IndexFormatError, InputError
from sat_retriever.index.store.rows import RESTRICTED, SOURCE, SheetRow
from sat_retriever.index.sync.filegroups import file_groups
from sat_retriever.records.permissions import Rules, checked_groups
from sat_retriever.records.sheets import SheetRecord

Callback: TypeAlias = Callable[[SheetRecord], Iterable[str]]
Given: TypeAlias = "Callback | Rules | str | Path | Literal['files']"
"""A function, rules or their file, or "files" for the rights of the workbook files."""


class Permissions(Protocol):
    """Gives each sheet the groups that may see it."""

    @property
    def source(self) -> str:
        """Where the groups come from, as the index notes it."""

    def groups_of(self, record: SheetRecord, file: tuple[str, str] | None) -> tuple[str, ...]:
        """Groups that may see a sheet.

        Args:
            record: The sheet.
            file: Root and path of its workbook; None without a file.
        """


class ByRules:
    """Groups by rules."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self.source = json.dumps({"rules": rules.to_json()}, ensure_ascii=False)

    def groups_of(self, record: SheetRecord, _file: tuple[str, str] | None) -> tuple[str, ...]:
        """Groups of the first rule that covers a sheet."""
        return self._rules.groups_of(record)


class ByFiles:
    """Groups by the rights of files; a sheet without a file on this machine is nobody's."""

    source = json.dumps("files")

    def groups_of(self, _record: SheetRecord, file: tuple[str, str] | None) -> tuple[str, ...]:
        """Groups that may read the workbook file."""
        return file_groups(*file) if file else ()


class ByFunction:
    """Groups by a function, which only this process has; without it new sheets are nobody's."""

    source = json.dumps("function")

    def __init__(self, function: Callback | None = None) -> None:
        self._function = function

    def groups_of(self, record: SheetRecord, _file: tuple[str, str] | None) -> tuple[str, ...]:
        """Groups that the function gives a sheet."""
        if self._function is None:
            return ()
        return checked_groups(self._function(replace(record, contents=None)))


@dataclass(frozen=True, slots=True)
class Change:
    """Other groups for a sheet.

    Attributes:
        sheet_id: The sheet.
        before: Groups that may see it so far.
        after: Groups that may see it from now on.
    """

    sheet_id: str
    before: tuple[str, ...]
    after: tuple[str, ...]


def granted(
    rows: Sequence[SheetRow], permissions: Permissions | None, file: tuple[str, str] | None = None
) -> Sequence[SheetRow]:
    """Rows of one workbook with the groups that may see each.

    Args:
        rows: The rows.
        permissions: What gives them; None without permissions.
        file: Root and path of the workbook; None without a file.
    """
    if permissions is None:
        return rows
    return [replace(row, groups=permissions.groups_of(row.record, file)) for row in rows]


def permissions_of(given: Given) -> Permissions:
    """Permissions from what a caller gave.

    Raises:
        PathNotFoundError: If there is no such file of rules.
        InputError: If it is none of what can be given, or the rules are wrong.
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
    """Permissions that an index notes; None without any.

    Args:
        meta: Notes by key.
        path: Place of the index, for error messages.

    Raises:
        IndexFormatError: If the note is damaged.
    """
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
