"""Values of the filters and counts of an index, for the empty page and the search form."""

from __future__ import annotations

import datetime as dt
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from sat_retriever.index.index import SheetIndex
from sat_retriever.records.contents import Role
from sat_retriever.records.filters import Filters
from sat_retriever.records.sheets import ColumnType, SheetRecord, SkipReason

FOLDERS = 200  # that are offered, those with the most workbooks
_EXAMPLES = 4
_SAMPLED = 60
_AGAIN_S = 60.0
_YEARS = 12  # that are offered as periods, the latest
_SKIPPED = 50  # that are listed; the rest is counted
_MEASURED = (ColumnType.NUMBER, ColumnType.INTEGER)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder, with all below it; its name is that below the folder that it stands in."""

    name: str
    path: str
    workbooks: int
    folders: tuple[Folder, ...]


@dataclass(frozen=True, slots=True)
class Facets:
    """Counts and names of an index, as whoever asks may see them.

    Attributes:
        formats: Number of sheets of each, as of roles and periods.
        checked: Day on which a workbook was last looked at; "" without workbooks.
        skipped: Files and sheets that could not be read, at most 50, each with the reason.
        skips: Their number.
    """

    sheets: int
    workbooks: int
    folders: tuple[str, ...]
    tree: tuple[Folder, ...]
    formats: Mapping[str, int]
    roles: Mapping[str, int]
    periods: Mapping[str, int]
    examples: tuple[str, ...]
    checked: str
    skipped: tuple[tuple[str, str], ...]
    skips: int


class LatestFacets:
    """The facets of an index, made anew when its file has changed, at most once a minute."""

    def __init__(self, index: SheetIndex, clock: Callable[[], float] = time.monotonic) -> None:
        self._index = index
        self._clock = clock
        self._state = index.generation
        self._made = clock()
        self._facets = facets_of(index)
        self._making = threading.Lock()

    def get(self) -> Facets:
        """Return the facets; one thread makes new ones while the others take the old.

        In an index with permissions the others wait.
        """
        # What was just hidden must not be shown again, not even while new facets are made.
        restricted = self._index.is_restricted
        due = restricted or self._clock() - self._made >= _AGAIN_S
        if due and self._index.generation != self._state and self._making.acquire(restricted):
            try:
                state, made = self._index.generation, self._clock()
                if state != self._state:
                    self._facets = facets_of(self._index)
                    self._state, self._made = state, made
            finally:
                self._making.release()
        return self._facets


def facets_of(index: SheetIndex) -> Facets:
    """Count what an index holds."""
    status = index.status()
    formats = cast("dict[str, int]", status["formats"])
    ids, paths, books = index.sheet_ids(), index.paths(), index.workbooks()
    step = max(1, len(ids) // _SAMPLED)
    sampled = index.records(ids[::step][:_SAMPLED])
    folders = folders_of(paths)
    years = sorted({year for path in paths for year in _YEAR.findall(path)}, reverse=True)
    checked = max((each.checked_ns for each in books), default=0)
    skips = [
        (f"{each.path}#{each.sheet}" if each.sheet else each.path, each.message)
        for book in books
        for each in book.skipped
        if each.reason is not SkipReason.EMPTY_SHEET
    ]
    return Facets(
        sheets=len(ids),
        workbooks=cast("int", status["workbooks"]),
        folders=tuple(folders),
        tree=tree_of(folders),
        formats={name: number for name, number in sorted(formats.items()) if name},
        roles=_counted(index, {role.value: Filters(role=role) for role in Role}),
        periods=_counted(index, {year: Filters(period=year) for year in years[:_YEARS]}),
        examples=example_questions(list(sampled.values())),
        checked=dt.datetime.fromtimestamp(checked / 1e9, dt.UTC).date().isoformat()
        if checked > 0
        else "",
        skipped=tuple(skips[:_SKIPPED]),
        skips=len(skips),
    )


def _counted(index: SheetIndex, filters: Mapping[str, Filters]) -> dict[str, int]:
    found = {name: index.search.count(each) for name, each in filters.items()}
    return {name: number for name, number in found.items() if number}


def folders_of(paths: Iterable[str]) -> dict[str, int]:
    """Return the folders that most workbooks are in, in the order of names, and their number.

    >>> folders_of(["a/b/x.xlsx", "a/y.csv", "z.csv"])
    {'a': 2, 'a/b': 1}
    """
    counts: Counter[str] = Counter()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder:
            counts[folder] += 1
            folder = folder.rpartition("/")[0]
    # Of as many workbooks the outer folder is kept.
    most = sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:FOLDERS]
    return dict(sorted(most, key=lambda each: each[0].split("/")))


def tree_of(folders: Mapping[str, int], above: str = "") -> tuple[Folder, ...]:
    """Return folders as they lie in each other.

    >>> tree = tree_of({"a": 3, "a/b": 2, "a/b/c": 1, "d": 1})
    >>> [each.path for each in tree], tree[0].folders[0].folders[0].name
    (['a', 'd'], 'c')
    """
    own = [path for path in folders if path.rpartition("/")[0] == above]
    return tuple(
        Folder(
            path.rpartition("/")[2],
            path,
            folders[path],
            tree_of({each: n for each, n in folders.items() if each.startswith(f"{path}/")}, path),
        )
        for path in own
    )


def example_questions(records: Sequence[SheetRecord]) -> tuple[str, ...]:
    """Return a few questions made of headers and names, each of another workbook.

    >>> from sat_retriever.records.sheets import Column
    >>> text, number = Column("Region", "x", ColumnType.TEXT), Column("Revenue", "1", _MEASURED[0])
    >>> example_questions([SheetRecord("a", "Q1", "Sales 2024.xlsx", columns=(text, number))])
    ('Revenue by Region, Sales 2024',)
    """
    found: dict[str, str] = {}
    for record in records:
        names = [each for each in record.columns if 2 < len(each.name) < 32]
        by = next((each.name for each in names if each.type is ColumnType.TEXT), "")
        what = next((each.name for each in names if each.type in _MEASURED), "")
        of = record.workbook_name or record.sheet
        if by and what and len(of) < 40:
            found.setdefault(record.path or of, f"{what} by {by}, {of.replace('_', ' ')}")
    every = list(found.values())
    return tuple(every[:: max(1, len(every) // _EXAMPLES)][:_EXAMPLES])
