"""Lists of the sheets that searches found, kept for the pages of these sheets."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain

from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.errors import InputError
from sat_retriever.records.area import area_of
from sat_retriever.records.contents import TextKind
from sat_retriever.records.hits import Answer, Hit
from sat_retriever.serve.request import PageError, places_of, sheet_url
from sat_retriever.serve.searchform import HITS, SearchForm
from sat_retriever.stages import Cache, Told, looked_up, tell
from sat_retriever.text.period.spans import asked_on

NEAREST = 3  # hits that are shown if nothing answers
_KEPT = 256  # lists
_ABOVE = 5  # rows shown above the one that answers
_NEAR = 40  # rows that are in sight from the start of a sheet, or nearly
_Key = tuple[int, date, SearchForm]


@dataclass(frozen=True, slots=True)
class FoundSheet:
    """A sheet that was found: its id, and its address without the search that led to it."""

    sheet_id: str
    url: str


FoundList = tuple[FoundSheet, ...]
"""The sheets of one search, as its page shows them: by workbook."""


class FoundLists:
    """The latest searches of those who see the same sheets; safe to share between threads.

    A list counts for the same form, on the same day, until the index changes.

    Attributes:
        retriever: Searches what they see of the index.
    """

    def __init__(self, retriever: SheetRetriever) -> None:
        self.retriever = retriever
        self._kept: OrderedDict[_Key, FoundList] = OrderedDict()
        self._lock = threading.Lock()

    def search(self, form: SearchForm, day: date) -> tuple[Answer, FoundList]:
        """Search, and keep the list of what was found.

        Raises:
            PageError: If this cannot be searched.
        """
        key = (self.retriever.index.generation, day, form)  # of what is there before the search
        try:
            hits = self.retriever.retrieve(form.q, form.k, form.filters(), today=day)
        except InputError as error:
            raise PageError(400, f"{error}.") from error
        ordered = chain.from_iterable(by_workbook(shown_hits(hits, form)))
        found = tuple(FoundSheet(each.sheet_id, hit_url(each)) for each in ordered)
        with self._lock:
            self._kept[key] = found
            self._kept.move_to_end(key)
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return hits, found

    def known(self, form: SearchForm) -> FoundList | None:
        """Return the list of a search without searching; None if it is not kept."""
        key = (self.retriever.index.generation, asked_on(None), form)
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
        looked_up(Cache.FOUND, found=found is not None)
        if found is not None:  # an audit log has the same lines as after a search
            tell(Told.QUESTION, form.q)
            tell(Told.FOUND, *(each.sheet_id for each in found))
        return found


def shown_hits(hits: Answer, form: SearchForm) -> list[Hit]:
    """Return the hits that the page of a search shows: the nearest few if nothing answers."""
    return hits[:NEAREST] if hits.heading and form.k == HITS else hits[:]


def by_workbook(hits: Sequence[Hit]) -> list[list[Hit]]:
    """Return hits in groups of one workbook, in the order of the best of each."""
    found: dict[tuple[str, str], list[Hit]] = {}
    for hit in hits:
        record = hit.record
        name = record.path or record.workbook
        found.setdefault((name, "" if name else record.sheet_id), []).append(hit)
    return list(found.values())


def hit_url(hit: Hit, asked: str = "") -> str:
    """Return the address of a hit's sheet, at the row that answers what was asked."""
    places = [each.cell for each in hit.why.cells if each.is_on_cell]
    cells = [each.cell for each in hit.why.cells if each.kind is TextKind.CELL]
    row = _first_row(hit.range or "", places)
    return sheet_url(hit.sheet_id, row=row, cells=cells, asked=asked)


def _first_row(range_: str, cells: Sequence[str]) -> int | None:
    """Return the row to open a sheet at, a little above those that answer; None for its start."""
    places = places_of(cells)
    area = area_of(range_)
    within = [row for row, column in places if area is None or area.holds(row, column)]
    row = within[0] if within else area.top if area else 1
    return row - _ABOVE if row > _NEAR else None
