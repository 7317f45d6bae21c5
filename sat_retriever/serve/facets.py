"""Values of the filters and counts of an index, for the empty page and the search form."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from sat_retriever.index.index import SheetIndex
from sat_retriever.records.sheets import ColumnType, SheetRecord

FOLDERS = 200  # that are offered, those with the most workbooks
_EXAMPLES = 4
_SAMPLED = 60
_AGAIN_S = 60.0
_MEASURED = (ColumnType.NUMBER, ColumnType.INTEGER)


@dataclass(frozen=True, slots=True)
class Facets:
    """Counts and names of an index."""

    sheets: int
    workbooks: int
    folders: tuple[str, ...]
    formats: Mapping[str, int]
    examples: tuple[str, ...]


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
    ids = index.sheet_ids()
    step = max(1, len(ids) // _SAMPLED)
    sampled = index.records(ids[::step][:_SAMPLED])
    return Facets(
        sheets=len(ids),
        workbooks=cast("int", status["workbooks"]),
        folders=folders_of(index.paths()),
        formats={name: number for name, number in sorted(formats.items()) if name},
        examples=example_questions(list(sampled.values())),
    )


def folders_of(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the folders that most workbooks are in, in the order of names.

    >>> folders_of(["a/b/x.xlsx", "a/y.csv", "z.csv"])
    ('a', 'a/b')
    """
    counts: Counter[str] = Counter()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder:
            counts[folder] += 1
            folder = folder.rpartition("/")[0]
    return tuple(sorted(name for name, _ in counts.most_common(FOLDERS)))


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
