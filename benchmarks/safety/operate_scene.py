"""Who may see what: rules, people with tokens, and texts that must not be in an answer to them."""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from pathlib import Path
from urllib.parse import unquote_plus

from benchmarks.safety.operate_record import Timeline
from benchmarks.safety.soak import questions
from sat_retriever import SheetIndex, SheetTools
from sat_retriever.errors import InputError
from sat_retriever.records.permissions import OWNER

EDITED = "edited"  # folder of the workbooks that come, change and go
EDITED_FOR = ("g0", "board", "*")
BOARD_SHEETS = ("About", "S3")  # names of sheets that the board alone sees, in every workbook
_GROUPS = 3  # of the folders: g0, g1, g2
_TABLES = 12  # whose rows are compared
_TABLE = re.compile(r"the tables: (\w+)")

Groups = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """Which groups see some sheets; patterns as in a file of rules."""

    paths: str
    sheets: str
    groups: Groups


Rules = tuple[Rule, ...]


def rules_of(folders: Sequence[str], turn: int) -> Rules:
    """Return rules by which each folder belongs to a group, or to everyone, in turn."""
    owners = [f"g{number}" for number in range(_GROUPS)] + ["*"]
    board = [Rule("*", name, ("board",)) for name in BOARD_SHEETS]
    edited = [Rule(f"{EDITED}/{_named(each)}/*", "*", (each,)) for each in EDITED_FOR]
    shared = [
        Rule(f"{folder}/*", "*", (owners[(place + turn) % len(owners)],))
        for place, folder in enumerate(sorted(folders))
    ]
    return (*board, *edited, *shared)


def edited_folder(group: str) -> str:
    """Return the folder of the edited workbooks that a group sees."""
    return f"{EDITED}/{_named(group)}"


def _named(group: str) -> str:
    return "all" if group == "*" else group


def written(rules: Rules) -> str:
    """Return rules as a TOML file."""
    return "\n".join(
        f"[[rule]]\npaths = {json.dumps(each.paths)}\nsheets = {json.dumps(each.sheets)}\n"
        f"groups = {json.dumps([*each.groups])}\n"
        for each in rules
    )


def may_see(groups: Groups | None, sheet_id: str, rules: Rules) -> bool:
    """True if the first rule that matches a sheet names one of the groups; None is the owner.

    >>> rules = (Rule("*", "About", ("board",)), Rule("a/*", "*", ("g0",)))
    >>> [may_see(("g0",), each, rules) for each in ("a/b.xlsx#1", "a/b.xlsx#About", "c/d.xlsx#1")]
    [True, False, False]
    """
    if groups is None:
        return True
    path, _, sheet = sheet_id.partition("#")
    first = next(
        (r for r in rules if fnmatchcase(path, r.paths) and fnmatchcase(sheet, r.sheets)), None
    )
    return first is not None and bool({*groups, "*"} & {*first.groups})


@lru_cache
def _marks(groups: Groups | None, rules: Rules, sheets: tuple[str, ...]) -> tuple[str, ...]:
    hidden = {each for each in sheets if not may_see(groups, each, rules)}
    shown = [each for each in sheets if each not in hidden]
    seen = {each.partition("#")[0] for each in shown}
    paths = {each.partition("#")[0] for each in hidden}
    folders = {
        f"{edited_folder(each)}/"
        for each in EDITED_FOR
        # The board sees a sheet of each.
        if groups is not None and each != "*" and not {each, "board"} & {*groups}
    }
    whole = {path for path in paths - seen if not any(path in other for other in seen)}
    ids = {each for each in hidden if each.partition("#")[0] in seen}
    # An id is the beginning of another one's where a sheet's name is of another sheet's.
    ids = {each for each in ids if not any(other.startswith(each) for other in shown)}
    return tuple(sorted(whole | ids | folders))


