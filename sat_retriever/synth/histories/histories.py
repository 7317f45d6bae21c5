"""Made histories: folders of workbooks with versions, copies and weekly exports, and traps.

A company's workbooks are made, read as plain cells, and written again many times as people keep
them. Traps look like copies and are none: series by period, one form filled in by branches,
empty forms of several people, one list of codes in many workbooks.
"""

from __future__ import annotations

import datetime as dt
import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import python_calamine
import xlsxwriter

from sat_retriever.synth.histories.edits import (
    EDITS,
    Book,
    Tab,
    appended,
    corrected,
    dropped,
    emptied,
    refilled,
)
from sat_retriever.synth.unit import MadeSheet, MadeUnit
from sat_retriever.workbook.read import read_workbook

_TABS = 3
_ROWS = 120
_START = dt.datetime(2025, 1, 6, 9, 30, tzinfo=dt.UTC)
_CODES = tuple((f"{a}{b}", 100 + 7 * n) for n, (a, b) in enumerate(zip("ABCDEFGHIKLM" * 3,
               "XYZWVUTSRQPONMLKJIHGFEDCBAXYZWVUTSRQ", strict=True)))  # fmt: skip
_PEOPLE = ("Anna Roth", "Ben Okafor", "Chen Li", "Dina Haas")
_BRANCHES = ("Berlin", "Lyon", "Porto", "Turin")


@dataclass(frozen=True, slots=True)
class Written:
    """One version of a history as it was written: path, sheets, words that name the version."""

    path: str
    book: Book
    said: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """The versions of a workbook, oldest first.

    Attributes:
        copies: True if the versions of a sheet are copies; False for what only looks like it.
        timed: True if each file is a week younger than the one before, False if all are equally
            old.
    """

    kind: str
    versions: Sequence[Written]
    copies: bool
    timed: bool


@dataclass(slots=True)
class Histories:
    """A folder of workbooks; `groups` has the group of each sheet, or its own id without copies."""

    folder: Path
    groups: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    histories: list[History] = field(default_factory=list)


def write_histories(source: Path, folder: Path, seed: int, number: int) -> Histories:
    """Write workbooks of a folder again, in versions and copies; return what is true of them."""
    made = Histories(folder)
    books = list(_books(source, seed))
    chance = random.Random(seed)  # noqa: S311 - repeatable, no secret
    chance.shuffle(books)
    makers = [*_HISTORIES, *_TRAPS]
    for place, (stem, book) in enumerate(books[:number]):
        kind = makers[place % len(makers)]
        versions = list(kind(stem, book, chance))
        _write(made, versions, kind.__name__, f"{kind.__name__} {place}", chance)
    return made


def _books(folder: Path, seed: int) -> Iterator[tuple[str, Book]]:
    """Workbooks as plain cells, in a random order that the seed decides, each stem once."""
    paths = sorted(path for path in folder.rglob("*.xlsx"))
    random.Random(seed).shuffle(paths)  # noqa: S311 - repeatable, no secret
    seen: set[str] = set()
    for path in paths:
        words = [word for word in path.stem.replace("_", " ").split() if word.isalpha()]
        stem = " ".join(words[:4])
        if not stem or stem.casefold() in seen:
            continue
        seen.add(stem.casefold())
        opened = python_calamine.CalamineWorkbook.from_path(path)
        tabs = []
        for name in opened.sheet_names[:_TABS]:
            cells = opened.get_sheet_by_name(name).to_python(skip_empty_area=False)[:_ROWS]
            rows = tuple(tuple(None if v == "" else v for v in row) for row in cells)
            tabs.append(Tab(name, rows, name))
        if tabs:
            yield stem, Book(tuple(tabs))


# ---- histories: all versions of a sheet are one group


def versions(stem: str, book: Book, chance: random.Random) -> Iterator[Written]:
    """v1 to v4, the later ones edited."""
    mark = chance.choice(("_v{}", " v{}.0", " version {}", "_rev{}"))
    for number in range(1, chance.randint(3, 5)):
        yield Written(f"{stem}{mark.format(number)}.xlsx", book, f"version {number}")
        book = _edited(book, chance)


