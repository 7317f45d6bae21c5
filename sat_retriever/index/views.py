"""Views of an index for those who ask: the latest are kept open."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from sat_retriever.records.permissions import Owner

if TYPE_CHECKING:
    from sat_retriever.index.search.search import SheetSearch

MOST = 16  # views that are kept
MOST_BYTES = 1 << 30  # of their tokens, beside the latest one's


class View(Protocol):
    """A view of an index."""

    @property
    def search(self) -> SheetSearch:
        """What holds its tokens in memory."""

    @property
    def generation(self) -> int:
        """A number that grows with every write, by the rules too."""


Seen = TypeVar("Seen", bound=View)


class Following(Generic[Seen]):
    """The view of those who ask, found anew after each write: rules may name their groups by then.

    Safe to share between threads.

    Args:
        find: Returns the view by the rules in force, and the generation that these are of.
    """

    def __init__(self, find: Callable[[], tuple[Seen, int]]) -> None:
        self._find = find
        self._found: tuple[Seen, int] | None = None

    def now(self) -> Seen:
        """The view by the rules in force."""
        found = self._found
        if found is None or found[0].generation != found[1]:
            self._found = found = self._find()
        return found[0]


class Views(Generic[Seen]):
    """Views by those who see them; the ones used longest ago are let go.

    Safe to share between threads. A view that was let go still works for whoever holds it.
    """

    def __init__(self, make: Callable[[tuple[str, ...] | Owner], Seen]) -> None:
        self._make = make
        self._held: OrderedDict[tuple[str, ...] | Owner, Seen] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, seen_by: tuple[str, ...] | Owner) -> Seen:
        """The view of some groups, in order, or of the owner."""
        with self._lock:
            found = self._held.pop(seen_by, None)
            if found is None:  # one without sheets is false
                found = self._make(seen_by)
            self._held[seen_by] = found
            while len(self._held) > 1 and self._are_many():
                self._held.popitem(last=False)
        return found

    def clear(self) -> None:
        """Let all views go."""
        with self._lock:
            self._held.clear()

    def _are_many(self) -> bool:
        all_but_latest = list(self._held.values())[:-1]
        held_bytes = sum(each.search.held_bytes() for each in all_but_latest)
        return len(self._held) > MOST or held_bytes > MOST_BYTES
