"""Views of an index for those who ask, and the gate before a store that has permissions."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from sat_retriever.errors import PermissionsError
from sat_retriever.index.store.restricted import reading_alone
from sat_retriever.index.store.store import Store
from sat_retriever.records.permissions import Owner

# Settings and state, which tell nothing of a sheet; blocks, in which nothing is read yet; and what
# ends the use of the store.
_ALWAYS = frozenset("path principals meta generation is_restricted reading answering close".split())
# What every change begins with, and what shows all sheets at once.
_OWNERS = frozenset(("sole_writer", "writing_beside_others", "copy_to"))
MOST = 16  # views that are kept
MOST_BYTES = 1 << 30  # of their tokens, beside the latest one's


class PermissionGate:
    """A store that refuses to be read once its sheets are for their groups alone.

    Another process may have said so meanwhile, so each use looks anew. With `read_only` it refuses
    every change as well.
    """

    def __init__(self, store: Store, *, read_only: bool = False) -> None:
        self._store = store
        self._read_only = read_only

    def __getattr__(self, name: str) -> Any:
        """Pass on to the store what is allowed.

        Raises:
            PermissionsError: If there are permissions, or it is for a change that is refused.
        """
        if self._read_only and name in _OWNERS:
            raise reading_alone(self._store.path)
        if name not in _ALWAYS and self._store.is_restricted():
            raise PermissionsError(
                f"{self._store.path} has permissions: say who asks, by principals=['a group'], "
                "or --as GROUP in the shell; OWNER or --as-owner sees all"
            )
        return getattr(self._store, name)


class View(Protocol):
    """A view of an index."""

    def held_bytes(self) -> int:
        """Most bytes of the tokens that it holds in memory."""


Seen = TypeVar("Seen", bound=View)


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
        held_bytes = sum(each.held_bytes() for each in all_but_latest)
        return len(self._held) > MOST or held_bytes > MOST_BYTES