def stages(stem: str, book: Book, chance: random.Random) -> Iterator[Written]:
    """A draft, a version without a mark, a final one, a second final one."""
    for mark, said in (("_draft", "draft"), ("", ""), ("_final", ""), ("_final2", "final 2")):
        yield Written(f"{stem}{mark}.xlsx", book, said)
        book = _edited(book, chance)


def saved_as(stem: str, book: Book, chance: random.Random) -> Iterator[Written]:
    """Copies that an office suite or a browser names; some were edited."""
    names = [f"{stem} - Copy", f"Copy of {stem}", f"{stem} (2)", f"{stem}_backup", f"{stem} Kopie"]
    yield Written(f"{stem}.xlsx", book)
    for name in chance.sample(names, 2):
        if chance.random() < 0.5:
            book = _edited(book, chance)
        yield Written(f"{name}.xlsx", book, "backup" if "backup" in name else "")


def weekly(stem: str, book: Book, chance: random.Random) -> Iterator[Written]:
    """The same export every week: rows come, some go."""
    form = chance.choice(("{}_%Y-%m-%d", "{} %Y%m%d", "%Y-%m-%d {}", "exports/%Y-%m-%d/{}"))
    for week in range(chance.randint(4, 7)):
        day = _START + dt.timedelta(weeks=week)
        yield Written(f"{day.strftime(form).format(stem)}.xlsx", book, f"{day.day} {day:%B %Y}")
        book = dropped(appended(book, chance), chance)


def moved(stem: str, book: Book, chance: random.Random) -> Iterator[Written]:
    """The same workbook in two folders, and renamed in a third."""
    yield Written(f"shared/{stem}.xlsx", book)
    yield Written(f"archive/{stem}.xlsx", book)
    yield Written(f"mail/{' '.join(reversed(stem.split()))} sent.xlsx", book)


def tabs_copied(stem: str, book: Book, chance: random.Random) -> Iterator[Written]:
    """A sheet copied within its workbook, then edited."""
    first = book.tabs[0]
    edited = corrected(Book((first,)), chance).tabs[0]
    copy = replace(edited, name=f"{first.name[:26]} (2)")
    yield Written(f"{stem} tabs.xlsx", Book((*book.tabs, copy)))


# ---- traps: no sheet has a copy


def by_year(stem: str, book: Book, chance: random.Random) -> Iterator[Written]:
    """A series by years."""
    for year in (2021, 2022, 2023):
        yield Written(f"{stem} {year}.xlsx", book)
        book = refilled(book, chance)


def by_month(stem: str, book: Book, chance: random.Random) -> Iterator[Written]:
    """A series by months, in folders; a few numbers stay."""
    for month in range(1, 5):
        yield Written(f"2024/{month:02}/{stem}.xlsx", book)
        book = refilled(book, chance)


def daily(stem: str, book: Book, chance: random.Random) -> Iterator[Written]:
    """A report for each day, every number another one."""
    for day in range(4, 8):
        yield Written(f"{stem} 2024-03-{day:02}.xlsx", book)
        book = refilled(book, chance)


def branches(stem: str, book: Book, chance: random.Random) -> Iterator[Written]:
    """One form filled in by several branches."""
    for branch in _BRANCHES:
        yield Written(f"{branch}/{stem}.xlsx", book)
        book = refilled(book, chance)


def forms(stem: str, book: Book, chance: random.Random) -> Iterator[Written]:
    """The empty form of several people, each with the name in it."""
    for person in _PEOPLE:
        tabs = (
            replace(tab, rows=(("Name", person), *tab.rows)) for tab in emptied(book, chance).tabs
        )
        yield Written(f"{stem} {person}.xlsx", Book(tuple(tabs)))