def shown_although_hidden(
    text: str,
    groups: Groups | None,
    in_force: Sequence[Rules],
    sheets: tuple[str, ...],
    asked: str = "",
) -> list[str]:
    """Return workbooks and sheets that an answer names although each of some rules hides them.

    Args:
        text: The answer, a page or JSON.
        groups: Of who asked; None for the owner.
        in_force: The rules that were in force at any moment of the request.
        sheets: Ids of all sheets that stay where they are.
        asked: Id that the request named, and that a refusal repeats.
    """
    if groups is None:
        return []
    hidden = set.intersection(*({*_marks(groups, rules, sheets)} for rules in in_force))
    plain = unquote_plus(html.unescape(text))
    plain = plain.replace(asked, "") if asked else plain
    return [mark for mark in sorted(hidden) if mark in plain]


@dataclass(slots=True)
class Person:
    """Who asks.

    Attributes:
        groups: None for one who sees every sheet.
        address: That the proxy names.
        lets_in: Whether the token counts, over time.
    """

    name: str
    groups: Groups | None
    address: str
    token: str = ""
    lets_in: Timeline[bool] = field(default_factory=lambda: Timeline(True))


def people() -> list[Person]:
    """Return those who ask; the last one's token ends within a day."""
    groups: dict[str, Groups | None] = {
        "ada": ("g0",),
        "bo": ("g1", "g2"),
        "cy": ("g2", "board"),
        "dee": None,
        "eve": (),
        "fay": ("g0",),
    }
    return [
        Person(name, each, f"10.0.0.{number}")
        for number, (name, each) in enumerate(groups.items(), 1)
    ]


@dataclass(frozen=True)
class Table:
    """A query over a sheet that stays as it is, and its rows."""

    sheet_id: str
    sql: str
    rows: list[list[object]]


@dataclass(frozen=True)
class Scene:
    """What can be asked of an index.

    Attributes:
        sheets: Ids of the sheets that stay where they are.
        tables: Queries with known rows.
        questions: Questions in words of the sheets.
        turns: Two files of rules, which take turns.
        rules: Those in force, over time.
        trouble: What is going on, over time: "" or "restart", "worker_killed", "audit_full".
        model: What the language model does: "answers", "hangs", "refuses".
    """

    sheets: tuple[str, ...]
    tables: tuple[Table, ...]
    questions: tuple[str, ...]
    turns: tuple[Rules, Rules]
    rules: Timeline[Rules]
    trouble: Timeline[str] = field(default_factory=lambda: Timeline(""))
    model: Timeline[str] = field(default_factory=lambda: Timeline("answers"))

    @classmethod
    def of(cls, index: Path, turns: tuple[Rules, Rules], draw: random.Random) -> Scene:
        """Read what an index holds."""
        with SheetIndex.open(index) as opened:
            own = opened.seen_by(OWNER)
            records = list(own.records(own.sheet_ids()).values())
            tables = _tables(SheetTools(opened, principals=OWNER), [*records], draw)
        ids = tuple(sorted(each.sheet_id for each in records))
        asked = tuple(questions(records, 500, draw.randrange(1000)))
        return cls(ids, tables, asked, turns, Timeline(turns[0]))

    @cached_property
    def folders(self) -> list[str]:
        """Folders right below the indexed one."""
        return sorted({each.partition("/")[0] for each in self.sheets})


def _tables(tools: SheetTools, records: list, draw: random.Random) -> tuple[Table, ...]:  # type: ignore[type-arg]
    """Return queries over some sheets; the refusal of a wrong one names a sheet's tables."""
    found: list[Table] = []
    draw.shuffle(records)
    for each in records:
        if len(found) == _TABLES:
            break
        try:
            tools.query_tables([each.sheet_id], "SELECT * FROM no_such_table")
        except InputError as error:
            named = _TABLE.search(str(error))
            if named:
                sql = f"SELECT count(*) FROM {named[1]}"
                rows = tools.query_tables([each.sheet_id], sql).to_dict()["rows"]
                found.append(Table(each.sheet_id, sql, rows))
    return tuple(found)
