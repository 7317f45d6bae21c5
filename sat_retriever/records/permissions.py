"""Permissions: the groups that may see a sheet, the rules that give them, and principals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, TypeAlias
from unicodedata import normalize

from sat_retriever.errors import InputError, PathNotFoundError
from sat_retriever.records.sheets import SheetRecord

EVERYONE = "*"
"""The group that everyone is in."""
LONGEST = 200  # characters of a group's name
MOST = 1_000  # groups of one sheet, or of one who asks


class Owner(Enum):
    """The owner, who sees every sheet; an enumeration, since no text may mean it."""

    OWNER = "owner"


OWNER: Final = Owner.OWNER
"""Given as principals, it shows every sheet."""
Principals: TypeAlias = Iterable[str] | Owner
"""The groups of the one who asks, or `OWNER`."""


def checked_groups(groups: Iterable[str]) -> tuple[str, ...]:
    """Distinct groups, in order.

    >>> checked_groups(["sales", "finance", "sales"])
    ('finance', 'sales')

    Raises:
        InputError: If they are one text, too many, or one is no plain name.
    """
    if isinstance(groups, (str, bytes)):
        raise InputError(f"groups are {groups[:100]!r}; give a list of names, not one text")
    found = list(groups)
    for each in found:
        plain = isinstance(each, str) and each.isprintable() and each == each.strip()
        if not plain or not 0 < len(each) <= LONGEST:
            raise InputError(
                f"a group is called {str(each)[:100]!r}; give printable text of at most {LONGEST} "
                "characters, without blanks at its ends"
            )
    distinct = tuple(sorted(set(found)))
    if len(distinct) > MOST:
        raise InputError(f"{len(distinct):,} groups; give at most {MOST:,}")
    return distinct


@dataclass(frozen=True, slots=True)
class Rule:
    """Groups that may see some sheets.

    Attributes:
        paths: A glob over paths of workbooks, or names if they have no file; `*` stands for any
            text, also with slashes.
        groups: `*` stands for everyone; without groups the owner alone sees the sheets.
        sheets: A glob over names of sheets.
    """

    paths: str
    groups: tuple[str, ...]
    sheets: str = "*"

    def covers(self, place: str, sheet: str) -> bool:
        """True if the rule is for a sheet of the workbook at a path, or of that name.

        Letters with marks are equal however Unicode writes them: names of macOS have them in parts.
        """
        return _fits(place, self.paths) and _fits(sheet, self.sheets)


def _fits(name: str, glob: str) -> bool:
    return fnmatchcase(normalize("NFC", name), normalize("NFC", glob))


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules in order: the first that covers a sheet decides, and without one nobody sees it.

    >>> rules = Rules((Rule("pay/*", ("hr",)), Rule("*", ("*",), sheets="Summary")))
    >>> rules.groups_of(SheetRecord("a", "Pay", path="pay/2024.xlsx"))
    ('hr',)
    >>> rules.groups_of(SheetRecord("b", "Detail", path="b.xlsx"))
    ()
    """

    rules: tuple[Rule, ...]

    def groups_of(self, record: SheetRecord) -> tuple[str, ...]:
        """The groups that may see a sheet."""
        place = record.path or record.workbook
        return next((rule.groups for rule in self.rules if rule.covers(place, record.sheet)), ())

    def idle(self, sheets: Iterable[tuple[str, str]]) -> list[str]:
        """A warning for each rule that decides for none of some sheets: their places and names.

        >>> Rules((Rule("HR/*", ("hr",)), Rule("*", ("*",)))).idle([("hr/pay.xlsx", "2024")])
        ['rule 1 (paths "HR/*", sheets "*") decides for no sheet: no sheet matches it']
        """
        matched, deciding = set(), set()
        for place, sheet in sheets:
            covering = [n for n, rule in enumerate(self.rules) if rule.covers(place, sheet)]
            matched.update(covering)
            deciding.update(covering[:1])
        return [
            f'rule {n + 1} (paths "{rule.paths}", sheets "{rule.sheets}") decides for no sheet: '
            + ("rules above it match the same sheets" if n in matched else "no sheet matches it")
            for n, rule in enumerate(self.rules)
            if n not in deciding
        ]

    def to_json(self) -> list[dict[str, Any]]:
        """Plain values, which `from_json` reads."""
        return [
            {"paths": each.paths, "sheets": each.sheets, "groups": list(each.groups)}
            for each in self.rules
        ]

    @classmethod
    def from_json(cls, data: Sequence[Mapping[str, Any]]) -> Rules:
        """Rules from plain values; raises `InputError` if they are none."""
        return cls(tuple(_rule(each, number) for number, each in enumerate(data, start=1)))

    @classmethod
    def read(cls, path: Path) -> Rules:
        """Rules from a TOML file, which is a list of `[[rule]]`.

        Raises:
            PathNotFoundError: If there is no such file.
            InputError: If it cannot be read, or holds anything but rules.
        """
        import tomllib

        try:
            found = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise PathNotFoundError(f"there is no file {path}; check the path") from error
        except (OSError, ValueError) as error:
            raise InputError(f"cannot read the rules in {path}: {error}") from error
        if set(found) != {"rule"} or not isinstance(found["rule"], list):
            raise InputError(
                f"{path} has {', '.join(map(repr, found)) or 'nothing'}; write rules, each under "
                '[[rule]], with paths = "sales/*" and groups = ["sales"]'
            )
        try:
            return cls.from_json(found["rule"])
        except InputError as error:
            raise InputError(f"{path}: {error}") from error


def _rule(data: Mapping[str, Any], number: int) -> Rule:
    unknown = set(data) - {"paths", "sheets", "groups"}
    paths, sheets, groups = data.get("paths"), data.get("sheets", "*"), data.get("groups")
    if unknown or not isinstance(paths, str) or not isinstance(sheets, str):
        raise InputError(
            f"rule {number} has {', '.join(sorted(map(repr, data)))}; give it paths and groups, "
            "and sheets if it is for some sheets of the workbooks"
        )
    if not isinstance(groups, list):
        raise InputError(f'rule {number} lacks groups; give a list, for example ["sales"]')
    return Rule(paths, checked_groups(groups), sheets)