def lookups(stem: str, book: Book, chance: random.Random) -> Iterator[Written]:
    """A list of codes that different workbooks have in common."""
    codes = Tab("Codes", (("Code", "Account"), *_CODES), "Codes")
    for branch in _BRANCHES:
        yield Written(f"{stem} {branch}.xlsx", Book((*book.tabs, codes)))
        book = refilled(book, chance)


def variants(stem: str, book: Book, chance: random.Random) -> Iterator[Written]:
    """Scenarios that were saved from one another: their sources are equal, their results not.

    Two sheets of each hold equal numbers, and mean different things.
    """
    first = book.tabs[0]
    twins = tuple(
        Tab(f"{first.name[:20]} {end}", first.rows, end) for end in ("passenger", "freight")
    )
    source = replace(refilled(book, chance).tabs[-1], name="Source data", origin="Source")
    for scenario in ("", "BAU ", "Net zero "):
        yield Written(f"{scenario}{stem} scenario.xlsx", Book((*twins, source)))
        other = refilled(Book(twins), chance).tabs[0]
        twins = tuple(replace(twin, rows=other.rows) for twin in twins)


_HISTORIES: Sequence[Callable[..., Iterator[Written]]] = (
    versions, stages, saved_as, weekly, moved, tabs_copied,
)  # fmt: skip
_TRAPS: Sequence[Callable[..., Iterator[Written]]] = (
    by_year, by_month, daily, branches, forms, lookups, variants,
)  # fmt: skip


def _edited(book: Book, chance: random.Random) -> Book:
    for edit in chance.sample(list(EDITS), 2):
        book = edit(book, chance)
    return book


def _write(
    made: Histories, history: Sequence[Written], kind: str, name: str, chance: random.Random
) -> None:
    """Write a history, oldest version first, and note what is true of it."""
    trap = any(kind == each.__name__ for each in _TRAPS)
    timed = chance.random() < 0.6  # the others were unpacked at one moment
    for number, version in enumerate(history):
        place = made.folder / version.path
        at = (_START + dt.timedelta(days=7 * number * timed)).timestamp()
        _save(place, version.book, at)
        for tab in version.book.tabs:
            sheet_id = f"{version.path}#{tab.name}"
            made.groups[sheet_id] = sheet_id if trap else f"{name} {tab.origin}"
            made.kinds[sheet_id] = kind
    made.histories.append(History(kind, tuple(history), copies=not trap, timed=timed))


def _save(place: Path, book: Book, at: float) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with xlsxwriter.Workbook(place, {"default_date_format": "yyyy-mm-dd"}) as file:
        file.set_properties({"created": _START})  # equal sheets make equal bytes
        for tab in book.tabs:
            sheet = file.add_worksheet(tab.name[:31])
            for number, row in enumerate(tab.rows):
                sheet.write_row(number, 0, row)
    os.utime(place, (at, at))


FOLDER = "histories"
_CATEGORY = "Histories"


def history_unit(workbooks: Path, seed: int, number: int, *, asked: bool) -> MadeUnit:
    """Write workbooks of a corpus again, in versions and copies, below its folder.

    Their sheets answer no questions by name, and have no links.
    """
    made = write_histories(workbooks, workbooks / FOLDER, seed, number)
    sheets = tuple(
        sheet if asked else replace(sheet, contents=None) for sheet in _sheets(made, workbooks)
    )
    return MadeUnit(sheets, (), (), len({sheet.record.path for sheet in sheets}))


def _sheets(made: Histories, workbooks: Path) -> Iterator[MadeSheet]:
    paths = dict.fromkeys(each.path for history in made.histories for each in history.versions)
    for path in paths:
        for record in read_workbook(made.folder / path, root=workbooks).records:
            own = record.sheet_id.removeprefix(f"{FOLDER}/")
            yield MadeSheet(
                record=replace(record, contents=None),
                category=_CATEGORY,
                convention=made.kinds[own],
                facts=None,
                columns=(),
                stem="",
                contents=record.contents,
                group=made.groups[own],
            )
